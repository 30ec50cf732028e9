"""Gomoku without restrictions: tic-tac-toe on a larger board, with a heuristic of threats."""

from typing import ClassVar

from arena import encoding, heuristic
from arena_games.tic_tac_toe import OpenLanes, Side, State, TicTacToe, TicTacToePlanes

NEARLY_WON = 0.98
NEARLY_LOST = -0.95
"""NEARLY_WON is the value of a state if the seat to move can complete a line at once. NEARLY_LOST is the value if it cannot
prevent the other side from completing one.
"""


class Gomoku(TicTacToe):
    """Five in a row: x and o take turns, and the first side with `in_a_row` marks or more in a row, column or diagonal wins.

    Also called five in a row. The board has `rows` rows and `columns` columns. The rules and the notation are the same as in
    tic-tac-toe: cells from 1, row by row, and `x../.o./...`.
    """

    name = "gomoku"
    default_heuristic: ClassVar[str | None] = "threats"

    def __init__(self, *, rows: Side = 15, columns: Side = 15, in_a_row: Side = 5) -> None:
        super().__init__(rows=rows, columns=columns, in_a_row=in_a_row)


@heuristic("threats", game="gomoku")
class Threats:
    """A value based on threats, after L. Allis, H. van den Herik, M. Huntjens, Go-Moku and Threat-Space Search, 1993.

    The seat to move wins if a mark completes a line. Otherwise it loses if the other side threatens to complete lines in two
    cells. In all other states, the value comes from `open-lanes` of tic-tac-toe, in which lanes with more marks count more.
    """

    def __init__(self, game: Gomoku) -> None:
        self._game = game
        self._lanes = OpenLanes(game)

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the value of an unfinished state to `player`."""
        mover = self._game.to_move(state)
        if self._game.threats(state, mover):
            value = NEARLY_WON
        elif len(self._game.threats(state, 1 - mover)) > 1:
            value = NEARLY_LOST
        else:
            value = 0.9 * self._lanes(state, mover)
        return value if mover == player else -value


@encoding("planes", game="gomoku", shape=lambda game: (2, game.rows, game.columns))
class GomokuPlanes(TicTacToePlanes):
    """The marks of the seat, then the marks of the opponent."""
