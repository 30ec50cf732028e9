"""Disjoint additive pattern databases for sliding tiles. R. E. Korf, A. Felner, Disjoint Pattern Database Heuristics, 2002."""

from collections.abc import Sequence
from hashlib import blake2b
from itertools import accumulate
from math import perm

from arena import heuristic, tell_progress
from arena_games.sliding_tiles import Lines, SlidingTiles, State
from arena_games.table_cache import cached

LARGEST = 1 << 25
"""Entries of a table, one byte each, placements that cannot be included."""
UNSEEN = 255
REGIONS = {
    (4, 4, "5-5-5"): ((0, 1, 2, 4, 5), (3, 6, 7, 10, 11), (8, 9, 12, 13, 14)),
    (3, 3, "4-4"): ((0, 1, 3, 4), (2, 5, 6, 7)),
}
"""Homes of the tiles of each pattern where neighbouring tiles are kept together, for goals with the blank last."""


@heuristic("pattern-db", game="sliding-tiles", admissible=True)
class PatternDB:
    """The sum, over disjoint sets of tiles, of the fewest slides of these tiles that bring them home whatever the others do.

    `partition` gives the sets: sizes such as `5-5-5` (the default on 4x4), taken in the order of the goal or in regions
    that are known to do well, or tiles such as `1,2,5,6-3,4,7,8-9,10,11,12-13,14,15`. Tables are built once, which takes
    seconds for sets of five tiles on 4x4, and kept in the user's cache folder. Where the blank is among the other tiles is
    left out of the tables, so a slide may change the estimate by more than one: it is not consistent.
    """

    def __init__(self, game: SlidingTiles, *, partition: str | None = None) -> None:
        cells = game.rows * game.columns
        patterns = partition_of(game, partition)
        bits = (cells - 1).bit_length()
        sizes = [bits * len(pattern) for pattern in patterns]
        for pattern, size in zip(patterns, sizes, strict=True):
            if 1 << size > LARGEST:
                raise ValueError(
                    f"partition: the table for {len(pattern)} tiles on {cells} cells is too large; take smaller sets"
                )
        starts = [0, *accumulate(sizes)]
        shifts = {
            tile: start + bits * n for pattern, start in zip(patterns, starts, strict=False) for n, tile in enumerate(pattern)
        }

        def row(number: int, tiles: Sequence[int]) -> int:
            first = number * game.columns
            return sum((first + place) << shifts[tile] for place, tile in enumerate(tiles) if tile)

        width = game.columns
        self._rows = [(slice(r * width, (r + 1) * width), Lines(row, r)) for r in range(game.rows)]
        self._tables = [
            (table_of(game, pattern), start, (1 << size) - 1)
            for pattern, start, size in zip(patterns, starts, sizes, strict=False)
        ]

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the estimated number of slides to the goal."""
        packed = 0
        for part, places in self._rows:
            packed += places[state[part]]
        total = 0
        for table, start, mask in self._tables:
            total += table[packed >> start & mask]
        return total


def partition_of(game: SlidingTiles, text: str | None) -> tuple[tuple[int, ...], ...]:
    """The sets of tiles that a partition stands for; ValueError where it is not a partition of the tiles."""
    tiles = [tile for tile in game.goal if tile]
    text = text or _default(game)
    parts = [[_number(word) for word in part.split(",")] for part in text.split("-")]
    if all(len(part) == 1 for part in parts) and sum(part[0] for part in parts) == len(tiles):
        return _by_sizes(game, text, [part[0] for part in parts])
    seen: set[int] = set()
    for tile in [tile for part in parts for tile in part]:
        if tile in seen:
            raise ValueError(f"partition: tile {tile} comes twice in {text!r}")
        if tile not in tiles:
            raise ValueError(
                f"partition: expected sizes that add up to {len(tiles)}, or tiles from 1 to {len(tiles)}, got {text!r}"
            )
        seen.add(tile)
    if len(seen) < len(tiles):
        missing = ", ".join(str(tile) for tile in tiles if tile not in seen)
        raise ValueError(f"partition: {text!r} leaves out tiles {missing}; sizes would add up to {len(tiles)}")
    return tuple([tuple(sorted(part)) for part in parts])


def _number(word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise ValueError(f"partition: expected sizes such as 5-5-5, or tiles such as 1,2,3-4,5, got {word!r}") from None


def _default(game: SlidingTiles) -> str:
    """Sets as large as a table of about a million entries allows, and about equal."""
    cells = game.rows * game.columns
    size = max(1, min(5, 20 // (cells - 1).bit_length()))
    parts = -(-(cells - 1) // size)
    return "-".join(str((cells - 1 + n) // parts) for n in reversed(range(parts)))


def _by_sizes(game: SlidingTiles, text: str, sizes: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    cells = game.rows * game.columns
    blank_first = game.goal[0] == 0
    regions = REGIONS.get((game.rows, game.columns, text))
    if regions is not None:  # turned by half a circle where the blank comes first
        return tuple(
            [tuple(sorted(game.goal[cells - 1 - home if blank_first else home] for home in region)) for region in regions]
        )
    tiles = [tile for tile in game.goal if tile]
    starts = [0, *accumulate(sizes)]
    return tuple([tuple(tiles[start : start + size]) for start, size in zip(starts, sizes, strict=False)])


def table_of(game: SlidingTiles, pattern: tuple[int, ...]) -> bytes:
    """The fewest slides of the tiles of a pattern for each of their placements, from the cache if it is there.

    The tiles stand on the cells that the bits of the index say, the first tile in the lowest.
    """
    bits = (game.rows * game.columns - 1).bit_length()
    layout = f"{game.rows}x{game.columns} {list(game.goal)} {pattern}"
    name = f"tiles-{game.rows}x{game.columns}-{'.'.join(map(str, pattern))}-{blake2b(layout.encode(), digest_size=4).hexdigest()}"
    return cached(name, 1 << bits * len(pattern), lambda: build(game, pattern))


def build(game: SlidingTiles, pattern: tuple[int, ...]) -> bytes:
    """Fill a table by breadth-first search backward from the goal, level by level.

    The blank moves for nothing among the cells without a tile of the pattern, so a node is a placement with a region of
    such cells that hang together. An entry is the least over the regions of its placement.
    """
    cells = game.rows * game.columns
    bits = (cells - 1).bit_length()
    regions = Regions(game)
    places = [game.goal.index(tile) for tile in pattern]
    placement = sum(place << bits * n for n, place in enumerate(places))
    home = regions[sum(1 << place for place in places)][0][game.goal.index(0)]
    table = bytearray([UNSEEN]) * (1 << bits * len(pattern))
    level = [placement << bits | home]
    seen = set(level)
    nodes = perm(cells, len(pattern))  # nearly all placements have one region
    distance = 0
    while level:
        level = _next_level(level, distance, table, seen, regions, bits, len(pattern))
        distance += 1
        tell_progress(f"pattern database of tiles {', '.join(map(str, pattern))}", min(len(seen), nodes), nodes)
    return bytes(table)


def _next_level(
    level: Sequence[int], distance: int, table: bytearray, seen: set[int], regions: "Regions", bits: int, tiles: int
) -> list[int]:
    """Enter the distance of every placement of a level and return the nodes one slide on that are new."""
    mask = (1 << bits) - 1
    shifts = range(bits, bits * (tiles + 1), bits)
    following: list[int] = []
    for node in level:
        if table[node >> bits] == UNSEEN:
            table[node >> bits] = distance
        shift_of = {node >> shift & mask: shift for shift in shifts}
        occupied = 0
        for cell in shift_of:
            occupied |= 1 << cell
        rest = node - (node & mask)
        for tile_cell, free_cell, after in regions[occupied][1][node & mask]:
            successor = rest + ((free_cell - tile_cell) << shift_of[tile_cell]) + regions[after][0][tile_cell]
            if successor not in seen:
                seen.add(successor)
                following.append(successor)
    return following


Slides = list[tuple[int, int, int]]
"""Each as the cell of a tile, the free cell that it slides into, and the cells that are occupied then."""


class Regions(dict[int, tuple[dict[int, int], dict[int, Slides]]]):
    """For each set of occupied cells: the region of every free cell, named after its least, and the slides into each region."""

    def __init__(self, game: SlidingTiles) -> None:
        self._beside = [game.beside(cell) for cell in range(game.rows * game.columns)]

    def __missing__(self, occupied: int) -> tuple[dict[int, int], dict[int, Slides]]:
        region_of: dict[int, int] = {}
        slides: dict[int, Slides] = {}
        for first in range(len(self._beside)):
            if not occupied >> first & 1 and first not in region_of:
                slides[first] = self._explored(first, occupied, region_of)
        self[occupied] = region_of, slides
        return region_of, slides

    def _explored(self, first: int, occupied: int, region_of: dict[int, int]) -> Slides:
        region_of[first] = first
        members = [first]
        found: Slides = []
        for cell in members:
            for neighbor in self._beside[cell]:
                if occupied >> neighbor & 1:
                    found.append((neighbor, cell, occupied ^ 1 << neighbor ^ 1 << cell))
                elif neighbor not in region_of:
                    region_of[neighbor] = first
                    members.append(neighbor)
        return found
