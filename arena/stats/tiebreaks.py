"""Standings of a Swiss tournament: scores, and the tie-breaks of Buchholz and of Sonneborn and Berger."""

from collections.abc import Sequence
from typing import Generic, NamedTuple

from arena.stats.observations import Competitor


class Encounter(NamedTuple, Generic[Competitor]):
    """A meeting of two in a round, or a bye: then `second` is None."""

    first: Competitor
    second: Competitor | None
    points: float = 1.0
    """The first one's share of the points, within [0, 1]; of a bye all of them."""


class SwissStanding(NamedTuple, Generic[Competitor]):
    """A line of the table of a Swiss tournament."""

    agent: Competitor
    score: float
    buchholz: float
    sonneborn_berger: float


def scores(agents: Sequence[Competitor], history: Sequence[Encounter[Competitor]]) -> dict[Competitor, float]:
    """The points of each: an encounter gives at most one, a bye gives one."""
    points = dict.fromkeys(agents, 0.0)
    for first, second, share in history:
        points[first] += share
        if second is not None:
            points[second] += 1 - share
    return points


def buchholz(agents: Sequence[Competitor], history: Sequence[Encounter[Competitor]]) -> dict[Competitor, float]:
    """The sum of the opponents' scores; a bye counts nothing (B. Buchholz, 1932)."""
    points = scores(agents, history)
    sums = dict.fromkeys(agents, 0.0)
    for first, second, _ in history:
        if second is not None:
            sums[first] += points[second]
            sums[second] += points[first]
    return sums


def sonneborn_berger(agents: Sequence[Competitor], history: Sequence[Encounter[Competitor]]) -> dict[Competitor, float]:
    """The sum of the opponents' scores, each times the points won against that opponent; a bye counts nothing."""
    points = scores(agents, history)
    sums = dict.fromkeys(agents, 0.0)
    for first, second, share in history:
        if second is not None:
            sums[first] += share * points[second]
            sums[second] += (1 - share) * points[first]
    return sums


def standings(lots: Sequence[Competitor], history: Sequence[Encounter[Competitor]]) -> tuple[SwissStanding[Competitor], ...]:
    """The table, the best first: by score, then Buchholz, then Sonneborn-Berger, then in the order of the lots."""
    points, first, second = scores(lots, history), buchholz(lots, history), sonneborn_berger(lots, history)
    rows = [SwissStanding(agent, points[agent], first[agent], second[agent]) for agent in lots]
    return tuple(sorted(rows, key=lambda row: (-row.score, -row.buchholz, -row.sonneborn_berger)))
