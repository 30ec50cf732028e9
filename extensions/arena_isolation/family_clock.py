"""The CPU time of an agent and its children, and the time that they waited for a processor, both measured from outside.

For each thread, Linux counts the time in which it ran, and the time in which it could have run but had no processor
(`/proc/TID/schedstat`, in nanoseconds). The second is the time that an agent loses on a busy machine; it does not include sleep.
On other systems, the waiting time is unknown and counts as zero.
"""

import os
import threading
from collections.abc import Iterable, Set
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Self

from arena.api.processes import ProcessTree
from arena.clock import perf_counter
from arena_isolation.control_group import ControlGroup

LISTING_SECONDS = 0.1
"""Seconds between two listings of processes that have no control group. One such listing takes as long as a hundred
with a group.
"""
MAX_WATCHED_THREADS = 64
"""Maximum number of threads whose waiting time is read. An agent with more threads mostly waits for its own threads."""
MAX_WATCHED_PROCESSES = 128
"""Maximum number of processes whose time is read. An agent may not have as many, and each takes an open file of this process."""
_TICK = 1 / os.sysconf("SC_CLK_TCK")


class _Thread(NamedTuple):
    ran: float
    waited: float


class FamilyClock:
    """The processor time of a process and its descendants since `begin`. It is read from their control group if they have one,
    otherwise from /proc.

    Without a group, the time of an orphaned process counts only up to the last listing that found this process. A process that
    starts and ends between two listings does not count at all if its parent ignores its end. So an agent that starts or ends
    processes in a decision has no lack of processors. Only when it starts, it may: a program that starts another is not at fault.
    """

    def __init__(self, tree: ProcessTree, group: ControlGroup | None) -> None:
        self._tree = tree
        self._group = group
        self._threads: dict[int, int] = {}
        """For each known thread, an open file with its statistics. Without a group, `_processes` has such a file for each
        process.
        """
        self._processes: dict[int, int] = {}
        self._began: dict[int, _Thread] = {}
        self._used: dict[int, float] = {}
        """The processor time of each process at the beginning. The number 0 stands for the group."""
        self._ran: dict[int, float] = {}
        self._most = 0.0
        self._listed = 0.0
        self._inside: int | None = None
        """An open folder with the processes of the PID namespace of the agent; None if it has none, or if it has a group."""
        self._members: Set[object] = frozenset()
        """The processes of the agent when the decision began."""
        self._changed = False
        self._starting = False

    def begin(self, *, starting: bool = False) -> Self:
        """Start counting a decision, or the start of the agent. Return this clock."""
        if not self._threads:
            self.look()
        self._began = dict(self._read_threads())  # threads that have just started are included
        self._used = self._read_processes()
        self._most = 0.0
        self._members, self._changed, self._starting = self._list_members(), False, starting
        return self

    def begin_at_creation(self) -> Self:
        """Count everything since the processes were created, as far as they still exist or have a group. Return this clock."""
        self.begin(starting=True)
        self._began, self._used = dict.fromkeys(self._began, _Thread(0.0, 0.0)), {}
        return self

    def look(self, *, now: bool = True) -> None:
        """List the processes again; without `now`, only if a listing is due. New threads start with a waiting time of zero."""
        if not now and self._group is None and perf_counter() < self._listed + LISTING_SECONDS:
            self._changed |= self._inside is not None and not self._starting and self._list_members() != self._members
            return
        self._listed = perf_counter()
        processes = [] if self._group is not None else [self._tree.leader, *self._tree.find_members()][:MAX_WATCHED_PROCESSES]
        if self._group is None and self._inside is None:
            self._inside = _open_namespace(processes)
        threads = self._group.threads() if self._group is not None else [tid for pid in processes for tid in _threads(pid)]
        _keep(self._processes, {pid: f"/proc/{pid}/stat" for pid in processes})
        new = _keep(self._threads, {tid: f"/proc/{tid}/schedstat" for tid in threads[:MAX_WATCHED_THREADS]})
        self._began.update((tid, _Thread(0.0, now.waited)) for tid, now in self._read_threads() if tid in new)
        self._changed |= not self._starting and self._list_members() != self._members

    def used(self) -> float:
        """Return the CPU seconds of all processes together since `begin`."""
        now = self._read_processes()
        self._most = max(self._most, sum(used - self._used.get(pid, 0.0) for pid, used in now.items()))
        return self._most

    def lack(self) -> float:
        """Return the seconds since `begin` in which the busiest thread could run but had no processor because of other programs.

        The time that the other threads and processes of the agent ran is subtracted, because the thread may have waited for them.
        So an agent gains no time by starting children that keep its processor busy.
        """
        if self._changed:
            return 0.0
        best, ran = _Thread(0.0, 0.0), 0.0
        for tid, now in self._read_threads():
            before = self._began.get(tid, now)
            thread = _Thread(now.ran - before.ran, now.waited - before.waited)
            best = max(best, thread, key=sum)
            ran += thread.ran
        # Threads are counted in nanoseconds. Processes without a group are counted in ticks of 10 ms, which include threads that
        # have ended.
        return max(0.0, best.waited - (max(ran, self.used()) - best.ran)) if best.waited else 0.0

    def stands_in_queue(self) -> bool:
        """Return True if no thread has run since the last call, although one of them could. Its wait is not in `lack` yet: the
        kernel adds it when the thread runs again.
        """
        ran = {tid: now.ran for tid, now in self._read_threads()}
        before, self._ran = self._ran, ran
        return ran == before and any(_can_run(tid) for tid in ran)

    def close(self) -> None:
        """Close the files."""
        _keep(self._threads, {})
        _keep(self._processes, {})
        if self._inside is not None:
            os.close(self._inside)
            self._inside = None

    def _list_members(self) -> Set[object]:
        """Return the ids of the processes of the agent; nothing if it has a group, which counts all of them. In a PID namespace,
        this takes far less time than a listing, and finds the shortest process that is there at this moment.
        """
        if self._group is not None:
            return frozenset()
        if self._inside is None:
            return frozenset(self._processes)
        with suppress(OSError):
            return {name for name in os.listdir(self._inside) if name.isdigit()}  # noqa: PTH208 - the names are wanted
        return frozenset()

    def _read_threads(self) -> Iterable[tuple[int, _Thread]]:
        for tid, descriptor in self._threads.items():
            with suppress(OSError, ValueError):  # the thread has ended
                ran, waited, _ = os.pread(descriptor, 80, 0).split()
                yield tid, _Thread(int(ran) / 1e9, int(waited) / 1e9)

    def _read_processes(self) -> dict[int, float]:
        if self._group is not None:
            return {0: self._group.cpu_seconds()}
        found = {}
        for pid, descriptor in self._processes.items():
            with suppress(OSError, ValueError):
                status = os.pread(descriptor, 1024, 0)
                # The user and system time of the process itself, and of its ended children for which it has waited.
                found[pid] = sum(map(int, status[status.rindex(b")") :].split()[12:16])) * _TICK
        return found


class ProcessorUse:
    """The CPU time of an agent and the time in which it had no processor, in seconds, by a clock that has begun.

    Reading the clock takes longer than many decisions, so the clock is not read after short ones. The next reading includes them,
    and subtracts the most time that they can have used on one processor.
    """

    def __init__(self, clock: FamilyClock) -> None:
        self._clock = clock
        self._lack = self._used = self._short = 0.0

    @property
    def lack(self) -> float:
        """The time in the decisions of this match in which the agent could run but had no processor."""
        return self._lack + self.lack_now()

    @property
    def used(self) -> float:
        """The processor time of this match."""
        return self._used + self._clock.used()

    def used_now(self) -> float:
        """Return the processor time of this decision so far."""
        return max(0.0, self._clock.used() - self._short)

    def lack_now(self) -> float:
        """Return the time in this decision in which the agent could run but had no processor."""
        return max(0.0, self._clock.lack() - self._short)

    def stands_in_queue(self) -> bool:
        """Return True if no thread of the agent has run since the last call, although one of them could."""
        return self._clock.stands_in_queue()

    def look(self, *, now: bool) -> None:
        """List the processes of the agent again; without `now`, only if a listing is due."""
        self._clock.look(now=now)

    def add_short(self, seconds: float) -> None:
        """Add a decision that took `seconds`, without reading the clock."""
        self._short += seconds

    def add(self) -> None:
        """Add everything used up to now, and begin the next decision."""
        self._lack, self._used, self._short = self.lack, self.used, 0.0
        self._clock.begin()


_own = threading.local()


def read_own_wait() -> float:
    """Return the seconds in which this thread of arena could have run but had no processor; 0 if unknown."""
    if getattr(_own, "process", None) != os.getpid():  # in a forked child, the descriptor belongs to a thread of the parent
        try:
            _own.descriptor = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            _own.descriptor = -1
        _own.process = os.getpid()
    try:
        return int(os.pread(_own.descriptor, 80, 0).split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def _open_namespace(pids: Iterable[int]) -> int | None:
    """Open the /proc of the PID namespace of these processes; None if it cannot be told from that of this process."""
    for pid in pids:
        with suppress(OSError):
            folder = os.open(f"/proc/{pid}/root/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            if os.fstat(folder).st_dev != os.stat("/proc").st_dev:  # noqa: PTH116
                return folder
            os.close(folder)
    return None


def _threads(pid: int) -> list[int]:
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]  # noqa: PTH208 - the names are wanted
    except OSError:
        return []


def _can_run(tid: int) -> bool:
    try:
        return Path(f"/proc/{tid}/stat").read_text(errors="replace").rpartition(") ")[2].startswith("R")
    except OSError:  # the thread has ended
        return False


def _keep(opened: dict[int, int], wanted: dict[int, str]) -> set[int]:
    """Close files that are not needed any more, open new ones, and return the keys of the new ones."""
    for gone in opened.keys() - wanted.keys():
        os.close(opened.pop(gone))
    new = wanted.keys() - opened.keys()
    for number in new:
        with suppress(OSError):
            opened[number] = os.open(wanted[number], os.O_RDONLY)
    return new
