"""Sudoku with whole numbers, for compiled searches: a mask of the possible digits for every cell."""

import struct
from collections.abc import Iterator, Sequence

from arena.compiled import Grid, Words


class SudokuRules(Grid):
    """A state has a number for every cell: a bit for each digit that is or may be there, and a higher bit if the cell is empty.

    Actions, their order and the choice of the next cell are the same as in the game; see `GridGeometry.most_constrained`.
    """

    players = 1
    tree = True  # two branches have different digits in a cell and never meet again

    def __init__(self, box: int, units: list[list[int]], *, first: bool) -> None:
        self.digits = box * box
        self.words = self.cells = self.digits**2
        self.width = self.digits
        self.everything = (1 << self.digits) - 1
        self.units = units
        """The cells of the rows, then of the columns, then of the boxes."""
        self.peers = [sorted({peer for unit in units if cell in unit for peer in unit} - {cell}) for cell in range(self.cells)]
        self.first = first
        self._plane = (1 << 32 * self.cells) - 1
        self._ones = int.from_bytes(b"\1\0\0\0" * (self.digits + 1) * self.cells, "little")

    def encode(self, state: int) -> Words:
        """Return the masks of a grid. The grid has a plane of bits for each digit, and this method collects the bits of each cell
        in 32 bits of its own.
        """
        bits = format(state, f"0{(self.digits + 1) * self.cells}b")[::-1]
        lanes = int.from_bytes(bits.encode("utf-32-le"), "little") & self._ones
        masks = 0
        for digit in range(self.digits + 1):
            masks |= (lanes >> 32 * self.cells * digit & self._plane) << digit
        return struct.unpack(f"<{self.cells}I", masks.to_bytes(4 * self.cells, "little"))

    def is_goal(self, state: Sequence[int]) -> bool:
        """Return whether the grid is full and has no contradiction."""
        for cell in range(self.cells):
            if state[cell] > self.everything:
                return False
        for unit in range(3 * self.digits):
            seen = 0
            for cell in self.units[unit]:
                if state[cell].bit_count() != 1:
                    return False
                seen |= state[cell]
            if seen != self.everything:
                return False
        return True

    def actions(self, state: Sequence[int]) -> Iterator[int]:
        """Yield the actions of the next cell to fill."""
        choice = self.first_empty(state) if self.first else self.most_constrained(state)
        cell = choice >> self.digits
        for digit in range(self.digits):
            if (choice >> digit) & 1:
                yield cell * self.digits + digit

    def first_empty(self, state: Sequence[int]) -> int:
        """Return the first empty cell, with the mask of its digits in the lower bits; 0 if there is none."""
        for cell in range(self.cells):
            if state[cell] > self.everything:
                return (cell << self.digits) | (state[cell] & self.everything)
        return 0

    def most_constrained(self, state: Sequence[int]) -> int:
        """Return the empty cell with the fewest digits, in the form of `first_empty`; 0 at a dead end."""
        fewest = self.digits + 1
        found = 0
        for cell in range(self.cells):
            digits = state[cell]
            if digits > self.everything:
                left = digits.bit_count() - 1
                if left < fewest:
                    fewest = left
                    found = cell
        if fewest == 0 or fewest > self.digits:
            return 0
        if fewest > 1:
            for kind in range(3):
                forced = self.only_place(state, kind * self.digits)
                if forced >= 0:
                    return forced
        return (found << self.digits) | (state[found] & self.everything)

    def only_place(self, state: Sequence[int], start: int) -> int:
        """Return the lowest digit that has only one place in a unit, with its cell; 0 if a digit has no place; otherwise -1.

        The units are the rows, the columns or the boxes, which begin at `start`.
        """
        single = 0
        for unit in range(start, start + self.digits):
            once = 0
            twice = 0
            free = 0
            for cell in self.units[unit]:
                digits = state[cell]
                twice |= once & digits
                once |= digits
                free |= digits if digits > self.everything else 0
            if once & self.everything != self.everything:
                return 0
            single |= once & ~twice & free & self.everything
        if single == 0:
            return -1
        digit = single & -single
        return self.place_of(state, digit, start)

    def place_of(self, state: Sequence[int], digit: int, start: int) -> int:
        """Return the first empty cell that is the only place in a unit for one of the digits in `digit`, and the bit of this
        digit.
        """
        first = self.cells
        for unit in range(start, start + self.digits):
            places = 0
            last = 0
            for cell in self.units[unit]:
                if state[cell] & digit:
                    places += 1
                    last = cell
            if places == 1 and state[last] > self.everything and last < first:
                first = last
        return (first << self.digits) | digit

    def apply(self, state: list[int], action: int) -> None:
        """Put a digit into a cell."""
        cell = action // self.digits
        digit = 1 << action % self.digits
        for peer in self.peers[cell]:
            state[peer] &= ~digit
        state[cell] = digit
