"""Results for notebooks, from a run in memory or from a store: boards as data frames, comparisons, and plots."""

from collections.abc import Sequence
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any

from arena import ArenaError, Results, UnknownName
from arena.api.cli import install_command
from arena.api.errors import StoreError, expect, expect_list
from arena.api.results import Leaderboard, TextTable, tallies_of
from arena.api.run import Scheduled
from arena_records.report import Report
from arena_records.tidy import TidyTable, read_claims

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RATING_COLUMNS = ("agent", "rating", "rating_low", "rating_high", "games", "score")
FIGURES = {
    "versus": ("rating", "rating_low", "rating_high", "Elo"),
    "puzzle": ("solved", "solved_low", "solved_high", "solved share"),
    "score": ("mean_return", "return_low", "return_high", "mean return"),
}
"""For each kind of board: the key of the value that is plotted, the keys of the bounds of its interval, and the name of the axis.
"""


def find_board(boards: Sequence[Any], board: int | str | None, store: object) -> int:
    """Return the number of a board, which is given by its number or its title. With a single board, `board` may be None."""
    titles = [one.title for one in boards]
    if board is None and len(boards) == 1:
        return 0
    if isinstance(board, str) and board in titles:
        return titles.index(board)
    if isinstance(board, int) and 0 <= board < len(boards):
        return board
    if isinstance(board, str):
        raise UnknownName(f"board of {store}", board, titles)
    given = "choose one of them" if board is None else f"got {board!r}"
    raise ArenaError(f"board: expected a number from 0 to {len(boards) - 1}, or one of {', '.join(titles)}; {given}")


def make_frame(results: Results, board: int | str | None, columns: Sequence[str] | None = None) -> Any:
    """Return the rows of a leaderboard as a data frame, leaving out values that are lists or mappings.

    With several boards and `board=None`, the frame has all of them and a column `board`.
    """
    pandas = import_pandas()
    boards = Leaderboard.of_results(results)
    chosen = boards if board is None else [boards[find_board(boards, board, results.name)]]
    rows = []
    for one in chosen:
        for row in one.rows:
            plain = {key: value for key, value in row.items() if not isinstance(value, (list, dict))}
            if one.kind == "versus":
                plain["rating_shown"] = row["agent"] not in one.unrated
            rows.append({**({"board": one.title} if len(chosen) > 1 else {}), **plain})
    frame = pandas.DataFrame(rows)
    wanted = [key for key in frame.columns if columns is None or key in columns or key in ("board", "rating_shown")]
    return frame[wanted]


def make_match_frame(results: Results) -> Any:
    """Return the matches as a data frame with one row per match, in the order of the schedule."""
    pandas = import_pandas()
    played = [(one.record, Scheduled(one.number, one.board, one.pairing)) for one in results.played]
    with results.open_store() as store:
        run = store.last()
    boards, values = run.boards, run.spec["values"]
    seats = max([len(record.labels) for record, _ in played], default=1)
    table = TidyTable(boards, seats, read_claims(boards, lambda: played), Report.read(values.get("report")))
    return pandas.DataFrame([table.row(*one) for one in played], columns=table.columns())


def notebook_html(results: Results) -> str:
    """Return the boards as HTML for notebooks. With several games, the overall table is included. All texts are escaped."""

    def section(title: str, body: str, lines: Sequence[str]) -> str:
        said = "<br>\n".join(map(escape, lines))
        return f'<h4>{escape(title)}</h4>\n<div style="overflow-x: auto; white-space: nowrap">{body}</div>\n<p>{said}</p>'

    boards = [board.explained() for board in Leaderboard.of_results(results)]
    parts = [f"<h3>{escape(results.name)}</h3>"]
    for board in boards:
        shown = board.table()
        parts.append(
            section(board.title, TextTable(shown.headings, shown.cells).text("html"), [*board.remarks, *board.failure_lines()])
        )
    found = Leaderboard.overall(boards)
    if found is not None:
        parts.append(section(found.title, found.text("html"), [found.note]))
    return "\n".join(["<div>", *parts, "</div>"])


def import_pandas() -> Any:
    """Import pandas. When it is missing, raise an ArenaError that says how to install it."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ArenaError(f"a data frame needs pandas ({error}); install it with: {install_command('data')}") from error
    return pd


def compare(results: Results, one: str, other: str, board: int | str | None) -> Any:
    """Compare two entries on a board in the same way as `arena compare`. Raises ArenaError if they have not met there."""
    comparison = import_module("arena_compare.comparison")
    attempts_of = import_module("arena_compare.puzzle_comparison").attempts_of
    with results.open_store() as store, store.snapshot():
        sheets = store.last().boards
        number = find_board(sheets, board, results.store or results.name)
        for name in (one, other):
            if name not in sheets[number].labels:
                raise UnknownName(f"entry of {sheets[number].title}", name, list(sheets[number].labels))
        tally = tallies_of(store, sheets)[number]
        attempts, distinct = attempts_of(store, sheets).get(number, {}), comparison.distinct_of(store)[number]
        found = comparison.compare_entries(tally.sheet, (one, other), attempts, tally, distinct).pairs
    if not found:
        raise StoreError(f"{one} and {other} have not played each other at {tally.sheet.title}, so there is nothing to compare")
    return found[0]


def plot(results: Results, board: int | str | None, agents: Sequence[str] | None, ax: "Axes | None") -> "Axes":
    """Draw the entries of a board with their 95 % intervals, the best entry at the top, and return the axes."""
    try:
        from matplotlib import pyplot as plt
        from matplotlib.axes import Axes
    except ImportError as error:
        raise ArenaError(f"a plot needs matplotlib ({error}); install it with: {install_command('report')}") from error
    if agents is not None:
        agents = expect_list("agents", agents, str, "a list of labels or None")
    if ax is not None:
        expect("ax", ax, Axes, "axes of matplotlib or None")
    boards = Leaderboard.of_results(results)
    shown = boards[find_board(boards, board, results.name)]
    key, low, high, axis = FIGURES[shown.kind]
    known = [row["agent"] for row in shown.rows]
    for name in agents or ():
        if name not in known:
            raise UnknownName(f"entry of {shown.title}", name, known)
    rows = [row for row in shown.rows if row[key] is not None and (agents is None or row["agent"] in agents)]
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 1.2 + 0.3 * len(rows)), layout="constrained")
    for place, row in enumerate(reversed(rows)):
        hidden = row["agent"] in shown.unrated
        ends = [row[key] if row[end] is None else row[end] for end in (low, high)]
        ax.plot(ends, [place, place], color="tab:blue", alpha=0.3 if hidden else 1.0)
        ax.plot([row[key]], [place], "o", color="tab:blue", alpha=0.3 if hidden else 1.0)
    ax.set_yticks(range(len(rows)), [row["agent"] for row in reversed(rows)])
    ax.set_xlabel(f"{axis}, 95 % intervals")
    ax.set_title(shown.title)
    return ax
