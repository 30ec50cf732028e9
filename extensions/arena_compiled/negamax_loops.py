"""Loops for searches of two-player games. A loop that uses a table of results takes this table over from the uncompiled search
and continues to fill it.
"""

import ctypes
import mmap
from array import array
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from arena import Game, Puzzle
from arena.api.search import GoPlain
from arena.clock import perf_counter, process_time
from arena.compiled import NotCompilable, slot_of
from arena_compiled.edition import Edition
from arena_compiled.loop import MAX_COUNT, MOST_ENDS, Loop

if TYPE_CHECKING:
    from arena.api.search import Meter

MAX_FIELD = (1 << 20) - 1
"""The largest number that a field in a packed row can hold. As a depth, it means that the search was not cut off by its depth
limit.
"""
HUGE_PAGES_BYTES = 1 << 28
"""For arrays of at least this size, larger memory pages are requested, so that the processor has fewer address misses."""


def row_length(words: int) -> int:
    """Return the length of a row in the table. A row has the state, two bounds, a number that packs depth, ply and action, and
    the number of states below.
    """
    return max(8, words + 4)


class Pages:
    """An array of integers, which are all 0 at first."""

    def __init__(self, length: int) -> None:
        try:
            self._map = mmap.mmap(-1, length * 8)
        except (OSError, OverflowError, ValueError) as error:
            raise GoPlain("there is not enough memory for its table") from error
        if length * 8 >= HUGE_PAGES_BYTES and hasattr(mmap, "MADV_HUGEPAGE"):
            self._map.madvise(mmap.MADV_HUGEPAGE)
        self.words = memoryview(self._map).cast("q")
        self.reals = memoryview(self._map).cast("d")

    def __len__(self) -> int:
        return len(self.words)

    def buffer_info(self) -> tuple[int, int]:
        """Return the address and the length, like an array."""
        return ctypes.addressof(ctypes.c_char.from_buffer(self._map)), len(self)


class TableRows:
    """The arrays that the kernel calls slots, rows, bounds and limits."""

    def __init__(self, table: Any, edition: Edition) -> None:
        self._length = row_length(edition.words)
        self._words = edition.words
        self._pages = Pages(table.most * self._length)
        self._mask = 0 if table.pairs else (1 << (2 * table.most - 1).bit_length()) - 1
        self._slots = Pages(self._mask + 1)
        self._limits = array("q", [table.pairs or table.most, 0, self._mask])
        for known, (state, entry) in table.learnt():
            words, row = edition.encode(state), known
            if row is None:
                slot = slot_of(words, 1 << 31) & self._mask
                while self._slots.words[slot]:
                    slot = (slot + 1) & self._mask
                row = self._limits[1]
                self._limits[1] = self._slots.words[slot] = row + 1
            first = row * self._length
            for place, word in enumerate(words, first):
                self._pages.words[place] = word
            first += self._words
            self._pages.reals[first], self._pages.reals[first + 1] = entry.low, entry.high
            depth = min(entry.depth, MAX_FIELD)
            self._pages.words[first + 2] = depth << 40 | entry.ply << 20 | entry.place + 1
            self._pages.words[first + 3] = entry.work

    @property
    def arrays(self) -> dict[str, Any]:
        """Return the arrays by the names of the parameters of the kernel. Rows and bounds share memory."""
        return {"slots": self._slots, "rows": self._pages, "bounds": self._pages, "limits": self._limits}


MAX_LEVELS = 1 << 14
"""The longest line that is searched. A longer one, which may never end, is left to the uncompiled search and its error."""
FRAME_WORDS = 11
"""The length of a frame: the seat, the player to move, the position of the current action and the number of actions, and data for
tables and sorting.
"""


class FullWidthLoop(Loop):
    """Examines every line of play, like the function `full_width` in `arena_agents`. Options: `depth` in plies or None, and
    `horizon`, which notes whether the depth cut off a line.
    """

    kernel = "negamax"
    pruned: ClassVar[bool] = False
    forced: ClassVar[bool] = False
    quiet: ClassVar[bool] = False
    table: ClassVar[bool] = False
    sized: ClassVar[bool] = False
    ordered: ClassVar[bool] = False
    """True if actions that are not forced are ordered by the heuristic values of the states after them."""
    coarse: ClassVar[bool] = False
    """True if this order only distinguishes whether a value is better, equal or worse."""

    @classmethod
    def constants(cls, edition: Edition) -> dict[str, Any]:
        """Return the constants that are filled into the kernel."""
        if isinstance(edition.game, Puzzle) or edition.players != 2:
            raise NotCompilable("it is not a two-player game")
        if cls.quiet and type(edition.game).is_quiet is not Game.is_quiet:
            raise NotCompilable("it defines is_quiet itself")
        return {
            "PRUNED": cls.pruned, "FORCED": cls.forced, "QUIET": cls.quiet, "THREATS": edition.has("threats"),
            "MOST_ENDS": MOST_ENDS, "TABLE": cls.table, "SIZED": cls.sized, "SORTED": cls.ordered, "COARSE": cls.coarse,
            "WORDS": edition.words, "ROW": row_length(edition.words), "FRAME": FRAME_WORDS if cls.table or cls.ordered else 4,
        }  # fmt: skip

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arrays for the current capacity, which is a number of levels. The table is passed with the
        decision.
        """
        levels, width = self.levels, self.edition.width
        ordered = levels * width if self.ordered else 1
        return {
            "registers": 10, "numbers": 3, "states": levels * self.edition.words, "actions": levels * width,
            "frames": levels * FRAME_WORDS, "windows": levels * 5, "scratch": 2 * width, "ranks": ordered, "worths": ordered,
            "successors": ordered * self.edition.words, "slots": 1, "rows": 1, "bounds": 1, "limits": 1,
            "ends": MOST_ENDS + 1,
        }  # fmt: skip

    def grow(self) -> None:
        """Double the number of levels. Raises GoPlain beyond MAX_LEVELS."""
        if self.levels >= MAX_LEVELS:
            raise GoPlain("the search is too deep")
        super().grow()

    def __call__(self, state: Any, seat: int, ply: int, alpha: float = 0.0, beta: float = 0.0) -> float:
        """Return the value of a state for `seat`, `ply` actions after the root. The value is exact if it is between alpha and
        beta.
        """
        memory = self.memory
        registers, numbers, states = memory["registers"], memory["numbers"], memory["states"]
        for place, word in enumerate(self.encode(state)):
            states[place] = word
        depth = self.options["depth"]
        registers[0], registers[4], registers[5], registers[7] = -1, 0, self.levels, 0
        registers[6] = MAX_COUNT if depth is None else depth
        registers[8], registers[9] = seat, ply
        numbers[0], numbers[1] = alpha, beta
        memory["ends"][0] = 0.0
        self.drive(registers)
        horizon = self.options["horizon"]
        if registers[7]:
            horizon.met = True
        for worth in self.read_ends() if hasattr(horizon, "note") else ():
            horizon.note(worth)
        value: float = numbers[2]
        return value


class QuietLoop(FullWidthLoop):
    """Continues the search beyond the depth while a state is not quiet."""

    quiet = True


class AlphaBetaLoop(FullWidthLoop):
    """Skips lines of play that cannot change the result, and examines wins and blocks first."""

    pruned = True
    forced = True


class TypeAPlusLoop(FullWidthLoop):
    """Skips lines of play that cannot change the result, continues beyond the depth, and examines improvements of the heuristic
    first.
    """

    pruned = True
    quiet = True
    ordered = True
    coarse = True


class OrderedLoop(FullWidthLoop):
    """Alpha-beta search that examines actions in the order of their heuristic values."""

    pruned = True
    ordered = True


class TableLoop(AlphaBetaLoop):
    """Remembers results of states. Option: `table`, the table of the decision, which the loop continues to use."""

    table = True

    def begin(self, meter: "Meter", options: Mapping[str, Any]) -> None:
        """Prepare for a decision, and use its table. The time for copying the table does not count for the agent."""
        super().begin(meter, options)
        table = options["table"]
        if table.rows is None:
            began, used = perf_counter(), process_time()
            table.rows = TableRows(table, self.edition)
            meter.pause(perf_counter() - began, process_time() - used)
        self.memory.lend(table.rows.arrays)


class OrderedTableLoop(TableLoop):
    """Like TableLoop, but examines actions in the order of their heuristic values."""

    ordered = True


class SizedTableLoop(TableLoop):
    """Like TableLoop, but with a table of fixed size."""

    sized = True


class OrderedSizedTableLoop(SizedTableLoop):
    """Like SizedTableLoop, but examines actions in the order of their heuristic values."""

    ordered = True
