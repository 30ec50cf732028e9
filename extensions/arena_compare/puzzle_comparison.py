"""Two entries of a puzzle board, compared on the positions that both have met."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from statistics import fmean, geometric_mean
from typing import NamedTuple

from arena.api.match import Stream
from arena.api.results import BoardInfo, stopped
from arena.api.store import NANOSECONDS, Store, seats_of
from arena.stats import optimality_gap, par2, share_at, solved_by_budget
from arena_compare.paired import Estimate, Solved, difference_interval, mcnemar, paired_difference, paired_ratio

MAX_BUDGET_ROWS = 8
"""The maximum number of rows in a table of solved shares by budget."""
MIN_POSITIONS = 6
"""With fewer positions solved by both, figures have no interval and are not in the headline."""
MIN_SECONDS = 1e-6
"""Shorter times count as this one, in seconds, because ratios of such short times mean nothing."""


class Attempt(NamedTuple):
    """One attempt of an entry on a position."""

    solved: bool
    moves: int | None
    cost: float | None
    nodes: int
    seconds: float
    stopped: bool
    """True if a limit ended the attempt unsolved, so that its result with a larger budget is unknown."""


Attempts = dict[int, dict[int, Attempt]]
"""Attempts by the number of the entry, then by the number of the position."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The shares of the positions that two entries have solved within a budget."""

    budget: float
    one: float
    other: float


@dataclass(frozen=True, slots=True)
class Means:
    """The means of a figure of two entries with their difference, or its geometric means with their ratio, and the interval."""

    one: float
    other: float
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class PuzzleComparison:
    """Two entries on the same positions. Unknown figures are None."""

    one: str
    other: str
    solved: Solved
    difference: float
    """The difference of the solved shares, and its 95 % interval."""
    low: float
    high: float
    p_value: float
    """The two-sided p-value of McNemar's exact test."""
    moves: Means | None
    """The mean difference of moves on positions that both solved; and of costs, if a cost is not the number of moves."""
    cost: Means | None
    nodes: Means | None
    """The geometric mean of the ratios of nodes on positions that both solved, and the same for seconds."""
    seconds: Means | None
    par2_nodes: tuple[float, float] | None
    limit_nodes: float | None
    """The limit of PAR2: the most that any entry used on any position of the board. It is the same for all comparisons."""
    par2_seconds: tuple[float, float] | None
    limit_seconds: float | None
    gaps: tuple[float | None, float | None] | None
    """Each entry's mean cost above the optimum, relative to it; None if no optimum is known."""
    optima: int
    """The number of positions whose optimum is known."""
    by_nodes: tuple[Budget, ...]
    """Solved shares by budget, up to the smallest budget at which a limit stopped an attempt."""
    by_seconds: tuple[Budget, ...]


def attempts_of(store: Store, sheets: Sequence[BoardInfo]) -> dict[int, Attempts]:
    """The attempts on every puzzle board of the last run, by the board's number; void ones are left out."""
    found: dict[int, Attempts] = defaultdict(lambda: defaultdict(dict))
    for board, round_, seats, solved, termination, moves, cost, decisions, nodes, nanoseconds in store.query(_ATTEMPTS):
        sheet, entry, seconds = sheets[board], seats_of(seats)[0], nanoseconds / NANOSECONDS
        cut = not solved and stopped(sheet.limits_of(entry), termination, decisions, nodes, seconds)
        found[board][entry][round_] = Attempt(bool(solved), moves, cost, nodes, seconds, cut)
    return {board: dict(attempts) for board, attempts in found.items()}


def compare_attempts(
    names: tuple[str, str],
    attempts: tuple[Mapping[int, Attempt], Mapping[int, Attempt]],
    optima: Mapping[int, float],
    board: Collection[Attempt],
) -> PuzzleComparison:
    """Compare two entries by their attempts on each position, by its number.

    `optima` has the known lowest costs, `board` the attempts of all entries, which give the limits of PAR2.
    """
    shared = sorted(attempts[0].keys() & attempts[1].keys())
    met = [(attempts[0][position], attempts[1][position]) for position in shared]
    solved = Solved.of((one.solved, other.solved) for one, other in met)
    low, high = difference_interval(solved)
    both = [(one, other) for one, other in met if one.solved and other.solved]
    rng = Stream("/".join(["compare", *names]))

    def differ(figure: Callable[[Attempt], float | None]) -> Means | None:
        known = [(figure(one), figure(other)) for one, other in both]
        values = [(one, other) for one, other in known if one is not None and other is not None]
        return _means(values, fmean, paired_difference(values, rng))

    def ratio(figure: Callable[[Attempt], float], least: float) -> Means | None:
        values = [(max(least, figure(one)), max(least, figure(other))) for one, other in both]
        return _means(values, geometric_mean, paired_ratio(values, rng, least=least))

    nodes, seconds = _spent(met, lambda attempt: attempt.nodes), _spent(met, lambda attempt: attempt.seconds)
    unlike = any(attempt.cost != attempt.moves for pair in both for attempt in pair)
    known = [position for position in shared if position in optima]
    return PuzzleComparison(
        *names,
        solved,
        solved.difference,
        low,
        high,
        mcnemar(solved.only_one, solved.only_other),
        differ(lambda attempt: attempt.moves),
        differ(lambda attempt: attempt.cost) if unlike else None,
        ratio(lambda attempt: attempt.nodes, 1.0),
        ratio(lambda attempt: attempt.seconds, MIN_SECONDS),
        *_par2(nodes, max([attempt.nodes for attempt in board], default=0)),
        *_par2(seconds, max([attempt.seconds for attempt in board], default=0.0)),
        (_gap(attempts[0], known, optima), _gap(attempts[1], known, optima)) if known else None,
        len(known),
        _by_budget(*nodes, _most_known(met, lambda attempt: attempt.nodes)),
        _by_budget(*seconds, _most_known(met, lambda attempt: attempt.seconds)),
    )


def _means(values: list[tuple[float, float]], mean: Callable[[list[float]], float], estimate: Estimate | None) -> Means | None:
    if estimate is None:
        return None
    if len(values) < MIN_POSITIONS:
        estimate = Estimate(estimate.value, None, None)
    return Means(mean([one for one, _ in values]), mean([other for _, other in values]), estimate)


Spent = tuple[list[float | None], list[float | None]]


def _spent(met: list[tuple[Attempt, Attempt]], figure: Callable[[Attempt], float]) -> Spent:
    """The figure of each entry on every position; None if the position was not solved."""
    return (
        [figure(one) if one.solved else None for one, _ in met],
        [figure(other) if other.solved else None for _, other in met],
    )


def _par2(spent: Spent, limit: float) -> tuple[tuple[float, float] | None, float | None]:
    if limit <= 0:
        return None, None
    one, other = par2(spent[0], limit), par2(spent[1], limit)
    return (None, None) if one is None or other is None else ((one, other), limit)


def _gap(attempts: Mapping[int, Attempt], known: list[int], optima: Mapping[int, float]) -> float | None:
    costs = [(attempts[position].cost, optima[position]) for position in known if attempts[position].solved]
    return optimality_gap([(cost, best) for cost, best in costs if cost is not None])


def _most_known(met: list[tuple[Attempt, Attempt]], figure: Callable[[Attempt], float]) -> float:
    """The largest budget with a known share: the least figure of an attempt that a limit stopped; inf if none was."""
    return min((figure(attempt) for pair in met for attempt in pair if attempt.stopped), default=inf)


def _by_budget(one: list[float | None], other: list[float | None], most: float) -> tuple[Budget, ...]:
    """Both shares at budgets of 1, 2, 5, 10 ... from the least to the greatest figure of a solution, but none above `most`."""
    steps = solved_by_budget(one), solved_by_budget(other)
    budgets = [step.budget for each in steps for step in each]
    if not budgets:
        return ()
    grid = _round_numbers(max(min(budgets), MIN_SECONDS), max(budgets), most)
    return tuple([Budget(budget, share_at(steps[0], budget), share_at(steps[1], budget)) for budget in grid])


def _round_numbers(low: float, high: float, most: float) -> list[float]:
    """Round numbers from the one at or below `low` to the one at or above `high`, thinned out to MAX_BUDGET_ROWS.

    Numbers above `most` are replaced by `most`.
    """
    numbers = [float(f"{digit}e{power}") for power in range(-7, 16) for digit in (1, 2, 5)]
    inner = [one for one, two in pairwise(numbers) if two > low and one < high]
    inner += [number for number in numbers if number >= high][:1]
    if inner[-1] > most:
        inner = [*[number for number in inner if number < most], most]
    every = -(-len(inner) // MAX_BUDGET_ROWS)
    return inner[::-1][::every][::-1]


_ATTEMPTS = """
SELECT p.board, p.round, p.seats, r.solved, r.termination, r.moves, r.cost, r.decisions_0, r.nodes_0, r.nanoseconds_0
FROM place p JOIN record r ON r.number = p.record WHERE r.solved IS NOT NULL AND r.termination <> 'void' ORDER BY p.number
"""
