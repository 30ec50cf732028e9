"""The linear conflict heuristic of sliding tiles."""

from bisect import bisect_left
from collections.abc import Sequence
from functools import cache

from arena import heuristic
from arena_games.sliding_rules import ConflictSums, SlidingRules
from arena_games.sliding_tiles import Lines, SlidingTiles, State, cells_from_home


@heuristic("linear-conflict", game="sliding-tiles", admissible=True, consistent=True)
class LinearConflict:
    """Manhattan distance, and two more slides for every tile that has to leave its line to let others pass.

    Of the tiles that are in the row (column) where they belong, all must leave it once but a longest run that is in order.
    O. Hansson, A. Mayer, M. Yung, Criticizing solutions to relaxed models yields powerful admissible heuristics, 1992.
    """

    def __init__(self, game: SlidingTiles) -> None:
        cells = range(game.rows * game.columns)
        width = game.columns
        costs = [[cells_from_home(game, tile, cell) if tile else 0 for tile in cells] for cell in cells]
        homes = [divmod(game.goal.index(tile), width) for tile in cells]

        def row(number: int, tiles: Sequence[int]) -> int:
            distance = sum(costs[number * width + place][tile] for place, tile in enumerate(tiles))
            return distance + 2 * _leaving([homes[tile][1] for tile in tiles if tile and homes[tile][0] == number])

        def column(number: int, tiles: Sequence[int]) -> int:
            return 2 * _leaving([homes[tile][0] for tile in tiles if tile and homes[tile][1] == number])

        self._shape = (game.rows, width)
        self._costs = costs
        self._homes = homes
        self._lines = [(slice(r * width, (r + 1) * width), Lines(row, r)) for r in range(game.rows)]
        self._lines += [(slice(c, None, width), Lines(column, c)) for c in range(width)]

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the estimated number of slides to the goal."""
        total = 0
        for part, costs in self._lines:
            total += costs[state[part]]
        return total

    def compiled(self, rules: SlidingRules) -> ConflictSums | None:
        """Return the same, carried from state to state; None for boards with a side of more than five cells."""
        if max(self._shape) > LONGEST:
            return None
        costs = [list(column) for column in zip(*self._costs, strict=True)]
        rows, columns = self._shape
        return ConflictSums(self._shape, costs, self._homes, _conflicts(columns), _conflicts(rows))


LONGEST = 5
"""The longest line whose conflicts are put into a table."""


@cache
def _conflicts(length: int) -> list[int]:
    """What the conflicts of every content of a line cost: its digits are 0, or one more than the place where a tile belongs."""
    digits = [
        [number // (length + 1) ** place % (length + 1) for place in range(length)] for number in range((length + 1) ** length)
    ]
    return [2 * _leaving([digit for digit in one if digit]) for one in digits]


def _leaving(places: Sequence[int]) -> int:
    """How many must leave so that the rest is in increasing order: all but a longest increasing subsequence."""
    ends: list[int] = []  # ends[k]: the smallest end of an increasing subsequence of length k + 1
    for place in places:
        at = bisect_left(ends, place)
        ends[at : at + 1] = [place]
    return len(places) - len(ends)
