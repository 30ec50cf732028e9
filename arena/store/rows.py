"""Converts records to rows of the tables of a store, and back.

Rows are short and quick to write, because writing a small match takes almost as long as playing it. If possible, texts are stored
without JSON. Seconds are stored as whole nanoseconds, and repeated values only once.
"""

import json
import re
from collections.abc import Sequence
from functools import lru_cache, partial
from math import isfinite
from typing import Any, NamedTuple

from arena.format import put_last
from arena.limits import Limits
from arena.match.record import Decision, Record, find_loser, format_returns, hash_moves, is_timing
from arena.schedule.board_info import BoardInfo
from arena.schedule.schedule import Scheduled
from arena.store.schema import checksum, digest

_write = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True, allow_nan=False, check_circular=False).encode
NANOSECONDS = 1_000_000_000
"""Nanoseconds in a second."""
MAX_ROUNDS = 10**9
"""The most rounds of a board, as in a spec."""
MAX_INTEGER = 2**63 - 1
"""The largest whole number that SQLite accepts."""


class Rows(NamedTuple):
    """The rows for one record, without its number."""

    record: tuple[Any, ...]
    digest: bytes
    adjusted: str | None
    detail: tuple[Any, ...]
    effort: Sequence[tuple[int, ...]]
    """Seat, decisions, nodes and nanoseconds, for every seat after the second."""


def rows_of(record: Record, seed: int, *, hashed: bool = True) -> Rows:
    """Return the rows for a record; `seed` is its seed as a number. Unless it is `hashed`, the digest is left empty."""
    decisions, effort, spent = _decisions(record)
    actions = "\n".join(("", *record.actions))
    if actions.count("\n") != len(record.actions) or not actions.isascii():
        actions = _write(record.actions)
    key, returns, used_rng = bytes.fromhex(record.id), format_returns(record.returns), _used_rng(record.drew)
    solved = None if record.solved is None else int(record.solved)
    cost = None if record.cost is None else float(record.cost)  # the hash covers the value as the column stores it
    result = (solved, record.termination, record.seat)
    position, answer, labels = escape_surrogates(record.position), escape_surrogates(record.answer), _labels(record.labels)
    message, traceback = escape_surrogates(record.message), escape_surrogates(record.traceback)
    timing = None if record.timing is None else _write(record.timing)
    length = (record.moves, cost, record.fallbacks)
    adjusted = None if record.adjusted is None else format_returns(record.adjusted)
    second = effort[1] if len(effort) > 1 else (0, 0, 0)
    counts = (hash_moves(record), *effort[0], *second)
    hash_ = b""
    if hashed:
        named = (key, record.game, position, labels, seed, actions, answer, returns, *result, message, traceback)
        hash_ = digest(cells_to_digest((*named, *length, decisions, used_rng, *counts, timing, spent, adjusted)))
    return Rows(
        (key, returns, *result, *length, used_rng, *counts),
        hash_,
        adjusted,
        (record.game, position, labels, seed, actions, answer, message, traceback, decisions, timing, spent),
        [(seat, *totals) for seat, totals in enumerate(effort[2:], 2)],
    )


RECORD = (
    "r.id, d.game, d.position, d.labels, d.seed, d.actions, d.answer, r.returns, r.solved, r.termination, r.seat, d.message, "
    "d.traceback, r.moves, r.cost, r.fallbacks, d.decisions, r.drew, r.play, r.decisions_0, r.nodes_0, r.nanoseconds_0, "
    "r.decisions_1, r.nodes_1, r.nanoseconds_1, d.timing, d.spent, r.adjusted"
)
"""The columns of `record r` and `detail d` from which `record_of` makes a record. The digest covers them."""
COUNTS = slice(18, 25)
"""The place of the columns in RECORD that follow from others: `play` and the amounts for the first two seats."""


def cells_to_digest(cells: Sequence[Any]) -> Sequence[Any]:
    """Return the cells of RECORD that the digest covers. The last two are included only if they are not None, which is rare."""
    return cells if cells[-1] is not None else cells[:-1] if cells[-2] is not None else cells[:-2]


_TEXT, _COUNT = (str,), (int,)
_KINDS = (
    *((bytes,), _TEXT, _TEXT, _TEXT, _COUNT, _TEXT, (str, type(None)), _TEXT, (int, type(None)), _TEXT, (int, type(None))),
    *((str, type(None)), (str, type(None)), (int, type(None)), (float, type(None)), _COUNT, _TEXT, _TEXT),
    *[_COUNT] * 7,
    *((str, type(None)), (str, type(None)), (str, type(None))),
)
"""The types of the columns of RECORD."""
_DECISION = r"\d{1,9},\d{1,16},\d{1,16},\d{1,19}(?:,\d{0,16},(?:-?\d+(?:\.\d+)?(?:e[+-]?\d{1,3})?)?(?:,[123])?)?"
_DECISIONS = re.compile(f"(?:{_DECISION}(?:;{_DECISION})*)?", re.ASCII)


def check_cells(row: Sequence[Any]) -> None:
    """Raise ValueError if the cells of RECORD are not of the form that arena writes. A hash says nothing about this."""
    key, _, _, labels, _, actions, _, returns, solved, _ = row[:10]
    seat, _, _, moves, cost, fallbacks, decisions, used_rng, *_, timing, spent, adjusted = row[10:]
    _check_kinds(tuple(map(type, row)))
    seats = _count_seats(labels)
    sound = (
        len(key) == 16
        and _is_result(seats, returns, adjusted, used_rng, solved, seat, moves, cost, fallbacks)
        and _DECISIONS.fullmatch(decisions) is not None
        and (not decisions or max([int(one.partition(",")[0]) for one in decisions.split(";")]) < seats)
        and (not actions or actions.startswith("\n") or _is_list(_parse(actions), str))
        and (timing is None or is_timing(_parse(timing), seats))
        and (spent is None or _are_amounts(_parse(spent), decisions.count(";") + 1 if decisions else 0))
    )
    if not sound or ("e" in decisions and not all(isfinite(one.value or 0) for one in decisions_of(decisions))):
        raise ValueError("expected the cells of a record")


@lru_cache(4096)  # many matches of a small game have the same result
def _is_result(
    seats: int,
    returns: str,
    adjusted: str | None,
    used_rng: str,
    solved: int | None,
    seat: int | None,
    moves: int | None,
    cost: float | None,
    fallbacks: int,
) -> bool:
    counts = [one for one in (seat, moves, fallbacks) if one is not None]
    return (
        len(returns_of(returns)) == len(used_rng) == seats
        and (adjusted is None or len(returns_of(adjusted)) == seats)
        and set(used_rng) <= {"0", "1"}
        and solved in (None, 0, 1)
        and (seat or 0) < seats
        and 0 <= min(counts) <= max(counts) <= Limits.MAX_COUNT
        and (cost is None or isfinite(cost))
    )


@lru_cache(256)
def _check_kinds(kinds: tuple[type, ...]) -> None:
    if len(kinds) != len(_KINDS) or not all(map(tuple.__contains__, _KINDS, kinds)):
        raise ValueError("expected cells of other types")


@lru_cache(4096)
def _count_seats(labels: str) -> int:
    if not _is_list(found := _parse(labels), str) or not found:
        raise ValueError("expected labels")
    "".join(found).encode()  # JSON may contain surrogates, which cannot be printed
    return len(found)


def _parse(text: str) -> Any:
    """Return a value from JSON. Raises ValueError for NaN and for values that are nested too deeply, too."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not a number")

    try:
        return json.loads(text, parse_constant=refuse)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _is_list(value: Any, kind: type) -> bool:
    return isinstance(value, list) and all(type(one) is kind for one in value)


def _are_amounts(value: Any, decisions: int) -> bool:
    """Return whether a value has the amounts that each of some decisions reported, or None for a decision without any."""
    amounts = value if isinstance(value, list) and len(value) == decisions else [0]
    return all(one is None or (isinstance(one, dict) and all(map(Limits.is_amount, one.values()))) for one in amounts)


def record_of(row: Sequence[Any]) -> Record:
    """Return the record from a row with the columns of RECORD. Raises ValueError if its cells are not of the right form."""
    check_cells(row)
    return read_record(row)


def read_record(row: Sequence[Any]) -> Record:
    """Return the record from a row that this process has written, so that its cells need no checks."""
    key, game, position, labels, seed, actions, answer, returns, solved, termination = row[:10]
    seat, message, traceback, moves, cost, fallbacks, decisions, used_rng, *_, timing, spent, adjusted = row[10:]
    return Record(
        key.hex(),
        game,
        position,
        labels_of(labels),
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


_NO_REPORT = (None, None, None, False, False)
_decision = partial(tuple.__new__, Decision)  # the same as Decision._make, but without a call in Python
_MARKS = {(False, False): "", (True, False): ",1", (False, True): ",2", (True, True): ",3"}
"""The end of the text of a decision, by its `exact` and `fallback`."""


def decisions_of(text: str) -> tuple[Decision, ...]:
    """Return the decisions of a row of `detail`."""
    if text and text.count(",") == 3 * (text.count(";") + 1):  # the usual case: nothing but four numbers each
        numbers = map(int, text.replace(";", ",").split(","))
        fours = zip(numbers, numbers, numbers, numbers, strict=True)
        return tuple(
            [_decision((seat, nodes, evaluations, spent / NANOSECONDS, *_NO_REPORT)) for seat, nodes, evaluations, spent in fours]
        )
    found = []
    for one in text.split(";") if text else ():
        seat, nodes, evaluations, spent, *more = one.split(",")
        depth, value, marks = *more, *("", "", "0")[len(more) :]
        found.append(
            Decision(
                int(seat),
                int(nodes),
                int(evaluations),
                int(spent) / NANOSECONDS,
                int(depth) if depth else None,
                float(value) if value else None,
                exact=marks in "13",
                fallback=marks in "23",
            )
        )
    return tuple(found)


def _decisions(record: Record) -> tuple[str, list[list[int]], str | None]:
    """Return the text of the decisions, the number, nodes and nanoseconds of each seat, and the amounts that were reported."""
    totals = [[0, 0, 0] for _ in record.labels]
    texts, written = [], None
    for seat, nodes, evaluations, seconds, depth, value, amounts, exact, fallback in record.decisions:
        spent = round(seconds * NANOSECONDS)
        total = totals[seat]
        total[0] += 1
        total[1] += nodes
        total[2] += spent
        text = f"{seat},{nodes},{evaluations},{spent}"
        if depth is not None or value is not None or fallback:
            text += f",{_or_nothing(depth)},{_or_nothing(value)}{_MARKS[exact, fallback]}"
        texts.append(text)
        if amounts is not None and written is None:
            written = _write([one.spent for one in record.decisions])
    if max(map(max, totals)) > MAX_INTEGER:
        totals = [[min(total, MAX_INTEGER) for total in seat] for seat in totals]
    return ";".join(texts), totals, written


def spending_decisions(decisions: str, spent: str) -> tuple[Decision, ...]:
    """Return the decisions of a match that reported amounts with `Search.spend`, from the texts in `detail`."""
    return _add_spent(decisions_of(decisions), json.loads(spent))


def _add_spent(decisions: Sequence[Decision], spent: Sequence[Any]) -> tuple[Decision, ...]:
    return tuple([one._replace(spent=amounts) for one, amounts in zip(decisions, spent, strict=True)])


def _or_nothing(value: float | None) -> str:
    return "" if value is None else repr(value)


@lru_cache(4096)
def labels_of(text: str) -> tuple[str, ...]:
    """Return the labels of a row."""
    return tuple(json.loads(text))


@lru_cache(4096)
def returns_of(text: str) -> tuple[float, ...]:
    """Return the returns of a row."""
    values = tuple([float(value) for value in text.split(",")])
    if not isfinite(sum(values)):
        raise ValueError(f"expected numbers, got {text!r}")
    return values


def results_of(returns: str, termination: str, seat: int | None) -> tuple[float, ...]:
    """Return the numbers by which the seats of a row are compared; see `Record.results`."""
    return put_last(returns_of(returns), find_loser(termination, seat))


@lru_cache(65536)
def seats_of(text: str) -> tuple[int, ...]:
    """Return the entries in the seats, from a row of `place`."""
    return tuple(map(int, text.split(",")))


@lru_cache(4096)
def _labels(labels: tuple[str, ...]) -> str:
    return _write(labels)


@lru_cache(256)
def _used_rng(seats: tuple[bool, ...]) -> str:
    return "".join(["01"[used] for used in seats])


PLACE = "p.board, p.seats, r.returns, CASE WHEN r.termination <> 'void' THEN r.solved IS NOT NULL END, p.round"
"""The arguments of `check_place`, from `place p` and `record r`."""


def check_place(
    boards: Sequence[BoardInfo] | None,
    number: Any,
    board: Any,
    seats: Any,
    returns: str,
    is_puzzle: int | None,
    *rounds: Any,
    sizes: dict[int, int] | None = None,
) -> None:
    """Raise ValueError if no match on these boards can have such a place. `boards` is None if they are unknown.

    `is_puzzle` says whether its record contains the result of a puzzle; None if it is void. A checksum says nothing about
    this. `sizes` contains the number of seats by board, which is the same in all matches of a game; the first match of a
    board adds its own.
    """
    entries = seats_of(seats)
    numbers = (number, board, *rounds, *entries)
    sound = all(type(one) is int for one in numbers) and min(numbers) >= 0 and max(rounds) < MAX_ROUNDS
    sound = sound and len(returns_of(returns)) == len(entries) == len(set(entries))
    if sound and boards is not None:
        sheet = boards[board]
        sound = max(entries) < len(sheet.labels) and (len(entries) > 1) == (sheet.kind == "versus")
        sound = sound and is_puzzle in (None, sheet.kind == "puzzle")
    if sound and sizes is not None and is_puzzle is not None:
        sound = sizes.setdefault(board, len(entries)) == len(entries)
    if not sound:
        raise ValueError("expected the number, board, round and seats of a match")


def place_row(number: int, scheduled: Scheduled) -> tuple[Any, ...]:
    """Return the row of `place` for the record with this number."""
    seats = ",".join(map(str, scheduled.pairing.seats))
    cells = (scheduled.number, number, scheduled.board, scheduled.pairing.round, seats)
    return (*cells, checksum(*cells))


def record_row(number: int, rows: Rows) -> tuple[Any, ...]:
    """Return the row of `record`."""
    return (number, *rows.record, rows.digest, rows.adjusted)


def escape_surrogates(text: str | None) -> str | None:
    """Return the text with surrogates escaped. An agent's message may contain them, but a database does not accept them."""
    return text if text is None or text.isascii() else text.encode("utf-8", "backslashreplace").decode()
