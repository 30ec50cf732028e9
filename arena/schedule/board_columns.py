"""Columns that plugins add to boards. They are declared when a run starts, computed when it ends, and then kept in the store.

So a board can be shown without its plugins. This also applies to a board that the format of a plugin ranks; see
`arena.schedule.ranking`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

from arena.columns import ROW_KEYS, Column, Shown, Style
from arena.errors import Interrupted, describe
from arena.hookspecs import Part
from arena.limits import is_finite
from arena.match.record import Reason, Record, play_hash_of
from arena.schedule.board_info import BoardInfo
from arena.schedule.schedule import Scheduled
from arena.spec import Spec
from arena.stats.clustered import ClusteredMean, LoneMatches, PlainGames, Repeats, RoundValues, find_repeats, range_of

HOOK = "arena_board_columns"
Matches = Callable[[], Iterable[tuple[Record, Scheduled | None]]]
"""A function that starts to read the matches of a run with their places."""


class Measured(NamedTuple):
    """A number that was measured for one entry in one match."""

    board: int
    """The index of the board in the run."""
    round: int
    """The index of the round. All matches in a round have the same position, dice and deals."""
    entry: int
    """The index of the entry on the board."""
    value: float
    seats: tuple[int, ...] | None = None
    """The entries of the match, in the order of their seats. If a board has matches that only repeat others, there is no interval
    and no test without it.
    """


Cells = Iterable[Measured | tuple[Any, ...]]


@dataclass(frozen=True)
class BoardColumn(Part):
    """A column of boards, from the hook `arena_board_columns` of a plugin. Its key in JSON is its name with `_` instead of `-`.

    Set either `amount` or `cells`. `amount` is the name of an amount that agents report by `Search.spend`. A cell is then the sum
    over all decisions, and the column is shown if any decision reported the amount. `cells` is iterated once, when the run ends,
    and yields a `Measured` for each entry of each match that can be measured, on all boards of the run. A cell is then the mean,
    with a 95 % interval that treats each round as one observation. For another kind of interval, `cells` yields a tuple for each
    entry: the indices of board and entry, the mean, and its bounds. It may also yield remarks to show below a board, each as the
    index of the board and a line of text.

    >>> def measure_lengths(records):
    ...     for record, place in records:
    ...         for entry in place.pairing.seats:
    ...             yield Measured(place.board, place.pairing.round, entry, len(record.actions), place.pairing.seats)
    >>> BoardColumn("mean-length", "Length", description="Actions of a match.", cells=measure_lengths([])).column.key
    'mean_length'
    >>> BoardColumn("requests", "Requests", "count", amount="requests").column.style
    'count'
    """

    kind: ClassVar[str] = "column"
    TAKEN: ClassVar = ROW_KEYS
    """Keys that arena uses itself."""
    heading: str
    style: Style = "figure"
    """One of the styles of `arena.Column`."""
    description: str = ""
    amount: str | None = None
    cells: Cells | None = field(default=None, repr=False, compare=False)
    shown: Shown = "known"
    """When the column is shown, as in `arena.Column`."""
    agents: frozenset[str] = frozenset()
    """The names of the agents for which the column is meant. Boards with none of these agents do not have the column. Empty means
    all agents."""

    @property
    def column(self) -> Column:
        """The `arena.Column` for boards."""
        return Column(self.name.replace("-", "_"), self.heading, self.style, self.description, shown=self.shown, left_out=6)


class RepeatedMatches:
    """Finds the matches of a run that only repeat others: without random numbers, the same actions from the same position with
    the same result.

    >>> played = arena.run({"game": "tic-tac-toe", "agents": ["minimax", "alpha-beta"], "rounds": 2})
    >>> from arena.api.results import BoardInfo
    >>> matches = RepeatedMatches([BoardInfo.of(board) for board in played.spec.boards])
    >>> for one in played.played:
    ...     matches.add(one.record, one)
    >>> matches.find(0)[0, 1]
    {0: 0, 1: 0}
    """

    def __init__(self, boards: Sequence[BoardInfo]) -> None:
        self._boards = boards
        self._plain: dict[int, dict[tuple[int, ...], PlainGames]] = defaultdict(lambda: defaultdict(PlainGames))
        self._lone: dict[int, LoneMatches] = defaultdict(LoneMatches)

    def add(self, record: Record, place: Scheduled) -> None:
        """Add a match that was not void."""
        seats, round_ = place.pairing.seats, place.pairing.round
        if self._boards[place.board].has_chance:
            return
        play = None if any(record.drew) else play_hash_of(record)
        if len(seats) == 1:
            self._lone[place.board].add_position(round_, hash(record.position))
            self._lone[place.board].add(seats[0], round_, play)
        elif play is not None:
            games = self._plain[place.board][seats]
            games.rounds.append(round_)
            games.plays.append(play)

    def find(self, board: int) -> Repeats:
        """Return the rounds of the games on a board of which some are repeats of others."""
        return {**find_repeats(self._plain[board]), **self._lone[board].find_repeats()}


class AlikeMatches(NamedTuple):
    """Matches of a run that are alike: those of the same entries in the same seats, from the same position, with the same end."""

    board: int
    seats: tuple[int, ...]
    position: str
    returns: tuple[float, ...]
    termination: Reason
    fell_back: bool
    """Whether any of their actions were drawn because a budget ran out."""
    matches: int
    """Their number."""
    round: int
    """The first of their rounds."""


class RunMatches:
    """The matches of a run that were not void, each as its record and its place. Every iteration reads them again.

    `group` reads the groups of matches that are alike, if this is quicker than to iterate over all matches.
    """

    def __init__(
        self, boards: Sequence[BoardInfo], read: Matches, group: Callable[[], Iterable[AlikeMatches]] | None = None
    ) -> None:
        self._boards = boards
        self._read = read
        self._group = group
        self.repeated = RepeatedMatches(boards)
        """The repeats among the matches of the latest iteration."""

    def __iter__(self) -> Iterator[tuple[Record, Scheduled]]:
        """Yield the matches in the order of the schedule."""
        repeated = self.repeated = RepeatedMatches(self._boards)
        for record, place in self._read():
            if place is not None and record.termination != "void":
                repeated.add(record, place)
                yield record, place

    def groups(self) -> Iterable[AlikeMatches]:
        """Return the groups of matches that are alike, in the order of the first match of each. There are far fewer of them."""
        if self._group is not None:
            return self._group()
        found: dict[tuple[Any, ...], AlikeMatches] = {}
        for one, (_, board, pairing) in self:
            key = (board, pairing.seats, one.position, one.returns, one.termination, one.fallbacks > 0)
            before = found.setdefault(key, AlikeMatches(*key, 0, pairing.round))
            found[key] = before._replace(matches=before.matches + 1)
        return found.values()


def apply_report(values: Mapping[str, Any], boards: Sequence[BoardInfo], matches: Matches) -> tuple[Sequence[BoardInfo], Matches]:
    """Return the boards with the columns that the key `report` in `values` asks for, and the matches that it keeps."""
    if not values.get("report"):
        return boards, matches
    report: Any = import_module("arena_records.report_key")
    return report.apply_report(values["report"], boards, matches)  # type: ignore[no-any-return]


def fill_columns(spec: Spec, boards: Sequence[BoardInfo], records: RunMatches) -> list[BoardInfo]:
    """Return the boards with all cells computed, from the matches of the run.

    If a plugin raises an exception, it is stored as the fault of the column, so that no result is lost.
    """
    cells: dict[str, dict[int, tuple[ClusteredMean, ...]]] = {}
    faults: dict[str, str] = {}
    remarks: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    styles = {one.column.key: one.column.style for board in boards for one in board.plugin_columns}
    for name, found in _ask_columns(spec, boards, records).items():
        key = name.replace("-", "_")
        try:
            if isinstance(found, Exception):
                raise found
            cells[key] = _read_cells(found, boards, records, remarks[key], is_share=styles[key] == "share")
        except Interrupted:
            raise
        except Exception as error:
            faults[key] = describe(error)
    filled = []
    for number, board in enumerate(boards):
        own = [(one, one.column.key) for one in board.plugin_columns]
        computed = [replace(one, cells=cells.get(key, {}).get(number, one.cells), fault=faults.get(key)) for one, key in own]
        computed = [replace(one, remarks=(*one.remarks, *remarks[one.column.key][number])) for one in computed]
        filled.append(replace(board, plugin_columns=tuple(computed)))
    return filled


def _ask_columns(spec: Spec, boards: Sequence[BoardInfo], records: RunMatches) -> dict[str, Cells | Exception]:
    """Return the cells of each declared column of a plugin by its name, or the exception that the plugin raised."""
    declared = {one.column.key for board in boards for one in board.plugin_columns if one.amount is None}
    sources, manager = spec.registry.sources, spec.registry.manager
    wanted = {
        name: sources["column", name].name
        for name, part in spec.registry.parts["column"].items()
        if part.column.key in declared and ("column", name) in sources
    }
    found: dict[str, Cells] = {}
    failed: dict[str | None, Exception] = {}
    for plugin in manager.list_implementers(HOOK) if wanted else ():
        try:
            for columns in manager.call_plugin(plugin, HOOK, spec=spec, records=records):
                # if two plugins have the same name, it belongs to the one that was registered last
                found |= {column.name: column.cells for column in columns if column.cells is not None}
        except Interrupted:
            raise
        except Exception as error:
            failed[manager.get_name(plugin)] = error
    lost = LookupError(f"{HOOK} did not return this column at the end of the run")
    return {name: failed[owner] if owner in failed else found.get(name, lost) for name, owner in wanted.items()}


def _read_cells(
    given: Iterable[Any],
    boards: Sequence[BoardInfo],
    records: RunMatches,
    remarks: dict[int, list[str]],
    *,
    is_share: bool,
) -> dict[int, tuple[ClusteredMean, ...]]:
    """Return the means of a column for each board. ValueError unless all values are finite and belong to entries.

    An estimate of a plugin keeps its bounds only if no games of the entry were repeated.
    """
    found: list[Measured] = []
    estimates: dict[tuple[int, int], ClusteredMean] = {}
    for measured in given:
        if len(measured) == 2:
            remarks[measured[0]].append(measured[1])
            continue
        if isinstance(measured, Measured) or len(measured) == 4:
            one = Measured(*measured)
            board, entry, value = one.board, one.entry, one.value
            found.append(one)
        else:  # an estimate of the plugin
            board, entry, value, *ends = measured
            estimates[board, entry] = ClusteredMean(value, *ends)
        if not (0 <= board < len(boards) and 0 <= entry < len(boards[board].labels) and is_finite(value)):
            raise ValueError(f"expected a number for an entry of the run, got {measured!r}")
    repeats = [records.repeated.find(number) for number in range(len(boards))]
    values: dict[tuple[int, int], RoundValues] = {}
    for one in found:
        place = one.board, one.entry
        values.setdefault(place, RoundValues(one.entry, repeats[one.board])).add(one.round, one.value, one.seats)
    within = (0.0, 1.0) if is_share else range_of([one.value for one in found])
    means = {place: measured.mean(within) for place, measured in values.items()}
    for (board, entry), estimate in estimates.items():
        repeated = any(entry in seats for seats in repeats[board])
        means[board, entry] = ClusteredMean(estimate.mean, None, None) if repeated else estimate
    nothing = ClusteredMean(None, None, None)
    return {
        number: tuple([means.get((number, entry), nothing) for entry in range(len(board.labels))])
        for number, board in enumerate(boards)
        if any(place[0] == number for place in means)
    }
