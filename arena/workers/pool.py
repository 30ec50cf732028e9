"""Plays the matches of a spec in several processes, and survives the death of any of them."""

import os
import selectors
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any

from arena.errors import ArenaError
from arena.match.record import Record
from arena.schedule.fingerprint import Fingerprint, check_unchanged, fingerprints
from arena.schedule.runner import CurrentTurn, isolated, may_end_worker, unplayed
from arena.schedule.schedule import Scheduled, Take
from arena.spec import Spec
from arena.workers.messages import Done, Ready, Turn, WorkerFailed
from arena.workers.worker_process import WORKER, WorkerEnded, WorkerProcess, end_workers
from arena.workers.workload import Task, Workload

BATCH_SECONDS = 0.1
"""Seconds that a batch should take: long against the cost of handing it over, short against the run."""
LARGEST_BATCH = 1000
HANG_SECONDS = 60.0
"""Seconds that a worker may be silent; far longer than any honest call in C that does not let Python's threads run."""
STARTING_SECONDS = 60.0
"""Seconds that a worker may be silent at least while it imports."""
FAILURES = 3
"""The number of workers in a row that may end before they play."""
PAUSE = 0.5
"""Seconds to wait before the next start after a worker that ended before it played; twice as long after two."""
LOOK_SECONDS = 0.25
"""Seconds between two looks for workers that are dead or hang."""

Finished = tuple[Scheduled, Record]


def _go_on() -> None:
    pass


@dataclass(slots=True, eq=False)
class WorkerSlot:
    """A place at which a worker process plays."""

    worker: WorkerProcess
    core: int | None = None
    ready: bool = False
    fresh: bool = True
    """True if nothing has been played there yet."""
    task: Task | None = None
    begun: int = 0
    """The number of matches that the worker had begun when it got its task."""
    size: int = 1
    """The most matches of the next task."""
    writing: bool = False
    """True while the pipe has no room for what is to be sent."""

    def turn(self) -> CurrentTurn | None:
        """The decision that is being made in the match that was begun last; None between two tasks."""
        task, number = self.task, self.worker.begun - self.begun - 1
        if task is None or not 0 <= number < len(task.matches):
            return None
        return CurrentTurn.of(task.matches[number], *self.worker.turn)


class WorkerPool:
    """Workers that share one schedule. Batches grow until one takes about a tenth of a second.

    `take` is the schedule's: it waits for the results of matches that it has given out, and whoever
    iterates over `play` tells the schedule about a result before asking for the next. `total` is how many there are, where
    that is known.

    A worker that ends, for whatever reason, stops nothing: the match that it was playing is played once more, as the first
    of a new worker, and when that one ends too the record is a `crash` of the agent that was to move; void where no agent
    was, as when the game drew its position, and where that agent has a process of its own or another may have killed the worker.
    Nothing is recorded twice, and nothing else changes.

    Where there is a worker for every core and agents run in processes of their own, each worker shares a core with its agents.
    With fewer workers than cores the system decides, and agents may use several.

    A worker that hangs is killed, and counts as one that ended. It hangs when it has shown no sign of life for `hang`
    seconds: it has been stopped, or some code in C holds the interpreter's lock all that time. A thread of the worker gives
    these signs, so an agent that thinks long, sleeps, or waits for another process does not hang: for these there are
    limits. Time in which this process was itself not running, or nobody iterated, is not counted.

    `command` starts a worker. `check` is called at least every LOOK_SECONDS; what it raises ends the iteration. `code` is what
    the plugins of the spec were when it was loaded, by default what they are now: a worker that finds another ends it all, too.
    """

    def __init__(
        self,
        spec: Spec,
        workers: int,
        take: Take,
        *,
        total: int | None = None,
        hang: float = HANG_SECONDS,
        command: Sequence[str] = WORKER,
        check: Callable[[], None] = _go_on,
        code: Mapping[str, Fingerprint] | None = None,
    ) -> None:
        self._spec = spec
        self._code = fingerprints(spec) if code is None else code
        self._most = workers if total is None else min(workers, total)
        self._hang = hang
        self._command = command
        self._check = check
        self._cores = _cores() if isolated(spec) and self._most == len(_cores()) else []
        self._workload = Workload(take, workers, total)
        self._slots: list[WorkerSlot] = []
        self._selector = selectors.DefaultSelector()
        self._failures = 0
        self._next_start = 0.0
        self._looked = 0.0

    def play(self) -> Iterator[Finished]:
        """Yield every match with its record as it is finished, in no particular order; to be iterated by one thread.

        Closing it ends all workers with everything that they started and drops the matches that are being played.
        ArenaError where workers cannot load the spec, or end again and again before they play; CodeChanged where one has loaded
        a plugin that was changed meanwhile.
        """
        self._looked = monotonic()
        try:
            self._hand_out()
            while self._goes_on():
                finished = self._listen()
                self._hand_out()  # nobody is to wait while the results are looked at
                yield from finished
                self._hand_out()  # the schedule may have waited for them
        finally:
            self._close()

    def turns(self) -> Sequence[CurrentTurn]:
        """Return the decision that each worker waits for; may be called from another thread."""
        return [turn for slot in list(self._slots) if (turn := slot.turn()) is not None]

    def _close(self) -> None:
        slots, self._slots = self._slots, []
        end_workers([slot.worker for slot in slots])
        self._selector.close()

    # Work

    def _hand_out(self) -> None:
        """Give every worker that is idle something to play, and start workers at empty places, as long as there is something."""
        for slot in self._slots:
            if slot.ready and slot.task is None:
                slot.task = self._workload.next(slot.size, fresh=slot.fresh)
                if slot.task is not None:
                    slot.begun = slot.worker.begun
                    slot.worker.order(slot.task.matches, alone=slot.task.alone)
                    self._watch(slot)
        while len(self._slots) < self._most and monotonic() >= self._next_start and self._workload.any_left():
            self._start()

    def _free_core(self) -> int | None:
        """A core that no worker has, where each is to have its own; None where the system is to decide."""
        taken = [slot.core for slot in self._slots]
        return next((core for core in self._cores if core not in taken), None)

    def _start(self) -> None:
        try:
            core = self._free_core()
            slot = WorkerSlot(WorkerProcess(self._spec, core, self._command), core=core)
        except OSError as error:
            self._failed(f"could not be started: {error}")
            return
        self._slots.append(slot)
        self._selector.register(slot.worker.replies, selectors.EVENT_READ, slot)
        self._watch(slot)

    def _goes_on(self) -> bool:
        if any(slot.task for slot in self._slots) or self._workload.any_left():
            return True
        if not self._workload.over:
            raise RuntimeError("the schedule waits for results although all have been given; tell it each before the next")
        return False

    def _watch(self, slot: WorkerSlot) -> None:
        """Listen for room in the pipe of a worker to which something is still to be sent."""
        writing = slot.worker.send()
        if writing and not slot.writing:
            self._selector.register(slot.worker.requests, selectors.EVENT_WRITE, slot)
        elif slot.writing and not writing:
            self._selector.unregister(slot.worker.requests)
        slot.writing = writing

    # Messages

    def _listen(self) -> list[Finished]:
        """Wait for workers, but not for long, and return what they have finished."""
        self._check()
        finished: list[Finished] = []
        for key, _ in self._selector.select(LOOK_SECONDS):
            slot = key.data
            if slot not in self._slots:
                continue
            if slot.writing:
                self._watch(slot)
            self._hear(slot, finished)
        now = monotonic()
        if now - self._looked >= LOOK_SECONDS:
            self._look(min(now - self._looked, 2 * LOOK_SECONDS), finished)
            self._looked = now
        return finished

    def _hear(self, slot: WorkerSlot, finished: list[Finished]) -> None:
        try:
            for message in slot.worker.receive():
                self._take_in(slot, message, finished)
        except WorkerEnded as end:
            self._replace(slot, str(end), finished)

    def _take_in(self, slot: WorkerSlot, message: Any, finished: list[Finished]) -> None:
        task = slot.task
        if isinstance(message, WorkerFailed):
            raise ArenaError(message.message)
        if isinstance(message, Ready):
            check_unchanged(self._code, message.code)
            slot.ready = True
        elif task is None:
            raise WorkerEnded("sent what it was not asked for")
        elif isinstance(message, Turn):
            task.seat = message.seat
        elif isinstance(message, Done):
            finished += zip(task.left, message.records, strict=False)
            task.recorded += len(message.records)
            self._failures = 0
            if message.seconds is not None:
                self._end_task(slot, task, message.seconds)

    def _end_task(self, slot: WorkerSlot, task: Task, seconds: float) -> None:
        self._workload.hand_back(task)
        slot.task = None
        slot.fresh = False
        pace = max(seconds, 1e-6) / max(1, task.recorded)
        slot.size = max(1, min(LARGEST_BATCH, slot.size * 2, int(BATCH_SECONDS / pace)))

    # Ends

    def _look(self, elapsed: float, finished: list[Finished]) -> None:
        """Replace workers that are dead though their pipe is open, or that hang."""
        for slot in list(self._slots):
            try:
                if slot.worker.ended():
                    self._hear(slot, finished)  # what it sent before
                    if slot in self._slots:
                        raise WorkerEnded(slot.worker.how_ended())
                else:
                    slot.worker.check_alive(elapsed, self._hang if slot.ready else max(self._hang, STARTING_SECONDS))
            except WorkerEnded as end:
                self._replace(slot, str(end), finished)

    def _replace(self, slot: WorkerSlot, reason: str, finished: list[Finished]) -> None:
        """Let go of a worker that has ended, and see to its matches; `_hand_out` starts another one."""
        self._slots.remove(slot)
        begun = slot.worker.begun - slot.begun
        for descriptor in (slot.worker.replies, *([slot.worker.requests] if slot.writing else [])):
            with suppress(KeyError):
                self._selector.unregister(descriptor)
        end_workers([slot.worker])
        if slot.task is not None:
            culprit = self._workload.salvage(slot.task, begun)
            if culprit is not None:
                finished.append((culprit, self._lost(culprit, slot.task.seat, reason)))
        if not slot.worker.begun:
            self._failed(reason)

    def _failed(self, reason: str) -> None:
        self._failures += 1
        self._next_start = monotonic() + PAUSE * self._failures
        if self._failures >= FAILURES:
            raise ArenaError(f"{FAILURES} worker processes in a row ended before they played; the last {reason}")

    def _lost(self, scheduled: Scheduled, seat: int | None, reason: str) -> Record:
        message = f"the process that played this match {reason}, twice"
        if seat is None or not may_end_worker(self._spec, scheduled, seat):
            return unplayed(self._spec, scheduled, message=message)
        return unplayed(self._spec, scheduled, "crash", seat, message)


def _cores() -> list[int]:
    """The cores of this machine that may be used; none where the system does not tell."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
