"""Shares of solved positions: the Wilson interval, the share against the budget, PAR2, and the gap to optimal."""

from collections.abc import Iterable, Sequence
from math import sqrt
from statistics import fmean
from typing import NamedTuple

from arena.errors import ArenaError

Z95 = 1.959963984540054
"""The 97.5 % point of the standard normal distribution."""


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """The Wilson score interval of a proportion, at 95 %; (0, 1) without trials.

    E. B. Wilson, Probable Inference, the Law of Succession, and Statistical Inference, 1927. It never leaves [0, 1], and has a
    width also at 0 and at all successes.

    >>> [round(bound, 4) for bound in wilson(8, 10)]
    [0.4902, 0.9433]
    """
    if trials == 0:
        return (0.0, 1.0)
    share = successes / trials
    weight = Z95 * Z95 / trials
    middle = share + weight / 2
    reach = Z95 * sqrt(share * (1 - share) / trials + weight / (4 * trials))
    # Exact at either end, because rounding would leave a bound next to 0 or 1.
    low = 0.0 if successes == 0 else (middle - reach) / (1 + weight)
    high = 1.0 if successes == trials else (middle + reach) / (1 + weight)
    return (low, high)


class BudgetStep(NamedTuple):
    """A step of the solved share as a function of the budget: `share` from `budget` on."""

    budget: float
    share: float


def solved_by_budget(spent: Iterable[float | None]) -> tuple[BudgetStep, ...]:
    """The solved share against the budget (nodes or seconds), a step function that starts at (0, 0).

    `spent` has the cost of each position, None if it was not solved. Empty without solved positions.

    >>> solved_by_budget([30, 10, None, 10])
    (BudgetStep(budget=10, share=0.5), BudgetStep(budget=30, share=0.75))
    """
    listed = list(spent)
    solved = sorted(cost for cost in listed if cost is not None)
    return tuple(
        BudgetStep(cost, (k + 1) / len(listed)) for k, cost in enumerate(solved) if k + 1 == len(solved) or solved[k + 1] > cost
    )


def share_at(steps: Sequence[BudgetStep], budget: float) -> float:
    """The solved share at a budget."""
    return max((step.share for step in steps if step.budget <= budget), default=0.0)


def par2(spent: Iterable[float | None], limit: float) -> float | None:
    """The penalised average runtime with factor 2 (PAR2, as in the SAT competitions); None without positions.

    A position that was not solved (None), or not within `limit`, counts twice the limit. Raises ArenaError unless the limit is
    above 0.
    """
    if limit <= 0:
        raise ArenaError(f"par2: expected a limit above 0, got {limit:g}")
    costs = [2 * limit if cost is None or cost > limit else cost for cost in spent]
    return fmean(costs) if costs else None


def optimality_gap(solutions: Iterable[tuple[float, float]]) -> float | None:
    """The mean cost above the optimum, relative to it; None without solutions.

    `solutions` has the cost and the optimal cost of each. A solution that meets an optimum of 0 has the gap 0. A solution that
    misses it has no finite relative gap, and is left out.

    >>> optimality_gap([(11, 10), (10, 10)])
    0.05
    """
    gaps = [(cost - best) / best if best else 0.0 for cost, best in solutions if best or not cost]
    return fmean(gaps) if gaps else None
