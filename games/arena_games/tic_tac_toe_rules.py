"""Tic-tac-toe with whole numbers, for compiled searches on boards of at most 62 bits."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from arena.compiled import Estimate, Rules, Words

MAX_BITS = 62


class MarkRules(Rules):
    """A state is the state of the game: the cells of x and of o. An action is the number of a cell.

    A subclass finds the lines: whether marks have one, and the cells that would complete one.
    """

    words = 2

    def __init__(self, bits: list[int]) -> None:
        self.bits = bits
        """The bit of each cell, at the index of the number of the cell. Numbers begin at 1, so index 0 has no bit."""
        self.width = len(bits) - 1
        self.full = sum(bits)
        self.numbers = [0] * (max(bits).bit_length() + 1)
        """The number of each cell, at the index `bit_length()` of its bit."""
        for number, bit in enumerate(bits):
            self.numbers[bit.bit_length()] = number

    if TYPE_CHECKING:

        def has_line(self, marks: int) -> bool:
            """Return whether enough marks are in a line."""

        def completions(self, marks: int) -> int:
            """Return the cells that would complete a line. Some may be marked, or outside the board."""

    def encode(self, state: Words) -> Words:
        """Return the state itself."""
        return state

    def to_move(self, state: Words) -> int:
        """Return 0 for x if both sides have the same number of marks, otherwise 1 for o."""
        return 0 if state[0].bit_count() == state[1].bit_count() else 1

    def is_won(self, state: Words) -> bool:
        """Return whether the side that moved last has a line; the other side cannot have one."""
        return self.has_line(state[1] if state[0].bit_count() == state[1].bit_count() else state[0])

    def actions(self, state: Words) -> Iterator[int]:
        """Yield the empty cells in order; none after a win."""
        if not self.is_won(state):
            left = self.full & ~(state[0] | state[1])
            while left:
                yield self.numbers[(left & -left).bit_length()]
                left &= left - 1

    def result(self, state: Words, action: int) -> Words:
        """Put the mark of the side to move into a cell."""
        x, o = state
        if x.bit_count() == o.bit_count():
            return (x | self.bits[action], o)
        return (x, o | self.bits[action])

    def is_terminal(self, state: Words) -> bool:
        """Return whether a side has a line or the board is full."""
        return state[0] | state[1] == self.full or self.is_won(state)

    def returns(self, state: Words) -> tuple[float, float]:
        """Return 1 for the side with a line and -1 for the other side; 0 for both if neither side has a line."""
        if self.has_line(state[0]):
            return (1.0, -1.0)
        return (-1.0, 1.0) if self.has_line(state[1]) else (0.0, 0.0)

    def threats(self, state: Words, seat: int) -> Iterator[int]:
        """Yield the empty cells that complete a line of `seat`."""
        if not self.is_won(state):
            left = self.full & self.completions(state[seat]) & ~(state[0] | state[1])
            while left:
                yield self.numbers[(left & -left).bit_length()]
                left &= left - 1


class TabledMarks(MarkRules):
    """Rules for small boards, with a table of the results for all sets of marks of a side."""

    def __init__(self, bits: list[int], lines: bytes, completing: list[int]) -> None:
        super().__init__(bits)
        self.lines = lines
        self.completing = completing

    def has_line(self, marks: int) -> bool:
        """Return whether enough marks are in a line."""
        return self.lines[marks] != 0

    def completions(self, marks: int) -> int:
        """Return the cells that would complete a line. Some may be marked."""
        return self.completing[marks]


class ShiftedMarks(MarkRules):
    """Rules for boards of any size, which find lines by comparing the marks with shifted copies."""

    def __init__(self, bits: list[int], steps: list[int], in_a_row: int) -> None:
        super().__init__(bits)
        self.steps = steps
        """The distance in bits to the next cell of a line, in four directions."""
        self.in_a_row = in_a_row

    def along(self, marks: int, step: int) -> int:
        """Return the cells at which sufficiently long lines of marks begin, in one direction."""
        run = marks
        for n in range(1, self.in_a_row):
            run &= marks >> n * step
        return run

    def has_line(self, marks: int) -> bool:
        """Return whether enough marks are in a line."""
        steps = self.steps
        either = self.along(marks, steps[0]) | self.along(marks, steps[1])
        return (either | self.along(marks, steps[2]) | self.along(marks, steps[3])) != 0

    def above(self, cells: int, n: int) -> int:
        """Return the cells that are n bits above some cells, and on the board."""
        return (cells & (self.full >> n)) << n

    def completed(self, marks: int, step: int) -> int:
        """Return the cells that would complete a line in one direction. Some bits may be outside the board."""
        found = 0
        for place in range(self.in_a_row):
            cells = self.full
            for other in range(self.in_a_row):
                if other < place:
                    cells &= self.above(marks, (place - other) * step)
                elif other > place:
                    cells &= marks >> (other - place) * step
            found |= cells
        return found

    def completions(self, marks: int) -> int:
        """Return the cells that would complete a line. Some may be marked, or outside the board."""
        steps = self.steps
        found = self.completed(marks, steps[0]) | self.completed(marks, steps[1])
        return found | self.completed(marks, steps[2]) | self.completed(marks, steps[3])


class Lanes(Estimate):
    """The heuristic `open-lanes`."""

    def __init__(self, lanes: list[int], worth: list[int], scale: float) -> None:
        self.lanes = lanes
        self.worth = worth
        self.scale = scale

    def evaluate(self, state: Words, player: int) -> float:
        """Return the value of a state for `player`."""
        own = state[player]
        other = state[1 - player]
        total = 0
        for lane in self.lanes:
            if lane & own:
                if not lane & other:
                    total += self.worth[(lane & own).bit_count()]
            elif lane & other:
                total -= self.worth[(lane & other).bit_count()]
        return max(-0.99, min(0.99, total / self.scale))
