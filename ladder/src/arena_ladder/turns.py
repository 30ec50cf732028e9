"""Keeps attempts to solve hidden positions apart from all other code of the authors.

A solver that attempts a hidden position could tell a process of the same author about it that runs at the same time on the same
machine, for example by a lock in a file that both can read. The author can read what a submission prints during its check, or
what it prints in matches on another ladder. So the attempts on one side, and the checks and all other matches on the other side,
take turns. When the turn of one side begins, all processes of the other side have ended.

How long one submission can delay others:

* A match or a check that does not end with its turn delays other ladders of its side by LATE_SECONDS at most. While it runs,
  their seasons and checks may begin late, after the end of the turn. They are dropped LATE_SECONDS after it has ended, and are
  among the first in the next turn. A match is dropped at most once: until it has been played again, its ladder begins nothing
  late. If a match could be dropped again and again, an agent that is losing would wait for that.
* Attempts wait for a match at most until its own limits end it (`start_seconds` for each seat, and `seconds` for each of its
  `moves`), and then LATE_SECONDS more. Each worker has only one match at a time. A match that began in the turn is never dropped,
  for the same reason. Beside hidden positions, every ladder needs `limits.seconds`. Then the ladder of that match rests as many
  seconds as the match has overrun. So one ladder leaves about a fifth of the time to attempts, however long its matches are. It
  rests also if no attempts are left, because an author could otherwise see when they have ended.
* Attempts wait for a check at most OVERRUN_SECONDS, and then LATE_SECONDS more. Then the check is dropped, and continues in the
  next turn after the last step that it has passed. Each time that a check is dropped, its time doubles, so that every check ends.
* Checks and matches wait for attempts at most for the longer one of TURN_SECONDS and the time limit of an attempt, and then for
  the time limit and 5 s more. An attempt that was dropped is among the first in the next turn. If it is dropped again, its agent
  has a long start, and turns for attempts last twice as long from now on, but at most `limits.start_seconds`, which is enough for
  any start. An author can see the length of turns, so it changes only these few times, as long as the process runs.
"""

import threading
from enum import Enum
from math import inf

from arena.clock import monotonic

TURN_SECONDS = 10.0
"""If the other side waits, a turn ends after this many seconds. A turn for attempts is at least as long as an attempt."""
START_SECONDS, END_SECONDS = 3.0, 2.0
"""After a turn for attempts, the seconds for agents that are being started, and those in which their processes must end."""
OVERRUN_SECONDS = 30.0
"""The number of seconds after its turn after which a check is dropped. It is longer than most checks."""
LATE_SECONDS = 10.0
"""When everything that began in the turn has ended, late matches and checks have this many seconds, which is enough for most."""
PAUSE_SECONDS = 1.0
"""If the checks have ended and none has begun for this many seconds, attempts need not wait for the end of the turn."""
LAPSE_SECONDS = 5.0
"""A side that has not asked for this many seconds no longer waits."""


class Side(Enum):
    """The two sides that take turns."""

    HIDDEN = "attempts at hidden positions"
    OPEN = "checks, and matches whose output the authors can read"


class Visit:
    """A season or a check that has begun. Any thread may call the methods."""

    def __init__(self, turns: "Turns", side: Side, *, late: bool) -> None:
        self._turns, self.side = turns, side
        self.late = late
        """True if it began after the end of the turn, beside something that overruns."""
        self.overrun_seconds = inf
        """The seconds after the end of the turn that it may use. This does not apply to attempts, and not if it began late."""

    def leave(self) -> float:
        """Record the end of the season or the check, when all its processes have ended. Return the time until which its
        ladder must not enter again, because it has overrun.
        """
        return self._turns.leave(self)

    def is_over(self) -> bool:
        """Return True if nothing new must begin, because the other side waits."""
        return self._turns.is_over(self)

    def must_end(self) -> bool:
        """Return True if everything in progress must be dropped, because its time after the end of the turn is over."""
        return self._turns.must_end(self)


class Turns:
    """Decides which side may begin something. Any thread may call the methods.

    `attempt_seconds` is the time limit of an attempt to solve a hidden position; without it, nothing is kept apart.
    `start_seconds` is the time limit of a start before an attempt. An author can see when a check begins. So this moment does not
    depend on how long attempts take: they get their whole time at the end of a turn, even if they need less.
    """

    def __init__(self, attempt_seconds: float | None, start_seconds: float = 0.0) -> None:
        self._attempt_seconds = attempt_seconds
        self._hidden_seconds = max(TURN_SECONDS, attempt_seconds or 0.0)
        """The length of a turn for attempts while the other side waits."""
        self._most_hidden_seconds = max(self._hidden_seconds, start_seconds)
        self._lock = threading.Lock()
        self._holder = Side.OPEN
        self._inside: set[Visit] = set()
        """The seasons and checks of this side that have not ended."""
        self._began = self._left = self._asked = -inf
        self._drained = -inf
        """The time at which the last season or check that was not late has ended."""
        self._end: float | None = None
        """The end of this turn, after which nothing new begins; None while the other side does not wait."""

    @property
    def keep_apart(self) -> bool:
        """True if a ladder has hidden positions."""
        return self._attempt_seconds is not None

    def enter(self, side: Side, *, late: bool = True) -> Visit | None:
        """Return a visit if this side may begin a season or a check now; if None, ask again. With `late=False`, nothing begins
        after the end of a turn, so that it is not dropped.
        """
        if self._attempt_seconds is None:
            return Visit(self, side, late=False)
        with self._lock:
            now = monotonic()
            if side is not self._holder and self._may_pass(now):
                self._holder, self._began, self._end = side, now, None
            if side is self._holder:
                over = self._has_ended(now)
                if over and not (late and self._overruns()):
                    return None
                visit = Visit(self, side, late=over)
                self._inside.add(visit)
                return visit
            if self._end is None or now > self._asked + LAPSE_SECONDS:
                self._end = max(now, self._began + (TURN_SECONDS if self._holder is Side.OPEN else self._hidden_seconds))
                for visit in self._inside:
                    visit.late = False
            self._asked = now
            return None

    def leave(self, visit: Visit) -> float:
        """Record the end of a season or a check. Return the time until which its ladder rests."""
        if self._attempt_seconds is None:
            return -inf
        with self._lock:
            self._inside.remove(visit)
            self._left = now = monotonic()
            if visit.late:
                return -inf
            self._drained = now
            overran = visit.side is Side.OPEN and self._end is not None and self._has_ended(now)
            return 2 * now - self._end if overran and self._end is not None else -inf

    def lengthen(self) -> None:
        """Double the turns for attempts, because an attempt was dropped twice."""
        with self._lock:
            self._hidden_seconds = min(2 * self._hidden_seconds, self._most_hidden_seconds)

    def is_over(self, visit: Visit) -> bool:
        """Return True if a season or a check must begin nothing new, because the other side waits."""
        with self._lock:
            return self._has_ended(monotonic()) and not (visit.late and self._overruns())

    def must_end(self, visit: Visit) -> bool:
        """Return True if a season or a check has had its time after the end of the turn, so that it is dropped."""
        with self._lock:
            now = monotonic()
            if self._end is None or not self._has_ended(now):
                return False
            if visit.side is Side.HIDDEN:
                return now >= self._next_turn() - END_SECONDS
            if visit.late:
                return not self._overruns() and now >= self._drained + LATE_SECONDS
            return now >= self._end + visit.overrun_seconds

    def _has_ended(self, now: float) -> bool:
        """Return True if the turn of the holder is over, because the other side waits."""
        return self._end is not None and now >= self._end and now <= self._asked + LAPSE_SECONDS

    def _overruns(self) -> bool:
        """Return True if others may begin late, because a check or a match that began in the turn goes on after it."""
        return self._holder is Side.OPEN and not all(visit.late for visit in self._inside)

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
