"""C programs for the same searches as the compiled ones (twins), built by the system's C compiler."""

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path

from arena_games.pattern_db import partition_of
from arena_games.pattern_tables import table_of
from arena_games.sliding_tiles import SlidingTiles

TWINS = Path(__file__).parent / "twins"


def library(name: str, folder: Path) -> ctypes.CDLL:
    """Build a twin in a folder, and load it."""
    built = folder / f"{name}.so"
    subprocess.run(["cc", "-O3", "-march=native", "-shared", "-fPIC", "-o", built, TWINS / f"{name}.c"], check=True)
    return ctypes.CDLL(str(built))


class PatternTwin:
    """IDA* in C for the 15-puzzle, with the pattern databases of a partition, which it also uses for the mirror image."""

    def __init__(self, game: SlidingTiles, partition: str, folder: Path) -> None:
        sets = partition_of(game, partition)
        members = [tile for one in sets for tile in one]
        self._tables = (ctypes.c_char_p * len(sets))(*[table_of(game, one) for one in sets])
        self._counts = (ctypes.c_int * len(sets))(*map(len, sets))
        self._members = (ctypes.c_int * len(members))(*members)
        self._library = library("ida_star_patterns", folder)
        self._goal = bytes(game.goal)

    def solve(self, state: Sequence[int]) -> tuple[int, int]:
        """Return the length of a shortest solution, and the number of nodes."""
        used = ctypes.c_long()
        tables = len(self._counts), self._counts, self._members, self._tables
        return self._library.solve(bytes(state), self._goal, *tables, ctypes.byref(used)), used.value
