"""The matches that remain to be played: matches in the schedule that are neither in the store nor assigned to other machines."""

import threading
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from arena.match.record import Record, find_loser, play_hash_of
from arena.schedule.deals import Deals
from arena.schedule.ranking import Ranking
from arena.schedule.schedule import Batch, Schedule, Scheduled
from arena.spec import Spec
from arena.store import Store

MATCHES_PER_LOOKUP = 500
"""The number of matches that are looked up in a store at a time."""


class Shard(NamedTuple):
    """One of `of` shards of a tournament; shards are numbered from 1. The id of a match decides to which shard it belongs."""

    number: int
    of: int

    def has(self, identity: str) -> bool:
        """Return whether a match belongs to this shard."""
        return int(identity, 16) % self.of == self.number - 1


class Found(Protocol):
    """A function that gets every match that is already in the store."""

    def __call__(self, *, failed: bool) -> object:
        """Count a match. `failed` is whether a seat lost it by a fault."""


class MatchQueue:
    """Hands out matches and receives their records. Any thread may use it.

    `found` is called for every match that is already in the store.
    """

    def __init__(self, spec: Spec, store: Store, shard: Shard | None = None, found: Found | None = None) -> None:
        store.check_transcripts()
        self._spec = spec
        self._plan = Schedule(spec)
        self._deals = Deals(spec)
        self.store = store
        self._shard = shard
        self._found = found
        self._ready: deque[Scheduled] = deque()
        self._lock = threading.RLock()
        self._skips_lookups = shard is None and not len(store)
        self._missing = self._after = 0  # matches to play; matches looked up since the first of these
        self.held = 0
        """The number of matches that were already in the store."""
        self.void = 0
        """The number of void matches in the store, which are played again."""
        self.others = 0
        """The number of matches that belong to other shards."""
        self.played = 0
        self.status = self._plan.status
        """Texts on the progress of boards, by the index of the board, if their formats provide such texts."""
        self.expected = self._plan.expected
        """The expected numbers of matches, by the index of the board, if their formats estimate them."""

    def take(self, size: int) -> Batch:
        """Return up to `size` matches to play next; Batch.WAIT if results are missing, Batch.OVER after the last match."""
        with self._lock:
            if self._skips_lookups and not self._deals:
                return self._plan.take(size)
            while len(self._ready) < size:
                batch = self._plan.take(MATCHES_PER_LOOKUP)
                if not batch:
                    if not self._ready:
                        return batch
                    break
                self._sort(batch)
            return Batch([self._ready.popleft() for _ in range(min(size, len(self._ready)))])

    def left(self, total: int) -> float:
        """Estimate how many of `total` matches are left to play. Matches not yet looked up are assumed to be like the others."""
        missing = max(self._missing, self.played)
        return missing - self.played + (total - self.held - self.others - missing) * min(1.0, missing / (self._after + 1))

    def is_over(self) -> bool:
        """Return whether all matches have been played. False if their number is not known before the last result."""
        return self._spec.exact and self.held + self.others + self.played == self._spec.size

    def share(self, total: int) -> tuple[int, bool]:
        """Return how many of `total` matches are played here or are in the store already, and whether this number is exact.

        Which matches belong to this shard is only known for those that have been looked up, so the rest is estimated.
        """
        if self._shard is None:
            return total, True
        rest = total - self.held - self.others - self._missing
        return self.held + self._missing + round(rest / self._shard.of), not rest

    def rankings(self) -> dict[int, Ranking]:
        """Return, by board index, the rankings that plugins compute. Raises PluginError if a format fails to rank a board."""
        with self._lock:
            return self._plan.rankings()

    def _sort(self, batch: Sequence[Scheduled]) -> None:
        """Count the matches that are in the store or belong to another shard, and keep the others to be played."""
        ids = [scheduled.match_id(self._spec) for scheduled in batch]
        kept = self.store.has(ids)
        places, missing = [], []
        for scheduled, identity in zip(batch, ids, strict=True):
            self._after += self._missing > 0
            if identity in kept and kept[identity].returns is not None:  # a void match is played again
                number, returns, play_hash, adjusted, loser = kept[identity]
                places.append((number, scheduled))
                self.held += 1
                self._plan.tell(scheduled, returns, play_hash, adjusted, loser)
                if self._found is not None:
                    self._found(failed=loser is not None)
            elif self._shard is not None and not self._shard.has(identity):
                self.others += 1
                self._plan.tell(scheduled, None)
            else:
                self._missing += 1
                self.void += identity in kept
                missing.append(scheduled)
        self._ready.extend(self._deals.order(missing) if self._deals else missing)
        if places:
            self.store.place(places)

    def finish(self, scheduled: Scheduled, record: Record) -> None:
        """Store the record of a match that was handed out."""
        with self._lock:
            self.played += 1
            self.store.add(scheduled, record)
            play_hash = play_hash_of(record) if self._plan.follows(scheduled) and not any(record.drew) else None
            returns = None if record.termination == "void" else record.returns
            self._plan.tell(scheduled, returns, play_hash, record.adjusted, find_loser(record.termination, record.seat))
