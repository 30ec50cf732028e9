"""How large what is said of a decision may be, whoever says it: an agent here, one in a process of its own, or a node."""

from math import isfinite
from operator import index
from typing import Any, TypeGuard

from arena.errors import shown

LARGEST = 10**15
"""No count may be larger, so that sums of them can be kept anywhere."""
LONGEST_TEXT = 8 << 10
"""Characters that are kept of a message or a traceback."""


def is_count(value: Any) -> TypeGuard[int]:
    """Tell whether a value is a whole number from 0 to LARGEST."""
    return type(value) is int and 0 <= value <= LARGEST


def plies(depth: Any) -> int:
    """A depth as a record holds it; ValueError for anything but a whole number from 0 to LARGEST, of whatever type."""
    try:
        whole = index(depth)
    except TypeError:
        whole = -1
    if not is_count(whole):
        raise ValueError(f"expected a whole number of plies from 0 to {LARGEST:,} as the depth, got {shown(depth)}")
    return whole


def finite(value: Any) -> float | None:
    """A value as a record holds it, without minus zero; None for an infinite one and nan, ValueError for what is no number."""
    try:
        isfinite(value)  # other than float, it takes no text
        number = float(value)
    except (TypeError, OverflowError):
        raise ValueError(f"expected a number that a float can hold as the value, got {shown(value)}") from None
    return number + 0.0 if isfinite(number) else None


def clipped(text: str) -> str:
    """A text for people as a record keeps it: cut where it is too long, with surrogates as escapes."""
    return text[:LONGEST_TEXT].encode("utf-8", "backslashreplace").decode()
