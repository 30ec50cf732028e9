"""The tables of a page as values, which its templates write as HTML: leaderboards, and the numbers behind a plot."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from arena.api.results import BracketTable, Leaderboard, Overall, board_table, figures
from arena_web.report.plot import Plot

SIGNIFICANT_DIGITS = 4
"""Significant digits of the numbers behind a plot."""

Kind = Literal["agent", "word", "number"]


@dataclass(frozen=True, slots=True)
class Table:
    """A table. `kinds` are the kinds of its columns; a column of agents names the rows."""

    name: str
    headings: Sequence[str]
    kinds: Sequence[Kind]
    rows: Sequence[Sequence[Any]]
    compact: bool = False


def leaderboard_table(board: Leaderboard) -> Table:
    """The leaderboard as `arena leaderboard` prints it."""
    shown = board_table(board)
    kinds: list[Kind] = [
        "agent" if column.key == "agent" else "word" if column.style in ("text", "kinds") else "number"
        for column in shown.columns
    ]
    return Table(f"leaderboard of {board.title}", shown.headings, kinds, shown.cells)


def ties_table(found: BracketTable, board: str) -> Table:
    """The bracket of a board as `arena leaderboard` prints it."""
    return Table(f"bracket of {board}", found.headings, ["word"] * len(found.headings), found.rows, compact=True)


def overall_table(found: Overall) -> Table:
    """The table over all games as `arena leaderboard` prints it."""
    kinds: list[Kind] = ["agent" if number == 0 else "number" for number in range(len(found.headings))]
    return Table(f"leaderboard {found.title}", found.headings, kinds, found.rows)


def numbers_table(plot: Plot, board: str) -> Table:
    """All numbers of a plot."""
    words = [any(isinstance(row[place], str) for row in plot.rows) for place in range(len(plot.headings))]
    rows = [
        [value if isinstance(value, str) else figures.figure(value, SIGNIFICANT_DIGITS) for value in row] for row in plot.rows
    ]
    name = f"numbers of the plot {plot.title} of {board}"
    return Table(name, plot.headings, ["word" if word else "number" for word in words], rows, compact=True)
