"""CPU time of an agent and its children, and the time it waited for a processor, both measured from outside.

For each thread, Linux counts the time that it ran and the time that it was runnable without running (`/proc/TID/schedstat`,
nanoseconds). The second is the time that a busy machine takes from an agent; it does not include sleep. On other systems the
waiting time is unknown and counts as zero.
"""

import os
import threading
from collections.abc import Iterable
from contextlib import suppress
from time import perf_counter
from typing import NamedTuple

from arena.api.processes import ProcessTree
from arena_isolation.control_group import ControlGroup

LISTING_SECONDS = 0.1
"""Seconds between two listings of a family without a group. One listing takes as long as a hundred with a group."""
MAX_WATCHED_THREADS = 64
"""Maximum number of threads whose waiting time is read. A larger family waits for itself."""
_TICK = 1 / os.sysconf("SC_CLK_TCK")


class _Thread(NamedTuple):
    ran: float
    waited: float


class FamilyClock:
    """Processor time of a tree of processes since `begin`, from its control group if it has one, or else from /proc.

    Without a group, the time of an orphan counts only up to its last check.
    """

    def __init__(self, tree: ProcessTree, group: ControlGroup | None) -> None:
        self._tree = tree
        self._group = group
        self._threads: dict[int, int] = {}
        """An open file of statistics for each known thread, and, without a group, for each process."""
        self._processes: dict[int, int] = {}
        self._began: dict[int, _Thread] = {}
        self._used: dict[int, float] = {}
        """Processor time of each process at the beginning. The group has the number 0."""
        self._most = 0.0
        self._listed = 0.0

    def begin(self) -> None:
        """Start to count."""
        if not self._threads:
            self.look()
        self._began = dict(self._read_threads())  # including threads that have just started
        self._used = self._read_processes()
        self._most = 0.0

    def look(self, *, now: bool = True) -> None:
        """List the family again; without `now` only if a listing is due. New threads start without waiting time."""
        if not now and self._group is None and perf_counter() < self._listed + LISTING_SECONDS:
            return
        self._listed = perf_counter()
        processes = [] if self._group is not None else [self._tree.leader, *self._tree.find_members()]
        threads = self._group.threads() if self._group is not None else [tid for pid in processes for tid in _threads(pid)]
        _keep(self._processes, {pid: f"/proc/{pid}/stat" for pid in processes})
        new = _keep(self._threads, {tid: f"/proc/{tid}/schedstat" for tid in threads[:MAX_WATCHED_THREADS]})
        self._began.update((tid, _Thread(0.0, now.waited)) for tid, now in self._read_threads() if tid in new)

    def used(self) -> float:
        """Return the CPU seconds of the whole family since `begin`."""
        now = self._read_processes()
        self._most = max(self._most, sum(used - self._used.get(pid, 0.0) for pid, used in now.items()))
        return self._most

    def lack(self) -> float:
        """Return the seconds since `begin` that its busiest thread could have run but lacked a processor, due to other
        programs.

        The time that the rest of the family ran is subtracted, because the thread may have waited for them. So children that
        keep the family's own processor busy give it no advantage.
        """
        best, ran = _Thread(0.0, 0.0), 0.0
        for tid, now in self._read_threads():
            before = self._began.get(tid, now)
            thread = _Thread(now.ran - before.ran, now.waited - before.waited)
            best = max(best, thread, key=sum)
            ran += thread.ran
        # Threads are counted in nanoseconds. Processes without a group are counted in ticks of 10 ms, but including ended
        # threads.
        return max(0.0, best.waited - (max(ran, self.used()) - best.ran)) if best.waited else 0.0

    def close(self) -> None:
        """Close the files."""
        _keep(self._threads, {})
        _keep(self._processes, {})

    def _read_threads(self) -> Iterable[tuple[int, _Thread]]:
        for tid, descriptor in self._threads.items():
            with suppress(OSError, ValueError):  # it has ended
                ran, waited, _ = os.pread(descriptor, 80, 0).split()
                yield tid, _Thread(int(ran) / 1e9, int(waited) / 1e9)

    def _read_processes(self) -> dict[int, float]:
        if self._group is not None:
            return {0: self._group.cpu_seconds()}
        found = {}
        for pid, descriptor in self._processes.items():
            with suppress(OSError, ValueError):
                status = os.pread(descriptor, 1024, 0)
                # Its own user and system time, and the time of its ended children for which it has waited.
                found[pid] = sum(map(int, status[status.rindex(b")") :].split()[12:16])) * _TICK
        return found


class ProcessorUse:
    """CPU time of an agent and the time that it lacked a processor, in seconds.

    A reading takes longer than many decisions, so short decisions are not read. The next reading covers them, too, and
    subtracts the most that they can have used on one processor.
    """

    def __init__(self, clock: FamilyClock) -> None:
        self._clock = clock
        self._lack = self._used = self._short = 0.0
        clock.begin()

    @property
    def lack(self) -> float:
        """Time that decisions of this match could have run but lacked a processor."""
        return self._lack + self.lack_now()

    @property
    def used(self) -> float:
        """Processor time of this match."""
        return self._used + self._clock.used()

    def used_now(self) -> float:
        """Return the processor time of this decision."""
        return max(0.0, self._clock.used() - self._short)

    def lack_now(self) -> float:
        """Return how long this decision could have run but lacked a processor."""
        return max(0.0, self._clock.lack() - self._short)

    def look(self, *, now: bool) -> None:
        """List the processes of the agent again; without `now` only if a listing is due."""
        self._clock.look(now=now)

    def add_short(self, seconds: float) -> None:
        """Add a decision of `seconds` without reading its use."""
        self._short += seconds

    def add(self) -> None:
        """Add the use up to now, and begin the next decision."""
        self._lack, self._used, self._short = self.lack, self.used, 0.0
        self._clock.begin()


_own = threading.local()


def read_own_wait() -> float:
    """Return the seconds that this thread of arena could have run but lacked a processor; 0 if unknown."""
    if getattr(_own, "process", None) != os.getpid():  # a forked child has the descriptor of its parent's thread
        try:
            _own.descriptor = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            _own.descriptor = -1
        _own.process = os.getpid()
    try:
        return int(os.pread(_own.descriptor, 80, 0).split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def _threads(pid: int) -> list[int]:
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]  # noqa: PTH208 - the names are wanted
    except OSError:
        return []


def _keep(opened: dict[int, int], wanted: dict[int, str]) -> set[int]:
    """Close files that are not wanted any more, open new ones, and return the keys of the new ones."""
    for gone in opened.keys() - wanted.keys():
        os.close(opened.pop(gone))
    new = wanted.keys() - opened.keys()
    for number in new:
        with suppress(OSError):
            opened[number] = os.open(wanted[number], os.O_RDONLY)
    return new
