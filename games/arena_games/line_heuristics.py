"""The heuristics of sliding tiles that use whole rows and columns: linear conflict and walking distance."""

from bisect import bisect_left
from collections.abc import Sequence
from functools import cache

from arena import heuristic
from arena_games.sliding_rules import BITS, ConflictSums, SlidingRules, WalkSums, WalkTables
from arena_games.sliding_tiles import LineSums, SlidingTiles, State, cells_from_home, column_lines, row_lines

MAX_CONFLICT_CELLS = 5
"""The largest length of a line for which a table of conflicts is made."""
MAX_WALK_LINES = 4
"""The largest side of a board for walking distance. For 4x4, the table has 24,964 entries; for 5x5, it would have tens of
millions.
"""


@heuristic("linear-conflict", game="sliding-tiles", admissible=True, consistent=True)
class LinearConflict(LineSums):
    """Manhattan distance, plus two slides for every tile that has to leave its line to let others pass.

    Of the tiles that are in their goal row (or column), all except a longest subsequence in goal order must leave it once. O.
    Hansson, A. Mayer, M. Yung, Criticizing solutions to relaxed models yields powerful admissible heuristics, 1992.
    """

    def __init__(self, game: SlidingTiles) -> None:
        cells = range(game.rows * game.columns)
        width = game.columns
        costs = [[cells_from_home(game, tile, cell) if tile else 0 for tile in cells] for cell in cells]
        homes = [divmod(game.goal.index(tile), width) for tile in cells]

        def row(number: int, tiles: Sequence[int]) -> int:
            distance = sum(costs[number * width + place][tile] for place, tile in enumerate(tiles))
            return distance + 2 * _count_leaving([homes[tile][1] for tile in tiles if tile and homes[tile][0] == number])

        def column(number: int, tiles: Sequence[int]) -> int:
            return 2 * _count_leaving([homes[tile][0] for tile in tiles if tile and homes[tile][1] == number])

        self._shape = (game.rows, width)
        self._costs = costs
        self._homes = homes
        self._lines = row_lines(game, row) + column_lines(game, column)

    def compiled(self, rules: SlidingRules) -> ConflictSums | None:
        """Return the same heuristic with whole numbers, updated from state to state; None if a side has more than five cells."""
        if max(self._shape) > MAX_CONFLICT_CELLS:
            return None
        costs = [list(column) for column in zip(*self._costs, strict=True)]
        rows, columns = self._shape
        return ConflictSums(self._shape, costs, self._homes, _conflict_costs(columns), _conflict_costs(rows))


@cache
def _conflict_costs(length: int) -> list[int]:
    """Return the costs of the conflicts for all contents of a line. Each digit is 0 or, for a tile, 1 plus its place."""
    digits = [
        [number // (length + 1) ** place % (length + 1) for place in range(length)] for number in range((length + 1) ** length)
    ]
    return [2 * _count_leaving([digit for digit in one if digit]) for one in digits]


def _count_leaving(places: Sequence[int]) -> int:
    """Return the number of tiles that must leave so that the others are in order: all except a longest increasing subsequence."""
    ends: list[int] = []  # ends[k]: the smallest end of an increasing subsequence of length k + 1
    for place in places:
        at = bisect_left(ends, place)
        ends[at : at + 1] = [place]
    return len(places) - len(ends)


@heuristic("walking-distance", game="sliding-tiles", admissible=True, consistent=True)
class WalkingDistance:
    """The fewest vertical slides that bring every tile into its row, plus the same for columns.

    Only the row of each tile and of the blank counts, so all such arrangements fit into a table, which breadth-first search
    fills. K. Takahashi, Walking Distance, 2001. It works on boards of at most 4 by 4 cells.
    """

    def __init__(self, game: SlidingTiles) -> None:
        if max(game.rows, game.columns) > MAX_WALK_LINES:
            raise ValueError(
                f"walking-distance: expected at most {MAX_WALK_LINES} rows and columns, got {game.rows} x {game.columns}"
            )
        home = game.goal.index(0)
        width, height = game.columns, game.rows
        places = [divmod(game.goal.index(tile), width) for tile in range(width * height)]

        def row(number: int, tiles: Sequence[int]) -> int:
            return _pack(number, [places[tile][0] for tile in tiles if tile], height)

        def column(number: int, tiles: Sequence[int]) -> int:
            return _pack(number, [places[tile][1] for tile in tiles if tile], width)

        self._rows = row_lines(game, row)
        self._columns = column_lines(game, column)
        self._vertical = _arrangements(height, width, home // width)[0]
        self._horizontal = _arrangements(width, height, home % width)[0]
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
        """Return the same heuristic with whole numbers, updated from state to state."""
        height, width = self._shape
        row, column = self._home
        return WalkSums(self._shape, self._places, _tables(height, width, row), _tables(width, height, column))


def _pack(line: int, homes: Sequence[int], lines: int) -> int:
    """Return how many tiles of a line belong to each line, packed into one number. The numbers of several lines can be added."""
    return sum(1 << BITS * (line * lines + home) for home in homes)


@cache
def _arrangements(lines: int, length: int, blank: int) -> tuple[dict[int, int], list[tuple[int, int]]]:
    """Find the fewest slides across lines for every arrangement that can be reached, by breadth-first search.

    The second part of the result has each arrangement with the line of its blank.
    """
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
