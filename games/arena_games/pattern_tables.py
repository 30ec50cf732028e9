"""The tables of pattern databases: the number of slides for every placement of the tiles in a pattern, found by search."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from importlib import import_module
from math import perm

from arena import ArenaError, State, tell_progress
from arena.api.store import cache_folder, make_cache_folder, read_cached, write_whole
from arena.compiled import Rules, Words
from arena_games.sliding_tiles import SlidingTiles

TABLE_VERSION = 2
"""The version of the format. It is increased when the meaning of a table changes."""
UNSEEN = 255
STATES_PER_REPORT = 1_000
"""Progress is reported once for this many states."""
REGION_BITS = 3
REGION_MASK = (1 << REGION_BITS) - 1
"""The mask for the number of a region. The tiles of the largest table divide a board into fewer than eight regions."""
Slides = list[tuple[int, int, int, int]]
"""A slide: the cell of a tile, the change of this cell, and the number and the bit of the region where the blank then is."""


def table_of(game: SlidingTiles, pattern: tuple[int, ...]) -> bytes:
    """Return the fewest slides of the tiles of a pattern for each of their placements, from the cache if possible.

    The index consists of the cells of the tiles, the first tile in the lowest bits.
    """
    bits = (game.rows * game.columns - 1).bit_length()
    layout = f"{game.rows}x{game.columns} {list(game.goal)} {pattern}"
    name = f"tiles-{game.rows}x{game.columns}-{'.'.join(map(str, pattern))}-{blake2b(layout.encode(), digest_size=4).hexdigest()}"
    return load_table(name, 1 << bits * len(pattern), lambda: compiled_build(game, pattern) or build(game, pattern))


class PatternRules(Rules):
    """The rules for only the tiles of a pattern. A state is their placement, with the cell of the blank in the lowest bits."""

    words = 1
    width = 4

    def __init__(self, game: SlidingTiles, tiles: int) -> None:
        cells = game.rows * game.columns
        self.bits = (cells - 1).bit_length()
        self.mask = (1 << self.bits) - 1
        self.tiles = tiles
        self.beside = [game.beside(cell) for cell in range(cells)]

    def entry(self, state: Words) -> int:
        """Return the placement."""
        return state[0] >> self.bits

    def actions(self, state: Words) -> Iterator[int]:
        """Yield the cells next to the blank."""
        yield from self.beside[state[0] & self.mask]

    def result(self, state: Words, action: int) -> Words:
        """Move the blank to a cell. If the tile there belongs to the pattern, it moves to the old cell of the blank."""
        blank = state[0] & self.mask
        placement = state[0] >> self.bits
        for tile in range(self.tiles):
            if (placement >> self.bits * tile) & self.mask == action:
                placement += (blank - action) * (1 << self.bits * tile)
        return ((placement << self.bits) | action,)


def compiled_build(game: SlidingTiles, pattern: tuple[int, ...]) -> bytes | None:
    """Return the result of `build` from compiled code, which visits every cell of the blank; None without compiled code."""
    try:
        distance_table = import_module("arena_compiled.pattern_distances").distance_table
    except ArenaError:
        return None
    rules = PatternRules(game, len(pattern))
    cells, bits = game.rows * game.columns, rules.bits
    placement = sum(game.goal.index(tile) << bits * n for n, tile in enumerate(pattern))
    start, entries = placement << bits | game.goal.index(0), 1 << bits * len(pattern)
    states = perm(cells, len(pattern) + 1)
    table: bytes | None = distance_table(rules, start, entries << bits, entries, lambda seen: _report(pattern, seen, states))
    return table


def _report(pattern: tuple[int, ...], seen: int, states: int) -> None:
    tell_progress(f"pattern database of tiles {', '.join(map(str, pattern))}", min(seen, states), states)


def search_backward(
    what: str, goal: State, total: int, expand: Callable[[State], Iterable[State]], enter: Callable[[State, int], None]
) -> None:
    """Search all states from the goal, level by level, and call `enter` with each state and its distance. `what`
    is the name of this work in reports of progress, and `total` is the number of states.
    """
    tell_progress(what, 0, total)
    level, seen, distance = [goal], {goal}, 0
    while level:
        after = []
        for number, state in enumerate(level):
            enter(state, distance)
            for successor in expand(state):
                if successor not in seen:
                    seen.add(successor)
                    after.append(successor)
            if number % STATES_PER_REPORT == 0:
                tell_progress(what, min(len(seen), total - 1), total)
        level, distance = after, distance + 1
    tell_progress(what, total, total)


def build(game: SlidingTiles, pattern: tuple[int, ...]) -> bytes:
    """Fill a table by breadth-first search backward from the goal, level by level.

    The blank moves at no cost among cells without a tile of the pattern. So a node is a placement together with a connected
    region of such cells. An entry is the minimum over the regions of its placement.
    """
    cells = game.rows * game.columns
    bits = (cells - 1).bit_length()
    regions = Regions(game)
    places = [game.goal.index(tile) for tile in pattern]
    placement = sum(place << bits * n for n, place in enumerate(places))
    home = regions[sum(1 << place for place in places)][0][game.goal.index(0)]
    search = Backward(regions, bits, len(pattern))
    search.table[placement], search.seen[placement] = 0, 1 << home
    level = [placement << REGION_BITS | home]
    found, nodes = 1, perm(cells, len(pattern))  # most placements have one region
    while level:
        level = search.next_level(level)
        found += len(level)
        _report(pattern, found, nodes)
    return bytes(search.table)


class Backward:
    """A breadth-first search over placements: the table that it fills, and one bit for each visited region of a placement."""

    def __init__(self, regions: "Regions", bits: int, tiles: int) -> None:
        self.table = bytearray([UNSEEN]) * (1 << bits * tiles)
        self.seen = bytearray(1 << bits * tiles)
        self._regions = regions
        self._mask = (1 << bits) - 1
        self._shifts = range(0, bits * tiles, bits)
        self._distance = 0

    def next_level(self, level: Sequence[int]) -> list[int]:
        """Return the new nodes after one more slide, and enter their placements in the table."""
        table, seen, regions, mask, shifts = self.table, self.seen, self._regions, self._mask, self._shifts
        self._distance = distance = self._distance + 1
        following: list[int] = []
        for node in level:
            placement = node >> REGION_BITS
            shift_of = {placement >> shift & mask: shift for shift in shifts}
            occupied = 0
            for cell in shift_of:
                occupied |= 1 << cell
            for tile_cell, step, number, bit in regions[occupied][1][node & REGION_MASK]:
                successor = placement + (step << shift_of[tile_cell])
                if not seen[successor] & bit:
                    if not seen[successor]:
                        table[successor] = distance
                    seen[successor] |= bit
                    following.append(successor << REGION_BITS | number)
        return following


class Regions(dict[int, tuple[dict[int, int], list[Slides]]]):
    """For each set of occupied cells: the number of the region of each free cell, and the slides into each region."""

    def __init__(self, game: SlidingTiles) -> None:
        self._beside = [game.beside(cell) for cell in range(game.rows * game.columns)]

    def __missing__(self, occupied: int) -> tuple[dict[int, int], list[Slides]]:
        region_of, borders = self._find_regions(occupied)
        slides: list[Slides] = [[] for _ in borders]
        for own, border in zip(slides, borders, strict=True):
            for tile_cell, free_cell in border:
                number = self._find_regions(occupied ^ 1 << tile_cell ^ 1 << free_cell)[0][tile_cell]
                own.append((tile_cell, free_cell - tile_cell, number, 1 << number))
        self[occupied] = region_of, slides
        return region_of, slides

    def _find_regions(self, occupied: int) -> tuple[dict[int, int], list[list[tuple[int, int]]]]:
        """Number the regions. List, for each of them, the pairs of a cell with a tile and a free cell next to it."""
        region_of: dict[int, int] = {}
        borders: list[list[tuple[int, int]]] = []
        for first in range(len(self._beside)):
            if not occupied >> first & 1 and first not in region_of:
                borders.append(self._border(first, occupied, region_of, len(borders)))
        return region_of, borders

    def _border(self, first: int, occupied: int, region_of: dict[int, int], number: int) -> list[tuple[int, int]]:
        region_of[first] = number
        members = [first]
        found: list[tuple[int, int]] = []
        for cell in members:
            for neighbor in self._beside[cell]:
                if occupied >> neighbor & 1:
                    found.append((neighbor, cell))
                elif neighbor not in region_of:
                    region_of[neighbor] = number
                    members.append(neighbor)
        return found


def load_table(name: str, size: int, build: Callable[[], bytes]) -> bytes:
    """Return the table `name` of `size` bytes, from the user's cache folder or from `build`.

    A file holds a line with its name, a checksum, and the table. If the file is truncated, changed, of another user or of
    another version, the table is built again. If the folder is not writable, the table is built in every run.
    """
    file = cache_folder() / f"{name}-v{TABLE_VERSION}.table"
    with suppress(OSError):
        head, _, kept = read_cached(file).partition(b"\n")
        if len(kept) == size and head + b"\n" == _head(name, kept):
            return kept
    table = build()
    with suppress(OSError):  # continue without the cache when the disk is full or read-only
        if make_cache_folder(file.parent):
            write_whole(file, _head(name, table), table)
    return table


def _head(name: str, table: bytes) -> bytes:
    return f"arena {TABLE_VERSION} {name} {len(table)} {blake2b(table, digest_size=16).hexdigest()}\n".encode()
