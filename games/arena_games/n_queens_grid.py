"""N queens over whole numbers, for compiled searches that put one queen after the other."""

from collections.abc import Iterator, Sequence

from arena.compiled import Grid, Words

MOST = 255
"""Columns up to which a state is kept in words."""


class QueensGrid(Grid):
    """A state is the number of queens, and for every column the row of its queen, 0 without one. An action is a row."""

    players = 1
    tree = True  # a state tells in which order its queens were put

    def __init__(self, n: int, *, safe: bool) -> None:
        self.n = n
        self.safe = safe
        self.words = n + 1
        self.width = n

    def encode(self, state: Sequence[int]) -> Words:
        """Return how many queens there are, and their rows."""
        return (len(state), *state, *[0] * (self.n - len(state)))

    def actions(self, state: Sequence[int]) -> Iterator[int]:
        """Yield the rows for the queen in the next column."""
        if state[0] < self.n:
            for row in range(1, self.n + 1):
                if not self.safe or not self.attacked(state, state[0], row):
                    yield row

    def attacked(self, state: Sequence[int], column: int, row: int) -> bool:
        """Tell whether a queen in one of the columns before attacks a row of a column."""
        for before in range(column):
            other = state[before + 1]
            if other == row or other - row == column - before or row - other == column - before:
                return True
        return False

    def is_goal(self, state: Sequence[int]) -> bool:
        """Tell whether there are as many queens as columns and no two attack each other."""
        if state[0] != self.n:
            return False
        for column in range(1, self.n):  # noqa: SIM110 - compiled code knows loops alone
            if self.attacked(state, column, state[column + 1]):
                return False
        return True

    def apply(self, state: list[int], action: int) -> None:
        """Put a queen in the next column."""
        state[0] += 1
        state[state[0]] = action
