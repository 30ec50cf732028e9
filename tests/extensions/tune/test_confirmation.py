"""The sentence about options that the confirmation of a tuning did not find better."""

import pytest

from arena.results.pairs import PairedGames
from arena.stats.observations import Pair
from arena_pairings.sprt import Sprt, log_likelihood_ratio
from arena_pairings.sprt_state import SprtState
from arena_tune.tune import _judge_pairs


def state_of(won: int, split: int, lost: int) -> SprtState:
    """The state after pairs of games in which both were won, one of two was won, or both were lost."""
    pairs = [Pair.of(1, 0)] * won + [Pair.of(1, 1)] * split + [Pair.of(0, 1)] * lost  # points of the first seat
    test, counts = Sprt(), PairedGames.count_pairs(pairs)
    llr = log_likelihood_ratio(counts, test)
    return SprtState("new", "old", test, llr, test.verdict(llr), counts, PairedGames.estimate_score(pairs), None)


@pytest.mark.parametrize(
    ("won", "split", "lost", "said"),
    [
        (10, 20, 2, "but the sequential test is not decided yet; a longer search with another --seed may decide"),
        (100, 900, 100, "the sequential test found that they are not better"),
    ],
)
def test_a_result_that_is_not_better_names_the_state_of_the_test(won: int, split: int, lost: int, said: str) -> None:
    """An interval above 0 is no contradiction then, because the test needs more evidence than the interval.

    By Wald, A (1945), the test accepts at a log-likelihood ratio of log(0.95 / 0.05) = 2.94.
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
