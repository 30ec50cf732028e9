"""Tables of a page: leaderboards, failures, and the numbers behind a plot."""

from collections.abc import Sequence

from arena.report.markup import Markup, element, joined
from arena.report.plot import Cell, Plot
from arena.results import figures
from arena.results.cells import board_table
from arena.results.leaderboard import Leaderboard
from arena.results.tables import Overall, replay_command

DIGITS = 4
"""Significant digits of the numbers behind a plot."""


def leaderboard_table(board: Leaderboard) -> Markup:
    """The leaderboard as `arena leaderboard` prints it."""
    shown = board_table(board)
    words = [column.style in ("text", "kinds") for column in shown.columns]
    agents = [column.key == "agent" for column in shown.columns]
    rows = [
        element("tr", [_cell(*one) for one in zip(cells, words, agents, strict=True)], data_agent=row["agent"])
        for row, cells in zip(shown.rows, shown.cells, strict=True)
    ]
    return scrolled(f"leaderboard of {board.title}", _head(shown.headings, words), rows)


def overall_table(found: Overall) -> Markup:
    """The table over all games as `arena leaderboard` prints it."""
    words = [name == found.headings[0] for name in found.headings]
    rows = [element("tr", [_cell(*one) for one in zip(row, words, words, strict=True)], data_agent=row[0]) for row in found.rows]
    return scrolled(f"leaderboard {found.title}", _head(found.headings, words), rows)


def _head(names: Sequence[str], words: Sequence[bool]) -> list[Markup]:
    """The headings of columns, of which some hold words, the others numbers."""
    return [element("th", name, scope="col", class_=None if word else "number") for name, word in zip(names, words, strict=True)]


def _cell(text: str, word: bool, agent: bool = False) -> Markup:
    return element("th", text, scope="row") if agent else element("td", text, class_=None if word else "number")


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
    rows = [element("tr", [_cell(_text(value), word) for value, word in zip(row, words, strict=True)]) for row in plot.rows]
    return scrolled(f"numbers of the plot {plot.title} of {board}", _head(plot.headings, words), rows, compact=True)


def _text(value: Cell) -> str:
    return value if isinstance(value, str) else figures.figure(value, DIGITS)


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
