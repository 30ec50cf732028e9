"""Disjoint additive pattern databases for sliding tiles. R. E. Korf, A. Felner, Disjoint Pattern Database Heuristics, 2002."""

from collections.abc import Sequence
from itertools import accumulate

from arena import heuristic
from arena.api.errors import abbreviate
from arena_games.pattern_tables import table_of
from arena_games.sliding_rules import PatternSums, SlidingRules
from arena_games.sliding_tiles import SlidingTiles, State, row_lines

MAX_TABLE_BYTES = 1 << 25
"""The largest number of entries in a table, one byte each, including entries for impossible placements."""
REGIONS = {
    (4, 4, "5-5-5"): ((0, 1, 2, 4, 5), (3, 6, 7, 10, 11), (8, 9, 12, 13, 14)),
    (4, 4, "6-6-3"): ((0, 4, 5, 8, 9, 12), (6, 7, 10, 11, 13, 14), (1, 2, 3)),
    (3, 3, "4-4"): ((0, 1, 3, 4), (2, 5, 6, 7)),
}
"""Patterns of neighbouring tiles, given by the goal cells of their tiles, for goals whose last cell is the blank."""


@heuristic("pattern-db", game="sliding-tiles", admissible=True)
class PatternDB:
    """The sum, over disjoint sets of tiles, of the fewest slides that bring a set to its goal, if only slides of its tiles count.

    On a square board, the tables are used twice, for the state and for its mirror image, and the larger sum counts. `partition`
    defines the sets, by sizes or by tiles. Sizes such as `5-5-5` (the default on 4x4) are filled with tiles in the order of the
    goal, or with regions that are known to work well. Tiles are listed as in `1,2,5,6-3,4,7,8-9,10,11,12-13,14,15`. Tables are
    built once and kept in the user's cache folder. Building takes seconds for `5-5-5`, and a minute for `6-6-3` (less if numba is
    installed). With `6-6-3`, searches generate a fifth of the nodes that they generate with `5-5-5`. The tables ignore the
    place of the blank among the other tiles. So a slide may change the estimate by more than one, and the heuristic is not
    consistent. R. Korf, A. Felner, Disjoint Pattern Database Heuristics, Artificial Intelligence 134, 2002.
    """

    def __init__(self, game: SlidingTiles, *, partition: str | None = None) -> None:
        patterns = partition_of(game, partition)
        bits = (game.rows * game.columns - 1).bit_length()
        sizes = [bits * len(pattern) for pattern in patterns]
        for pattern, size in zip(patterns, sizes, strict=True):
            if 1 << size > MAX_TABLE_BYTES:
                raise ValueError(
                    f"partition: the table for {len(pattern)} tiles on {game.rows * game.columns} cells is too large; "
                    "use smaller sets"
                )
        starts = [0, *accumulate(sizes)]
        shifts = {
            tile: start + bits * n for pattern, start in zip(patterns, starts, strict=False) for n, tile in enumerate(pattern)
        }
        mirrored = _mirror_cells(game, patterns)

        def row(number: int, tiles: Sequence[int]) -> int:
            """Pack the cells of the tiles in a row of the board into one number, in which each tile has its own bits. Higher
            bits hold the same for the mirror image.
            """
            packed = 0
            for cell, tile in enumerate(tiles, number * game.columns):
                if tile:
                    packed += cell << shifts[tile]
                    if mirrored:
                        packed += mirrored[cell] << starts[-1] + shifts[game.goal[mirrored[game.goal.index(tile)]]]
            return packed

        self._rows = row_lines(game, row)
        self._tables = [
            (table_of(game, pattern), start, (1 << size) - 1)
            for pattern, start, size in zip(patterns, starts, sizes, strict=False)
        ]
        self._mirror_tables = [(table, start + starts[-1], mask) for table, start, mask in self._tables if mirrored]
        mirror_shifts = {tile: shifts[game.goal[mirrored[game.goal.index(tile)]]] for tile in shifts} if mirrored else {}
        self._places = (shifts, mirror_shifts, mirrored)

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the estimated number of slides to the goal."""
        packed = 0
        for part, places in self._rows:
            packed += places[state[part]]
        total = mirror_total = 0
        for table, start, mask in self._tables:
            total += table[packed >> start & mask]
        for table, start, mask in self._mirror_tables:
            mirror_total += table[packed >> start & mask]
        return total if total > mirror_total else mirror_total  # noqa: FURB136 - a call of max takes longer

    def compiled(self, rules: SlidingRules) -> PatternSums:
        """Return the same heuristic with whole numbers."""
        return PatternSums(self._tables, *self._places)


def _mirror_cells(game: SlidingTiles, patterns: Sequence[Sequence[int]]) -> list[int]:
    """Return, for every cell, its mirror image at the diagonal through the goal of the blank. The list is empty if the mirror
    image gives the same sums.

    A mirrored solution solves the mirror image of a state, so a lower bound for one is also a lower bound for the other.
    """
    if game.rows != game.columns:
        return []
    cells = [cell % game.columns * game.columns + cell // game.columns for cell in range(game.rows * game.columns)]
    images = {frozenset(game.goal[cells[game.goal.index(tile)]] for tile in pattern) for pattern in patterns}
    return [] if images == set(map(frozenset, patterns)) else cells


def partition_of(game: SlidingTiles, text: str | None) -> tuple[tuple[int, ...], ...]:
    """Return the sets of tiles in a partition. Raises ValueError if it is not a partition of the tiles."""
    tiles = [tile for tile in game.goal if tile]
    if not text:  # sets of about equal size, with tables of at most about a million entries
        size = max(1, min(5, 20 // len(tiles).bit_length()))
        number = -(-len(tiles) // size)
        text = "-".join(str((len(tiles) + n) // number) for n in reversed(range(number)))
    parts: list[list[int]] = []
    for part in text.split("-"):
        parts.append([])
        for word in part.split(","):
            try:
                parts[-1].append(int(word))
            except ValueError:
                raise ValueError(f"partition: expected sizes such as 5-5-5, or tiles such as 1,2,3-4,5, got {word!r}") from None
    if all(len(each) == 1 for each in parts) and sum(each[0] for each in parts) == len(tiles):
        return _by_sizes(game, text, [each[0] for each in parts])
    seen: set[int] = set()
    for tile in [tile for each in parts for tile in each]:
        if tile in seen:
            raise ValueError(f"partition: tile {tile} occurs twice in {abbreviate(text)}")
        if tile not in tiles:
            raise ValueError(
                f"partition: expected sizes that add up to {len(tiles)}, or tiles from 1 to {len(tiles)}, got {abbreviate(text)}"
            )
        seen.add(tile)
    if len(seen) < len(tiles):
        missing = ", ".join(str(tile) for tile in tiles if tile not in seen)
        raise ValueError(f"partition: {abbreviate(text)} leaves out tiles {missing}; sizes must add up to {len(tiles)}")
    return tuple([tuple(sorted(each)) for each in parts])


def _by_sizes(game: SlidingTiles, text: str, sizes: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    cells = game.rows * game.columns
    blank_first = game.goal[0] == 0
    regions = REGIONS.get((game.rows, game.columns, text))
    if regions is not None:  # rotated by 180 degrees if the blank comes first
        return tuple(
            [tuple(sorted(game.goal[cells - 1 - home if blank_first else home] for home in region)) for region in regions]
        )
    tiles = [tile for tile in game.goal if tile]
    starts = [0, *accumulate(sizes)]
    return tuple([tuple(tiles[start : start + size]) for start, size in zip(starts, sizes, strict=False)])
