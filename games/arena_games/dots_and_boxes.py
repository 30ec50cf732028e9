"""Dots and boxes: E. Lucas, 1889. The player who draws the fourth side of a box owns it and draws again.

A state is (the lines, the boxes of a, the boxes of b, the seat to move), the first three as bits. Lines are numbered row by row,
the horizontal ones first; boxes are numbered row by row.
"""

import random
from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from arena import Game, encoding, heuristic
from arena.api.errors import abbreviate

State = tuple[int, int, int, int]
Side = Annotated[int, Field(ge=1, le=8)]

LONG = 3
"""The minimum number of boxes in a long chain."""


class DotsAndBoxes(Game):
    """Players draw lines between dots. Drawing the fourth side of a box wins the box and another turn; the player with the most
    boxes wins.

    The board has `rows` rows and `columns` columns of boxes. Actions are `h12`, the horizontal line in row 1 and column 2, and
    `v31`, a vertical one. Text notation: from the top, rows of horizontal lines alternate with rows of vertical lines; then
    follow the owners of the boxes and the seat to move, `--/|.|/../.../.. ../.. a`.
    """

    name = "dots-and-boxes"
    rules_text = (
        "The dots of a grid have `rows` by `columns` boxes between them. Two seats, a and b, take turns; a begins. A move "
        "draws one missing line between two neighbouring dots. A seat that draws the fourth line of a box owns this box "
        "and must move again. When all lines are drawn, the seat with more boxes wins; equal numbers are a draw. The move "
        "`h12` is the horizontal line in row 1 and column 2, and `v31` is the vertical line in row 3 and column 1. A "
        "position is written from the top: rows of horizontal lines alternate with rows of vertical lines, with a dot for "
        "a missing line; then follow the owners of the boxes and the seat to move."
    )
    default_heuristic: ClassVar[str | None] = "chains"
    board = "boards/dots_and_boxes.js"

    def __init__(self, *, rows: Side = 3, columns: Side = 3) -> None:
        self.rows = rows
        self.columns = columns
        flat = (rows + 1) * columns
        self.lines = flat + rows * (columns + 1)
        sides = []
        for row in range(rows):
            for column in range(columns):
                top, left = row * columns + column, flat + row * (columns + 1) + column
                sides.append((top, top + columns, left, left + 1))
        self.sides = tuple(sides)
        """The lines around each box: above, below, left, right."""
        self.walls = tuple([sum(1 << line for line in four) for four in sides])
        """The lines around each box, as bits."""
        beside = [[box for box, four in enumerate(sides) if line in four] for line in range(self.lines)]
        self.beside = tuple([(boxes[0], boxes[-1]) for boxes in beside])
        """The boxes on both sides of each line. A line at the edge has the same box twice."""
        self._all = (1 << self.lines) - 1

    def initial(self, rng: random.Random) -> State:
        """Return the board without lines."""
        return (0, 0, 0, 0)

    def to_move(self, state: State) -> int:
        """Return the seat to move."""
        return state[3]

    def actions(self, state: State) -> Sequence[int]:
        """Return the lines that are not drawn: horizontal ones, then vertical ones, each row by row."""
        return [line for line in range(self.lines) if not state[0] >> line & 1]

    def result(self, state: State, action: int) -> State:
        """Draw a line, and take the boxes that it completes."""
        lines, first, second, seat = state
        lines |= 1 << action
        taken = 0
        one, other = self.beside[action][0], self.beside[action][1]
        if lines & self.walls[one] == self.walls[one]:
            taken |= 1 << one
        if lines & self.walls[other] == self.walls[other]:
            taken |= 1 << other
        if taken == 0:
            return (lines, first, second, 1 - seat)
        return (lines, first | taken, second, 0) if seat == 0 else (lines, first, second | taken, 1)

    def is_terminal(self, state: State) -> bool:
        """Return whether all lines are drawn."""
        return state[0] == self._all

    def returns(self, state: State) -> Sequence[float]:
        """Return 1 for the side with more boxes and -1 for the other, 0 for both if the numbers are equal."""
        lead = state[1].bit_count() - state[2].bit_count()
        return (0.0, 0.0) if lead == 0 else (1.0, -1.0) if lead > 0 else (-1.0, 1.0)

    def action_space(self) -> Sequence[int]:
        """Return all lines."""
        return range(self.lines)

    def render(self, state: State) -> str:
        """Return the lines as a drawing, with the owners of the boxes."""
        rows, owners = self._texts(state)
        drawn = []
        for number, row in enumerate(rows):
            marks = row.replace(".", " ")
            boxes = "" if number % 2 == 0 else owners[number // 2].replace(".", " ") + " "
            drawn.append(
                "".join([f"{mark}{box}" for mark, box in zip(marks, boxes, strict=True)]) if boxes else f"+{'+'.join(marks)}+"
            )
        return "\n".join([*[line.rstrip() for line in drawn], f"{'ab'[state[3]]} to move"])

    def _texts(self, state: State) -> tuple[list[str], list[str]]:
        marks = "".join(
            [
                ("-" if line < (self.rows + 1) * self.columns else "|") if state[0] >> line & 1 else "."
                for line in range(self.lines)
            ]
        )
        flat = [marks[row * self.columns : (row + 1) * self.columns] for row in range(self.rows + 1)]
        start, wide = (self.rows + 1) * self.columns, self.columns + 1
        upright = [marks[start + row * wide : start + (row + 1) * wide] for row in range(self.rows)]
        rows = [text for pair in zip(flat, [*upright, ""], strict=True) for text in pair][:-1]
        boxes = "".join(["a" if state[1] >> box & 1 else "b" if state[2] >> box & 1 else "." for box in range(len(self.walls))])
        return rows, [boxes[row * self.columns : (row + 1) * self.columns] for row in range(self.rows)]

    def format_state(self, state: State) -> str:
        """Return the text notation, such as `--/|.|/../.../.. ../.. a`."""
        rows, owners = self._texts(state)
        return f"{'/'.join(rows)} {'/'.join(owners)} {'ab'[state[3]]}"

    def parse_state(self, text: str) -> State:
        """Parse lines, owners and the seat to move. Raises ValueError for other sizes or marks, or wrong owners."""
        parts = text.split()
        empty = self.format_state((0, 0, 0, 0)).split()
        if len(parts) != 3 or parts[2] not in ("a", "b"):
            raise ValueError(f"expected lines, owners of boxes, and a or b for the seat to move, got {abbreviate(text)}")
        shapes = [[len(row) for row in part.split("/")] for part in parts[:2]]
        if shapes != [[len(row) for row in part.split("/")] for part in empty[:2]] or set(parts[1]) - set("ab./"):
            raise ValueError(f"expected rows such as in {' '.join(empty)!r}, got {abbreviate(text)}")
        rows = parts[0].split("/")
        marks = "".join([*rows[::2], *rows[1::2]])
        if set("".join(rows[::2])) - set("-.") or set("".join(rows[1::2])) - set("|."):
            raise ValueError(f"expected - for horizontal lines, | for vertical lines and . for none, got {abbreviate(text)}")
        lines = sum(1 << line for line, mark in enumerate(marks) if mark != ".")
        owners = parts[1].replace("/", "")
        for box, wall in enumerate(self.walls):
            if (lines & wall == wall) != (owners[box] != "."):
                raise ValueError(f"expected an owner for each box with four lines, and for no other box, got {abbreviate(text)}")
        a, b = [sum(1 << box for box, owner in enumerate(owners) if owner == seat) for seat in "ab"]
        return (lines, a, b, "ab".index(parts[2]))

    def format_action(self, state: State, action: int) -> str:
        """Return the text of an action, such as `h12` or `v31`."""
        flat = (self.rows + 1) * self.columns
        row, column = divmod(action, self.columns) if action < flat else divmod(action - flat, self.columns + 1)
        return f"{'h' if action < flat else 'v'}{row + 1}{column + 1}"


@heuristic("chains", game="dots-and-boxes")
class Chains:
    """The lead in boxes, including the boxes that the long chains will probably bring, as a share of all boxes.

    A chain consists of boxes with at most two open sides (sides without a line), which touch at open sides. The seat to move
    takes a chain that has a box with one open side. All other long chains (three or more boxes) go to the side in control, which
    leaves two boxes of each chain except the last one to the opponent. Side a is in control if the number of dots plus the number
    of long chains is even; otherwise, side b is. E. Berlekamp, The Dots and Boxes Game, 2000: the long chain rule.
    """

    def __init__(self, game: DotsAndBoxes) -> None:
        self._game = game
        self._boxes = len(game.walls)
        self._dots = (game.rows + 1) * (game.columns + 1)

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the value of a state to `player`."""
        ahead = state[1].bit_count() - state[2].bit_count()
        takeable, long = self.find_chains(state[0])
        ahead += takeable if state[3] == 0 else -takeable
        if long:
            swing = sum(long) - 4 * (len(long) - 1)
            ahead += swing if (self._dots + len(long)) % 2 == 0 else -swing
        value = max(-0.99, min(0.99, 0.9 * ahead / self._boxes))
        return value if player == 0 else -value

    def find_chains(self, lines: int) -> tuple[int, list[int]]:
        """Return the number of boxes in chains that can be taken now, and the lengths of the other long chains."""
        game, takeable = self._game, 0
        long: list[int] = []
        seen: set[int] = set()
        for first in range(self._boxes):
            if first in seen or not 1 <= (game.walls[first] & ~lines).bit_count() <= 2:
                continue
            chain, ready = [first], False
            seen.add(first)
            for box in chain:
                ready |= (game.walls[box] & ~lines).bit_count() == 1
                for line in game.sides[box]:
                    for beside in game.beside[line] if not lines >> line & 1 else ():
                        if beside not in seen and (game.walls[beside] & ~lines).bit_count() <= 2:
                            seen.add(beside)
                            chain.append(beside)
            if ready:
                takeable += len(chain)
            elif len(chain) >= LONG:
                long.append(len(chain))
        return takeable, long


@encoding("features", game="dots-and-boxes", shape=lambda game: (game.lines + 2 * len(game.walls) + 1,))
def dots_and_boxes_features(game: DotsAndBoxes, observation: State, seat: int) -> list[float]:
    """Return a 1 for each drawn line, each of the seat's boxes, each of the opponent's boxes, and for the turn of the seat."""
    lines = [float(observation[0] >> line & 1) for line in range(game.lines)]
    boxes = [float(observation[side] >> box & 1) for side in (1 + seat, 2 - seat) for box in range(len(game.walls))]
    return [*lines, *boxes, float(observation[3] == seat)]
