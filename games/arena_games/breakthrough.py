"""Breakthrough: D. Troyka, 2000, winner of the 8x8 Game Design Competition.

A state holds the squares row by row from the top: 0 is an empty square, 1 a white and 2 a black piece. They are followed by the
numbers of white and of black pieces, the seat that has reached the last row (-1 if none has), and the seat to move.
"""

import random
from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from arena import Game, encoding, heuristic
from arena.api.errors import abbreviate

State = tuple[int, ...]

LETTERS = "abcdefghijklmno"
MARKS = ".wb"


class Breakthrough(Game):
    """The first side with a piece on the opponent's home row wins. Pieces step forward, straight or diagonally; they capture
    diagonally.

    The board has `rows` rows and `columns` columns. White begins and moves up. A player without pieces loses. Actions are
    `a2-a3`, and `a2xb3` for a capture. Text notation: the rows from the top joined by `/`, then the side to move,
    `bbb/bbb/.../www/www w`.
    """

    name = "breakthrough"
    rules_text = (
        "Two sides, white (w) and black (b), take turns; white begins and moves up the board, black moves down. A piece "
        "steps one row forward, straight or diagonally, to an empty square. It captures only diagonally forward, by "
        "moving onto a piece of the other side. The first side with a piece on the last row in its direction wins; a side "
        "without pieces loses. Columns have letters from the left, and rows have numbers from the bottom. The move "
        "`a2-a3` is a step, and `a2xb3` is a capture. A position is written row by row from the top, joined by /, with a "
        "dot for an empty square, and then the side to move."
    )
    default_heuristic: ClassVar[str | None] = "advancement"
    board = "boards/breakthrough.js"

    def __init__(self, *, rows: Annotated[int, Field(ge=5, le=15)] = 8, columns: Annotated[int, Field(ge=2, le=15)] = 8) -> None:
        self.rows = rows
        self.columns = columns
        self.squares = rows * columns
        moves = []
        for action in range(2 * 3 * self.squares):
            way, square = divmod(action, self.squares)
            seat, aside = divmod(way, 3)
            row, column = square // columns + (1 if seat else -1), square % columns + aside - 1
            moves.append(row * columns + column if 0 <= row < rows and 0 <= column < columns else -1)
        self.targets = tuple(moves)
        """The square to which each action leads (-1: off the board). An action is `(3 * seat + way) * squares + square`.
        """

    def initial(self, rng: random.Random) -> State:
        """Return two rows of pieces for each side, white to move."""
        home, middle = 2 * self.columns, self.squares - 4 * self.columns
        return (*[2] * home, *[0] * middle, *[1] * home, home, home, -1, 0)

    def to_move(self, state: State) -> int:
        """Return 0 for white, 1 for black."""
        return state[self.squares + 3]

    def actions(self, state: State) -> Sequence[int]:
        """Return the steps of all pieces: first along the left diagonal, then straight, then along the right diagonal."""
        if self.is_terminal(state):
            return ()
        mover = state[self.squares + 3]
        first = 3 * mover * self.squares
        return [
            first + way * self.squares + square
            for way in range(3)
            for square in range(self.squares)
            if state[square] == mover + 1
            and self.targets[first + way * self.squares + square] >= 0
            and self.is_open(state[self.targets[first + way * self.squares + square]], mover, way)
        ]

    def is_open(self, piece: int, mover: int, way: int) -> bool:
        """Return whether `mover` may step onto a square with `piece`. A straight step needs an empty square, and no step may end
        on a piece of the same side.
        """
        return piece == 0 if way == 1 else piece != mover + 1

    def result(self, state: State, action: int) -> State:
        """Move a piece."""
        mover = state[self.squares + 3]
        source, target = action % self.squares, self.targets[action]
        white = state[self.squares] - (1 if state[target] == 1 else 0)
        black = state[self.squares + 1] - (1 if state[target] == 2 else 0)
        reached = mover if target // self.columns == (0 if mover == 0 else self.rows - 1) else -1
        pieces = tuple(
            [0 if square == source else mover + 1 if square == target else state[square] for square in range(self.squares)]
        )
        return (*pieces, white, black, reached, 1 - mover)

    def is_terminal(self, state: State) -> bool:
        """Return whether a piece has reached the last row, or a side has no pieces."""
        return state[self.squares + 2] >= 0 or state[self.squares] == 0 or state[self.squares + 1] == 0

    def returns(self, state: State) -> Sequence[float]:
        """Return 1 for the side that has moved last, and -1 for the other."""
        return (-1.0, 1.0) if state[self.squares + 3] == 0 else (1.0, -1.0)

    def action_space(self) -> Sequence[int]:
        """Return all steps that stay on the board."""
        return [action for action, target in enumerate(self.targets) if target >= 0]

    def _rows(self, state: State) -> list[str]:
        marks = "".join([MARKS[piece] for piece in state[: self.squares]])
        return [marks[start : start + self.columns] for start in range(0, self.squares, self.columns)]

    def render(self, state: State) -> str:
        """Return the board with its letters and numbers, and the side to move."""
        rows = [f"{self.rows - number:2} {' '.join(row)}" for number, row in enumerate(self._rows(state))]
        return "\n".join([*rows, f"   {' '.join(LETTERS[: self.columns])}", f"{'white' if state[-1] == 0 else 'black'} to move"])

    def format_state(self, state: State) -> str:
        """Return the rows from the top joined by `/`, and the side to move."""
        return f"{'/'.join(self._rows(state))} {'wb'[state[-1]]}"

    def parse_state(self, text: str) -> State:
        """Parse rows and the side to move. Raises ValueError for another size, other marks or two winners."""
        board, _, mover = text.strip().lower().partition(" ")
        rows = board.split("/")
        if [len(row) for row in rows] != [self.columns] * self.rows or set(board) - set(f"{MARKS}/") or mover not in ("w", "b"):
            raise ValueError(
                f"expected {self.rows} rows of {self.columns} squares w, b or ., then w or b to move, got {abbreviate(text)}"
            )
        pieces = [MARKS.index(mark) for mark in "".join(rows)]
        counts = (pieces.count(1), pieces.count(2))
        reached = [seat for seat, (mark, row) in enumerate((("w", rows[0]), ("b", rows[-1]))) if mark in row]
        seat = "wb".index(mover)
        if max(counts) > 2 * self.columns or max(row.count(mark) for mark, row in (("w", rows[0]), ("b", rows[-1]))) > 1:
            raise ValueError(
                f"expected at most {2 * self.columns} pieces per side, and one in the last row, got {abbreviate(text)}"
            )
        if len(reached) > 1 or seat in reached or counts[1 - seat] == 0:
            raise ValueError(f"the side to move, {mover}, has already won in {abbreviate(text)}, so play cannot have continued")
        return (*pieces, *counts, reached[0] if reached else -1, seat)

    def format_action(self, state: State, action: int) -> str:
        """Return the text of an action, such as `a2-a3` or `a2xb3`."""
        square, target = action % self.squares, self.targets[action]
        return f"{self.name_square(square)}{'x' if state[target] else '-'}{self.name_square(target)}"

    def name_square(self, square: int) -> str:
        """Return the name of a square, such as `a2`: the letter of the column, and the row from the bottom."""
        return f"{LETTERS[square % self.columns]}{self.rows - square // self.columns}"


@heuristic("advancement", game="breakthrough")
class Advancement:
    """The difference between the sides in the number and the progress of their pieces. Later rows have more weight.

    A piece counts 6, plus the square of the number of rows from home. R. Lorentz, T. Horey, Programming Breakthrough, Computers
    and Games 2013, also weight a piece by its row.
    """

    def __init__(self, game: Breakthrough) -> None:
        self._squares = game.squares
        rows = [square // game.columns for square in range(game.squares)]
        white = tuple([(game.rows - 1 - row) ** 2 + 6 for row in rows])
        black = tuple([-(row**2) - 6 for row in rows])
        self._worth = ((0,) * game.squares, white, black)
        self._scale = 2 * game.columns * (game.rows**2 // 4 + 6)

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the value of an unfinished state to `player`."""
        total = 0
        for square in range(self._squares):
            total += self._worth[state[square]][square]
        value = max(-0.99, min(0.99, total / self._scale))
        return value if player == 0 else -value


@heuristic("material", game="breakthrough")
class Material:
    """The difference between the numbers of pieces, divided by the number of all pieces.

    Folklore, written for this project: the first term of many evaluations of board games (C. Shannon, Programming a Computer for
    Playing Chess, 1950).
    """

    def __init__(self, game: Breakthrough) -> None:
        self._squares = game.squares

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the value of an unfinished state to `player`."""
        white, black = state[self._squares], state[self._squares + 1]
        value = 0.99 * (white - black) / (white + black)
        return value if player == 0 else -value


@encoding("planes", game="breakthrough", shape=lambda game: (2, game.rows, game.columns))
def breakthrough_planes(game: Breakthrough, observation: State, seat: int) -> list[int]:
    """Return the pieces of the seat, then the pieces of the opponent, with the home of the seat at the bottom."""
    rows = [observation[start : start + game.columns] for start in range(0, game.squares, game.columns)]
    squares = [piece for row in (reversed(rows) if seat else rows) for piece in row]
    return [int(piece == side + 1) for side in (seat, 1 - seat) for piece in squares]
