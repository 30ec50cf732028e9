"""Grids of sudoku as one integer each: placing a digit and detecting a dead end are operations on all cells at once.

With n digits there are n * n cells, numbered row by row. For every digit, beginning with 1 in the lowest bits, a grid has a plane
of n * n bits: the cells that have the digit or may still get it. The highest plane holds the empty cells. Placing a digit clears
bits, by one `and` with a precomputed mask. For 9 digits there are 810 bits, which take 132 bytes as a Python object.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple


class Units(NamedTuple):
    """All rows, all columns or all boxes, in all planes at once."""

    firsts: int
    """The first cell of each unit."""
    places: tuple[int, ...]
    """The offsets of a unit's cells from its first cell."""
    spread: int
    """Multiplied by the bits of first cells, this number gives all cells of the units."""


class GridGeometry:
    """Constants for one size of boxes; `geometry(box)` creates one object for each size."""

    def __init__(self, box: int) -> None:
        self.box = box
        self.digits = digits = box * box
        self.cells = cells = digits * digits
        self.shifts = range(0, digits * cells, cells)
        """The offsets of the planes of the digits."""
        self.top = digits * cells
        """The offset of the plane of the empty cells; a grid below `1 << top` is full."""
        self.plane = (1 << cells) - 1
        self.digit_planes = (1 << self.top) - 1
        self.blank = (1 << self.top + cells) - 1
        """The grid without any digit."""
        self.everywhere = _bits(self.shifts)
        """Multiplied by a plane, this number repeats the plane for every digit."""
        rows = range(0, cells, digits)
        columns = range(digits)
        corners = [row * digits + column for row in range(0, digits, box) for column in range(0, digits, box)]
        inside = [row * digits + column for row in range(box) for column in range(box)]
        self.units = (self._units(rows, columns), self._units(columns, rows), self._units(corners, inside))
        peers = [0] * cells  # for every cell the plane of its row, column and box
        for firsts, places, spread in self.units:
            for first in _cells(firsts & self.plane):
                for place in places:
                    peers[first + place] |= spread << first
        self.keep: list[int] = []
        """For every action, the mask of the bits that it keeps. Action `cell * digits + digit - 1` puts a digit into a cell."""
        for cell in range(cells):
            for shift in self.shifts:
                others = (1 << cell) * (self.everywhere | 1 << self.top) ^ 1 << cell + shift
                self.keep.append(self.blank & ~(others | (peers[cell] & ~(1 << cell)) << shift))

    def _units(self, firsts: Sequence[int], places: Sequence[int]) -> Units:
        return Units(_bits(firsts) * self.everywhere, tuple(places), _bits(places))

    def unit_cells(self) -> list[list[int]]:
        """Return the cells of every row, column and box."""
        return [[first + place for place in places] for firsts, places, _ in self.units for first in _cells(firsts & self.plane)]

    def __reduce__(self) -> Any:
        return geometry, (self.box,)

    def is_solved(self, grid: int) -> bool:
        """Return whether every cell holds one digit, and every row, column and box every digit; False for other integers."""
        if grid < 0 or grid >> self.top:
            return False
        once = twice = 0
        for shift in self.shifts:
            plane = grid >> shift & self.plane
            twice |= once & plane
            once |= plane
        if once != self.plane or twice:
            return False
        return all(_seen(grid, units) == (units.firsts, 0) for units in self.units)

    def most_constrained(self, grid: int) -> Sequence[int]:
        """Return the actions for the empty cell with the fewest digits left (the first one of several); none at a dead end.

        A digit is left if it is not in the row, column or box of the cell. If a row, column or box has no other place for a
        digit, the digit is the only one left in its cell. If a row, column or box has no place for a digit at all, the grid is a
        dead end.
        """
        empty = grid >> self.top
        plane = self.plane
        once = twice = thrice = 0
        for shift in self.shifts:
            cells = grid >> shift & plane
            thrice |= twice & cells
            twice |= once & cells
            once |= cells
        if empty & ~once:
            return ()
        fewest = empty & ~twice
        if not fewest:
            forced = self._only_place(grid, empty)
            if forced is not None:
                return forced
            fewest = empty & ~thrice or self._fewest(grid, empty)
        return self.actions_of((fewest & -fewest).bit_length() - 1, grid)

    def actions_of(self, cell: int, grid: int) -> Sequence[int]:
        """Return the actions for an empty cell, in the order of digits."""
        here = grid >> cell
        return [action for action, shift in enumerate(self.shifts, cell * self.digits) if here >> shift & 1]

    def _only_place(self, grid: int, empty: int) -> Sequence[int] | None:
        """Return a list with the action for a digit that has a single place in a row, column or box; None if there is no such
        digit. The list is empty at a dead end.
        """
        free = empty * self.everywhere & grid
        for units in self.units:
            once, twice = _seen(grid, units)
            if once != units.firsts:
                return ()
            forced = (once ^ twice) * units.spread & free
            if forced:
                digit, cell = divmod((forced & -forced).bit_length() - 1, self.cells)
                return (cell * self.digits + digit,)
        return None

    def _fewest(self, grid: int, empty: int) -> int:
        """Return the plane of the empty cells with the fewest digits left, if all have three or more."""
        at_least = [empty] + [0] * (self.digits + 1)
        for shift in self.shifts:
            for count in range(self.digits, 0, -1):
                at_least[count] |= at_least[count - 1] & grid >> shift
        return next(empty & ~cells for cells in at_least if empty & ~cells)


def _seen(grid: int, units: Units) -> tuple[int, int]:
    """Return, for every digit, the units in which it has a place, and those in which it has two or more, by their first cells."""
    firsts = units.firsts
    once = twice = 0
    for place in units.places:
        cells = grid >> place & firsts
        twice |= once & cells
        once |= cells
    return once, twice


def count_solutions(geometry: GridGeometry, grid: int, *, most: int = 2, nodes: int | None = None) -> int | None:
    """Return the number of solutions of a grid, up to `most`; None if counting takes more than `nodes` grids.

    With the default for `most`, 0 means none, 1 exactly one, and 2 several. The search is depth-first, with the most constrained
    cell first.
    """
    actions, keep, full = geometry.most_constrained, geometry.keep, 1 << geometry.top
    found = looked = 0
    unseen = [grid]
    while unseen:
        grid = unseen.pop()
        if grid < full:
            found += 1
            if found >= most:
                break
            continue
        looked += 1
        if nodes is not None and looked > nodes:
            return None
        for action in actions(grid):
            unseen.append(grid & keep[action])  # noqa: PERF401 - as quick, and easier to read
    return found


@cache
def geometry(box: int) -> GridGeometry:
    """Return the geometry of grids with boxes of `box` by `box` cells."""
    return GridGeometry(box)


def _bits(places: Sequence[int]) -> int:
    return sum(1 << place for place in places)


def _cells(plane: int) -> list[int]:
    """Return the cells of a plane, in order."""
    return [cell for cell in range(plane.bit_length()) if plane >> cell & 1]
