"""Standings of a Swiss tournament: scores, and the tie-breaks of Buchholz and of Sonneborn and Berger."""

from collections.abc import Sequence
from typing import NamedTuple


class Encounter(NamedTuple):
    """Two agents who met in a round, or one that had a bye: then `second` is None."""

    first: str
    second: str | None
    points: float = 1.0
    """The first one's share of the points, within [0, 1]; of a bye all of them."""


class Standing(NamedTuple):
    """An agent's place in a Swiss tournament."""

    agent: str
    score: float
    buchholz: float
    sonneborn_berger: float


def scores(agents: Sequence[str], history: Sequence[Encounter]) -> dict[str, float]:
    """The points of each agent: an encounter gives at most one, a bye gives one."""
    points = dict.fromkeys(agents, 0.0)
    for first, second, share in history:
        points[first] += share
        if second is not None:
            points[second] += 1 - share
    return points


def buchholz(agents: Sequence[str], history: Sequence[Encounter]) -> dict[str, float]:
    """The sum of the scores of those whom each agent met, a bye counting as nobody (B. Buchholz, 1932)."""
    points = scores(agents, history)
    sums = dict.fromkeys(agents, 0.0)
    for first, second, _ in history:
        if second is not None:
            sums[first] += points[second]
            sums[second] += points[first]
    return sums


def sonneborn_berger(agents: Sequence[str], history: Sequence[Encounter]) -> dict[str, float]:
    """The sum of the scores of those whom each agent met, each times the points won against it; a bye counts as nobody."""
    points = scores(agents, history)
    sums = dict.fromkeys(agents, 0.0)
    for first, second, share in history:
        if second is not None:
            sums[first] += share * points[second]
            sums[second] += (1 - share) * points[first]
    return sums


def standings(lots: Sequence[str], history: Sequence[Encounter]) -> tuple[Standing, ...]:
    """All agents, the best first: by score, then Buchholz, then Sonneborn-Berger, then in the order of the lots."""
    points, first, second = scores(lots, history), buchholz(lots, history), sonneborn_berger(lots, history)
    rows = [Standing(agent, points[agent], first[agent], second[agent]) for agent in lots]
    return tuple(sorted(rows, key=lambda row: (-row.score, -row.buchholz, -row.sonneborn_berger)))
