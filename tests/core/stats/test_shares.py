"""Wilson's interval, compared with published values."""

from math import sqrt

import pytest
from hypothesis import given, strategies as st

from arena.stats.shares import wilson


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    # R. G. Newcombe, Two-sided confidence intervals for the single proportion, 1998, table I, method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_intervals_agree_with_newcombes_examples(successes: int, trials: int, low: float, high: float) -> None:
    assert list(wilson(successes, trials)) == pytest.approx([low, high], abs=5e-5)


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_score_test_just_rejects_the_bounds(case: tuple[int, int]) -> None:
    """At either bound p, the observed share is 1.96 standard errors of p away."""
    successes, trials = case
    share = successes / trials
    low, high = wilson(successes, trials)
    assert 0 <= low <= share <= high <= 1
    for bound in (low, high):
        if 0 < bound < 1:
            assert abs(share - bound) == pytest.approx(1.959964 * sqrt(bound * (1 - bound) / trials), rel=1e-4)


def test_the_interval_without_trials_is_the_whole_range() -> None:
    assert wilson(0, 0) == (0, 1)
