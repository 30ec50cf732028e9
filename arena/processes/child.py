"""Starts programs within limits, asks them in lines, looks after what they use, and ends them with all that they started."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from time import perf_counter
from typing import TYPE_CHECKING, Literal, NamedTuple

from arena.processes.process_tree import OF_AGENT, ProcessTree, end_trees
from arena.processes.stderr import StderrLog, StderrRelay

if TYPE_CHECKING:
    import psutil

LAUNCHER = Path(__file__).with_name("launch.py")
LOOK_SECONDS = 0.02
"""Seconds between two looks at what a process uses while it is waited for, whether it is silent or not."""
CHUNK_BYTES = 1 << 16
SHORT_SECONDS = 0.001
"""Seconds for which an answer may be waited for before anything is done meanwhile."""
USAGE_LOOK_SECONDS = 0.25
"""Seconds between two looks at a process that answers before it would be looked at: a look takes longer than many an answer."""
FAREWELL_SECONDS = 0.2
"""Seconds for the last words of a process that has ended, and for its exit code."""


class ChildLost(Exception):
    """A child process cannot be used any more, and why.

    `late`: no answer in time; `deaf`: it does not read; `long`: a line is too long; `garbled`: a line is not JSON; `memory`,
    `processes`: it uses too much; `ended`: its output has ended.
    """

    def __init__(self, why: Literal["late", "deaf", "long", "garbled", "memory", "processes", "ended"]) -> None:
        super().__init__(why)
        self.why = why


class ChildProcess(subprocess.Popen[bytes]):
    """A program that reads lines and answers with lines, in a session of its own, that dies with its parent.

    `memory` limits its bytes, by the kernel those of one process, by `receive` those of all its descendants together; 0 is no
    limit. `most` is how many processes they may be, `longest` how many bytes a line may have. Every `look` seconds `check` is
    called; errors pass. `apart` keeps its family from all others, in a PID namespace if one can be made. It enters the control
    groups whose files are its `entrances`, and is given `descriptors`. A `log` keeps what it says on stderr.
    One thread at a time may use it.
    """

    meanwhile: Callable[[], None] | None = None
    """What is done if an answer is not there after SHORT_SECONDS."""
    _over = False

    def __init__(
        self,
        command: Sequence[str],
        folder: str,
        memory: int,
        environment: Mapping[str, str],
        name: str | None = None,
        *,
        apart: bool = False,
        most: int | None = None,
        longest: int = 1 << 20,
        look: float = LOOK_SECONDS,
        check: Callable[[], None] | None = None,
        entrances: Sequence[Path] = (),
        descriptors: Sequence[int] = (),
        log: StderrLog | None = None,
    ) -> None:
        self._mark = f"{os.getpid()}-{token_hex(8)}"
        super().__init__(
            launch_command(command, memory, entrances, apart=apart),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={**environment, OF_AGENT: self._mark},
            start_new_session=True,
            bufsize=0,
            pass_fds=descriptors,
        )
        assert self.stdin is not None
        assert self.stdout is not None
        assert self.stderr is not None
        self.chatter = StderrRelay(self.stderr, name, log)
        self._memory, self._most, self._longest, self._look, self._check = memory, most, longest, look, check
        self._in, self._out = self.stdin.fileno(), self.stdout.fileno()
        os.set_blocking(self._in, False)  # a program that does not read must not stop its parent
        self._readable = select.poll()
        self._readable.register(self._out, select.POLLIN)
        self._lines: list[bytes] = []
        self._rest = bytearray()
        self._looked = self._seen = perf_counter()

    def send(self, line: bytes, end: float | None) -> None:
        """Write a line; ChildLost if it cannot be written by the time `end` of `perf_counter`."""
        self._looked = perf_counter()
        self._over = False
        view = memoryview(line)
        while view:
            try:
                view = view[os.write(self._in, view) :]
            except BlockingIOError:
                writable = select.poll()
                writable.register(self._in, select.POLLOUT)
                writable.poll(self._look * 1000)
                if perf_counter() >= self._looked + self._look:
                    self._look_at_usage()
                if end is not None and perf_counter() >= end:
                    raise ChildLost("deaf") from None
            except OSError:
                raise ChildLost("ended") from None

    def receive(self, end: float | None, warn: float | None = None, warning: bytes = b"") -> bytes:
        """The next line, without its end; ChildLost if there is none by the time `end`. At `warn` it is sent `warning`."""
        due = self._looked + self._look if end is None else min(end, self._looked + self._look)
        if self.meanwhile is not None and not self._lines and perf_counter() < due:
            if self._readable.poll(SHORT_SECONDS * 1000):  # as a rule: and then nothing else has to be looked at
                self._split(self._read())
            else:
                self.meanwhile()
        while not self._lines:
            now = perf_counter()
            if now >= self._looked + self._look:
                self._look_at_usage()
                now = self._looked
            if end is not None and now >= end:  # what has come while nobody looked is read, once for each line that was sent
                if not self._over and self._readable.poll(0):
                    self._over = True
                    self._split(self._read())
                if not self._lines:
                    raise ChildLost("late")
                continue
            if warn is not None and now >= warn:
                warn = None
                self.warn(warning)
            wait = self._look
            for moment in (warn, end):
                if moment is not None:
                    wait = min(wait, moment - now)
            if self._readable.poll(max(wait, 0.0) * 1000):
                self._split(self._read())
        return self._lines.pop(0)

    def read_unasked(self) -> bytes | None:
        """Return output that has not been received yet; None if there is none. ChildLost if its output has ended."""
        if self._lines or self._rest:
            return bytes(self._rest) or self._lines[0]
        return self._read() if self._readable.poll(0) else None

    def warn(self, warning: bytes) -> None:
        """Write a line that need not be read."""
        with suppress(OSError):
            os.write(self._in, warning)

    @property
    def tree(self) -> ProcessTree:
        """It and everything that it starts."""
        return ProcessTree(self.pid, OF_AGENT, self._mark)

    def exit_code(self) -> int | None:
        """The exit code of a process that is ending, a negative one for a signal; None if it goes on."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(FAREWELL_SECONDS)
        return self.poll()

    def end(self) -> None:
        """Kill it and everything that it started, as `end_trees` does. It is gone afterwards."""
        end_trees([self.tree])
        self.kill()
        self.wait()
        self.chatter.end(FAREWELL_SECONDS)
        for stream in (self.stdin, self.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()

    def _read(self) -> bytes:
        try:
            data = os.read(self._out, CHUNK_BYTES)
        except OSError:
            data = b""
        if not data:
            raise ChildLost("ended")
        return data

    def _split(self, data: bytes) -> None:
        *lines, rest = data.split(b"\n")
        if lines:
            lines[0] = bytes(self._rest) + lines[0]
            self._lines += lines
            self._rest.clear()
        self._rest += rest
        if len(self._rest) > self._longest or (lines and len(lines[0]) > self._longest):
            raise ChildLost("long")

    def look(self) -> None:
        """See to what it uses, for the first time or after a while: ChildLost if that is too much."""
        if perf_counter() >= self._seen + USAGE_LOOK_SECONDS:
            self._look_at_usage()

    def _look_at_usage(self) -> None:
        if self._check is not None:
            self._check()
        usage = measure_usage(self.pid)
        if self._most is not None and usage.processes > self._most:
            raise ChildLost("processes")
        if self._memory and usage.above(self._memory):
            raise ChildLost("memory")
        self._looked = self._seen = perf_counter()


def launch_command(command: Sequence[str], memory: int = 0, entrances: Sequence[Path] = (), *, apart: bool = False) -> list[str]:
    """The command that starts another within limits, as LAUNCHER describes them."""
    family = "apart" if apart else "free"
    return [sys.executable, "-I", "-S", str(LAUNCHER), str(memory), family, "\n".join(map(str, entrances)), *command]


def import_path() -> list[str]:
    """The folders and archives that modules are imported from, as whole paths.

    The empty entry, by which an interactive Python, `python -c` and a notebook import from the working folder, is that folder.
    """
    return [os.path.abspath(entry) for entry in sys.path]  # noqa: PTH100 - links stay as they are called


def python_environment() -> dict[str, str]:
    """The variables of this process for another Python that is to import the same."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(import_path())}


def signal_name(number: int) -> str:
    """A signal as people call it."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


SHARED_MEMORY_FILES = ("/memfd:", "/dev/shm/")  # noqa: S108 - what is open there is counted
"""The beginnings of the names of files that are memory."""
BLOCK_BYTES = 512
"""Bytes in the unit of `st_blocks`."""


class Usage(NamedTuple):
    """Resources of a process and its descendants."""

    processes: int
    memory: int
    """Bytes, resident or in files that are memory; what they share is counted for each of them."""
    family: "Sequence[psutil.Process]"

    def above(self, memory: int) -> bool:
        """True if they use more memory than so many bytes, with what is shared divided among those who share it.

        To divide it takes milliseconds, so it is done only if the plain sum is above already.
        """
        return self.memory > memory and _sum_memory(self.family, divided=True) + _measure_unmapped(self.family) > memory


def measure_usage(pid: int) -> Usage:
    """Resources that a process and its descendants use now."""
    import psutil

    with suppress(psutil.Error):
        root = psutil.Process(pid)
        family = [root, *root.children(recursive=True)]
        return Usage(len(family), _sum_memory(family) + _measure_unmapped(family), family)
    return Usage(0, 0, ())


def _measure_unmapped(family: "Iterable[psutil.Process]") -> int:
    """Bytes of open files that are memory, beyond those that show as shared memory of the processes."""
    files: dict[tuple[int, int], int] = {}
    mapped = 0
    for process in family:
        with suppress(OSError):
            for name in os.listdir(f"/proc/{process.pid}/fd"):  # noqa: PTH208
                link = f"/proc/{process.pid}/fd/{name}"
                with suppress(OSError):
                    if os.readlink(link).startswith(SHARED_MEMORY_FILES):  # noqa: PTH115
                        found = os.stat(link)  # noqa: PTH116
                        files[found.st_dev, found.st_ino] = found.st_blocks * BLOCK_BYTES
            if files:
                with open(f"/proc/{process.pid}/status") as status:  # noqa: PTH123
                    mapped += sum(int(line.split()[1]) << 10 for line in status if line.startswith("RssShmem"))
    return max(0, sum(files.values()) - mapped)


def _sum_memory(family: "Iterable[psutil.Process]", *, divided: bool = False) -> int:
    """Sum up the resident bytes; if `divided`, shared ones are divided among their processes, if the system tells that."""
    import psutil

    total = 0
    for process in family:
        with suppress(psutil.Error):  # it is gone
            found = process.memory_full_info() if divided else process.memory_info()
            total += int(getattr(found, "pss", found.rss) if divided else found.rss)
    return total
