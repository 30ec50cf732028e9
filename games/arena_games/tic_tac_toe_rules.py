"""Tic-tac-toe over whole numbers, for compiled searches: boards of at most 62 bits."""

from collections.abc import Iterator

from arena.compiled import Estimate, Rules
from arena.compiled.rules import Words

MOST_BITS = 62


class MarkRules(Rules):
    """A state is that of the game: the cells of x and of o. An action is the number of a cell."""

    words = 2

    def __init__(self, bits: list[int], steps: list[int], in_a_row: int) -> None:
        self.bits = bits
        """The bit of every cell by its number; that of 0 is none."""
        self.width = len(bits) - 1
        self.full = sum(bits)
        self.steps = steps
        """By how many bits the next cell of a line is further, in four directions."""
        self.in_a_row = in_a_row

    def encode(self, state: Words) -> Words:
        """Return the state itself."""
        return state

    def to_move(self, state: Words) -> int:
        """Return 0 for x when both have as many marks, else 1 for o."""
        return 0 if state[0].bit_count() == state[1].bit_count() else 1

    def has_line(self, marks: int) -> bool:
        """Tell whether enough marks are in a line."""
        for step in self.steps:
            run = marks
            length = 1
            while length < self.in_a_row:
                more = min(length, self.in_a_row - length)
                run &= run >> (step * more)
                length += more
            if run:
                return True
        return False

    def actions(self, state: Words) -> Iterator[int]:
        """Yield the empty cells in order; none once somebody has a line."""
        taken = state[0] | state[1]
        if not self.has_line(state[0]) and not self.has_line(state[1]):
            for number in range(1, self.width + 1):
                if not taken & self.bits[number]:
                    yield number

    def result(self, state: Words, action: int) -> Words:
        """Put the mark of whoever is to move into a cell."""
        x, o = state
        if x.bit_count() == o.bit_count():
            return (x | self.bits[action], o)
        return (x, o | self.bits[action])

    def is_terminal(self, state: Words) -> bool:
        """Tell whether somebody has a line or the board is full."""
        x, o = state
        return x | o == self.full or self.has_line(x) or self.has_line(o)

    def returns(self, state: Words) -> tuple[float, float]:
        """Return 1 for the side with a line and -1 for the other, 0 for both without one."""
        if self.has_line(state[0]):
            return (1.0, -1.0)
        return (-1.0, 1.0) if self.has_line(state[1]) else (0.0, 0.0)

    def threats(self, state: Words, seat: int) -> Iterator[int]:
        """Yield the empty cells that complete a line of `seat`."""
        own = state[seat]
        taken = state[0] | state[1]
        if not self.has_line(state[0]) and not self.has_line(state[1]):
            for number in range(1, self.width + 1):
                if not taken & self.bits[number] and self.has_line(own | self.bits[number]):
                    yield number


class Lanes(Estimate):
    """The heuristic `open-lanes`."""

    def __init__(self, lanes: list[int], worth: list[int], scale: float) -> None:
        self.lanes = lanes
        self.worth = worth
        self.scale = scale

    def evaluate(self, state: Words, player: int) -> float:
        """Return the value of a state to `player`."""
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
