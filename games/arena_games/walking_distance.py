"""The walking distance heuristic of sliding tiles."""

from collections.abc import Sequence
from functools import cache

from arena import heuristic
from arena_games.sliding_rules import BITS, SlidingRules, WalkSums, WalkTables
from arena_games.sliding_tiles import Lines, SlidingTiles, State

LONGEST = 4
"""Lines of the largest side: on 4x4 the table has 24,964 entries, on 5x5 it would have tens of millions."""


@heuristic("walking-distance", game="sliding-tiles", admissible=True, consistent=True)
class WalkingDistance:
    """The least number of vertical slides that bring every tile into its row, plus the same for columns.

    Only which row each tile is in and where the blank is counts, so all such arrangements fit into a table, which
    breadth-first search fills. K. Takahashi, Walking Distance, 2001. For boards of at most 4 by 4.
    """

    def __init__(self, game: SlidingTiles) -> None:
        if max(game.rows, game.columns) > LONGEST:
            raise ValueError(f"walking-distance: expected at most {LONGEST} rows and columns, got {game.rows} x {game.columns}")
        home = game.goal.index(0)
        width, height = game.columns, game.rows
        places = [divmod(game.goal.index(tile), width) for tile in range(width * height)]

        def row(number: int, tiles: Sequence[int]) -> int:
            return _packed(number, [places[tile][0] for tile in tiles if tile], height)

        def column(number: int, tiles: Sequence[int]) -> int:
            return _packed(number, [places[tile][1] for tile in tiles if tile], width)

        self._rows = [(slice(r * width, (r + 1) * width), Lines(row, r)) for r in range(height)]
        self._columns = [(slice(c, None, width), Lines(column, c)) for c in range(width)]
        self._vertical = _walks(height, width, home // width)
        self._horizontal = _walks(width, height, home % width)
        self._shape = (height, width)
        self._home = (home // width, home % width)
        self._places = places

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the estimated number of slides to the goal."""
        vertical = horizontal = 0
        for part, packed in self._rows:
            vertical += packed[state[part]]
        for part, packed in self._columns:
            horizontal += packed[state[part]]
        return self._vertical[vertical] + self._horizontal[horizontal]

    def compiled(self, rules: SlidingRules) -> WalkSums:
        """Return the same, carried from state to state."""
        height, width = self._shape
        row, column = self._home
        return WalkSums(self._shape, self._places, _tables(height, width, row), _tables(width, height, column))


def _packed(line: int, homes: Sequence[int], lines: int) -> int:
    """How many tiles of one line belong to each line, as one number; the numbers of all lines add up without carries."""
    return sum(1 << BITS * (line * lines + home) for home in homes)


def _walks(lines: int, length: int, blank: int) -> dict[int, int]:
    """The least number of slides across lines for every arrangement that can be reached."""
    return _arrangements(lines, length, blank)[0]


@cache
def _arrangements(lines: int, length: int, blank: int) -> tuple[dict[int, int], list[tuple[int, int]]]:
    """The same by breadth-first search, and the arrangements with the line of the blank of each."""
    goal = sum((length - (line == blank)) << BITS * (line * lines + line) for line in range(lines))
    found = {goal: 0}
    frontier = [(goal, blank)]
    mask = (1 << BITS) - 1
    for packed, empty in frontier:
        for line in (empty - 1, empty + 1):
            if 0 <= line < lines:
                for home in range(lines):
                    if packed >> BITS * (line * lines + home) & mask:
                        successor = packed - (1 << BITS * (line * lines + home)) + (1 << BITS * (empty * lines + home))
                        if successor not in found:
                            found[successor] = found[packed] + 1
                            frontier.append((successor, line))
    return found, frontier


@cache
def _tables(lines: int, length: int, blank: int) -> WalkTables:
    return WalkTables(*_arrangements(lines, length, blank), lines)
