"""Wilson's interval against published values; solved share against budget, PAR2 and the gap to optimal, by hand."""

from itertools import pairwise
from math import sqrt

import pytest
from hypothesis import given, strategies as st

from arena.errors import ArenaError
from arena.stats.solved_share import BudgetStep, optimality_gap, par2, share_at, solved_by_budget, wilson


def test_a_curve_by_hand() -> None:
    """Of four positions two are solved with 10, one with 30, and one never."""
    steps = solved_by_budget([30, 10, None, 10])
    assert steps == (BudgetStep(10, 0.5), BudgetStep(30, 0.75))
    assert [share_at(steps, budget) for budget in (9, 10, 29, 30, 1000)] == [0, 0.5, 0.5, 0.75, 0.75]
    assert solved_by_budget([]) == solved_by_budget([None]) == ()


@given(st.lists(st.none() | st.integers(0, 9), min_size=1), st.integers(0, 9))
def test_the_share_at_a_budget_is_that_of_the_positions_within_it(spent: list[int | None], budget: int) -> None:
    """Counted anew; and every step is one up."""
    steps = solved_by_budget(spent)
    assert share_at(steps, budget) == sum(cost is not None and cost <= budget for cost in spent) / len(spent)
    assert all(one.budget < two.budget and one.share < two.share for one, two in pairwise(steps))


def test_par2_by_hand() -> None:
    """10, 2 x 100 for unsolved, 2 x 100 for too late."""
    assert par2([10, None, 101], 100) == pytest.approx(410 / 3)
    assert par2([], 100) is None
    with pytest.raises(ArenaError, match="limit above 0"):
        par2([1], 0)


def test_gap_by_hand() -> None:
    """10 % above, none, and an optimum of nothing."""
    assert optimality_gap([(22, 20), (5, 5)]) == pytest.approx(0.05)
    assert optimality_gap([(0, 0)]) == 0
    assert optimality_gap([(3, 0)]) is None
    assert optimality_gap([]) is None


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    # R. G. Newcombe, Two-sided confidence intervals for the single proportion, 1998, table I, method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_published_intervals(successes: int, trials: int, low: float, high: float) -> None:
    """Newcombe's examples, to four places."""
    assert list(wilson(successes, trials)) == pytest.approx([low, high], abs=5e-5)


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_bounds_are_where_the_score_test_just_rejects(case: tuple[int, int]) -> None:
    """At either bound p, the observed share is 1.96 standard errors of p away; both lie in [0, 1] around the share."""
    successes, trials = case
    share = successes / trials
    low, high = wilson(successes, trials)
    assert 0 <= low <= share <= high <= 1
    for bound in (low, high):
        if 0 < bound < 1:
            assert abs(share - bound) == pytest.approx(1.959964 * sqrt(bound * (1 - bound) / trials), rel=1e-4)


def test_no_trials_say_nothing() -> None:
    """The whole range."""
    assert wilson(0, 0) == (0, 1)
