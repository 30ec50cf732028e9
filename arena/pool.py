"""Plays the matches of a spec in several processes, and survives the death of any of them."""

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import SimpleQueue
from time import perf_counter
from typing import IO, Any, cast

from arena.errors import ArenaError
from arena.record import Record
from arena.schedule import Scheduled, Stage
from arena.spec import Spec
from arena.worker import READY, send

BATCH_SECONDS = 0.1
"""How long a batch should take: long against the cost of handing it over, short against the run."""
LARGEST_BATCH = 1000
GRACE = 0.5
"""Seconds for a worker that closed its pipe to end by itself, so that its exit code can be told."""

Finished = tuple[Scheduled, Record]
Take = Callable[[int], list[Scheduled] | None]


class WorkerDied(Exception):
    """A worker process is gone."""


class Worker:
    """One worker process. It is in a session of its own, so that Ctrl-C in the terminal reaches the parent alone."""

    def __init__(self, spec: Spec) -> None:
        # The same import path as here, and not the current folder: what is found must not depend on who plays.
        path = os.pathsep.join(sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "arena.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": path},
        )
        self._requests = cast(IO[bytes], self._process.stdin)
        self._replies = cast(IO[bytes], self._process.stdout)
        threading.Thread(target=self._bury, daemon=True).start()
        try:
            answer = self.ask((spec.document, spec.plugins, spec.seed))
        except WorkerDied as error:
            raise ArenaError(f"{error} before it could play") from error
        if answer != READY:
            self.end()
            raise ArenaError(f"a worker process could not load the spec: {answer}")

    def ask(self, request: Any) -> Any:
        """Send a request and wait for the answer; WorkerDied where none comes."""
        try:
            send(self._requests, request)
            return pickle.load(self._replies)  # noqa: S301 - from our own child
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE)
            self.end()
            raise WorkerDied(f"a worker process ended with code {self._process.returncode}") from error

    def _bury(self) -> None:
        """End what a dead worker has left behind: a child of it would keep the pipes open for ever."""
        self._process.wait()
        with suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def end(self) -> None:
        """End the process and its children, whatever they are doing."""
        with suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._requests, self._replies):
            with suppress(OSError):
                stream.close()


class Pool:
    """Workers that share one schedule. Batches grow until one takes about a tenth of a second.

    `take(size)` gives the matches to play next, none when all are given out, None while it waits for results; it is called
    by one thread at a time. Whoever iterates over `play` tells the schedule about a result before asking for the next.
    """

    def __init__(self, spec: Spec, workers: int, take: Take) -> None:
        self._spec = spec
        self._take = take
        self._lock = threading.Condition()
        self._workers: set[Worker] = set()
        self._closed = False
        self._finished: SimpleQueue[Finished | BaseException | None] = SimpleQueue()
        self._threads = [threading.Thread(target=self._feed, daemon=True) for _ in range(workers)]

    def play(self) -> Iterator[Finished]:
        """Yield every match with its record as it is finished, in no particular order."""
        for thread in self._threads:
            thread.start()
        running = len(self._threads)
        try:
            while running:
                finished = self._finished.get()
                if finished is None:
                    running -= 1
                elif isinstance(finished, BaseException):
                    raise finished
                else:
                    yield finished
                    with self._lock:
                        self._lock.notify_all()  # the schedule may go on now
        finally:
            self._close()

    def _close(self) -> None:
        with self._lock:
            self._closed = True
            workers = list(self._workers)
            self._lock.notify_all()
        for worker in workers:
            worker.end()

    def _started(self) -> Worker:
        worker = Worker(self._spec)
        with self._lock:
            self._workers.add(worker)
            closed = self._closed
        if closed:
            worker.end()
        return worker

    def _feed(self) -> None:
        try:
            self._work_off(self._started())
        except BaseException as error:  # handed to the main thread, which raises it
            if not self._closed:
                self._finished.put(error)
        finally:
            self._finished.put(None)

    def _work_off(self, worker: Worker) -> None:
        size = 1
        while batch := self._next(size):
            began = perf_counter()
            try:
                records = worker.ask(batch)
            except WorkerDied:
                if self._closed:
                    return
                worker = self._one_by_one(batch)
                continue
            for scheduled, record in zip(batch, records, strict=True):
                self._finished.put((scheduled, record))
            spent = perf_counter() - began
            size = max(1, min(LARGEST_BATCH, size * 2, int(len(batch) * BATCH_SECONDS / max(spent, 1e-6))))

    def _next(self, size: int) -> list[Scheduled]:
        with self._lock:
            while not self._closed:
                batch = self._take(size)
                if batch is not None:
                    return batch
                self._lock.wait()
            return []

    def _one_by_one(self, batch: list[Scheduled]) -> Worker:
        """Play a batch that killed a worker match by match in a new one; a match that kills that one too is void."""
        worker = self._started()
        for scheduled in batch:
            try:
                record = worker.ask([scheduled])[0]
            except WorkerDied as error:
                if self._closed:
                    raise
                record = self._lost(scheduled, str(error))
                worker = self._started()
            self._finished.put((scheduled, record))
        return worker

    def _lost(self, scheduled: Scheduled, message: str) -> Record:
        record = Stage(self._spec).unplayed(scheduled)
        return record._replace(message=f"{message}, twice, in this match")
