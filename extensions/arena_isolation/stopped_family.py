"""Families of processes that are stopped by signals, where no control group can be made to freeze them.

Signals reach only those who are known. A family is stopped at once as far as it is known, and listed anew 20 ms later and then
every 100 ms, since a listing takes longer than many a decision: what a new child of a stopped family can burn until then is all
that it gains.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from time import perf_counter, sleep

from arena.api.run import ProcessTree
from arena.processes.process_tree import find_members

FIRST_LISTING_SECONDS = 0.02
"""Seconds from a stop to the first listing after it."""
LISTING_SECONDS = 0.1
"""Seconds between two listings of a family that stands still."""


class StoppedFamily:
    """The processes of a tree, stopped and continued together; `freeze` and `thaw` as a ControlGroup has them.

    Elsewhere than on Linux only those in the process group of the leader.
    """

    def __init__(self, tree: ProcessTree) -> None:
        self._tree = tree
        self._known: dict[int, int] = {}
        """A descriptor for each descendant, which stays its own when its id is given to another process."""
        self._lock = threading.Lock()
        self._stops = 0
        self._due: float | None = None
        self._closed = False
        self._list(0)
        _keeper.add(self)

    def freeze(self) -> None:
        """Stop all that is known, and from now on what is found."""
        with self._lock:
            self._stops += 1
            self._due = perf_counter() + FIRST_LISTING_SECONDS
            self._signal_all(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let all of it go on."""
        with self._lock:
            self._due = None
            self._signal_all(signal.SIGCONT)

    def size(self, turn: float) -> int:
        """The number of descendants, after a turn of so many seconds: listed anew where that takes little beside it."""
        if turn >= FIRST_LISTING_SECONDS:
            self._list(self._stops)
        return len(self._known)

    def look(self) -> None:
        """List the family anew if it stands still and it is time, and stop whoever is new."""
        due = self._due
        if due is not None and perf_counter() >= due:
            self._list(self._stops)

    def close(self) -> None:
        """Forget the family, whose processes are gone."""
        _keeper.remove(self)
        with self._lock:
            self._due = None
            self._closed = True
            while self._known:
                os.close(self._known.popitem()[1])

    def _list(self, stops: int) -> None:
        """Take over who is there, unless the family goes on meanwhile: then the listing is told at its next stop."""
        found = find_members([self._tree]) if sys.platform == "linux" else set()
        with self._lock:
            if self._closed:
                return
            for gone in self._known.keys() - found:
                os.close(self._known.pop(gone))
            new = found - self._known.keys()
            for pid in new:
                with suppress(OSError):  # it has ended meanwhile
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
    """Looks after stopped families, in a thread that ends with the last of them."""

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
        for families in self._rounds():
            for family in families:
                family.look()

    def _rounds(self) -> Iterator[list[StoppedFamily]]:
        while True:
            sleep(FIRST_LISTING_SECONDS)
            with self._lock:
                if not self._families:
                    self._running = False
                    return
                families = list(self._families)
            yield families


_keeper = _Keeper()
