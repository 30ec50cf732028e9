"""Running checks: their use of the processors, the room for another one, and their end."""

import threading
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any

from arena.api.errors import Interrupted
from arena_isolation.helper import Helper
from arena_ladder.ledger import Submission

JUDGE = "arena_ladder.judge"
"""Module of the judge's process."""
JUDGE_SECONDS = 120.0
"""Time limit of a check in seconds, including arena's own work. The submission itself has far less time."""
MAX_ANSWER_BYTES = 1 << 20
ALWAYS_CHECKS = 2
"""Number of checks that may always run in parallel, so that one that waits for its timeout does not block all others."""
MAX_CHECKS = 6
"""Maximum number of parallel checks, reached if most of them only wait."""
MAX_BUSY_CORES = 0.75
"""Start another check only while the running ones use fewer cores than this: one that computes all the time uses nearly 1."""
CORES = "cores"
"""Message type and key with which a judge reports its use of the processors before its verdict."""
LOOK_SECONDS = 0.1
"""Seconds between two polls of a judge."""


class CheckStopped(Interrupted):
    """The ladder is closing. The next process repeats this check."""


class SubmissionCheck:
    """One running check of a submission. `stopping` ends it."""

    def __init__(self, one: Submission, stopping: threading.Event) -> None:
        self.one = one
        self._stopping = stopping
        self.cores = 1.0
        """Cores used or waited for lately. It starts at one whole core, so that new checks count."""

    def ask_judge(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Run a judge, a process for this check alone, and return its answer.

        Raises ChildLost if there is no answer, and CheckStopped if the ladder is closing.
        """
        judge = Helper(JUDGE, longest=MAX_ANSWER_BYTES, look=LOOK_SECONDS, check=self._look)
        end = perf_counter() + JUDGE_SECONDS
        try:
            judge.post(request, end)
            while (answer := judge.answer(end))["type"] == CORES:
                self.cores = answer[CORES]
            found: dict[str, Any] = answer
            return found
        finally:
            judge.end()

    def _look(self) -> None:
        if self._stopping.is_set():
            raise CheckStopped


def has_room(checks: Collection[SubmissionCheck], memory_mb: int) -> bool:
    """Return whether there is room for another check beside the running ones. `memory_mb` is the limit of each."""
    if len(checks) < ALWAYS_CHECKS:
        return True
    idle = sum(one.cores for one in checks) < MAX_BUSY_CORES
    return idle and len(checks) < MAX_CHECKS and memory_left() >= (len(checks) + 1) * memory_mb << 20


def memory_left() -> int:
    """Return the bytes that programs can still allocate without swapping, as Linux estimates them; 0 if unknown."""
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    return 0
