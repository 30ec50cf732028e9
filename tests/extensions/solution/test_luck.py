"""Luck is measured with the policies of agents: Kuhn poker gets its exact value and less variance, and false policies cause no
bias.
"""

import random
from fractions import Fraction
from functools import partial
from pathlib import Path
from statistics import fmean, variance
from typing import Any

import pytest

import arena
from arena.results.cells import board_table
from arena.results.leaderboard import Leaderboard
from arena.spec import load_spec
from arena_games.breakthrough import Breakthrough
from arena_games.kuhn_poker import KuhnPoker
from arena_games.pig import Pig
from arena_solution.luck import Luck, adjusted_returns, told_values
from tests.bench.bench_luck import equilibrium
from tests.core.match.test_payoffs import made


def play_uniformly(game: Any, observation: Any) -> list[float]:
    """Return the policy of `random`."""
    return [1 / len(game.actions(observation))] * len(game.actions(observation))


def test_random_play_is_worth_an_eighth_of_a_chip_to_the_first_seat() -> None:
    """By hand, over all cards of both seats: showdowns cancel out, and through folds, the first seat wins 1/4 and loses 1/8."""
    game = KuhnPoker()
    values = told_values(game, ("", ""), [partial(play_uniformly, game)] * 2)
    assert values is not None
    assert values["", ""] == pytest.approx((1 / 8, -1 / 8))
    assert len(values) == 1 + 3 + 6 * 9


def test_a_large_or_cyclic_game_has_no_table_of_values() -> None:
    """In pig a seat may throw a one again and again."""
    game = Pig(target=3)
    state = game.initial(random.Random(1))
    assert told_values(game, state, [partial(play_uniformly, game)] * 2) is None
    assert told_values(KuhnPoker(), ("", ""), [partial(play_uniformly, KuhnPoker())] * 2, most=20) is None


def test_the_limit_of_states_includes_generated_states_that_are_not_yet_visited() -> None:
    """Each position of breakthrough has about 25 successors, so 2,000 states are seen long before 2,000 are visited."""

    class Counted(Breakthrough):
        results = 0

        def result(self, state: Any, action: Any) -> Any:
            self.results += 1
            return super().result(state, action)

    game = Counted()
    assert told_values(game, game.initial(random.Random(1)), [partial(play_uniformly, game)] * 2, most=2000) is None
    assert game.results < 3 * 2000


def test_equal_agents_share_a_table_of_values() -> None:
    """An agent with other options has its own table."""
    agents = [{"agent": "random", "label": label} for label in "abc"]
    luck = Luck(load_spec({"game": "kuhn-poker", "agents": [*agents, "cfr-plus"]}))
    tables = [luck.told_values(0, seats, ("", "")) for seats in ((0, 1), (2, 0), (0, 3), (3, 0), (1, 3))]
    assert tables[0] is tables[1]
    assert tables[2] is tables[4]
    firsts = [values["", ""][0] for values in tables if values is not None]
    assert len(firsts) == 5
    assert len(set(firsts)) == 3
    assert firsts[0] == pytest.approx(1 / 8)


def test_a_wrong_policy_does_not_bias_corrected_returns() -> None:
    """Over all random plays of Kuhn poker, the mean of the returns corrected with the values of a false policy equals the mean
    return.
    """
    game = KuhnPoker()
    false = told_values(game, ("", ""), [lambda seen: [0.9, 0.1], lambda seen: [0.2, 0.8]])
    assert false is not None
    plain = corrected = Fraction(0)
    unfinished: list[tuple[Any, Fraction, tuple[str, ...]]] = [(("", ""), Fraction(1), ())]
    while unfinished:
        state, probability, actions = unfinished.pop()
        if game.is_terminal(state):
            adjusted = adjusted_returns(
                game, made(game, actions), lambda at, seat=0: false[at][seat] / 2, ("", ""), sees_chance=True
            )
            assert adjusted is not None
            plain += probability * Fraction(game.returns(state)[0])
            corrected += probability * Fraction(adjusted[0])
            continue
        legal = game.actions(state)
        unfinished += [(game.result(state, one), probability / len(legal), (*actions, str(one))) for one in legal]
    assert float(corrected) == pytest.approx(float(plain), abs=1e-12)
    assert float(plain) == pytest.approx(1 / 8)


def test_corrected_records_of_kuhn_poker_vary_less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two equilibria of Kuhn's poker play. The first seat loses 1/18 a deal on average, and the variance falls by
    half or more.
    """
    monkeypatch.chdir(tmp_path)  # the path of the file is a part of the ids, and so determines the random numbers
    agents = []
    for name, alpha in (("never", 0.0), ("third", 1 / 3)):
        Path(f"{name}.txt").write_text(equilibrium(alpha))
        agents.append({"agent": "policy-table", "file": f"{name}.txt", "label": name})
    records = arena.run({"game": "kuhn-poker", "rounds": 150, "agents": agents}).records
    assert all(record.adjusted is not None for record in records)
    first = [record.adjusted[0] for record in records if record.adjusted is not None]
    assert fmean(first) == pytest.approx(-1 / 18, abs=3 * (variance(first) / len(first)) ** 0.5)
    assert variance(first) < 0.5 * variance([record.returns[0] for record in records])


SEEN = ["J?:", "Q?:", "K?:", "J?:pb", "Q?:pb", "K?:pb", "?J:p", "?Q:p", "?K:p", "?J:b", "?Q:b", "?K:b"]


def test_a_board_shows_the_exact_return_beside_the_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bettor always bets and meets random play. By hand, half of its bets win a chip, half of the opponent's passes win
    half a chip more, and showdowns cancel out. So its return is 1/2 in the first seat and 1/4 in the second.
    """
    monkeypatch.chdir(tmp_path)  # the path of the file is a part of the ids, and so determines the random numbers
    Path("bets.txt").write_text("".join([f"{seen}\tbet=1\n" for seen in SEEN]))
    bettor = {"agent": "policy-table", "file": "bets.txt", "label": "bettor"}
    results = arena.run({"game": "kuhn-poker", "rounds": 30, "agents": [bettor, "random"]}, store=tmp_path / "cup.db")
    [board] = Leaderboard.of_results(results)
    rows = {row["agent"]: row for row in board.rows}
    assert {label: row["exact_return"] for label, row in rows.items()} == pytest.approx({"bettor": 3 / 8, "random": -3 / 8})
    assert rows["bettor"]["return_low"] < 3 / 8 < rows["bettor"]["return_high"]
    headings = board_table(board).headings
    assert headings[headings.index("Exact return") + 1 :] == [], "an exact value needs no interval"


@pytest.mark.parametrize(
    ("game", "more"),
    [
        pytest.param("kuhn-poker", {"label": "apart", "isolation": "process"}, marks=pytest.mark.process),
        ("kuhn-poker", {"agent": "pimc"}),
        ("pig", {"agent": "hold-at"}),
    ],
)
def test_no_exact_return_without_a_policy_or_in_a_large_game(game: str, more: dict[str, Any]) -> None:
    """The cases are an agent in another process, a search, and a game of unlimited length."""
    entry = {"agent": "random", "limits": {"nodes": 5}} | more
    results = arena.run({"game": game, "rounds": 1, "agents": ["random", entry]})
    if game == "kuhn-poker":  # without a heuristic and a policy, there is no correction either
        assert [record.adjusted for record in results.records] == [None, None]
    [board] = Leaderboard.of_results(results)
    assert [row.get("exact_return") for row in board.rows] == [None, None]
    assert "Exact return" not in board_table(board).headings


def test_a_failing_policy_only_removes_the_exact_return(tmp_path: Path) -> None:
    """The table of the policy has no row for an observation that its own play never reaches. The board is shown without
    a remark.
    """
    file = tmp_path / "bets.txt"
    file.write_text("".join([f"{seen}\tbet=1\n" for seen in SEEN if not seen.endswith("pb")]))
    bettor = {"agent": "policy-table", "file": str(file), "label": "bettor"}
    [board] = Leaderboard.of_results(arena.run({"game": "kuhn-poker", "rounds": 2, "agents": [bettor, "random"]}))
    assert [row.get("exact_return") for row in board.rows] == [None, None]
    assert not any("exact_return" in remark for remark in board.remarks)


def test_an_exact_return_of_one_pairing_is_a_remark(tmp_path: Path) -> None:
    """The third entry has no policy, so no mean over all matches is exact, but the mean of the other two against
    each other is.
    """
    file = tmp_path / "bets.txt"
    file.write_text("".join([f"{seen}\tbet=1\n" for seen in SEEN]))
    bettor = {"agent": "policy-table", "file": str(file), "label": "bettor"}
    searcher = {"agent": "pimc", "limits": {"nodes": 5}}
    results = arena.run({"game": "kuhn-poker", "rounds": 2, "agents": [bettor, "random", searcher]}, store=tmp_path / "cup.db")
    [board] = Leaderboard.of_results(results)
    mine = [record for record in results.records if set(record.labels) == {"bettor", "random"}]
    mean = fmean([record.returns[record.labels.index("bettor")] for record in mine])
    [said] = [remark for remark in board.remarks if "exact mean return" in remark]
    begins = "bettor against random: the exact mean return of their policies is 0.375; in the matches it was "
    assert said.startswith(begins)
    assert float(said.removeprefix(begins).rstrip(".")) == pytest.approx(mean, abs=0.001)
    assert not any("exact_return" in row for row in board.rows)
