"""Sliding tiles: the 8-puzzle, the 15-puzzle and their relatives of any size.

A state holds a tile for every cell, row by row, with 0 for the blank. With up to 256 cells, it is a bytes object: a slide swaps
two values, which `bytes.translate` does in one call.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from arena import Puzzle, encoding, heuristic
from arena.api.errors import abbreviate
from arena_games.sliding_rules import MAX_CELLS, SlidingRules, TileSums

Side = Annotated[int, Field(ge=2, le=100)]
Shuffle = Annotated[int, Field(ge=0, le=1_000_000)]
State = Sequence[int]

MAX_BYTES_CELLS = 256
"""The largest number of cells for states that are bytes objects."""
MAX_LINES = 1 << 17
"""The size of the cache for contents of a line: enough for all 43,680 contents of a row of the 15-puzzle, but not for wide
boards.
"""


class SlidingTiles(Puzzle):
    """Slide tiles into the blank until they are in order.

    Also called the n-puzzle: the 8-puzzle, eight puzzle, has 3 rows, and the 15-puzzle, fifteen puzzle, has 4. The board has
    `rows` rows and `columns` columns. `goal` says whether the blank is the first or the last cell of the goal. An action is the
    number of the tile that slides. With `shuffle`, a position is the result of this many random moves from the goal; without it,
    all solvable positions are equally likely. Text notation: `1 2 3 / 4 5 6 / 7 8 .`. W. W. Johnson and W. E. Story, Notes on the
    15 Puzzle, 1879.
    """

    name = "sliding-tiles"
    rules_text = (
        "Numbered tiles lie in a grid with one empty cell. A move slides a tile next to the empty cell, in its row or "
        "column, into it. The goal is that the tiles are in order, row by row, with the empty cell at the end, or at the "
        "beginning if `goal` is blank-first. Use as few moves as possible. A move is the number of the tile that slides. "
        "A position is written row by row from the top, with a dot for the empty cell: `1 2 3 / 4 5 6 / 7 8 .`."
    )
    default_heuristic: ClassVar[str | None] = "manhattan"
    board = "boards/sliding_tiles.js"

    def __init__(
        self,
        *,
        rows: Side = 3,
        columns: Side = 3,
        shuffle: Shuffle | None = None,
        goal: Literal["blank-last", "blank-first"] = "blank-last",
    ) -> None:
        self.rows = rows
        self.columns = columns
        self.shuffle = shuffle
        cells = rows * columns
        tiles = [*range(1, cells), 0] if goal == "blank-last" else list(range(cells))
        self._pack: Callable[[Iterable[int]], Any] = bytes if cells <= MAX_BYTES_CELLS else tuple
        self.goal: State = self._pack(tiles)
        self._slides: list[Callable[[State], tuple[int, ...]]] = [
            itemgetter(*self.beside(cell)) for cell in range(cells)
        ]  # every cell has two neighbours or more, so each gives a tuple
        self._swaps: list[bytes] = []
        for tile in range(cells) if cells <= MAX_BYTES_CELLS else ():
            table = bytearray(range(256))
            table[0], table[tile] = tile, 0
            self._swaps.append(bytes(table))

    def beside(self, cell: int) -> list[int]:
        """Return the cells next to a cell: above, to the left, to the right, below."""
        row, column = divmod(cell, self.columns)
        places = ((row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column))
        return [r * self.columns + c for r, c in places if 0 <= r < self.rows and 0 <= c < self.columns]

    def initial(self, rng: random.Random) -> State:
        """Return the state after `shuffle` random moves from the goal or, without `shuffle`, a random solvable position."""
        if self.shuffle is None:
            return self._uniform(rng)
        state = self.goal
        for _ in range(self.shuffle):
            state = self.result(state, rng.choice(self.actions(state)))
        return state

    def _uniform(self, rng: random.Random) -> State:
        tiles = list(self.goal)
        rng.shuffle(tiles)
        if not self._solvable(tiles):  # swapping tiles 1 and 2 turns an unsolvable position into a solvable one
            one, two = tiles.index(1), tiles.index(2)
            tiles[one], tiles[two] = 2, 1
        state: State = self._pack(tiles)
        return state

    def _solvable(self, tiles: Sequence[int]) -> bool:
        """Return whether the goal can be reached. Every slide swaps two values and moves the blank by one cell, so the parity
        of the permutation and the parity of the blank's cell change together.
        """
        place = {tile: cell for cell, tile in enumerate(self.goal)}
        odd = False
        seen = [False] * len(tiles)
        for start in range(len(tiles)):
            cell, length = start, 0
            while not seen[cell]:
                seen[cell] = True
                cell = place[tiles[cell]]
                length += 1
            odd ^= length > 0 and length % 2 == 0
        blank, home = divmod(tiles.index(0), self.columns), divmod(place[0], self.columns)
        return odd == bool((blank[0] - home[0] + blank[1] - home[1]) % 2)

    def actions(self, state: State) -> Sequence[int]:
        """Return the tiles next to the blank: above, to the left, to the right, below."""
        return self._slides[state.index(0)](state)

    def result(self, state: State, action: int) -> State:
        """Slide a tile into the blank."""
        if type(state) is bytes:
            return state.translate(self._swaps[action])
        blank, place = state.index(0), state.index(action)
        tiles = list(state)
        tiles[blank], tiles[place] = action, 0
        return tuple(tiles)

    def is_goal(self, state: State) -> bool:
        """Return whether all tiles are in order."""
        return state == self.goal

    def is_terminal(self, state: State) -> bool:
        """Return whether the goal is reached. This puzzle has no dead ends."""
        return state == self.goal

    def action_space(self) -> Sequence[int]:
        """Return all tiles."""
        return range(1, self.rows * self.columns)

    def compiled(self) -> SlidingRules | None:
        """Return the rules written with whole numbers; None for boards of more than 16 cells."""
        cells = self.rows * self.columns
        return SlidingRules([self.beside(cell) for cell in range(cells)], bytes(self.goal)) if cells <= MAX_CELLS else None

    def render(self, state: State) -> str:
        """Return the board with a line per row and a dot for the blank."""
        width = len(str(len(state) - 1))
        return "\n".join(" ".join(f"{tile or '.':>{width}}" for tile in row) for row in self._rows(state))

    def _rows(self, state: State) -> list[Sequence[int]]:
        return [state[start : start + self.columns] for start in range(0, len(state), self.columns)]

    def format_state(self, state: State) -> str:
        """Return the text notation, such as `1 2 3 / 4 5 6 / 7 8 .`."""
        return " / ".join(" ".join(str(tile or ".") for tile in row) for row in self._rows(state))

    def parse_state(self, text: str) -> State:
        """Parse a text such as `1 2 3 / 4 5 6 / 7 8 .`. The blank may also be 0, and slashes may be left out.

        Raises ValueError for wrong tiles, rows of the wrong length, and positions that cannot be solved.
        """
        if "/" in text:
            lengths = [len(row.split()) for row in text.split("/")]
            if lengths != [self.columns] * self.rows:
                raise ValueError(f"expected {self.rows} rows of {self.columns} tiles, got {abbreviate(text)}")
        words = text.replace("/", " ").replace(".", " 0 ").split()
        cells = self.rows * self.columns
        try:
            tiles = [int(word) for word in words]
        except ValueError:
            raise ValueError(f"expected numbers and one dot, got {abbreviate(text)}") from None
        if sorted(tiles) != list(range(cells)):
            raise ValueError(f"expected each of 1 to {cells - 1} and one dot, got {abbreviate(text)}")
        if not self._solvable(tiles):
            raise ValueError(f"unsolvable: no sequence of slides leads from {abbreviate(text)} to the goal (odd parity)")
        state: State = self._pack(tiles)
        return state

    def parse_action(self, state: State, text: str) -> int:
        """Return the tile that `text` names. Raises ValueError if it is not next to the blank."""
        legal = self.actions(state)
        if text.strip() not in map(str, legal):
            raise ValueError(f"expected one of the tiles {', '.join(map(str, legal))}, got {abbreviate(text)}")
        return int(text)


class Lines(dict[Sequence[int], int]):
    """A number for every content of one row or column, computed on first use and cached."""

    def __init__(self, compute: Callable[[int, Sequence[int]], int], number: int) -> None:
        self._compute = compute
        self._number = number

    def __missing__(self, tiles: Sequence[int]) -> int:
        found = self._compute(self._number, tiles)
        if len(self) < MAX_LINES:
            self[tiles] = found
        return found


def row_lines(game: SlidingTiles, compute: Callable[[int, Sequence[int]], int]) -> list[tuple[slice, Lines]]:
    """Return, for each row, its cells and its numbers, which `compute` returns for the index of the row and its tiles."""
    return [(slice(r * game.columns, (r + 1) * game.columns), Lines(compute, r)) for r in range(game.rows)]


def column_lines(game: SlidingTiles, compute: Callable[[int, Sequence[int]], int]) -> list[tuple[slice, Lines]]:
    """Return, for each column, its cells and its numbers, as `row_lines` does for each row."""
    return [(slice(c, None, game.columns), Lines(compute, c)) for c in range(game.columns)]


def cells_from_home(game: SlidingTiles, tile: int, cell: int) -> int:
    """Return the number of rows and columns between a cell and the goal of a tile."""
    home = game.goal.index(tile)
    return abs(home // game.columns - cell // game.columns) + abs(home % game.columns - cell % game.columns)


class LineSums:
    """An estimate that is a sum of numbers for rows and columns."""

    _lines: list[tuple[slice, Lines]]

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the estimated number of slides to the goal."""
        total = 0
        for part, numbers in self._lines:
            total += numbers[state[part]]
        return total


@heuristic("manhattan", game="sliding-tiles", admissible=True, consistent=True)
class Manhattan(LineSums):
    """The sum, over all tiles, of the number of rows and columns between the tile and its goal.

    No tile needs fewer slides, because a slide moves one tile by one cell. J. Pearl, Heuristics, 1984, derives it from a
    puzzle in which tiles may share a cell.
    """

    def __init__(self, game: SlidingTiles) -> None:
        cells = range(game.rows * game.columns)
        width = game.columns
        costs = [[cells_from_home(game, tile, cell) if tile else 0 for tile in cells] for cell in cells]

        def row(number: int, tiles: Sequence[int]) -> int:
            return sum(costs[number * width + place][tile] for place, tile in enumerate(tiles))

        self._lines = row_lines(game, row)
        self._costs = costs

    def compiled(self, rules: SlidingRules) -> TileSums:
        """Return the same sum with whole numbers, updated from state to state."""
        return TileSums(len(self._costs), [list(column) for column in zip(*self._costs, strict=True)])


@heuristic("misplaced", game="sliding-tiles", admissible=True, consistent=True)
class Misplaced:
    """The number of tiles that are not in their place: each has to slide at least once.

    J. Pearl, Heuristics, 1984, derives it from a puzzle in which a tile may jump to any cell.
    """

    def __init__(self, game: SlidingTiles) -> None:
        self._goal = game.goal
        self._home = game.goal.index(0)

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the estimated number of slides to the goal."""
        wrong = sum(map(int.__ne__, state, self._goal))
        return wrong - 1 if state[self._home] else wrong

    def compiled(self, rules: SlidingRules) -> TileSums:
        """Return the same number, as a sum over the tiles."""
        cells = range(len(self._goal))
        return TileSums(len(cells), [[int(tile > 0 and self._goal[cell] != tile) for cell in cells] for tile in cells])


@encoding("planes", game="sliding-tiles", shape=lambda game: (3, game.rows, game.columns))
class SlidingTilesPlanes:
    """For each cell: the goal row of its tile, the goal column of its tile, both from 0 to 1, and whether it is the blank."""

    def __init__(self, game: SlidingTiles) -> None:
        homes = {tile: divmod(cell, game.columns) for cell, tile in enumerate(game.goal)}
        self._rows = {tile: row / (game.rows - 1) for tile, (row, _) in homes.items()}
        self._columns = {tile: column / (game.columns - 1) for tile, (_, column) in homes.items()}

    def __call__(self, observation: Sequence[int], seat: int) -> list[float]:
        """Return three planes."""
        rows, columns = self._rows, self._columns
        blank = [float(tile == 0) for tile in observation]
        return [rows[tile] for tile in observation] + [columns[tile] for tile in observation] + blank
