"""Checkers by the rules of the American Checker Federation, which are those of English draughts.

A state holds the 32 dark squares from the top: 0 is an empty square, 1 and 2 are a man and a king of black, 3 and 4 a man and a
king of white. They are followed by the square of a piece that must go on jumping (-1 if there is none), the number of plies
without a capture or a move of a man, and the seat to move.
"""

import random
from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from arena import Game, encoding
from arena.api.errors import abbreviate
from arena_games.checkers_board import (
    JUMPER,
    JUMPS,
    KING,
    MAN,
    QUIET,
    SEAT,
    SQUARES,
    STEPS,
    State,
    draw,
    read_position,
    write_position,
)


class Checkers(Game):
    """Pieces step diagonally forward and must jump if they can; a player who cannot move loses.

    Also called English draughts. Black begins, from the top, squares 1 to 12. A man that reaches the last row becomes a king,
    which also goes backward, and its turn ends. Each jump is an action of its own, and the same piece must jump again while it
    can. After `quiet` plies without a capture or a move of a man, the game is drawn. Actions are `11-15` and `15x24`. Text
    notation: the side to move, the pieces of both sides, the quiet plies, and the square of a piece that must go on,
    `W:B1,2:W21,K30 0`, `W:B1:W22 0 x22`. Positions from PDN files can be read, too.
    """

    name = "checkers"
    rules_text = (
        "Two sides, black (B) and white (W), have twelve men each on the dark squares of a board of 8 by 8 squares. The dark "
        "squares have the numbers 1 to 32, row by row from the top. Black begins with men on 1 to 12, white has men on 21 to "
        "32. Black's men move down the board, white's men move up. A man steps diagonally forward to the next square if it "
        "is empty. Or it jumps diagonally forward over a piece of the other side to the empty square behind it, and that "
        "piece is removed. A side that can jump must jump, but may choose between its jumps. Each jump is a move of its own: "
        "while the same piece can jump again, its side must continue with it. A man that reaches the last row becomes a king, "
        "which also steps and jumps backward; this ends its turn. A side that cannot move loses. After `quiet` moves in a "
        "row without a capture and without a move of a man, the game is a draw. The move `11-15` is a step, and `15x24` is a "
        "jump. A position is written as the side to move, the pieces of black, the pieces of white, with K before the square "
        "of a king, and the number of moves since the last capture or move of a man: `W:B1,2:W21,K30 0`. If a piece must go "
        "on jumping, its square follows: `W:B1,18:W22 0 x22`."
    )
    default_heuristic: ClassVar[str | None] = "advancement"
    grid_colors: ClassVar[dict[str, str]] = {"b": "#2e3138", "B": "#2e3138", "w": "#f2efe8", "W": "#f2efe8"}

    def __init__(self, *, quiet: Annotated[int, Field(ge=1, le=1000)] = 80) -> None:
        self.quiet = quiet

    def initial(self, rng: random.Random) -> State:
        """Return twelve men for each side, black to move."""
        return (*[1] * 12, *[0] * 8, *[3] * 12, -1, 0, 0)

    def to_move(self, state: State) -> int:
        """Return 0 for black, 1 for white."""
        return state[SEAT]

    def can_go(self, state: State, action: int) -> bool:
        """Return whether an action is possible for the side to move, even if another action is a jump.

        An action is `8 * square + way`; from way 4 on, it is a jump.
        """
        square, way = action // 8, action % 4
        piece, seat = state[square], state[SEAT]
        if piece != 2 * seat + 1 and piece != 2 * seat + 2:
            return False
        if piece % 2 == 1 and (way < 2) == (seat == 0):  # a man goes forward: black down, white up
            return False
        if action % 8 < 4:
            target = STEPS[4 * square + way]
            return target >= 0 and state[target] == 0
        target, over = JUMPS[4 * square + way], STEPS[4 * square + way]
        if target < 0 or state[target] != 0:
            return False
        return state[over] == 3 - 2 * seat or state[over] == 4 - 2 * seat

    def can_jump(self, state: State) -> bool:
        """Return whether the side to move can jump."""
        own = state[SEAT] + 1
        return any(
            self.can_go(state, action)
            for action in range(8 * SQUARES)
            if (state[action // 8] + 1) // 2 == own and action % 8 >= 4
        )

    def actions(self, state: State) -> Sequence[int]:
        """Return the jumps, or the steps if there is no jump. If a piece must go on, only its jumps are legal."""
        first = 4 if self.can_jump(state) else 0
        own = 0 if state[QUIET] >= self.quiet else state[SEAT] + 1
        return [
            action
            for action in range(8 * SQUARES)
            if (state[action // 8] + 1) // 2 == own
            and own > 0
            and (action % 8 >= 4) == (first == 4)
            and (state[JUMPER] < 0 or state[JUMPER] == action // 8)
            and self.can_go(state, action)
        ]

    def result(self, state: State, action: int) -> State:
        """Move a piece; the same side goes on after a jump if its piece can jump again and was not crowned."""
        square, way, seat = action // 8, action % 4, state[SEAT]
        jumps = action % 8 >= 4
        target = JUMPS[4 * square + way] if jumps else STEPS[4 * square + way]
        over = STEPS[4 * square + way] if jumps else -1
        piece = state[square]
        man = piece % 2 == 1
        crowned = man and target // 4 == (7 if seat == 0 else 0)
        landed = piece + 1 if crowned else piece
        quiet = 0 if jumps or man else state[QUIET] + 1
        cells = tuple([0 if place in (square, over) else landed if place == target else state[place] for place in range(SQUARES)])
        after = (*cells, target, quiet, seat)
        if jumps and not crowned and any(self.can_go(after, 8 * target + further) for further in range(4, 8)):
            return after
        return (*cells, -1, quiet, 1 - seat)

    def is_terminal(self, state: State) -> bool:
        """Return whether the side to move cannot move, or the game is drawn."""
        return state[QUIET] >= self.quiet or not self.can_move(state)

    def can_move(self, state: State) -> bool:
        """Return whether the side to move has a step or a jump."""
        own = state[SEAT] + 1
        return any(self.can_go(state, action) for action in range(8 * SQUARES) if (state[action // 8] + 1) // 2 == own)

    def returns(self, state: State) -> Sequence[float]:
        """Return -1 for the side that cannot move and 1 for the other; 0 for both after too many quiet plies."""
        if self.can_move(state):
            return (0.0, 0.0)
        return (-1.0, 1.0) if state[SEAT] == 0 else (1.0, -1.0)

    def action_space(self) -> Sequence[int]:
        """Return all steps and jumps that stay on the board."""
        return [
            action for action in range(8 * SQUARES) if (STEPS if action % 8 < 4 else JUMPS)[4 * (action // 8) + action % 4] >= 0
        ]

    def grid(self, state: State) -> list[list[str]]:
        """Return the board: `b` and `w` for men, `B` and `W` for kings, the number of an empty dark square."""
        return draw(state)

    def cells(self, state: State, action: int) -> list[tuple[int, int]]:
        """Return the square of the piece, as row and column of the board."""
        row = action // 8 // 4
        return [(row, 2 * (action // 8 % 4) + (1 - row % 2))]

    def format_state(self, state: State) -> str:
        """Return the text notation, such as `W:B1,2:W21,K30 0`."""
        return write_position(state)

    def parse_state(self, text: str) -> State:
        """Parse a text such as `W:B1,2:W21,K30 0`, or a position from PDN, such as `W:W21,K30:B1,2.`, in which either side comes
        first. Raises ValueError for wrong squares, too many pieces, or a man in the last row.
        """
        state = read_position(text, self.quiet)
        if state[JUMPER] >= 0 and not any(self.can_go(state, 8 * state[JUMPER] + way) for way in range(4, 8)):
            raise ValueError(f"the piece on {state[JUMPER] + 1} cannot jump in {abbreviate(text)}")
        return state

    def format_action(self, state: State, action: int) -> str:
        """Return the text of an action, such as `11-15` or `15x24`."""
        square, way = action // 8, action % 4
        target = (STEPS if action % 8 < 4 else JUMPS)[4 * square + way]
        return f"{square + 1}{'-' if action % 8 < 4 else 'x'}{target + 1}"


@encoding("features", game="checkers", shape=(6, 32))
def checkers_features(game: Checkers, observation: State, seat: int) -> list[float]:
    """Return the men and kings of the seat and of the opponent, the piece that must go on, and the quiet plies as a share of
    `quiet`.

    For white, the squares are counted from the other end, so that both seats move in the same direction.
    """
    squares = observation[:SQUARES][::-1] if seat else observation[:SQUARES]
    kinds = (MAN[seat], KING[seat], MAN[1 - seat], KING[1 - seat])
    places = range(SQUARES)[::-1] if seat else range(SQUARES)
    pieces = [float(piece == kind) for kind in kinds for piece in squares]
    return [*pieces, *[float(place == observation[JUMPER]) for place in places], *[observation[QUIET] / game.quiet] * SQUARES]
