"""Families of processes that are stopped by signals. They are used if no control group can be created in which processes can be
frozen.

A family is a process with its descendants. Signals reach only known processes, so all known processes of a family are stopped at
once. The family is listed again 20 ms later and then every 100 ms, because a listing takes longer than many decisions. If a
stopped family starts a new child, the child runs only until the next listing.
"""

import os
import signal
import sys
import threading
from contextlib import suppress
from time import perf_counter, sleep

from arena.api.processes import ProcessTree

FIRST_LISTING_SECONDS = 0.02
"""Seconds from a stop to the first listing after it."""
LISTING_SECONDS = 0.1
"""Seconds between two listings of a stopped family."""


class StoppedFamily:
    """The processes of a tree, stopped and continued together, with `freeze` and `thaw` like a ControlGroup.

    On systems other than Linux, only the process group of the leader is stopped.
    """

    def __init__(self, tree: ProcessTree) -> None:
        self._tree = tree
        self._known: dict[int, int] = {}
        """A descriptor for each descendant. It stays valid if the process id is reused."""
        self._lock = threading.Lock()
        self._stops = 0
        self._due: float | None = None
        self._closed = False
        self._list(0)
        _keeper.add(self)

    def freeze(self) -> None:
        """Stop all known processes and, until `thaw`, every process that a listing finds."""
        with self._lock:
            self._stops += 1
            self._due = perf_counter() + FIRST_LISTING_SECONDS
            self._signal_all(signal.SIGSTOP)

    def thaw(self) -> None:
        """Continue all processes."""
        with self._lock:
            self._due = None
            self._signal_all(signal.SIGCONT)

    def size(self, turn: float) -> int:
        """Return the number of descendants after a turn of `turn` seconds. They are listed again if that takes little time in
        comparison with the turn.
        """
        if turn >= FIRST_LISTING_SECONDS:
            self._list(self._stops)
        return len(self._known)

    def look(self) -> None:
        """If the family is stopped and a listing is due, list it again and stop new processes."""
        due = self._due
        if due is not None and perf_counter() >= due:
            self._list(self._stops)

    def close(self) -> None:
        """Forget the family, because its processes are gone."""
        _keeper.remove(self)
        with self._lock:
            self._due = None
            self._closed = True
            while self._known:
                os.close(self._known.popitem()[1])

    def _list(self, stops: int) -> None:
        """Update the list of processes. If the family is continued meanwhile, nothing is stopped, and it is listed again after
        the next stop.
        """
        found = self._tree.find_members() if sys.platform == "linux" else set()
        with self._lock:
            if self._closed:
                return
            for gone in self._known.keys() - found:
                os.close(self._known.pop(gone))
            new = found - self._known.keys()
            for pid in new:
                with suppress(OSError):  # the process has ended meanwhile
                    self._known[pid] = os.pidfd_open(pid)
            if self._due is not None and stops == self._stops:
                self._due = perf_counter() + LISTING_SECONDS
                for pid in new & self._known.keys():
                    _signal(self._known[pid], signal.SIGSTOP)

    def _signal_all(self, number: signal.Signals) -> None:
        with suppress(OSError):
            os.killpg(self._tree.leader, number)
        for descriptor in self._known.values():
            _signal(descriptor, number)


def _signal(descriptor: int, number: signal.Signals) -> None:
    with suppress(OSError):
        signal.pidfd_send_signal(descriptor, number)


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
