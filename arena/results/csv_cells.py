"""Rows as CSV that a spreadsheet or a terminal can be shown, whoever wrote the texts in them."""

import csv
import io
from collections.abc import Iterable
from typing import Any

from arena.spec.faults import one_line

FORMULA = ("=", "+", "-", "@")
"""What a formula begins with in spreadsheets (OWASP, CSV injection)."""


def csv_line(cells: Iterable[Any]) -> str:
    """Return a row as a line of CSV without its end; None is an empty cell.

    A text that begins like a formula gets a `'` before it, and control characters but the line end, which a cell in quotes may
    have, are written as escapes. Numbers stay as they are.
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow([_safe(cell) if isinstance(cell, str) else cell for cell in cells])
    return text.getvalue()


def _safe(text: str) -> str:
    shown = "\n".join(map(one_line, text.split("\n")))
    return f"'{shown}" if shown.lstrip().startswith(FORMULA) else shown
