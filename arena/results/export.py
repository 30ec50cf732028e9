"""Every record of a store as a line of JSON or CSV, for other programs."""

import csv as csv_
import io
import json
from collections.abc import Iterator
from typing import Any

from arena.record import Record
from arena.store import Store

KEYS = (
    "id",
    "game",
    "position",
    "labels",
    "seed",
    "actions",
    "answer",
    "returns",
    "solved",
    "termination",
    "moves",
    "cost",
    "fallbacks",
    "decisions",
    "seat",
    "message",
    "traceback",
    "drew",
    "timing",
)
"""The keys of a record, in order. What depends on the clock is in `timing` and in the seconds of `decisions`."""
FORMATS = ("jsonl", "csv")


def lines(store: Store, style: str) -> Iterator[str]:
    """Yield the lines of an export in one of FORMATS, without line ends; memory does not grow with the store."""
    return _jsonl(store) if style == "jsonl" else _csv(store)


def _jsonl(store: Store) -> Iterator[str]:
    for record, _ in store.records():
        yield json.dumps(ordered(record), allow_nan=False)


def _csv(store: Store) -> Iterator[str]:
    yield _csv_line(KEYS)
    for record, _ in store.records():
        yield _csv_line([_cell(value) for value in ordered(record).values()])


def ordered(record: Record) -> dict[str, Any]:
    """A record as plain values, in the order of KEYS."""
    plain = record.as_dict()
    return {key: plain[key] for key in KEYS}


def _cell(value: Any) -> Any:
    """A value as a cell: lists and mappings as JSON, nothing where there is nothing."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, allow_nan=False) if isinstance(value, (list, tuple, dict)) else value


def _csv_line(cells: Any) -> str:
    text = io.StringIO()
    csv_.writer(text, lineterminator="").writerow(cells)
    return text.getvalue()
