"""Compares two entries of a puzzle board on the positions that both have attempted."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from math import exp, inf, log
from statistics import fmean, geometric_mean
from typing import Literal, NamedTuple

from arena.api.results import MIN_SECONDS, BoardInfo, Contrast, Contrasts, Way, describe_ways, figures, read_ways
from arena.api.store import Store
from arena.stats import (
    SIGNIFICANCE_LEVEL,
    LoneMatches,
    PairedShares,
    agree,
    difference_interval,
    group_values,
    mean_interval_of,
    subtract,
)
from arena_compare.measures import read_expanded
from arena_records.budgets import effective_branching_factor, optimality_gap, par2, reports_nodes, share_at, solved_by_budget

MAX_BUDGET_ROWS = 8
"""The maximum number of rows in a table of solved shares by budget."""
MIN_POSITIONS = 6
"""The minimum number of observations (positions) that both entries solved. If there are fewer, figures have no interval."""


class Attempt(NamedTuple):
    """An attempt of an entry to solve a position."""

    solved: bool
    moves: int | None
    cost: float | None
    nodes: int
    seconds: float
    stopped: bool
    """True if a limit ended the attempt without a solution, so that the result with a larger budget is unknown."""
    decisions: int = 1
    """The number of decisions; 1 for a solver."""
    way: Way = "plain"
    """How all decisions of the entry on this board ran: compiled or plain; None if this is not certain."""
    expanded: float | None = None
    """The number of states that a solver expanded; None if it was not counted."""


Attempts = dict[int, dict[int, Attempt]]
"""Attempts by the number of the entry, then by the round."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The shares of the positions that two entries have solved within a budget."""

    budget: float
    one: float
    other: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A difference or a ratio with its interval, at the level at which Holm's method tests it.

    The bounds are None for too few positions, or if all positions have the same value.
    """

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Means:
    """A figure for two entries. `one` and `other` are either the means or the geometric means; `estimate` is the difference or
    the ratio, with its interval.
    """

    one: float
    other: float
    estimate: Estimate
    test: Contrast | None
    """The test of the difference, or of the logarithms of the ratios; None if the two never differ."""

    @property
    def better(self) -> int:
        """1 if `one` is significantly better, -1 if the other entry is, otherwise 0."""
        return 0 if self.test is None else self.test.better


@dataclass(frozen=True, slots=True)
class PuzzleComparison:
    """The comparison of two entries on the same positions. Unknown figures are None."""

    one: str
    other: str
    solved: PairedShares
    positions: int
    """The number of different positions."""
    observations: int
    """The number of independent observations: the positions or, if there is only one, the rounds in which the attempts of the two
    do not repeat those of another round.
    """
    observations_both: int
    """The same number for the rounds whose position both solved."""
    difference: float
    """The difference of the solved shares with its interval, which misses it with probability `chance`. There is no interval
    for a single observation.
    """
    low: float | None
    high: float | None
    p_value: float
    """The two-sided p-value of the `test` of the solved shares, McNemar's exact test; 1 if both solved the same positions, and
    for a single observation, which is not tested.
    """
    p_value_holm: float
    """The p-value after Holm's correction for all tests on the board."""
    test: str
    better: int
    """1 if `one` is better by the figures that rank the board, -1 if the other entry is, 0 if they cannot be told apart."""
    moves: Means | None
    """The mean number of moves on positions that both entries solved."""
    cost: Means | None
    """The same for costs; None if every cost equals the number of moves."""
    nodes: Means | None
    """The geometric mean of nodes on positions that both entries solved."""
    seconds: Means | None
    """The same for seconds. All figures for seconds are unknown unless the decisions of both entries ran the same way."""
    par2_nodes: tuple[float, float] | None
    limit_nodes: tuple[float, float] | None
    """The limits in PAR2, the mean nodes (or seconds) per position, in which an unsolved position counts as twice the limit of
    the entry, see `par2_limits`. Without a limit for both entries, there is no PAR2.
    """
    par2_seconds: tuple[float, float] | None
    limit_seconds: tuple[float, float] | None
    gaps: tuple[float | None, float | None] | None
    """For each entry, how far the cost is above the optimum on average, as a fraction of the optimum; None if no optimum is
    known, see `optimality_gap`.
    """
    branching: tuple[float, float] | None
    """The mean effective branching factor of both entries, over the positions that both solved with nodes. Its depth is
    that of the shortest solution in the round, so the factor of an entry does not fall because its solutions are long.
    """
    branching_positions: int
    """The number of these positions."""
    branching_rounds: int
    """The number of rounds from these positions, over which the mean is."""
    optima: int
    """The number of positions for which the optimum is known."""
    by_nodes: tuple[Budget, ...]
    """Solved shares by budget, up to the smallest budget at which a limit stopped an attempt. `by_seconds` is the same for
    seconds.
    """
    by_seconds: tuple[Budget, ...]
    untimed: str | None
    """Why seconds are not compared, and what to do; None if they are."""
    idle: str | None = None
    """Why nodes are not compared; None if they are."""
    chance: float = SIGNIFICANCE_LEVEL
    """The level at which Holm's method tests the solved shares; that of a single test if both solved the same positions."""
    no_gap: str | None = None
    """Why an entry has no mean cost above the optimum although it has solutions with known optima; otherwise None."""
    caveat: str = ""
    """A sentence for the verdict, if the two searched at different speeds under a time limit; otherwise empty."""
    expanded: Means | None = None
    """The geometric mean of expanded states on positions that both entries solved, without a test; None unless they were counted
    in all of these attempts.
    """

    @property
    def words(self) -> str:
        """The number of positions in words and, if there are more of them, the number of rounds."""
        positions, rounds = figures.amount(self.positions, "position"), self.solved.rounds
        if self.positions == rounds:
            return positions
        if self.positions > 1:
            return f"{positions} ({rounds:,} rounds)"
        differ = "all" if self.observations == rounds else f"{self.observations:,}"
        return (
            f"one position ({rounds:,} rounds, {'which repeat each other' if self.observations == 1 else f'{differ} different'})"
        )

    def count(self, number: int, rounds: int) -> str:
        """Return a number of observations in words and, if they come from more rounds, the number of these rounds."""
        if self.positions == 1 and self.observations > 1:
            return figures.amount(rounds, "round") + (f" ({number:,} different)" if number < rounds else "")
        return figures.amount(number, "position") + (f" ({rounds:,} rounds)" if number < rounds else "")


def attempts_of(store: Store, sheets: Sequence[BoardInfo]) -> dict[int, Attempts]:
    """Return the attempts on every puzzle board of the last run; the keys are the numbers of the boards. Void attempts are
    left out.
    """
    found: dict[int, Attempts] = defaultdict(lambda: defaultdict(dict))
    ways = read_ways(store, sheets)
    expanded = {(one.board, one.round, one.entry): one.value for one in read_expanded(store)}
    for board, round_, seats, solved, termination, moves, cost, decisions, nodes, nanoseconds in store.query(_ATTEMPTS):
        sheet, entry, seconds = sheets[board], Store.seats_of(seats)[0], nanoseconds / Store.NANOSECONDS
        cut = not solved and sheet.was_stopped(entry, termination, decisions, nodes, seconds)
        found[board][entry][round_] = Attempt(
            *(bool(solved), moves, cost, nodes, seconds, cut, decisions, ways[board][entry]), expanded.get((board, round_, entry))
        )
    return {board: dict(attempts) for board, attempts in found.items()}


def compare_attempts(
    entries: tuple[tuple[str, int], tuple[str, int]],
    attempts: tuple[Mapping[int, Attempt], Mapping[int, Attempt]],
    contrasts: Contrasts,
    optima: Mapping[int, float],
    limits: Mapping[int, Mapping[str, float]],
    depths: Mapping[int, int],
    lone: LoneMatches | None = None,
    *,
    path_matters: bool = True,
) -> PuzzleComparison:
    """Compare two entries, given by their labels and numbers, by their attempts in each round.

    `contrasts` are those of the board. `optima` contains the known lowest costs, and `depths` the lengths of the shortest
    solutions in each round. `limits` are the limits of the entries for PAR2, with the keys `nodes` and `seconds`, if there
    are any. `lone` knows which rounds share a position and which attempts are repeats; None if no two rounds do. Without
    `path_matters`, costs and moves of solutions are not compared.
    """
    (one, number), (other, other_number) = entries
    pair = _Pair((one, other), (number, other_number), attempts, contrasts, lone or LoneMatches(), path_matters=path_matters)
    met = pair.met
    solved = PairedShares.of((mine.solved, theirs.solved) for mine, theirs in met)
    test, deciding = contrasts.get(*pair.numbers, "solved"), contrasts.deciding(*pair.numbers)
    leads = pair.group({round_: float(mine.solved) - float(theirs.solved) for round_, (mine, theirs) in pair.by_round.items()})
    chance = SIGNIFICANCE_LEVEL if test is None else test.chance
    bounds: tuple[float | None, float | None] = None, None
    if len(leads) > 1:
        bounds = difference_interval(solved, chance, leads)
        bounds = agree(bounds, decided=test is not None and test.better != 0, value=solved.difference)
    known = [round_ for round_ in pair.by_round if round_ in optima] if path_matters else []
    branching = pair.branching(depths)
    idle, untimed = pair.silent(), pair.untimed()
    nodes, seconds = _spent(met, lambda attempt: attempt.nodes), _spent(met, lambda attempt: attempt.seconds)
    budgets = {unit: [limits.get(entry, {}).get(unit, 0) for entry in pair.numbers] for unit in ("nodes", "seconds")}
    par2_nodes, limit_nodes = (None, None) if idle else _par2(nodes, budgets["nodes"])
    par2_seconds, limit_seconds = (None, None) if untimed else _par2(seconds, budgets["seconds"])
    return PuzzleComparison(
        one,
        other,
        solved,
        positions=pair.count_positions(pair.by_round),
        observations=len(leads),
        observations_both=len(pair.group(dict.fromkeys(pair.solved_by_both, 0.0))),
        difference=solved.difference,
        low=bounds[0],
        high=bounds[1],
        p_value=1.0 if test is None else test.p_value,
        p_value_holm=1.0 if test is None else test.p_value_holm,
        test="" if test is None else test.test,
        better=0 if deciding is None else deciding.better,
        moves=pair.difference("moves"),
        cost=pair.difference("cost") if pair.has_costs() else None,
        nodes=None if idle else pair.ratio("nodes", 1.0),
        seconds=None if untimed else pair.ratio("seconds", MIN_SECONDS),
        par2_nodes=par2_nodes,
        limit_nodes=limit_nodes,
        par2_seconds=par2_seconds,
        limit_seconds=limit_seconds,
        gaps=(_gap(attempts[0], known, optima), _gap(attempts[1], known, optima)) if known else None,
        branching=(fmean([b for b, _ in branching.values()]), fmean([b for _, b in branching.values()])) if branching else None,
        branching_positions=pair.count_positions(branching),
        branching_rounds=len(branching),
        optima=pair.count_positions(known),
        by_nodes=() if idle else _by_budget(*nodes, _most_known(met, lambda attempt: attempt.nodes), 1.0),
        by_seconds=() if untimed else _by_budget(*seconds, _most_known(met, lambda attempt: attempt.seconds), MIN_SECONDS),
        untimed=untimed,
        idle=idle,
        chance=chance,
        no_gap=_describe_endless(pair, known, optima),
        expanded=pair.ratio("expanded", 1.0) if pair.counts_expanded() else None,
    )


class _Pair:
    """The attempts of two entries in the rounds that both played."""

    def __init__(
        self,
        names: tuple[str, str],
        numbers: tuple[int, int],
        attempts: tuple[Mapping[int, Attempt], Mapping[int, Attempt]],
        contrasts: Contrasts,
        lone: LoneMatches,
        *,
        path_matters: bool,
    ) -> None:
        self.names, self.numbers, self.attempts = names, numbers, attempts
        self._contrasts = contrasts
        self._positions, self._repeats = lone.positions(), lone.find_repeats()
        self.by_round = {
            round_: (attempts[0][round_], attempts[1][round_]) for round_ in sorted(set(attempts[0]) & set(attempts[1]))
        }
        self.met = list(self.by_round.values())
        self.solved_by_both = {round_: pair for round_, pair in self.by_round.items() if pair[0].solved and pair[1].solved}
        self.paths = self.solved_by_both if path_matters else {}
        """The rounds in which the solutions of both are compared by their moves and costs."""

    def group(self, values: Mapping[int, float]) -> list[list[float]]:
        """Return values by round in groups, each of which is one observation."""
        return group_values(values, *[self._repeats.get((entry,)) for entry in self.numbers])

    def count_positions(self, rounds: Iterable[int]) -> int:
        """Return the number of different positions of rounds."""
        return len({self._positions.get(round_, round_) for round_ in rounds})

    def difference(self, aspect: Literal["moves", "cost"]) -> Means | None:
        """Return the mean moves or costs of the solutions, and the mean difference."""
        known = {round_: (getattr(one, aspect), getattr(other, aspect)) for round_, (one, other) in self.paths.items()}
        values = {round_: pair for round_, pair in known.items() if None not in pair}
        differences = self.group({round_: subtract(*pair) for round_, pair in values.items()})
        return _means(list(values.values()), fmean, differences, self._contrasts.get(*self.numbers, aspect))

    def ratio(self, aspect: Literal["nodes", "expanded", "seconds"], least: float) -> Means | None:
        """Return the geometric means of what the solutions took, and their ratio. Amounts below `least` count as `least`."""
        values = {
            round_: (max(least, getattr(one, aspect) or 0), max(least, getattr(other, aspect) or 0))
            for round_, (one, other) in self.solved_by_both.items()
        }
        logarithms = self.group({round_: log(one / other) for round_, (one, other) in values.items()})
        test = None if aspect == "expanded" else self._contrasts.get(*self.numbers, aspect)
        found = _means(list(values.values()), geometric_mean, logarithms, test)
        if found is None:
            return None
        low, high = [None if bound is None else exp(bound) for bound in (found.estimate.low, found.estimate.high)]
        return replace(found, estimate=Estimate(exp(found.estimate.value), low, high))

    def branching(self, depths: Mapping[int, int]) -> dict[int, tuple[float, float]]:
        """Return the effective branching factors of both by round, if both are known."""
        factors = {
            round_: [effective_branching_factor(one.nodes, depths.get(round_, 0)) for one in pair]
            for round_, pair in self.paths.items()
        }
        return {round_: (one, other) for round_, (one, other) in factors.items() if one is not None and other is not None}

    def has_costs(self) -> bool:
        """Whether the cost of any solution differs from its number of moves."""
        return any(subtract(one.cost or 0.0, one.moves or 0.0) for pair in self.solved_by_both.values() for one in pair)

    def counts_expanded(self) -> bool:
        """Whether expanded states were counted in all attempts with nodes, and in some attempt of each entry."""
        both = list(self.solved_by_both.values())
        counted = all(attempt.expanded is not None or not attempt.nodes for pair in both for attempt in pair)
        return counted and all(any(pair[side].expanded is not None for pair in both) for side in (0, 1))

    def silent(self) -> str | None:
        """Return a sentence about the entries that report no nodes; None if both report them."""
        mine = zip(self.names, self.attempts, strict=True)
        idle = [name for name, attempts in mine if not reports_nodes(one.nodes for one in attempts.values())]
        return (
            f"Nodes are not compared: {figures.listing(idle)} {'reports' if len(idle) == 1 else 'report'} none." if idle else None
        )

    def untimed(self) -> str | None:
        """Return why seconds are not compared; None if they are."""
        return describe_ways({name: one.way for pair in self.met for name, one in zip(self.names, pair, strict=True)})


def par2_limits(sheet: BoardInfo, attempts: Attempts) -> dict[int, dict[str, float]]:
    """Return the limits of each entry for PAR2, by `nodes` and `seconds`: those of the spec, if there are any.

    They apply to decisions, so an attempt with more than one may have used more. Then the limit is the largest of these amounts,
    for all entries with the same limit in the spec.
    """
    limits: dict[int, dict[str, float]] = {entry: {} for entry in range(len(sheet.labels))}
    for unit in ("nodes", "seconds"):
        given = {entry: own[unit] for entry in limits if unit in (own := sheet.limits_of(entry))}
        most = {limit: limit for limit in given.values()}
        for entry, limit in given.items():
            stepwise = [getattr(attempt, unit) for attempt in attempts.get(entry, {}).values() if attempt.decisions > 1]
            most[limit] = max([most[limit], *stepwise])
        for entry, limit in given.items():
            limits[entry][unit] = most[limit]
    return limits


def _means(
    values: Sequence[tuple[float, float]],
    mean: Callable[[list[float]], float],
    leads: Sequence[Sequence[float]],
    test: Contrast | None,
) -> Means | None:
    """Return the means of a measure and the mean of `leads` with its interval, which agrees with the test; None without
    values.

    `leads` are in groups, each of which is one observation.
    """
    if not values:
        return None
    bounds: tuple[float | None, float | None] = None, None
    value = fmean(chain(*leads))
    if test is not None:
        sizes = list(map(len, leads))
        bounds = mean_interval_of(list(map(fmean, leads)), test.chance, None if max(sizes) == 1 else sizes)
    bounds = agree(bounds, decided=test is not None and test.better != 0, value=value)
    estimate = Estimate(value, *(bounds if len(leads) >= MIN_POSITIONS else (None, None)))
    return Means(mean([one for one, _ in values]), mean([other for _, other in values]), estimate, test)


Spent = tuple[list[float | None], list[float | None]]


def _spent(met: list[tuple[Attempt, Attempt]], figure: Callable[[Attempt], float]) -> Spent:
    """Return a figure for each entry on every position; None if the position was not solved."""
    return (
        [figure(one) if one.solved else None for one, _ in met],
        [figure(other) if other.solved else None for _, other in met],
    )


def _par2(spent: Spent, limits: Sequence[float]) -> tuple[tuple[float, float] | None, tuple[float, float] | None]:
    if min(limits) <= 0:
        return None, None
    one, other = [par2(each, limit) for each, limit in zip(spent, limits, strict=True)]
    return (None, None) if one is None or other is None else ((one, other), (limits[0], limits[1]))


def _gap(attempts: Mapping[int, Attempt], known: list[int], optima: Mapping[int, float]) -> float | None:
    costs = [(attempts[position].cost, optima[position]) for position in known if attempts[position].solved]
    return optimality_gap([(cost, best) for cost, best in costs if cost is not None])


def _describe_endless(pair: _Pair, known: Iterable[int], optima: Mapping[int, float]) -> str | None:
    """Return a sentence about the numbers of positions with solutions that cost more than an optimum of 0; None without any."""
    told = []
    for name, mine in zip(pair.names, pair.attempts, strict=True):
        endless = [round_ for round_ in known if mine[round_].solved and not optima[round_] and (mine[round_].cost or 0) > 0]
        if endless:
            told.append(f"{name} has such solutions to {figures.amount(pair.count_positions(endless), 'position')}")
    lack = "a solution that costs more than an optimum of 0 has no percentage"
    return f"No mean cost above the optimum: {lack}, and {figures.listing(told)}." if told else None


def _most_known(met: list[tuple[Attempt, Attempt]], figure: Callable[[Attempt], float]) -> float:
    """Return the largest budget for which shares are known. This is the smallest number of nodes or seconds over all attempts
    that a limit stopped; inf if there are none.
    """
    return min((figure(attempt) for pair in met for attempt in pair if attempt.stopped), default=inf)


def _by_budget(one: list[float | None], other: list[float | None], most: float, least: float) -> tuple[Budget, ...]:
    """Return the solved shares of both entries at budgets of 1, 2, 5, 10 and so on. The budgets cover the figures of all
    solutions from `least` to `most`.
    """
    steps = solved_by_budget(one), solved_by_budget(other)
    budgets = [step.budget for each in steps for step in each]
    if not budgets:
        return ()
    grid = _round_numbers(max(min(budgets), least), max(*budgets, least), most)
    return tuple([Budget(budget, share_at(steps[0], budget), share_at(steps[1], budget)) for budget in grid])


def _round_numbers(low: float, high: float, most: float) -> list[float]:
    """Return round numbers (1, 2, 5, 10, ...) that cover the range from `low` to `high`.

    At most MAX_BUDGET_ROWS of them are kept. Numbers above `most` are replaced by `most`.
    """
    numbers = [float(f"{digit}e{power}") for power in range(-7, 20) for digit in (1, 2, 5)]
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
