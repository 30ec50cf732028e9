"""Counts what a process and its descendants use, where no control group does."""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import psutil

SHARED_MEMORY_FILES = ("/memfd:", "/dev/shm/")  # noqa: S108 - what is open there is counted
"""The beginnings of the names of files that are memory."""
BLOCK_BYTES = 512
"""Bytes in the unit of `st_blocks`."""


class Usage(NamedTuple):
    """Resources of a process and its descendants."""

    processes: int
    memory: int
    """Bytes, resident or in files that are memory; what they share is counted for each of them."""
    family: "Sequence[psutil.Process]"

    def above(self, memory: int) -> bool:
        """True if they use more memory than so many bytes, with what is shared divided among those who share it.

        To divide it takes milliseconds, so it is done only where the plain sum is above already.
        """
        return self.memory > memory and sum(map(_proportional, self.family)) + _unmapped(self.family) > memory


def usage_of(pid: int) -> Usage:
    """Resources that a process and its descendants use now."""
    import psutil

    with suppress(psutil.Error):
        root = psutil.Process(pid)
        family = [root, *root.children(recursive=True)]
        return Usage(len(family), sum(map(_resident, family)) + _unmapped(family), family)
    return Usage(0, 0, ())


def _unmapped(family: "Iterable[psutil.Process]") -> int:
    """Bytes of open files that are memory, beyond those that show as shared memory of the processes."""
    files: dict[tuple[int, int], int] = {}
    mapped = 0
    for process in family:
        with suppress(OSError):
            for name in os.listdir(f"/proc/{process.pid}/fd"):  # noqa: PTH208
                link = f"/proc/{process.pid}/fd/{name}"
                with suppress(OSError):
                    if os.readlink(link).startswith(SHARED_MEMORY_FILES):  # noqa: PTH115
                        found = os.stat(link)  # noqa: PTH116
                        files[found.st_dev, found.st_ino] = found.st_blocks * BLOCK_BYTES
            mapped += _shared(process.pid) if files else 0
    return max(0, sum(files.values()) - mapped)


def _shared(pid: int) -> int:
    """Bytes of shared memory that are resident for a process."""
    with open(f"/proc/{pid}/status") as file:  # noqa: PTH123
        return sum(int(line.split()[1]) << 10 for line in file if line.startswith("RssShmem"))


def _resident(process: "psutil.Process") -> int:
    """Bytes of a process; none of one that is gone."""
    import psutil

    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0


def _proportional(process: "psutil.Process") -> int:
    """The same, with what is shared divided among those who share it, where the system tells that."""
    import psutil

    try:
        full = process.memory_full_info()
    except psutil.Error:
        return 0
    return int(getattr(full, "pss", full.rss))
