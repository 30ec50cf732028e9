"""Boards with x, o and empty cells as text, such as `x../.o./...`."""

from collections.abc import Sequence

from arena.api.errors import abbreviate


def parse_rows(board: str, rows: int, columns: int, text: str, cells: str = "cells") -> list[str]:
    """Return the rows of a board with x, o and dots. Raises ValueError, which quotes `text`, for another size or other marks."""
    found = board.split("/")
    if len(found) != rows or any(len(row) != columns for row in found):
        raise ValueError(f"expected {rows} rows of {columns} {cells} joined by /, got {abbreviate(text)}")
    strange = sorted(set("".join(found)) - set("xo."))
    if strange:
        raise ValueError(f"expected {cells} x, o and ., got {strange[0]!r} in {abbreviate(text)}")
    return found


def list_marks(stones: int, bits: Sequence[int]) -> list[int]:
    """Return a 1 for each of the `bits` that is set in `stones`, and a 0 for the others."""
    return [1 if stones & bit else 0 for bit in bits]


def check_turns(x: int, o: int, text: str) -> None:
    """Raise ValueError unless the marks of both sides, as bits, can result from alternate moves, x first."""
    if x.bit_count() - o.bit_count() not in (0, 1):
        raise ValueError(f"expected as many x as o or one more, got {x.bit_count()} and {o.bit_count()} in {abbreviate(text)}")
