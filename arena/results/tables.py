"""Leaderboards as text: in every table style of tabulate, in JSON and in CSV."""

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any, Protocol

from tabulate import tabulate_formats

from arena.columns import LAST
from arena.errors import escape_line
from arena.results import figures
from arena.results.board import ShownBoard
from arena.results.cells import BoardTable, board_table, bracket_table, kinds
from arena.results.layout import DEFAULT, TextTable, crossing, csv_line

FORMATS = (*tabulate_formats, "json", "csv")
"""The values that `--format` accepts."""

Environments = Sequence[Mapping[str, str]]
OVERALL_ADVICE = "`arena compare STORE --across` compares agents over the boards that they share, with intervals."

_HEADINGS = {
    "asciidoc": ".{}",
    **dict.fromkeys(("github", "pipe"), "### {}"),
    **dict.fromkeys(("html", "unsafehtml"), "<h2>{}</h2>"),
    **dict.fromkeys(("jira", "textile", "youtrack"), "h3. {}"),
    **dict.fromkeys(("latex", "latex_booktabs", "latex_longtable", "latex_raw"), "% {}"),
    **dict.fromkeys(("mediawiki", "moinmoin"), "== {} =="),
}
"""The markup for headings in the styles that have such a markup."""


class Titled(Protocol):
    """A tournament whose tables are shown: a `Results` object, or a `Run` from a store."""

    @property
    def name(self) -> str:
        """The name of the tournament."""

    @property
    def seed(self) -> int | str | None:
        """The seed of all random numbers; None while it is secret."""

    @property
    def commitment(self) -> str | None:
        """The hash of a seed that is or was secret; None for other seeds."""


def render(
    run: Titled, boards: Sequence[ShownBoard], style: str = DEFAULT, width: int | None = None, environments: Environments = ()
) -> str:
    """Return the boards of a tournament as one text, in one of FORMATS. JSON includes the `environments`, if given.

    `width` is the width of the terminal, if there is one. In the default style, a note names columns that do not fit.
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
                cells = [
                    kinds(cell) if isinstance(cell, dict) else json.dumps(cell) if isinstance(cell, list) else cell
                    for cell in [row[key] for key in keys]
                ]
                lines.append(csv_line([board.title, *cells]))
            lines.append("")
        return "\n".join(lines).rstrip("\n")
    texts = [_text(run.name, board, style, width) for board in boards]
    found = overall(boards)
    if found is not None:
        shown = found.text(style, width)
        texts += [_captioned(f"{run.name}: {found.title}", shown, style), _note(found.note, style)]
    return TextTable.fold("\n\n".join(texts), width)


def document(run: Titled, boards: Sequence[ShownBoard], environments: Environments = ()) -> dict[str, Any]:
    """Return the boards of a tournament as plain values, with the `environments` of the matches, if given."""
    committed = {} if run.commitment is None else {"commitment": run.commitment}
    played = {"environments": list(map(dict, environments))} if environments else {}
    domains = name_domains([board.title for board in boards])
    shown = [{"domain": domain, **board.as_dict()} for domain, board in zip(domains, boards, strict=True)]
    merits = {"overall": read_overall(boards)} if len(boards) > 1 else {}
    return {"name": run.name, "seed": run.seed, **committed, **played, "boards": shown, **merits}


def _text(name: str, board: ShownBoard, style: str, width: int | None) -> str:
    shown, left_out = _fitting(board_table(board), width)
    heading = _HEADINGS.get(style, "{}")
    parts = [_captioned(f"{name}: {board.title}", TextTable(shown.headings, shown.cells).text(style, width), style)]
    if left_out:
        parts.append(f"Columns that do not fit here: {', '.join(left_out)}. {_ROOMIER}")
    labels = [row["agent"] for row in board.rows]
    if board.cross is not None and len(labels) > 1:
        parts += [
            heading.format(board.cross_title),
            crossing(labels, labels, cross_cells(board), style, width),
        ]
    if (bracket := bracket_table(board)) is not None:
        parts += [heading.format("Bracket"), bracket.text(style, width)]
    parts.append(_note("\n".join([*board.remarks, *failure_lines(board)]), style))
    return "\n\n".join(parts)


def _captioned(title: str, text: str, style: str) -> str:
    heading = _HEADINGS.get(style, "{}").format(escape(title) if style.endswith("html") else title)
    return ("\n" if style == "asciidoc" else "\n\n").join([heading, text])


def _note(text: str, style: str) -> str:
    """Return the lines below a table: as comments in LaTeX, like the headings, because they have characters such as `%`."""
    return text if not style.startswith("latex") else "\n".join([f"% {line}" for line in text.split("\n")])


_MERITS: dict[str, tuple[str, str, Callable[[float | None], str]]] = {
    "solved": ("solved", "solved share", figures.share),
    "score": ("score", "score", figures.share),
    "mean_return": ("return", "mean return", figures.figure),
    "rating": ("rating", "Elo", figures.elo),
    "rank": ("rank", "place by the rules of the format", figures.count),
}
"""For each key that may rank a board: the key of its interval, its name, and the function that writes its values."""


def name_domains(titles: Sequence[str]) -> list[str]:
    """Return a different name for each board: its title, with a number if several boards share one.

    >>> name_domains(["nim", "hex", "nim"])
    ['nim 1', 'hex', 'nim 2']
    """
    return [
        title if titles.count(title) == 1 else f"{title} {titles[: number + 1].count(title)}"
        for number, title in enumerate(titles)
    ]


def read_overall(boards: Sequence[ShownBoard]) -> list[dict[str, Any]]:
    """Return for each agent, in the order of the spec, the figure that ranks each board that it plays, with its interval."""
    found: dict[str, list[dict[str, Any]]] = {label: [] for board in boards for label in board.sheet.labels}
    for domain, board in zip(name_domains([board.title for board in boards]), boards, strict=True):
        key = _MERITS[board.ranked_by][0]
        for row in board.rows:
            bounds = {bound: row.get(f"{key}_{bound}") for bound in ("low", "high")}
            found[row["agent"]].append({"domain": domain, "by": board.ranked_by, "value": row[board.ranked_by], **bounds})
    return [{"agent": agent, "domains": domains} for agent, domains in found.items()]


def overall(boards: Sequence[ShownBoard]) -> TextTable | None:
    """Return the values of `read_overall` as a table with a column for each board; None for a single board."""
    if len(boards) < 2:
        return None
    names = name_domains([board.title for board in boards])
    shown_as: dict[str, list[str]] = {}
    for name, board in zip(names, boards, strict=True):
        shown_as.setdefault(_MERITS[board.ranked_by][1], []).append(name)
    cells = []
    for entry in read_overall(boards):
        shown: dict[str, str] = {}
        for one in entry["domains"]:
            text = _MERITS[one["by"]][2]
            value, bounds = text(one["value"]), [one["low"], one["high"]]
            interval = figures.between(*[None if bound is None else text(bound) for bound in bounds])
            shown[one["domain"]] = value if interval == figures.NONE else figures.Figure(f"{value} ({interval})")
        cells.append((entry["agent"], *[shown.get(name, figures.NONE) for name in names]))
    filters = [told for board in boards for one in board.sheet.plugin_columns if one.column.key == "kept" for told in one.remarks]
    kept = f" Filtered: {filters[0].partition(' leaves out ')[0].partition(' keeps all ')[0]}." if filters else ""
    told = [words if len(shown_as) == 1 else f"{words} ({', '.join(on)})" for words, on in shown_as.items()]
    explained = f"Each cell shows the figure that ranks its board: {', '.join(told)}; with the 95 % interval if known.{kept}"
    note = f"{explained} {OVERALL_ADVICE}"
    return TextTable(("Agent", *names), cells, "overall", note)


def _fitting(whole: BoardTable, width: int | None) -> tuple[BoardTable, list[str]]:
    kept, left_out = whole, []
    for turn in sorted({column.left_out for column in whole.columns} - {0}):
        if width is None or TextTable(kept.headings, kept.cells).fits(width, _MIN_LABEL_WIDTH if turn >= LAST else None):
            break
        left_out += [column.heading for column in kept.columns if column.left_out == turn]
        kept = replace(kept, columns=tuple([column for column in kept.columns if column.left_out != turn]))
    return kept, left_out


_MIN_LABEL_WIDTH = 16
"""The width in characters to which labels are wrapped before the more important columns are left out."""
_ROOMIER = "To see all columns, use a wider terminal, a pipe (`| less -S`) or --format, or set `columns:` in the spec."


def cross_cells(board: ShownBoard) -> list[list[str]]:
    """Return the score of each agent against every other agent, as texts, in the order of ranks."""
    return [[figures.share(score) for score in scores] for scores in board.cross or ()]


def failure_lines(board: ShownBoard) -> list[str]:
    """Return a line for each kind of fault of each agent, with the command that replays its first match."""
    lines = []
    for failure in board.failures:
        lines.append(failure.describe())
        if board.store is not None:
            lines.append(f"  {replay_command(board.store, failure.first)}")
    return lines


def replay_command(store: str, key: str) -> str:
    """Return the command that replays a match."""
    return f"arena replay {escape_line(shlex.quote(store))} {key}"
