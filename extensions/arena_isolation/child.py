"""Starts programs within limits, exchanges lines with them, checks their use of resources, and ends them with all their
children.
"""

import mmap
import os
import re
import select
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Literal, NamedTuple

from arena.api.processes import ProcessTree
from arena.clock import perf_counter
from arena_isolation.stderr import StderrLog, StderrRelay

if TYPE_CHECKING:
    import psutil

LAUNCHER = Path(__file__).with_name("launch.py")
LOOK_SECONDS = 0.02
"""Seconds between two checks of the resources of a process during a wait, whether the process is silent or not."""
CHUNK_BYTES = 1 << 16
USAGE_LOOK_SECONDS = 0.25
"""Seconds between two checks of a process that answers quickly. A check takes longer than many answers."""
FAREWELL_SECONDS = 0.2
"""Seconds to wait for the last output of an ended process."""
EXIT_SECONDS = 2.0
"""Seconds to wait for the exit code of a process that has closed its output. On a busy machine, its end takes a moment."""


class ChildLost(Exception):
    """A child process cannot be used any more. The reason is one of these words.

    `late`: it has not answered in time; `deaf`: it does not read; `long`: a line is too long; `garbled`: a line is not JSON;
    `memory`, `processes`, `descriptors`: it uses too much; `ended`: its output has ended.
    """

    def __init__(self, why: Literal["late", "deaf", "long", "garbled", "memory", "processes", "descriptors", "ended"]) -> None:
        super().__init__(why)
        self.why = why


class ChildProcess(subprocess.Popen[bytes]):
    """A program that reads lines and answers with lines. It runs in its own session and dies with its parent.

    `memory` is the limit in bytes, or 0 for no limit. The kernel applies this limit to each process alone, and `receive` applies
    it to the process and its descendants together. `most` is the maximum number of processes, `longest` the maximum length of a
    line in bytes. `check` is called every `look` seconds, and may raise an error. `apart` isolates the process and its
    descendants from all other processes, in a PID namespace if possible. The child enters control groups by writing into the
    files `entrances`, and inherits `descriptors`. `calls` is a descriptor of a filter of system calls, if it has one. If there is
    a `log`, it receives the stderr of the child. If the child is `quiet`, its stderr is dropped. Only one thread at a time may
    use this object.
    """

    SHORT_SECONDS = 0.001
    """Seconds to wait for an answer before `meanwhile` is called."""
    QUIET_VARIABLE = "ARENA_QUIET_AGENTS"
    """The environment variable that suppresses the output of agents and names the folder for their logs. It is meant for the
    agents of strangers, which play for months.
    """
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
        calls: int | None = None,
        log: StderrLog | None = None,
        quiet: bool = False,
    ) -> None:
        self._mark = f"{os.getpid()}-{token_hex(8)}"
        super().__init__(
            launch_command(command, memory, entrances, apart=apart, calls=calls),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={ProcessTree.OF_AGENT: "", **environment} | {ProcessTree.OF_AGENT: self._mark},  # it comes first
            start_new_session=True,
            bufsize=0,
            pass_fds=descriptors if calls is None else (*descriptors, calls),
        )
        assert self.stdin is not None
        assert self.stdout is not None
        assert self.stderr is not None
        self.chatter = StderrRelay(self.stderr, name, log, quiet=quiet or bool(os.environ.get(self.QUIET_VARIABLE)))
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
        """Return the next line without its line end. Raises ChildLost if there is none by time `end`. At time `warn`, send
        `warning`.
        """
        due = self._looked + self._look if end is None else min(end, self._looked + self._look)
        if self.meanwhile is not None and not self._lines and perf_counter() < due:
            if self._readable.poll(self.SHORT_SECONDS * 1000):  # usually the answer arrives at once, and no other check is needed
                self._split(self._read())
            else:
                self.meanwhile()
        while not self._lines:
            now = perf_counter()
            if now >= self._looked + self._look:
                self._look_at_usage()
                now = self._looked
            if end is not None and now >= end:  # output that arrived late is still read once for each sent line
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
        """Return output that has not been received yet; None if there is none. Raises ChildLost if the output of the process has
        ended.
        """
        if self._lines or self._rest:
            return bytes(self._rest) or self._lines[0]
        return self._read() if self._readable.poll(0) else None

    def warn(self, warning: bytes) -> None:
        """Write a line that the process need not read."""
        with suppress(OSError):
            os.write(self._in, warning)

    @property
    def tree(self) -> ProcessTree:
        """The process and all its descendants."""
        return ProcessTree(self.pid, ProcessTree.OF_AGENT, self._mark)

    def measure_memory(self) -> int:
        """Return the current memory use of the process and its descendants, in bytes."""
        return self.measure_usage().memory

    def measure_usage(self) -> "Usage":
        """Return the current resources of the process and its descendants."""
        return measure_usage(self.pid)

    def exit_code(self) -> int | None:
        """Return the exit code of a process that ends (negative for a signal); None if it continues."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(EXIT_SECONDS)
        return self.poll()

    def end(self) -> None:
        """Kill the process and every process that it started, as `ProcessTree.end` does. Afterwards they are gone."""
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
        """Check the resources of the process if a check is due. Raises ChildLost if it uses too much."""
        if perf_counter() >= self._seen + USAGE_LOOK_SECONDS:
            self._look_at_usage()

    def _loss(self) -> ChildLost:
        """Return the error for a closed pipe. A subclass may give a more exact reason."""
        return ChildLost("ended")

    def _look_at_usage(self) -> None:
        if self._check is not None:
            self._check()
        if self._most is None and not self._memory:
            self._looked = self._seen = perf_counter()
            return
        usage = measure_usage(self.pid, self._most)
        if self._most is not None and usage.processes > self._most:
            raise ChildLost("processes")
        if usage.in_flight > MAX_IN_FLIGHT:
            raise ChildLost("descriptors")
        if self._memory and usage.above(self._memory):
            raise ChildLost("memory")
        self._looked = self._seen = perf_counter()


def launch_command(
    command: Sequence[str], memory: int = 0, entrances: Sequence[Path] = (), *, apart: bool = False, calls: int | None = None
) -> list[str]:
    """Return the command that starts another command within limits. The script LAUNCHER describes these limits."""
    limits = [str(memory), "apart" if apart else "free", "\n".join(map(str, entrances)), "" if calls is None else str(calls)]
    return [sys.executable, "-I", "-S", str(LAUNCHER), *limits, *command]


SHARED_MEMORY_FILES = ("/memfd:", "/dev/shm/")  # noqa: S108 - open files there are counted
"""Prefixes of the names of files that exist only in memory."""
BLOCK_BYTES = 512
"""The number of bytes in a unit of `st_blocks`."""
MEMORY_FOLDERS = ("/tmp", "/dev/shm")  # noqa: S108
"""Folders in a sandbox that are private file systems in memory."""
INODE_BYTES = 1024
"""Bytes of memory that the kernel uses for an empty file or folder, including its name."""
MIN_UNMAPPED_BYTES = 1 << 20
"""If all files together have fewer bytes than this, it does not matter whether some of them are counted twice."""
FREE_BUFFERS = 64
"""This many sockets, and this many pipes, in a sandbox are not counted as memory."""
SOCKET_BYTES, PIPE_BYTES = 256 << 10, 64 << 10
"""The bytes that count for each further socket or pipe, whether full or not. For a socket, they are `net.core.wmem_default` and
the memory that the kernel adds; for a pipe, its capacity. A sandbox cannot change the size of these buffers.
"""
PIPE = "pipe:"
"""The prefix of the names of pipes."""
MAX_IN_FLIGHT = 64
"""Maximum number of descriptors in unread messages. The kernel limits them for all programs of a user together."""
SOCKET, IN_FLIGHT = "socket:", re.compile(rb"^scm_fds:\s+(\d+)", re.MULTILINE)
"""The prefix of the names of sockets, and the number of descriptors in the unread messages of a socket in /proc/PID/fdinfo."""
THREAD_BYTES = 32 << 10
"""Bytes that the kernel uses for a thread: its stack and its other records."""
KERNEL_RECORDS = {b"VmPTE": 1 << 10, b"VmSwap": 1 << 10, b"Threads": THREAD_BYTES}
"""Memory that a process uses in addition to its resident pages. The keys are lines of /proc/PID/status, and the values are the
numbers of bytes in the units of these lines.
"""
MAPPING_BYTES = 512
"""Bytes that the kernel uses for a mapping of a process (a line of /proc/PID/maps). Measured: 220 for one without pages, and up
to 520 on average if the pages came and went in processes that were forked from each other.
"""
STATUS_BYTES = 1024
"""The maximum length of /proc/PID/stat: 52 short fields."""
_COUNTS = re.compile(rb"^(VmSize|RssShmem|VmPTE|VmSwap|Threads):\s+(\d+)", re.MULTILINE)


class Usage(NamedTuple):
    """The resources that a process and its descendants use."""

    processes: int
    memory: int
    """Bytes in RAM or in memory files. Memory that processes share is counted for each of them."""
    family: "Sequence[psutil.Process]"
    in_flight: int = 0
    """The descriptors in unread messages of their sockets, if the system counts them."""
    hidden_sockets: int = 0
    """The sockets of a private network namespace that no process has open: they are in unread messages, and may hold others."""
    most_mappings: int = 0
    """An upper bound of the number of their mappings."""

    def above(self, memory: int) -> bool:
        """Return True if the processes use more than `memory` bytes. Memory that several processes share is divided among
        them.

        The division and the count of mappings take milliseconds, so they are done only if the simple sum is above the limit.
        """
        if self.memory + self.most_mappings * MAPPING_BYTES <= memory:
            return False
        records = _count_mappings(self.family, memory // MAPPING_BYTES) * MAPPING_BYTES
        if self.memory + records <= memory:
            return False
        return _sum_memory(self.family, divided=True) + _measure_files(self.family)[0] + records > memory


def measure_usage(pid: int, most: int | None = None) -> Usage:
    """Return the current resources of a process and its descendants. If these are more than `most` processes, only their number
    is measured, because a process that starts many others must be ended at once.
    """
    import psutil

    with suppress(psutil.Error):
        family = [psutil.Process(pid)]
        below = _find_descendants(pid)
        if most is not None and len(below) >= most:
            return Usage(1 + len(below), 0, ())
        for child in below:
            with suppress(psutil.Error):  # it has just ended
                family.append(psutil.Process(child))
        unmapped, in_flight, hidden, mappings = _measure_files(family)
        return Usage(len(family), _sum_memory(family) + unmapped, family, in_flight, hidden, mappings)
    return Usage(0, 0, ())


def _find_descendants(pid: int) -> list[int]:
    """Return the ids of the descendants of a process. On Linux, this takes half the time of psutil."""
    if sys.platform != "linux":
        import psutil

        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    children: defaultdict[int, list[int]] = defaultdict(list)
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdigit():
            with suppress(OSError):
                descriptor = os.open(f"/proc/{name}/stat", os.O_RDONLY)
                try:
                    status = os.read(descriptor, STATUS_BYTES)
                finally:
                    os.close(descriptor)
                children[int(status[status.rindex(b")") :].split(None, 3)[2])].append(int(name))
    found, waiting = [], [pid]
    while waiting:
        below = children.pop(waiting.pop(), [])
        found += below
        waiting += below
    return found


def _measure_files(family: "Iterable[psutil.Process]") -> tuple[int, int, int, int]:
    """Return the bytes of memory that the processes use outside their resident pages, the descriptors in unread messages of
    their sockets, the number of sockets in a private network namespace that are not open, and the most mappings that they can
    have.

    The memory consists of their private file systems in memory, open memory files, page tables, swapped pages, stacks in the
    kernel, pipes, and the sockets of a private network namespace. Files that already count as shared memory of the processes are
    left out.
    """
    in_flight: dict[str, int] = {}
    systems: dict[int, int] = {}
    files: dict[tuple[int, int], int] = {}
    sockets: dict[int, int] = {}
    pipes: set[str] = set()
    shared = records = mappings = 0
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
                    target = os.readlink(link)  # noqa: PTH115
                    if target.startswith(PIPE):
                        pipes.add(target)
                    elif target.startswith(SOCKET):
                        with open(f"/proc/{process.pid}/fdinfo/{name}", "rb") as facts:  # noqa: PTH123
                            in_flight[target] = sum(map(int, IN_FLIGHT.findall(facts.read())))
                    elif target.startswith(SHARED_MEMORY_FILES):
                        found = os.stat(link)  # noqa: PTH116
                        files[found.st_dev, found.st_ino] = found.st_blocks * BLOCK_BYTES
        with suppress(OSError):
            network = os.stat(f"/proc/{process.pid}/ns/net").st_ino  # noqa: PTH116
            if network not in sockets and network != os.stat("/proc/self/ns/net").st_ino:  # noqa: PTH116
                with open(f"/proc/{process.pid}/net/sockstat") as lines:  # noqa: PTH123
                    sockets[network] = int(lines.readline().split()[2])
        with suppress(OSError), open(f"/proc/{process.pid}/status", "rb") as status:  # noqa: PTH123
            counts = dict(_COUNTS.findall(status.read()))
            shared += int(counts.get(b"RssShmem", 0)) << 10
            mappings += min(_max_mappings(), (int(counts.get(b"VmSize", 0)) << 10) // mmap.PAGESIZE)
            records += sum(int(counts.get(name, 0)) * unit for name, unit in KERNEL_RECORDS.items())
    total = sum(systems.values()) + sum([size for (device, _), size in files.items() if device not in systems])
    if total >= MIN_UNMAPPED_BYTES:
        total = max(0, total - shared)
    total += records + sum([max(0, used - FREE_BUFFERS) for used in sockets.values()]) * SOCKET_BYTES
    total += max(0, len(pipes) - FREE_BUFFERS) * PIPE_BYTES
    return total, sum(in_flight.values()), max(0, sum(sockets.values()) - len(in_flight)), mappings


@cache
def _max_mappings() -> int:
    """Return the maximum number of mappings of a process."""
    return int(Path("/proc/sys/vm/max_map_count").read_text())


def _count_mappings(family: "Iterable[psutil.Process]", enough: int) -> int:
    """Return the number of mappings of the processes. The count ends when it has found `enough`."""
    found = 0
    for process in family:
        with suppress(OSError), open(f"/proc/{process.pid}/maps", "rb", buffering=0) as lines:  # noqa: PTH123
            while found < enough and (data := lines.read(CHUNK_BYTES)):
                found += data.count(b"\n")
    return found


def _sum_memory(family: "Iterable[psutil.Process]", *, divided: bool = False) -> int:
    """Return the sum of the resident bytes of the processes. If `divided`, and if the system reports shared bytes, these are
    divided among the processes that share them.
    """
    import psutil

    total = 0
    for process in family:
        with suppress(psutil.Error):  # the process is gone
            found = process.memory_full_info() if divided else process.memory_info()
            total += int(getattr(found, "pss", found.rss) if divided else found.rss)
    return total
