"""What a node and the coordinator say to each other about matches, and the coordinator's doubts about what a node says.

Answers are JSON, so that reading one runs no code. A node is trusted no more than an agent: every key of a record must be of
its type and within its range, and must fit the match that was asked for.
"""

import json
from collections.abc import Callable, Sequence
from math import inf
from typing import Any, NamedTuple, get_args

from arena.errors import ArenaError, shown
from arena.format import Pairing
from arena.game import Puzzle
from arena.limits import LARGEST, is_count
from arena.match.record import FAULTS, Decision, Reason, Record
from arena.match.referee import lost
from arena.schedule.schedule import Scheduled, identity_of
from arena.spec import Spec

TOLERANCE = 1e-9
MOST_TIMINGS = 16
LONGEST_SECONDS = 1e9
"""What a decision may have taken, for a start: the store keeps nanoseconds."""
REASONS = frozenset(get_args(Reason))


class Invalid(ArenaError):
    """A node has sent what cannot be an answer to its order; the message says what, in which match."""


class NodeAnswer(NamedTuple):
    """What a node says to an order: one of the three."""

    records: Sequence[Record] | None = None
    seconds: float = 0.0
    refused: str | None = None
    """Why the node cannot play this tournament at all."""
    asks: bool = False
    """Whether it must be told about the tournament first."""


def matches(scheduled: Sequence[Scheduled]) -> list[tuple[int, int, int, tuple[int, ...]]]:
    """Matches as plain values."""
    return [(one.number, one.board, one.pairing.round, tuple(one.pairing.seats)) for one in scheduled]


def matches_of(plain: Sequence[Any]) -> list[Scheduled]:
    """The matches again."""
    return [Scheduled(number, board, Pairing(turn, tuple(seats))) for number, board, turn, seats in plain]


def answer(records: Sequence[Record], seconds: float) -> bytes:
    """The answer of a node that has played."""
    return _encode({"records": records, "seconds": seconds})


def wants_parcel() -> bytes:
    """The answer of a node that does not know the tournament."""
    return _encode({"asks": True})


def refusal(reason: str) -> bytes:
    """The answer of a node that cannot play."""
    return _encode({"refused": reason})


def _encode(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


class Reader:
    """Reads answers about the matches of one spec."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec

    def identities(self, asked: Sequence[Scheduled]) -> list[str]:
        """The ids of matches."""
        return [identity_of(self._spec, scheduled) for scheduled in asked]

    def read(self, body: Any, asked: Sequence[Scheduled], identities: Sequence[str]) -> NodeAnswer:
        """The answer to an order for these matches with their ids; Invalid where it is none."""
        said = _decoded(body)
        if said.get("asks") is True:
            return NodeAnswer(asks=True)
        if isinstance(said.get("refused"), str):
            return NodeAnswer(refused=said["refused"][:2000])
        rows, seconds = said.get("records"), said.get("seconds", -1)
        if not isinstance(rows, list) or not _is_number(seconds) or not 0 <= seconds < inf:
            raise Invalid("expected records and the seconds they took")
        if len(rows) != len(asked):
            raise Invalid(f"expected {len(asked)} records, got {len(rows)}")
        return NodeAnswer([self._record(*each) for each in zip(rows, asked, identities, strict=True)], seconds)

    def _record(self, row: Any, scheduled: Scheduled, identity: str) -> Record:
        if not isinstance(row, list) or len(row) != len(Record._fields):
            raise Invalid(f"match {identity}: expected a record of {len(Record._fields)} values")
        record = Record(*row)
        if record.id != identity:
            raise Invalid(f"match {identity}: got a record of {shown(record.id)}, which was not asked for")
        fault = self._fault(row, record, scheduled)
        if fault is not None:
            raise Invalid(f"match {identity}: {fault}")
        return record._replace(
            labels=tuple(record.labels),
            actions=tuple(record.actions),
            returns=tuple([float(value) for value in record.returns]),
            decisions=tuple([Decision(*one) for one in record.decisions]),
            drew=tuple(record.drew),
        )

    def _fault(self, row: list[Any], record: Record, scheduled: Scheduled) -> str | None:
        """What is wrong with a record, None where nothing is. Its sequences are lists as yet."""
        board = self._spec.boards[scheduled.board]
        labels = [board.seats[entry].label for entry in scheduled.pairing.seats]
        for key, got, wanted in (
            ("game", record.game, board.name),
            ("labels", record.labels, labels),
            ("seed", record.seed, self._spec.seed),
        ):
            if got != wanted or type(got) is not type(wanted):
                return f"{key}: expected {shown(wanted)}, got {shown(got)}"
        for value, (key, fits, what) in zip(row, _KEYS, strict=True):
            if fits is not None and not fits(value):
                return f"{key}: expected {what}, got {shown(value)}"
        puzzle = isinstance(board.game, Puzzle)
        answers = isinstance(board.game, Puzzle) and not board.game.path_matters
        return (
            _wrong_result(record, len(labels), puzzle=puzzle, zero_sum=board.game.zero_sum)
            or _wrong_ending(record, len(labels), puzzle=puzzle, answers=answers)
            or _wrong_effort(record, len(labels))
        )


def _decoded(body: Any) -> dict[str, Any]:
    if not isinstance(body, bytes):
        raise Invalid(f"expected bytes, got {type(body).__name__}")
    try:
        said = json.loads(body, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"expected JSON: {error}") from error
    if not isinstance(said, dict):
        raise Invalid("expected a JSON object")
    return said


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number")


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_text_or_none(value: Any) -> bool:
    return value is None or _is_text(value)


def _is_number(value: Any) -> bool:
    return (type(value) is float and -inf < value < inf) or (type(value) is int and -LARGEST <= value <= LARGEST)


def _is_number_or_none(value: Any) -> bool:
    return value is None or _is_number(value)


def _is_flag_or_none(value: Any) -> bool:
    return value is None or type(value) is bool


def _is_count_or_none(value: Any) -> bool:
    return value is None or is_count(value)


def _are_texts(value: Any) -> bool:
    return type(value) is list and {str}.issuperset(map(type, value))


def _are_numbers(value: Any) -> bool:
    return type(value) is list and all(map(_is_number, value))


def _are_flags(value: Any) -> bool:
    return type(value) is list and {bool}.issuperset(map(type, value))


def _is_reason(value: Any) -> bool:
    return type(value) is str and value in REASONS


def _is_list(value: Any) -> bool:
    return type(value) is list


def _is_timing(value: Any) -> bool:
    """What an honest node says of the clock: a number, or numbers for each seat or decision, by name."""
    if value is None:
        return True
    return type(value) is dict and len(value) <= MOST_TIMINGS and all(map(_are_timed, value.values()))


def _are_timed(value: Any) -> bool:
    return _is_number_or_none(value) or (type(value) is list and all(map(_is_number_or_none, value)))


_FITS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "position": (_is_text, "a text"),
    "actions": (_are_texts, "a list of texts"),
    "answer": (_is_text_or_none, "a text or null"),
    "returns": (_are_numbers, "a list of numbers"),
    "solved": (_is_flag_or_none, "true, false or null"),
    "termination": (_is_reason, "a known termination"),
    "seat": (_is_count_or_none, "a seat or null"),
    "message": (_is_text_or_none, "a text or null"),
    "traceback": (_is_text_or_none, "a text or null"),
    "moves": (_is_count_or_none, "a count or null"),
    "cost": (_is_number_or_none, "a number or null"),
    "fallbacks": (is_count, "a count"),
    "decisions": (_is_list, "a list"),
    "drew": (_are_flags, "a list of true and false"),
    "timing": (_is_timing, "numbers by name, or null"),
}
"""What the keys of a record hold, but for those that follow from the match."""
_KEYS = tuple([(key, *_FITS.get(key, (None, ""))) for key in Record._fields])


def _wrong_result(record: Record, seats: int, *, puzzle: bool, zero_sum: bool) -> str | None:
    returns = record.returns
    if len(returns) != seats or not all(-1.0 <= value <= 1.0 for value in returns):
        return f"returns: expected {seats} numbers from -1 to 1, got {shown(returns)}"
    if zero_sum and abs(sum(returns)) > TOLERANCE:
        return f"returns: expected numbers that add up to 0, got {shown(returns)}"
    if puzzle is (record.solved is None):
        return f"solved: expected {'true or false' if puzzle else 'null'}, got {shown(record.solved)}"
    if puzzle and list(returns) != [float(bool(record.solved))]:
        return f"returns: expected {float(bool(record.solved))} where solved is {record.solved}, got {shown(returns)}"
    if record.solved and record.termination != "normal":
        return f"solved: expected false with {record.termination}, got true"
    if record.answer is None and record.moves != len(record.actions):
        return f"moves: expected {len(record.actions)}, the number of actions, got {shown(record.moves)}"
    return None


def _wrong_ending(record: Record, seats: int, *, puzzle: bool, answers: bool) -> str | None:
    reason, seat = record.termination, record.seat
    blamed = reason in FAULTS or reason == "gave-up"
    if blamed and (seat is None or seat >= seats):
        return f"seat: expected whose {reason} it was, less than {seats}, got {seat}"
    if not blamed and seat is not None:
        return f"seat: expected null with {reason}, got {seat}"
    if not puzzle and reason in ("gave-up", "stuck"):
        return f"termination: expected that of a game, got {reason}"
    if record.answer is not None and (not answers or reason != "normal"):
        return f"answer: expected null, got {shown(record.answer)}"
    if reason in ("void", "move-limit") and any(record.returns):
        return f"returns: expected zeros with {reason}, got {shown(record.returns)}"
    if reason in FAULTS and seats > 1 and tuple(record.returns) != lost(seats, seat):
        return f"returns: expected a loss of seat {seat} by {reason}, got {shown(record.returns)}"
    return None


def _wrong_effort(record: Record, seats: int) -> str | None:
    if len(record.drew) != seats:
        return f"drew: expected {seats} values, got {len(record.drew)}"
    one: Any
    for number, one in enumerate(record.decisions):
        if type(one) is not list or len(one) != 6:
            return f"decisions[{number}]: expected {len(Decision._fields)} values, got {shown(one)}"
        seat, nodes, evaluations, seconds, depth, value = one
        if not (
            is_count(seat)
            and seat < seats
            and is_count(nodes)
            and is_count(evaluations)
            and (type(seconds) is float or type(seconds) is int)
            and 0 <= seconds <= LONGEST_SECONDS
            and _is_count_or_none(depth)
            and _is_number_or_none(value)
        ):
            return f"decisions[{number}]: expected seat, nodes, evaluations, seconds, depth and value, got {shown(one)}"
    return None
