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
    """The sum of the opponents' scores; a bye counts nothing (B. Buchholz, 1932)."""
    sonneborn_berger: float
    """The sum of the opponents' scores, each times the points won against that opponent; a bye counts nothing."""


def scores(agents: Sequence[Competitor], history: Sequence[Encounter[Competitor]]) -> dict[Competitor, float]:
    """The points of each: an encounter gives at most one, a bye gives one."""
    points = dict.fromkeys(agents, 0.0)
    for first, second, share in history:
        points[first] += share
        if second is not None:
            points[second] += 1 - share
    return points


def standings(lots: Sequence[Competitor], history: Sequence[Encounter[Competitor]]) -> tuple[SwissStanding[Competitor], ...]:
    """The table, the best first: by score, then Buchholz, then Sonneborn-Berger, then in the order of the lots."""
    points = scores(lots, history)
    buchholz, sonneborn_berger = dict.fromkeys(lots, 0.0), dict.fromkeys(lots, 0.0)
    for first, second, share in history:
        if second is not None:
            buchholz[first] += points[second]
            buchholz[second] += points[first]
            sonneborn_berger[first] += share * points[second]
            sonneborn_berger[second] += (1 - share) * points[first]
    rows = [SwissStanding(agent, points[agent], buchholz[agent], sonneborn_berger[agent]) for agent in lots]
    return tuple(sorted(rows, key=lambda row: (-row.score, -row.buchholz, -row.sonneborn_berger)))
