"""Running checks: the cores that they use, whether another one may start, and how they end."""

import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path
from typing import Any

from arena.api.errors import Interrupted
from arena.clock import monotonic, perf_counter
from arena_isolation.helper_process import Helper
from arena_ladder.submissions import Submission
from arena_ladder.turns import Visit

JUDGE = "arena_ladder.judge"
"""The module of the judge process."""
JUDGE_SECONDS = 600.0
"""The time limit of a check in seconds, for a judge that hangs. It is long because it includes the time without a processor. The
judge itself limits the time of the submission.
"""
MAX_ANSWER_BYTES = 1 << 20
ALWAYS_CHECKS = 2
"""The number of checks that may always run in parallel, so that a check that waits for its timeout does not block all others.
Beside a single worker, only one check runs.
"""
MAX_CHECKS = 6
"""The maximum number of parallel checks. This number is reached only if most of the checks are waiting."""
MAX_BUSY_CORES = 0.75
"""Another check starts only if the running checks use fewer cores than this. A check that computes all the time uses nearly 1."""
CHECK_SHARE = 0.5
"""The share of the workers' processor time that checks may use over time. If they have used more, no check begins for a while."""
CORES = "cores"
"""The message type, and also the key, with which a judge reports how many cores it uses before it sends the verdict."""
USED = "used"
"""The key with which it also reports the processor time that the submission has used."""
STEP = "step"
"""The message type, and also the key, with which a judge reports a step of a check that the submission has passed."""
LOOK_SECONDS = 0.1
"""Seconds between two reads from a judge."""
IDLE_SECONDS = 60.0
"""Seconds after the last check at which the idle judges are ended."""


class CheckStopped(Interrupted):
    """The ladder is closing. The next process repeats this check."""


class CheckDropped(Interrupted):
    """The check has lasted too long after the end of its turn. It continues in the next turn."""


class JudgeProcess(Helper):
    """A judge process, which does one check after another until `stopping` is set."""

    def __init__(self, stopping: threading.Event) -> None:
        self._stopping = stopping
        self.must_end: Callable[[], bool] = lambda: False
        """A function that returns True if the check in progress must be dropped."""
        super().__init__(JUDGE, longest=MAX_ANSWER_BYTES, look=LOOK_SECONDS, check=self._check_turn)

    def _check_turn(self) -> None:
        if self._stopping.is_set():
            raise CheckStopped
        if self.must_end():
            raise CheckDropped


class JudgeProcesses:
    """The judge processes that are idle between two checks. They are kept, because importing its modules takes a new process most
    of the processor time of a check. Running checks are stopped when `stopping` is set.
    """

    def __init__(self, stopping: threading.Event) -> None:
        self._stopping = stopping
        self._idle: list[JudgeProcess] = []
        self._used = 0.0
        """The time of the end of the last check."""
        self._lock = threading.Lock()

    @contextmanager
    def lend(self, must_end: Callable[[], bool]) -> Iterator[JudgeProcess]:
        """Lend a judge process for one check, which is dropped if `must_end` returns True. After an error, end the process."""
        with self._lock:
            judge = self._idle.pop() if self._idle else None
        judge = judge or JudgeProcess(self._stopping)
        judge.must_end = must_end
        try:
            judge.chatter.again()
            yield judge
        except BaseException:
            judge.end()
            raise
        with self._lock:
            self._idle.append(judge)
            self._used = monotonic()

    def end(self, after: float = 0.0) -> None:
        """End the idle processes if the last check ended at least `after` seconds ago."""
        with self._lock:
            if monotonic() < self._used + after:
                return
            idle, self._idle = self._idle, []
        for judge in idle:
            judge.end()


class SubmissionCheck:
    """One running check of a submission, with its turn."""

    def __init__(self, one: Submission, judges: JudgeProcesses, visit: Visit | None = None) -> None:
        self.one = one
        self._judges, self._visit = judges, visit
        self.cores = 1.0
        """The number of cores that were recently used or waited for. It begins at 1, so that a new check counts as busy."""
        self.began = monotonic()
        self.processor_seconds = 0.0
        """The processor time that the submission has used in its check."""

    @property
    def late(self) -> bool:
        """True if it began after the end of a turn."""
        return self._visit is not None and self._visit.late

    def must_end(self) -> bool:
        """Return True if the check must be dropped, because it has lasted too long after the end of its turn."""
        return self._visit is not None and self._visit.must_end()

    def leave(self) -> None:
        """Record that all processes of the check have ended."""
        if self._visit is not None:
            self._visit.leave()

    def ask_judge(self, request: Mapping[str, Any], keep: Callable[[Any], None]) -> dict[str, Any]:
        """Ask a judge, and return its answer. The judge forks a process for this check. `keep` gets each step that is passed.

        Raises ChildLost if no answer arrives, CheckStopped if the ladder is closing, and CheckDropped if its turn is over.
        """
        before = self.processor_seconds
        with self._judges.lend(self.must_end) as judge:
            end = perf_counter() + JUDGE_SECONDS
            judge.post(request, end)
            while (answer := judge.answer(end))["type"] in (CORES, STEP):
                if answer["type"] == STEP:
                    keep(answer[STEP])
                else:
                    self.cores, self.processor_seconds = answer[CORES], before + answer[USED]
            found: dict[str, Any] = answer
            return found


def has_room(checks: Collection[SubmissionCheck], memory_mb: int, workers: float = inf) -> bool:
    """Return True if another check can run at the same time as the checks in `checks`. `memory_mb` is the memory limit of each
    check, and `workers` is the number of matches that are played beside them.
    """
    if len(checks) < min(ALWAYS_CHECKS, workers):
        return True
    idle = sum(one.cores for one in checks) < MAX_BUSY_CORES
    return idle and len(checks) < MAX_CHECKS and memory_left() >= (len(checks) + 1) * memory_mb << 20


def memory_left() -> int:
    """Return the number of bytes that programs can still allocate without swapping, as estimated by Linux; 0 if unknown."""
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    return 0
