"""Fields: numbers and tables of numbers that methods of compiled rules read from their object. The name of a field is the path of
attributes that leads to it.
"""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from arena.compiled import NotCompilable

Kind = Literal["int", "float", "words", "reals", "octets"]
"""The kind of a field: an integer, a float, or a table of 64-bit integers, of floats or of bytes."""
SMALLEST, LARGEST = -(1 << 63), (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class NumberField:
    """A named number or table. A table with several dimensions is stored flat, row by row."""

    name: str
    kind: Kind
    value: Any
    shape: tuple[int, ...] = ()
    """The length in each dimension; () for a number."""
    starts: str | None = None
    """If the rows have different lengths, the name of another table, with the start of each row and the end of the last one."""
    written: bool = False
    """True if the code may change this array in place."""


def field_of(name: str, value: Any) -> tuple[NumberField, ...]:
    """Return the field for a number or a table, followed by other fields that it needs. Raises NotCompilable for any
    other value.
    """
    if isinstance(value, int):
        return (NumberField(name, "int", _require_64_bits(name, int(value))),)
    if isinstance(value, float):
        return (NumberField(name, "float", value),)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return (NumberField(name, "octets", bytes(value), (len(value),)),)
    if hasattr(value, "tolist"):  # arrays from the standard library and from numpy
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return _table(name, value)
    raise NotCompilable(f"{name} is {_describe_type(value)}; expected a number or a table of numbers")


def _table(name: str, value: Sequence[Any]) -> tuple[NumberField, ...]:
    rows = [isinstance(row, (list, tuple, bytes)) for row in value]
    if not any(rows):
        return (_flat(name, list(value), (len(value),)),)
    if not all(rows):
        raise NotCompilable(f"{name} mixes numbers and rows")
    shape = _shape(value)
    if shape is not None:
        return (_flat(name, list(_leaves(value)), shape),)
    if any(isinstance(item, (list, tuple, bytes)) for row in value for item in row):
        raise NotCompilable(f"{name} has rows of several lengths in more than two dimensions")
    starts = [0]
    for row in value:
        starts.append(starts[-1] + len(row))
    flat = _flat(name, [item for row in value for item in row], (len(value), 0))
    first = NumberField(f"{name}__starts", "words", array("q", starts), (len(starts),))
    return (NumberField(name, flat.kind, flat.value, flat.shape, first.name), first)


def _shape(value: Any) -> tuple[int, ...] | None:
    """Return the shape of nested rows; None if they differ in length."""
    if not isinstance(value, (list, tuple, bytes)):
        return ()
    inner = {_shape(row) for row in value}
    if len(inner) > 1 or None in inner:
        return None
    return (len(value), *(inner.pop() or ())) if inner else (0,)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple, bytes)):
        for row in value:
            yield from _leaves(row)
    else:
        yield value


def _flat(name: str, numbers: list[Any], shape: tuple[int, ...]) -> NumberField:
    if all(isinstance(number, int) for number in numbers):
        return NumberField(name, "words", array("q", [_require_64_bits(name, int(number)) for number in numbers]), shape)
    if all(isinstance(number, (int, float)) for number in numbers):
        return NumberField(name, "reals", array("d", map(float, numbers)), shape)
    strange = next(number for number in numbers if not isinstance(number, (int, float)))
    raise NotCompilable(f"{name} holds {_describe_type(strange)}; expected numbers")


def _require_64_bits(name: str, number: int) -> int:
    if not SMALLEST <= number <= LARGEST:
        raise NotCompilable(f"{name} does not fit into 64 bits")
    return number


def _describe_type(value: Any) -> str:
    return f"an object of type {type(value).__name__}"
