"""The tables of a page as plain values: leaderboards, and the numbers behind plots. The templates turn them into HTML."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from arena.api.results import Leaderboard, TextTable, figures
from arena_web.report.plot import Plot

SIGNIFICANT_DIGITS = 4
"""The number of significant digits in a table of the numbers behind a plot."""

Kind = Literal["agent", "word", "number"]


@dataclass(frozen=True, slots=True)
class Table:
    """A table. `kinds` contains the kind of each column. The cells of a column of the kind `agent` are the headings of the
    rows.
    """

    name: str
    headings: Sequence[str]
    kinds: Sequence[Kind]
    rows: Sequence[Sequence[Any]]
    compact: bool = False


def leaderboard_table(board: Leaderboard) -> Table:
    """Return the leaderboard as `arena leaderboard` prints it."""
    shown = board.table()
    kinds: list[Kind] = [
        "agent" if column.key == "agent" else "word" if column.style in ("text", "kinds") else "number"
        for column in shown.columns
    ]
    return Table(f"leaderboard of {board.title}", shown.headings, kinds, shown.cells)


def ties_table(found: TextTable, board: str) -> Table:
    """Return the knockout bracket of a board as `arena leaderboard` prints it."""
    return Table(f"bracket of {board}", found.headings, ["word"] * len(found.headings), found.rows, compact=True)


def overall_table(found: TextTable) -> Table:
    """Return the table over all games as `arena leaderboard` prints it."""
    kinds: list[Kind] = ["agent" if number == 0 else "number" for number in range(len(found.headings))]
    return Table(f"leaderboard {found.title}", found.headings, kinds, found.rows)


def panel_table(title: str, data: Any) -> Table:
    """Return a table with the data of a panel that has no script, for readers without JavaScript."""
    rows = data if isinstance(data, list) else [data]
    names = list(rows[0])
    words = [any(isinstance(row[name], str) for row in rows) for name in names]
    cells = [["-" if row[name] is None else row[name] for name in names] for row in rows]
    shown = [[figures.figure(cell, 6) if isinstance(cell, float) else cell for cell in row] for row in cells]
    return Table(f"table of {title}", names, ["word" if word else "number" for word in words], shown, compact=True)


def numbers_table(plot: Plot, board: str) -> Table:
    """Return all numbers that a plot shows."""
    words = [any(isinstance(row[place], str) for row in plot.rows) for place in range(len(plot.headings))]
    rows = [
        [value if isinstance(value, str) else figures.figure(value, SIGNIFICANT_DIGITS) for value in row] for row in plot.rows
    ]
    name = f"numbers of the plot {plot.title} of {board}"
    return Table(name, plot.headings, ["word" if word else "number" for word in words], rows, compact=True)
