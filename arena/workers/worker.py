"""The worker's end of a run in several processes: `python -m arena.workers.worker`, matches in on stdin, records out on stdout.

Both ends are arena itself, on one machine and of one version, so they use pickle, in frames that garbage cannot imitate.
Output of agents goes to stderr. In shared memory the worker counts its signs of life and the matches it has begun.
"""

import ctypes
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from time import perf_counter, sleep
from typing import Any

from arena.errors import ArenaError, author_traceback, describe
from arena.match.record import Record
from arena.plugins.syntax import take_over
from arena.processes.python_process import take_pipes
from arena.schedule.fingerprint import take_fingerprints
from arena.schedule.runner import MatchRunner, make_unplayed
from arena.schedule.schedule import Scheduled
from arena.spec import reload_spec
from arena.workers.messages import CUT_OFF_EXIT_CODE, Done, Frames, Ready, Turn, Vitals, WorkerFailed, make_frame

PULSE_SECONDS = 0.1
"""Seconds between two signs of life, and the longest delay of a finished record while the next match is played."""
GATHER_SECONDS = 0.02
"""Seconds for which the records of small matches are gathered, because sending one takes as long as playing a small match."""
ORDER_SECONDS = 0.2
"""Seconds after which a worker returns its remaining matches, because others may be idle."""
_PR_SET_PDEATHSIG = 1
"""The number of the option in Linux' prctl."""


class ReplyPipe:
    """The worker's pipe to the parent, safe to use from two threads. A process that an agent forks off is ended when it uses the
    pipe.
    """

    def __init__(self, descriptor: int) -> None:
        self.alone = False
        self._descriptor = descriptor
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._records: list[Record] = []
        self._sent = perf_counter()

    def turn(self, seat: int) -> None:
        """Send the seat to move, if the parent asked for it."""
        if self.alone:
            self.send(Turn(seat))

    def add(self, record: Record, now: float) -> None:
        """Send a record at once, or with records that follow within GATHER_SECONDS, but after PULSE_SECONDS at the latest."""
        self._end_forked()
        with self._lock:
            self._records.append(record)
        if now - self._sent > GATHER_SECONDS:
            self.flush()

    def flush(self, seconds: float | None = None) -> None:
        """Send the pending records; `seconds` ends the order."""
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
        except OSError:  # the parent is gone, or an agent has closed the pipe
            os._exit(CUT_OFF_EXIT_CODE)

    def _end_forked(self) -> None:
        if os.getpid() != self._owner:
            os._exit(CUT_OFF_EXIT_CODE)


def serve(requests: Iterator[Any], pipe: ReplyPipe, vitals: Vitals) -> None:
    """Take a recipe, then orders, and answer with records; end with the end of the requests."""

    def note_turn(seat: int) -> None:
        vitals.begin_turn(seat)
        pipe.turn(seat)

    try:
        recipe = next(requests)
        if recipe.core is not None:
            # The agent processes that this thread starts stay on the core, too. Worker and agent never run at the same time, and
            # waking a process on another core takes several times as long as sending it a message.
            with suppress(OSError, AttributeError):
                os.sched_setaffinity(0, {recipe.core})
        take_over(recipe.files)
        spec = reload_spec(recipe.document, recipe.plugins, recipe.seed, shared=recipe.shared)
        code = take_fingerprints(spec)
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
            pipe.alone = order.alone
            pipe.flush(_play(runner, order.matches, pipe, vitals))
    except ArenaError as error:
        pipe.flush()
        pipe.send(WorkerFailed(str(error)))


def _play(runner: MatchRunner, matches: Sequence[Scheduled], pipe: ReplyPipe, vitals: Vitals) -> float:
    """Play matches for the time of an order, at least one; return the seconds it took."""
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
    """Serve the parent process, with stdin and stdout hidden from agents.

    `parent` is its process id, `memory` the descriptor of the shared memory, and `bound` means that the thread that started this
    process lives as long as the parent.
    """
    signal.signal(signal.SIGINT, lambda *_: None)  # the parent handles it and ends this process; no agent may see it
    requests, replies = take_pipes()
    if bound:
        # Linux kills this process with its parent, even if an agent does not let Python's threads run.
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    vitals, pipe = Vitals(memory), ReplyPipe(replies.fileno())
    os.close(memory)
    threading.Thread(target=_pulse, args=(parent, pipe, vitals), daemon=True).start()
    code = 1
    try:
        serve(_receive(requests.fileno()), pipe, vitals)
        code = 0
    except BaseException:  # an agent raised it although only the user's interrupt passes
        traceback.print_exc()
    finally:
        os._exit(code)  # at once, whatever threads agents have left


def _pulse(parent: int, pipe: ReplyPipe, vitals: Vitals) -> None:
    """Show that this process is alive and send pending records, until the parent has ended; then end."""
    while os.getppid() == parent:
        vitals.beat()
        pipe.flush()
        sleep(PULSE_SECONDS)
    with suppress(OSError):
        os.killpg(0, signal.SIGKILL)
    os._exit(CUT_OFF_EXIT_CODE)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), bound=sys.argv[3] == "bound")
