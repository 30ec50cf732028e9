"""Leaderboards as text: every format of tabulate, JSON and CSV."""

import csv
import io
import json
import shlex
from collections.abc import Callable, Sequence
from html import escape
from typing import Any, Protocol

from tabulate import tabulate, tabulate_formats

from arena.leaderboard import Leaderboard, Row

DEFAULT = "simple"
FORMATS = (*tabulate_formats, "json", "csv")
"""What `--format` takes."""

Column = tuple[str, Callable[[Row], Any]]

_HEADINGS = {
    "asciidoc": ".{}",
    "github": "### {}",
    "heavy_outline": "{}",
    "html": "<h2>{}</h2>",
    "jira": "h3. {}",
    "latex": "% {}",
    "latex_booktabs": "% {}",
    "latex_longtable": "% {}",
    "latex_raw": "% {}",
    "mediawiki": "== {} ==",
    "moinmoin": "== {} ==",
    "pipe": "### {}",
    "textile": "h3. {}",
    "unsafehtml": "<h2>{}</h2>",
    "youtrack": "h3. {}",
}
"""How a heading is written where a plain line would not do."""


class Titled(Protocol):
    """What a table says of its tournament: a Spec, a Results or a Run of a store."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def seed(self) -> int:
        """What everything random in it follows from."""


def render(run: Titled, boards: Sequence[Leaderboard], style: str = DEFAULT) -> str:
    """All boards of a tournament as one text, in one of FORMATS."""
    if style == "json":
        return json.dumps(document(run, boards), indent=2, allow_nan=False)
    if style == "csv":
        return "\n".join([_csv(board) for board in boards]).rstrip("\n")
    return "\n\n".join([_text(run.name, board, style) for board in boards])


def document(run: Titled, boards: Sequence[Leaderboard]) -> dict[str, Any]:
    """All boards of a tournament as plain values."""
    return {"name": run.name, "seed": run.seed, "boards": [board.as_dict() for board in boards]}


def table(headings: Sequence[str], rows: Sequence[Sequence[Any]], style: str = DEFAULT) -> str:
    """One table as text. Cells stand as they are: a label that looks like a number stays text."""
    align = ["right" if all(_is_number(row[n]) for row in rows) else "left" for n in range(len(headings))] if rows else None
    return tabulate(rows, list(headings), tablefmt=style, disable_numparse=True, colalign=align)


def _is_number(cell: Any) -> bool:
    text = str(cell).removesuffix(" %").replace(",", "")
    return text in ("", "-") or text.replace(".", "", 1).replace("-", "", 1).isdigit()


def _text(name: str, board: Leaderboard, style: str) -> str:
    columns = _VERSUS if board.kind == "versus" else _PUZZLE
    shown = [column for column in columns if column[0] not in _RARE or any(column[1](row) for row in board.rows)]
    rows = [[column[1](row) for column in shown] for row in board.rows]
    heading = _HEADINGS.get(style, "{}")
    title = f"{name}: {board.title}"
    caption = heading.format(escape(title) if style.endswith("html") else title)
    parts = [caption, table([column for column, _ in shown], rows, style)]
    if board.cross is not None and len(board.rows) > 1:
        parts += [heading.format("Score of each row against each column"), _cross(board, style)]
    parts += _remarks(board)
    gap = "\n" if style == "asciidoc" else "\n\n"
    return gap.join(parts[:2]) + "".join(f"\n\n{part}" for part in parts[2:])


def _cross(board: Leaderboard, style: str) -> str:
    labels = [row["agent"] for row in board.rows]
    rows = [[label, *map(_share, scores)] for label, scores in zip(labels, board.cross or (), strict=True)]
    return table(["", *labels], rows, style)


def _remarks(board: Leaderboard) -> list[str]:
    what = "games" if board.kind == "versus" else "attempts"
    lines = [f"{board.games:,} {what}, {board.distinct_games:,} distinct."]
    if board.kind == "versus" and board.distinct_games < board.games:
        lines[0] += " Repeated games say nothing new about the agents."
    if not board.finished:
        of = "" if board.size is None else f": {board.size - board.games - board.void:,} of {board.size:,} matches are missing"
        lines.append(f"The run is not finished{of}.")
    if board.void:
        lines.append(f"{board.void:,} void, not scored: the game or arena itself is at fault.")
    if board.fallbacks:
        lines.append(f"{board.fallbacks:,} actions were drawn at random: a budget ran out before anything was reported.")
    if board.soft:
        lines.append(f"Time limits are soft for {', '.join(board.soft)}: isolation is none, so nobody stops them.")
    if board.timed:
        lines.append("Some decisions had a time limit: the same matches may come out otherwise another time.")
    for failure in board.failures:
        times = "once" if failure.count == 1 else f"{failure.count:,} times"
        lines.append(f"{failure.agent} failed {times} by {failure.kind}, first in match {failure.first}: {failure.message}")
        if board.store is not None:
            lines.append(f"  arena replay {shlex.quote(board.store)} {failure.first}")
    return ["\n".join(lines)]


def _csv(board: Leaderboard) -> str:
    text = io.StringIO()
    keys = list(board.rows[0]) if board.rows else ["agent"]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["board", *keys])
    for row in board.rows:
        writer.writerow([board.title, *[_plain(row[key]) for key in keys]])
    return text.getvalue()


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return " ".join(f"{key}:{count}" for key, count in value.items())
    return "" if value is None else value


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def _figure(value: float | None) -> str:
    if value is None:
        return "-"
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 else f"{value:.4f}" if value else "0"


def _kinds(row: Row) -> str:
    return _plain(row["failures_by_kind"]) if row["failures"] else ""


_VERSUS: tuple[Column, ...] = (
    ("Rank", lambda row: row["rank"]),
    ("Agent", lambda row: row["agent"]),
    ("Games", lambda row: row["games"]),
    ("W", lambda row: row["wins"]),
    ("D", lambda row: row["draws"]),
    ("L", lambda row: row["losses"]),
    ("Score", lambda row: _share(row["score"])),
    ("Nodes/move", lambda row: _figure(row["nodes_per_move"])),
    ("ms/move", lambda row: _figure(row["ms_per_move"])),
    ("Failures", _kinds),
)
_PUZZLE: tuple[Column, ...] = (
    ("Rank", lambda row: row["rank"]),
    ("Agent", lambda row: row["agent"]),
    ("Attempts", lambda row: row["attempts"]),
    ("Solved", lambda row: _share(row["solved"])),
    ("95 % interval", lambda row: f"{_share(row['solved_low'])} to {_share(row['solved_high'])}"),
    ("Mean moves", lambda row: _figure(row["mean_moves"])),
    ("When failed", lambda row: _figure(row["mean_moves_failed"])),
    ("Mean cost", lambda row: "" if row["mean_cost"] in (None, row["mean_moves"]) else _figure(row["mean_cost"])),
    ("Nodes", lambda row: _figure(row["nodes_per_attempt"])),
    ("Seconds", lambda row: _figure(row["seconds_per_attempt"])),
    ("Failures", _kinds),
)
_RARE = frozenset({"Failures", "Mean cost"})
"""Columns that are left out where no row has anything to show."""
