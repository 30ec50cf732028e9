"""The tables of a page as values, which its templates write as HTML: leaderboards, and the numbers behind a plot."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from arena.report.plot import Cell, Plot
from arena.results.leaderboard import Leaderboard
from arena.results.tables import Overall, columns_of, rows_of

WORDS = frozenset({"Failures", "By kind"})
"""The columns of a leaderboard that are not set as numbers, beside its agents."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table: `kinds` of its columns, one of which may hold the agents, after whom its rows are called."""

    name: str
    headings: Sequence[str]
    kinds: Sequence[Literal["agent", "word", "number"]]
    rows: Sequence[Sequence[Any]]
    compact: bool = False


def leaderboard_table(board: Leaderboard) -> Table:
    """The leaderboard as `arena leaderboard` prints it."""
    columns = columns_of(board)
    rows = [[shown(row) for _, shown in columns] for row in rows_of(board)]
    return _of_agents(f"leaderboard of {board.title}", [name for name, _ in columns], rows)


def overall_table(found: Overall) -> Table:
    """The table over all games as `arena leaderboard` prints it."""
    return _of_agents(f"leaderboard {found.title}", found.headings, found.rows)


def _of_agents(name: str, headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    kinds = [_kind(heading) for heading in headings]
    return Table(name, headings, kinds, rows)


def _kind(heading: str) -> Literal["agent", "word", "number"]:
    return "agent" if heading == "Agent" else "word" if heading in WORDS else "number"


def numbers_table(plot: Plot, board: str) -> Table:
    """All the numbers that a plot of a board shows."""
    words = [any(isinstance(row[place], str) for row in plot.rows) for place in range(len(plot.headings))]
    rows = [[figure(value) for value in row] for row in plot.rows]
    name = f"numbers of the plot {plot.title} of {board}"
    return Table(name, plot.headings, ["word" if word else "number" for word in words], rows, compact=True)


def figure(value: Cell) -> str:
    """A value of a plot with as many digits as mean something."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if isinstance(value, int) or value == int(value):
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.4g}"
