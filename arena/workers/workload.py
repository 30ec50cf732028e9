"""Tasks for workers: the backlog of a schedule, and what a worker that ended has left unplayed."""

from collections import deque
from dataclasses import dataclass

from arena.schedule.backlog import Backlog
from arena.schedule.schedule import Scheduled, Take


@dataclass(slots=True)
class Task:
    """Matches that one worker plays in order."""

    matches: list[Scheduled]
    alone: bool = False
    """True if it is the retry of a match in which a worker ended."""
    recorded: int = 0
    """The number of those that have their record."""
    seat: int | None = None
    """The seat that was to move last, as far as is told."""

    @property
    def left(self) -> list[Scheduled]:
        """The matches without a record."""
        return self.matches[self.recorded :]


class Workload:
    """The backlog of some workers, and in which match a worker ended."""

    def __init__(self, take: Take, workers: int, total: int | None) -> None:
        self._backlog = Backlog(take, total)
        self._workers = workers
        self._suspects: deque[Scheduled] = deque()
        self._lost: deque[Scheduled] = deque()

    def next(self, size: int, *, fresh: bool) -> Task | None:
        """Return a task of at most `size` matches; None where there is nothing to play now. `fresh`: nothing was played there."""
        if fresh and self._suspects:
            return Task([self._suspects.popleft()], alone=True)
        if self._lost:
            return Task([self._lost.popleft()])
        matches = self._backlog.share(size, self._workers)
        return Task(matches) if matches else None

    def hand_back(self, task: Task) -> None:
        """Take back matches that a worker had no time for."""
        self._backlog.put_back(task.left)

    def salvage(self, task: Task, begun: int) -> Scheduled | None:
        """Take back what a worker that ended has left of a task; return the match that ended it for the second time, if one did.

        `begun` of the matches were begun. The last of them was being played: it is played once more, first in a new worker, and
        if that worker ends as well it is this match's doing. Others without a record are given out one by one, so that the
        right one is found if it is among them after all, such as one whose agent closed the pipe while records were gathered.
        """
        playing = min(begun, len(task.matches)) - 1
        if playing < task.recorded:  # it ended between two matches
            (self._suspects if task.alone else self._lost).extend(task.left)
            return None
        culprit = task.matches[playing]
        self._lost.extend([scheduled for scheduled in task.left if scheduled is not culprit])
        if task.alone:
            return culprit
        self._suspects.append(culprit)
        return None

    def any_left(self) -> bool:
        """Tell whether there is something to play now; where need be, take a match from the schedule to know."""
        return bool(self._suspects or self._lost) or self._backlog.any_left()

    @property
    def over(self) -> bool:
        """True if the schedule has no more matches, apart from those that are to be played again."""
        return self._backlog.over
