"""The boards of a tournament as HTML for notebooks: tables, and the remarks below them. All texts are escaped."""

from collections.abc import Sequence
from html import escape

from arena.results.cells import board_table
from arena.results.layout import table
from arena.results.leaderboard import Leaderboard
from arena.results.tables import failure_lines, overall, remarks


def notebook_html(name: str, boards: Sequence[Leaderboard]) -> str:
    """The boards below the name of their tournament, with the overall table of several games."""
    parts = [f"<h3>{escape(name)}</h3>", *map(_board, boards)]
    found = overall(boards)
    if found is not None:
        parts.append(_captioned(found.title, table(found.headings, found.rows, "html"), [found.note]))
    return "\n".join(["<div>", *parts, "</div>"])


def _board(board: Leaderboard) -> str:
    shown = board_table(board)
    return _captioned(board.title, table(shown.headings, shown.cells, "html"), [*remarks(board), *failure_lines(board)])


def _captioned(title: str, body: str, lines: Sequence[str]) -> str:
    said = "<br>\n".join(map(escape, lines))
    return f'<h4>{escape(title)}</h4>\n<div style="overflow-x: auto; white-space: nowrap">{body}</div>\n<p>{said}</p>'
