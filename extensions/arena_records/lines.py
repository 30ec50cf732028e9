"""Every record of a store as a line of JSON or CSV, for other programs."""

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from arena import Record
from arena.api.results import Kind, csv_line
from arena.api.store import Store

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
"""The keys of a record, in order. Only `timing` and the seconds of `decisions` depend on the clock."""
PLACED = ("board", "round", "parameters")
"""The further keys: the place of the match in the last run, and the parameters of its game.

`board` is the board's title. Games of one `round` of a board between the same entries are a pair; a round of a puzzle is a
position. All three are None if the last run does not contain the match. If it contains the match twice, the first place counts.
"""
FORMATS = ("jsonl", "csv", "tidy")
"""JSON a line; CSV with the same columns, lists as JSON; tidy CSV, a column a value, of the matches of the last run."""


def lines(store: Store, style: str) -> Iterator[str]:
    """Yield the lines of an export in one of FORMATS, without line ends; memory does not grow with the store."""
    if style == "jsonl":
        for row in _rows(store):
            yield json.dumps(row, allow_nan=False)
    elif style == "tidy":
        for values in tidy_rows(store):
            yield csv_line(map(_cell, values))
    else:
        yield csv_line((*KEYS, *PLACED))
        for row in _rows(store):
            yield csv_line(map(_cell, row.values()))


def _rows(store: Store) -> Iterator[dict[str, Any]]:
    """Every record with its place."""
    runs = store.runs()
    boards = [(sheet.title, sheet.parameters) for sheet in runs[-1].boards] if runs else []
    for record, place in store.records(sound=True):
        title, parameters = (None, None) if place is None or place.board >= len(boards) else boards[place.board]
        where = (title, None if place is None else place.pairing.round, parameters)
        plain = record.as_dict()
        yield {key: plain[key] for key in KEYS} | dict(zip(PLACED, where, strict=True))


def _cell(value: Any) -> Any:
    """A value as a cell: lists and mappings as JSON."""
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, allow_nan=False) if isinstance(value, (list, tuple, dict)) else value


_ORDINALS = ("first", "second", "third", "fourth")
_ALWAYS = ("id", "board", "round", "game", "position")


def seat_names(seats: int) -> list[str]:
    """The names of so many seats: `first`, `second`, `third`, `fourth`, `seat_5`, ..."""
    return [_ORDINALS[seat] if seat < len(_ORDINALS) else f"seat_{seat + 1}" for seat in range(seats)]


def tidy_columns(kinds: Collection[Kind], seats: int) -> list[str]:
    """The columns of matches on boards of these `kinds`, with up to so many seats.

    A game has the labels of its seats, the `winner` (none of a draw), and the returns, nodes and seconds of each seat. A puzzle
    has its `agent`, `solved` and the `path_cost` of the solution, if there is one. A game of one seat has its `agent` and
    `returns`. `nodes` and `seconds` are sums over all seats. So are `compiled` and `plain`, the decisions of agents that asked
    for a compiled search. `at_fault` is the agent that lost by a fault or gave up.
    """
    names = seat_names(seats) if "versus" in kinds else []
    puzzle, score = "puzzle" in kinds, "score" in kinds
    return [
        *_ALWAYS,
        *(["agent"] if puzzle or score else []),
        *names,
        *(["winner"] if names else []),
        *[f"returns_{name}" for name in names],
        *(["returns"] if score else []),
        *(["solved"] if puzzle else []),
        "moves",
        *(["path_cost"] if puzzle else []),
        *("termination", "at_fault", "message", "fallbacks", "nodes", "seconds", "compiled", "plain"),
        *[f"nodes_{name}" for name in names],
        *[f"seconds_{name}" for name in names],
    ]


def tidy_row(title: str, kind: Kind, round_: int, record: Record) -> dict[str, Any]:
    """One match under the columns of its kind; `title` is the title of its board, rounds count from 0."""
    nodes, seconds = [0] * len(record.labels), [0.0] * len(record.labels)
    for decision in record.decisions:
        nodes[decision.seat] += decision.nodes
        seconds[decision.seat] += decision.seconds
    row = {
        **dict(zip(_ALWAYS, (record.id, title, round_, record.game, record.position), strict=True)),
        "moves": record.moves,
        "termination": record.termination,
        "at_fault": None if record.seat is None else record.labels[record.seat],
        "message": record.message,
        "fallbacks": record.fallbacks,
        "nodes": sum(nodes),
        "seconds": round(sum(seconds), 9),
        **{way: sum(filter(None, (record.timing or {}).get(way) or ())) for way in ("compiled", "plain")},
    }
    if kind == "score":
        return {**row, "agent": record.labels[0], "returns": record.returns[0]}
    if kind != "versus":
        return {**row, "agent": record.labels[0], "solved": record.solved, "path_cost": record.cost if record.solved else None}
    for name, label, got, generated, spent in zip(
        seat_names(len(record.labels)), record.labels, record.returns, nodes, seconds, strict=True
    ):
        row |= {name: label, f"returns_{name}": got, f"nodes_{name}": generated, f"seconds_{name}": round(spent, 9)}
    best = [label for label, got in zip(record.labels, record.returns, strict=True) if got == max(record.returns)]
    return {**row, "winner": best[0] if len(best) == 1 and record.termination != "void" else None}


def tidy_rows(store: Store) -> Iterator[Sequence[Any]]:
    """Yield the columns and then the rows of the matches on the boards of the last run, in the order of its schedule."""
    sheets = store.last().boards
    seats = max([text.count(",") + 1 for (text,) in store.query("SELECT DISTINCT seats FROM place")], default=2)
    columns = tidy_columns({sheet.kind for sheet in sheets}, seats)
    yield columns
    for record, place in store.records(boards=True, sound=True):
        if place is not None:
            sheet = sheets[place.board]
            row = tidy_row(sheet.title, sheet.kind, place.pairing.round, record)
            yield [row.get(column) for column in columns]
