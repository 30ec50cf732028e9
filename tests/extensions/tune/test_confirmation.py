"""A sentence explains why the confirmation of a tuning did not find the options better."""

from collections import Counter
from pathlib import Path

import pytest

from arena import Field, Outcomes, Record, play
from arena.cli import cli
from arena.errors import ArenaError
from arena.results.pairs import PairedGames
from arena.stats.observations import Pair
from arena.store import Store
from arena_pairings.sprt import Sprt, log_likelihood_ratio
from arena_pairings.sprt_state import SprtState
from arena_tune.formats import HeldOutGauntlet
from arena_tune.matches import AloneResult, PlayedTuning
from arena_tune.terms import Asked, read_terms
from arena_tune.tune import _judge_alone, _judge_pairs


def state_of(won: int, split: int, lost: int) -> SprtState:
    """Return the state after pairs of games in which both were won, one of two was won, or both were lost."""
    pairs = [Pair.of(1, 0)] * won + [Pair.of(1, 1)] * split + [Pair.of(0, 1)] * lost  # points of the first seat
    test, counts = Sprt(), PairedGames.count_pairs(pairs)
    llr = log_likelihood_ratio(counts, test)
    return SprtState("new", "old", test, llr, test.verdict(llr), counts, PairedGames.estimate_score(pairs), None)


@pytest.mark.parametrize(
    ("won", "split", "lost", "said"),
    [
        (10, 20, 2, "but the sequential test is not decided yet; a longer search with another --seed may give a verdict"),
        (100, 900, 100, "the sequential test found that these options are not better"),
    ],
)
def test_a_result_that_is_not_better_explains_the_state_of_the_test(won: int, split: int, lost: int, said: str) -> None:
    """An interval above 0 is not a contradiction, because the test needs more evidence than the interval. By Wald (1945), the
    test accepts at a log-likelihood ratio of log(0.95 / 0.05) = 2.94.
    """
    state = state_of(won, split, lost)
    found = _judge_pairs(state, planned=1)
    assert not found.better
    assert found.explain().endswith(said)
    if state.verdict is None:
        assert abs(state.llr) < 2.94
        assert (state.lead.elo_low or 0.0) > 0
    else:
        assert state.llr < -2.94


@pytest.mark.parametrize("budget", [("--matches", "400"), ("--minutes", "1")])
def test_too_few_openings_are_refused_before_any_match(
    budget: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After one ply, rock-paper-scissors has three openings: rock, paper and scissors. The search would play more than three."""
    monkeypatch.chdir(tmp_path)
    words = ("tune", "ismcts", "--game", "rock-paper-scissors", "--openings", "1", "--store", "t.db", *budget)
    with pytest.raises(ArenaError, match="has 3 openings of 1 ply, and the search would use all of them"):
        cli([*words], standalone_mode=False)
    with Store.open("t.db") as store:
        assert len(store) == 0


def test_enough_openings_are_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After three plies, tic-tac-toe has far more openings than the 32 positions of a search: 9 * 8 * 7 sequences of moves."""
    monkeypatch.chdir(tmp_path)
    words = ("alpha-beta", None, "tic-tac-toe", (), None, 3, 0, ())
    terms = read_terms(Asked(*words))
    with PlayedTuning(terms, tmp_path / "t.db", "digest", 1, quiet=True) as played:
        played.check_openings(32)


def test_a_game_with_positions_of_its_own_is_tuned_on_them(tmp_path: Path) -> None:
    file = tmp_path / "cup.yaml"
    for given, expected in (("{tic-tac-toe: [x../.o./...]}", ["x../.o./..."]), ("{}", None)):
        file.write_text(f"games: [tic-tac-toe]\nagents: [alpha-beta]\npositions: {given}\n")
        keys = read_terms(Asked(str(file), None, None, (), None, None, 0, ())).keys
        assert keys.get("positions") == expected
        assert ("openings" in keys) is (expected is None), "only positions of the game replace random openings"


def test_a_gauntlet_without_a_test_plays_all_its_matches() -> None:
    """The schedule needs no results. Two entries play both seats against one rival at each of 20 positions, which makes 80
    matches.
    """
    played = list(HeldOutGauntlet().schedule(Field(entries=3, rounds=20, players=2), Outcomes()))
    seats = Counter(None if pairing is None else pairing.seats for pairing in played)
    assert seats == {(0, 2): 20, (2, 0): 20, (1, 2): 20, (2, 1): 20}


def attempts_at(positions: int, both: int, only_best: int, only_default: int) -> AloneResult:
    """Return attempts at different positions, of which some were solved. Solutions of both cost 3 and 2, others cost 1,000."""
    attempt = play("sliding-tiles", "a-star", position="1 2 3 / 4 5 6 / 7 . 8")

    def at(number: int, cost: float, *, solved: bool) -> Record:
        return attempt._replace(position=f"position {number}", solved=solved, cost=cost if solved else None)

    solved = both + only_best, both + only_default
    return AloneResult(
        [
            (
                at(number, 3.0 if number < both else 1000.0, solved=number < solved[0]),
                at(
                    number,
                    2.0 if number < both else 1000.0,
                    solved=number < both or solved[0] <= number < solved[0] + only_default,
                ),
            )
            for number in range(positions)
        ]
    )


def test_the_solved_shares_of_a_puzzle_have_an_interval_and_a_test() -> None:
    """48 and 37 of 60 are solved, 31 of them by both. McNemar's exact test of 17 against 6 is binomtest(6, 23, 0.5) of scipy. The
    interval solves Tango's equation numerically, with the likelihood maximised by scipy's minimize_scalar.
    """
    found = _judge_alone(attempts_at(60, 31, 17, 6), None, shown=False, llr=0.0)
    assert found.words == (
        "80.0 % solved instead of 61.7 % (+18.3 points, 95 % interval +2.8 to +33.3, p = 0.035 by McNemar's exact test) on 60 "
        "held-out positions; on the 31 that both solved, cost 3 instead of 2"
    )
    solved = found.figures["solved"]
    assert solved["p_value"] == pytest.approx(0.03468966484069824)
    assert (solved["low"], solved["high"]) == pytest.approx((0.028337811361249174, 0.3329045745452278), abs=1e-6)
    assert found.figures["both_solved"] == 31


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((4, 4, 0, 0), "100.0 % solved on 4 held-out positions; on the positions that both solved, cost 3 instead of 2"),
        ((4, 1, 0, 0), "25.0 % solved on 4 held-out positions; on the only position that both solved, cost 3 instead of 2"),
        ((4, 0, 0, 0), "0.0 % solved on 4 held-out positions"),
    ],
)
def test_no_test_is_made_if_all_attempts_at_a_puzzle_are_equal(counts: tuple[int, int, int, int], said: str) -> None:
    assert _judge_alone(attempts_at(*counts), None, shown=False, llr=0.0).words == said


def test_a_repeated_position_is_one_observation() -> None:
    """Both attempts at a position are the same, so repeating them adds no information: p = 2 * 0.5 ** 6 for six positions."""
    once = attempts_at(6, 0, 6, 0)
    leads = [AloneResult(once.records * times).compare_solved() for times in (1, 2)]
    assert [None if lead is None else lead.test.p_value for lead in leads] == pytest.approx([0.03125, 0.03125])
