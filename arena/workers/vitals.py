"""Counters of a worker process in shared memory, readable even when it is stopped or dead."""

import mmap
import os
import sys
import tempfile


class Vitals:
    """Counters in memory that two processes share, of which one writes them: signs of life, matches, turns of the last match."""

    def __init__(self, descriptor: int) -> None:
        self._cells = memoryview(mmap.mmap(descriptor, mmap.PAGESIZE)).cast("Q")

    @property
    def beats(self) -> int:
        """The number of signs of life."""
        return int(self._cells[0])

    @property
    def begun(self) -> int:
        """The number of matches that have been begun."""
        return int(self._cells[1])

    @property
    def turn(self) -> tuple[int, int]:
        """The seat that is to move in the last match, and the number of turns that have been begun in it."""
        return int(self._cells[2]), int(self._cells[3])

    def beat(self) -> None:
        """Give a sign of life."""
        self._cells[0] += 1

    def begin(self) -> None:
        """Note that a match begins."""
        self._cells[3] = 0
        self._cells[1] += 1

    def begin_turn(self, seat: int) -> None:
        """Note that a seat is to move."""
        self._cells[2] = seat
        self._cells[3] += 1


def shared_memory() -> int:
    """Return the descriptor of memory, all zeros and without a name, for two processes to make their Vitals from."""
    if sys.platform == "linux":
        descriptor = os.memfd_create("arena-vitals")
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.write(descriptor, bytes(mmap.PAGESIZE))  # written and not only reserved: a full disk shows here
    return descriptor
