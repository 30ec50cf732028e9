"""Starts programs within limits, exchanges lines with them, watches their resources, and ends them with all their children."""

import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from time import perf_counter
from typing import TYPE_CHECKING, Literal, NamedTuple

from arena.api.processes import ProcessTree
from arena_isolation.stderr import StderrLog, StderrRelay

if TYPE_CHECKING:
    import psutil

LAUNCHER = Path(__file__).with_name("launch.py")
LOOK_SECONDS = 0.02
"""Seconds between two checks of a process's resources during a wait, whether it is silent or not."""
CHUNK_BYTES = 1 << 16
USAGE_LOOK_SECONDS = 0.25
"""Seconds between two checks of a process that answers quickly. A check takes longer than many an answer."""
FAREWELL_SECONDS = 0.2
"""Seconds to wait for the last output and the exit code of an ended process."""


class ChildLost(Exception):
    """A child process cannot be used any more, with the reason.

    `late`: no answer in time; `deaf`: it does not read; `long`: a line is too long; `garbled`: a line is not JSON; `memory`,
    `processes`: it uses too much; `ended`: its output has ended.
    """

    def __init__(self, why: Literal["late", "deaf", "long", "garbled", "memory", "processes", "ended"]) -> None:
        super().__init__(why)
        self.why = why


class ChildProcess(subprocess.Popen[bytes]):
    """A program that reads lines and answers with lines. It runs in its own session and dies with its parent.

    `memory` limits its bytes: the kernel limits one process, `receive` all its descendants together; 0 is no limit. `most` is
    the maximum number of processes, `longest` the maximum length of a line in bytes. `check` is called every `look` seconds,
    and its errors are raised. `apart` isolates its family from all other processes, in a PID namespace if possible. The child
    enters the control groups with the files `entrances`, and inherits `descriptors`. A `log` keeps its stderr. Only one thread
    at a time may use it.
    """

    SHORT_SECONDS = 0.001
    """Seconds to wait for an answer before `meanwhile` is called."""
    QUIET_VARIABLE = "ARENA_QUIET_AGENTS"
    """Environment variable that suppresses agents' output, for strangers' agents that play for months: a folder of logs."""
    meanwhile: Callable[[], None] | None = None
    """Called if an answer takes longer than SHORT_SECONDS."""
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
            env={**environment, ProcessTree.OF_AGENT: self._mark},
            start_new_session=True,
            bufsize=0,
            pass_fds=descriptors,
        )
        assert self.stdin is not None
        assert self.stdout is not None
        assert self.stderr is not None
        self.chatter = StderrRelay(self.stderr, name, log, quiet=bool(os.environ.get(self.QUIET_VARIABLE)))
        self._memory, self._most, self._longest, self._look, self._check = memory, most, longest, look, check
        self._in, self._out = self.stdin.fileno(), self.stdout.fileno()
        os.set_blocking(self._in, False)  # a program that does not read must not block its parent
        self._readable = select.poll()
        self._readable.register(self._out, select.POLLIN)
        self._lines: list[bytes] = []
        self._rest = bytearray()
        self._looked = self._seen = perf_counter()

    def send(self, line: bytes, end: float | None) -> None:
        """Write a line. Raises ChildLost if it cannot be written by the time `end` of `perf_counter`."""
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
                raise self._loss() from None

    def receive(self, end: float | None, warn: float | None = None, warning: bytes = b"") -> bytes:
        """Return the next line without its end. Raises ChildLost if there is none by time `end`. At `warn`, send `warning`."""
        due = self._looked + self._look if end is None else min(end, self._looked + self._look)
        if self.meanwhile is not None and not self._lines and perf_counter() < due:
            if self._readable.poll(self.SHORT_SECONDS * 1000):  # the usual case: then nothing else needs a check
                self._split(self._read())
            else:
                self.meanwhile()
        while not self._lines:
            now = perf_counter()
            if now >= self._looked + self._look:
                self._look_at_usage()
                now = self._looked
            if end is not None and now >= end:  # output that arrived unobserved is read, once for each sent line
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
        """Return output that has not been received yet; None if there is none. Raises ChildLost if its output has ended."""
        if self._lines or self._rest:
            return bytes(self._rest) or self._lines[0]
        return self._read() if self._readable.poll(0) else None

    def warn(self, warning: bytes) -> None:
        """Write a line that need not be read."""
        with suppress(OSError):
            os.write(self._in, warning)

    @property
    def tree(self) -> ProcessTree:
        """The process and all its descendants."""
        return ProcessTree(self.pid, ProcessTree.OF_AGENT, self._mark)

    def measure_memory(self) -> int:
        """Return the current memory use of the process and its descendants, in bytes."""
        return measure_usage(self.pid).memory

    def exit_code(self) -> int | None:
        """Return the exit code of an ending process (negative for a signal); None if it continues."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(FAREWELL_SECONDS)
        return self.poll()

    def end(self) -> None:
        """Kill it and everything that it started, as `ProcessTree.end` does. It is gone afterwards."""
        self.tree.end()
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
            raise self._loss()
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
        """Check its resources if a check is due. Raises ChildLost if it uses too much."""
        if perf_counter() >= self._seen + USAGE_LOOK_SECONDS:
            self._look_at_usage()

    def _loss(self) -> ChildLost:
        """Return the loss for a closed pipe. A subclass may know more."""
        return ChildLost("ended")

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
    """Return the command that starts another command within limits, as described in LAUNCHER."""
    family = "apart" if apart else "free"
    return [sys.executable, "-I", "-S", str(LAUNCHER), str(memory), family, "\n".join(map(str, entrances)), *command]


SHARED_MEMORY_FILES = ("/memfd:", "/dev/shm/")  # noqa: S108 - what is open there is counted
"""Prefixes of the names of files that are in memory."""
BLOCK_BYTES = 512
"""Bytes in the unit of `st_blocks`."""
MEMORY_FOLDERS = ("/tmp", "/dev/shm")  # noqa: S108
"""Folders of a sandbox that are private file systems in memory."""
INODE_BYTES = 1024
"""Bytes of memory that the kernel uses for an empty file or folder, including its name."""
MIN_UNMAPPED_BYTES = 1 << 20
"""If the files are smaller than this, a possible double count does not matter."""


class Usage(NamedTuple):
    """Resources of a process and its descendants."""

    processes: int
    memory: int
    """Bytes in RAM or in memory files. Shared memory is counted for each process."""
    family: "Sequence[psutil.Process]"

    def above(self, memory: int) -> bool:
        """Return True if they use more than `memory` bytes, with shared memory divided among its users.

        The division takes milliseconds, so it is done only if the plain sum is above the limit.
        """
        return self.memory > memory and _sum_memory(self.family, divided=True) + _measure_unmapped(self.family) > memory


def measure_usage(pid: int) -> Usage:
    """Return the current resources of a process and its descendants."""
    import psutil

    with suppress(psutil.Error):
        root = psutil.Process(pid)
        family = [root, *root.children(recursive=True)]
        return Usage(len(family), _sum_memory(family) + _measure_unmapped(family), family)
    return Usage(0, 0, ())


def _measure_unmapped(family: "Iterable[psutil.Process]") -> int:
    """Return the bytes in the family's private file systems in memory and in open memory files.

    Memory that already appears as shared memory of the processes is not counted.
    """
    systems: dict[int, int] = {}
    files: dict[tuple[int, int], int] = {}
    for process in family:
        for folder in MEMORY_FOLDERS:
            place = f"/proc/{process.pid}/root{folder}"
            with suppress(OSError):
                device = os.stat(place).st_dev  # noqa: PTH116
                if device not in systems and device != os.stat(folder).st_dev:  # noqa: PTH116
                    used = os.statvfs(place)
                    systems[device] = (used.f_blocks - used.f_bfree) * used.f_frsize + (used.f_files - used.f_ffree) * INODE_BYTES
        with suppress(OSError):
            for name in os.listdir(f"/proc/{process.pid}/fd"):  # noqa: PTH208
                link = f"/proc/{process.pid}/fd/{name}"
                with suppress(OSError):
                    if os.readlink(link).startswith(SHARED_MEMORY_FILES):  # noqa: PTH115
                        found = os.stat(link)  # noqa: PTH116
                        files[found.st_dev, found.st_ino] = found.st_blocks * BLOCK_BYTES
    total = sum(systems.values()) + sum([size for (device, _), size in files.items() if device not in systems])
    if total < MIN_UNMAPPED_BYTES:  # the usual case
        return total
    for process in family:
        with suppress(OSError), open(f"/proc/{process.pid}/status") as status:  # noqa: PTH123
            total -= sum(int(line.split()[1]) << 10 for line in status if line.startswith("RssShmem"))
    return max(0, total)


def _sum_memory(family: "Iterable[psutil.Process]", *, divided: bool = False) -> int:
    """Return the sum of resident bytes. If `divided`, shared bytes are divided among their processes, if the system reports
    them.
    """
    import psutil

    total = 0
    for process in family:
        with suppress(psutil.Error):  # the process is gone
            found = process.memory_full_info() if divided else process.memory_info()
            total += int(getattr(found, "pss", found.rss) if divided else found.rss)
    return total
