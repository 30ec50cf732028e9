"""Writes every record of a store as a line of JSON or CSV, for other programs."""

import json
from collections.abc import Iterator
from typing import Any

from arena.api.results import TextTable
from arena.api.store import Store
from arena_records.tidy import tidy_rows

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
"""The keys of a record, in order. Only `timing` and the seconds in `decisions` depend on the clock."""
PLACED = ("board", "round", "parameters")
"""Further keys: the place of the match in the last run, and the parameters of its game.

`board` is the title of the board. Games in one `round` of a board between the same entries are a pair; a round of a puzzle is a
position. All three are None for a match outside the last run. For a match that the last run contains twice, the first place
counts.
"""
FORMATS = ("jsonl", "csv", "tidy")
"""The formats: JSON with one object per line; CSV with the same columns, in which lists are JSON; and tidy CSV, with one value
per column, for the matches of the last run.
"""


def lines(store: Store, style: str) -> Iterator[str]:
    """Yield the lines of an export in one of FORMATS, without line ends. The memory needed does not grow with the store."""
    if style == "jsonl":
        for row in _rows(store):
            yield json.dumps(row, allow_nan=False)
    elif style == "tidy":
        for values in tidy_rows(store):
            yield TextTable.csv_line(map(_cell, values))
    else:
        yield TextTable.csv_line((*KEYS, *PLACED))
        for row in _rows(store):
            yield TextTable.csv_line(map(_cell, row.values()))


def _rows(store: Store) -> Iterator[dict[str, Any]]:
    """Yield every record with its place."""
    runs = store.runs()
    boards = [(sheet.title, sheet.parameters) for sheet in runs[-1].boards] if runs else []
    for record, place in store.records():
        title, parameters = (None, None) if place is None or place.board >= len(boards) else boards[place.board]
        where = (title, None if place is None else place.pairing.round, parameters)
        plain = record.as_dict()
        yield {key: plain[key] for key in KEYS} | dict(zip(PLACED, where, strict=True))


def _cell(value: Any) -> Any:
    """Return a value as the text of a cell. Lists and mappings become JSON."""
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, allow_nan=False) if isinstance(value, (list, tuple, dict)) else value
