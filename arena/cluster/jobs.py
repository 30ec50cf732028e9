"""Jobs for nodes: the backlog of a schedule, and the matches during which a node was lost."""

from collections import deque
from dataclasses import dataclass, field

from arena.schedule.backlog import Backlog
from arena.schedule.schedule import Scheduled, Take

JOB_SECONDS = 1.0
"""Seconds that a job should take: long against what Dask takes for a task, about 2 ms, short against the run."""
LARGEST_JOB = 5000
QUICK_SECONDS = 5.0
"""Jobs that take longer than this are not sent ahead: another node may be idle by then."""
MOST_TRIES = 2
"""The number of nodes that may be lost while they play a match."""


@dataclass(slots=True, eq=False)
class Job:
    """Matches that are sent out together."""

    matches: list[Scheduled]
    lost: int = 0
    """The number of nodes that were lost while they played it."""
    orders: set[str] = field(default_factory=set)
    """The keys of the orders that are out for it: mostly one, two where the first is long overdue."""


@dataclass(slots=True)
class Pace:
    """The time that a match takes, from those played so far, and so the size of a job."""

    seconds: float | None = None
    """Of a match, lately; None before the first."""
    size: int = 1

    def note(self, matches: int, seconds: float) -> None:
        """Take in that so many matches took so long."""
        latest = max(seconds, 1e-6) / matches
        self.seconds = latest if self.seconds is None else 0.7 * self.seconds + 0.3 * latest
        self.size = max(1, min(LARGEST_JOB, self.size * 2, int(JOB_SECONDS / self.seconds)))

    @property
    def quick(self) -> bool:
        """True if a job takes so little time that the next one may wait at the node."""
        return self.seconds is not None and self.seconds * self.size <= QUICK_SECONDS


class JobQueue:
    """The backlog of some nodes in jobs, and during which of them a node was lost."""

    def __init__(self, take: Take, total: int | None) -> None:
        self.pace = Pace()
        self._backlog = Backlog(take, total)
        self._suspects: deque[Job] = deque()

    def next(self, threads: int) -> Job | None:
        """The next job for one of so many threads; None where there is nothing to play now."""
        if self._suspects:
            return self._suspects.popleft()
        matches = self._backlog.share(self.pace.size, threads)
        return Job(matches) if matches else None

    def put_back(self, job: Job) -> None:
        """Take back a job that nobody has begun."""
        if job.lost:
            self._suspects.append(job)
        else:
            self._backlog.put_back(job.matches)

    def lost(self, job: Job) -> Scheduled | None:
        """Take back a job whose node was lost while it played; return the match that has lost its second one, if there is one.

        Which match of several it was nobody knows: each is played alone from now on.
        """
        if len(job.matches) == 1 and job.lost + 1 >= MOST_TRIES:
            return job.matches[0]
        self._suspects.extend([Job([one], job.lost + 1) for one in job.matches])
        return None

    def any_left(self) -> bool:
        """Tell whether there is something to play now; where need be, take a match from the schedule to know."""
        return bool(self._suspects) or self._backlog.any_left()

    @property
    def over(self) -> bool:
        """True if the schedule has no more matches, apart from those that are to be played again."""
        return self._backlog.over
