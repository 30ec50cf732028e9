"""Matches that are still to be given out: the schedule, and what came back unplayed."""

from collections import deque
from collections.abc import Iterable

from arena.schedule.schedule import OVER, Scheduled, Take

SHARES = 2
"""The fewest batches of what is left for each player (guided self-scheduling, Polychronopoulos and Kuck 1987)."""


class Backlog:
    """Gives out every match of a schedule, and again those that came back.

    `total` is how many matches the schedule has, or may have; where it is known, batches become small towards the end, so that
    nobody sits on many while others have nothing to do.
    """

    def __init__(self, take: Take, total: int | None) -> None:
        self._take = take
        self._total = total
        self._taken = 0
        self._left: deque[Scheduled] = deque()
        self.over = False
        """True if the schedule has no more matches, apart from those that are to be played again."""

    def share(self, size: int, players: int) -> list[Scheduled]:
        """At most `size` matches for one of so many players; none where there is nothing to play now."""
        self._fill(self._fair(size, players))
        return [self._left.popleft() for _ in range(min(self._fair(size, players), len(self._left)))]

    def put_back(self, matches: Iterable[Scheduled]) -> None:
        """Take back matches that nobody has begun; they come next."""
        self._left.extendleft(reversed(list(matches)))

    def any_left(self) -> bool:
        """Tell whether there is something to play now; where need be, take a match from the schedule to know."""
        self._fill(1)
        return bool(self._left)

    def _fair(self, size: int, players: int) -> int:
        if self._total is None:
            return size
        remaining = self._total - self._taken + len(self._left)
        return max(1, min(size, remaining // (players * SHARES)))

    def _fill(self, size: int) -> None:
        if self.over or len(self._left) >= size:
            return
        taken = self._take(size - len(self._left))
        self.over = taken is OVER
        self._taken += len(taken)
        self._left.extend(taken)
