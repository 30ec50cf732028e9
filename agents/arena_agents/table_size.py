"""The size of a table as people write it: `64MB`."""

import os
import re
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

UNITS = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9}
NAMES = {10**9: "GB", 10**6: "MB", 10**3: "kB", 1: "B"}
PAIR = 128
"""Bytes of two rows of a table: 64 each, for states of up to four numbers."""
MOST_PAIRS = 1 << 31
_WRITTEN = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmg]?b)?\s*", re.IGNORECASE)
_EXPECTED = "expected true, false, or a size of at least 128 bytes such as 64MB (B, kB, MB or GB)"


def size_of(written: str | int) -> int:
    """Return the bytes of a size; ValueError says what was expected for one that is none, too small, or above the memory."""
    parts = None if isinstance(written, bool) else _WRITTEN.fullmatch(str(written))
    if parts is None:
        raise ValueError(f"{_EXPECTED}, got {written!r}")
    size = int(float(parts[1]) * UNITS[(parts[2] or "b").lower()])
    if size < PAIR:
        raise ValueError(f"{_EXPECTED}, got {written!r}")
    memory = _memory()
    if size > min(memory, MOST_PAIRS * PAIR):
        raise ValueError(f"expected a table of at most {memory / 10**9:.1f} GB, the memory of this machine, got {written!r}")
    return size


def _memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # a system that does not tell
        return MOST_PAIRS * PAIR


def _checked(given: Any) -> Any:
    """Return true, false, or a size in its one spelling, so that equal sizes make equal entries."""
    if isinstance(given, bool):
        return given
    try:
        size = size_of(given)
    except ValueError as error:
        raise PydanticCustomError("refused", "{message}", {"message": str(error)}) from None
    unit = next(unit for unit in NAMES if size % unit == 0)
    return f"{size // unit}{NAMES[unit]}"


TableSize = Annotated[bool | str, BeforeValidator(_checked)]
"""true, false, or the size of a table."""
