"""Connect four on a board of any size, on bitboards.

A state is (stones of the side to move, all stones, ending). Cell (row from the bottom, column) is bit
`column * (rows + 1) + row`: the spare bit above every column is always 0, so that lines do not run over the edge, and
adding 1 at the foot of a column carries to its first empty cell (J. Tromp, Fhourstones). The ending is kept with the
state, because a search asks for it several times a state.

All four directions are searched for lines at once: one multiplication puts four copies of a board side by side, each moved by a
number of steps in its own direction.
"""

import random
from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from arena import Game
from arena_games.connect_four_rules import MAX_BITS, StoneRules
from arena_games.marks import check_turns, parse_rows

State = tuple[int, int, int]
Side = Annotated[int, Field(ge=1, le=50)]

OPEN, WON, DRAWN = 0, 1, 2
"""The ending of a state: play goes on, the side that moved last has won, or the board is full."""
MAX_REMEMBERED = 4096
"""The number of cached action lists, each for a set of full columns."""


class ConnectFour(Game):
    """Stones fall to the lowest empty cell of a column; the first with `in_a_row` of them in a line wins.

    Actions are columns from 1. Text notation: rows from the top, `......./......./......./......./...o.../...x...`.
    """

    name = "connect-four"
    default_heuristic: ClassVar[str | None] = "open-lines"
    board = "boards/connect_four.js"

    def __init__(self, *, rows: Side = 6, columns: Side = 7, in_a_row: Side = 4) -> None:
        if in_a_row > max(rows, columns):
            raise ValueError(f"in_a_row: expected at most {max(rows, columns)}, the longer side, got {in_a_row}")
        self.rows = rows
        self.columns = columns
        self.in_a_row = in_a_row
        self._stride = rows + 1
        feet = [1 << column * self._stride for column in range(columns)]
        self._foot = [0, *feet]  # by action
        self._feet = sum(feet)
        self.squares = self._feet * ((1 << rows) - 1)
        self._tops = self._feet << (rows - 1)
        self._open = _OpenColumns(self._tops, self._stride)
        self._lay_out_copies()

    def _lay_out_copies(self) -> None:
        """Prepare the multipliers that copy a board four times, n steps on in each direction, and n steps back."""
        steps = (1, self._stride, self._stride + 1, self._stride - 1)
        reach = range(self.in_a_row)
        cells = self.columns * self._stride
        self._margin = margin = (self.in_a_row - 1) * (self._stride + 1)
        self.moved = [_copies(cells + margin, [n * step for step in steps]) for n in reach]
        self._four = (*self.moved, *self.moved[:1] * 3)[:4]  # if lines are shorter, the same copies again change nothing
        self._further = tuple(self.moved[4:])
        self._width = width = cells + 2 * margin
        self._on = [_copies(width, [margin + n * step for step in steps]) for n in reach[1:]]
        self._back = [_copies(width, [margin - n * step for step in steps]) for n in reach[1:]]

    def initial(self, rng: random.Random) -> State:
        """Return the empty board."""
        return (0, 0, OPEN)

    def to_move(self, state: State) -> int:
        """Return 0 for x when both have as many stones, else 1 for o."""
        return state[1].bit_count() & 1

    def actions(self, state: State) -> Sequence[int]:
        """Return the columns that are not full; none after a win."""
        return () if state[2] else self._open[state[1] & self._tops]

    def result(self, state: State, action: int) -> State:
        """Drop a stone of the side to move into a column."""
        own, filled, _ = state
        after = filled | (filled + self._foot[action])
        stones = own | (after ^ filled)
        one, two, three, four = self._four
        line = stones * one & stones * two & stones * three & stones * four
        if line:
            for moved in self._further:
                line &= stones * moved
            if line:
                return (own ^ filled, after, WON)
        return (own ^ filled, after, DRAWN if after == self.squares else OPEN)

    def is_terminal(self, state: State) -> bool:
        """Return whether a side has a line or the board is full."""
        return state[2] != OPEN

    def returns(self, state: State) -> Sequence[float]:
        """Return 1 for the side with a line and -1 for the other, 0 for both without one."""
        if state[2] != WON:
            return (0.0, 0.0)
        return (1.0, -1.0) if state[1].bit_count() & 1 else (-1.0, 1.0)

    def threats(self, state: State, seat: int) -> Sequence[int]:
        """Return the columns in which a stone of `seat` completes a line."""
        own, filled, ending = state
        if ending:
            return ()
        stones = own if filled.bit_count() & 1 == seat else own ^ filled
        wins = self._completing(stones) & (filled + self._feet) & self.squares
        columns = []
        while wins:
            lowest = wins & -wins
            columns.append(lowest.bit_length() // self._stride + 1)
            wins ^= lowest
        return columns

    def _completing(self, stones: int) -> int:
        """The cells, taken or not, that would complete a line together with `stones`; also bits outside the board."""
        run, before = -1, [-1]
        for moved in self._on:
            run &= stones * moved
            before.append(run)
        run, found = -1, before[-1]
        for moved, others in zip(self._back, before[-2::-1], strict=True):
            run &= stones * moved
            found |= run & others
        found |= found >> 2 * self._width
        return (found | found >> self._width) >> self._margin

    def action_space(self) -> Sequence[int]:
        """Return all columns."""
        return range(1, self.columns + 1)

    def compiled(self) -> StoneRules | None:
        """Return the rules over whole numbers; None for boards of more than 62 bits."""
        fits = self.columns * self._stride <= MAX_BITS
        return StoneRules(self.rows, self.columns, self.in_a_row) if fits else None

    def seats(self, state: State) -> tuple[int, int]:
        """Return the stones of x and of o."""
        own, filled, _ = state
        return (own ^ filled, own) if filled.bit_count() & 1 else (own, own ^ filled)

    def render(self, state: State) -> str:
        """Return the board, a row a line, empty cells as dots, with the numbers of the columns below."""
        wide = len(str(self.columns))
        rows = [list(row) for row in self.format_state(state).split("/")]
        rows.append([str(column) for column in range(1, self.columns + 1)])
        return "\n".join([" ".join([cell.rjust(wide) for cell in row]) for row in rows])

    def format_state(self, state: State) -> str:
        """Return the rows from the top, joined by `/`."""
        x, o = self.seats(state)
        rows = []
        for row in reversed(range(self.rows)):
            bits = [foot << row for foot in self._foot[1:]]
            rows.append("".join(["x" if x & bit else "o" if o & bit else "." for bit in bits]))
        return "/".join(rows)

    def parse_state(self, text: str) -> State:
        """Return the state of rows from the top joined by `/`.

        ValueError for another size, other marks, stones in the air, impossible numbers of them, two winners, and play
        that went on after a win. It is not checked whether alternating moves can lead to this order of stones within the columns.
        """
        rows = parse_rows(text.strip().lower(), self.rows, self.columns, text)
        for column, cells in enumerate(zip(*rows, strict=True), 1):
            if "." in "".join(cells).lstrip("."):
                raise ValueError(f"column {column} has a stone above an empty cell in {text!r}")
        marks = [(mark, 1 << c * self._stride + r) for r, row in enumerate(reversed(rows)) for c, mark in enumerate(row)]
        x, o = (sum(bit for mark, bit in marks if mark == side) for side in "xo")
        check_turns(x, o, text)
        return self._end_play(x, o, text)

    def _end_play(self, x: int, o: int, text: str) -> State:
        """The state of the stones of both sides; raises ValueError if a line makes the position impossible."""
        filled = x | o
        own, last, name = (x, o, "o") if x.bit_count() == o.bit_count() else (o, x, "x")
        if self._has_line(own):
            if self._has_line(last):
                raise ValueError(f"both sides have {self.in_a_row} in a row in {text!r}")
            raise ValueError(f"play went on after a win in {text!r}: {name} cannot have moved last")
        if not self._has_line(last):
            return (own, filled, DRAWN if filled == self.squares else OPEN)
        tops = (filled + self._feet) >> 1 & last  # of the columns in which their stone is on top
        if all(self._has_line(last & ~(1 << bit)) for bit in range(tops.bit_length()) if tops >> bit & 1):
            raise ValueError(f"play went on after a win in {text!r}: no last stone of {name} completes all lines")
        return (own, filled, WON)

    def _has_line(self, stones: int) -> bool:
        line = stones * self.moved[0]
        for moved in self.moved[1:]:
            line &= stones * moved
        return line != 0


def _copies(width: int, moves: Sequence[int]) -> int:
    """The factor that puts copies of a board side by side, `width` bits apart, each moved by its own number of bits."""
    return sum(1 << lane * width + move for lane, move in enumerate(moves))


class _OpenColumns(dict[int, tuple[int, ...]]):
    """The actions by the stones in the top row."""

    def __init__(self, tops: int, stride: int) -> None:
        super().__init__()
        self._tops = tops
        self._stride = stride

    def __missing__(self, taken: int) -> tuple[int, ...]:
        free = self._tops & ~taken
        columns = tuple([bit // self._stride + 1 for bit in range(free.bit_length()) if free >> bit & 1])
        if len(self) < MAX_REMEMBERED:
            self[taken] = columns
        return columns
