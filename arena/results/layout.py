"""Writes tables as text and rows as CSV. A table becomes narrower if the terminal is narrow.

`width` is the width of the terminal in characters; None means that there is no terminal. Then, and in all styles except the
default one, tables have their full width.
"""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count, islice, product
from string import ascii_uppercase
from textwrap import wrap
from typing import Any, ClassVar

from tabulate import tabulate

from arena.errors import escape_controls, escape_line
from arena.results.figures import Figure

DEFAULT = "simple"
"""The style of tables for people. It is the only one that is fitted to the width of a terminal."""
COLUMN_GAP = "  "
FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # noqa: RUF001 - spreadsheets take the full-width ones, too
"""The first characters of formulas in spreadsheets (see OWASP on CSV injection). A tab or CR is shown as an escape."""
QUOTE = '"'
ESCAPES: dict[str, dict[str, str]] = {
    **{style: {"\\": r"\\", **{mark: f"\\{mark}" for mark in "|*_`[<"}} for style in ("github", "pipe")},
    **{style: {"|": r"\|"} for style in ("asciidoc", "jira", "youtrack")},
    "orgtbl": {"|": r"\vert{}"},
    "mediawiki": {"|": "&#124;", "!": "&#33;"},
    **{style: {"|": "&#124;"} for style in ("moinmoin", "textile")},
    "rst": {"\\": r"\\", **{mark: f"\\{mark}" for mark in "*`|_"}},
}
"""What replaces the characters that have a meaning in cells of a style. tabulate escapes those of HTML and most of LaTeX."""
LATEX_STYLES = ("latex", "latex_booktabs", "latex_longtable")
MIN_COLUMN_WIDTH = 8
"""The minimum width to which columns are wrapped, in characters."""


def crossing(
    names: Sequence[str], headings: Sequence[str], cells: Sequence[Sequence[Any]], style: str = DEFAULT, width: int | None = None
) -> str:
    """Return a table with a row for each name and a column for each heading.

    If it is too wide, letters replace the headings. If it is still too wide, it is split into several tables.
    """
    rows = [[name, *line] for name, line in zip(names, cells, strict=True)]
    whole = TextTable(["", *headings], rows)
    if width is None or style != DEFAULT or whole.fits(width):
        return whole.text(style, width)
    every_letter = ("".join(letters) for length in count(1) for letters in product(ascii_uppercase, repeat=length))
    letters = list(islice(every_letter, len(headings)))
    named = [f"{letter} {heading}" for letter, heading in zip(letters, headings, strict=True)]
    legend = []
    if list(names) == list(headings):
        rows = [[name, *row[1:]] for name, row in zip(named, rows, strict=True)]
    else:
        legend = [TextTable.fold(", ".join(named), width)]
    return "\n\n".join([*_parts(["", *letters], rows, width), *legend])


def _taken(widths: Sequence[int]) -> int:
    return sum(widths) + len(COLUMN_GAP) * (len(widths) - 1)


def _parts(headings: Sequence[str], rows: Sequence[Sequence[Any]], width: int) -> list[str]:
    """Return a table as several tables. Each has the first column, in at most a third of the width, and others that fit."""
    names, *widths = _natural(headings, rows)
    names = names if _taken([names, *widths]) <= width else min(names, max(MIN_COLUMN_WIDTH, width // 3))
    begin, parts = 1, []
    while begin < len(headings):
        end = begin + 1
        while end < len(headings) and _taken([names, *widths[begin - 1 : end]]) <= width:
            end += 1
        chosen = [[row[0], *row[begin:end]] for row in rows]
        parts.append(_compact([headings[0], *headings[begin:end]], chosen, width, [names, *widths[begin - 1 : end - 1]]))
        begin = end
    return parts


def _compact(headings: Sequence[str], rows: Sequence[Sequence[Any]], width: int, wanted: Sequence[int] | None = None) -> str:
    """Return a table with as little space between columns as possible. Its widest columns are wrapped until it fits."""
    widths = list(wanted or _natural(headings, rows))
    while _taken(widths) > width and max(widths) > MIN_COLUMN_WIDTH:
        widths[widths.index(max(widths))] -= 1
    right = [align == "right" for align in _alignment(headings, rows)] or [False] * len(headings)
    rule = COLUMN_GAP.join(["-" * wide for wide in widths])
    lines = [*_lines(headings, widths, right), rule]
    for row in rows:
        lines += _lines(row, widths, right)
    return "\n".join(lines)


def _lines(cells: Sequence[Any], widths: Sequence[int], right: Sequence[bool]) -> list[str]:
    broken = [wrap(str(cell), wide) or [""] for cell, wide in zip(cells, widths, strict=True)]
    tall = max(map(len, broken))
    lines = zip(*[[*cell, *[""] * (tall - len(cell))] for cell in broken], strict=True)
    return [
        COLUMN_GAP.join(
            [
                f"{part:>{wide}}" if to_right else f"{part:<{wide}}"
                for part, wide, to_right in zip(line, widths, right, strict=True)
            ]
        ).rstrip()
        for line in lines
    ]


def _natural(headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[int]:
    return [max(1, len(heading), *[len(str(row[n])) for row in rows]) for n, heading in enumerate(headings)]


def _alignment(headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    return ["right" if all(_is_number(row[n]) for row in rows) else "left" for n in range(len(headings))] if rows else []


def _is_number(cell: Any) -> bool:
    text = str(cell).removesuffix(" *").removesuffix(" %").replace(",", "")
    return text in ("", "-") or text.replace(".", "", 1).replace("-", "", 1).isdigit()


def _guard(text: str) -> str:
    """Return a text with a leading `'` if it begins like a formula. A text that begins with a `'` gets another one, so that
    different texts stay different.
    """
    return f"'{text}" if text.startswith("'") or text.lstrip().startswith(FORMULA_STARTS) else text


def _is_text(cell: Any) -> bool:
    return isinstance(cell, str) and not isinstance(cell, Figure)


def escape_cell(text: str, style: str) -> str:
    """Return a text as a cell of a table in a style of tabulate, so that its characters are not taken for borders of cells.

    In TSV, a text that begins like a formula or with a `'` gets a leading `'`, unless it is a Figure.

    >>> escape_cell("a|b", "mediawiki")
    'a&#124;b'
    """
    if style == DEFAULT:
        return text
    is_figure = isinstance(text, Figure)
    text = escape_line(text)
    for character, escape in ESCAPES.get(style, {}).items():
        text = text.replace(character, escape)
    if style == "tsv":
        text = text if is_figure else _guard(text)
        return f'"{text.replace(QUOTE, QUOTE * 2)}"' if QUOTE in text else text
    return text


def csv_line(cells: Iterable[Any]) -> str:
    """Return a row as a line of CSV without the line end. None becomes an empty cell.

    A text that begins like a formula or with a `'` gets a leading `'`. Control characters are escaped, except the line end, which
    a quoted cell may contain. Numbers are not changed.
    """
    row = []
    for cell in cells:
        if isinstance(cell, str):
            shown = "\n".join(map(escape_line, cell.split("\n")))
            row.append(_guard(shown))
        else:
            row.append(cell)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(row)  # with another terminator, a cell with a line end is not quoted
    return text.getvalue().removesuffix("\n")


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table for display. The type of a cell says what it is: a number or a Figure, or a text, such as a label.

    >>> print(TextTable(("Agent", "Games"), [("minimax", 8)]).text())
    Agent      Games
    -------  -------
    minimax        8
    """

    DEFAULT: ClassVar = DEFAULT

    headings: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    note: str = ""
    """A sentence to show below the table; `text` leaves it out."""

    @staticmethod
    def fold(text: str, width: int | None) -> str:
        """Return text with line breaks between words. Indented lines, such as commands to copy, are not broken."""
        if width is None:
            return text
        lines: list[str] = []
        for line in text.split("\n"):
            if len(line) <= width or line.startswith(" "):
                lines.append(line)
            else:
                lines += wrap(line, max(width, MIN_COLUMN_WIDTH), break_long_words=False, break_on_hyphens=False)
        return "\n".join(lines)

    def text(self, style: str = DEFAULT, width: int | None = None) -> str:
        """Return the headings and the rows as text, with terminal control characters escaped.

        If the table is too wide, its widest columns are wrapped.
        """
        rows = [[escape_controls(cell) if _is_text(cell) else cell for cell in row] for row in self.rows]
        heads = list(map(escape_controls, self.headings))
        align = _alignment(heads, rows) or None
        written = [[escape_cell(cell, style) if isinstance(cell, str) else cell for cell in row] for row in rows]
        headings = [escape_cell(heading, style) for heading in heads]
        text = tabulate(written, headings, tablefmt=style, disable_numparse=True, colalign=align)
        if style in LATEX_STYLES:  # tabulate would escape the backslashes of these, if they came before it
            text = re.sub("-(?=-)", "-{}", text).replace("|", "\\textbar{}").replace("`", "\\textasciigrave{}")
            text = re.sub(r"^ ([\[*])", r" {\1}", text, flags=re.MULTILINE)  # these belong to the \\\\ before them
        if width is None or style != DEFAULT or max(map(len, text.split("\n"))) <= width:
            return text
        return _compact(self.headings, rows, width)

    def fits(self, width: int, longest: int | None = None) -> bool:
        """Return whether the table fits a width without wrapped cells. Cells longer than `longest` characters may be wrapped."""
        widths = _natural(self.headings, self.rows)
        return _taken([wide if longest is None else min(wide, longest) for wide in widths]) <= width

    crossing, csv_line = staticmethod(crossing), staticmethod(csv_line)
