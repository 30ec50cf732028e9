"""2048 on a board of any size (G. Cirulli, 2014): a game for one seat, with a score that has no upper bound."""

import random
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from math import inf
from operator import mul
from typing import Annotated, ClassVar

from pydantic import Field

from arena import CHANCE, Action, Game, encoding, heuristic
from arena.api.errors import abbreviate
from arena_games.twenty_forty_eight_rules import TileRules

Line = tuple[int, ...]
State = tuple[tuple[Line, ...], int, int]
"""The rows from the top with 0 for an empty cell, the score, and the number of tiles that chance has to add."""
Side = Annotated[int, Field(ge=1, le=50)]

DIRECTIONS = ("up", "down", "left", "right")
TILES = ((2, 0.9), (4, 0.1))
"""The tiles that chance adds, with their probabilities."""
LARGEST_EXPONENT = 17
"""The exponent of the largest tile that a board of four by four can hold."""


class TwentyFortyEight(Game):
    """All tiles slide in one direction, and two equal tiles that meet merge. Then chance adds a 2 or, in one of ten cases, a 4.

    The board has `rows` rows and `columns` columns. Each merged tile adds its number to the score. The game ends when nothing can
    slide, and the score is the return of the seat. The game begins with two tiles. Text notation: the rows, the score, and the
    tiles to come, `0,0,2/4,0,0/8,2,0 16 +1`.
    """

    name = "2048"
    rules_text = (
        "One player slides the tiles of a board: `up`, `down`, `left` or `right`. All tiles slide as far as they can, and "
        "two equal tiles that meet become one tile with their sum, which is added to the score. A tile merges only once "
        "in a move. Then a 2, or in one of ten cases a 4, appears in a random empty cell. The game ends when no tile can "
        "slide. The result is the score. A position is written row by row from the top, joined by /, with 0 for an empty "
        "cell, and then the score: `0,0,2/4,0,0/8,2,0 16`."
    )
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
        """Return the empty board, to which chance adds two tiles."""
        return (((0,) * self.columns,) * self.rows, 0, 2)

    def to_move(self, state: State) -> int:
        """Return CHANCE when a tile is to be added, otherwise 0."""
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
        """Add a tile, or let all tiles slide."""
        rows, score, coming = state
        if coming:
            r, c, tile = self._added[action]
            row = rows[r]
            return ((*rows[:r], (*row[:c], tile, *row[c + 1 :]), *rows[r + 1 :]), score, coming - 1)
        slid = [slide(line) for line in _lines(rows, action)]
        after = _lines([line for line, _ in slid], action, back=True)
        return (tuple(after), score + sum([gained for _, gained in slid]), 1)

    def is_terminal(self, state: State) -> bool:
        """Return whether no tile can slide. One can always slide if some cells are empty and others have tiles."""
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
        """Return the rules written with whole numbers, for random play."""
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
        """Return the text notation, such as `0,0,2/4,0,0/8,2,0 16 +1`."""
        rows, score, coming = state
        return f"{'/'.join([','.join(map(str, row)) for row in rows])} {score}{f' +{coming}' if coming else ''}"

    def parse_state(self, text: str) -> State:
        """Parse a text such as `0,0,2/4,0,0/8,2,0 16 +1`. Raises ValueError for another size, other tiles, or too many tiles to
        add.
        """
        try:
            board, score, *rest = text.split()
            rows = tuple([tuple(map(int, row.split(","))) for row in board.split("/")])
            coming = int(rest.pop().removeprefix("+")) if rest else 0
            points = int(score)
        except ValueError:
            raise ValueError(
                f"expected the rows, the score and the tiles to come, as in 0,0,2/4,0,0 16 +1, got {abbreviate(text)}"
            ) from None
        if rest or len(rows) != self.rows or any(len(row) != self.columns for row in rows):
            raise ValueError(
                f"expected {self.rows} rows of {self.columns} tiles, then the score and the tiles to come, got {abbreviate(text)}"
            )
        tiles = [tile for row in rows for tile in row]
        strange = [tile for tile in tiles if tile and (tile < 2 or tile & (tile - 1))]
        if strange:
            raise ValueError(
                f"expected 0 for an empty cell or a power of 2 that is at least 2, got {strange[0]} in {abbreviate(text)}"
            )
        if points < 0 or not 0 <= coming <= min(2, tiles.count(0)):
            raise ValueError(
                f"expected a score of at least 0, and at most 2 tiles to come, for which there is room, got {abbreviate(text)}"
            )
        return (rows, points, coming)


@lru_cache(maxsize=1 << 17)
def slide(line: Line) -> tuple[Line, int]:
    """Return a line of tiles after all tiles have slid to its beginning, and the score of its merges.

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
    """Return the lines of a board for a direction, each from the end to which it slides. With `back`, return the rows from such
    lines.
    """
    if direction == "left":
        return list(rows)
    if direction == "right":
        return [row[::-1] for row in rows]
    if direction == "up":
        return list(zip(*rows, strict=True))
    return list(zip(*[row[::-1] for row in rows], strict=True)) if back else [line[::-1] for line in zip(*rows, strict=True)]


@heuristic("snake", game="2048")
class Snake:
    """Adds a value for each tile to the score. The value is highest in a corner and halves at each further cell of a snake that
    begins there.

    The snake runs along the upper row and back along the next. Y. Nie, W. Hou, Y. An, AI Plays 2048, Stanford University, 2016,
    weigh the tiles along such a snake; the factor 1/2 was chosen for this project. The sum is on the scale of the returns, which
    have no upper bound.
    """

    def __init__(self, game: TwentyFortyEight) -> None:
        order = [(row, column) for row in range(game.rows) for column in range(game.columns)[:: -1 if row % 2 else 1]]
        weights = {cell: 0.5**rank for rank, cell in enumerate(order)}
        self._weights = [weights[row, column] for row in range(game.rows) for column in range(game.columns)]

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the value of a state, which is at least its score."""
        rows, score, _ = state
        lying: float = sum(map(mul, chain.from_iterable(rows), self._weights))
        return score + lying


@encoding("planes", game="2048", shape=lambda game: (LARGEST_EXPONENT + 1, game.rows, game.columns))
def twenty_forty_eight_planes(game: TwentyFortyEight, observation: State, seat: int) -> list[int]:
    """Return a plane of the empty cells, then a plane for each tile from 2 to 131,072. Larger tiles are in the last plane."""
    numbers = [min(LARGEST_EXPONENT, max(1, tile.bit_length()) - 1) for row in observation[0] for tile in row]
    return [int(number == plane) for plane in range(LARGEST_EXPONENT + 1) for number in numbers]
