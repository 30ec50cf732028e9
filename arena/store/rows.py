"""Converts records to rows of the tables of a store, and back.

Rows are short and quick to write, because writing a small match takes almost as long as playing it. If possible, texts are stored
without JSON. Seconds are stored as whole nanoseconds, and repeated values only once.
"""

import json
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

from arena.match.record import Decision, Record
from arena.schedule.schedule import Scheduled
from arena.store.schema import checksum, digest

_write = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True, allow_nan=False, check_circular=False).encode
NANOSECONDS = 1_000_000_000
"""Nanoseconds in a second."""
MAX_INTEGER = 2**63 - 1
"""The largest whole number that SQLite accepts."""


class Rows(NamedTuple):
    """The rows for one record, without its number."""

    record: tuple[Any, ...]
    """The row without its checksum, which also covers the number."""
    digest: bytes
    adjusted: str | None
    detail: tuple[Any, ...]
    effort: Sequence[tuple[int, ...]]
    """Seat, decisions, nodes and nanoseconds, for every seat after the second."""
    unmetered: Sequence[tuple[int, int]]
    """Seat and number of uncounted states, for every seat that generated some."""


def rows_of(record: Record, seed: int) -> Rows:
    """Return the rows for a record; `seed` is its seed as a number."""
    decisions, effort, unmetered = _decisions(record)
    actions = "".join([f"\n{action}" for action in record.actions])
    if actions.count("\n") != len(record.actions) or not actions.isascii():
        actions = _write(record.actions)
    key, returns, used_rng = bytes.fromhex(record.id), _returns(record.returns), _used_rng(record.drew)
    solved = None if record.solved is None else int(record.solved)
    cost = None if record.cost is None else float(record.cost)  # the hash covers the value as the column stores it
    result = (solved, record.termination, record.seat)
    position, answer, labels = escape_surrogates(record.position), escape_surrogates(record.answer), _labels(record.labels)
    message, traceback = escape_surrogates(record.message), escape_surrogates(record.traceback)
    timing = None if record.timing is None else _write(record.timing)
    length = (record.moves, cost, record.fallbacks)
    amounts = [one.spent for one in record.decisions]
    spent = _write(amounts) if any(one is not None for one in amounts) else None
    adjusted = None if record.adjusted is None else _returns(record.adjusted)
    second = effort[1] if len(effort) > 1 else (0, 0, 0)
    return Rows(
        (key, returns, *result, *length, used_rng, play_hash_of(record), *effort[0], *second),
        digest(
            cells_to_digest(
                (
                    *(key, record.game, position, labels, seed, actions, answer, returns, *result, message, traceback),
                    *(*length, decisions, used_rng, timing, spent, adjusted),
                )
            )
        ),
        adjusted,
        (record.game, position, labels, seed, actions, answer, message, traceback, decisions, timing, spent),
        [(seat, *totals) for seat, totals in enumerate(effort[2:], 2)],
        [(seat, min(states, MAX_INTEGER)) for seat, states in sorted(unmetered.items())],
    )


RECORD = (
    "r.id, d.game, d.position, d.labels, d.seed, d.actions, d.answer, r.returns, r.solved, r.termination, r.seat, d.message, "
    "d.traceback, r.moves, r.cost, r.fallbacks, d.decisions, r.drew, d.timing, d.spent, r.adjusted"
)
"""The columns of `record r` and `detail d` from which `record_of` makes a record. The digest covers them."""


def cells_to_digest(cells: Sequence[Any]) -> Sequence[Any]:
    """Return the cells of RECORD that the digest covers. The last two are included only if they are not None, which is rare."""
    return cells if cells[-1] is not None else cells[:-1] if cells[-2] is not None else cells[:-2]


def record_of(row: Sequence[Any]) -> Record:
    """Return the record from a row with the columns of RECORD."""
    key, game, position, labels, seed, actions, answer, returns, solved, termination = row[:10]
    seat, message, traceback, moves, cost, fallbacks, decisions, used_rng, timing, spent, adjusted = row[10:]
    return Record(
        key.hex(),
        game,
        position,
        tuple(json.loads(labels)),
        seed,
        tuple(actions.split("\n")[1:]) if actions.startswith("\n") or not actions else tuple(json.loads(actions)),
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
        decisions_of(decisions) if spent is None else _add_spent(decisions_of(decisions), json.loads(spent)),
        tuple([mark == "1" for mark in used_rng]),
        None if timing is None else json.loads(timing),
        None if adjusted is None else returns_of(adjusted),
    )


def decisions_of(text: str) -> tuple[Decision, ...]:
    """Return the decisions of a row of `detail`."""
    found = []
    for one in text.split(";") if text else ():
        seat, nodes, evaluations, spent, *more = one.split(",")
        depth, value, unmetered, exact, *_ = *more, *("", "", "0", "")[len(more) :]
        found.append(
            Decision(
                int(seat),
                int(nodes),
                int(evaluations),
                int(spent) / NANOSECONDS,
                int(depth) if depth else None,
                float(value) if value else None,
                unmetered=int(unmetered),
                exact=exact == "1",
            )
        )
    return tuple(found)


def _decisions(record: Record) -> tuple[str, list[list[int]], dict[int, int]]:
    """Return the text of the decisions; the number, nodes and nanoseconds of each seat; and the uncounted states by seat."""
    totals = [[0, 0, 0] for _ in record.labels]
    past: dict[int, int] = {}
    texts = []
    for seat, nodes, evaluations, seconds, depth, value, _, unmetered, exact in record.decisions:
        spent = round(seconds * NANOSECONDS)
        total = totals[seat]
        total[0] += 1
        total[1] += nodes
        total[2] += spent
        text = f"{seat},{nodes},{evaluations},{spent}"
        if depth is not None or value is not None or unmetered:
            text += f",{_or_nothing(depth)},{_or_nothing(value)}"
        if unmetered:
            past[seat] = past.get(seat, 0) + unmetered
        if unmetered or exact:
            text += f",{unmetered}{',1' if exact else ''}"
        texts.append(text)
    return ";".join(texts), [[min(total, MAX_INTEGER) for total in seat] for seat in totals], past


def spending_decisions(decisions: str, spent: str) -> tuple[Decision, ...]:
    """Return the decisions of a match that reported amounts with `Search.spend`, from the texts in `detail`."""
    return _add_spent(decisions_of(decisions), json.loads(spent))


def _add_spent(decisions: Sequence[Decision], spent: Sequence[Any]) -> tuple[Decision, ...]:
    return tuple([one._replace(spent=amounts) for one, amounts in zip(decisions, spent, strict=True)])


def _or_nothing(value: float | None) -> str:
    return "" if value is None else repr(value)


@lru_cache(4096)
def returns_of(text: str) -> tuple[float, ...]:
    """Return the returns of a row."""
    return tuple([float(value) for value in text.split(",")])


@lru_cache(65536)
def seats_of(text: str) -> tuple[int, ...]:
    """Return the entries in the seats, from a row of `place`."""
    return tuple(map(int, text.split(",")))


@lru_cache(4096)
def _returns(returns: tuple[float, ...]) -> str:
    return ",".join([repr(float(value)) for value in returns])


@lru_cache(4096)
def _labels(labels: tuple[str, ...]) -> str:
    return _write(labels)


@lru_cache(256)
def _used_rng(seats: tuple[bool, ...]) -> str:
    return "".join(["01"[used] for used in seats])


def place_row(number: int, scheduled: Scheduled) -> tuple[Any, ...]:
    """Return the row of `place` for the record with this number."""
    seats = ",".join(map(str, scheduled.pairing.seats))
    return add_checksum(scheduled.number, number, scheduled.board, scheduled.pairing.round, seats)


def record_row(number: int, rows: Rows) -> tuple[Any, ...]:
    """Return the row of `record`. The checksum covers `adjusted` if it is known."""
    cells = (number, *rows.record)
    sum_ = checksum(*cells) if rows.adjusted is None else checksum(*cells, rows.adjusted)
    return (*cells, sum_, rows.digest, rows.adjusted)


def add_checksum(*cells: Any) -> tuple[Any, ...]:
    """Return the cells of a row, followed by their checksum."""
    return (*cells, checksum(*cells))


def play_hash_of(record: Record) -> int:
    """Return a hash of the moves. Unless the game has chance, two matches with the same hash are repeats."""
    chance = record.answer is None and record.moves is not None and record.moves < len(record.actions)
    whole = "\n".join([record.position, record.answer or "", *record.actions, *([record.id] if chance else [])])
    return int.from_bytes(blake2b(whole.encode("utf-8", "backslashreplace"), digest_size=8).digest(), "big", signed=True)


def escape_surrogates(text: str | None) -> str | None:
    """Return the text with surrogates escaped. An agent's message may contain them, but a database does not accept them."""
    return text if text is None or text.isascii() else text.encode("utf-8", "backslashreplace").decode()
