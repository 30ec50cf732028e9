"""Checks in progress: what each asks of the processors, whether one more may begin, and the end of all of them."""

import threading
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from time import monotonic

from arena.api.match import Program
from arena.errors import Interrupted
from arena_isolation.agent_process import AgentProcess
from arena_isolation.agent_start import PLAYING_MODULE
from arena_isolation.family_clock import ProcessorUse
from arena_ladder.ledger import Submission

ALWAYS_CHECKS = 2
"""Checks at a time in any case: one that waits until its time is up does not hold up all others."""
MAX_CHECKS = 6
"""Checks at a time where those in progress do little but wait."""
MAX_BUSY_CORES = 0.75
"""Cores of which those in progress keep fewer busy where one more begins: one that computes all the time is seen at nearly 1."""
USE_SECONDS = 1.0
"""Seconds over which the use of processors is looked at."""


class CheckStopped(Interrupted):
    """The ladder ends; the next process makes this check again."""


class SubmissionCheck:
    """One check in progress, of a submission; `stopping` ends it."""

    def __init__(self, one: Submission, stopping: threading.Event) -> None:
        self.one = one
        self._stopping = stopping
        self._use: ProcessorUse | None = None
        self._asked = 0.0
        self._since = monotonic()
        self.cores = 1.0
        """Cores that it has used or waited for lately; a whole one until that is known, so those that begin are counted."""

    def look(self, process: AgentProcess, use: ProcessorUse | None) -> None:
        """Take in what a process asks of the processors in its turn; CheckStopped, and it is gone, where all is to end."""
        if self._stopping.is_set():
            process.end()
            raise CheckStopped
        now = monotonic()
        if use is None or now < self._since + USE_SECONDS:
            return
        asked = use.used + use.lack
        if self._use is use:
            self.cores = (asked - self._asked) / (now - self._since)
        self._use, self._asked, self._since = use, asked, now


class WatchedProcess(AgentProcess):
    """An agent process of a check."""

    def __init__(
        self, check: SubmissionCheck, program: Program, memory_mb: int | None, isolation: str, module: str = PLAYING_MODULE
    ) -> None:
        self._of = check
        super().__init__(program, memory_mb, isolation, module)

    def _look(self) -> None:
        self._of.look(self, self._use)
        super()._look()


def has_room(checks: Collection[SubmissionCheck], memory_mb: int) -> bool:
    """Tell whether one more may begin beside those in progress; `memory_mb` is the limit of each."""
    if len(checks) < ALWAYS_CHECKS:
        return True
    idle = sum(one.cores for one in checks) < MAX_BUSY_CORES
    return idle and len(checks) < MAX_CHECKS and memory_left() >= (len(checks) + 1) * memory_mb << 20


def memory_left() -> int:
    """The bytes that programs may still take without swapping, as Linux estimates them; 0 where it is not known."""
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    return 0
