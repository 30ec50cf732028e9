"""Processor time of an agent with all that it started, and the time it waited for a processor, both seen from outside.

Linux counts for each thread how long it ran and how long it was runnable without running (`/proc/TID/schedstat`, nanoseconds).
The second is what a busy machine takes from an agent; sleeping is not in it. Elsewhere nobody is known to have waited.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from time import perf_counter
from typing import NamedTuple

from arena.api.run import ProcessTree
from arena.processes.process_tree import find_members
from arena_isolation.control_group import ControlGroup

LISTING_SECONDS = 0.1
"""Seconds between two listings of a family without a group: one takes as long as a hundred of a group."""
MAX_WATCHED_THREADS = 64
"""Threads whose waiting is looked at: a family that has more of them waits for itself."""
_TICK = 1 / os.sysconf("SC_CLK_TCK")


class _Thread(NamedTuple):
    ran: float
    waited: float


class FamilyClock:
    """Processor time of a tree of processes since `begin`, from its control group where it has one, else from /proc.

    Without a group what an orphan used counts only until it was last looked at.
    """

    def __init__(self, tree: ProcessTree, group: ControlGroup | None) -> None:
        self._tree = tree
        self._group = group
        self._threads: dict[int, int] = {}
        """A descriptor of what is told of each thread that is known; the same for the processes, where there is no group."""
        self._processes: dict[int, int] = {}
        self._began: dict[int, _Thread] = {}
        self._used: dict[int, float] = {}
        """Processor time of each process at the beginning; that of the group has the number 0."""
        self._most = 0.0
        self._listed = 0.0

    def begin(self) -> None:
        """Count from now on."""
        if not self._threads:
            self.look()
        self._began = dict(self._read_threads())  # also of threads that were new just now
        self._used = self._read_processes()
        self._most = 0.0

    def look(self, *, now: bool = True) -> None:
        """List the family anew, without `now` only where it is time: who is new has waited for nothing before."""
        if not now and self._group is None and perf_counter() < self._listed + LISTING_SECONDS:
            return
        self._listed = perf_counter()
        processes = [] if self._group is not None else [self._tree.leader, *find_members([self._tree])]
        threads = self._group.threads() if self._group is not None else [tid for pid in processes for tid in _threads(pid)]
        _keep(self._processes, {pid: f"/proc/{pid}/stat" for pid in processes})
        new = _keep(self._threads, {tid: f"/proc/{tid}/schedstat" for tid in threads[:MAX_WATCHED_THREADS]})
        self._began.update((tid, _Thread(0.0, now.waited)) for tid, now in self._read_threads() if tid in new)

    def used(self) -> float:
        """Seconds of processor time since `begin`, of all of the family."""
        now = self._read_processes()
        self._most = max(self._most, sum(used - self._used.get(pid, 0.0) for pid, used in now.items()))
        return self._most

    def lack(self) -> float:
        """Seconds since `begin` for which its busiest thread could have run and had no processor, through no fault of its own.

        What the rest of the family has run is taken off: it may have been that which the thread waited for. So a family gains
        nothing by children that keep its own processor busy.
        """
        best, ran = _Thread(0.0, 0.0), 0.0
        for tid, now in self._read_threads():
            before = self._began.get(tid, now)
            thread = _Thread(now.ran - before.ran, now.waited - before.waited)
            best = max(best, thread, key=sum)
            ran += thread.ran
        # Threads are counted in nanoseconds, processes without a group in ticks of 10 ms, but with those that have ended.
        return max(0.0, best.waited - (max(ran, self.used()) - best.ran)) if best.waited else 0.0

    def close(self) -> None:
        """Let go of the files."""
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
                # Its own time, user's and system's, and that of its children who have ended and for whom it has waited.
                found[pid] = sum(map(int, status[status.rindex(b")") :].split()[12:16])) * _TICK
        return found


class ProcessorUse:
    """Processor time of an agent and its lack of it, in seconds.

    A reading takes longer than many a decision, so short ones are not read: the next reading covers them too, and takes off as
    much as they can have used on one processor.
    """

    def __init__(self, clock: FamilyClock) -> None:
        self._clock = clock
        self._lack = self._used = self._short = 0.0
        clock.begin()

    @property
    def lack(self) -> float:
        """How long decisions of this match could have run and had no processor."""
        return self._lack + self.lack_now()

    @property
    def used(self) -> float:
        """The processor time of this match."""
        return self._used + self._clock.used()

    def used_now(self) -> float:
        """The processor time of this decision."""
        return max(0.0, self._clock.used() - self._short)

    def lack_now(self) -> float:
        """How long this decision could have run and had no processor."""
        return max(0.0, self._clock.lack() - self._short)

    def look(self, *, now: bool) -> None:
        """List the processes of the agent anew, without `now` only where it is time."""
        self._clock.look(now=now)

    def add_short(self, seconds: float) -> None:
        """Add a decision of so many seconds, without a look at what it used."""
        self._short += seconds

    def add(self) -> None:
        """Add what has been used up to now; the next decision begins."""
        self._lack, self._used, self._short = self.lack, self.used, 0.0
        self._clock.begin()


def _threads(pid: int) -> list[int]:
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]  # noqa: PTH208 - the names are wanted
    except OSError:
        return []


def _keep(opened: dict[int, int], wanted: dict[int, str]) -> set[int]:
    """Close the files that are not wanted any more, open those that are new, and return whose these are."""
    for gone in opened.keys() - wanted.keys():
        os.close(opened.pop(gone))
    new = wanted.keys() - opened.keys()
    for number in new:
        with suppress(OSError):
            opened[number] = os.open(wanted[number], os.O_RDONLY)
    return new
