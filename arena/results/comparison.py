"""Two entries of a board, compared in pairs: on the same positions of a puzzle, or in games against each other."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from statistics import fmean, geometric_mean

from arena.identity import Stream
from arena.results.attempts import Attempt
from arena.stats.budget import optimality_gap, par2, share_at, solved_by_budget
from arena.stats.calculator import Worth, worth_of_pairs
from arena.stats.intervals import Difference
from arena.stats.paired import Estimate, Solved, difference_interval, mcnemar, paired_difference, paired_ratio
from arena.stats.pairs import Pair, pentanomial

BUDGETS = 8
"""Rows of a table of solved shares by budget, at the most."""
FEW = 6
"""Positions that both have solved under which their figures have no interval, and are not worth a headline."""
MICRO = 1e-6
"""Seconds below which a time is taken for this much."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What share of the positions each of the two has solved with a budget."""

    budget: float
    one: float
    other: float


@dataclass(frozen=True, slots=True)
class Means:
    """A figure of each of the two: means with their difference, or geometric means with their ratio; and its interval."""

    one: float
    other: float
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class PuzzleComparison:
    """What two entries made of the same positions. None stands where there is nothing to say."""

    one: str
    other: str
    solved: Solved
    difference: float
    """The share that one solved less the share that the other did, and the 95 % interval of that."""
    low: float
    high: float
    chance: float
    """How likely two equally good agents differ at least this much, by McNemar's exact test."""
    moves: Means | None
    """The mean difference on positions that both solved; of costs likewise, where they are not the moves."""
    cost: Means | None
    nodes: Means | None
    """How many times as many nodes on positions that both solved, a geometric mean; of seconds likewise."""
    seconds: Means | None
    par2_nodes: tuple[float, float] | None
    limit_nodes: float | None
    """The limit that PAR2 goes by: the most that either took on any position."""
    par2_seconds: tuple[float, float] | None
    limit_seconds: float | None
    gaps: tuple[float | None, float | None] | None
    """How far above the optimum each of them's solutions cost on average, as a share of it, where it is known."""
    optima: int
    """On how many positions the optimum is known."""
    by_nodes: tuple[Budget, ...]
    """At budgets that every attempt had or did not need."""
    by_seconds: tuple[Budget, ...]


def attempted(
    names: tuple[str, str],
    attempts: tuple[Mapping[int, Attempt], Mapping[int, Attempt]],
    optima: Mapping[int, float],
) -> PuzzleComparison:
    """Compare two entries by what they made of each position, by its number; `optima` has the known lowest costs."""
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
        ratio(lambda attempt: attempt.seconds, MICRO),
        *_par2(nodes, met, lambda attempt: attempt.nodes),
        *_par2(seconds, met, lambda attempt: attempt.seconds),
        (_gap(attempts[0], known, optima), _gap(attempts[1], known, optima)) if known else None,
        len(known),
        _by_budget(*nodes, _most_known(met, lambda attempt: attempt.nodes)),
        _by_budget(*seconds, _most_known(met, lambda attempt: attempt.seconds)),
    )


def _means(values: list[tuple[float, float]], mean: Callable[[list[float]], float], estimate: Estimate | None) -> Means | None:
    if estimate is None:
        return None
    if len(values) < FEW:
        estimate = Estimate(estimate.value, None, None)
    return Means(mean([one for one, _ in values]), mean([other for _, other in values]), estimate)


Spent = tuple[list[float | None], list[float | None]]


def _spent(met: list[tuple[Attempt, Attempt]], figure: Callable[[Attempt], float]) -> Spent:
    """What each position took either, None where it was not solved."""
    return (
        [figure(one) if one.solved else None for one, _ in met],
        [figure(other) if other.solved else None for _, other in met],
    )


def _par2(
    spent: Spent, met: list[tuple[Attempt, Attempt]], figure: Callable[[Attempt], float]
) -> tuple[tuple[float, float] | None, float | None]:
    limit = max((figure(attempt) for pair in met for attempt in pair), default=0)
    if limit <= 0:
        return None, None
    one, other = par2(spent[0], limit), par2(spent[1], limit)
    return (None, None) if one is None or other is None else ((one, other), limit)


def _gap(attempts: Mapping[int, Attempt], known: list[int], optima: Mapping[int, float]) -> float | None:
    costs = [(attempts[position].cost, optima[position]) for position in known if attempts[position].solved]
    return optimality_gap([(cost, best) for cost, best in costs if cost is not None])


def _most_known(met: list[tuple[Attempt, Attempt]], figure: Callable[[Attempt], float]) -> float:
    """The largest budget that all attempts had, or needed: the least that one spent which a limit stopped."""
    return min((figure(attempt) for pair in met for attempt in pair if attempt.stopped), default=inf)


def _by_budget(one: list[float | None], other: list[float | None], most: float) -> tuple[Budget, ...]:
    """Both shares at budgets of 1, 2, 5, 10 ... between the least and the most that a solution took; `most` is the largest."""
    steps = solved_by_budget(one), solved_by_budget(other)
    budgets = [step.budget for each in steps for step in each]
    if not budgets:
        return ()
    grid = _round_numbers(max(min(budgets), MICRO), max(budgets), most)
    return tuple([Budget(budget, share_at(steps[0], budget), share_at(steps[1], budget)) for budget in grid])


def _round_numbers(low: float, high: float, most: float) -> list[float]:
    """Round numbers from the one at or below `low` to the one at or above `high`, thinned out to BUDGETS.

    None is above `most`, which stands for those that would be.
    """
    numbers = [float(f"{digit}e{power}") for power in range(-7, 16) for digit in (1, 2, 5)]
    inner = [one for one, two in pairwise(numbers) if two > low and one < high]
    inner += [number for number in numbers if number >= high][:1]
    if inner[-1] > most:
        inner = [*[number for number in inner if number < most], most]
    every = -(-len(inner) // BUDGETS)
    return inner[::-1][::every][::-1]


@dataclass(frozen=True, slots=True)
class GamesComparison:
    """What two entries made of each other."""

    one: str
    other: str
    counts: tuple[int, int, int, int, int] | None
    """Pairs of games in which one had 0, a half, 1, one and a half, and 2 points; None for three and more seats.

    Pairs that only repeat another are counted with it where no seat drew a random number.
    """
    worth: Worth | None
    chance: float
    """How likely two equally good agents differ at least this much."""
    table: Difference | None
    """One's rating above the other's by all games of the board, in Elo."""
    games: int = 0
    """How many games these were, repeats and halves of pairs among them."""
    distinct: int = 0
    """How many of them differ in who sat where, the position or the actions."""


def met(names: tuple[str, str], pairs: list[Pair], table: Difference | None, distinct: int) -> GamesComparison:
    """Compare two entries by the games between them, so many of them `distinct`; halves of pairs do not count."""
    counts = counted(pairs)
    worth = worth_of_pairs(counts)
    chance = min(1.0, 2 * min(worth.superiority, 1 - worth.superiority))
    return GamesComparison(*names, counts, worth, chance, table, round(sum(pair.games for pair in pairs)), distinct)


def counted(pairs: Sequence[Pair]) -> tuple[int, int, int, int, int]:
    """How many pairs gave 0, a half, 1, one and a half, and 2 points; those with a game missing are left out."""
    whole = [pair for pair in pairs if pair.forward.games and pair.backward.games]
    return pentanomial([round(pair.score * 4) / 4 for pair in whole])  # with its repeats a pair counts once


def met_among_others(names: tuple[str, str], table: Difference) -> GamesComparison:
    """Compare two entries that sat at one table with others, by their ratings alone."""
    sure = 0.5 if table.superiority is None else table.superiority
    return GamesComparison(*names, None, None, min(1.0, 2 * min(sure, 1 - sure)), table)
