"""Tic-tac-toe on a board of any size, on bitboards.

A state is a pair of bitboards, the cells of x and of o. Cell (row, column) is bit `row * (columns + 1) + column`: the spare
column keeps lines from running over the edge, so a whole board can be tested for lines with a few shifts.
"""

import random
from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from typing import Annotated, ClassVar, TypeVar

from pydantic import Field

from arena import Disguise, Game, encoding, heuristic
from arena.api.errors import abbreviate
from arena_games.disguises import COLOURS, draw_names, make_disguise, mark_signs
from arena_games.marks import check_turns, list_marks, parse_rows
from arena_games.tic_tac_toe_rules import MAX_BITS, Lanes, MarkRules, ShiftedMarks, TabledMarks

State = tuple[int, int]
Entry = TypeVar("Entry")
Side = Annotated[int, Field(ge=1, le=50)]

MAX_TABLE_BITS = 12
"""The largest number of bits for which a table contains the result of every bitboard."""


class TicTacToe(Game):
    """Marks in a row: x and o take turns, and the first seat with `in_a_row` marks in a row, column or diagonal wins.

    Also called noughts and crosses. The board has `rows` rows and `columns` columns. States are pairs of bitboards, and actions
    are cell numbers from 1, row by row. Text notation: `x../.o./...`.
    """

    name = "tic-tac-toe"
    rules_text = (
        "Two sides, x and o, take turns; x begins. A move puts a mark of your side into an empty cell. The first side with "
        "`in_a_row` of its marks next to each other in a row, a column or a diagonal wins. A full board without such a line is "
        "a draw. Cells have numbers from 1, row by row from the top left. A move is the number of a cell. A position is written "
        "row by row from the top, joined by /, with a dot for an empty cell: `x../.o./...`."
    )
    default_heuristic: ClassVar[str | None] = "open-lanes"
    board = "boards/tic_tac_toe.js"

    def __init__(self, *, rows: Side = 3, columns: Side = 3, in_a_row: Side = 3) -> None:
        if in_a_row > max(rows, columns):
            raise ValueError(f"in_a_row: expected at most {max(rows, columns)}, the longer side, got {in_a_row}")
        self.rows = rows
        self.columns = columns
        self.in_a_row = in_a_row
        board = geometry(rows, columns, in_a_row)
        self.lanes = board.lanes
        self._bit = board.bit
        self._full = board.full
        self._has_line = board.has_line
        self._free = board.free
        self._completing = board.completing

    def initial(self, rng: random.Random) -> State:
        """Return the empty board."""
        return (0, 0)

    def to_move(self, state: State) -> int:
        """Return 0 for x if both sides have the same number of marks, otherwise 1 for o."""
        x, o = state
        return 0 if x.bit_count() == o.bit_count() else 1

    def actions(self, state: State) -> Sequence[int]:
        """Return the empty cells in order; none after a win."""
        x, o = state
        if self._has_line[x] or self._has_line[o]:
            return ()
        return self._free[x | o]

    def result(self, state: State, action: int) -> State:
        """Put the mark of the side to move into a cell."""
        x, o = state
        if x.bit_count() == o.bit_count():
            return (x | self._bit[action], o)
        return (x, o | self._bit[action])

    def is_terminal(self, state: State) -> bool:
        """Return whether a side has a line or the board is full."""
        x, o = state
        return self._has_line[x] or self._has_line[o] or x | o == self._full

    def returns(self, state: State) -> Sequence[float]:
        """Return 1 for the side with a line and -1 for the other side; 0 for both if neither side has a line."""
        x, o = state
        if self._has_line[x]:
            return (1.0, -1.0)
        return (-1.0, 1.0) if self._has_line[o] else (0.0, 0.0)

    def threats(self, state: State, seat: int) -> Sequence[int]:
        """Return the empty cells that complete a line of `seat`."""
        x, o = state
        if self._has_line[x] or self._has_line[o]:
            return ()
        return self._free[self._full & ~(self._completing[state[seat]] & ~(x | o))]

    def action_space(self) -> Sequence[int]:
        """Return all cells."""
        return range(1, self.rows * self.columns + 1)

    def disguise(self, rng: random.Random) -> Disguise:
        """Return a story about stones (the cells) in overlapping groups (the lines of the board)."""
        squares = dict(zip(map(str, self._bit), draw_names(rng, self.rows * self.columns), strict=True))
        first, second = rng.sample(COLOURS, 2)
        names = {bit: squares[str(number)] for number, bit in self._bit.items()}
        groups = [" ".join(sorted([name for bit, name in names.items() if lane & bit])) for lane in self.lanes]
        rules = (
            f"There are {len(squares)} stones with names. Two players take turns to paint one unpainted stone, player 1 {first} "
            f"and player 2 {second}. Some stones belong together in groups: {', '.join(rng.sample(groups, len(groups)))}. The "
            "first player who has painted all stones of a group wins. If all stones are painted and nobody has a group, it is a "
            "draw. A move is the name of a stone. A position lists the stones, each with its paint, or - without paint."
        )
        return make_disguise(
            {"x": first, "o": second}, squares, rules, lambda state: mark_signs(squares, self.format_state(state).split("/"))
        )

    def compiled(self) -> MarkRules | None:
        """Return the rules written with whole numbers; None if a board takes more than 62 bits."""
        stride = self.columns + 1
        bits = [0, *self._bit.values()]
        if self.rows * stride <= MAX_TABLE_BITS:
            boards = range(1 << self.rows * stride)
            return TabledMarks(bits, bytes(map(self._has_line.__getitem__, boards)), [self._completing[one] for one in boards])
        return ShiftedMarks(bits, [1, stride, stride + 1, stride - 1], self.in_a_row) if self.rows * stride <= MAX_BITS else None

    def render(self, state: State) -> str:
        """Return the board with a line per row and dots for empty cells."""
        return "\n".join(" ".join(row) for row in self.format_state(state).split("/"))

    def format_state(self, state: State) -> str:
        """Return the text notation, such as `x../.o./...`."""
        x, o = state
        marks = "".join(["x" if x & bit else "o" if o & bit else "." for bit in self._bit.values()])
        return "/".join([marks[start : start + self.columns] for start in range(0, len(marks), self.columns)])

    def parse_state(self, text: str) -> State:
        """Parse a text such as `x../.o./...`. Raises ValueError for another size, other marks or impossible numbers of them."""
        marks = "".join(parse_rows(text.strip().lower(), self.rows, self.columns, text))
        x, o = (sum(bit for mark, bit in zip(marks, self._bit.values(), strict=True) if mark == side) for side in "xo")
        check_turns(x, o, text)
        if self._has_line[x] and self._has_line[o]:
            raise ValueError(f"both sides have {self.in_a_row} in a row in {abbreviate(text)}")
        last = "o" if x.bit_count() == o.bit_count() else "x"
        if self._has_line[x if last == "o" else o]:
            raise ValueError(f"play continued after a win in {abbreviate(text)}: {last} cannot have moved last")
        return (x, o)


class BoardGeometry:
    """Constants for a size of the board, computed once for each size."""

    def __init__(self, rows: int, columns: int, in_a_row: int) -> None:
        self._rows = rows
        self._columns = columns
        self._in_a_row = in_a_row
        stride = columns + 1
        cells = [row * stride + column for row in range(rows) for column in range(columns)]
        self.bit = {number: 1 << bit for number, bit in enumerate(cells, 1)}
        """The bit of each cell; the keys are the numbers of the cells."""
        self.full = sum(self.bit.values())
        self._directions = (1, stride, stride + 1, stride - 1)
        self.lanes = tuple(self._lanes())
        """The cells of every line that wins."""
        self.has_line = _Table(self._line, rows * stride)
        self.free = _Table(self._empty_cells, rows * stride)
        self.completing = _Table(self._completions, rows * stride)

    def _lanes(self) -> list[int]:
        lanes = []
        for row, column in product(range(self._rows), range(self._columns)):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                last_row, last_column = row + down * (self._in_a_row - 1), column + right * (self._in_a_row - 1)
                if last_row < self._rows and 0 <= last_column < self._columns:
                    lane = [(row + down * k) * (self._columns + 1) + column + right * k for k in range(self._in_a_row)]
                    lanes.append(sum(1 << bit for bit in lane))
        return list(dict.fromkeys(lanes))  # with one in a row, all four directions give the same lane

    def _line(self, marks: int) -> bool:
        if self._in_a_row == 1:
            return marks != 0
        for step in self._directions:
            run, length = marks, 1
            while run and length < self._in_a_row:  # run holds the starts of `length` marks in a row
                more = min(length, self._in_a_row - length)
                run &= run >> (step * more)
                length += more
            if run:
                return True
        return False

    def _completions(self, marks: int) -> int:
        """The cells, marked or not, that would complete a line together with `marks`."""
        found = 0
        for step in self._directions:
            for place in range(self._in_a_row):  # the place of the cell in its line
                cells = self.full
                for other in range(self._in_a_row):
                    away = (other - place) * step
                    if away:
                        cells &= marks >> away if away > 0 else marks << -away
                found |= cells
        return found

    def _empty_cells(self, marks: int) -> tuple[int, ...]:
        return tuple([number for number, bit in self.bit.items() if not marks & bit])


@cache
def geometry(rows: int, columns: int, in_a_row: int) -> BoardGeometry:
    """Return the geometry of a board; every call returns the same object."""
    return BoardGeometry(rows, columns, in_a_row)


class _Table(dict[int, Entry]):
    """Computes an entry when it is first needed. A table that would become too large keeps no entries."""

    def __init__(self, compute: Callable[[int], Entry], bits: int) -> None:
        self._compute = compute
        self._keeps = bits <= MAX_TABLE_BITS

    def __missing__(self, marks: int) -> Entry:
        found = self._compute(marks)
        if self._keeps:
            self[marks] = found
        return found


@heuristic("open-lanes", game="tic-tac-toe")
class OpenLanes:
    """Counts the lanes (lines of cells that would win) with marks of only one side. Lanes with more marks count more.

    A lane with k marks of one side and none of the other counts 3^(k-1) for that side. The sum is divided by 10 * 3^(in_a_row -
    3) and clipped to [-0.99, 0.99]. For three in a row, this is the evaluation in S. Russell, P. Norvig, Artificial
    Intelligence: A Modern Approach, 3rd edition, 2010, exercise 5.9, divided by 10.
    """

    def __init__(self, game: TicTacToe) -> None:
        self._lanes = game.lanes
        self._worth = [0, *(3**k for k in range(game.in_a_row))]
        self._scale = 10 * 3.0 ** (game.in_a_row - 3)

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the value of a state for `player`, within [-0.99, 0.99]."""
        own, other = state[player], state[1 - player]
        worth = self._worth
        total = 0
        for lane in self._lanes:
            if lane & own:
                if not lane & other:
                    total += worth[(lane & own).bit_count()]
            elif lane & other:
                total -= worth[(lane & other).bit_count()]
        return max(-0.99, min(0.99, total / self._scale))

    def compiled(self, rules: MarkRules) -> Lanes:
        """Return the same heuristic with whole numbers."""
        return Lanes(list(self._lanes), self._worth, self._scale)


@encoding("planes", game="tic-tac-toe", shape=lambda game: (2, game.rows, game.columns))
class TicTacToePlanes:
    """The marks of the seat, then the marks of the opponent."""

    def __init__(self, game: TicTacToe) -> None:
        self._bits = list(geometry(game.rows, game.columns, game.in_a_row).bit.values())

    def __call__(self, observation: State, seat: int) -> list[int]:
        """Return two planes."""
        return list_marks(observation[seat], self._bits) + list_marks(observation[1 - seat], self._bits)
