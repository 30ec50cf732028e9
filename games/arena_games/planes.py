"""Boards as planes of numbers from 0 to 1, for learning agents. The planes of `seat` itself always come first.

All encodings are flat: plane by plane, row by row from the top.
"""

from collections.abc import Sequence

from arena import encoding
from arena_games import connect_four, othello, sokoban, tic_tac_toe
from arena_games.n_queens import NQueens
from arena_games.sliding_tiles import SlidingTiles
from arena_games.sudoku import Sudoku
from arena_games.twenty_forty_eight import TwentyFortyEight

Shape = tuple[int, ...]
LARGEST_EXPONENT = 17
"""The exponent of the largest tile that a board of four by four can hold."""


def _marks(stones: int, bits: Sequence[int]) -> list[int]:
    return [1 if stones & bit else 0 for bit in bits]


def _two_boards(game: tic_tac_toe.TicTacToe | connect_four.ConnectFour) -> Shape:
    return (2, game.rows, game.columns)


@encoding("planes", game="tic-tac-toe", shape=_two_boards)
class TicTacToePlanes:
    """The marks of the seat, then the marks of the opponent."""

    def __init__(self, game: tic_tac_toe.TicTacToe) -> None:
        self._bits = list(tic_tac_toe.geometry(game.rows, game.columns, game.in_a_row).bit.values())

    def __call__(self, observation: tic_tac_toe.State, seat: int) -> list[int]:
        """Return two planes."""
        return _marks(observation[seat], self._bits) + _marks(observation[1 - seat], self._bits)


@encoding("planes", game="connect-four", shape=_two_boards)
class ConnectFourPlanes:
    """The stones of the seat, then the stones of the opponent."""

    def __init__(self, game: connect_four.ConnectFour) -> None:
        self._seats = game.seats
        stride = game.rows + 1
        self._bits = [1 << column * stride + row for row in reversed(range(game.rows)) for column in range(game.columns)]

    def __call__(self, observation: connect_four.State, seat: int) -> list[int]:
        """Return two planes."""
        stones = self._seats(observation)
        return _marks(stones[seat], self._bits) + _marks(stones[1 - seat], self._bits)


@encoding("planes", game="othello", shape=lambda game: (3, game.size, game.size))
class OthelloPlanes:
    """The discs of the seat, the discs of the opponent, and the squares where the seat may place a disc now."""

    def __init__(self, game: othello.Othello) -> None:
        self._bits = [1 << 8 * row + column for row in range(game.size) for column in range(game.size)]

    def __call__(self, observation: othello.State, seat: int) -> list[int]:
        """Return three planes."""
        bits, mover, moves = self._bits, observation[2], observation[3]
        legal = moves if mover == seat and moves > 0 else 0
        return _marks(observation[seat], bits) + _marks(observation[1 - seat], bits) + _marks(legal, bits)


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


@encoding("planes", game="n-queens", shape=lambda game: (game.n, game.n))
def n_queens_planes(game: NQueens, observation: Sequence[int], seat: int) -> list[int]:
    """Return the board with a 1 for each queen."""
    cells = [0] * game.n**2
    for column, row in enumerate(observation):
        cells[(row - 1) * game.n + column] = 1
    return cells


@encoding("planes", game="sudoku", shape=lambda game: (game.grid.digits + 1, game.grid.digits, game.grid.digits))
def sudoku_planes(game: Sudoku, observation: int, seat: int) -> list[int]:
    """Return a plane for each digit, with the cells that have it or may still get it, and a plane of the empty cells."""
    bits = f"{observation:0{game.grid.top + game.grid.cells}b}"
    return list(map(int, reversed(bits)))


@encoding("planes", game="2048", shape=lambda game: (LARGEST_EXPONENT + 1, game.rows, game.columns))
def twenty_forty_eight_planes(game: TwentyFortyEight, observation: tuple[tuple[Shape, ...], int, int], seat: int) -> list[int]:
    """Return a plane of the empty cells, then a plane for each tile from 2 to 131,072. Larger tiles are in the last plane."""
    numbers = [min(LARGEST_EXPONENT, max(1, tile.bit_length()) - 1) for row in observation[0] for tile in row]
    return [int(number == plane) for plane in range(LARGEST_EXPONENT + 1) for number in numbers]


@encoding("planes", game="sokoban", shape=lambda game: (4, game.height, game.width))
def sokoban_planes(game: sokoban.Sokoban, observation: sokoban.State, seat: int) -> list[int]:
    """Return the floor, the goals, the boxes, and the cells that the man can reach."""
    planes = (game.floor, game.goals, observation[0], game.reach(*observation))
    return [
        plane >> row * game.wide + column & 1 for plane in planes for row in range(game.height) for column in range(game.width)
    ]
