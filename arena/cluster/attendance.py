"""The workers of a cluster that are there, by arrivals, departures, and when each was last heard of."""

import threading
from collections.abc import Mapping, Sequence
from time import monotonic

from arena.cluster.engine import Change

PULSE_SECONDS = 5.0
"""Seconds between two questions to a scheduler when it has last heard of each worker."""
STILL_SECONDS = 30.0
"""Seconds of silence after which a worker counts as gone; Dask itself waits for 5 to 10 minutes."""


class Workers:
    """The workers that are there, by the scheduler's events and by its answers, which may cross."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._there: dict[str, int] = {}
        self._gone: dict[str, float] = {}
        """The times of departures, for as long as an older answer may still name the worker."""
        self._changes: list[Change] = []

    def changes(self) -> Sequence[Change]:
        """Changes since the last call, in order."""
        with self._lock:
            changes, self._changes = self._changes, []
        return changes

    def again(self) -> None:
        """Tell of all that are there once more, with the next changes: for whoever comes to know them."""
        with self._lock:
            self._changes = [Change(address, number) for address, number in self._there.items()]

    def seen(self, threads: Mapping[str, int], asked: float) -> None:
        """Take in who was there, as answered to a question that was asked at a time."""
        with self._lock:
            for address in self._there.keys() - threads.keys():
                self._leave(address, leave=False)
            self._gone = {address: when for address, when in self._gone.items() if when > asked}
            for address, number in threads.items():
                if self._there.get(address) != number and address not in self._gone:
                    self._there[address] = number
                    self._changes.append(Change(address, number))

    def gone(self, address: str, *, leave: bool) -> None:
        """Take in that one has gone."""
        with self._lock:
            self._gone[address] = monotonic()
            self._leave(address, leave=leave)

    def _leave(self, address: str, *, leave: bool) -> None:
        if self._there.pop(address, None) is not None:
            self._changes.append(Change(address, 0, leave))


class Pulses:
    """Finds workers of which nothing has been heard for long: frozen, cut off, or their machine gone without a word.

    Only that a time has changed counts, not which it is: the clocks of machines differ.
    """

    def __init__(self) -> None:
        self.still: frozenset[str] = frozenset()
        """Workers that count as gone until they are heard of again."""
        self.due = 0.0
        """The time of the next question."""
        self._last: dict[str, tuple[float, float]] = {}
        """By worker, the scheduler's time, and since when it has been that."""

    def take(self, heard: Mapping[str, float], now: float) -> None:
        """Take in when each worker was heard of."""
        self.due = now + PULSE_SECONDS
        before = self._last
        self._last = {
            address: before[address] if address in before and before[address][0] == last else (last, now)
            for address, last in heard.items()
        }
        patience = max(STILL_SECONDS, len(heard) / 20)  # Dask's own beat slows down to 200 a second in all
        self.still = frozenset([address for address, (_, since) in self._last.items() if now - since > patience])

    def restart(self) -> None:
        """Begin anew, since the scheduler has been away."""
        self.still = frozenset()
        self._last = {}
