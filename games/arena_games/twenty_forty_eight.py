"""2048 on a board of any size (G. Cirulli, 2014): one seat, and a score that has no end."""

import random
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from math import inf
from operator import mul
from typing import Annotated, ClassVar

from pydantic import Field

from arena import CHANCE, Action, Game, heuristic
from arena_games.twenty_forty_eight_rules import TileRules

Line = tuple[int, ...]
State = tuple[tuple[Line, ...], int, int]
"""The rows from the top with 0 for an empty cell, the score, and the number of tiles that chance has to add."""
Side = Annotated[int, Field(ge=1, le=50)]

DIRECTIONS = ("up", "down", "left", "right")
TILES = ((2, 0.9), (4, 0.1))
"""The tiles that chance adds, with their probabilities."""


class TwentyFortyEight(Game):
    """All tiles slide one way, and equal ones that meet become one; then chance adds a 2 or, once in ten times, a 4.

    Each merged tile adds its number to the score, which is the return of the seat when nothing can slide. Play begins with two
    tiles. Text notation: the rows, the score, and the tiles to come, `0,0,2/4,0,0/8,2,0 16 +1`.
    """

    name = "2048"
    players = 1
    zero_sum = False
    min_return = 0.0
    max_return = inf
    default_heuristic: ClassVar[str | None] = "snake"
    board = "boards/twenty_forty_eight.js"

    def __init__(self, *, rows: Side = 4, columns: Side = 4) -> None:
        if rows * columns < 2:
            raise ValueError("rows and columns: expected room for two tiles, got one cell")
        self.rows = rows
        self.columns = columns
        cells = [(row, column) for row in range(rows) for column in range(columns)]
        self._added = {f"r{row + 1}c{column + 1}={tile}": (row, column, tile) for row, column in cells for tile, _ in TILES}
        self._names = {cell: action for action, cell in self._added.items()}

    def initial(self, rng: random.Random) -> State:
        """Return the empty board, with two tiles to come."""
        return (((0,) * self.columns,) * self.rows, 0, 2)

    def to_move(self, state: State) -> int:
        """Return CHANCE if a tile is to come, else 0."""
        return CHANCE if state[2] else 0

    def actions(self, state: State) -> Sequence[Action]:
        """Return the directions in which something moves, or the tiles that chance may add."""
        rows, _, coming = state
        if coming:
            return [action for action, _ in self.chance_outcomes(state)]
        return [direction for direction in DIRECTIONS if any(slide(line)[0] != line for line in _lines(rows, direction))]

    def chance_outcomes(self, state: State) -> Sequence[tuple[Action, float]]:
        """Return the empty cells, row by row and all equally likely, each with a 2 and with a 4."""
        rows, names = state[0], self._names
        empty = [(r, c) for r, row in enumerate(rows) for c, tile in enumerate(row) if not tile]
        return [(names[r, c, tile], probability / len(empty)) for r, c in empty for tile, probability in TILES]

    def result(self, state: State, action: Action) -> State:
        """Add a tile, or let all of them slide."""
        rows, score, coming = state
        if coming:
            r, c, tile = self._added[action]
            row = rows[r]
            return ((*rows[:r], (*row[:c], tile, *row[c + 1 :]), *rows[r + 1 :]), score, coming - 1)
        slid = [slide(line) for line in _lines(rows, action)]
        after = _lines([line for line, _ in slid], action, back=True)
        return (tuple(after), score + sum([gained for _, gained in slid]), 1)

    def is_terminal(self, state: State) -> bool:
        """Return whether nothing can slide: never beside an empty cell, unless all are empty."""
        rows, _, coming = state
        if coming:
            return False
        return not self.actions(state) if all(map(all, rows)) else not any(map(any, rows))

    def returns(self, state: State) -> Sequence[float]:
        """Return the score."""
        return (float(state[1]),)

    def standing(self, state: State) -> Sequence[float]:
        """Return the score so far."""
        return (float(state[1]),)

    def compiled(self) -> TileRules:
        """Return the rules over whole numbers, for random play."""
        return TileRules(self.rows, self.columns, self._names, DIRECTIONS, TILES)

    def action_space(self) -> Sequence[Action]:
        """Return the four directions."""
        return DIRECTIONS

    def render(self, state: State) -> str:
        """Return the rows with dots for empty cells, and the score."""
        rows, score, _ = state
        wide = max(len(str(tile)) for row in rows for tile in row)
        return "\n".join([*[" ".join([str(tile or ".").rjust(wide) for tile in row]) for row in rows], f"score {score}"])

    def format_state(self, state: State) -> str:
        """Return `0,0,2/4,0,0/8,2,0 16 +1`."""
        rows, score, coming = state
        return f"{'/'.join([','.join(map(str, row)) for row in rows])} {score}{f' +{coming}' if coming else ''}"

    def parse_state(self, text: str) -> State:
        """Return the state of `0,0,2/4,0,0/8,2,0 16 +1`; ValueError for another size, other tiles, and more tiles to come than
        empty cells.
        """
        try:
            board, score, *rest = text.split()
            rows = tuple([tuple(map(int, row.split(","))) for row in board.split("/")])
            coming = int(rest.pop().removeprefix("+")) if rest else 0
            points = int(score)
        except ValueError:
            raise ValueError(
                f"expected the rows, the score and the tiles to come, as in 0,0,2/4,0,0 16 +1, got {text!r}"
            ) from None
        if rest or len(rows) != self.rows or any(len(row) != self.columns for row in rows):
            raise ValueError(
                f"expected {self.rows} rows of {self.columns} tiles, then the score and the tiles to come, got {text!r}"
            )
        tiles = [tile for row in rows for tile in row]
        strange = [tile for tile in tiles if tile and (tile < 2 or tile & (tile - 1))]
        if strange:
            raise ValueError(f"expected 0 for an empty cell or a power of 2 from 2, got {strange[0]} in {text!r}")
        if points < 0 or not 0 <= coming <= min(2, tiles.count(0)):
            raise ValueError(f"expected a score from 0, and up to 2 tiles to come that have room, got {text!r}")
        return (rows, points, coming)


@lru_cache(maxsize=1 << 17)
def slide(line: Line) -> tuple[Line, int]:
    """Return a line of tiles after all have slid to its beginning, and the score of its merges.

    Tiles nearer to the beginning merge first, and a merged tile does not merge again in the same move.
    """
    slid: list[int] = []
    gained, met = 0, True
    for tile in filter(None, line):
        if not met and slid[-1] == tile:
            slid[-1], gained, met = 2 * tile, gained + 2 * tile, True
        else:
            slid.append(tile)
            met = False
    return (*slid, *[0] * (len(line) - len(slid))), gained


def _lines(rows: Sequence[Line], direction: str, *, back: bool = False) -> list[Line]:
    """The lines of a board for a direction, each beginning at the end to which it slides; and the inverse, `back`."""
    if direction == "left":
        return list(rows)
    if direction == "right":
        return [row[::-1] for row in rows]
    if direction == "up":
        return list(zip(*rows, strict=True))
    return list(zip(*[row[::-1] for row in rows], strict=True)) if back else [line[::-1] for line in zip(*rows, strict=True)]


@heuristic("snake", game="2048")
class Snake:
    """Adds to the score what the tiles are worth where they lie: most in a corner, half for each further cell on a snake from it.

    The snake runs along the upper row and back along the next. The value is on the scale of the returns, which are open above.
    """

    def __init__(self, game: TwentyFortyEight) -> None:
        order = [(row, column) for row in range(game.rows) for column in range(game.columns)[:: -1 if row % 2 else 1]]
        weights = {cell: 0.5**rank for rank, cell in enumerate(order)}
        self._weights = [weights[row, column] for row in range(game.rows) for column in range(game.columns)]

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the value of a state, from the score upwards."""
        rows, score, _ = state
        lying: float = sum(map(mul, chain.from_iterable(rows), self._weights))
        return score + lying
