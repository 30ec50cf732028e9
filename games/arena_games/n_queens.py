"""N queens: one queen in every column of a board of n by n cells, so that no two attack each other.

A state holds the rows of the queens, from 1, column by column. In the incremental formulation, it covers the first columns; in
the complete one, all of them. With up to 255 columns, it is a bytes object (8 queens take 41 bytes), otherwise a tuple.
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

from arena import Puzzle, encoding, heuristic
from arena.compiled import Grid, Words
from arena_games.n_queens_board import QueensBoard, count_lines

Side = Annotated[int, Field(ge=1)]
State = Sequence[int]

MAX_BYTE = 255
"""The largest row that fits in a byte, and the maximum number of columns for compiled searches."""
NUMPY_QUEENS = 50_000
"""From this number of queens on, importing numpy saves time."""
TRIES_PER_QUEEN = 3.08
"""The largest number of draws in `greedy_rows` per queen."""


class NQueens(Puzzle):
    """Put a queen in every column so that no two share a row or a diagonal.

    Also called the 8 queens problem or eight queens. The board has `n` rows and `n` columns. An action is the row of the queen in
    the next column, from 1. No earlier queen may attack its square unless the option `actions: all` is set. Local and genetic
    search move the queens of a complete state. They begin with random rows. With `start: greedy`, which is meant for large
    boards, the rows are drawn one after another so that few queens attack each other. With `placed`, the first columns have this
    many queens at the start, and a solution must keep them. On boards of up to 255 columns, a third of the queens may be placed.
    Their rows are drawn one after another from those that are not attacked, so some positions have no solution. Text notation:
    the rows by column `3 1 4 2`, `-` for the empty board. With 2 or 3 columns, there is no solution, and a search has to find
    this out.
    """

    name = "n-queens"
    rules_text = (
        "Put one queen into every column of a square board, so that no two queens stand in the same row or on the same "
        "diagonal. The columns are filled from left to right. A move is the row of the queen in the next column, counted from "
        "1. A position is written as the rows of the queens so far, in the order of the columns: `3 1 4 2`; it is `-` for the "
        "empty board."
    )
    path_matters: ClassVar[bool] = False
    default_heuristic: ClassVar[str | None] = "conflicts"
    board = "boards/n_queens.js"

    def __init__(
        self,
        *,
        n: Side = 8,
        actions: Literal["safe", "all"] = "safe",
        start: Literal["random", "greedy"] = "random",
        placed: Annotated[int, Field(ge=0)] = 0,
    ) -> None:
        if n < 1:
            raise ValueError(f"n: expected 1 or more, got {n}")
        most = (n + 2) // 3 if n <= MAX_BYTE else 0  # a queen attacks at most three rows of a column, so a row is left
        if not 0 <= placed <= most:
            raise ValueError(f"placed: expected 0 to {most} for {n} columns, got {placed}")
        if n in (2, 3):
            warnings.warn(f"{n} queens have no solution; the search will still run", stacklevel=2)
        self.n = n
        if start not in ("random", "greedy"):
            raise ValueError(f"start: expected random or greedy, got {start}")
        self.safe = actions == "safe"
        self.greedy = start == "greedy"
        self.placed = placed
        self._pack: Callable[[Iterable[int]], Any] = bytes if n <= MAX_BYTE else tuple
        self._rows = range(1, n + 1)

    def initial(self, rng: random.Random) -> State:
        """Return the board with the queens that are placed at the start; without them, the empty board."""
        state: State = self._pack(())
        for _ in range(self.placed):
            state = self.result(state, rng.choice(self._find_safe(state)))
        return state

    def actions(self, state: State) -> Sequence[int]:
        """Return the rows for the queen in the next column; none on a full board."""
        if len(state) == self.n:
            return ()
        return self._find_safe(state) if self.safe else self._rows

    def _find_safe(self, state: State) -> list[int]:
        """Return the rows of the next column that no queen attacks."""
        placed = len(state)
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
        """Return whether all queens are on the board and no two attack each other. It takes O(n)."""
        n = self.n
        if n >= NUMPY_QUEENS and len(state) == n and has_numpy() and set(map(type, state)) == {int}:
            return is_solution(state)
        if len(state) != n or len(set(state)) != n or min(state) != 1 or max(state) != n:
            return False
        columns = range(n)
        if len(set(map(add, state, columns))) != n or len(set(map(sub, state, columns))) != n:
            return False
        return set(map(type, state)) == {int}  # an answer may have values of other types

    def is_answer(self, position: State, state: State) -> bool:
        """Return whether a state is a goal that keeps the queens of a position.

        If a position has a queen in every column, its queens need not stay, because such a position is a board to repair.
        """
        fixed = len(position) if len(position) < self.n else 0
        return self.is_goal(state) and tuple(state[:fixed]) == tuple(position[:fixed])

    def compiled(self) -> "QueensGrid | None":
        """Return the rules written with whole numbers; None for boards of more than 255 columns."""
        return QueensGrid(self.n, safe=self.safe) if self.n <= MAX_BYTE else None

    def random_state(self, rng: random.Random) -> State:
        """Return a complete state with random rows. With `start: greedy`, all rows are different, and few queens attack each
        other.
        """
        if self.greedy:
            return self._pack(greedy_rows(self.n, rng))  # type: ignore[no-any-return]
        if self.n >= NUMPY_QUEENS and has_numpy():
            return self._pack(any_rows(self.n, rng))  # type: ignore[no-any-return]
        state: State = self._pack(rng.choices(self._rows, k=self.n))
        return state

    def neighbors(self, state: State) -> Sequence[State]:
        """Return the n (n - 1) complete states that differ in one queen, in the order of columns and then of rows.

        They take O(n^3) memory, so use `local` for more than a few hundred queens.
        """
        single = [self._pack((row,)) for row in self._rows]
        found = []
        for column, old in enumerate(state):
            before: Any = state[:column]
            after: Any = state[column + 1 :]
            found += [before + queen + after for row, queen in enumerate(single, 1) if row != old]
        return found

    def crossover(self, a: State, b: State, rng: random.Random) -> State:
        """Return the first columns of `a` with the last ones of `b`, cut at a random place, with at least one column of each."""
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

        Raises ValueError if a column has no queen.
        """
        if len(state) != self.n:
            raise ValueError(f"expected a queen in each of {self.n} columns, got {len(state)}")
        return QueensBoard(state, self._pack)

    def render(self, state: State) -> str:
        """Return the board with row 1 at the top, or the notation if it has more than 100 columns."""
        if self.n > 100:
            return self.format_state(state)
        return "\n".join(
            " ".join("Q" if column < len(state) and state[column] == row else "." for column in range(self.n))
            for row in self._rows
        )

    def format_state(self, state: State) -> str:
        """Return the rows by column, such as `3 1 4 2`, or `-` for the empty board."""
        return " ".join(map(str, state)) or "-"

    def parse_state(self, text: str) -> State:
        """Parse a text such as `3 1 4 2`. Fewer rows than columns leave the last columns empty; `-` leaves all of them empty.

        Queens may attack each other. Raises ValueError for rows outside the board, and for more rows than columns.
        """
        words = text.split()
        if words == ["-"]:
            words = []
        elif not words:
            raise ValueError("expected rows such as '3 1 4 2' or '-' for the empty board, got nothing")
        if len(words) > self.n:
            raise ValueError(f"expected at most {self.n} rows, one per column, got {len(words)}")
        for column, word in enumerate(words, 1):
            if not (word.isascii() and word.isdecimal() and len(word) < 20 and 1 <= int(word) <= self.n):
                raise ValueError(f"expected rows from 1 to {self.n}, got {word[:20]!r} in column {column}")
        state: State = self._pack(map(int, words))
        return state


@heuristic("conflicts", game="n-queens")
def conflicts(game: NQueens, state: State, player: int = 0) -> float:
    """Return the number of pairs of queens that attack each other, even if others are between them. It takes O(n).

    S. Minton and others, Minimizing Conflicts, Artificial Intelligence 58, 1992, search by this number.
    """
    return count_lines(game.n, state)[3]


LOST = 10_000
"""The estimate for a board on which the queens cannot be completed."""


@heuristic("forward-checking", game="n-queens", admissible=True, consistent=True)
def forward_checking(game: NQueens, state: State, player: int = 0) -> float:
    """Return the number of queens that are still missing; 10,000 if a column has no row left, or if queens attack each other.

    A column has no row left if the queens attack every row of it. Such a board has no solution, so a search can leave it out. R.
    Haralick, G. Elliott, Increasing Tree Search Efficiency for Constraint Satisfaction Problems, Artificial Intelligence 14,
    1980, compare this check with others on n queens.
    """
    placed = len(state)
    if count_lines(game.n, state)[3]:
        return LOST
    rows, rising, falling = set(state), {*map(add, state, range(placed))}, {*map(sub, state, range(placed))}
    for column in range(placed, game.n):
        if not any(
            row not in rows and row + column not in rising and row - column not in falling for row in range(1, game.n + 1)
        ):
            return LOST
    return game.n - placed


class QueensGrid(Grid):
    """N queens with whole numbers, for compiled searches that place the queens one by one.

    A state is the number of queens, followed by the row of the queen in each column, or 0. An action is a row.
    """

    players = 1
    tree = True  # the search space is a tree: only one order of moves leads to a state

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
        """Return whether a queen in an earlier column attacks the square in `column` and `row`."""
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
    """Return whether numpy is installed. It draws and checks large boards faster."""
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

    For each column, a free row is drawn until no earlier queen attacks it, but there are at most 3.08 n draws for all columns
    together. After that, the remaining rows are assigned to the remaining columns at random. R. Sosic, J. Gu, Efficient Local
    Search with Conflict Minimization, IEEE Transactions on Knowledge and Data Engineering 6, 1994 (QS4, initial search).
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


@encoding("planes", game="n-queens", shape=lambda game: (game.n, game.n))
def n_queens_planes(game: NQueens, observation: Sequence[int], seat: int) -> list[int]:
    """Return the board with a 1 for each queen."""
    cells = [0] * game.n**2
    for column, row in enumerate(observation):
        cells[(row - 1) * game.n + column] = 1
    return cells
