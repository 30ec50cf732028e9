"""The hidden positions of a puzzle: how many there are, which attempts come next, and the standings.

An attempt is planned as a match of an agent with itself. Every agent attempts the positions in the same order, so any two agents
are compared on the same positions.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import heapify, heappop, heappush
from math import inf
from time import time

from arena.api.results import Leaderboard
from arena.api.store import Store
from arena_ladder.ledger import Ledger, find_deadline
from arena_ladder.matchmaking import BoardStandings
from arena_ladder.season import Season
from arena_ladder.spec import PERIODS, LadderSpec, PositionKeys


@dataclass(frozen=True, slots=True)
class PositionSchedule:
    """The schedule for adding positions. Times are in seconds since 1970."""

    keys: PositionKeys
    began: float
    """The beginning of the term: the time at which submissions open or, if the spec sets none, the first start of the ladder."""
    deadline: float = inf
    """The last moment at which submissions are accepted."""

    @classmethod
    def load(cls, ladder: LadderSpec, store: Store, ledger: Ledger) -> "PositionSchedule | None":
        """Return the schedule of a ladder; None if it is not for a puzzle."""
        if ladder.solvers is None:
            return None
        rules = ladder.submissions
        last = find_deadline(rules, ledger)
        if rules.opens is not None:
            began = rules.opens.timestamp()
        else:
            first = [started for (started,) in store.query("SELECT started FROM run ORDER BY number LIMIT 1")]
            began = datetime.fromisoformat(first[0]).timestamp() if first else time()
        return cls(ladder.solvers.positions, began, inf if last is None else last.timestamp())

    def count(self, now: float) -> int:
        """Return the number of positions that every agent attempts. It no longer grows after the deadline."""
        return self.keys.count(min(now, self.deadline) - self.began)

    def count_for_marks(self, now: float) -> int:
        """Return the number of positions on which marks are tested. After the deadline, all positions may decide open marks."""
        return self.keys.most if now > self.deadline else self.count(now)

    def next_change(self, now: float) -> float:
        """Return the next moment after `now` at which these numbers may change; inf if they stay the same."""
        if now > self.deadline:
            return inf
        if self.count(now) == self.keys.most or not self.keys.more:
            return self.deadline
        period = PERIODS[self.keys.every]
        return min(self.deadline, self.began + period * max(1.0, (now - self.began) // period + 1))


def list_attempts(
    playing: Sequence[str], attempts: Mapping[str, int], positions: int, size: int, gone: Collection[str] = ()
) -> list[str]:
    """Return the labels of up to `size` agents that attempt their next position, the ones with the fewest attempts first.

    `attempts` has the number of attempts of each agent so far. A label may occur several times, until the agent has
    `positions` attempts.
    """
    waiting = [(attempts.get(label, 0), place) for place, label in enumerate(playing) if label not in gone]
    heapify(waiting)
    found: list[str] = []
    while waiting and len(found) < size and waiting[0][0] < positions:
        count, place = heappop(waiting)
        found.append(playing[place])
        heappush(waiting, (count + 1, place))
    return found


def rank_solvers(season: Season, board: int, positions: int) -> BoardStandings:
    """Return the standings of a puzzle, sorted by the solved share, then by the mean cost, then by the effort. The rows are those
    of the leaderboard of the store, without the agents that have left play.
    """
    tally, labels = season.tallies[board], season.labels(board)
    playing = {labels[entry]: entry for entry in season.playing(board)}
    rows = []
    for row in Leaderboard.of(tally, finished=False).rows:
        if (entry := playing.get(row["agent"])) is not None:
            done = tally.counts[entry].games + tally.counts[entry].void
            rows.append({**row, "settled": done >= positions})
    return BoardStandings(season.run.boards[board].title, tuple(rows), kind="puzzle")
