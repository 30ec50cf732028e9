"""Every record of a store as a line of JSON or CSV, for other programs."""

import json
from collections.abc import Iterator
from typing import Any

from arena.match.record import Record
from arena.results.csv_cells import csv_line
from arena.results.tidy import tidy_rows
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
PLACED = ("board", "round", "parameters")
"""The keys after them: the place of the match in the last run, and the parameters of its game there.

`board` is the board's title. Games of one `round` of a board between the same entries are a pair; one of a puzzle is a position.
All three are None for a match that is not of that run; one that stands there twice has its first place.
"""
FORMATS = ("jsonl", "csv", "tidy")
"""JSON a line; CSV with the same columns, lists as JSON; tidy CSV, a column a value, of the matches of the last run."""


def lines(store: Store, style: str) -> Iterator[str]:
    """Yield the lines of an export in one of FORMATS, without line ends; memory does not grow with the store."""
    return {"jsonl": _jsonl, "csv": _csv, "tidy": _tidy}[style](store)


def _jsonl(store: Store) -> Iterator[str]:
    for row in _rows(store):
        yield json.dumps(row, allow_nan=False)


def _csv(store: Store) -> Iterator[str]:
    yield csv_line((*KEYS, *PLACED))
    for row in _rows(store):
        yield csv_line([_cell(value) for value in row.values()])


def _tidy(store: Store) -> Iterator[str]:
    for row in tidy_rows(store):
        yield csv_line(map(_cell, row))


def _rows(store: Store) -> Iterator[dict[str, Any]]:
    """Every record with its place."""
    runs = store.runs()
    boards = [(sheet.title, sheet.parameters) for sheet in runs[-1].boards] if runs else []
    for record, place in store.records(sound=True):
        title, parameters = (None, None) if place is None or place.board >= len(boards) else boards[place.board]
        where = (title, None if place is None else place.pairing.round, parameters)
        yield {**ordered(record), **dict(zip(PLACED, where, strict=True))}


def ordered(record: Record) -> dict[str, Any]:
    """A record as plain values, in the order of KEYS."""
    plain = record.as_dict()
    return {key: plain[key] for key in KEYS}


def _cell(value: Any) -> Any:
    """A value as a cell: lists and mappings as JSON."""
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, allow_nan=False) if isinstance(value, (list, tuple, dict)) else value
