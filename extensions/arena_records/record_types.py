"""The types of the values of a record that comes from another process or from a file."""

from typing import Annotated, Any

from pydantic import AllowInfNan, Field, InstanceOf, StrictBool, StrictInt

from arena import Limits, Search
from arena.api.match import Reason

MAX_TIMINGS = 16
MAX_DECISION_SECONDS = 1e9
"""The maximum time of a decision in seconds. The store keeps times in nanoseconds as 64-bit integers."""

# These types are checked by isinstance. A strict `str` would refuse lone surrogates, which a message may contain, and a strict
# `float` would accept any int.
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
RECORD_TYPES: dict[str, Any] = {
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
    "decisions": tuple[tuple[Count, Count, Count, Seconds, Count | None, Number | None, Amounts | None, Flag, Flag], ...],
    "drew": tuple[Flag, ...],
    "timing": Annotated[dict[Text, Flag | Number | list[Number | Text | None] | None], Field(max_length=MAX_TIMINGS)] | None,
    "adjusted": tuple[Number, ...] | None,
    "transcript": tuple[tuple[Count, Annotated[Text, Field(max_length=Search.MAX_EXCHANGE_CHARACTERS)]], ...],
    "parameters": None,  # the reader knows these values
}
"""The type of each key of a record. Decisions are lists of values, in the order of the fields of `Decision`."""
