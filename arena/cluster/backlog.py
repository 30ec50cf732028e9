"""What is still to be sent out: the schedule, and what came back unplayed."""

from collections import deque
from dataclasses import dataclass, field

from arena.schedule.schedule import Scheduled
from arena.workers.workload import SHARES, Take

BATCH_SECONDS = 1.0
"""How long an order should take: long against what Dask takes for a task, about 2 ms, short against the run."""
LARGEST_BATCH = 5000
QUICK_SECONDS = 5.0
"""Orders that take longer than this are not sent ahead: another node may be idle by then."""
MOST_TRIES = 2
"""How many nodes may be lost while they play a match."""


@dataclass(slots=True, eq=False)
class Batch:
    """Matches that are sent out together."""

    matches: list[Scheduled]
    lost: int = 0
    """How many nodes were lost while they played it."""
    orders: set[str] = field(default_factory=set)
    """The keys of the orders that are out for it: mostly one, two where the first is long overdue."""


@dataclass(slots=True)
class Pace:
    """How long matches take, from those played so far, and so how many make a batch."""

    seconds: float | None = None
    """Of a match, lately; None before the first."""
    size: int = 1

    def note(self, matches: int, seconds: float) -> None:
        """Take in that so many matches took so long."""
        latest = max(seconds, 1e-6) / matches
        self.seconds = latest if self.seconds is None else 0.7 * self.seconds + 0.3 * latest
        self.size = max(1, min(LARGEST_BATCH, self.size * 2, int(BATCH_SECONDS / self.seconds)))

    @property
    def quick(self) -> bool:
        """Whether a batch takes so little time that the next one may wait at the node."""
        return self.seconds is not None and self.seconds * self.size <= QUICK_SECONDS


@dataclass(slots=True)
class Backlog:
    """Gives out batches. `take` is the schedule's, see Plan; `total` is how many matches it has, None where nobody knows."""

    take: Take
    total: int | None
    pace: Pace = field(default_factory=Pace)
    over: bool = False
    """Whether the schedule has no more matches."""
    _taken: int = 0
    _returned: deque[Scheduled] = field(default_factory=deque)
    _suspects: deque[Batch] = field(default_factory=deque)

    def next(self, threads: int) -> Batch | None:
        """The next batch for one of so many threads; None where there is nothing to play now."""
        if self._suspects:
            return self._suspects.popleft()
        size = self._fair(threads)
        matches = [self._returned.popleft() for _ in range(min(size, len(self._returned)))]
        if not matches and not self.over:
            matches = self._from_schedule(size)
        return Batch(matches) if matches else None

    def put_back(self, batch: Batch) -> None:
        """Take back a batch that nobody has begun."""
        if batch.lost:
            self._suspects.append(batch)
        else:
            self._returned.extend(batch.matches)

    def lost(self, batch: Batch) -> Scheduled | None:
        """Take back a batch whose node was lost while it played; return the match that has lost its second one, if there is one.

        Which match of several it was nobody knows: each is played alone from now on.
        """
        if len(batch.matches) == 1 and batch.lost + 1 >= MOST_TRIES:
            return batch.matches[0]
        self._suspects.extend([Batch([one], batch.lost + 1) for one in batch.matches])
        return None

    def any_left(self) -> bool:
        """Tell whether there is something to play now; where need be, take a match from the schedule to know."""
        if not (self._suspects or self._returned or self.over):
            self._returned.extend(self._from_schedule(1))
        return bool(self._suspects or self._returned)

    def _from_schedule(self, size: int) -> list[Scheduled]:
        taken = self.take(size)
        self.over = taken == []
        self._taken += len(taken or ())
        return taken or []

    def _fair(self, threads: int) -> int:
        """How many matches to give out at once: towards the end no node shall sit on many while others have nothing to do."""
        if self.total is None:
            return self.pace.size
        remaining = self.total - self._taken + len(self._returned)
        return max(1, min(self.pace.size, remaining // (threads * SHARES)))
