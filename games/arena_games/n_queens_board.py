"""The view of n queens for local search: a mutable board on which moves are evaluated and made in constant time."""

import random
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any

Move = tuple[int, int]
"""A move. (column from 0, row from 1) puts the queen of a column on a row; (column, ~other) swaps the rows of two columns."""

MAX_LOOKS = 12
"""The maximum number of squares that a proposal tries in order to find one with empty diagonals."""
ANY_ROW_SHARE = 0.05
"""The share of proposals that put a queen on a random row, so that every complete state can be reached."""
BLIND_SHARE = 0.15
"""The share of proposals that are random, including the moves to a random row. So every good move can be proposed."""


class ConflictPool:
    """A set of small integers for random draws. Outdated items are removed when they are drawn."""

    __slots__ = ("_inside", "items")

    def __init__(self, items: Iterable[int], most: int) -> None:
        self.items = list(items)
        self._inside = bytearray(most + 1)
        for item in self.items:
            self._inside[item] = 1

    def add(self, item: int) -> None:
        """Add an item, unless it is in the set."""
        if not self._inside[item]:
            self._inside[item] = 1
            self.items.append(item)

    def drop(self, place: int) -> None:
        """Remove the item at an index of `items`; the last item takes its place."""
        items = self.items
        self._inside[items[place]] = 0
        items[place] = items[-1]
        items.pop()


def count_lines(n: int, rows: Iterable[int]) -> tuple[list[int], list[int], list[int], int]:
    """Return the numbers of queens on each row, each rising and each falling diagonal, and the number of pairs that share such a
    line. It takes O(n).
    """
    level, rising, falling = [0] * (n + 1), [0] * (2 * n), [0] * (2 * n)
    pairs = 0
    for column, row in enumerate(rows):
        up, down = row + column, row - column
        pairs += level[row] + rising[up] + falling[down]
        level[row] += 1
        rising[up] += 1
        falling[down] += 1
    return level, rising, falling, pairs


class QueensBoard:
    """A board with one queen per column, which local search changes in place: the `local` view of `n-queens`.

    `cost` is the number of attacking pairs. `delta` and `apply` take constant time for every size, apart from an O(n) setup at
    the first move. Only `state()` copies data. In addition to the methods of every view, it offers `conflicted(rng)`, a random
    queen under attack, for min-conflicts, and `moves(column)`, all moves of one queen or of all, for steepest ascent. Neither
    method generates states. A board takes about 130 bytes per queen.
    """

    __slots__ = ("_attacked", "_falling", "_level", "_n", "_on_falling", "_on_level", "_on_rising", "_open", "_pack",
                 "_rising", "_rows", "_tracking", "cost")  # fmt: skip

    def __init__(self, rows: Sequence[int], pack: Callable[[Iterable[int]], Any]) -> None:
        self._n = n = len(rows)
        self._rows = list(rows)
        self._pack = pack
        # The number of queens on each row and on each diagonal. The index of a falling diagonal is row - column; negative indices
        # count from the end, as usual in Python.
        self._level, self._rising, self._falling, self.cost = count_lines(n, rows)
        """The number of pairs of queens that attack each other, even if others are between them."""
        self._tracking = False
        """Whether the data for moves has been set up; many boards are made only for their cost."""

    def _track(self) -> None:
        """Set up the data for moves before the first one. It takes O(n)."""
        n = self._n
        # For each line, the exclusive or of the columns of its queens. If the line has one queen, this is her column.
        self._on_level = on_level = array("i", bytes(4 * (n + 1)))
        self._on_rising = on_rising = array("i", bytes(8 * n))
        self._on_falling = on_falling = array("i", bytes(8 * n))
        for column, row in enumerate(self._rows):
            on_level[row] ^= column
            on_rising[row + column] ^= column
            on_falling[row - column] ^= column
        self._attacked = ConflictPool(range(n), n)
        """Every queen under attack, and some others, which are removed when they are drawn."""
        self._open = ConflictPool([row for row in range(1, n + 1) if not self._level[row]], n)
        """Every row without a queen, and some rows with one."""
        self._tracking = True

    def state(self) -> Any:
        """Return the state of the board."""
        return self._pack(self._rows)

    def moves(self, column: int | None = None) -> list[Move]:
        """Return the moves of the queen in a column to other rows, in order; without a column, the moves of all queens."""
        columns = range(self._n) if column is None else (column,)
        rows = self._rows
        return [(column, row) for column in columns for row in range(1, self._n + 1) if row != rows[column]]

    def conflicted(self, rng: random.Random) -> int | None:
        """Return the column of a random queen under attack; None if there is none."""
        if not self._tracking:
            self._track()
        items, rows, draw = self._attacked.items, self._rows, rng.random
        level, rising, falling = self._level, self._rising, self._falling
        while items:
            place = int(draw() * len(items))
            column = items[place]
            row = rows[column]
            if level[row] > 1 or rising[row + column] > 1 or falling[row - column] > 1:
                return column
            self._attacked.drop(place)
        return None

    def propose(self, rng: random.Random) -> Move:
        """Return a promising move for a queen under attack, or for any queen if no queen is attacked.

        A queen that shares its row moves to a row without a queen. If no square that was tried has empty diagonals, it swaps rows
        with another column in half of the cases instead. A queen that is attacked only on diagonals always swaps rows. So each
        row soon has one queen and mostly keeps one, which works well on large boards (R. Sosic, J. Gu, A Polynomial Time
        Algorithm for the N-Queens Problem, 1990). A small share of the moves is random.
        """
        column = self.conflicted(rng)
        draw = rng.random
        if column is None:
            column = int(draw() * self._n)
        if self._n == 1:
            return column, 1
        chance = draw()
        if chance < ANY_ROW_SHARE:
            return column, 1 + int(draw() * self._n)
        looks = 1 if chance < BLIND_SHARE else MAX_LOOKS
        if self._level[self._rows[column]] > 1:
            row, good = self._open_row(column, looks, rng)
            if good or draw() < 0.5:
                return column, row
        return column, ~self._partner(column, looks, rng)

    def _open_row(self, column: int, looks: int, rng: random.Random) -> tuple[int, bool]:
        """Return a row without a queen, and whether its diagonals at `column` are empty. Such a row exists if two queens share a
        row.
        """
        rows, level, draw = self._open.items, self._level, rng.random
        rising, falling = self._rising, self._falling
        while True:
            place = int(draw() * len(rows))
            row = rows[place]
            if level[row]:
                self._open.drop(place)
            elif not (rising[row + column] or falling[row - column]):
                return row, True
            elif looks <= 1:
                return row, False
            else:
                looks -= 1

    def _partner(self, column: int, looks: int, rng: random.Random) -> int:
        """Return another column, if possible one whose row has empty diagonals at `column`."""
        rows, draw, others = self._rows, rng.random, self._n - 1
        rising, falling = self._rising, self._falling
        other = column
        for _ in range(looks):
            other = int(draw() * others)
            if other >= column:
                other += 1
            row = rows[other]
            if not (rising[row + column] or falling[row - column]):
                break
        return other

    def delta(self, move: Move) -> int:
        """Return the change in cost that a move makes."""
        column, target = move
        row = self._rows[column]
        rising, falling = self._rising, self._falling
        if target > 0:
            if target == row:
                return 0
            level = self._level
            return (
                level[target] + rising[target + column] + falling[target - column] + 3
                - level[row] - rising[row + column] - falling[row - column]
            )  # fmt: skip
        other = ~target
        target = self._rows[other]
        if target == row:
            return 0
        change = (
            rising[target + column] + rising[row + other] + falling[target - column] + falling[row - other] + 4
            - rising[row + column] - rising[target + other] - falling[row - column] - falling[target - other]
        )  # fmt: skip
        if abs(row - target) == abs(column - other):  # they attack each other now, and also after the swap
            change += 2
        return change

    def apply(self, move: Move) -> None:
        """Make a move."""
        if not self._tracking:
            self._track()
        column, target = move
        if target < 0:
            self._swap(column, ~target)
        elif target != self._rows[column]:
            self._move(column, target)

    def _move(self, column: int, target: int) -> None:
        row, level, on_level = self._rows[column], self._level, self._on_level
        self._lift(column, row)
        level[row] = left = level[row] - 1
        on_level[row] ^= column
        if not left:
            self._open.add(row)
        met = level[target]
        if met:
            self._attacked.add(column)
            if met == 1:
                self._attacked.add(on_level[target])
        level[target] = met + 1
        on_level[target] ^= column
        self.cost += met - left
        self._land(column, target)

    def _swap(self, column: int, other: int) -> None:
        row, target = self._rows[column], self._rows[other]
        if row == target:
            return
        self._on_level[row] ^= column ^ other
        self._on_level[target] ^= column ^ other
        self._lift(column, row)
        self._lift(other, target)
        self._land(column, target)
        self._land(other, row)
        if self._level[target] > 1:
            self._attacked.add(column)
        if self._level[row] > 1:
            self._attacked.add(other)

    def _lift(self, column: int, row: int) -> None:
        """Take a queen off its diagonals."""
        rising, falling = self._rising, self._falling
        up, down = row + column, row - column
        rising[up] = on_up = rising[up] - 1
        falling[down] = on_down = falling[down] - 1
        self.cost -= on_up + on_down
        self._on_rising[up] ^= column
        self._on_falling[down] ^= column

    def _land(self, column: int, row: int) -> None:
        """Put a queen on a square and its diagonals. If another queen was alone on a diagonal, both are now under attack."""
        self._rows[column] = row
        rising, falling = self._rising, self._falling
        up, down = row + column, row - column
        on_up, on_down = rising[up], falling[down]
        if on_up or on_down:
            self.cost += on_up + on_down
            self._attacked.add(column)
            if on_up == 1:
                self._attacked.add(self._on_rising[up])
            if on_down == 1:
                self._attacked.add(self._on_falling[down])
        rising[up] = on_up + 1
        falling[down] = on_down + 1
        self._on_rising[up] ^= column
        self._on_falling[down] ^= column
