"""Puzzles under a budget: what an agent would have solved with less of it, one number for solved and unsolved, and the gap to
optimal.
"""

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import NamedTuple

from arena.errors import ArenaError


class Step(NamedTuple):
    """From this budget on, this share of all positions is solved."""

    budget: float
    share: float


def solved_by_budget(spent: Iterable[float | None]) -> tuple[Step, ...]:
    """The share of positions solved against the budget (nodes or seconds), as a step function from (0, 0) or above on.

    `spent` has what each position took, or None where it was not solved. Each step is a budget at which the share grows; empty
    without positions.

    >>> solved_by_budget([30, 10, None, 10])
    (Step(budget=10, share=0.5), Step(budget=30, share=0.75))
    """
    listed = list(spent)
    solved = sorted(cost for cost in listed if cost is not None)
    return tuple(
        Step(cost, (k + 1) / len(listed)) for k, cost in enumerate(solved) if k + 1 == len(solved) or solved[k + 1] > cost
    )


def share_at(steps: Sequence[Step], budget: float) -> float:
    """The share that is solved with a budget, by such a step function."""
    return max((step.share for step in steps if step.budget <= budget), default=0.0)


def par2(spent: Iterable[float | None], limit: float) -> float | None:
    """The mean of what each position took, one that was not solved (None), or not within the limit, counting twice the limit.

    The penalised average runtime with factor 2 of the SAT competitions. None without positions. Raises ArenaError where the limit
    is not above 0.
    """
    if limit <= 0:
        raise ArenaError(f"par2: expected a limit above 0, got {limit:g}")
    costs = [2 * limit if cost is None or cost > limit else cost for cost in spent]
    return fmean(costs) if costs else None


def optimality_gap(solutions: Iterable[tuple[float, float]]) -> float | None:
    """The mean of what each solution costs above the optimum, as a share of the optimum; None without solutions.

    `solutions` has the cost and the optimal cost of each. An optimum of 0 met exactly is a gap of 0; positions with the optimum 0
    that were solved at a cost have no gap that is a number, and are left out.

    >>> optimality_gap([(11, 10), (10, 10)])
    0.05
    """
    gaps = [(cost - best) / best if best else 0.0 for cost, best in solutions if best or not cost]
    return fmean(gaps) if gaps else None
