"""The standings of a board as a table for a terminal, with as many columns as fit."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from arena.columns import COLUMNS, Column
from arena.format import Kind
from arena.results.board_rows import Row
from arena.results.cells import BoardTable
from arena.results.rating import WIDEST

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

    usual = tuple([column for column in COLUMNS[kind] if _is_live(column, rows)])
    shown = BoardTable(usual, tuple(rows), _unrated(rows))
    columns = _fitting(shown, width)
    table = Table.grid(padding=(0, GAP), pad_edge=True)
    for column in columns:
        label = column.key == "agent"  # the only one that rich may make narrower
        table.add_column(justify="left" if label else "right", no_wrap=not label)
    table.add_row(*[Text(column.heading, style="dim", no_wrap=True) for column in columns])
    for row in rows:
        texts = [shown.cell(column, row) for column in columns]
        table.add_row(*[Text(text, no_wrap=True, overflow="ellipsis") for text in texts])
    return table


def _unrated(rows: Sequence[Row]) -> frozenset[str]:
    """The agents whose ratings are not known well enough yet."""
    bounds = {row["agent"]: (row["rating_low"], row["rating_high"]) for row in rows if row.get("rating") is not None}
    return frozenset([agent for agent, (low, high) in bounds.items() if None in (low, high) or high - low > 2 * WIDEST])


def _is_live(column: Column, rows: Sequence[Row]) -> bool:
    """Tell whether a column is one of the usual ones and known while a board is played."""
    return column.shown == "always" and all(column.key in row for row in rows)


def _fitting(shown: BoardTable, width: int) -> list[Column]:
    """The columns without those that a narrow terminal has no room for; those with the same turn go together."""
    kept = list(shown.columns)
    while _taken(kept, shown) > width and (turns := [column.left_out for column in kept if column.left_out]):
        kept = [column for column in kept if column.left_out != min(turns)]
    return kept


def _taken(columns: Sequence[Column], shown: BoardTable) -> int:
    figures = [column for column in columns if column.key != "agent"]
    wide = [max([len(column.heading), *[len(shown.cell(column, row)) for row in shown.rows]]) for column in figures]
    return LEAST + sum(wide) + 2 * GAP * len(columns)
