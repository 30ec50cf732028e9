"""Which workers of a cluster are there: put together from who comes and goes, and from when each was last heard of."""

import threading
from collections.abc import Mapping, Sequence
from time import monotonic

from arena.cluster.engine import Change

PULSE_SECONDS = 5.0
"""How often a scheduler is asked when it has last heard of each worker."""
STILL_SECONDS = 30.0
"""How long nothing may be heard of a worker before it counts as gone; Dask itself waits for 5 to 10 minutes."""


class Workers:
    """Which workers are there, put together from what the scheduler tells of itself and what it answers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._there: dict[str, int] = {}
        self._gone: dict[str, float] = {}
        """When workers have gone, for as long as an older answer may still name them."""
        self._changes: list[Change] = []

    def changes(self) -> Sequence[Change]:
        """What has changed since the last call, in order."""
        with self._lock:
            changes, self._changes = self._changes, []
        return changes

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
    """Of which workers nothing has been heard for long: frozen, cut off, or their machine gone without a word.

    Only that a time has changed counts, not which it is: the clocks of machines differ.
    """

    def __init__(self) -> None:
        self.still: frozenset[str] = frozenset()
        """Workers that count as gone until they are heard of again."""
        self.due = 0.0
        """When to ask next."""
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
