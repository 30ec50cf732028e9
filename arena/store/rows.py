"""Records as rows of the tables of a store, and back."""

import json
from collections import defaultdict
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from arena.record import Decision, Record

_write = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True, allow_nan=False, check_circular=False).encode


class Rows(NamedTuple):
    """One record in the tables, without its number."""

    record: tuple[Any, ...]
    detail: tuple[Any, ...]
    effort: list[tuple[int, int, int, int, float]]


def rows_of(record: Record) -> Rows:
    """The rows of a record."""
    return Rows(
        (
            bytes.fromhex(record.id),
            _write(record.returns),
            record.solved,
            record.termination,
            record.seat,
            record.moves,
            record.cost,
            record.fallbacks,
            "".join(["01"[drew] for drew in record.drew]),
            play(record),
        ),
        (
            record.game,
            _clean(record.position),
            _write(record.labels),
            record.seed,
            _write(record.actions),
            record.answer,
            _clean(record.message),
            _clean(record.traceback),
            _write(record.decisions),
            None if record.timing is None else _write(record.timing),
        ),
        _effort(record.decisions),
    )


RECORD = (
    "r.id, d.game, d.position, d.labels, d.seed, d.actions, d.answer, r.returns, r.solved, r.termination, r.seat, d.message, "
    "d.traceback, r.moves, r.cost, r.fallbacks, d.decisions, r.drew, d.timing"
)
"""The columns of `record r` and `detail d` from which `record_of` makes a record."""


def record_of(row: Sequence[Any]) -> Record:
    """The record of a row with the columns of RECORD."""
    key, game, position, labels, seed, actions, answer, returns, solved, termination = row[:10]
    seat, message, traceback, moves, cost, fallbacks, decisions, drew, timing = row[10:]
    return Record(
        key.hex(),
        game,
        position,
        tuple(json.loads(labels)),
        seed,
        tuple(json.loads(actions)),
        answer,
        returns_of(returns),
        None if solved is None else bool(solved),
        termination,
        seat,
        message,
        traceback,
        moves,
        cost,
        fallbacks,
        tuple([Decision(*fields) for fields in json.loads(decisions)]),
        tuple([mark == "1" for mark in drew]),
        None if timing is None else json.loads(timing),
    )


def returns_of(text: str) -> tuple[float, ...]:
    """The returns of a row."""
    return tuple([float(value) for value in json.loads(text)])


def play(record: Record) -> int:
    """A number that tells what was played from what else could have been: two matches with one number are repeats."""
    whole = "\n".join([record.position, record.answer or "", *record.actions])
    return int.from_bytes(blake2b(whole.encode("utf-8", "backslashreplace"), digest_size=8).digest(), "big", signed=True)


def _effort(decisions: Sequence[Decision]) -> list[tuple[int, int, int, int, float]]:
    totals: dict[int, list[Any]] = defaultdict(lambda: [0, 0, 0, 0.0])
    for decision in decisions:
        total = totals[decision.seat]
        total[0] += 1
        total[1] += decision.nodes
        total[2] += decision.evaluations
        total[3] += decision.seconds
    return [(seat, *total) for seat, total in sorted(totals.items())]


def _clean(text: str | None) -> str | None:
    """Text that any database takes: surrogates, which an agent's message may hold, stand as escapes."""
    return None if text is None else text.encode("utf-8", "backslashreplace").decode()
