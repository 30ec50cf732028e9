"""Plays the matches of a spec in several processes, and continues if one of them crashes."""

import os
import selectors
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from arena.clock import monotonic
from arena.errors import ArenaError
from arena.match.record import Record
from arena.schedule.deals import Deals
from arena.schedule.fingerprint import Fingerprint, check_unchanged
from arena.schedule.runner import CurrentTurn, is_isolated, make_unplayed, may_end_worker
from arena.schedule.schedule import Backlog, Scheduled, Take
from arena.spec import Spec
from arena.workers.messages import Done, Ready, Turn, WorkerFailed
from arena.workers.worker_process import WORKER_COMMAND, WorkerEnded, WorkerProcess, end_workers

BATCH_SECONDS = 0.1
"""The intended duration of a batch: long compared with the time to send it, short compared with the run."""
MAX_BATCH_MATCHES = 1000
HANG_SECONDS = 60.0
"""The longest time that a worker may show no sign of life. No reasonable call in C blocks Python's threads for so long."""
STARTING_SECONDS = 60.0
"""While a worker imports modules, this limit is at least this many seconds."""
MAX_FAILURES = 3
"""The number of consecutive workers that may end before they have played a match."""
RESTART_SECONDS = 0.5
"""Seconds to wait before another start if a worker ended before it played a match. The wait doubles with each such worker."""
LOOK_SECONDS = 0.25
"""Seconds between two checks for workers that have died or hang."""

Finished = tuple[Scheduled, Record]


@dataclass(slots=True)
class Task:
    """Matches that one worker plays in order."""

    matches: list[Scheduled]
    alone: bool = False
    """Whether the task repeats a match during which a worker ended."""
    recorded: int = 0
    """The number of its matches that have a record."""
    seat: int | None = None
    """The seat to move, from the last report."""

    @property
    def left(self) -> list[Scheduled]:
        """The matches without a record."""
        return self.matches[self.recorded :]


class Workload:
    """The remaining matches, and the matches during which a worker ended. `deals` keeps matches apart, if that is needed."""

    def __init__(self, take: Take, workers: int, total: int | None, deals: Deals | None = None) -> None:
        self._backlog = Backlog(take, total)
        self._workers = workers
        self._deals = deals
        self._suspects: deque[Scheduled] = deque()
        self._lost: deque[Scheduled] = deque()

    def next(self, size: int, *, fresh: bool, worker: object = None) -> Task | None:
        """Return a task of at most `size` matches for a worker; None if there is none now. A worker is `fresh` until it has
        played.
        """
        deals = self._deals
        if fresh and self._suspects:
            return Task([self._suspects.popleft()], alone=True)
        for scheduled in self._lost:
            if deals is None or deals.may_play(scheduled, worker):
                self._lost.remove(scheduled)
                return Task([scheduled])
        matches = self._backlog.share(size, self._workers, None if deals is None else partial(deals.may_play, worker=worker))
        return Task(matches) if matches else None

    def hand_back(self, task: Task) -> None:
        """Take back matches for which a worker had no time."""
        self._backlog.put_back(task.left)

    def salvage(self, task: Task, begun: int) -> Scheduled | None:
        """Take back the matches of a task after its worker has ended. If a match has now ended a worker for the second time,
        return it.

        `begun` is the number of matches that had begun; the last of them was in progress. That match is played once more, as the
        first match of a new worker. If this worker also ends, the match is the cause. The other matches without a record are
        handed out one by one, because one of them may be the cause: an agent may close the pipe while records are collected.
        """
        playing = min(begun, len(task.matches)) - 1
        if playing < task.recorded:  # the worker ended between two matches
            (self._suspects if task.alone else self._lost).extend(task.left)
            return None
        culprit = task.matches[playing]
        self._lost.extend([scheduled for scheduled in task.left if scheduled is not culprit])
        if task.alone:
            return culprit
        self._suspects.append(culprit)
        return None

    def any_left(self) -> bool:
        """Return whether there is a match to play now. If necessary, take one from the schedule to find out."""
        return bool(self._suspects or self._lost) or self._backlog.any_left()

    @property
    def over(self) -> bool:
        """Whether the schedule has no more matches; matches that must be repeated do not count."""
        return self._backlog.over


@dataclass(slots=True, eq=False)
class WorkerSlot:
    """A place for a worker process; a new worker replaces one that has ended."""

    worker: WorkerProcess
    core: int | None = None
    ready: bool = False
    fresh: bool = True
    """Whether no match has been played there."""
    task: Task | None = None
    begun: int = 0
    """The number of matches that the worker had begun when it got its task."""
    size: int = 1
    """The largest number of matches in the next task."""
    writing: bool = False
    """Whether data remains to be sent because the pipe is full."""

    def turn(self) -> CurrentTurn | None:
        """The decision in progress in the last match; None between two tasks."""
        task, number = self.task, self.worker.begun - self.begun - 1
        if task is None or not 0 <= number < len(task.matches):
            return None
        return CurrentTurn.of(task.matches[number], *self.worker.turn)


class WorkerPool:
    """Workers that share one schedule. Batches of matches grow until a batch takes about a tenth of a second.

    `take` is a method of the schedule. The schedule may wait for results of matches that it has handed out. So the caller of
    `play` must report each result to the schedule before it asks for the next one. `total` is the number of matches, if known.

    When a worker ends, for any reason, the run continues. The match that it was playing is repeated as the first match of a new
    worker. If this worker also ends, the match is recorded as a `crash` of the agent to move. It is void instead if no agent was
    to move (for example because the game was drawing the position), if the agent has its own process, or if another agent may
    have killed the worker. No match is recorded twice, and nothing else changes.

    If there is a worker for every core and agents run in their own processes, each worker shares a core with its agents.
    With fewer workers than cores the system decides, and agents may use several.

    A worker that hangs is killed and treated like one that has ended. It hangs if it has shown no sign of life for `hang`
    seconds: it has been stopped, or code in C has held the interpreter's lock all that time. A thread of the worker gives the
    signs of life, so an agent that thinks for a long time, sleeps, or waits for another process does not count as hanging; limits
    apply to such agents. Time in which this process was not running, or the caller did not iterate, is not counted.

    `command` starts a worker. `check` is called at least every LOOK_SECONDS, and its exceptions end the iteration. `code` holds
    the fingerprints that the plugins had when the `spec` was loaded; the default is the current fingerprints. If a worker finds
    different ones, the iteration also ends.

    `start_seconds` is called for each batch. It returns the seconds in which agents must answer at their start, by label; agents
    without a label there have the limit of the spec.
    """

    def __init__(
        self,
        spec: Spec,
        workers: int,
        take: Take,
        *,
        total: int | None = None,
        hang: float = HANG_SECONDS,
        command: Sequence[str] = WORKER_COMMAND,
        check: Callable[[], None] = lambda: None,
        code: Mapping[str, Fingerprint] | None = None,
        start_seconds: Callable[[], Mapping[str, float]] = dict,
    ) -> None:
        self._spec = spec
        self._code = Fingerprint.take_all(spec) if code is None else code
        self._most = workers if total is None else min(workers, total)
        self._hang = hang
        self._command = command
        self._check = check
        self._start_seconds = start_seconds
        self._cores = _list_cores() if is_isolated(spec) and self._most == len(_list_cores()) else []
        self._deals = Deals(spec)
        self._workload = Workload(take, workers, total, self._deals or None)
        self._slots: list[WorkerSlot] = []
        self._selector = selectors.DefaultSelector()
        self._failures = 0
        self._next_start = 0.0
        self._looked = 0.0

    def play(self) -> Iterator[Finished]:
        """Yield every match with its record when it is finished, in no particular order. Only one thread may iterate.

        Closing the iterator ends all workers with everything that they started, and drops the matches in progress. Raises
        ArenaError if workers cannot load the spec, or repeatedly end before they play. Raises CodeChanged if a plugin has changed
        before a worker loaded it.
        """
        self._looked = monotonic()
        try:
            self._hand_out()
            while any(slot.task for slot in self._slots) or self._workload.any_left():
                finished = self._listen()
                self._hand_out()  # no worker waits while the caller handles the results
                yield from finished
                self._hand_out()  # the schedule may have waited for these results
            if not self._workload.over:
                raise RuntimeError("the schedule waits for results; report each result before you ask for the next match")
        finally:
            slots, self._slots = self._slots, []
            end_workers([slot.worker for slot in slots])
            self._selector.close()

    def turns(self) -> Sequence[CurrentTurn]:
        """Return the decision that is in progress in each worker. This may be called from another thread."""
        return [turn for slot in list(self._slots) if (turn := slot.turn()) is not None]

    # Work

    def _hand_out(self) -> None:
        for slot in self._slots:
            if slot.ready and slot.task is None:
                slot.task = self._workload.next(slot.size, fresh=slot.fresh, worker=slot)
                if slot.task is not None:
                    slot.begun = slot.worker.begun
                    slot.worker.order(slot.task.matches, self._start_seconds(), alone=slot.task.alone)
                    self._watch(slot)
        while len(self._slots) < self._most and monotonic() >= self._next_start and self._workload.any_left():
            self._start()

    def _start(self) -> None:
        try:
            taken = [slot.core for slot in self._slots]
            core = next((core for core in self._cores if core not in taken), None)  # None leaves the choice to the system
            slot = WorkerSlot(WorkerProcess(self._spec, core, self._command), core=core)
        except OSError as error:
            self._note_failure(f"could not be started: {error}")
            return
        self._slots.append(slot)
        self._selector.register(slot.worker.replies, selectors.EVENT_READ, slot)
        self._watch(slot)

    def _watch(self, slot: WorkerSlot) -> None:
        """Wait until the pipe to a worker has room, if the worker has not received all its data."""
        writing = slot.worker.send()
        if writing and not slot.writing:
            self._selector.register(slot.worker.requests, selectors.EVENT_WRITE, slot)
        elif slot.writing and not writing:
            self._selector.unregister(slot.worker.requests)
        slot.writing = writing

    # Messages

    def _listen(self) -> list[Finished]:
        """Wait briefly for messages from workers, and return the matches that they have finished."""
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
            raise WorkerEnded("sent an unexpected answer")
        elif isinstance(message, Turn):
            task.seat = message.seat
        elif isinstance(message, Done):
            finished += zip(task.left, message.records, strict=False)
            task.recorded += len(message.records)
            self._failures = 0
            if message.seconds is not None:
                self._workload.hand_back(task)
                slot.task = None
                slot.fresh = False
                pace = max(message.seconds, 1e-6) / max(1, task.recorded)
                slot.size = max(1, min(MAX_BATCH_MATCHES, slot.size * 2, int(BATCH_SECONDS / pace)))

    # Ends

    def _look(self, elapsed: float, finished: list[Finished]) -> None:
        """Replace workers that hang, or that have died although their pipe is still open."""
        for slot in list(self._slots):
            try:
                if slot.worker.has_ended():
                    self._hear(slot, finished)  # messages that it sent before
                    if slot in self._slots:
                        raise WorkerEnded(slot.worker.describe_end())
                else:
                    slot.worker.check_alive(elapsed, self._hang if slot.ready else max(self._hang, STARTING_SECONDS))
            except WorkerEnded as end:
                self._replace(slot, str(end), finished)

    def _replace(self, slot: WorkerSlot, reason: str, finished: list[Finished]) -> None:
        """Clean up after a worker that has ended, and handle its matches. `_hand_out` starts another worker."""
        self._slots.remove(slot)
        begun = slot.worker.begun - slot.begun
        for descriptor in (slot.worker.replies, *([slot.worker.requests] if slot.writing else [])):
            with suppress(KeyError):
                self._selector.unregister(descriptor)
        end_workers([slot.worker])
        self._deals.release(slot)
        if slot.task is not None:
            culprit = self._workload.salvage(slot.task, begun)
            if culprit is not None:
                message, seat = f"the process that played this match {reason}, twice", slot.task.seat
                if seat is not None and may_end_worker(self._spec, culprit, seat):
                    record = make_unplayed(self._spec, culprit, "crash", seat, message)
                else:
                    record = make_unplayed(self._spec, culprit, message=message)
                finished.append((culprit, record))
        if not slot.worker.begun:
            self._note_failure(reason)

    def _note_failure(self, reason: str) -> None:
        self._failures += 1
        self._next_start = monotonic() + RESTART_SECONDS * self._failures
        if self._failures >= MAX_FAILURES:
            raise ArenaError(f"{MAX_FAILURES} worker processes in a row ended before they played; the last {reason}")


def _list_cores() -> list[int]:
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
