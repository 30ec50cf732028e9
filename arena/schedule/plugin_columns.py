"""The columns that plugins bring to boards: declared when a run starts, computed when it ends, and kept with it in the store.

So a board is shown without any plugin, as are boards ranked by a plugin's format; see `arena.schedule.ranking`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, Self

from arena.columns import Column
from arena.errors import Interrupted, describe
from arena.match.record import Record
from arena.parts import BoardColumn
from arena.plugins.registry import Registry
from arena.stats.clustered import ClusteredMean, clustered_mean

if TYPE_CHECKING:
    from arena.schedule.board_info import BoardInfo
    from arena.schedule.schedule import Scheduled

    Matches = Callable[[], Iterable[tuple[Record, Scheduled | None]]]


@dataclass(frozen=True, slots=True)
class PluginColumn:
    """A column of a plugin on one board."""

    column: Column
    amount: str | None = None
    """The amount that it adds up; None if its cells are read from the matches."""
    cells: tuple[ClusteredMean, ...] | None = None
    """The mean of each entry by its number; None until the run has ended."""
    fault: str | None = None
    """Why the plugin has not computed the cells."""

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return a column from its plain values."""
        cells = values["cells"]
        read = None if cells is None else tuple([ClusteredMean(*cell) for cell in cells])
        return cls(Column(**values["column"]), values["amount"], read, values["fault"])

    def row_values(self, entry: int, spent: Mapping[str, float], *, repeated: bool) -> dict[str, float | None]:
        """Return the values of an entry's row under the keys of the column; without bounds if rounds only repeat each other."""
        key = self.column.key
        if self.amount is not None:
            return {key: spent.get(self.amount)}
        if self.cells is None:
            return {}
        mean, low, high = self.cells[entry]
        return {key: mean, f"{key}_low": None if repeated else low, f"{key}_high": None if repeated else high}


def declare_columns(registry: Registry, taken: Iterable[str]) -> tuple[PluginColumn, ...]:
    """Return the columns of all plugins for a board; the keys of its format's own columns are `taken`."""
    parts: Iterable[BoardColumn] = registry.parts["column"].values()
    return tuple([PluginColumn(part.column, part.amount) for part in parts if part.column.key not in set(taken)])


def fill_columns(registry: Registry, boards: "Sequence[BoardInfo]", matches: "Matches") -> "list[BoardInfo]":
    """Compute the cells of all boards; `matches` starts to read the records of the run with their places.

    An exception of a plugin is kept as the column's fault, so that no result is lost.
    """
    cells: dict[str, dict[int, tuple[ClusteredMean, ...]]] = {}
    faults: dict[str, str] = {}
    for part in registry.parts["column"].values():
        if part.read is None:
            continue
        try:
            cells[part.column.key] = _read_cells(part, boards, matches)
        except Interrupted:
            raise
        except Exception as error:
            faults[part.column.key] = describe(error)
    return [
        replace(
            board,
            plugin_columns=tuple(
                [
                    replace(one, cells=cells.get(one.column.key, {}).get(number), fault=faults.get(one.column.key))
                    for one in board.plugin_columns
                ]
            ),
        )
        for number, board in enumerate(boards)
    ]


def _read_cells(part: BoardColumn, boards: "Sequence[BoardInfo]", matches: "Matches") -> dict[int, tuple[ClusteredMean, ...]]:
    """Return the means of a column, board by board; ValueError for anything but finite values of existing entries."""
    assert part.read is not None
    rounds: dict[tuple[int, int], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    scored = ((record, place) for record, place in matches() if place is not None and record.termination != "void")
    for measured in part.read(scored):
        board, round_, entry, value = measured
        if not (0 <= board < len(boards) and 0 <= entry < len(boards[board].labels) and isfinite(value)):
            raise ValueError(f"expected a number of an entry of the run, got {measured!r}")
        rounds[board, entry][round_].append(value)
    means = {
        place: clustered_mean([sum(values) for values in found.values()], [len(values) for values in found.values()])
        for place, found in rounds.items()
    }
    nothing = ClusteredMean(None, None, None)
    return {
        number: tuple([means.get((number, entry), nothing) for entry in range(len(board.labels))])
        for number, board in enumerate(boards)
    }
