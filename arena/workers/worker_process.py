"""A worker process as its parent sees it: orders, messages, signs of life, and the end of the process."""

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
from arena.processes.python_process import PythonProcess
from arena.schedule.schedule import Scheduled
from arena.spec import Spec
from arena.workers.messages import CUT_OFF_EXIT_CODE, Frames, Garbled, MatchOrder, Recipe, Vitals, make_frame, shared_memory

EXIT_SECONDS = 0.2
"""Seconds to wait for the end of a process that has closed its pipe, so that its exit code can be reported."""
KILL_SECONDS = 1.0
"""Seconds to wait for killed processes."""
_CHUNK_BYTES = 1 << 16
_CHUNKS_PER_TURN = 64
"""The number of chunks that are read from one worker before others are read."""
_SILENT = "did not respond for {:g} s: it was stopped, or runs code that does not let Python continue"
_GARBLED = "let another program write to its pipe to arena"
_CLOSED = "closed its pipe to arena"
WORKER_COMMAND: tuple[str, ...] = (sys.executable, "-P", "-m", "arena.workers.worker")
"""The command of a worker, without its arguments."""


class WorkerEnded(Exception):
    """A worker process has ended or can no longer be used. The message continues 'the process that played ...'."""


class WorkerProcess:
    """A worker process. It has its own session, so that Ctrl-C in the terminal interrupts only the parent.

    Methods do not wait for the process, except for `close` and for methods that find it dead, which wait briefly. Raises OSError
    if the process cannot be started.
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
        """The file descriptor for writing."""
        return self._requests.fileno()

    @property
    def replies(self) -> int:
        """The file descriptor for reading."""
        return self._replies.fileno()

    @property
    def begun(self) -> int:
        """The number of matches that it has begun since its start."""
        return self._vitals.begun

    @property
    def turn(self) -> tuple[int, int]:
        """The seat to move in its last match, and the number of turns in this match."""
        return self._vitals.turn

    @property
    def tree(self) -> ProcessTree:
        """The worker and its descendants."""
        return ProcessTree(self.pid, ProcessTree.OF_WORKER, self._mark)

    def order(self, matches: Sequence[Scheduled], start_seconds: Mapping[str, float], *, alone: bool) -> None:
        """Give it matches to play. The caller must call `send` until the whole order has been sent."""
        self._unsent += make_frame(MatchOrder(matches, alone, start_seconds))

    def send(self) -> bool:
        """Write as much as the pipe accepts, and return whether data is left."""
        try:
            while self._unsent:
                del self._unsent[: os.write(self.requests, self._unsent)]
        except BlockingIOError:
            return True
        except OSError:  # it has ended, so its replies will end too
            self._unsent.clear()
        return False

    def receive(self) -> Iterator[Any]:
        """Yield the messages that have arrived, at most a few megabytes. Raises WorkerEnded after the last message."""
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
        """Raise WorkerEnded after `longest` seconds without a sign of life; `elapsed` is the time since the last call."""
        beats = self._vitals.beats
        self._silence = self._silence + elapsed if beats == self._beats else 0.0
        self._beats = beats
        if self._silence > longest:
            raise WorkerEnded(_SILENT.format(longest))

    def describe_end(self) -> str:
        """Describe how the process ended or, if it is alive, that it has closed its pipe."""
        try:
            code = self._process.wait(EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            return _CLOSED
        if code == CUT_OFF_EXIT_CODE:
            return _CLOSED
        return f"was killed by {PythonProcess.signal_name(-code)}" if code < 0 else f"ended with exit code {code}"

    def close(self) -> None:
        """Release the resources of a process that was killed."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(KILL_SECONDS)
        for stream in (self._requests, self._replies):
            with suppress(OSError):
                stream.close()


def end_workers(workers: Sequence[WorkerProcess]) -> None:
    """Kill workers and everything that they started."""
    if workers:
        end_trees([worker.tree for worker in workers])
        for remove in remove_leftovers:
            remove([worker.pid for worker in workers])
    for worker in workers:
        worker.close()


def _start_process(command: Sequence[str], memory: int, mark: str) -> subprocess.Popen[bytes]:
    # The worker has the import path of this process. -P leaves the current folder out, so that results do not depend on it.
    # The mark comes first, because `ProcessTree` reads only the beginning of an environment.
    environment: Mapping[str, str] = {ProcessTree.OF_WORKER: "", **PythonProcess.environment()} | {ProcessTree.OF_WORKER: mark}
    bound = "bound" if threading.current_thread() is threading.main_thread() else "free"
    return subprocess.Popen(  # noqa: S603 - the command of a worker
        [*command, str(os.getpid()), str(memory), bound],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        pass_fds=(memory,),
        start_new_session=True,
        env=environment,
    )
