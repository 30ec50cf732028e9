"""The measures that are read from the columns of a store, with a value for each entry in each match. This module also compares
the mean values of two entries.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from arena import ArenaError
from arena.api.games import is_finite
from arena.api.results import Comparison, Measured, RoundLeads, RoundValues, Tally, compare_values
from arena.api.store import Store
from arena.stats import SIGNIFICANCE_LEVEL, holm, holm_chances
from arena_records.budgets import effective_branching_factor, reports_nodes
from arena_records.report_key import read_timed_entries

COSTS_OF_SOLUTIONS = ("nodes", "expanded", "seconds", "moves", "cost")
"""Measures that have values only for solved positions on a puzzle board. Otherwise, an entry that gives up early looks cheap."""
NO_SEATS = "games were repeated, and the measure does not say which games its values come from (`Measured.seats`)."
"""The reason why there is no verdict by a measure of a plugin."""


@dataclass(frozen=True, slots=True)
class MeanComparison:
    """The comparison of two entries by a measure, from the rounds that both have played. In a round, both entries have the same
    positions and the same dice.
    """

    one: str
    other: str
    rounds: int
    """The number of rounds in which both have a value; without `paired`, in which at least one of them has a value."""
    mean_one: float
    mean_other: float
    difference: float
    """The mean difference over the rounds: the value of `one` minus the value of the other entry."""
    low: float | None
    """`low` and `high` are the bounds of the interval of the difference, which misses it with probability `chance`; None if
    fewer than two rounds differ, or if all differences are equal.
    """
    high: float | None
    p_value: float
    """The two-sided p-value of the `test` of the differences; 1 without a test."""
    p_value_holm: float
    """The p-value after Holm's correction for all tests on the board."""
    test: str
    """The name of the test. It is empty if the two differ in no round, or if all rounds are repetitions of one."""
    observations: int = 0
    """The number of independent observations of the test: rounds that do not repeat others, or positions; 0 without a test."""
    paired: bool = True
    """Whether the means are over the rounds in which both have a value. Otherwise the two share too few rounds, and each mean is
    over all rounds of the entry.
    """
    solved: bool = False
    """Whether the means are over the rounds that both solved, see COSTS_OF_SOLUTIONS."""
    remarks: tuple[str, ...] = ()
    """Sentences that the measure adds."""
    withheld: str | None = None
    """The reason why there is no verdict; None if there is one."""
    chance: float = SIGNIFICANCE_LEVEL
    """The level at which Holm's method tests the difference."""
    caveat: str = ""
    """A sentence for the verdict, if the two searched at different speeds under a time limit; otherwise empty."""

    def swapped(self) -> "MeanComparison":
        """Return the same comparison with the two entries exchanged."""
        return replace(
            self,
            one=self.other,
            other=self.one,
            mean_one=self.mean_other,
            mean_other=self.mean_one,
            difference=-self.difference,
            low=None if self.high is None else -self.high,
            high=None if self.low is None else -self.low,
        )

    @property
    def better(self) -> int:
        """1 if `one` has significantly more, -1 if the other entry has, otherwise 0."""
        if self.withheld is not None or self.p_value_holm > SIGNIFICANCE_LEVEL:
            return 0
        return int(self.difference > 0) - int(self.difference < 0)


def gather_values(measure: Comparison, store: Store, tallies: Sequence[Tally]) -> dict[tuple[int, int], RoundValues]:
    """Read a measure from a store. The result has the values of each entry; its keys are the number of the board and the number
    of the entry. An entry that reports no nodes does not search with few of them, so it has no values of nodes.

    Raises ArenaError when the measure yields an unknown board or entry, or a value that is not a number.
    """
    repeats, sheets = [tally.returns.find_repeats() for tally in tallies], [tally.sheet for tally in tallies]
    places = [(board, entry) for board, sheet in enumerate(sheets) for entry in range(len(sheet.labels))]
    found = {(board, entry): RoundValues(entry, repeats[board]) for board, entry in places}
    for one in measure.read(store):
        measured = Measured(*one)
        if (measured.board, measured.entry) not in found or not is_finite(measured.value):
            raise ArenaError(f"measure {measure.name}: expected a number for an entry of the store, got {one!r}")
        found[measured.board, measured.entry].add(measured.round, float(measured.value), measured.seats)
    for number, sheet in enumerate(sheets) if measure.name == "nodes" else ():
        idle = [entry for entry in range(len(sheet.labels)) if not reports_nodes(found[number, entry].by_round().values())]
        found |= {(number, entry): RoundValues(entry, {}) for entry in idle}
    return found


def keep_solved(
    values: Mapping[tuple[int, int], RoundValues], measure: Comparison, store: Store, tallies: Sequence[Tally]
) -> dict[tuple[int, int], RoundValues]:
    """Return the values of a measure in COSTS_OF_SOLUTIONS only for the rounds that the entry solved, and the values of games and
    of other measures unchanged.
    """
    if measure.name not in COSTS_OF_SOLUTIONS:
        return dict(values)
    solved = gather_values(Comparison("solved", "", read_solved), store, tallies)
    return {
        place: found.keep({number for number, value in solved[place].by_round().items() if value == 1})
        if tallies[place[0]].sheet.kind == "puzzle"
        else found
        for place, found in values.items()
    }


def find_partial(store: Store, values: Mapping[tuple[int, int], RoundValues]) -> set[tuple[int, int]]:
    """Return the entries without a value in some round that they played, for example because they did not solve its position.
    The keys are those of `gather_values`.

    Their means over different rounds must not be compared, because the result decides which rounds these are.
    """
    rounds = {place: found.by_round() for place, found in values.items()}
    played = store.query(_COLUMNS.format("1", "1"))
    places = ((board, entry, round_) for board, round_, seats, _ in played for entry in Store.seats_of(seats))
    return {(board, entry) for board, entry, round_ in places if round_ not in rounds.get((board, entry), {})}


def compare_means(entries: Sequence[tuple[str, RoundValues]], *, partial: Collection[str] = ()) -> list[MeanComparison]:
    """Compare every two entries that have values. Games that only repeat others are no further observations. Entries in `partial`
    lack the values of some rounds, see `find_partial`, so they are compared on the rounds that both have.

    P-values and intervals are corrected together for all tests, see `count_tests`.
    """
    values = dict(entries)
    found = [
        (one, other, leads)
        for (one, mine), (other, theirs) in combinations(entries, 2)
        if (leads := compare_values(mine, theirs, paired=one in partial or other in partial)) is not None
    ]
    return [
        replace(one, withheld=NO_SEATS) if values[one.one].unknown or values[one.other].unknown else one
        for one in correct_means(found)
    ]


def correct_means(found: Sequence[tuple[str, str, RoundLeads]]) -> list[MeanComparison]:
    """Return comparisons of two entries each, with p-values and intervals that are corrected together for all tests, see
    `count_tests`.
    """
    tested = [leads.differ for _, _, leads in found]
    p_values = [leads.test.p_value for (_, _, leads), known in zip(found, tested, strict=True) if known]
    corrected = zip(p_values, holm(p_values), holm_chances(p_values), strict=True)
    untested = (1.0, 1.0, SIGNIFICANCE_LEVEL)
    return [
        MeanComparison(
            one,
            other,
            leads.rounds,
            leads.mean_one,
            leads.mean_other,
            leads.lead,
            *(leads.interval(chance) if known else (None, None)),
            p_value,
            p_value_holm,
            leads.test.name if known else "",
            len(leads.values) if known else 0,
            leads.paired,
            chance=chance,
        )
        for (one, other, leads), known in zip(found, tested, strict=True)
        for p_value, p_value_holm, chance in [next(corrected) if known else untested]
    ]


def count_tests(pairs: Sequence[MeanComparison]) -> int:
    """Return the number of tests for which the comparisons of a board are corrected: those of pairs that differ in any round."""
    return sum(bool(pair.test) for pair in pairs)


# The measures of every store


def read_returns(store: Store) -> Iterator[Measured]:
    """Yield the return of each seat."""
    for board, round_, seats, returns in store.query(_COLUMNS.format("r.returns", "1")):
        entries = Store.seats_of(seats)
        for entry, got in zip(entries, Store.returns_of(returns), strict=True):
            yield Measured(board, round_, entry, got, entries)


def read_points(store: Store) -> Iterator[Measured]:
    """Yield the points of each seat of a game: 1 if its result is better than that of every other seat, 1/2 if it shares the best
    result, otherwise 0.
    """
    query = _COLUMNS.format("r.returns, r.termination, r.seat", "instr(p.seats, ',')")
    for board, round_, seats, *ending in store.query(query):
        results, entries = Store.results_of(*ending), Store.seats_of(seats)
        for seat, (entry, got) in enumerate(zip(entries, results, strict=True)):
            best = max(results[:seat] + results[seat + 1 :])
            yield Measured(board, round_, entry, 1.0 if got > best else 0.5 if got == best else 0.0, entries)


def read_solved(store: Store) -> Iterator[Measured]:
    """Yield whether each attempt at a puzzle solved it."""
    return _read_first(store, "r.solved", "r.solved IS NOT NULL")


def read_moves(store: Store) -> Iterator[Measured]:
    """Yield the number of moves in each solution that is a path."""
    return _read_paths(store, _read_first(store, "r.moves", "r.solved AND r.moves IS NOT NULL"))


def read_costs(store: Store) -> Iterator[Measured]:
    """Yield the cost of each solution that is a path."""
    return _read_paths(store, _read_first(store, "r.cost", "r.solved AND r.cost IS NOT NULL"))


def read_branching(store: Store) -> Iterator[Measured]:
    """Yield the effective branching factor of each search that found a path. Its depth is that of the shortest path that any
    entry found in this round.
    """
    return _read_paths(store, _read_factors(store))


def _read_factors(store: Store) -> Iterator[Measured]:
    found = list(store.query(_COLUMNS.format("r.nodes_0, r.moves", "r.solved AND r.moves > 0")))
    depths: dict[tuple[int, int], int] = {}
    for board, round_, _, _, moves in found:
        depths[board, round_] = min(moves, depths.get((board, round_), moves))
    for board, round_, seats, nodes, _ in found:
        factor = effective_branching_factor(nodes, depths[board, round_])
        if factor is not None:
            yield Measured(board, round_, Store.seats_of(seats)[0], factor)


def read_nodes(store: Store) -> Iterator[Measured]:
    """Yield the number of nodes that each seat has used."""
    return _read_effort(store, "nodes", 1)


def read_expanded(store: Store) -> Iterator[Measured]:
    """Yield the number of states that each attempt of a solver expanded. Agents that choose moves, and records of earlier
    versions, have none.

    An attempt that generated no state, such as one from a goal, may have no number. It counts as 0 if the entry has others.
    """
    attempts = [(board, round_, Store.seats_of(seats), *counts) for board, round_, seats, *counts in store.query(_EXPANDED)]
    solvers = {(board, seats[0]) for board, _, seats, expanded, _ in attempts if expanded is not None}
    for board, round_, seats, expanded, nodes in attempts:
        if expanded is not None or (nodes == 0 and (board, seats[0]) in solvers):
            yield Measured(board, round_, seats[0], float(expanded or 0), seats)


def read_seconds(store: Store) -> Iterator[Measured]:
    """Yield the number of seconds that each seat has used, for the entries of a board whose decisions ran the same way. See
    `read_timed_entries`.
    """
    timed = read_timed_entries(store)
    yield from (one for one in _read_effort(store, "nanoseconds", Store.NANOSECONDS) if one.entry in timed[one.board])


def _read_paths(store: Store, found: Iterator[Measured]) -> Iterator[Measured]:
    """Yield the values of boards on which a solution is a path, and not only a final state."""
    boards = store.last().boards
    return (one for one in found if boards[one.board].path_matters)


def _read_first(store: Store, value: str, condition: str) -> Iterator[Measured]:
    for board, round_, seats, found in store.query(_COLUMNS.format(value, condition)):
        yield Measured(board, round_, Store.seats_of(seats)[0], float(found), Store.seats_of(seats))


def _read_effort(store: Store, column: str, unit: int) -> Iterator[Measured]:
    for board, round_, seats, first, second in store.query(_COLUMNS.format(f"r.{column}_0, r.{column}_1", "1")):
        entries = Store.seats_of(seats)
        for entry, amount in zip(entries, (first, second), strict=False):
            yield Measured(board, round_, entry, amount / unit, entries)
    for board, round_, seats, seat, amount in store.query(_LATER_SEATS.format(column)):
        yield Measured(board, round_, Store.seats_of(seats)[seat], amount / unit, Store.seats_of(seats))


_COLUMNS = """
SELECT p.board, p.round, p.seats, {}
FROM place p JOIN record r ON r.number = p.record WHERE r.termination <> 'void' AND {} ORDER BY p.number
"""
_EXPANDED = """
SELECT p.board, p.round, p.seats,
CASE WHEN json_valid(d.spent)
THEN (SELECT sum(json_extract(e.value, '$.expanded')) FROM json_each(d.spent) e WHERE e.type = 'object') END, r.nodes_0
FROM place p JOIN record r ON r.number = p.record LEFT JOIN detail d ON d.record = p.record
WHERE r.termination <> 'void' AND r.solved IS NOT NULL ORDER BY p.number
"""
_LATER_SEATS = """
SELECT p.board, p.round, p.seats, e.seat, e.{}
FROM place p JOIN effort e ON e.record = p.record JOIN record r ON r.number = p.record WHERE r.termination <> 'void'
"""
