"""Chess as a game of arena. python-chess, which takes long to import, is imported when a position is first needed."""

import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from arena import Game
from arena_bridges.dialects import Uci

if TYPE_CHECKING:
    from arena_chess.position import Position

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


class Chess(Game):
    """Chess; white is seat 0. Actions are moves as UCI writes them, `e2e4` or `e7e8q`; standard algebraic notation is also
    accepted.

    The game is drawn by stalemate, insufficient material, the third occurrence of a position, or fifty moves of each side without
    a capture or a pawn move. Draws need no claim. The text notation is a FEN, followed by `moves` and the moves since the last
    capture or pawn move, because these count for repetitions.
    """

    name = "chess"
    rules_text = (
        "White and black take turns; white begins. The rules are the usual rules of chess, with castling, en passant and "
        "promotion. A player whose king is in check and who has no legal move loses. The game is a draw by stalemate, by "
        "insufficient material, when a position occurs for the third time, or after fifty moves of each side without a "
        "capture or a pawn move. A draw need not be claimed. A move is written as its start and its end square, such as "
        "`e2e4`, with the letter of the new piece after a promotion: `e7e8q`. Castling is the move of the king: `e1g1`. A "
        "position is written in Forsyth-Edwards notation: the rows from the top with capital letters for white pieces, the "
        "side to move, the castling rights, the en passant square, the half moves since the last capture or pawn move, and "
        "the number of the move. After that, the word moves and the moves since the last capture or pawn move may follow."
    )
    default_heuristic: ClassVar[str | None] = "material"
    board = "boards/chess.js"

    def __init__(self, *, fen: str = START) -> None:
        self.fen = fen
        if fen != START:
            from arena_chess.position import begin

            begin(fen)

    def initial(self, rng: random.Random) -> "Position":
        """Return the position in the parameter `fen`; the default is the usual start."""
        from arena_chess.position import begin

        return begin(self.fen)

    def to_move(self, state: "Position") -> int:
        """Return 0 for white, 1 for black."""
        return 0 if state.board.turn else 1

    def actions(self, state: "Position") -> Sequence[str]:
        """Return the legal moves, in the order of python-chess; empty if the game is over."""
        return state.actions

    def result(self, state: "Position", action: str) -> "Position":
        """Return the position after a legal move."""
        from arena_chess.position import after

        return after(state, action)

    def returns(self, state: "Position") -> Sequence[float]:
        """Return -1 for the mated player and 1 for the other, or 0 for both if the game is drawn."""
        if not state.board.is_checkmate():
            return (0.0, 0.0)
        return (-1.0, 1.0) if state.board.turn else (1.0, -1.0)

    def format_state(self, state: "Position") -> str:
        """Return the FEN after the last capture or pawn move, and the moves since then."""
        from arena_chess.position import text_of

        return text_of(state)

    def parse_state(self, text: str) -> "Position":
        """Return the position for a FEN, which `moves` and legal moves may follow."""
        from arena_chess.position import position_of

        return position_of(text)

    def parse_action(self, state: "Position", text: str) -> str:
        """Return the legal move for a text such as `g1f3` or `Nf3`."""
        from arena_chess.position import action_of

        return action_of(state, text)

    def render(self, state: "Position") -> str:
        """Return the board with its coordinates, the side to move, and the moves in standard algebraic notation."""
        from arena_chess.position import san

        rows = [f"{8 - number} {row}" for number, row in enumerate(str(state.board).splitlines())]
        side = "white" if state.board.turn else "black"
        moves = ", ".join([san(state, action) for action in state.actions])
        told = f"{side} to move: {moves}" if moves else "the game is over"
        return "\n".join([*rows, "  a b c d e f g h", told])

    def dialects(self) -> Mapping[str, Uci]:
        """Return the dialect for engines: positions and moves in UCI notation."""
        return {"uci": Uci(self.format_state)}
