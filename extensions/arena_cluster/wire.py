"""Encodes matches and records that are sent between a node and the coordinator, and validates the answers of a node.

Answers are JSON, so reading one does not run code. Nodes are trusted, but an error on a node must not spoil a store. So every key
of a record must have the right type and range, and must be consistent with the requested match and the other keys.
"""

import json
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import Field, TypeAdapter, ValidationError

from arena import ArenaError, Decision, Pairing, Record, Spec
from arena.api.errors import abbreviate
from arena.api.run import Scheduled
from arena.api.spec import explain_faults
from arena_records.contradictions import find_contradiction, find_impossible_ending
from arena_records.record_types import RECORD_TYPES, Number

_HINT: Any = tuple.__class_getitem__(tuple([RECORD_TYPES[key] for key in Record._fields]))
_ROW: TypeAdapter[tuple[Any, ...]] = TypeAdapter(_HINT)
_DURATION: TypeAdapter[float] = TypeAdapter(Annotated[Number, Field(ge=0)])


class Invalid(ArenaError):
    """A node has sent an invalid answer to an order. The message names the fault and the match."""


class NodeAnswer(NamedTuple):
    """The answer of a node to an order. The node sends records, refuses the tournament, or asks for the parcel."""

    records: Sequence[Record] | None = None
    seconds: float = 0.0
    refused: str | None = None
    """The reason why the node cannot play this tournament at all."""
    asks: bool = False
    """True if the node needs the parcel first."""


def matches(scheduled: Sequence[Scheduled]) -> list[tuple[int, int, int, tuple[int, ...]]]:
    """Return matches as plain values."""
    return [(one.number, one.board, one.pairing.round, tuple(one.pairing.seats)) for one in scheduled]


def matches_of(plain: Sequence[Any]) -> list[Scheduled]:
    """Return matches from plain values."""
    return [Scheduled(number, board, Pairing(turn, tuple(seats))) for number, board, turn, seats in plain]


def answer(records: Sequence[Record], seconds: float) -> bytes:
    """Return the answer of a node that has played its order."""
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
        """Return the ids of matches."""
        return [scheduled.match_id(self._spec) for scheduled in asked]

    def read(self, body: Any, asked: Sequence[Scheduled], identities: Sequence[str]) -> NodeAnswer:
        """Read the answer to an order for the matches in `asked`, with their ids in `identities`.

        Raises Invalid for a bad answer.
        """
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
            raise Invalid("expected records and their durations in seconds")
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
            raise Invalid(f"match {identity}: got a record of {abbreviate(record.id)}, which was not requested")
        fault = self._fault(record, scheduled)
        if fault is not None:
            raise Invalid(f"match {identity}: {fault}")
        return record._replace(returns=tuple(map(float, record.returns)), decisions=tuple(map(Decision._make, record.decisions)))

    def _fault(self, record: Record, scheduled: Scheduled) -> str | None:
        """Return a description of a value that is not consistent with the match or with the other values; None if all
        values are.
        """
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
            return "termination: adjudicated is impossible, because the spec has no adjudication"
        seats = [board.seats[entry] for entry in scheduled.pairing.seats]
        timed, apart = [one.label for one in seats if one.limits.timed], [one.label for one in seats if not one.in_process]
        return find_impossible_ending(record, timed, apart) or find_contradiction(record, board.game)


def _decode(body: Any) -> dict[str, Any]:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not a number")

    if not isinstance(body, bytes):
        raise Invalid(f"expected bytes, got {type(body).__name__}")
    try:
        said = json.loads(body, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"expected JSON: {error}") from error
    if not isinstance(said, dict):
        raise Invalid("expected a JSON object")
    return said
