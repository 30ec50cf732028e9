"""Othello, on bitboards.

A state is (discs of x, discs of o, seat to move, squares where that seat may place a disc). Square (row from the top,
column) is bit `row * size + column`. The last part follows from the others; it is kept because a search asks for it several
times a state, to see whether play is over and what the actions are. It is 0 where the seat must pass, and -1 at the end.
"""

import random
from collections.abc import Sequence
from typing import ClassVar, Literal

from arena import Action, Game, heuristic

State = tuple[int, int, int, int]
Ray = tuple[int, int]
"""The neighbour of a square in one direction, and all squares that way."""

OVER = -1
PASS = "pass"  # noqa: S105 - an action, no password
ONLY_PASS = (PASS,)


class Othello(Game):
    """Discs that outflank a row of the other side's turn it over; who has more at the end wins.

    x moves first. A seat that cannot place a disc passes; when neither can, play is over. Actions are `d3` (column letter,
    row from the top) and `pass`. Text notation: rows from the top joined by `/`, then who moves: `..../.ox./.xo./.... x`.
    """

    name = "othello"
    default_heuristic: ClassVar[str | None] = "corners-mobility"

    def __init__(self, *, size: Literal[4, 6, 8] = 8) -> None:
        self.size = size
        self._squares = [f"{'abcdefgh'[column]}{row + 1}" for row in range(size) for column in range(size)]
        self._bit = {square: 1 << bit for bit, square in enumerate(self._squares)}
        self.board = (1 << size * size) - 1
        rows = [self._squares[start : start + size] for start in range(0, size * size, size)]
        self._placing = [[_chosen(row, bits) for bits in range(1 << size)] for row in rows]
        self._bytes = size * size // 8 + 1
        first = sum(1 << row * size for row in range(size))
        inner = self.board & ~first & ~(first << (size - 1))
        self._directions = ((1, inner), (size - 1, inner), (size + 1, inner), (size, self.board))
        self._rays = {name: self._rays_from(*divmod(bit, size)) for bit, name in enumerate(self._squares)}
