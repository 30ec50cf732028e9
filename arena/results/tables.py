"""Leaderboards as text: every format of tabulate, JSON and CSV."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, Protocol

from tabulate import tabulate_formats

from arena.columns import LAST
from arena.errors import escape_line
from arena.results import figures
from arena.results.cells import UNKNOWN, BoardTable, board_table, bracket_table, kinds
from arena.results.layout import DEFAULT, crossing, csv_line, fits, folded, table
from arena.results.leaderboard import Leaderboard

FORMATS = (*tabulate_formats, "json", "csv")
"""The values of `--format`."""

Environments = Sequence[Mapping[str, str]]

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
"""The markup of a heading in the styles that have one."""


class Titled(Protocol):
    """The tournament of a table: a Results or a Run of a store."""

    @property
    def name(self) -> str:
        """The name of the tournament."""

    @property
    def seed(self) -> int | str | None:
        """The seed of all randomness; None while it is secret."""

    @property
    def commitment(self) -> str | None:
        """The hash of a seed that is or was secret; None for other seeds."""


@dataclass(frozen=True, slots=True)
class Overall:
    """The table over all games of a tournament, the best agent first; cells are text, ready to be shown anywhere."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = "overall"
    note: str = (
        "Sorted by the mean of ranks; agents that are not on all boards come last, since means over other boards do not compare."
    )


def render(
    run: Titled, boards: Sequence[Leaderboard], style: str = DEFAULT, width: int | None = None, environments: Environments = ()
) -> str:
    """Return all boards of a tournament as one text, in one of FORMATS. JSON includes the `environments` of the matches, if
    given.

    `width` is the width of the terminal, if any. In the default style, columns that do not fit are left out, with a note.
    """
    if style != DEFAULT:
        width = None
    if style == "json":
        return json.dumps(document(run, boards, environments), indent=2, allow_nan=False)
    if style == "csv":
        lines = []
        for board in boards:
            keys = [key for key in board.rows[0] if key != "superiority"] if board.rows else ["agent"]
            lines.append(csv_line(["board", *keys]))
            for row in board.rows:
                cells = [kinds(row[key]) if isinstance(row[key], dict) else row[key] for key in keys]
                lines.append(csv_line([board.title, *cells]))
            lines.append("")
        return "\n".join(lines).rstrip("\n")
    texts = [_text(run.name, board, style, width) for board in boards]
    found = overall(boards)
    if found is not None:
        shown = table(found.headings, found.rows, style, width)
        texts += [_captioned(f"{run.name}: {found.title}", shown, style), found.note]
    return folded("\n\n".join(texts), width)


def document(run: Titled, boards: Sequence[Leaderboard], environments: Environments = ()) -> dict[str, Any]:
    """Return all boards of a tournament as plain values, with the `environments` in which it was played, if given."""
    committed = {} if run.commitment is None else {"commitment": run.commitment}
    played = {"environments": list(map(dict, environments))} if environments else {}
    return {"name": run.name, "seed": run.seed, **committed, **played, "boards": [board.as_dict() for board in boards]}


def _text(name: str, board: Leaderboard, style: str, width: int | None) -> str:
    shown, left_out = _fitting(board_table(board), width)
    heading = _HEADINGS.get(style, "{}")
    parts = [_captioned(f"{name}: {board.title}", table(shown.headings, shown.cells, style, width), style)]
    if left_out:
        parts.append(f"Left out for want of room: {', '.join(left_out)}. {_ROOMIER}")
    labels = [row["agent"] for row in board.rows]
    if board.cross is not None and len(labels) > 1:
        parts += [
            heading.format("Score of each row against each column"),
            crossing(labels, labels, cross_cells(board), style, width),
        ]
    if (bracket := bracket_table(board)) is not None:
        parts += [heading.format("Bracket"), table(bracket.headings, bracket.rows, style, width)]
    parts.append("\n".join([*board.remarks, *failure_lines(board)]))
    return "\n\n".join(parts)


def _captioned(title: str, text: str, style: str) -> str:
    heading = _HEADINGS.get(style, "{}").format(escape(title) if style.endswith("html") else title)
    return ("\n" if style == "asciidoc" else "\n\n").join([heading, text])


def overall(boards: Sequence[Leaderboard]) -> Overall | None:
    """Return all agents by the mean of their ranks, with the mean of their ratings; None unless there are several games."""
    if not any("mean_rank" in row for board in boards for row in board.rows):
        return None
    hidden = frozenset().union(*[board.unrated for board in boards])
    agents = {row["agent"]: row for board in boards for row in board.rows if row["mean_rank"] is not None}
    rows = sorted(agents.values(), key=lambda row: (-row["boards"], row["mean_rank"]))
    rated = any(row["mean_rating"] is not None for row in rows)
    cells = [
        (
            row["agent"],
            f"{row['boards']} of {len(boards)}",
            f"{row['mean_rank']:.2f}",
            *([UNKNOWN if row["agent"] in hidden else figures.elo(row["mean_rating"])] if rated else []),
        )
        for row in rows
    ]
    return Overall(("Agent", "Boards", "Mean rank", *(["Mean Elo"] if rated else [])), tuple(cells))


def _fitting(whole: BoardTable, width: int | None) -> tuple[BoardTable, list[str]]:
    """Return the columns that fit, and the headings of the least important ones, which are left out; the rest may still be too
    wide.
    """
    kept, left_out = whole, []
    for turn in sorted({column.left_out for column in whole.columns} - {0}):
        if width is None or fits(kept.headings, kept.cells, width, _MIN_LABEL_WIDTH if turn >= LAST else None):
            break
        left_out += [column.heading for column in kept.columns if column.left_out == turn]
        kept = replace(kept, columns=tuple([column for column in kept.columns if column.left_out != turn]))
    return kept, left_out


_MIN_LABEL_WIDTH = 16
"""The characters to which labels may be wrapped before a column of one of the last turns is left out."""
_ROOMIER = "A wider terminal or a pipe (`| less -S`) shows all; of a tournament also --format, and `columns:` in its spec."


def cross_cells(board: Leaderboard) -> list[list[str]]:
    """The texts of the scores of each agent against each, in rank order."""
    return [[figures.share(score) for score in scores] for scores in board.cross or ()]


def failure_lines(board: Leaderboard) -> list[str]:
    """Return a line for every kind of fault of every agent, and the command that shows its first match."""
    lines = []
    for failure in board.failures:
        times = "once" if failure.count == 1 else f"{failure.count:,} times"
        lines.append(
            f"{failure.agent} failed {times} by {failure.kind}, first in match {failure.first}: "
            f"{escape_line(failure.message or '')}"
        )
        if board.store is not None:
            lines.append(f"  {replay_command(board.store, failure.first)}")
    return lines


def replay_command(store: str, key: str) -> str:
    """Return the command that shows a match again."""
    return f"arena replay {shlex.quote(store)} {key}"
