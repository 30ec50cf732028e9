"""Columns that plugins add to boards. They are declared when a run starts, computed when it ends, and then kept in the store.

So a board can be shown without its plugins. This also applies to a board that the format of a plugin ranks; see
`arena.schedule.ranking`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import ConfigDict

from arena.columns import Column
from arena.errors import Interrupted, describe
from arena.format import own_columns
from arena.match.record import Record
from arena.parts import Measured
from arena.plugins.registry import Registry
from arena.stats.clustered import ClusteredMean, LoneMatches, PlainGames, Repeats, RoundValues, find_repeats

if TYPE_CHECKING:
    from arena.schedule.board_info import BoardInfo
    from arena.schedule.schedule import Scheduled
    from arena.spec import Board, Spec

    Matches = Callable[[], Iterable[tuple[Record, Scheduled | None]]]


@dataclass(frozen=True, slots=True)
class PluginColumn:
    """A column of a plugin on one board."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", allow_inf_nan=False)

    column: Column
    amount: str | None = None
    """The name of the amount from `Search.spend` that the column adds up; None if its cells are computed from the matches."""
    cells: tuple[ClusteredMean, ...] | None = None
    """The mean of each entry, by the index of the entry; None until the run has ended."""
    fault: str | None = None
    """Why the plugin could not compute the cells."""
    remarks: tuple[str, ...] = ()

    def row_values(self, entry: int, spent: Mapping[str, float]) -> dict[str, float | None]:
        """Return the values of an entry by the keys of the column."""
        key = self.column.key
        if self.amount is not None:
            return {key: spent.get(self.amount)}
        if self.cells is None:
            return {}
        mean, low, high = self.cells[entry]
        return {key: mean, f"{key}_low": low, f"{key}_high": high}


class RepeatedMatches:
    """Finds the matches of a run that only repeat others: without random numbers, the same actions from the same position.

    >>> played = arena.run({"game": "tic-tac-toe", "agents": ["minimax", "alpha-beta"], "rounds": 2})
    >>> from arena.api.results import BoardInfo
    >>> matches = RepeatedMatches([BoardInfo.of(board) for board in played.spec.boards])
    >>> for one in played.played:
    ...     matches.add(one.record, one)
    >>> matches.find(0)[0, 1]
    {0: 0, 1: 0}
    """

    def __init__(self, boards: "Sequence[BoardInfo]") -> None:
        self._boards = boards
        self._plain: dict[int, dict[tuple[int, ...], PlainGames]] = defaultdict(lambda: defaultdict(PlainGames))
        self._lone: dict[int, LoneMatches] = defaultdict(LoneMatches)

    def add(self, record: Record, place: "Scheduled") -> None:
        """Add a match that was not void."""
        seats, round_ = place.pairing.seats, place.pairing.round
        if self._boards[place.board].has_chance:
            return
        play = None if any(record.drew) else hash((record.position, record.answer, tuple(record.actions)))
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


def declare_columns(registry: Registry, board: "Board") -> tuple[PluginColumn, ...]:
    """Return the columns of all plugins for a board, without columns that its format also has."""
    taken, agents = {column.key for column in own_columns(board.format)}, {seat.agent for seat in board.seats}
    parts = [part for part in registry.parts["column"].values() if not part.agents or part.agents & agents]
    return tuple([PluginColumn(part.column, part.amount) for part in parts if part.column.key not in taken])


def apply_report(
    values: Mapping[str, Any], boards: "Sequence[BoardInfo]", matches: "Matches"
) -> "tuple[Sequence[BoardInfo], Matches]":
    """Return the boards with the columns that the key `report` in `values` asks for, and the matches that it keeps."""
    if not values.get("report"):
        return boards, matches
    report: Any = import_module("arena_records.report_key")
    return report.apply_report(values["report"], boards, matches)  # type: ignore[no-any-return]


def fill_columns(spec: "Spec", boards: "Sequence[BoardInfo]", matches: "Matches") -> "list[BoardInfo]":
    """Return the boards with all cells computed. Each call of `matches` reads the records of the run with their places.

    If a plugin raises an exception, it is stored as the fault of the column, so that no result is lost.
    """
    cells: dict[str, dict[int, tuple[ClusteredMean, ...]]] = {}
    faults: dict[str, str] = {}
    remarks: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    declared = {one.column.key for board in boards for one in board.plugin_columns}
    for part in spec.registry.parts["column"].values():
        if part.amount is not None or part.column.key not in declared:
            continue
        try:
            cells[part.column.key] = _read_cells(part.read or part.open(spec), boards, matches, remarks[part.column.key])
        except Interrupted:
            raise
        except Exception as error:
            faults[part.column.key] = describe(error)
    filled = []
    for number, board in enumerate(boards):
        own = [(one, one.column.key) for one in board.plugin_columns]
        found = [replace(one, cells=cells.get(key, {}).get(number, one.cells), fault=faults.get(key)) for one, key in own]
        found = [replace(one, remarks=(*one.remarks, *remarks[one.column.key][number])) for one in found]
        filled.append(replace(board, plugin_columns=tuple(found)))
    return filled


def _read_cells(
    read: Any, boards: "Sequence[BoardInfo]", matches: "Matches", remarks: dict[int, list[str]]
) -> dict[int, tuple[ClusteredMean, ...]]:
    """Return the means of a column for each board. ValueError unless all values are finite and belong to entries.

    An estimate of a plugin keeps its bounds only if no games of the entry were repeated.
    """
    found: list[Measured] = []
    estimates: dict[tuple[int, int], ClusteredMean] = {}
    matches_read = RepeatedMatches(boards)

    def read_scored() -> "Iterator[tuple[Record, Scheduled]]":
        for record, place in matches():
            if place is not None and record.termination != "void":
                matches_read.add(record, place)
                yield record, place

    for measured in read(read_scored()):
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
        if not (0 <= board < len(boards) and 0 <= entry < len(boards[board].labels) and isfinite(value)):
            raise ValueError(f"expected a number for an entry of the run, got {measured!r}")
    repeats = [matches_read.find(number) for number in range(len(boards))]
    values: dict[tuple[int, int], RoundValues] = {}
    for one in found:
        place = one.board, one.entry
        values.setdefault(place, RoundValues(one.entry, repeats[one.board])).add(one.round, one.value, one.seats)
    means = {place: measured.mean() for place, measured in values.items()}
    for (board, entry), estimate in estimates.items():
        repeated = any(entry in seats for seats in repeats[board])
        means[board, entry] = ClusteredMean(estimate.mean, None, None) if repeated else estimate
    nothing = ClusteredMean(None, None, None)
    return {
        number: tuple([means.get((number, entry), nothing) for entry in range(len(board.labels))])
        for number, board in enumerate(boards)
        if any(place[0] == number for place in means)
    }
