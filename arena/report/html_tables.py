"""Tables of a page: leaderboards, failures, and the numbers behind a plot."""

from collections.abc import Sequence
from typing import Any

from arena.report.markup import Markup, element, joined
from arena.report.plot import Cell, Plot
from arena.results.leaderboard import Leaderboard
from arena.results.tables import Overall, columns_of, replay_command, rows_of

WORDS = frozenset({"Agent", "Failures", "By kind"})
"""The columns of a leaderboard that are not set as numbers."""


def leaderboard_table(board: Leaderboard) -> Markup:
    """The leaderboard as `arena leaderboard` prints it."""
    columns = columns_of(board)
    head = [element("th", name, scope="col", class_=None if name in WORDS else "number") for name, _ in columns]
    rows = [
        element("tr", [_cell(name, shown(row)) for name, shown in columns], data_agent=row["agent"]) for row in rows_of(board)
    ]
    return scrolled(f"leaderboard of {board.title}", head, rows)


def overall_table(found: Overall) -> Markup:
    """The table over all games as `arena leaderboard` prints it."""
    head = [element("th", name, scope="col", class_=None if name in WORDS else "number") for name in found.headings]
    rows = [
        element("tr", [_cell(name, value) for name, value in zip(found.headings, row, strict=True)], data_agent=row[0])
        for row in found.rows
    ]
    return scrolled(f"leaderboard {found.title}", head, rows)


def _cell(name: str, value: Any) -> Markup:
    if name == "Agent":
        return element("th", value, scope="row")
    return element("td", value, class_=None if name in WORDS else "number")


def failures_table(board: Leaderboard) -> Markup:
    """The kinds of faults by which agents lost matches, each with how to see the first of them again."""
    head = [element("th", name, scope="col") for name in ("Agent", "Fault", "Matches", "First of them")]
    rows = [
        element(
            "tr",
            element("th", failure.agent, scope="row"),
            element("td", element("span", failure.kind, class_="tag tag-bad")),
            element("td", f"{failure.count:,}", class_="number", data_name="Matches"),
            element(
                "td",
                element("p", failure.message, class_="fault-message") if failure.message else None,
                element("code", replay_command(board.store or "STORE", failure.first), class_="command"),
            ),
        )
        for failure in board.failures
    ]
    return scrolled(f"failures at {board.title}", head, rows)


def numbers_table(plot: Plot, board: str) -> Markup:
    """All the numbers that a plot of a board shows."""
    words = [any(isinstance(row[place], str) for row in plot.rows) for place in range(len(plot.headings))]
    head = [
        element("th", name, scope="col", class_=None if word else "number")
        for name, word in zip(plot.headings, words, strict=True)
    ]
    rows = [
        element(
            "tr",
            [element("td", figure(value), class_=None if word else "number") for value, word in zip(row, words, strict=True)],
        )
        for row in plot.rows
    ]
    return scrolled(f"numbers of the plot {plot.title} of {board}", head, rows, compact=True)


def figure(value: Cell) -> str:
    """A value of a plot with as many digits as mean something."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if isinstance(value, int) or value == int(value):
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.4g}"


def scrolled(name: str, head: Sequence[Markup], rows: Sequence[Markup], *, compact: bool = False) -> Markup:
    """A table that scrolls sideways where it is too wide; whoever has only a keyboard can scroll it, too."""
    table = element(
        "table",
        element("thead", element("tr", list(head))),
        element("tbody", list(rows)),
        class_="compact" if compact else None,
    )
    return element("div", table, class_="scroll", role="group", aria_label=name, tabindex=0)


def remark_list(lines: Sequence[str]) -> Markup:
    """Sentences below a table."""
    return joined([element("p", line, class_="remark dim small") for line in lines])
