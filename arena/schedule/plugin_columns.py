"""Columns that plugins add to boards. They are declared when a run starts, computed when it ends, and then kept in the store.

So a board can be shown without its plugins. This also applies to a board that the format of a plugin ranks; see
`arena.schedule.ranking`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from math import isfinite
from typing import TYPE_CHECKING, Any, Self

from arena.columns import Column
from arena.errors import Interrupted, describe
from arena.format import own_columns
from arena.match.record import Record
from arena.plugins.registry import Registry
from arena.stats.clustered import ClusteredMean, clustered_mean

if TYPE_CHECKING:
    from arena.schedule.board_info import BoardInfo
    from arena.schedule.schedule import Scheduled
    from arena.spec import Board, Spec

    Matches = Callable[[], Iterable[tuple[Record, Scheduled | None]]]


@dataclass(frozen=True, slots=True)
class PluginColumn:
    """A column of a plugin on one board."""

    column: Column
    amount: str | None = None
    """The name of the amount from `Search.spend` that the column adds up; None if its cells are computed from the matches."""
    cells: tuple[ClusteredMean, ...] | None = None
    """The mean of each entry, by the index of the entry; None until the run has ended."""
    fault: str | None = None
    """Why the plugin could not compute the cells."""
    remarks: tuple[str, ...] = ()

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return a column from its plain values."""
        cells = values["cells"]
        read = None if cells is None else tuple([ClusteredMean(*cell) for cell in cells])
        return cls(Column(**values["column"]), values["amount"], read, values["fault"], tuple(values.get("remarks", ())))

    def row_values(self, entry: int, spent: Mapping[str, float], *, repeated: bool) -> dict[str, float | None]:
        """Return the values of an entry by the keys of the column. If rounds only repeat each other, there are no bounds."""
        key = self.column.key
        if self.amount is not None:
            return {key: spent.get(self.amount)}
        if self.cells is None:
            return {}
        mean, low, high = self.cells[entry]
        return {key: mean, f"{key}_low": None if repeated else low, f"{key}_high": None if repeated else high}


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
    """Return the means of a column for each board. ValueError unless all values are finite and belong to entries."""
    rounds: dict[tuple[int, int], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    means: dict[tuple[int, int], ClusteredMean] = {}
    scored = ((record, place) for record, place in matches() if place is not None and record.termination != "void")
    for measured in read(scored):
        if len(measured) == 2:
            remarks[measured[0]].append(measured[1])
            continue
        if len(measured) == 5:  # an estimate of the plugin
            board, entry, value, *ends = measured
            means[board, entry] = ClusteredMean(value, *ends)
        else:
            board, round_, entry, value = measured
            rounds[board, entry][round_].append(value)
        if not (0 <= board < len(boards) and 0 <= entry < len(boards[board].labels) and isfinite(value)):
            raise ValueError(f"expected a number for an entry of the run, got {measured!r}")
    means |= {
        place: clustered_mean([sum(values) for values in found.values()], [len(values) for values in found.values()])
        for place, found in rounds.items()
    }
    nothing = ClusteredMean(None, None, None)
    return {
        number: tuple([means.get((number, entry), nothing) for entry in range(len(board.labels))])
        for number, board in enumerate(boards)
        if any(place[0] == number for place in means)
    }
