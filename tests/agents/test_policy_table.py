"""Test policies from files: their play, and the errors of invalid files with their lines."""

import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from arena import ArenaError, Game, play
from arena_agents.policy_table import PolicyTable, _split_choices
from arena_games.kuhn_poker import KuhnPoker
from arena_games.rock_paper_scissors import RockPaperScissors
from arena_games.tic_tac_toe import TicTacToe
from tests.games.game_tree import exploitability, value

# H. W. Kuhn's equilibrium with alpha = 1/5: the probability of an opening bet and of calling a bet, by card.
OPENS = {"J?": 0.2, "Q?": 0.0, "K?": 0.6}
CALLS_AFTER_PASS = {"J?": 0.0, "Q?": 0.2 + 1 / 3, "K?": 1.0}
AFTER_A_PASS = {"?J": 1 / 3, "?Q": 0.0, "?K": 1.0}
AFTER_A_BET = {"?J": 0.0, "?Q": 1 / 3, "?K": 1.0}
EQUILIBRIUM = {
    f"{cards}:{done}": share
    for done, shares in (("", OPENS), ("pb", CALLS_AFTER_PASS), ("p", AFTER_A_PASS), ("b", AFTER_A_BET))
    for cards, share in shares.items()
}


def write_policy(tmp_path: Path, text: str) -> str:
    file = tmp_path / "policy.txt"
    file.write_text(text, "utf-8")
    return str(file)


def as_policy(game: Game, agent: PolicyTable) -> Any:
    return lambda seen, actions: dict(zip(actions, agent.policy(game, seen), strict=True))


@pytest.fixture(params=["text", "npz"])
def equilibrium(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the path of a file with an equilibrium of Kuhn poker, in each format."""
    if request.param == "text":
        lines = [f"{seen}\tbet={share}" + f" pass={1 - share}" * (share < 1) for seen, share in EQUILIBRIUM.items()]
        return write_policy(tmp_path, "\n".join(lines) + "\n")
    file = tmp_path / "policy.npz"
    rows = [[1 - share, share] for share in EQUILIBRIUM.values()]
    np.savez(file, observations=list(EQUILIBRIUM), actions=["pass", "bet"], probabilities=rows)
    return str(file)


def test_an_equilibrium_from_a_file_cannot_be_exploited(equilibrium: str) -> None:
    """The value for the first player is -1/18."""
    game, agent = KuhnPoker(), PolicyTable(file=equilibrium)
    policy = as_policy(game, agent)
    assert exploitability(game, policy) == pytest.approx(0, abs=1e-12)
    assert value(game, policy, game.initial(random.Random())) == pytest.approx(-1 / 18)
    record = play(game, [agent, PolicyTable(file=equilibrium)])
    assert record.termination == "normal"


def test_actions_are_sampled_with_their_probabilities(equilibrium: str) -> None:
    """The tolerance is four standard deviations. A certain action draws no random number."""
    game, agent = KuhnPoker(), PolicyTable(file=equilibrium)
    search: Any = type("Asked", (), {"rng": random.Random(3)})()
    bets = sum(agent.choose(game, ("K?", ""), search) == "bet" for _ in range(2000))
    assert abs(bets - 1200) < 4 * (2000 * 0.6 * 0.4) ** 0.5
    before = search.rng.getstate()
    assert [agent.choose(game, seen, search) for seen in (("Q?", ""), ("?K", "b"))] == ["pass", "bet"]
    assert search.rng.getstate() == before


def test_the_second_player_has_lines_of_its_own(tmp_path: Path) -> None:
    """In a simultaneous game, the observation of the second player has a notation of its own."""
    file = write_policy(tmp_path, "-\trock=1\nchosen [null]: -\tpaper=1\n")
    record = play(RockPaperScissors(), [PolicyTable(file=file), PolicyTable(file=file)])
    assert record.returns == (-1.0, 1.0)


def test_actions_may_contain_spaces_and_equals_signs(tmp_path: Path) -> None:
    class Moves(TicTacToe):
        def format_action(self, state: Any, action: int) -> str:
            return f"{action}/{action} r=2"

    agent = PolicyTable(file=write_policy(tmp_path, ".../.../...\t5/5 r=2=0.25 1/1 r=2=0.5\t9/9 r=2=2.5e-1\n"))
    assert agent.policy(Moves(), (0, 0)) == [0.5, 0, 0, 0, 0.25, 0, 0, 0, 0.25]


@settings(max_examples=500, deadline=None)
@given(st.text("a=0. \t-", max_size=12))
def test_lines_are_split_as_a_regular_expression_would_split_them(text: str) -> None:
    """The expression reads an action up to the first `=PROBABILITY`, but takes minutes for a line of 30 kB without one."""
    expression = re.compile(r"\s*(\S.*?)=([-+.\w]+)(?=\s|$)")
    expected = [] if expression.sub("", text).strip() else expression.findall(text)
    assert _split_choices(text) == expected


@pytest.mark.parametrize("part", [" ", "a ", "a=", "a=1!"])
def test_a_long_line_is_refused_at_once(part: str, tmp_path: Path) -> None:
    """A time that grows with the square of the length would be hours here."""
    file = write_policy(tmp_path, f"x\t{part * (1_000_000 // len(part))}\n")
    with pytest.raises(ValueError, match=r"policy\.txt:1: expected OBSERVATION"):
        PolicyTable(file=file)
    file = write_policy(tmp_path, f"x\t{part * 1_100_000}\n")
    with pytest.raises(ValueError, match="expected a line of at most 1,048,576 characters"):
        PolicyTable(file=file)


def test_a_missing_observation_is_named_in_the_error(tmp_path: Path) -> None:
    file = write_policy(tmp_path, "J?:\tpass=1\n")
    with pytest.raises(
        ArenaError,
        match=r"policy.txt has no line for 'K\?:'; add one, or set `missing: uniform` to play at random in such positions",
    ):
        PolicyTable(file=file).policy(KuhnPoker(), ("K?", ""))
    assert PolicyTable(file=file, missing="uniform").policy(KuhnPoker(), ("K?", "")) == [0.5, 0.5]


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    game = KuhnPoker()
    assert PolicyTable(file=write_policy(tmp_path, "J?:\tpass=1\n")).policy(game, ("J?", "")) == [1, 0]
    assert PolicyTable(file=write_policy(tmp_path, "J?:\tbet=1.0\n")).policy(game, ("J?", "")) == [0, 1]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("J?:\tpass=1\nQ?:\tpa", "policy.txt:2: expected a line that ends with a newline; the file may be incomplete"),
        ("J?: pass=1\n", "policy.txt:1: expected OBSERVATION, a tab, and ACTION=PROBABILITY"),
        ("J?:\tpass=1\nQ?:\t\n", "policy.txt:2: expected OBSERVATION, a tab, and ACTION=PROBABILITY"),
        ("J?:\tpass=1 bet\n", "policy.txt:1: expected OBSERVATION, a tab, and ACTION=PROBABILITY"),
        ("J?:\tpass=x\n", "policy.txt:1: expected a probability, got 'x'"),
        ("J?:\tpass=nan\n", "policy.txt:1: expected probabilities of 0 or more that add up to 1, got a sum of nan"),
        ("J?:\tpass=0.5 bet=0.4\n", "policy.txt:1: expected probabilities of 0 or more that add up to 1, got a sum of 0.9"),
        ("J?:\tpass=1.5 bet=-0.5\n", "policy.txt:1: expected probabilities of 0 or more"),
        ("J?:\tpass=1\nQ?:\tbet=1\nJ?:\tbet=1\n", "policy.txt:3: 'J[?]:' is already given in .*policy.txt:1"),
        ("", "expected one observation or more, got none"),
    ],
)
def test_an_invalid_file_is_refused_with_the_line(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        PolicyTable(file=write_policy(tmp_path, text))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("Q?:\tpass=0.5 raise=0.5", "policy.txt:2: expected legal actions \\(pass, bet\\), got 'raise'"),
        ("A?:\tpass=1", "policy.txt:2: not an observation of kuhn-poker: .*expected up to two cards"),
        ("JQ:bb\tpass=1", "policy.txt:2: expected legal actions \\(none\\), got 'pass'"),
    ],
)
def test_all_lines_are_checked_against_the_game_at_the_first_decision(tmp_path: Path, line: str, reason: str) -> None:
    agent = PolicyTable(file=write_policy(tmp_path, f"J?:\tpass=1\n{line}\n"))
    with pytest.raises(ArenaError, match=reason):
        agent.policy(KuhnPoker(), ("J?", ""))


def test_a_missing_or_binary_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"nowhere\.txt cannot be read: No such file"):
        PolicyTable(file=str(tmp_path / "nowhere.txt"))
    binary = tmp_path / "policy.txt"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="expected text in UTF-8"):
        PolicyTable(file=str(binary))


def test_an_invalid_npz_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "policy.npz"
    whole: dict[str, Any] = {"observations": ["J?:"], "actions": ["pass", "bet"], "probabilities": [[1.0, 0.0]]}
    faults: list[tuple[dict[str, Any], str]] = [
        ({"observations": np.array([{"J?:"}], dtype=object)}, "without pickled objects"),
        ({"probabilities": [1.0]}, "a row of probabilities for each observation"),
        ({"actions": [1, 2]}, "expected observations and actions as strings"),
        (
            {"probabilities": [[0.5, 0.4]]},
            "policy.npz: row 1: expected probabilities of 0 or more that add up to 1, got a sum of 0.9",
        ),
    ]
    for changed, reason in faults:
        np.savez(file, **(whole | changed))
        with pytest.raises(ValueError, match=reason):
            PolicyTable(file=str(file))
    np.savez(file, observations=["J?:"])
    with pytest.raises(ValueError, match="expected the arrays observations, actions and probabilities"):
        PolicyTable(file=str(file))
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(ValueError, match="expected an npz file"):
        PolicyTable(file=str(file))
