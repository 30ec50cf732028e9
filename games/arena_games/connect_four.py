"""Connect four on a board of any size, on bitboards.

A state is (stones of the side to move, all stones, ending). Cell (row from the bottom, column) is bit
`column * (rows + 1) + row`: the spare bit above every column is always 0. So lines do not run over the edge, and adding 1 at the
lowest cell of a column carries to its first empty cell (J. Tromp, Fhourstones). The ending is stored in the state, because a
search needs it several times for each state.

All four directions are searched for lines at once: one multiplication puts four copies of a board side by side, each moved by a
number of steps in its own direction.
"""

import random
from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from arena import Disguise, Game, encoding
from arena.api.errors import abbreviate
from arena_games.connect_four_rules import MAX_BITS, StoneRules
from arena_games.disguises import COLOURS, draw_names, make_disguise
from arena_games.marks import check_turns, list_marks, parse_rows

State = tuple[int, int, int]
Side = Annotated[int, Field(ge=1, le=50)]

OPEN, WON, DRAWN = 0, 1, 2
"""The ending of a state: play goes on, the side that moved last has won, or the board is full."""
MAX_REMEMBERED = 4096
"""The number of cached action lists, each for a set of full columns."""


class ConnectFour(Game):
    """Stones fall to the lowest empty cell of a column. The first side with `in_a_row` stones in a line wins.

    Also called connect 4, connect4 or four in a row. The board has `rows` rows and `columns` columns. Actions are columns from 1.
    Text notation: rows from the top, `......./......./......./......./...o.../...x...`.
    """

    name = "connect-four"
    rules_text = (
        "Two sides, x and o, take turns; x begins. A move drops a stone of your side into a column, where it falls to the "
        "lowest empty cell. The first side with `in_a_row` of its stones next to each other in a row, a column or a diagonal "
        "wins. A full board without such a line is a draw. A move is the number of a column, counted from 1 at the left. A "
        "position is written row by row from the top, joined by /, with a dot for an empty cell: "
        "`......./......./......./......./...o.../...x...`."
    )
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
        self._foot = [0, *feet]  # the lowest cell of each column, by action
        self._feet = sum(feet)
        self.squares = self._feet * ((1 << rows) - 1)
        self._tops = self._feet << (rows - 1)
        self._open = _OpenColumns(self._tops, self._stride)
        self._lay_out_copies()

    def _lay_out_copies(self) -> None:
        """Prepare the multipliers that put four copies of a board side by side, each moved n steps in its own direction."""
        steps = (1, self._stride, self._stride + 1, self._stride - 1)
        reach = range(self.in_a_row)
        cells = self.columns * self._stride
        self._margin = margin = (self.in_a_row - 1) * (self._stride + 1)
        self.moved = [_copies(cells + margin, [n * step for step in steps]) for n in reach]
        self._four = (*self.moved, *self.moved[:1] * 3)[:4]  # for shorter lines, the first copies are repeated, without effect
        self._further = tuple(self.moved[4:])
        self._width = width = cells + 2 * margin
        self._on = [_copies(width, [margin + n * step for step in steps]) for n in reach[1:]]
        self._back = [_copies(width, [margin - n * step for step in steps]) for n in reach[1:]]

    def initial(self, rng: random.Random) -> State:
        """Return the empty board."""
        return (0, 0, OPEN)

    def to_move(self, state: State) -> int:
        """Return 0 for x if both sides have the same number of stones, otherwise 1 for o."""
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
        """Return 1 for the side with a line and -1 for the other side; 0 for both if neither side has a line."""
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
        """Return the cells, empty or not, that would complete a line with `stones`. Some bits may be outside the board."""
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

    def disguise(self, rng: random.Random) -> Disguise:
        """Return a story about shelves that are filled with books. The order of the columns may be reversed."""
        squares = dict(zip(map(str, self.action_space()), draw_names(rng, self.columns), strict=True))
        first, second = rng.sample(COLOURS, 2)
        order = list(squares.values())[:: rng.choice((1, -1))]
        count = self.in_a_row
        rules = (
            f"A library has {self.columns} shelves. From one end of the hall to the other they are: {', '.join(order)}. A shelf "
            f"takes {self.rows} books, which get the positions 1 to {self.rows} in the order in which they are added. Two "
            f"players take turns to add a book to a shelf that has room, player 1 {first} books and player 2 {second} ones. A "
            f"player wins with {count} books of their own colour at positions that follow each other on one shelf, or at one and "
            f"the same position on {count} shelves that follow each other in the hall, or on {count} such shelves at positions "
            "that rise, or fall, by one from each shelf to the next. If all shelves are full and nobody has won, it is a draw. "
            "A move is the name of a shelf. A position lists the shelves, each with its books from position 1 on, or - without "
            "books."
        )

        def signs(state: State) -> dict[str, str]:
            columns = zip(*reversed(self.format_state(state).split("/")), strict=True)
            return {name: "".join(column).strip(".") for name, column in zip(squares, columns, strict=True)}

        return make_disguise({"x": first, "o": second}, squares, rules, signs)

    def compiled(self) -> StoneRules | None:
        """Return the rules written with whole numbers; None if a board takes more than 62 bits."""
        fits = self.columns * self._stride <= MAX_BITS
        return StoneRules(self.rows, self.columns, self.in_a_row) if fits else None

    def seats(self, state: State) -> tuple[int, int]:
        """Return the stones of x and of o."""
        own, filled, _ = state
        return (own ^ filled, own) if filled.bit_count() & 1 else (own, own ^ filled)

    def render(self, state: State) -> str:
        """Return the board with a line per row, dots for empty cells, and the numbers of the columns below."""
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
        """Parse rows from the top, joined by `/`.

        Raises ValueError for another size, other marks, stones above empty cells, impossible numbers of stones, two winners, and
        moves after a win. It does not check whether alternating moves can lead to this order of stones in the columns.
        """
        rows = parse_rows(text.strip().lower(), self.rows, self.columns, text)
        for column, cells in enumerate(zip(*rows, strict=True), 1):
            if "." in "".join(cells).lstrip("."):
                raise ValueError(f"column {column} has a stone above an empty cell in {abbreviate(text)}")
        marks = [(mark, 1 << c * self._stride + r) for r, row in enumerate(reversed(rows)) for c, mark in enumerate(row)]
        x, o = (sum(bit for mark, bit in marks if mark == side) for side in "xo")
        check_turns(x, o, text)
        return self._end_play(x, o, text)

    def _end_play(self, x: int, o: int, text: str) -> State:
        """Return the state with these stones. Raises ValueError if a line makes the position impossible."""
        filled = x | o
        own, last, name = (x, o, "o") if x.bit_count() == o.bit_count() else (o, x, "x")
        if self._has_line(own):
            if self._has_line(last):
                raise ValueError(f"both sides have {self.in_a_row} in a row in {abbreviate(text)}")
            raise ValueError(f"play continued after a win in {abbreviate(text)}: {name} cannot have moved last")
        if not self._has_line(last):
            return (own, filled, DRAWN if filled == self.squares else OPEN)
        tops = (filled + self._feet) >> 1 & last  # the uppermost stones of the columns, as far as they belong to `last`
        if all(self._has_line(last & ~(1 << bit)) for bit in range(tops.bit_length()) if tops >> bit & 1):
            told = f"{name} already had a line before its last stone"
            raise ValueError(f"play continued after a win in {abbreviate(text)}: {told}")
        return (own, filled, WON)

    def _has_line(self, stones: int) -> bool:
        line = stones * self.moved[0]
        for moved in self.moved[1:]:
            line &= stones * moved
        return line != 0


def _copies(width: int, moves: Sequence[int]) -> int:
    """Return the factor that puts copies of a board side by side, `width` bits apart, each moved by its own number of bits."""
    return sum(1 << lane * width + move for lane, move in enumerate(moves))


class _OpenColumns(dict[int, tuple[int, ...]]):
    """A cache of the legal actions. The key is the set of stones in the top row."""

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


@encoding("planes", game="connect-four", shape=lambda game: (2, game.rows, game.columns))
class ConnectFourPlanes:
    """The stones of the seat, then the stones of the opponent."""

    def __init__(self, game: ConnectFour) -> None:
        self._seats = game.seats
        stride = game.rows + 1
        self._bits = [1 << column * stride + row for row in reversed(range(game.rows)) for column in range(game.columns)]

    def __call__(self, observation: State, seat: int) -> list[int]:
        """Return two planes."""
        stones = self._seats(observation)
        return list_marks(stones[seat], self._bits) + list_marks(stones[1 - seat], self._bits)
