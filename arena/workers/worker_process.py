"""One worker process, as its parent sees it: orders in, messages out, signs of life, and its end."""

import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import IO, Any, cast

from arena.plugins.syntax import list_parsed
from arena.processes.process_tree import ProcessTree, end_trees, remove_leftovers
from arena.processes.python_process import python_environment, signal_name
from arena.schedule.schedule import Scheduled
from arena.spec import Spec
from arena.workers.messages import CUT_OFF_EXIT_CODE, Frames, Garbled, MatchOrder, Recipe, Vitals, make_frame, shared_memory

EXIT_SECONDS = 0.2
"""Seconds for a process with a closed pipe to end, so that its exit code can be reported."""
KILL_SECONDS = 1.0
"""Seconds to wait for processes that were killed."""
_CHUNK_BYTES = 1 << 16
_CHUNKS_PER_TURN = 64
"""Chunks to read from one worker before the others get their turn."""
_SILENT = "gave no sign of life for {:g} s: stopped, or held up by code that does not let Python go on"
_GARBLED = "let something else write to the pipe that leads to arena"
_CLOSED = "closed the pipe that leads to arena"


WORKER_COMMAND: tuple[str, ...] = (sys.executable, "-P", "-m", "arena.workers.worker")
"""The command of a worker, without its arguments."""


class WorkerEnded(Exception):
    """A worker process has ended or cannot be used any more; the message continues 'the process that played ...'."""


class WorkerProcess:
    """A worker. It has its own session, so that Ctrl-C in the terminal only reaches the parent.

    No method waits for it, except briefly `end` and those that find it dead. OSError if it cannot be started.
    """

    def __init__(self, spec: Spec, core: int | None = None, command: Sequence[str] = WORKER_COMMAND) -> None:
        memory = shared_memory()
        try:
            self._vitals = Vitals(memory)
            self._mark = f"{os.getpid()}-{secrets.token_hex(8)}"
            self._process = _start_process(command, memory, self._mark)
        finally:
            os.close(memory)
        self._requests = cast(IO[bytes], self._process.stdin)
        self._replies = cast(IO[bytes], self._process.stdout)
        os.set_blocking(self.requests, False)
        os.set_blocking(self.replies, False)
        self._frames = Frames()
        recipe = Recipe(spec.document, spec.plugins, spec.seed, list_parsed(), spec.shared, core)
        self._unsent = bytearray(make_frame(recipe))
        self._beats = 0
        self._silence = 0.0

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def requests(self) -> int:
        """The descriptor to write to."""
        return self._requests.fileno()

    @property
    def replies(self) -> int:
        """The descriptor to read from."""
        return self._replies.fileno()

    @property
    def begun(self) -> int:
        """The number of matches that it has begun in its life."""
        return self._vitals.begun

    @property
    def turn(self) -> tuple[int, int]:
        """The seat to move in the match that it began last, and the number of turns of that match."""
        return self._vitals.turn

    @property
    def tree(self) -> ProcessTree:
        """It and its descendants."""
        return ProcessTree(self.pid, ProcessTree.OF_WORKER, self._mark)

    def order(self, matches: Sequence[Scheduled], *, alone: bool) -> None:
        """Give it matches to play; call `send` until the whole order has been sent."""
        self._unsent += make_frame(MatchOrder(matches, alone))

    def send(self) -> bool:
        """Write as much as the pipe accepts; return whether something is left."""
        try:
            while self._unsent:
                del self._unsent[: os.write(self.requests, self._unsent)]
        except BlockingIOError:
            return True
        except OSError:  # it has ended, and so will its replies
            self._unsent.clear()
        return False

    def receive(self) -> Iterator[Any]:
        """Yield the messages that have arrived, at most a few megabytes of them. WorkerEnded after the last."""
        for _ in range(_CHUNKS_PER_TURN):
            try:
                data = os.read(self.replies, _CHUNK_BYTES)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                raise WorkerEnded(self.describe_end())
            try:
                yield from self._frames.feed(data)
            except Garbled as error:
                raise WorkerEnded(_GARBLED) from error

    def has_ended(self) -> bool:
        """Return whether the process is gone, even if another process holds its pipe open."""
        return self._process.poll() is not None

    def check_alive(self, elapsed: float, longest: float) -> None:
        """Raise WorkerEnded if it has shown no sign of life for `longest` seconds, `elapsed` of them since the last call."""
        beats = self._vitals.beats
        self._silence = self._silence + elapsed if beats == self._beats else 0.0
        self._beats = beats
        if self._silence > longest:
            raise WorkerEnded(_SILENT.format(longest))

    def describe_end(self) -> str:
        """Describe how it ended, or that it has closed its pipe if it is alive."""
        try:
            code = self._process.wait(EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            return _CLOSED
        if code == CUT_OFF_EXIT_CODE:
            return _CLOSED
        return f"was killed by {signal_name(-code)}" if code < 0 else f"ended with exit code {code}"

    def close(self) -> None:
        """Release a process that has been killed."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(KILL_SECONDS)
        for stream in (self._requests, self._replies):
            with suppress(OSError):
                stream.close()


def end_workers(workers: Sequence[WorkerProcess]) -> None:
    """Kill workers with everything that they started, in any state."""
    if workers:
        end_trees([worker.tree for worker in workers])
        for remove in remove_leftovers:
            remove([worker.pid for worker in workers])
    for worker in workers:
        worker.close()


def _start_process(command: Sequence[str], memory: int, mark: str) -> subprocess.Popen[bytes]:
    # The same import path as here, without the current folder, so that the result does not depend on the player.
    environment: Mapping[str, str] = {**python_environment(), ProcessTree.OF_WORKER: mark}
    bound = "bound" if threading.current_thread() is threading.main_thread() else "free"
    return subprocess.Popen(  # noqa: S603 - this very program
        [*command, str(os.getpid()), str(memory), bound],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        pass_fds=(memory,),
        start_new_session=True,
        env=environment,
    )
