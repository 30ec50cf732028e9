"""What everybody may read of the standings.

While the positions of a puzzle are hidden, the figures are coarse and change seldom. An author may not learn the positions, but
his agent sees them, and it chooses its own figures: the nodes that it reports, the cost of its solutions, the time that it takes,
and which positions it solves. Through figures with all their digits, after every attempt, it could send the positions to him.

Every answer that an author can read takes the state and the figures of the contest from here. The contest itself has the present
ones, and their changes show how long attempts take.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

from arena.clock import monotonic
from arena_ladder.contest import Contest
from arena_ladder.matchmaking import BoardStandings

PUBLISH_SECONDS = 10.0
"""While positions are hidden, the standings change at most once in this time, so that they do not show how long attempts take."""
COST_DIGITS = 2
"""The number of significant digits of a mean cost while positions are hidden."""


class Published(NamedTuple):
    """The standings at one point in time, as everybody may read them."""

    boards: tuple[BoardStandings, ...]
    state: str
    matches: int
    """The number of matches played since the process started; while positions are hidden, of the attempts in the rows."""
    voids: int
    positions: int | None
    """The number of hidden positions that every agent attempts; None for a game of two seats."""
    hidden: bool
    """True while positions are hidden."""
    version: tuple[bool, int]
    """A value that differs from the last one after every change."""

    @property
    def paused(self) -> bool:
        """True if something prevents the next match: an admin, a full disk, or a lost cluster."""
        return self.state.startswith("paused")


class PublicStandings:
    """Publishes the standings of a contest. `hides` returns True while positions are hidden. Any thread may read."""

    def __init__(self, contest: Contest, hides: Callable[[], bool], clock: Callable[[], float] = monotonic) -> None:
        self._contest, self._hides, self._clock = contest, hides, clock
        self._lock = threading.Lock()
        self._rows: dict[tuple[str, str], dict[str, Any]] = {}
        """The last published figures by the title of the board and the agent."""
        self._period = -1
        self._last = Published((), contest.state, 0, 0, None, True, (True, 0))

    def read(self) -> Published:
        """Return the standings that are published now."""
        contest = self._contest
        if not self._hides():
            boards, version = tuple(contest.standings), (False, contest.version)
            return Published(boards, contest.state, contest.matches, contest.voids, contest.positions, False, version)
        with self._lock:
            period = int(self._clock() // PUBLISH_SECONDS)
            if period != self._period and contest.standings:
                self._period = period
                state = contest.state  # before the standings: those of an idle contest are complete
                boards = tuple([self._publish(board, idle=state == "idle") for board in contest.standings])
                matches = sum(row["attempts"] for board in boards for row in board.rows)
                found = Published(boards, state, matches, 0, contest.positions, True, self._last.version)
                if found != self._last:
                    self._last = found._replace(version=(True, self._last.version[1] + 1))
            return self._last

    def _publish(self, board: BoardStandings, *, idle: bool) -> BoardStandings:
        """Return a board with the figures of the last time at which an agent had attempted all positions, and no other."""
        rows = []
        for row in board.rows:
            key = (board.title, row["agent"])
            if idle or (row["settled"] and row["attempts"] <= (self._contest.positions or 0)):
                self._rows[key] = coarsen(row)
            rows.append({**self._rows.get(key, coarsen({"agent": row["agent"]})), "settled": row["settled"]})
        rows.sort(key=_order)
        orders = [_order(row) for row in rows]
        return replace(board, rows=tuple([{**row, "rank": 1 + orders.index(_order(row))} for row in rows]))


def coarsen(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures of a solver that may be published while positions are hidden, under the keys of a leaderboard. All other
    figures are None, and figures that `row` does not have are those of an agent without attempts.
    """
    cost = row.get("mean_moves") if row.get("mean_cost") is None else row["mean_cost"]
    public = {"agent": row["agent"], "attempts": row.get("attempts", 0), "failures": row.get("failures", 0)}
    public |= {key: row.get(key) for key in ("solved", "solved_low", "solved_high")}
    public["mean_cost"] = None if cost is None else float(f"{cost:.{COST_DIGITS}g}")
    return {**dict.fromkeys(UNPUBLISHED), **public, "failures_by_kind": {}}


UNPUBLISHED = ("mean_moves", "mean_moves_failed", "nodes_per_attempt", "seconds_per_attempt", "fallback_share")
"""Figures that are hidden as long as positions are."""


def _order(row: Mapping[str, Any]) -> tuple[float, float]:
    """Return the key that sorts rows. The effort does not count, because the order would publish it."""
    return (1.0 if row["solved"] is None else -row["solved"], inf if row["mean_cost"] is None else row["mean_cost"])
