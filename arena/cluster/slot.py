"""A place on a node for one worker process, which is watched over as in a run on one machine."""

import sys
from collections import deque
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from time import monotonic
from typing import NamedTuple, cast

from arena.match.record import Record
from arena.schedule.schedule import WAIT, Batch, Scheduled
from arena.spec import Spec
from arena.workers.pool import Finished, WorkerPool

GUARDED = (sys.executable, "-I", "-S", str(Path(__file__).with_name("worker_parent.py")))
"""The command of a worker with a process between it and this one."""


class OrderResult(NamedTuple):
    """Records of an order."""

    records: list[Record]
    """One for every match, in order."""
    seconds: float


class NodeSlot:
    """One worker process, kept from order to order; when it dies another takes its place, as `WorkerPool` promises."""

    def __init__(self, spec: Spec) -> None:
        self._waiting: deque[Scheduled] = deque()
        self._check: Callable[[], None] = _fine
        pool = WorkerPool(spec, 1, self._take, command=GUARDED, check=self._look)
        self._playing = cast(Generator[Finished, None, None], pool.play())
        self.idle_since = monotonic()

    def play(self, matches: Sequence[Scheduled], check: Callable[[], None]) -> OrderResult:
        """Play matches. What `check` raises ends the slot for good, as does an ArenaError of the pool."""
        began = monotonic()
        self._check = check
        self._waiting.extend(matches)
        found: dict[Scheduled, Record] = {}
        while len(found) < len(matches):
            scheduled, record = next(self._playing)
            found[scheduled] = record
        self._check = _fine
        self.idle_since = monotonic()
        return OrderResult([found[scheduled] for scheduled in matches], self.idle_since - began)

    def close(self) -> None:
        """End the worker process and all that it has started."""
        self._playing.close()

    def _look(self) -> None:
        self._check()

    def _take(self, size: int) -> Batch:
        """The next matches of the order; between two orders the pool waits."""
        return Batch([self._waiting.popleft() for _ in range(min(size, len(self._waiting)))]) or WAIT


def _fine() -> None:
    pass
