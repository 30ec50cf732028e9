"""Sliding tiles with whole numbers, for compiled searches: boards of at most 16 cells, with four bits per cell in one number."""

from collections.abc import Iterator

from arena.compiled import Estimate, Rules, Words

MAX_CELLS = 16
"""The number of cells that fit into one number."""
BITS = 3
"""Walking distance counts the tiles in one line that belong to another line. Each count, at most 4, takes this number of bits."""


def _signed(bits: int) -> int:
    """Return the signed 64-bit number with these bits."""
    return bits - (1 << 64) if bits >> 63 else bits


class SlidingRules(Rules):
    """A state is (the tiles, with four bits per cell and cell 0 lowest; the cell of the blank). An action is the cell that
    slides.
    """

    words = 2
    width = 4
    players = 1

    def __init__(self, beside: list[list[int]], goal: bytes) -> None:
        self.beside = beside
        self.goal = goal
        self.placed = [_signed(tile << 4 * cell) for tile in range(MAX_CELLS) for cell in range(MAX_CELLS)]
        """The bits of a tile on a cell. The index is 16 * tile + cell, for which a shift is enough."""
        self.goal_tiles = self.packed(goal)

    def packed(self, state: bytes) -> int:
        """Return the tiles of a state in one signed 64-bit number."""
        return _signed(sum(tile << 4 * cell for cell, tile in enumerate(state)))

    def encode(self, state: bytes) -> Words:
        """Return the tiles and the cell of the blank."""
        return self.packed(state), state.index(0)

    def action(self, state: bytes, number: int) -> int:
        """Return the tile on a cell."""
        return state[number]

    def actions(self, state: Words) -> Iterator[int]:
        """Yield the cells next to the blank."""
        yield from self.beside[state[1]]

    def result(self, state: Words, action: int) -> Words:
        """Slide the tile on a cell into the blank."""
        tiles, blank = state
        row = ((tiles >> 4 * action) & 15) << 4
        return (tiles ^ self.placed[row + blank] ^ self.placed[row + action], action)

    def is_goal(self, state: Words) -> bool:
        """Return whether all tiles are in order."""
        return state[0] == self.goal_tiles

    def is_terminal(self, state: Words) -> bool:
        """Return whether the goal is reached."""
        return state[0] == self.goal_tiles

    def reverse(self, state: Words, action: int) -> int:
        """Return the old cell of the blank, because sliding the tile from there undoes the move."""
        return state[1]


class TileSums(Estimate):
    """An estimate that is a sum over the tiles. Each tile adds a number that depends on the tile and its cell."""

    words = 1

    def __init__(self, cells: int, costs: list[list[int]]) -> None:
        """`costs[tile][cell]` is the cost of a tile at a cell; it is 0 for the blank."""
        self.cells = cells
        self.costs = [cost for row in costs for cost in [*row, *[0] * (MAX_CELLS - len(row))]]
        """The costs at index 16 * tile + cell."""

    def first(self, state: Words) -> Words:
        """Return the sum."""
        total = 0
        for cell in range(self.cells):
            total += self.costs[(((state[0] >> 4 * cell) & 15) << 4) + cell]
        return (total,)

    def after(self, carried: Words, state: Words, action: int, successor: Words) -> Words:
        """Return the sum after one tile has moved to the former cell of the blank."""
        row = ((state[0] >> 4 * action) & 15) << 4
        return (carried[0] + self.costs[row + state[1]] - self.costs[row + action],)

    def value(self, carried: Words) -> float:
        """Return the sum."""
        return carried[0]


class PatternSums(Estimate):
    """The heuristic `pattern-db`. It carries two numbers from state to state: the cell of each tile, in four bits, and the same
    for the mirror image.
    """

    words = 2

    def __init__(
        self, tables: list[tuple[bytes, int, int]], shifts: dict[int, int], mirror_shifts: dict[int, int], mirror: list[int]
    ) -> None:
        self.table = b"".join([table for table, _, _ in tables])
        self.offsets = [sum(len(table) for table, _, _ in tables[:number]) for number in range(len(tables))]
        self.starts = [start for _, start, _ in tables]
        self.masks = [mask for _, _, mask in tables]
        self.parts = len(tables)
        self.shifts = [shifts.get(tile, 0) for tile in range(MAX_CELLS)]
        self.mirror_shifts = [mirror_shifts.get(tile, 0) for tile in range(MAX_CELLS)]
        self.mirrored = len(mirror) > 0
        self.mirror = mirror or list(range(MAX_CELLS))
        """For every cell, its mirror image at the diagonal."""
        self.cells = len(shifts) + 1

    def first(self, state: Words) -> Words:
        """Return the cells of the tiles."""
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
        """Return the cells of the tiles after one tile has moved to the former cell of the blank."""
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


class ConflictSums(Estimate):
    """The heuristic `linear-conflict`: a slide along a row changes the conflicts in two columns, and vice versa.

    For each line, the tiles that belong there are the digits of a number. This number is the index into a table with the costs of
    their conflicts.
    """

    words = 1

    def __init__(
        self,
        shape: tuple[int, int],
        costs: list[list[int]],
        homes: list[tuple[int, int]],
        row_costs: list[int],
        column_costs: list[int],
    ) -> None:
        self.rows, self.columns = shape
        self.costs = costs
        """`costs[tile][cell]` is the cost of a tile at a cell."""
        places = [divmod(cell, self.columns) for cell in range(self.rows * self.columns)]
        self.row_digits = [
            [(home[1] + 1) * (self.columns + 1) ** column if tile and home[0] == row else 0 for tile, home in enumerate(homes)]
            for row, column in places
        ]
        """`row_digits[cell][tile]` is 0 if the tile does not belong to the row of the cell. Otherwise it is the goal column of
        the tile (from 1), as a digit at the place of the cell's column. The sum over a row is its index in `row_costs`.
        """
        self.column_digits = [
            [(home[0] + 1) * (self.rows + 1) ** row if tile and home[1] == column else 0 for tile, home in enumerate(homes)]
            for row, column in places
        ]
        self.row_costs = row_costs
        self.column_costs = column_costs

    def row(self, tiles: int, number: int) -> int:
        """Return the cost of the conflicts of a row."""
        digits = 0
        for cell in range(number * self.columns, (number + 1) * self.columns):
            digits += self.row_digits[cell][(tiles >> 4 * cell) & 15]
        return self.row_costs[digits]

    def column(self, tiles: int, number: int) -> int:
        """Return the cost of the conflicts of a column."""
        digits = 0
        for cell in range(number, self.rows * self.columns, self.columns):
            digits += self.column_digits[cell][(tiles >> 4 * cell) & 15]
        return self.column_costs[digits]

    def first(self, state: Words) -> Words:
        """Return the estimate."""
        total = 0
        for cell in range(self.rows * self.columns):
            total += self.costs[(state[0] >> 4 * cell) & 15][cell]
        for number in range(self.rows):
            total += self.row(state[0], number)
        for number in range(self.columns):
            total += self.column(state[0], number)
        return (total,)

    def after(self, carried: Words, state: Words, action: int, successor: Words) -> Words:
        """Return the estimate after one tile has moved to the former cell of the blank."""
        tile = (state[0] >> 4 * action) & 15
        blank = state[1]
        total = carried[0] + self.costs[tile][blank] - self.costs[tile][action]
        old = action // self.columns
        new = blank // self.columns
        if old != new:
            total += self.row(successor[0], old) + self.row(successor[0], new)
            total -= self.row(state[0], old) + self.row(state[0], new)
        else:
            old = action % self.columns
            new = blank % self.columns
            total += self.column(successor[0], old) + self.column(successor[0], new)
            total -= self.column(state[0], old) + self.column(state[0], new)
        return (total,)

    def value(self, carried: Words) -> float:
        """Return the estimate."""
        return carried[0]


class WalkTables:
    """For every arrangement of tiles among lines: its distance, and its successors by slides into the blank's line.

    Arrangements are given by their indices in the sorted list `packed`.
    """

    def __init__(self, distances: dict[int, int], blanks: list[tuple[int, int]], lines: int) -> None:
        self.packed = sorted(distances)
        self.distances = [distances[one] for one in self.packed]
        numbers = {one: number for number, one in enumerate(self.packed)}
        self.following: list[list[int]] = []
        """For each arrangement, its successors. First come those after a slide from the line before the blank, then those after a
        slide from the line behind it; each group is in the order of the goal lines of the tile that slides."""
        for packed, blank in sorted(blanks):
            moves = [(line, home) for line in (blank - 1, blank + 1) for home in range(lines)]
            after = [
                packed - (1 << BITS * (line * lines + home)) + (1 << BITS * (blank * lines + home)) if 0 <= line < lines else -1
                for line, home in moves
            ]
            self.following.append([numbers.get(one, 0) for one in after])  # 0 if there is no such arrangement

    def number(self, packed: int) -> int:
        """Find the index of an arrangement by bisection."""
        low = 0
        high = len(self.packed)
        while low < high:
            middle = (low + high) >> 1
            if self.packed[middle] < packed:
                low = middle + 1
            else:
                high = middle
        return low


class WalkSums(Estimate):
    """The heuristic `walking-distance`. It carries the indices of the arrangements among rows and among columns from state to
    state.
    """

    words = 2

    def __init__(
        self, shape: tuple[int, int], homes: list[tuple[int, int]], vertical: WalkTables, horizontal: WalkTables
    ) -> None:
        self.rows, self.columns = shape
        self.home_rows, self.home_columns = zip(*homes, strict=True)
        self.vertical = vertical
        self.horizontal = horizontal

    def first(self, state: Words) -> Words:
        """Return the numbers of both arrangements."""
        vertical = 0
        horizontal = 0
        for cell in range(self.rows * self.columns):
            tile = (state[0] >> 4 * cell) & 15
            if tile:
                vertical += 1 << BITS * (cell // self.columns * self.rows + self.home_rows[tile])
                horizontal += 1 << BITS * (cell % self.columns * self.columns + self.home_columns[tile])
        return (self.vertical.number(vertical), self.horizontal.number(horizontal))

    def after(self, carried: Words, state: Words, action: int, successor: Words) -> Words:
        """Return the numbers after one tile has moved to the former cell of the blank."""
        tile = (state[0] >> 4 * action) & 15
        blank = state[1]
        if action == blank - self.columns or action == blank + self.columns:
            side = 0 if action < blank else self.rows
            return (self.vertical.following[carried[0]][side + self.home_rows[tile]], carried[1])
        side = 0 if action < blank else self.columns
        return (carried[0], self.horizontal.following[carried[1]][side + self.home_columns[tile]])

    def value(self, carried: Words) -> float:
        """Return the sum of both distances."""
        return self.vertical.distances[carried[0]] + self.horizontal.distances[carried[1]]
