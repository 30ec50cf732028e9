"""Figures about attempts at puzzles: shares and qualities by budget, PAR2, the gap to the optimum, branching factors."""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import expm1, inf, log
from statistics import fmean
from typing import NamedTuple

from arena import ArenaError
from arena.stats import bisect


class BudgetStep(NamedTuple):
    """A step of the function from budget to share: the share is `share` from `budget` on."""

    budget: float
    share: float


def reports_nodes(nodes: Iterable[float]) -> bool:
    """Return whether an entry reports nodes, given the nodes of all its attempts on a board.

    An entry that reports none, such as one that moves at random, does not search with few nodes, so it is left out of all figures
    and plots by nodes.

    >>> reports_nodes([0, 12]), reports_nodes([0, 0])
    (True, False)
    """
    return any(nodes)


def quality_by_budget(attempts: Iterable[tuple[float, float] | None]) -> tuple[BudgetStep, ...]:
    """Return the mean quality of the solutions by budget (nodes or seconds). It is a step function that starts at (0, 0).

    `attempts` contains what each attempt spent and the quality of its solution, from 0 to 1, or None if it found none, which
    counts as a quality of 0. The result is empty when nothing was solved.

    >>> quality_by_budget([(30, 0.5), (10, 1.0), None, (10, 1.0)])
    (BudgetStep(budget=10, share=0.5), BudgetStep(budget=30, share=0.625))
    """
    listed = list(attempts)
    worth: dict[float, float] = {}
    for budget, quality in sorted(one for one in listed if one is not None):
        worth[budget] = worth.get(budget, 0.0) + quality
    return tuple(BudgetStep(budget, total / len(listed)) for budget, total in zip(worth, accumulate(worth.values()), strict=True))


def solved_by_budget(spent: Iterable[float | None]) -> tuple[BudgetStep, ...]:
    """Return the solved share by budget, which is the mean quality if every solution has the quality 1.

    `spent` contains the nodes (or seconds) of each attempt, or None if it found no solution.

    >>> solved_by_budget([30, 10, None, 10])
    (BudgetStep(budget=10, share=0.5), BudgetStep(budget=30, share=0.75))
    """
    return quality_by_budget(None if cost is None else (cost, 1.0) for cost in spent)


def share_at(steps: Sequence[BudgetStep], budget: float) -> float:
    """Return the share at a budget."""
    return max((step.share for step in steps if step.budget <= budget), default=0.0)


def par2(spent: Iterable[float | None], limit: float) -> float | None:
    """Return the penalised average runtime with factor 2 (PAR2, as in the SAT competitions); None without positions.

    A position that was not solved (None) counts twice the limit. A position that was solved counts what was spent on it, even if
    this is more than `limit` because the answer came in the time that is allowed after the limit; but never more than an
    unsolved one. Raises ArenaError unless the limit is above 0.

    >>> par2([10, None, 101], 100)
    103.66666666666667
    """
    if limit <= 0:
        raise ArenaError(f"par2: expected a limit above 0, got {limit:g}")
    costs = [2 * limit if cost is None else min(cost, 2 * limit) for cost in spent]
    return fmean(costs) if costs else None


def optimality_gap(solutions: Iterable[tuple[float, float]]) -> float | None:
    """Return the mean cost above the optimum, relative to the optimum; None without solutions, and if a solution costs more than
    an optimum of 0, because its gap is infinite. Without it, the mean would be that of the better solutions.

    `solutions` contains the cost and the optimal cost of each solution. With an optimum of 0, a solution of cost 0 has the gap 0.

    >>> optimality_gap([(11, 10), (10, 10)])
    0.05
    """
    gaps = [(cost - best) / best if best else inf if cost else 0.0 for cost, best in solutions]
    return fmean(gaps) if gaps and max(gaps) < inf else None


MIN_DEPTH = 3
"""The least depth of a solution for which there is an effective branching factor. At depth 1 it is the number of nodes, and at
depth 2 about its square root, so the mean over many positions would be that of the trivial ones.
"""


def effective_branching_factor(nodes: int, moves: int) -> float | None:
    """Return the effective branching factor b* of a search that generated `nodes` states for a solution with `moves` actions.

    A uniform tree of this depth and branching factor has as many nodes below its root: nodes = b* + b*^2 + ... + b*^moves
    (S. Russell, P. Norvig, Artificial Intelligence: A Modern Approach, section 3.6). None without nodes, and for fewer moves than
    MIN_DEPTH.

    >>> round(effective_branching_factor(52, 5), 2)
    1.92
    """
    if nodes < 1 or moves < MIN_DEPTH:
        return None

    def excess(factor: float) -> float:
        if factor <= 0:
            return -nodes
        if abs(factor - 1) < 1e-9:  # the sum of the geometric series divides 0 by 0
            return moves - nodes
        return factor * expm1(moves * log(factor)) / (factor - 1) - nodes

    return bisect(excess, 0.0, nodes ** (1 / moves))
