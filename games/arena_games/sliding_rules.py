"""Sliding tiles over whole numbers, for compiled searches: boards of at most 16 cells, four bits a cell in one number."""

from collections.abc import Iterator

from arena.compiled import Estimate, Rules
from arena.compiled.rules import Words

MOST = 16
"""Cells that one number holds."""


def _signed(bits: int) -> int:
    """The number of signed 64 bits with these bits."""
    return bits - (1 << 64) if bits >> 63 else bits


class SlidingRules(Rules):
    """A state is (the tiles, four bits a cell, cell 0 lowest; the cell of the blank). An action is the cell that slides."""

    words = 2
    width = 4
    players = 1

    def __init__(self, beside: list[list[int]], goal: bytes) -> None:
        self.beside = beside
        self.goal = goal
        self.placed = [[_signed(tile << 4 * cell) for cell in range(MOST)] for tile in range(MOST)]
        """The bits of a tile on a cell."""
        self.goal_tiles = self.packed(goal)

    def packed(self, state: bytes) -> int:
        """Return the tiles of a state in one number of signed 64 bits."""
        return _signed(sum(tile << 4 * cell for cell, tile in enumerate(state)))

    def encode(self, state: bytes) -> Words:
        """Return the tiles and the cell of the blank."""
        return self.packed(state), state.index(0)

    def action(self, state: bytes, number: int) -> int:
        """Return the tile on a cell."""
        return state[number]

    def actions(self, state: Words) -> Iterator[int]:
        """Yield the cells beside the blank."""
        yield from self.beside[state[1]]

    def result(self, state: Words, action: int) -> Words:
        """Slide the tile on a cell into the blank, which is 0."""
        tiles, blank = state
        tile = (tiles >> 4 * action) & 15
        return (tiles ^ self.placed[tile][blank] ^ self.placed[tile][action], action)

    def is_goal(self, state: Words) -> bool:
        """Tell whether all tiles are in order."""
        return state[0] == self.goal_tiles

    def is_terminal(self, state: Words) -> bool:
        """Tell whether the goal is reached."""
        return state[0] == self.goal_tiles

    def reverse(self, state: Words, action: int) -> int:
        """Return the cell where the blank was: sliding that tile leads back."""
        return state[1]


class TileSums(Estimate):
    """An estimate that is a sum over the tiles of a number for the tile and its cell."""

    words = 1

    def __init__(self, cells: int, costs: list[list[int]]) -> None:
        self.cells = cells
        self.costs = costs
        """By tile and cell; 0 for the blank."""

    def first(self, state: Words) -> Words:
        """Return the sum."""
        total = 0
        for cell in range(self.cells):
            total += self.costs[(state[0] >> 4 * cell) & 15][cell]
        return (total,)

    def after(self, carried: Words, state: Words, action: int, successor: Words) -> Words:
        """Return the sum after one tile has moved to where the blank was."""
        tile = (state[0] >> 4 * action) & 15
        return (carried[0] + self.costs[tile][state[1]] - self.costs[tile][action],)

    def value(self, carried: Words) -> float:
        """Return the sum."""
        return carried[0]


class PatternSums(Estimate):
    """The heuristic `pattern-db`: where each tile is, four bits a tile, and the same of the mirror image."""

    words = 2

    def __init__(
        self, tables: list[tuple[bytes, int, int]], shifts: dict[int, int], mirror_shifts: dict[int, int], mirror: list[int]
    ) -> None:
        self.table = b"".join([table for table, _, _ in tables])
        self.offsets = [sum(len(table) for table, _, _ in tables[:number]) for number in range(len(tables))]
        self.starts = [start for _, start, _ in tables]
        self.masks = [mask for _, _, mask in tables]
        self.parts = len(tables)
        self.shifts = [shifts.get(tile, 0) for tile in range(MOST)]
        self.mirror_shifts = [mirror_shifts.get(tile, 0) for tile in range(MOST)]
        self.mirrored = len(mirror) > 0
        self.mirror = mirror or list(range(MOST))
        """For every cell the one across the diagonal."""
        self.cells = len(shifts) + 1

    def first(self, state: Words) -> Words:
        """Return where the tiles are."""
        own = 0
        image = 0
        for cell in range(self.cells):
            tile = (state[0] >> 4 * cell) & 15
            if tile:
                own += cell << self.shifts[tile]
                if self.mirrored:
                    image += self.mirror[cell] << self.mirror_shifts[tile]
        return (own, image)

    def after(self, carried: Words, state: Words, action: int, successor: Words) -> Words:
        """Return where they are after one has moved to where the blank was."""
        tile = (state[0] >> 4 * action) & 15
        blank = state[1]
        own = carried[0] + (blank - action) * (1 << self.shifts[tile])
        image = carried[1]
        if self.mirrored:
            image += (self.mirror[blank] - self.mirror[action]) * (1 << self.mirror_shifts[tile])
        return (own, image)

    def total(self, packed: int) -> int:
        """Return the sum of the tables."""
        found = 0
        for part in range(self.parts):
            found += self.table[self.offsets[part] + ((packed >> self.starts[part]) & self.masks[part])]
        return found

    def value(self, carried: Words) -> float:
        """Return the larger sum."""
        return max(self.total(carried[0]), self.total(carried[1])) if self.mirrored else self.total(carried[0])
