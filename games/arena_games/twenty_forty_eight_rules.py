"""2048 with whole numbers, for compiled random play: the cells are in an array that moves change."""

from collections.abc import Iterator, Mapping
from typing import Any

from arena import CHANCE
from arena.compiled import Grid, Words

DIRECTIONS = 4


class TileRules(Grid):
    """A state is (the tiles row by row, the score, the number of tiles to add).

    An action is a direction, from 0: up, down, left, right. An outcome is twice the cell, plus one for the larger tile.
    """

    width = DIRECTIONS
    players = 1

    def __init__(
        self, rows: int, columns: int, names: Mapping[tuple[int, int, int], str], directions: tuple[str, ...],
        tiles: tuple[tuple[int, float], ...],
    ) -> None:  # fmt: skip
        cells = rows * columns
        self.cells = cells
        self.words = cells + 2
        self.columns = columns
        self.directions = directions
        self.tiles = [tile for tile, _ in tiles]
        self.added = [names[cell // columns, cell % columns, tile] for cell in range(cells) for tile in self.tiles]
        self.lines = [columns, columns, rows, rows]
        """For each direction, the number of lines."""
        self.length = [rows, rows, columns, columns]
        self.first = [0, (rows - 1) * columns, 0, columns - 1]
        """For each direction, the first cell of the first line. The tiles of this line slide to this cell."""
        self.aside = [1, 1, columns, columns]
        """For each direction, the step from a line to the next."""
        self.along = [columns, -columns, 1, -1]
        """For each direction, the step from a cell of a line to the next cell."""
        self.odds = [probability for _, probability in tiles]

    def encode(self, state: Any) -> Words:
        """Return a state of the game as numbers."""
        rows, score, coming = state
        return (*[tile for row in rows for tile in row], score, coming)

    def action(self, state: Any, number: int) -> str:
        """Return the name of a direction, or of a tile and its cell."""
        return self.added[number] if state[2] else self.directions[number]

    def to_move(self, state: Words) -> int:
        """Return CHANCE when a tile is to be added, otherwise 0."""
        return CHANCE if state[self.cells + 1] > 0 else 0

    def chance(self, state: Words, number: float) -> int:
        """Return the outcome for a random number."""
        empty = 0
        for cell in range(self.cells):
            if state[cell] == 0:
                empty += 1
        outcome = 0
        reached = self.odds[0] / empty
        while outcome < 2 * empty - 1 and number >= reached:
            outcome += 1
            reached += self.odds[outcome % 2] / empty
        wanted = outcome // 2
        cell = 0
        while state[cell] != 0 or wanted > 0:
            if state[cell] == 0:
                wanted -= 1
            cell += 1
        return 2 * cell + outcome % 2

    def slides(self, state: Words, way: int) -> bool:
        """Return whether something moves in a direction: a tile into an empty cell, or two equal tiles that meet."""
        step = self.along[way]
        for line in range(self.lines[way]):
            cell = self.first[way] + line * self.aside[way]
            last = state[cell]
            gap = last == 0
            for _ in range(1, self.length[way]):
                cell += step
                tile = state[cell]
                if tile > 0 and (gap or tile == last):
                    return True
                gap = gap or tile == 0
                last = tile
        return False

    def actions(self, state: Words) -> Iterator[int]:
        """Yield the directions in which something moves."""
        for way in range(4):
            if self.slides(state, way):
                yield way

    def apply(self, state: Any, action: int) -> None:
        """Add a tile, or let all tiles slide."""
        cells = self.cells
        if state[cells + 1] > 0:
            state[action // 2] = self.tiles[action % 2]
            state[cells + 1] -= 1
        else:
            gained = 0
            step = self.along[action]
            for line in range(self.lines[action]):
                place = self.first[action] + line * self.aside[action]
                cell = place
                held = 0
                for _ in range(self.length[action]):
                    tile = state[cell]
                    state[cell] = 0
                    cell += step
                    if tile > 0 and tile == held:
                        state[place] = 2 * tile
                        gained += 2 * tile
                        place += step
                        held = 0
                    elif tile > 0:
                        if held > 0:
                            state[place] = held
                            place += step
                        held = tile
                if held > 0:
                    state[place] = held
            state[cells] += gained
            state[cells + 1] = 1

    def is_terminal(self, state: Words) -> bool:
        """Return whether nothing can slide."""
        if state[self.cells + 1] > 0:
            return False
        return not (self.slides(state, 0) or self.slides(state, 1) or self.slides(state, 2) or self.slides(state, 3))

    def returns(self, state: Words) -> tuple[float]:
        """Return the score."""
        return (float(state[self.cells]),)
