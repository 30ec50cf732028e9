"""Chooses the next matches of a ladder and ranks its agents: by the most informative pairs of games, or by attempts at positions.

The choice depends only on the results.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import heapify, heappop, heappush
from itertools import combinations
from math import inf
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from arena.api.results import Leaderboard, Strengths, versus_row
from arena.api.store import Store
from arena.clock import wall_time
from arena_ladder.ledger import Ledger, find_deadline
from arena_ladder.season import Season, have_one_author
from arena_ladder.spec import PERIODS, LadderSpec, PositionKeys

if TYPE_CHECKING:  # numpy is loaded only for rating
    from arena.stats import Ratings

MAX_REPEATS = 5
"""The games of two agents may repeat earlier games move by move. If the rounds that are such repeats outnumber the other rounds
of the two agents by more than this number, the pair counts as exhausted: more games would give no new information.
"""
PAIRS_AHEAD = 8
"""The minimum number of pairs in one plan. If there are many agents, a plan has a quarter of their number."""


MAX_RETIRED = 200
"""At most this many agents that have left play are rated with those in play: the ones that have played most recently. So the time
for a plan does not grow with the number of agents that have ever played.
"""


FLOOR_SHARE = 4
"""At most a quarter of the pairs in a plan are between agents that are paired because they have met only rarely."""


@dataclass(frozen=True, slots=True)
class BoardStandings:
    """The ratings on one board at one point in time."""

    title: str
    rows: tuple[dict[str, Any], ...]
    """A row for each agent in play, the best first, with the keys of a leaderboard and `settled`, which is true if the
    interval is narrow enough or, for a puzzle, if the agent has attempted all positions.
    """
    wanted: tuple[int, ...] = ()
    """The numbers of the agents in play with an interval that is still too wide; for a puzzle, none."""
    ratings: "Ratings[int] | None" = None
    """The ratings of the agents in play and of the MAX_RETIRED others that have played most recently; None for a puzzle."""
    anchor: int = 0
    kind: Literal["versus", "puzzle"] = "versus"


class Measure(NamedTuple):
    """The value that ranks a row of the standings."""

    matches: int
    """The number of games or attempts."""
    value: float | None
    """The rating in Elo, or the solved share in percent. The next two fields are its interval."""
    low: float | None
    high: float | None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Measure":
        """Return the measure of a row."""
        if "rating" in row:
            return cls(row["games"], row["rating"], row["rating_low"], row["rating_high"])
        shares = [None if row[key] is None else 100 * row[key] for key in ("solved", "solved_low", "solved_high")]
        return cls(row["attempts"], *shares)


def standings(season: Season, board: int, interval: float, anchor: str | None) -> BoardStandings:
    """Rate a board. The matches among the agents in play and the MAX_RETIRED others that have played most recently count, but
    only agents in play are shown. `interval` is the largest half-width that counts as settled.
    """
    from arena.stats import rate

    tally, labels, playing = season.tallies[board], season.labels(board), season.playing(board)
    rated = range(min(len(labels), len(playing) + MAX_RETIRED))
    zero = labels.index(anchor) if anchor in labels[: len(rated)] else 0
    ratings = rate(tally.matches.results(rated), rated, anchor=zero)
    bounds = {row.agent: (row.elo, row.low, row.high) for row in ratings.rows}
    merits = {entry: found[0] or 0.0 for entry, found in bounds.items()}
    wanted = []
    for entry in playing:
        _, low, high = bounds[entry]
        if entry != zero and (low is None or high is None or (high - low) / 2 > interval):
            wanted.append(entry)
    strengths = Strengths(bounds, ratings, (), tuple([(None,) * len(labels)] * len(labels)), zero)
    order = sorted(playing, key=lambda entry: (-merits[entry], entry))
    sorted_merits = [merits[entry] for entry in order]
    rows = [
        {**versus_row(sorted_merits.index(merits[entry]) + 1, entry, tally, strengths, ()), "settled": entry not in wanted}
        for entry in order
    ]
    for row in rows:  # the standings of a ladder do not have these keys
        row.pop("superiority", None)
        row.pop("level_with", None)
    return BoardStandings(season.run.boards[board].title, tuple(rows), tuple(wanted), ratings, zero)


def plan_size(playing: Sequence[int]) -> int:
    """Return the number of pairs in one plan."""
    return max(PAIRS_AHEAD, len(playing) // 4)


def pairs_to_meet(
    season: Season,
    board: int,
    found: BoardStandings,
    barred: Sequence[tuple[int, int]] = (),
    gone: Collection[str] = (),
) -> list[tuple[int, str, str]]:
    """Return the pairs for the next plan of a board; empty if nothing is left to learn. Each pair is the number of the board and
    two labels.

    The `barred` pairs of entries do not meet, and neither do agents of one author. Agents with a label in `gone` are not paired.
    """
    from arena_ladder.design import next_pairs, pairs_below_floor

    assert found.ratings is not None
    labels = season.labels(board)
    playing, wanted = ([entry for entry in one if labels[entry] not in gone] for one in (season.playing(board), found.wanted))
    exhausted = [*barred, *[both for both in combinations(playing, 2) if have_one_author(labels[both[0]], labels[both[1]])]]
    pairings = season.tallies[board].matches.pairings(season.playing(board))
    for entries, pairs in pairings.items():
        if sum(pair.games for pair in pairs) / 2 > 2 * len(pairs) + MAX_REPEATS:  # deterministic agents mostly repeat rounds
            exhausted.append(entries)
    size, met = plan_size(playing), {entries: len(pairs) for entries, pairs in pairings.items()}
    least = pairs_below_floor(found.ratings, met, wanted, playing, size // FLOOR_SHARE, exhausted)
    chosen = next_pairs(found.ratings, found.anchor, wanted, playing, size - len(least), exhausted) + least
    return [(board, labels[one], labels[other]) for one, other in chosen]


# Puzzles: an attempt is planned as a match of an agent with itself. Every agent attempts the hidden positions in the same order,
# so any two agents are compared on the same positions.


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
            began = datetime.fromisoformat(first[0]).timestamp() if first else wall_time()
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

    `attempts` contains the number of attempts of each agent so far. A label may occur several times, until the agent has
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
