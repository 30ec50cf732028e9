"""Encoding of matches and records between a node and the coordinator, and the validation of a node's answers.

Answers are JSON, so reading one runs no code. Nodes are trusted, but an error on one must not spoil a store. Every key of a
record must have the right type and range, and must fit the requested match and the other keys.
"""

import json
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import AllowInfNan, Field, InstanceOf, StrictBool, StrictInt, TypeAdapter, ValidationError

from arena import ArenaError, Decision, Limits, Pairing, Record, Search, Spec
from arena.api.errors import abbreviate
from arena.api.match import Reason
from arena.api.run import Scheduled
from arena.api.spec import explain_faults
from arena_records.contradictions import find_contradiction

MAX_TIMINGS = 16
MAX_DECISION_SECONDS = 1e9
"""Maximum time of a decision. The store keeps nanoseconds as 64-bit integers."""

# An instance, because a strict `str` refuses lone surrogates, which a message may contain, and a strict `float` accepts any
# int.
Text = InstanceOf[str]
Flag = StrictBool
Count = Annotated[int, Field(strict=True, ge=0, le=Limits.MAX_COUNT)]
Number = (
    Annotated[int, Field(strict=True, ge=-Limits.MAX_COUNT, le=Limits.MAX_COUNT)]
    | Annotated[InstanceOf[float], AllowInfNan(False)]
)
Amount = Annotated[Number, Field(ge=0, le=Limits.MAX_COUNT)]
Seconds = Annotated[float, Field(strict=True, ge=0, le=MAX_DECISION_SECONDS)]
Amounts = Annotated[
    dict[Annotated[Text, Field(max_length=Search.MAX_AMOUNT_NAME_CHARACTERS)], Amount], Field(max_length=Search.MAX_AMOUNTS)
]
_TYPES: dict[str, Any] = {
    "id": Text,
    "game": Text,
    "position": Text,
    "labels": tuple[Text, ...],
    "seed": StrictInt | None,
    "actions": tuple[Text, ...],
    "answer": Text | None,
    "returns": tuple[Number, ...],
    "solved": Flag | None,
    "termination": Reason,
    "seat": Count | None,
    "message": Text | None,
    "traceback": Text | None,
    "moves": Count | None,
    "cost": Number | None,
    "fallbacks": Count,
    "decisions": tuple[tuple[Count, Count, Count, Seconds, Count | None, Number | None, Amounts | None, Count], ...],
    "drew": tuple[Flag, ...],
    "timing": Annotated[dict[Text, Flag | Number | list[Number | Text | None] | None], Field(max_length=MAX_TIMINGS)] | None,
    "adjusted": tuple[Number, ...] | None,
    "transcript": tuple[tuple[Count, Annotated[Text, Field(max_length=Search.MAX_EXCHANGE_CHARACTERS)]], ...],
    "parameters": None,  # the coordinator knows them
}
"""Type of each key of a record on the wire."""
_HINT: Any = tuple.__class_getitem__(tuple([_TYPES[key] for key in Record._fields]))
_ROW: TypeAdapter[tuple[Any, ...]] = TypeAdapter(_HINT)
_DURATION: TypeAdapter[float] = TypeAdapter(Annotated[Number, Field(ge=0)])


class Invalid(ArenaError):
    """A node has sent an invalid answer to its order. The message names the fault and the match."""


class NodeAnswer(NamedTuple):
    """The answer of a node to an order: one of the three."""

    records: Sequence[Record] | None = None
    seconds: float = 0.0
    refused: str | None = None
    """Why the node cannot play this tournament at all."""
    asks: bool = False
    """True if the node needs the parcel first."""


def matches(scheduled: Sequence[Scheduled]) -> list[tuple[int, int, int, tuple[int, ...]]]:
    """Return matches as plain values."""
    return [(one.number, one.board, one.pairing.round, tuple(one.pairing.seats)) for one in scheduled]


def matches_of(plain: Sequence[Any]) -> list[Scheduled]:
    """Return matches from plain values."""
    return [Scheduled(number, board, Pairing(turn, tuple(seats))) for number, board, turn, seats in plain]


def answer(records: Sequence[Record], seconds: float) -> bytes:
    """Return the answer of a node that has played."""
    return _encode({"records": records, "seconds": seconds})


def wants_parcel() -> bytes:
    """Return the answer of a node that does not know the tournament."""
    return _encode({"asks": True})


def refusal(reason: str) -> bytes:
    """Return the answer of a node that cannot play."""
    return _encode({"refused": reason})


def _encode(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


class Reader:
    """Reads answers about the matches of one spec."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec

    def identities(self, asked: Sequence[Scheduled]) -> list[str]:
        """The ids of matches."""
        return [scheduled.match_id(self._spec) for scheduled in asked]

    def read(self, body: Any, asked: Sequence[Scheduled], identities: Sequence[str]) -> NodeAnswer:
        """Read the answer to an order for these matches with their ids. Raises Invalid if it is not one."""
        said = _decode(body)
        if said.get("asks") is True:
            return NodeAnswer(asks=True)
        if isinstance(said.get("refused"), str):
            return NodeAnswer(refused=said["refused"][:2000])
        rows = said.get("records")
        try:
            seconds = _DURATION.validate_python(said.get("seconds"))
        except ValidationError:
            rows = None
        if not isinstance(rows, list):
            raise Invalid("expected records and the seconds they took")
        if len(rows) != len(asked):
            raise Invalid(f"expected {len(asked)} records, got {len(rows)}")
        return NodeAnswer([self._record(*each) for each in zip(rows, asked, identities, strict=True)], seconds)

    def _record(self, row: Any, scheduled: Scheduled, identity: str) -> Record:
        if not isinstance(row, list) or len(row) != len(Record._fields):
            raise Invalid(f"match {identity}: expected a record of {len(Record._fields)} values")
        try:
            record = Record._make(_ROW.validate_python(row))
        except ValidationError as error:
            (number, *inside), message = explain_faults(error, row)[0]  # the first fault: the expected value and the received one
            place = f"{Record._fields[int(number)]}{''.join([f'[{part}]' for part in inside])}"
            raise Invalid(f"match {identity}: {place}: {message}") from None
        if record.id != identity:
            raise Invalid(f"match {identity}: got a record of {abbreviate(record.id)}, which was not asked for")
        fault = self._fault(record, scheduled)
        if fault is not None:
            raise Invalid(f"match {identity}: {fault}")
        return record._replace(returns=tuple(map(float, record.returns)), decisions=tuple(map(Decision._make, record.decisions)))

    def _fault(self, record: Record, scheduled: Scheduled) -> str | None:
        """Return a value that does not fit the match or the other values; None if all fit."""
        board = self._spec.boards[scheduled.board]
        labels = tuple([board.seats[entry].label for entry in scheduled.pairing.seats])
        for key, got, wanted in (
            ("game", record.game, board.name),
            ("labels", record.labels, labels),
            ("seed", record.seed, self._spec.record_seed),
        ):
            if got != wanted:
                return f"{key}: expected {abbreviate(wanted)}, got {abbreviate(got)}"
        if record.termination == "adjudicated" and board.adjudication is None:
            return "termination: expected one without adjudication, which the spec does not want, got adjudicated"
        late = record.seat if record.termination == "timeout" else None
        if late is not None and late < len(labels):
            seat = board.seats[scheduled.pairing.seats[late]]
            if not seat.limits.timed and seat.isolation == "none":
                return f"termination: expected another than timeout, since seat {late} has no time limit"
        return find_contradiction(record, board.game)


def _decode(body: Any) -> dict[str, Any]:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is no number")

    if not isinstance(body, bytes):
        raise Invalid(f"expected bytes, got {type(body).__name__}")
    try:
        said = json.loads(body, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"expected JSON: {error}") from error
    if not isinstance(said, dict):
        raise Invalid("expected a JSON object")
    return said
