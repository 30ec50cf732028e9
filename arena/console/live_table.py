"""The standings of a board as a table for a terminal, with as many columns as fit."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from arena.columns import COLUMNS, Column
from arena.format import Kind
from arena.results.cells import cell
from arena.results.leaderboard import Row

if TYPE_CHECKING:
    from rich.table import Table

GAP = 2
"""Blanks between two columns."""
LEAST = 8
"""Characters of a label that columns leave room for."""


def live_table(kind: Kind, rows: Sequence[Row], width: int) -> "Table":
    """Return the rows under the headings of a leaderboard; labels alone are cut, so that every figure can be read."""
    from rich.table import Table
    from rich.text import Text

    columns = _fitting([column for column in COLUMNS[kind] if _is_live(column, rows)], rows, width)
    table = Table.grid(padding=(0, GAP), pad_edge=True)
    for column in columns:
        label = column.key == "agent"  # the only one that rich may make narrower
        table.add_column(justify="left" if label else "right", no_wrap=not label)
    table.add_row(*[Text(column.heading, style="dim", no_wrap=True) for column in columns])
    for row in rows:
        texts = [cell(column, row) for column in columns]
        table.add_row(*[Text(text, no_wrap=True, overflow="ellipsis") for text in texts])
    return table


def _is_live(column: Column, rows: Sequence[Row]) -> bool:
    """Tell whether a column is one of the usual ones and known while a board is played."""
    return column.shown == "always" and all(column.key in row for row in rows)


def _fitting(columns: Sequence[Column], rows: Sequence[Row], width: int) -> list[Column]:
    """The columns without those that a narrow terminal has no room for; those with the same turn go together."""
    kept = list(columns)
    while _taken(kept, rows) > width and (turns := [column.left_out for column in kept if column.left_out]):
        kept = [column for column in kept if column.left_out != min(turns)]
    return kept


def _taken(columns: Sequence[Column], rows: Sequence[Row]) -> int:
    figures = [column for column in columns if column.key != "agent"]
    wide = [max([len(column.heading), *[len(cell(column, row)) for row in rows]]) for column in figures]
    return LEAST + sum(wide) + 2 * GAP * len(columns)
