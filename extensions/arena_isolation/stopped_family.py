"""Families of processes that are stopped by signals. They are used if no control group can be created in which processes can be
frozen.

A family is a process with its descendants. A filter of system calls keeps all of them in their process groups (see
`system_calls.group_filter`), and a signal to a group reaches all of its processes at once: a process that is just being started
is included, or is not started. The family is listed 20 ms later and then every 100 ms, because a listing takes longer than many
decisions. A listing counts the processes. If they are too many, all are killed.

If the machine has no such filter, a process can leave the groups. Then the next listing finds and stops it.

The groups are stopped again every 20 ms, and `thaw` returns the processor time that the family has used since `freeze`, so that a
process gains little if something has continued it.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterable, Set
from contextlib import suppress

from arena.api.processes import ProcessTree
from arena.clock import clock_gettime, perf_counter, sleep

FIRST_LISTING_SECONDS = 0.02
"""Seconds from a stop to the first listing after it."""
LISTING_SECONDS = 0.1
"""Seconds between two listings of a stopped family."""
_TICK = 1 / os.sysconf("SC_CLK_TCK")


class StoppedFamily:
    """The processes of a tree, stopped and continued together, with `freeze` and `thaw` like a ControlGroup.

    On systems other than Linux, only the process group of the leader is stopped.
    """

    crowded = False
    """True if the family had more processes than it may have, or could not be listed at last. Then its processes are killed."""

    def __init__(self, tree: ProcessTree, most: int | None = None) -> None:
        """Look after the processes of a tree, which are at most `most` without the leader."""
        self._tree = tree
        self._most = most
        self._known: set[int] = set()
        """The ids of all descendants at the last listing. They are as many as `most`, so that an agent cannot use up the time or
        the open files of this process.
        """
        self._groups = {tree.leader}
        """The process groups of the family."""
        self._listed = True
        self._lock = threading.Lock()
        self._stops = 0
        self._due: float | None = None
        self._frozen = 0.0
        self._used: dict[int, float] = {}
        """The processor time of each process when the family was stopped, including processes that have ended since."""
        self._seen: dict[int, float] = {}
        """The latest known processor time of each process since the stop. One that is killed works for some milliseconds, and
        leaves no trace if its parent ignores it.
        """
        self._reaped: dict[int, float] | None = None
        """The processor time of the ended children of each process at the first listing after the stop; None before it."""
        self._closed = False
        self._list(0)
        _keeper.add(self)

    def freeze(self) -> None:
        """Stop all known processes and, until `thaw`, every process that a listing finds."""
        with self._lock:
            self._stops += 1
            self._frozen = perf_counter()
            self._due = self._frozen + FIRST_LISTING_SECONDS
            self._signal_all(signal.SIGSTOP)
            self._used, self._reaped = self._read_clocks(), None
            self._seen = dict(self._used)

    def used(self) -> float:
        """Return the seconds of processor time that the processes have used since `freeze`."""
        with self._lock:
            return self._count_used()

    def thaw(self) -> float:
        """Continue all processes. Return the seconds of processor time that they have used since `freeze`."""
        with self._lock:
            self._due = None
            self.crowded |= not self._listed
            used = self._count_used()
            self._signal_all(signal.SIGCONT)
            return used

    def size(self, turn: float) -> int:
        """Return the number of descendants after a turn of `turn` seconds. They are listed again if that takes little time in
        comparison with the turn. Then the family must be stopped, because nobody counts what it does meanwhile.
        """
        if turn >= FIRST_LISTING_SECONDS:
            self._list(self._stops)
        return len(self._known)

    def look(self) -> None:
        """If the family is stopped, stop it again. If a listing is due, list it and stop new groups, too."""
        with self._lock:
            due = self._due
            if due is not None:
                self._signal_all(signal.SIGSTOP)
                self._seen |= self._read_clocks()
        if due is not None and perf_counter() >= due:
            self._list(self._stops)

    def kill(self) -> None:
        """Kill all known processes."""
        with self._lock:
            self._signal_all(signal.SIGKILL)

    def close(self) -> None:
        """Forget the family, because its processes are gone."""
        _keeper.remove(self)
        with self._lock:
            self._due = None
            self._closed = True
            self._known.clear()

    def _list(self, stops: int) -> None:
        """Update the list of processes. If the family is continued meanwhile, nothing is stopped, and it is listed again after
        the next stop.
        """
        try:
            found = self._tree.find_members() if sys.platform == "linux" else set()
        except OSError:  # it is listed again soon
            self._listed = False
            return
        self._listed = True
        with self._lock:
            if self._closed:
                return
            groups = {self._tree.leader}
            if self._most is not None and len(found) > self._most:
                self.crowded = True
                found = set(sorted(found)[: self._most])
            for pid in found:
                with suppress(OSError):  # the process has ended meanwhile
                    groups.add(os.getpgid(pid))
            groups -= {0, os.getpgrp()}
            new = found - self._known
            self._known, new_groups, self._groups = found, groups - self._groups, groups
            if self.crowded:
                self._signal_all(signal.SIGKILL)
            elif self._due is not None and stops == self._stops:
                for group in new_groups:
                    _signal(group, signal.SIGSTOP)
                if perf_counter() < self._due:  # right after the stop, which still takes a moment
                    self._seen = self._read_clocks() | self._seen
                    self._used = self._seen | self._used
                    return
                self._due = perf_counter() + LISTING_SECONDS
                self._note_listing(new)

    def _note_listing(self, new: Set[int]) -> None:
        """Record the processor time of processes that a listing of the stopped family has found."""
        if self._reaped is not None:  # they have started since the last listing, while the family was stopped
            self._used.update(dict.fromkeys(new, 0.0))
            return
        status = {pid: _read_status(pid) for pid in (self._tree.leader, *self._known)}
        self._reaped = {pid: reaped for pid, (_, reaped) in status.items()}
        clocks = self._read_clocks()
        # On a busy machine, a stop takes a moment. So the time of a process counts from the moment when it is seen stopped.
        stopped = {pid for pid, (state, _) in status.items() if state in _STOPPED}
        self._used |= {pid: clocks[pid] for pid in (new | stopped) & clocks.keys()}
        self._seen |= clocks

    def _read_clocks(self) -> dict[int, float]:
        """Return the processor time of each process, without its children."""
        found = {}
        for pid in (self._tree.leader, *self._known):
            with suppress(OSError):  # it has ended, or the system has no such clock
                found[pid] = clock_gettime(~pid << 3 | _PROCESS_CLOCK)
        return found

    def _count_used(self) -> float:
        """Return the processor time since the stop, including that of children which have started and ended meanwhile."""
        now = self._read_clocks()
        self._seen |= now
        used = self._sum_used(self._seen)
        if self._reaped is None and used >= FIRST_LISTING_SECONDS:  # the first listing is late
            return self._sum_used([pid for pid in self._seen if _read_status(pid)[0] not in _STOPPED])
        if self._reaped is None:
            return used
        reaped = 0.0
        for pid, before in self._reaped.items():
            # The user time and the system time are whole ticks, so each of them can be too large by one.
            reaped += max(0.0, _read_status(pid)[1] - before - 2 * _TICK)
        ended = sum([seconds for pid, seconds in self._seen.items() if pid not in now])
        return used + max(0.0, reaped - ended)

    def _sum_used(self, pids: Iterable[int]) -> float:
        """Return the processor time of processes since the stop, as far as it was seen."""
        return sum([max(0.0, self._seen[pid] - self._used.get(pid, self._seen[pid])) for pid in pids])

    def _signal_all(self, number: signal.Signals) -> None:
        for group in self._groups:
            _signal(group, number)


_PROCESS_CLOCK = 2
"""The bits that distinguish the processor clock of a process from other clocks of Linux (`clock_getcpuclockid`)."""
_STOPPED = frozenset({b"T", b"t", b"Z", b"X", b""})
"""The states of processes that are stopped or have ended."""


def _read_status(pid: int) -> tuple[bytes, float]:
    """Return the state of a process, and the processor time of its ended children. If it has ended, both are empty."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:  # noqa: PTH123
            status = file.read()
    except OSError:
        return b"", 0.0
    words = status[status.rindex(b")") + 1 :].split(None, 15)
    return words[0], (int(words[13]) + int(words[14])) * _TICK


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(OSError):
        os.killpg(group, number)


class _Keeper:
    """Watches stopped families. Its thread ends with the last of them."""

    def __init__(self) -> None:
        self._families: set[StoppedFamily] = set()
        self._lock = threading.Lock()
        self._running = False

    def add(self, family: StoppedFamily) -> None:
        with self._lock:
            self._families.add(family)
            if not self._running:
                self._running = True
                threading.Thread(target=self._keep, name="stopped families", daemon=True).start()

    def remove(self, family: StoppedFamily) -> None:
        with self._lock:
            self._families.discard(family)

    def _keep(self) -> None:
        while True:
            sleep(FIRST_LISTING_SECONDS)
            with self._lock:
                if not self._families:
                    self._running = False
                    return
                families = list(self._families)
            for family in families:
                family.look()


_keeper = _Keeper()
