"""The table of a compiled search, which takes over what a plain one has learnt; its pages take room once they are written to."""

import ctypes
import mmap
from array import array
from typing import Any

from arena.compiled.edition import Edition
from arena.compiled.slots import slot_of
from arena.counting import GoPlain

FIELD = (1 << 20) - 1
"""The largest number of a field; of a depth: that no horizon was met."""
LARGE = 1 << 28
"""Bytes from which larger pages are asked for, of which a processor can keep more in view."""


def row_length(words: int) -> int:
    """Return the numbers of a row: those of the state, two bounds, depth with ply and action, and the states below it."""
    return max(8, words + 4)


class Pages:
    """Whole numbers, all 0 at first."""

    def __init__(self, length: int) -> None:
        try:
            self._map = mmap.mmap(-1, length * 8)
        except (OSError, OverflowError, ValueError) as error:
            raise GoPlain("there is no memory for its table") from error
        if length * 8 >= LARGE and hasattr(mmap, "MADV_HUGEPAGE"):
            self._map.madvise(mmap.MADV_HUGEPAGE)
        self.words = memoryview(self._map).cast("q")
        self.reals = memoryview(self._map).cast("d")

    def __len__(self) -> int:
        return len(self.words)

    def buffer_info(self) -> tuple[int, int]:
        """Return the address and the length, as an array does."""
        return ctypes.addressof(ctypes.c_char.from_buffer(self._map)), len(self)


class TableRows:
    """The arrays that the kernel knows as slots, rows, bounds and limits."""

    def __init__(self, table: Any, edition: Edition) -> None:
        self._length = row_length(edition.words)
        self._words = edition.words
        self._pages = Pages(table.most * self._length)
        self._mask = 0 if table.pairs else (1 << (2 * table.most - 1).bit_length()) - 1
        self._slots = Pages(self._mask + 1)
        self._limits = array("q", [table.pairs or table.most, 0, self._mask])
        for row, (state, entry) in table.learnt():
            self._take(row, edition.encode(state), entry)

    @property
    def arrays(self) -> dict[str, Any]:
        """The arrays by the names of the kernel's parameters; rows and bounds are the same memory."""
        return {"slots": self._slots, "rows": self._pages, "bounds": self._pages, "limits": self._limits}

    def _take(self, row: int | None, words: tuple[int, ...], entry: Any) -> None:
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
        depth = min(entry.depth, FIELD)
        self._pages.words[first + 2] = depth << 40 | entry.ply << 20 | entry.place + 1
        self._pages.words[first + 3] = entry.work
