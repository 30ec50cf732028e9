"""The oldest heuristic for chess, which counts the pieces."""

from math import tanh
from typing import TYPE_CHECKING

from arena import heuristic
from arena_chess.game import Chess

if TYPE_CHECKING:
    from arena_chess.position import Position

WORTH = {"pawns": 1, "knights": 3, "bishops": 3, "rooks": 5, "queens": 9}
"""The worth of pieces in pawns (C. Shannon, Programming a Computer for Playing Chess, 1950)."""
SCALE = 10.0
"""The advantage in pawns that is worth tanh(1), about three quarters of a win."""


@heuristic("material", game="chess")
def material(game: Chess, state: "Position", player: int = 0) -> float:
    """The hyperbolic tangent of a tenth of the difference between both sides' pieces, counted in pawns."""
    board = state.board
    white, black = board.occupied_co[True], board.occupied_co[False]
    pieces = [(getattr(board, kind), worth) for kind, worth in WORTH.items()]
    ahead = sum([worth * ((kind & white).bit_count() - (kind & black).bit_count()) for kind, worth in pieces])
    value = 0.99 * tanh(ahead / SCALE)
    return -value if player else value
