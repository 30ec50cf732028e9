"""Keeps attempts to solve hidden positions apart from all other code of the authors.

A solver that attempts a hidden position could tell a process of the same author about it that runs at the same time on the same
machine, for example by a lock in a file that both can read. The author can read what a submission prints during its check, or
what it prints in matches on another ladder. So the attempts on one side, and the checks and all other matches on the other side,
take turns. When the turn of one side begins, all processes of the other side have ended.
"""

import threading
from collections.abc import Callable
from enum import Enum
from math import inf

from arena.clock import monotonic

TURN_SECONDS = 10.0
"""If the other side waits, a turn ends after this many seconds. A turn for attempts is at least as long as an attempt."""
START_SECONDS, END_SECONDS = 3.0, 2.0
"""After a turn for attempts, the seconds for agents that are being started, and those in which their processes must end."""
PAUSE_SECONDS = 1.0
"""If the checks have ended and none has begun for this many seconds, attempts need not wait for the end of the turn."""
LAPSE_SECONDS = 5.0
"""A side that has not asked for this many seconds no longer waits."""


class Side(Enum):
    """The two sides that take turns."""

    HIDDEN = "attempts at hidden positions"
    OPEN = "checks, and matches whose output the authors can read"


class Turns:
    """Decides which side may begin something. Any thread may call the methods.

    `attempt_seconds` is the time limit of an attempt to solve a hidden position; without it, nothing is kept apart. An author can
    see when a check begins. So this moment does not depend on how long attempts take: they get their whole time at the end of a
    turn, even if they need less.
    """

    def __init__(self, attempt_seconds: float | None, clock: Callable[[], float] = monotonic) -> None:
        self._attempt_seconds, self._clock = attempt_seconds, clock
        self._lock = threading.Lock()
        self._holder = Side.OPEN
        self._inside = 0
        """The number of seasons or checks of this side that have not ended."""
        self._began = self._left = self._asked = -inf
        self._end: float | None = None
        """The end of this turn, after which nothing new begins; None while the other side does not wait."""

    @property
    def keep_apart(self) -> bool:
        """True if a ladder has hidden positions."""
        return self._attempt_seconds is not None

    def enter(self, side: Side) -> bool:
        """Return True if this side may begin a season or a check now. If so, call `leave` when all its processes have ended. If
        not, ask again.
        """
        if self._attempt_seconds is None:
            return True
        with self._lock:
            now = self._clock()
            if side is not self._holder and self._may_pass(now):
                self._holder, self._began, self._end = side, now, None
            if side is self._holder:
                allowed = not self._has_ended(now)
                self._inside += allowed
                return allowed
            if self._end is None or now > self._asked + LAPSE_SECONDS:
                least = TURN_SECONDS if self._holder is Side.OPEN else max(TURN_SECONDS, self._attempt_seconds)
                self._end = max(now, self._began + least)
            self._asked = now
            return False

    def leave(self) -> None:
        """Note the end of a season or a check."""
        if self._attempt_seconds is not None:
            with self._lock:
                self._inside -= 1
                self._left = self._clock()

    def is_over(self, side: Side) -> bool:
        """Return True if this side must begin nothing new, because the other side waits."""
        with self._lock:
            return self._holder is side and self._has_ended(self._clock())

    def must_end(self, side: Side) -> bool:
        """Return True if the attempts of this side have had their time after the end of the turn, so that those in progress are
        dropped.
        """
        if side is Side.OPEN:
            return False
        with self._lock:
            now = self._clock()
            return self._holder is side and self._has_ended(now) and now >= self._next_turn() - END_SECONDS

    def _has_ended(self, now: float) -> bool:
        """Return True if the turn of the holder is over, because the other side waits."""
        return self._end is not None and now >= self._end and now <= self._asked + LAPSE_SECONDS

    def _may_pass(self, now: float) -> bool:
        """Return True if the turn of the holder is over and its processes have ended."""
        if self._inside:
            return False
        if self._end is None:
            return self._holder is Side.HIDDEN or now >= self._left + PAUSE_SECONDS
        return now >= self._next_turn() or (self._holder is Side.OPEN and now >= self._left + PAUSE_SECONDS)

    def _next_turn(self) -> float:
        assert self._end is not None
        if self._holder is Side.OPEN:
            return self._end
        return self._end + (self._attempt_seconds or 0.0) + START_SECONDS + END_SECONDS
