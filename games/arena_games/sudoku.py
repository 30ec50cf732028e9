"""Sudoku on grids of any n^2 by n^2 cells. States are integers in the format of `sudoku_grid`."""

import random
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from arena import Puzzle, encoding, heuristic
from arena_games.sudoku_grid import GridGeometry, count_solutions, geometry
from arena_games.sudoku_rules import SudokuRules

Box = Annotated[int, Field(ge=1, le=5)]
Givens = Annotated[int, Field(ge=0)]

DIGITS = "123456789ABCDEFGHIJKLMNOP"
GIVEN_SHARE = {1: 0.0, 2: 0.37, 3: 0.37}
"""The default share of givens (digits in a puzzle): 30 of 81 cells. Larger grids have more, because few givens would make the
search take days.
"""
LARGE_GIVEN_SHARE = 0.55
MAX_SEARCHED_BOX = 3
"""Grids with boxes up to this size are filled by search. Larger grids are made by shuffling a pattern, because a search may never
end.
"""
MAX_UNIQUENESS_NODES = 2_000
"""The node limit of a test for a second solution on larger grids. If the limit is reached, the digit stays in the puzzle."""

BLANKS = ".0-_*"
"""Characters for an empty cell."""
BORDERS = {*"-=+| "}
"""The characters of a line between two rows of boxes."""


class Sudoku(Puzzle):
    """Fill the grid so that every row, column and box holds every digit once.

    `box` is the side of a box, 3 for the usual grid. A random puzzle has exactly one solution. It has `givens` digits, or more if
    no other digit can be removed. With 0, digits are removed as long as possible. An action puts a digit that is not yet in the
    row, column or box into one empty cell: the one with the fewest possible digits, or with `cell: first` the first one. If a
    digit has no other place in a row, column or box, it is the only possible digit of its cell. Text notation: the cells row by
    row, with `.`, `0`, `-`, `_` or `*` for an empty cell and, on larger grids, letters from `A` for 10. An action is `r1c2=7`.

    The goal is a full grid without a contradiction; an Answer must also keep the digits of the position.
    """

    name = "sudoku"
    rules_text = (
        "Fill the empty cells of a grid so that every row, every column and every box holds each digit once. A box has `box` "
        "rows and `box` columns, and the grid has as many rows and columns as a box has cells: with boxes of 3 by 3, there "
        "are 9 rows and the digits 1 to 9. Digits above 9 are letters, beginning with A for 10. A digit that was put into a "
        "cell stays there. In each position, you can only fill one cell, which the rules select, and only with digits that "
        "are not yet in its row, column or box. If no digit is possible, the attempt has failed. The move `r1c2=7` puts a 7 "
        "into row 1, column 2; rows are counted from the top and columns from the left. A position is written as all cells, "
        "row by row, with a dot for an empty cell."
    )
    path_matters: ClassVar[bool] = False
    default_heuristic: ClassVar[str | None] = "empty-cells"
    board = "boards/sudoku.js"
    grid: GridGeometry  # type: ignore[assignment] # its own type: a board module draws the states, so `Game.grid` is unused

    def __init__(
        self,
        *,
        box: Box = 3,
        givens: Givens | None = None,
        cell: Literal["first", "most-constrained"] = "most-constrained",
    ) -> None:
        self.grid = grid = geometry(box)
        self.box = box
        self.givens = round(GIVEN_SHARE.get(box, LARGE_GIVEN_SHARE) * grid.cells) if givens is None else givens
        if self.givens > grid.cells:
            raise ValueError(f"givens: expected at most {grid.cells}, the number of cells, got {givens}")
        self.first = cell == "first"
        self._keep = grid.keep
        self._full = 1 << grid.top
        self._letters = DIGITS[: grid.digits]

    def initial(self, rng: random.Random) -> int:
        """Return a random puzzle with exactly one solution."""
        return random_puzzle(self.grid, self.givens, rng)

    def actions(self, state: int) -> Sequence[int]:
        """Return the actions for one empty cell; none if the grid is full, or at a dead end."""
        if state < self._full:
            return ()
        if not self.first:
            return self.grid.most_constrained(state)
        empty = state >> self.grid.top
        return self.grid.actions_of((empty & -empty).bit_length() - 1, state)

    def variables(self, state: int) -> Sequence[Sequence[int]]:
        """Return the actions for each empty cell, in the order of the cells."""
        empty, cells = state >> self.grid.top, range(self.grid.cells)
        return [self.grid.actions_of(cell, state) for cell in cells if empty >> cell & 1]

    def result(self, state: int, action: int) -> int:
        """Put a digit into a cell."""
        return state & self._keep[action]

    def action_space(self) -> Sequence[int]:
        """Return every digit for every cell, cell by cell."""
        return range(self.grid.cells * self.grid.digits)

    def is_goal(self, state: int) -> bool:
        """Return whether the grid is full without a contradiction."""
        return state < self._full and self.grid.is_solved(state)

    def is_answer(self, position: int, state: int) -> bool:
        """Return whether the grid is full without a contradiction and keeps every digit of the position."""
        return self.is_goal(state) and state & position == state

    def compiled(self) -> SudokuRules:
        """Return the rules written with whole numbers."""
        return SudokuRules(self.box, self.grid.unit_cells(), first=self.first)

    def solutions(self, state: int, *, nodes: int | None = None) -> int | None:
        """Return the number of solutions of a state: 0, 1, or 2 for several. None if counting takes more than `nodes` grids."""
        return count_solutions(self.grid, state, nodes=nodes)

    def list_digits(self, state: int) -> Sequence[int]:
        """Return the digits row by row, with 0 for empty cells."""
        grid = self.grid
        empty = state >> grid.top
        digits = [0] * grid.cells
        for digit, shift in enumerate(grid.shifts, 1):
            plane = state >> shift & grid.plane & ~empty
            while plane:
                cell = plane.bit_length() - 1
                digits[cell] = digit
                plane ^= 1 << cell
        return digits

    def format_state(self, state: int) -> str:
        """Return the cells row by row, with `.` for empty cells."""
        return "".join([self._letters[digit - 1] if digit else "." for digit in self.list_digits(state)])

    def parse_state(self, text: str) -> int:
        """Parse 81 characters (n^4 with boxes of n by n). `0`, `-`, `_` and `*` may replace `.`, letters may be lowercase, and
        spaces, line ends and lines between the boxes, as `render` draws them, do not count.

        Raises ValueError for a wrong length or character, or if two cells contradict each other; the message names them. It does
        not check whether there is a solution.
        """
        grid = self.grid
        rows = [line for line in text.splitlines() if "+" not in line or not {*line} <= BORDERS]
        marks = "".join(" ".join(rows).replace("|", " ").split()).upper()
        if len(marks) != grid.cells:
            raise ValueError(f"expected {grid.cells} characters, one per cell, got {len(marks)}")
        givens = [(cell, self._letters.find(mark)) for cell, mark in enumerate(marks) if mark not in BLANKS]
        for cell, digit in givens:
            if digit < 0:
                ends = f"{self._letters[0]} to {self._letters[-1]}"
                raise ValueError(f"expected {ends}, or . for an empty cell, got {marks[cell]!r} at {self._place(cell)}")
        state = grid.blank
        for number, (cell, digit) in enumerate(givens):
            bit = cell + grid.shifts[digit]
            if not state >> bit & 1:
                before = [one for one, same in givens[:number] if same == digit]
                other = next(one for one in before if not self._keep[one * grid.digits + digit] >> bit & 1)
                both = f"{self._place(other)} and {self._place(cell)} both hold {self._letters[digit]}"
                raise ValueError(f"contradiction: {both}")
            state &= grid.keep[cell * grid.digits + digit]
        return state

    def _place(self, cell: int) -> str:
        row, column = divmod(cell, self.grid.digits)
        return f"r{row + 1}c{column + 1}"

    def format_action(self, state: int, action: int) -> str:
        """Return the text of an action, such as `r1c2=7`."""
        cell, digit = divmod(action, self.grid.digits)
        return f"{self._place(cell)}={self._letters[digit]}"

    def render(self, state: int) -> str:
        """Return the grid with lines between the boxes."""
        box, digits, text = self.box, self.grid.digits, self.format_state(state)
        line = "-+-".join(["-" * (2 * box - 1)] * box)
        shown = []
        for row in range(digits):
            if row and row % box == 0:
                shown.append(line)
            marks = text[row * digits : (row + 1) * digits]
            shown.append(" | ".join(" ".join(marks[start : start + box]) for start in range(0, digits, box)))
        return "\n".join(shown)


@heuristic("empty-cells", game="sudoku", admissible=True, consistent=True)
def empty_cells(game: Sudoku, state: int, player: int = 0) -> float:
    """Return the number of cells that are still empty, each of which takes one action.

    Folklore, written for this project: it is the number of variables of a constraint problem that have no value yet.
    """
    return (state >> game.grid.top).bit_count()


@heuristic("candidates", game="sudoku")
def candidates(game: Sudoku, state: int, player: int = 0) -> float:
    """Return the number of candidates: pairs of an empty cell and a digit that is not yet in its row, column or box.

    A search by this number prefers grids that leave few choices. R. Haralick, G. Elliott, Increasing Tree Search Efficiency for
    Constraint Satisfaction Problems, Artificial Intelligence 14, 1980, call this principle fail-first; for D. Knuth, Dancing
    Links, 2000, the candidates are the options of an exact cover problem.
    """
    grid = game.grid
    return ((state >> grid.top) * grid.everywhere & state).bit_count()


def random_puzzle(geometry: GridGeometry, givens: int, rng: random.Random) -> int:
    """Return a grid with exactly one solution and `givens` digits, or more if no other digit can be removed.

    So with few givens, the puzzle is minimal: if any digit is removed, it has several solutions. With boxes larger than 3 by 3, a
    digit may also stay because testing it would take too long.
    """
    nodes = None if geometry.box <= MAX_SEARCHED_BOX else MAX_UNIQUENESS_NODES
    actions = _search_solution(geometry, rng) if geometry.box <= MAX_SEARCHED_BOX else _shuffle_solution(geometry, rng)
    rng.shuffle(actions)
    kept = len(actions)
    for action in list(actions):
        if kept <= givens:
            break
        actions.remove(action)
        cell, digit = divmod(action, geometry.digits)
        others = _fill(geometry, actions) & ~(1 << cell + geometry.shifts[digit])
        if count_solutions(geometry, others, most=1, nodes=nodes) == 0:
            kept -= 1
        else:
            actions.append(action)
    return _fill(geometry, actions)


def _search_solution(geometry: GridGeometry, rng: random.Random) -> list[int]:
    """Search depth-first with digits in random order. Grids are not equally likely, but every grid is possible."""
    unseen: list[tuple[int, tuple[int, ...]]] = [(geometry.blank, ())]
    while True:
        grid, done = unseen.pop()
        if not grid >> geometry.top:
            return list(done)
        actions = list(geometry.most_constrained(grid))
        rng.shuffle(actions)
        unseen += [(grid & geometry.keep[action], (*done, action)) for action in actions]


def _shuffle_solution(geometry: GridGeometry, rng: random.Random) -> list[int]:
    """Shuffle the digits, rows and columns of a known solution in ways that keep it a solution."""
    box, digits = geometry.box, geometry.digits
    names, rows, columns = rng.sample(range(digits), digits), _shuffle_lines(box, rng), _shuffle_lines(box, rng)
    found = []
    for row, old_row in enumerate(rows):
        for column, old_column in enumerate(columns):
            digit = names[(old_row % box * box + old_row // box + old_column) % digits]
            found.append((row * digits + column) * digits + digit)
    return found


def _shuffle_lines(box: int, rng: random.Random) -> list[int]:
    """Return rows or columns, shuffled within their bands, and with the bands shuffled, too."""
    return [band * box + line for band in rng.sample(range(box), box) for line in rng.sample(range(box), box)]


def _fill(geometry: GridGeometry, actions: list[int]) -> int:
    grid = geometry.blank
    for action in actions:
        grid &= geometry.keep[action]
    return grid


@encoding("planes", game="sudoku", shape=lambda game: (game.grid.digits + 1, game.grid.digits, game.grid.digits))
def sudoku_planes(game: Sudoku, observation: int, seat: int) -> list[int]:
    """Return a plane for each digit, with the cells that have it or may still get it, and a plane of the empty cells."""
    bits = f"{observation:0{game.grid.top + game.grid.cells}b}"
    return list(map(int, reversed(bits)))
