"""The worker process, `python -m arena.workers.worker`. It reads matches from stdin and writes records to stdout.

Both ends of its pipes belong to the same version of arena on one machine, so messages are pickled. They are sent in frames that
other output cannot imitate. Agents write to stderr. In shared memory, the worker counts its signs of life and its matches.
"""

import ctypes
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from arena.clock import perf_counter, sleep
from arena.errors import ArenaError, author_traceback, describe
from arena.match.record import Record
from arena.plugins.syntax import take_over
from arena.processes.python_process import PythonProcess
from arena.schedule.fingerprint import Fingerprint
from arena.schedule.runner import MatchRunner, make_unplayed
from arena.schedule.schedule import Scheduled
from arena.spec import reload_spec
from arena.workers.messages import CUT_OFF_EXIT_CODE, Done, Frames, Ready, Turn, Vitals, WorkerFailed, make_frame

PULSE_SECONDS = 0.1
"""Seconds between two signs of life. A finished record is sent at most this much later, while the next match is played."""
GATHER_SECONDS = 0.02
"""Seconds for which records of small matches are collected before they are sent. Sending takes as long as such a match."""
ORDER_SECONDS = 0.2
"""Seconds after which a worker returns its remaining matches, because other workers may be idle."""
_PR_SET_PDEATHSIG = 1
"""The number of this option of the system call prctl in Linux."""


class ReplyPipe:
    """The worker's pipe to the parent. Two threads may use it. A process that an agent has forked ends if it uses the pipe."""

    def __init__(self, descriptor: int) -> None:
        self.alone = False
        self._descriptor = descriptor
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._records: list[Record] = []
        self._sent = perf_counter()

    def turn(self, seat: int) -> None:
        """Send the seat to move, if the parent has requested this."""
        if self.alone:
            self.send(Turn(seat))

    def add(self, record: Record, now: float) -> None:
        """Send a record at once, or with others from the next GATHER_SECONDS; it waits PULSE_SECONDS at most."""
        self._end_forked()
        with self._lock:
            self._records.append(record)
        if now - self._sent > GATHER_SECONDS:
            self.flush()

    def flush(self, seconds: float | None = None) -> None:
        """Send the pending records. If `seconds` is set, this ends the order."""
        self._end_forked()
        with self._lock:
            if self._records or seconds is not None:
                records, self._records = self._records, []
                self._write(Done(records, seconds))
                self._sent = perf_counter()

    def send(self, message: Any) -> None:
        """Send a message."""
        self._end_forked()
        with self._lock:
            self._write(message)

    def _write(self, message: Any) -> None:
        left = memoryview(make_frame(message))
        try:
            while left:
                left = left[os.write(self._descriptor, left) :]
        except OSError:  # the parent has ended, or an agent has closed the pipe
            os._exit(CUT_OFF_EXIT_CODE)

    def _end_forked(self) -> None:
        if os.getpid() != self._owner:
            os._exit(CUT_OFF_EXIT_CODE)


def serve(requests: Iterator[Any], pipe: ReplyPipe, vitals: Vitals) -> None:
    """Read the recipe, then the orders, and answer with records. Return after the last request."""

    def note_turn(seat: int) -> None:
        vitals.begin_turn(seat)
        pipe.turn(seat)

    try:
        recipe = next(requests)
        if recipe.core is not None:
            # Agent processes that this thread starts stay on the core, too. A worker and its agent never run at the same time,
            # and waking a process on another core takes several times as long as sending it a message.
            with suppress(OSError, AttributeError):
                os.sched_setaffinity(0, {recipe.core})
        take_over(recipe.files)
        spec = reload_spec(recipe.document, recipe.plugins, recipe.seed, shared=recipe.shared)
        code = Fingerprint.take_all(spec)
        runner = MatchRunner(spec, on_turn=note_turn, code=code)
    except ArenaError as error:
        pipe.send(WorkerFailed(f"a worker process could not load the spec: {error}"))
        return
    except Exception as error:
        pipe.send(WorkerFailed(f"a worker process could not load the spec: {describe(error)}"))
        return
    pipe.send(Ready(code))
    try:
        for order in requests:
            pipe.alone, runner.start_seconds = order.alone, order.start_seconds
            pipe.flush(_play(runner, order.matches, pipe, vitals))
    except ArenaError as error:
        pipe.flush()
        pipe.send(WorkerFailed(str(error)))


def _play(runner: MatchRunner, matches: Sequence[Scheduled], pipe: ReplyPipe, vitals: Vitals) -> float:
    """Play matches, at least one, until the time for an order is over. Return the seconds that this took."""
    began = perf_counter()
    spent = 0.0
    for scheduled in matches:
        vitals.begin()
        try:
            record = runner.play(scheduled)
        except ArenaError:
            raise
        except Exception as error:  # a fault of arena itself: no agent loses, and the run continues
            record = make_unplayed(runner.spec, scheduled, message=describe(error))
            record = record._replace(traceback=author_traceback(error))
        now = perf_counter()
        pipe.add(record, now)
        spent = now - began
        if spent > ORDER_SECONDS:
            break
    return spent


def _receive(descriptor: int) -> Iterator[Any]:
    frames = Frames()
    try:
        while data := os.read(descriptor, 1 << 16):
            yield from frames.feed(data)
    except OSError:  # an agent has closed the pipe
        os._exit(CUT_OFF_EXIT_CODE)


def main(parent: int, memory: int, *, bound: bool) -> None:
    """Serve the parent process, and hide stdin and stdout from agents.

    `parent` is the process id of the parent, and `memory` is the descriptor of the shared memory. `bound` is true if the thread
    that started this process lives as long as the parent.
    """
    signal.signal(signal.SIGINT, lambda *_: None)  # the parent handles Ctrl-C and ends this process
    requests, replies = PythonProcess.take_pipes()
    if bound:
        # Linux kills this process when its parent ends, even if an agent does not let Python's threads run.
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    vitals, pipe = Vitals(memory), ReplyPipe(replies.fileno())
    os.close(memory)
    threading.Thread(target=_pulse, args=(parent, pipe, vitals), daemon=True).start()
    code = 1
    try:
        serve(_receive(requests.fileno()), pipe, vitals)
        code = 0
    except BaseException:  # an agent raised it; only the user's interrupt is passed on
        traceback.print_exc()
    finally:
        os._exit(code)  # ends at once, even if agents have left threads


def _pulse(parent: int, pipe: ReplyPipe, vitals: Vitals) -> None:
    """Give signs of life and send pending records until the parent has ended; then end this process."""
    while os.getppid() == parent:
        vitals.beat()
        pipe.flush()
        sleep(PULSE_SECONDS)
    with suppress(OSError):
        os.killpg(0, signal.SIGKILL)
    os._exit(CUT_OFF_EXIT_CODE)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), bound=sys.argv[3] == "bound")
