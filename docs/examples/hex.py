"""Hex: two players join their own two sides of a board of hexagons; one of them always does, and never both."""

import random
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from arena import Game, hookimpl

State = tuple[int, int, bool]
"""The stones of x, those of o, and whether who moved last has joined his sides. Cells are bits, row by row."""
LETTERS = "abcdefghijklmnopqrs"


class Hex(Game):
    """x joins top and bottom, o left and right; a stone never moves, and a draw is not possible.

    Actions are cells, `c2`: the letter of the column, the row from the top. Text notation: rows from the top joined by `/`, each
    half a cell farther right than the one before; x to move when there are as many o: `.../.x./..o`.
    """

    name = "hex"
    board = "hex.js"

    def __init__(self, *, size: Annotated[int, Field(ge=1, le=19)] = 7) -> None:
        self.size = size
        self._wide = size + 1  # a spare bit behind every row, always 0, so that no step runs from one row into the next
        cells = [(row, column) for row in range(size) for column in range(size)]
        self._bits = {f"{LETTERS[column]}{row + 1}": 1 << row * self._wide + column for row, column in cells}
        row, column = (1 << size) - 1, sum(1 << n * self._wide for n in range(size))
        self._all = row * column
        self._sides = ((row, row << (size - 1) * self._wide), (column, column << size - 1))

    def initial(self, rng: random.Random) -> State:
        return (0, 0, False)

    def to_move(self, state: State) -> int:
        return (state[0] | state[1]).bit_count() & 1

    def actions(self, state: State) -> Sequence[str]:
        taken = state[0] | state[1]
        return () if state[2] else [name for name, bit in self._bits.items() if not taken & bit]

    def result(self, state: State, action: str) -> State:
        seat, stones = self.to_move(state), [state[0], state[1]]
        stones[seat] |= self._bits[action]
        return (stones[0], stones[1], self.joined(stones[seat], seat))

    def joined(self, stones: int, seat: int) -> bool:
        """Whether stones join the two sides of a seat: they are followed from one side, a step everywhere at a time."""
        start, goal = self._sides[seat]
        wide, reached, before = self._wide, stones & start, 0
        while reached != before:
            before = reached
            spread = reached << 1 | reached >> 1 | reached << wide | reached >> wide
            reached |= (spread | reached << wide - 1 | reached >> wide - 1) & stones
        return bool(reached & goal)

    def is_terminal(self, state: State) -> bool:
        return state[2]

    def returns(self, state: State) -> Sequence[float]:
        return (1.0, -1.0) if self.to_move(state) == 1 else (-1.0, 1.0)

    def render(self, state: State) -> str:
        rows = self.format_state(state).split("/")
        lines = [f"{' ' * number}{number + 1:2} {' '.join(row)}" for number, row in enumerate(rows)]
        return "\n".join([f"   {' '.join(LETTERS[: self.size])}", *lines])

    def format_state(self, state: State) -> str:
        marks = ["x" if state[0] & bit else "o" if state[1] & bit else "." for bit in self._bits.values()]
        return "/".join(["".join(marks[row : row + self.size]) for row in range(0, self.size**2, self.size)])

    def parse_state(self, text: str) -> State:
        rows = text.strip().lower().split("/")
        if [len(row) for row in rows] != [self.size] * self.size or set("".join(rows)) - set("xo."):
            raise ValueError(f"expected {self.size} rows of {self.size} cells x, o or . joined by /, got {text!r}")
        x, o = [sum(bit for bit, cell in zip(self._bits.values(), "".join(rows), strict=True) if cell == mark) for mark in "xo"]
        if x.bit_count() - o.bit_count() not in (0, 1):
            raise ValueError(f"expected as many x as o or one more, got {x.bit_count()} and {o.bit_count()} in {text!r}")
        mover = (x | o).bit_count() & 1
        if self.joined((x, o)[mover], mover):
            raise ValueError(f"{'xo'[mover]} has joined its sides in {text!r}, and cannot be to move")
        return (x, o, self.joined((x, o)[1 - mover], 1 - mover))

    def parse_action(self, state: State, text: str) -> str:
        action = text.strip().lower()
        if action not in self.actions(state):
            raise ValueError(f"expected a free cell such as {next(iter(self.actions(state)), 'a1')}, got {text!r}")
        return action


@hookimpl
def arena_games() -> list[type[Game]]:
    return [Hex]
