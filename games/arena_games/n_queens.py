"""N queens: one in every column of a board of n by n, so that no two attack each other.

A state is the rows of the queens, from 1, column by column: a prefix of the columns in the incremental formulation, all of
them in the complete one. Up to 255 columns it is a bytes object (8 queens take 41 bytes), beyond that a tuple.
"""

import random
import warnings
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from operator import add, sub
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from arena import Puzzle, heuristic
from arena.compiled import Grid, Words
from arena_games.n_queens_board import QueensBoard, count_lines

Side = Annotated[int, Field(ge=1)]
State = Sequence[int]

MAX_BYTE = 255
"""The largest row that fits in a byte, and the maximum number of columns for compiled searches."""
NUMPY_QUEENS = 50_000
"""The number of queens from which numpy is worth its import."""
TRIES_PER_QUEEN = 3.08
"""The number of draws of `greedy_rows` for each queen."""


class NQueens(Puzzle):
    """Put a queen in every column so that no two share a row or a diagonal.

    An action is the row of the queen in the next column, from 1: a row without attacks, or any row with `actions: all`.
    Local and genetic search move the queens of a complete state. They begin with random rows. With `start: greedy`, which is
    meant for large boards, the rows are drawn one after another so that few queens attack each other. Text notation: the rows by
    column `3 1 4 2`, `-` for the empty board. With 2 and 3 columns there is no solution, and a search has to find this out.
    """

    name = "n-queens"
    path_matters: ClassVar[bool] = False
    default_heuristic: ClassVar[str | None] = "conflicts"
    board = "boards/n_queens.js"

    def __init__(
        self, *, n: Side = 8, actions: Literal["safe", "all"] = "safe", start: Literal["random", "greedy"] = "random"
    ) -> None:
        if n < 1:
            raise ValueError(f"n: expected 1 or more, got {n}")
        if n in (2, 3):
            warnings.warn(f"{n} queens have no solution; the search runs all the same", stacklevel=2)
        self.n = n
        if start not in ("random", "greedy"):
            raise ValueError(f"start: expected random or greedy, got {start}")
        self.safe = actions == "safe"
        self.greedy = start == "greedy"
        self._pack: Callable[[Iterable[int]], Any] = bytes if n <= MAX_BYTE else tuple
        self._rows = range(1, n + 1)

    def initial(self, rng: random.Random) -> State:
        """Return the empty board."""
        state: State = self._pack(())
        return state

    def actions(self, state: State) -> Sequence[int]:
        """Return the rows for the queen in the next column; none on a full board."""
        placed = len(state)
        if placed == self.n:
            return ()
        if not self.safe:
            return self._rows
        away = range(placed, 0, -1)
        attacked = {*state, *map(add, state, away), *map(sub, state, away)}
        return [row for row in self._rows if row not in attacked]

    def result(self, state: State, action: int) -> State:
        """Put a queen in the next column."""
        return state + self._pack((action,))  # type: ignore[no-any-return]

    def action_space(self) -> Sequence[int]:
        """Return all rows."""
        return self._rows

    def is_goal(self, state: State) -> bool:
        """Return whether all queens stand on rows of the board and no two attack each other. O(n)."""
        n = self.n
        if n >= NUMPY_QUEENS and len(state) == n and has_numpy() and set(map(type, state)) == {int}:
            return is_solution(state)
        if len(state) != n or len(set(state)) != n or min(state) != 1 or max(state) != n:
            return False
        columns = range(n)
        if len(set(map(add, state, columns))) != n or len(set(map(sub, state, columns))) != n:
            return False
        return set(map(type, state)) == {int}  # an invented answer may have other types

    def is_answer(self, position: State, state: State) -> bool:
        """Return whether a state is a goal that keeps the queens of a position.

        A position with a queen in every column fixes nothing: it is a board to repair.
        """
        fixed = len(position) if len(position) < self.n else 0
        return self.is_goal(state) and tuple(state[:fixed]) == tuple(position[:fixed])

    def compiled(self) -> "QueensGrid | None":
        """Return the rules over whole numbers; None for boards of more than 255 columns."""
        return QueensGrid(self.n, safe=self.safe) if self.n <= MAX_BYTE else None

    def random_state(self, rng: random.Random) -> State:
        """Return a complete state: every queen on any row of its column with equal chance; with `start: greedy` all on different
        rows, placed so that few attack each other.
        """
        if self.greedy:
            return self._pack(greedy_rows(self.n, rng))  # type: ignore[no-any-return]
        if self.n >= NUMPY_QUEENS and has_numpy():
            return self._pack(any_rows(self.n, rng))  # type: ignore[no-any-return]
        state: State = self._pack(rng.choices(self._rows, k=self.n))
        return state

    def neighbors(self, state: State) -> Sequence[State]:
        """Return the n (n - 1) complete states that differ in one queen, by column, then row.

        They take O(n^3) memory, so use `local` for some hundred queens or more.
        """
        single = [self._pack((row,)) for row in self._rows]
        found = []
        for column, old in enumerate(state):
            before: Any = state[:column]
            after: Any = state[column + 1 :]
            found += [before + queen + after for row, queen in enumerate(single, 1) if row != old]
        return found

    def crossover(self, a: State, b: State, rng: random.Random) -> State:
        """Return the first columns of `a` with the last ones of `b`, cut at a random place; at least one of each."""
        if self.n == 1:
            return a
        cut = rng.randrange(1, self.n)
        return a[:cut] + b[cut:]  # type: ignore[operator,no-any-return]

    def mutate(self, state: State, rng: random.Random) -> State:
        """Return a complete state in which one queen, drawn at random, stands on another row."""
        if self.n == 1:
            return state
        rows = list(state)
        column = rng.randrange(self.n)
        row = rng.randrange(1, self.n)
        rows[column] = row + (row >= rows[column])
        changed: State = self._pack(rows)
        return changed

    def local(self, state: State) -> QueensBoard:
        """Return a board with the queens of a complete state, on which a move takes constant time.

        ValueError if there is a column without a queen.
        """
        if len(state) != self.n:
            raise ValueError(f"expected a queen in each of {self.n} columns, got {len(state)}")
        return QueensBoard(state, self._pack)

    def render(self, state: State) -> str:
        """Return the board, row 1 at the top; of more than 100 columns the notation."""
        if self.n > 100:
            return self.format_state(state)
        return "\n".join(
            " ".join("Q" if column < len(state) and state[column] == row else "." for column in range(self.n))
            for row in self._rows
        )

    def format_state(self, state: State) -> str:
        """Return the rows by column `3 1 4 2`, `-` for the empty board."""
        return " ".join(map(str, state)) or "-"

    def parse_state(self, text: str) -> State:
        """Return the state of `3 1 4 2`; fewer rows than columns leave the last columns empty, `-` all of them.

        Queens may attack each other. ValueError for rows outside the board, and for more rows than columns.
        """
        words = text.split()
        if words == ["-"]:
            words = []
        elif not words:
            raise ValueError("expected rows such as '3 1 4 2' or '-' for the empty board, got nothing")
        if len(words) > self.n:
            raise ValueError(f"expected at most {self.n} rows, one a column, got {len(words)}")
        for column, word in enumerate(words, 1):
            if not (word.isascii() and word.isdecimal() and len(word) < 20 and 1 <= int(word) <= self.n):
                raise ValueError(f"expected rows from 1 to {self.n}, got {word[:20]!r} in column {column}")
        state: State = self._pack(map(int, words))
        return state


@heuristic("conflicts", game="n-queens")
def conflicts(game: NQueens, state: State, player: int = 0) -> float:
    """Return the number of pairs of queens that attack each other, also with others between them. O(n)."""
    return count_lines(game.n, state)[3]


class QueensGrid(Grid):
    """N queens over whole numbers, for compiled searches that place the queens one by one.

    A state is the number of queens, and for every column the row of its queen, 0 without one. An action is a row.
    """

    players = 1
    tree = True  # a state determines the order of its moves

    def __init__(self, n: int, *, safe: bool) -> None:
        self.n = n
        self.safe = safe
        self.words = n + 1
        self.width = n

    def encode(self, state: Sequence[int]) -> Words:
        """Return the number of queens, and their rows."""
        return (len(state), *state, *[0] * (self.n - len(state)))

    def actions(self, state: Sequence[int]) -> Iterator[int]:
        """Yield the rows for the queen in the next column."""
        if state[0] < self.n:
            for row in range(1, self.n + 1):
                if not self.safe or not self.attacked(state, state[0], row):
                    yield row

    def attacked(self, state: Sequence[int], column: int, row: int) -> bool:
        """Return whether a queen in one of the columns before attacks a row of a column."""
        for before in range(column):
            other = state[before + 1]
            if other == row or other - row == column - before or row - other == column - before:
                return True
        return False

    def is_goal(self, state: Sequence[int]) -> bool:
        """Return whether there are as many queens as columns and no two attack each other."""
        if state[0] != self.n:
            return False
        for column in range(1, self.n):  # noqa: SIM110 - compiled code has only loops
            if self.attacked(state, column, state[column + 1]):
                return False
        return True

    def apply(self, state: list[int], action: int) -> None:
        """Put a queen in the next column."""
        state[0] += 1
        state[state[0]] = action


@cache
def has_numpy() -> bool:
    """Return whether numpy, which draws and checks large boards faster, is installed."""
    return find_spec("numpy") is not None


def is_solution(rows: Sequence[int]) -> bool:
    """Return whether rows are a solution."""
    import numpy as np

    n = len(rows)
    if min(rows) != 1 or max(rows) != n:
        return False
    queens = np.fromiter(rows, np.int64, n)
    columns = np.arange(n)
    lines = (queens, queens + columns, queens - columns + n)
    return all(bool(np.bincount(line).max() == 1) for line in lines)


def any_rows(n: int, rng: random.Random) -> list[int]:
    """Return n rows, as `rng.choices(range(1, n + 1), k=n)` draws them."""
    import numpy as np

    version, state, gauss = rng.getstate()
    twister = np.random.RandomState()
    twister.set_state(("MT19937", np.array(state[:-1], dtype=np.uint32), state[-1], 0, 0.0))
    found: list[int] = ((twister.random_sample(n) * n).astype(np.int64) + 1).tolist()
    after: Any = twister.get_state()
    rng.setstate((version, (*map(int, after[1]), int(after[2])), gauss))
    return found


def greedy_rows(n: int, rng: random.Random) -> list[int]:
    """Return rows that are all different, drawn so that few queens attack each other.

    For each column a free row is drawn, and taken if no earlier queen attacks it, with 3.08 n tries in all. The other columns get
    the remaining rows at random. R. Sosic, J. Gu, Efficient Local Search with Conflict Minimization, IEEE Transactions on
    Knowledge and Data Engineering 6, 1994 (QS4, initial search).
    """
    rows, draw = array("i", range(1, n + 1)), rng.random
    rising, falling = bytearray(2 * n + 1), bytearray(2 * n + 1)
    column = 0
    for _ in range(int(TRIES_PER_QUEEN * n)):
        if column == n:
            break
        other = column + int(draw() * (n - column))
        row = rows[other]
        if not (rising[row + column] or falling[row - column + n]):
            rising[row + column] = falling[row - column + n] = 1
            rows[other], rows[column] = rows[column], row
            column += 1
    for place in range(column, n):
        other = place + int(draw() * (n - place))
        rows[other], rows[place] = rows[place], rows[other]
    return rows.tolist()
