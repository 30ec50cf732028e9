"""Solved shares by budget, PAR2 and gaps to the optimum agree with values computed by hand."""

from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from arena.errors import ArenaError
from arena_records.budgets import BudgetStep, effective_branching_factor, optimality_gap, par2, share_at, solved_by_budget


def test_solved_shares_by_budget_agree_with_values_computed_by_hand() -> None:
    """Two of four positions are solved with 10 nodes, one with 30, and one never."""
    steps = solved_by_budget([30, 10, None, 10])
    assert steps == (BudgetStep(10, 0.5), BudgetStep(30, 0.75))
    assert [share_at(steps, budget) for budget in (9, 10, 29, 30, 1000)] == [0, 0.5, 0.5, 0.75, 0.75]
    assert solved_by_budget([]) == solved_by_budget([None]) == ()


@given(st.lists(st.none() | st.integers(0, 9), min_size=1), st.integers(0, 9))
def test_the_share_at_a_budget_agrees_with_a_count(spent: list[int | None], budget: int) -> None:
    """Each step of the curve is higher than the one before."""
    steps = solved_by_budget(spent)
    assert share_at(steps, budget) == sum(cost is not None and cost <= budget for cost in spent) / len(spent)
    assert all(one.budget < two.budget and one.share < two.share for one, two in pairwise(steps))


def test_par2_agrees_with_values_computed_by_hand() -> None:
    """An unsolved position counts 2 x 100. A solution just after the limit counts 101, and a later one at most 2 x 100."""
    assert par2([10, None, 101], 100) == pytest.approx(311 / 3)
    assert par2([10, 250], 100) == 105
    assert par2([], 100) is None
    with pytest.raises(ArenaError, match="limit above 0"):
        par2([1], 0)


def test_gaps_agree_with_values_computed_by_hand() -> None:
    """The costs are 10 % above the optimum or equal to it. An optimum of 0 is a special case."""
    assert optimality_gap([(22, 20), (5, 5)]) == pytest.approx(0.05)
    assert optimality_gap([(0, 0)]) == 0
    assert optimality_gap([(3, 0)]) is None
    assert optimality_gap([(3, 0), (22, 20)]) is None, "without its worst solution, an entry would look better"
    assert optimality_gap([]) is None


@pytest.mark.parametrize(("factor", "moves"), [(2, 10), (3, 7), (1, 30_000), (10, 3)])
def test_the_effective_branching_factor_of_a_complete_tree_is_its_branching_factor(factor: int, moves: int) -> None:
    """The number of nodes is counted by the levels of a uniform tree, without its root."""
    nodes = sum(factor**depth for depth in range(1, moves + 1))
    assert effective_branching_factor(nodes, moves) == pytest.approx(factor, abs=1e-6)


def test_effective_branching_factors_agree_with_a_textbook() -> None:
    """According to Russell and Norvig, section 3.6, 52 nodes at depth 5 give 1.92. Fewer nodes than moves give less than 1."""
    assert round(effective_branching_factor(52, 5) or 0, 2) == 1.92
    assert 0 < (effective_branching_factor(50, 100) or 0) < 1
    assert effective_branching_factor(0, 5) is None
    assert [effective_branching_factor(500, moves) is None for moves in range(4)] == [True, True, True, False]
