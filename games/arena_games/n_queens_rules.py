"""N queens in arrays, for compiled local searches, and the start that is drawn greedily."""

from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from arena.compiled import Board
from arena_games.n_queens_board import ANY_ROW, BLIND, LOOKS

LONG = 300_000
"""Queens from which a search in plain Python takes longer than compiling it."""
SWAP = 1 << 31
"""In a move, beside its column in the upper 32 bits: the lower ones name another column to swap rows with, not a row."""
LOWER = SWAP - 1
TRIES = 3.08
"""Tries a queen of the greedy start."""


def _zeros(length: int) -> "array[int]":
    return array("i", bytes(4 * length))


class ArrayPool:
    """The set of a `ConflictPool`, in arrays of fixed length."""

    def __init__(self, items: "array[int]", inside: bytearray, count: int) -> None:
        self.items = items
        self.inside = inside
        self.count = array("q", [count])

    def add(self, item: int) -> None:
        """Put an item in, if it is not there."""
        if self.inside[item] == 0:
            self.inside[item] = 1
            self.items[self.count[0]] = item
            self.count[0] += 1

    def drop(self, place: int) -> None:
        """Take out the item at a place; the last one fills the gap."""
        last = self.count[0] - 1
        self.inside[self.items[place]] = 0
        self.items[place] = self.items[last]
        self.count[0] = last


class QueensRules(Board):
    """The board of `n_queens_board`, method by method, with moves as numbers.

    Of each row and each diagonal a pair of numbers is kept, how many queens stand there and the exclusive or of their columns.
    Memory: 54 bytes a queen.
    """

    def __init__(self, rows: Any, pack: Callable[[Any], Any]) -> None:
        n = len(rows)
        self.n = n
        self.width = n * (n - 1)
        self.long = n >= LONG
        self.rows: array[int] = array("i", list(rows))
        self.level = _zeros(2 * (n + 1))
        self.rising = _zeros(2 * (2 * n + 1))
        self.falling = _zeros(2 * (2 * n + 1))
        self.attacked = ArrayPool(array("i", range(n)), bytearray(b"\1" * n + b"\0"), n)
        self.open = ArrayPool(_zeros(n), bytearray(n + 1), 0)
        self.cost = array("q", [0])
        self._pack = pack

    def state(self) -> Any:
        """Return the state of the puzzle."""
        return self._pack(self.rows.tolist())

    def begin(self) -> None:
        """Count the queens of every line. A falling diagonal is row - column + n."""
        rows, level, rising, falling, n = self.rows, self.level, self.rising, self.falling, self.n
        cost = 0
        for column in range(n):
            row = rows[column]
            side, up, down = 2 * row, 2 * (row + column), 2 * (row - column + n)
            cost += level[side] + rising[up] + falling[down]
            level[side] += 1
            level[side + 1] ^= column
            rising[up] += 1
            rising[up + 1] ^= column
            falling[down] += 1
            falling[down + 1] ^= column
        for row in range(1, n + 1):
            if level[2 * row] == 0:
                self.open.add(row)
        self.cost[0] = cost

    def encode(self, state: Sequence[int]) -> Sequence[int]:
        """Return the rows."""
        return state

    def decode(self, numbers: Sequence[int]) -> Any:
        """Return the state with these rows."""
        return self._pack(numbers)

    def cost_of(self, state: Sequence[int]) -> int:
        """Return the pairs of queens that attack each other. The counts of all lines are zero before and after."""
        level, rising, falling, n = self.level, self.rising, self.falling, self.n
        cost = 0
        for column in range(n):
            row = state[column]
            side, up, down = 2 * row, 2 * (row + column), 2 * (row - column + n)
            cost += level[side] + rising[up] + falling[down]
            level[side] += 1
            rising[up] += 1
            falling[down] += 1
        for column in range(n):
            row = state[column]
            level[2 * row] = 0
            rising[2 * (row + column)] = 0
            falling[2 * (row - column + n)] = 0
        return cost

    def crossover(self, a: Sequence[int], b: Sequence[int], child: list[int], rng: Any) -> None:
        """Write the first columns of `a` with the last ones of `b`, cut at a random place."""
        cut = 1
        if self.n > 1:
            cut = rng.randrange(1, self.n)
        for column in range(self.n):
            child[column] = a[column] if column < cut else b[column]

    def mutate(self, state: list[int], rng: Any) -> None:
        """Put one queen, drawn at random, on another row."""
        if self.n > 1:
            column = rng.randrange(self.n)
            row = rng.randrange(1, self.n)
            if row >= state[column]:
                row += 1
            state[column] = row

    def moves(self) -> Iterator[int]:
        """Yield the moves of all queens to other rows, by column, then row."""
        for column in range(self.n):
            for row in range(1, self.n + 1):
                if row != self.rows[column]:
                    yield (column << 32) | row

    def conflicted(self, rng: Any) -> int:
        """Return the column of a queen under attack; any column where none is."""
        items = self.attacked.items
        while self.attacked.count[0] > 0:
            place = int(rng.random() * self.attacked.count[0])
            column = items[place]
            row = self.rows[column]
            if self.level[2 * row] > 1 or self.rising[2 * (row + column)] > 1 or self.falling[2 * (row - column + self.n)] > 1:
                return column
            self.attacked.drop(place)
        return int(rng.random() * self.n)

    def propose(self, rng: Any) -> int:
        """Return a promising move of a queen under attack, or of any queen where none is."""
        column = self.conflicted(rng)
        if self.n == 1:
            return 1
        chance = rng.random()
        if chance < ANY_ROW:
            return (column << 32) | (1 + int(rng.random() * self.n))
        looks = 1 if chance < BLIND else LOOKS
        if self.level[2 * self.rows[column]] > 1:
            row = self.open_row(column, looks, rng)
            if row > 0:
                return (column << 32) | row
            if rng.random() < 0.5:
                return (column << 32) | -row
        return (column << 32) | SWAP | self.partner(column, looks, rng)

    def open_row(self, column: int, looks: int, rng: Any) -> int:
        """Return a row without a queen, negative where its diagonals at `column` are not empty."""
        items = self.open.items
        while True:
            place = int(rng.random() * self.open.count[0])
            row = items[place]
            if self.level[2 * row] > 0:
                self.open.drop(place)
            elif self.rising[2 * (row + column)] == 0 and self.falling[2 * (row - column + self.n)] == 0:
                return row
            elif looks <= 1:
                return -row
            else:
                looks -= 1

    def partner(self, column: int, looks: int, rng: Any) -> int:
        """Return another column, if possible one whose row has empty diagonals at `column`."""
        other = column
        for _ in range(looks):
            other = int(rng.random() * (self.n - 1))
            if other >= column:
                other += 1
            row = self.rows[other]
            if self.rising[2 * (row + column)] == 0 and self.falling[2 * (row - column + self.n)] == 0:
                break
        return other

    def delta(self, move: int) -> int:
        """Return by how much a move would change the cost."""
        column, target = move >> 32, move & LOWER
        rising, falling, n = self.rising, self.falling, self.n
        row = self.rows[column]
        up, down = 2 * (row + column), 2 * (row - column + n)
        if not move & SWAP:
            if target == row:
                return 0
            return (
                self.level[2 * target] + rising[2 * (target + column)] + falling[2 * (target - column + n)] + 3
                - self.level[2 * row] - rising[up] - falling[down]
            )  # fmt: skip
        other = target
        target = self.rows[other]
        if target == row:
            return 0
        change = (
            rising[2 * (target + column)] + rising[2 * (row + other)] + falling[2 * (target - column + n)]
            + falling[2 * (row - other + n)] + 4 - rising[up] - rising[2 * (target + other)] - falling[down]
            - falling[2 * (target - other + n)]
        )  # fmt: skip
        if abs(row - target) == abs(column - other):  # they attack each other on a diagonal, and will on the other one
            change += 2
        return change

    def apply(self, move: int) -> None:
        """Make a move."""
        column, target = move >> 32, move & LOWER
        if move & SWAP:
            self.swap(column, target)
        elif target != self.rows[column]:
            self.put(column, target)

    def put(self, column: int, target: int) -> None:
        """Put a queen on another row."""
        row, level = self.rows[column], self.level
        self.lift(column, row)
        left = level[2 * row] - 1
        level[2 * row] = left
        level[2 * row + 1] ^= column
        if left == 0:
            self.open.add(row)
        met = level[2 * target]
        if met > 0:
            self.attacked.add(column)
            if met == 1:
                self.attacked.add(level[2 * target + 1])
        level[2 * target] = met + 1
        level[2 * target + 1] ^= column
        self.cost[0] += met - left
        self.land(column, target)

    def swap(self, column: int, other: int) -> None:
        """Swap the rows of two columns."""
        row, target, level = self.rows[column], self.rows[other], self.level
        if row != target:
            level[2 * row + 1] ^= column ^ other
            level[2 * target + 1] ^= column ^ other
            self.lift(column, row)
            self.lift(other, target)
            self.land(column, target)
            self.land(other, row)
            if level[2 * target] > 1:
                self.attacked.add(column)
            if level[2 * row] > 1:
                self.attacked.add(other)

    def lift(self, column: int, row: int) -> None:
        """Take a queen off its diagonals."""
        rising, falling = self.rising, self.falling
        up, down = 2 * (row + column), 2 * (row - column + self.n)
        on_up, on_down = rising[up] - 1, falling[down] - 1
        rising[up] = on_up
        falling[down] = on_down
        rising[up + 1] ^= column
        falling[down + 1] ^= column
        self.cost[0] -= on_up + on_down

    def land(self, column: int, row: int) -> None:
        """Put a queen on a square and its diagonals."""
        self.rows[column] = row
        rising, falling = self.rising, self.falling
        up, down = 2 * (row + column), 2 * (row - column + self.n)
        on_up, on_down = rising[up], falling[down]
        if on_up > 0 or on_down > 0:
            self.cost[0] += on_up + on_down
            self.attacked.add(column)
            if on_up == 1:
                self.attacked.add(rising[up + 1])
            if on_down == 1:
                self.attacked.add(falling[down + 1])
        rising[up] = on_up + 1
        falling[down] = on_down + 1
        rising[up + 1] ^= column
        falling[down + 1] ^= column


class GreedyStart(Board):
    """Rows that are all different, drawn so that few queens attack each other; with `draw` nothing is to be searched yet.

    Column by column a row that is still free is drawn, and taken where no queen before attacks it, in 3.08 n tries in all; the
    columns that are left get what rows are left by lot. R. Sosic, J. Gu, Efficient Local Search with Conflict Minimization,
    IEEE Transactions on Knowledge and Data Engineering 6, 1994 (QS4, initial search).
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.tries = int(TRIES * n)
        self.long = n >= LONG
        self.rows = array("i", range(1, n + 1))
        self.rising = bytearray(2 * n + 1)
        self.falling = bytearray(2 * n + 1)

    def draw(self, rng: Any) -> None:
        """Draw the rows."""
        rows, rising, falling, n = self.rows, self.rising, self.falling, self.n
        column = 0
        for _ in range(self.tries):
            if column == n:
                break
            other = column + int(rng.random() * (n - column))
            row = rows[other]
            if rising[row + column] == 0 and falling[row - column + n] == 0:
                rising[row + column] = 1
                falling[row - column + n] = 1
                rows[other] = rows[column]
                rows[column] = row
                column += 1
        while column < n:
            other = column + int(rng.random() * (n - column))
            row = rows[other]
            rows[other] = rows[column]
            rows[column] = row
            column += 1
