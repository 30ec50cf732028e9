"""Intransitive cycles: A beats B, B beats C, and C beats A, each beyond noise; no list of ratings can show that."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from arena.stats.likelihood import mean_interval
from arena.stats.pairs import PAIR_SCORES, Pairings, kinds_of

Beats: TypeAlias = Mapping[str, frozenset[str]]
"""Whom each agent beats."""


def beats(pairings: Pairings) -> dict[str, frozenset[str]]:
    """Whom each agent beats beyond noise: its share of the points against that agent alone has a 95 % interval above one half.

    The interval goes by pairs of games. Ratings are of no use here, since they put all agents on one line.
    """
    found: dict[str, set[str]] = {}
    for (one, two), pairs in pairings.items():
        found.setdefault(one, set())
        found.setdefault(two, set())
        scores = Counter(dict.fromkeys(PAIR_SCORES, 0))
        for pair, count in kinds_of(pairs):
            if pair.games:
                scores[pair.score] += count
        values = sorted(scores)
        bounds = mean_interval([scores[value] for value in values], values)
        if bounds and bounds[0] > 0.5:
            found[one].add(two)
        elif bounds and bounds[1] < 0.5:
            found[two].add(one)
    return {agent: frozenset(others) for agent, others in found.items()}


def cycles(beats: Beats, *, most: int = 20) -> tuple[tuple[str, ...], ...]:
    """The shortest cycles, each from its first agent by name on, at most `most` of them, in order; empty where there is none.

    All cycles of three where there are any (where all have met, there are some if there is any cycle), else one shortest cycle.
    """
    threes = sorted(_threes(beats))
    if threes:
        return tuple(threes[:most])
    around = [found for agent in sorted(beats) if (found := _shortest(beats, agent))]
    return (_turned(min(around, key=lambda cycle: (len(cycle), cycle))),) if around else ()


def _threes(beats: Beats) -> Iterable[tuple[str, ...]]:
    for one in beats:
        for two in beats[one]:
            for three in beats.get(two, frozenset()):
                if one < two and one < three and one in beats.get(three, frozenset()):
                    yield one, two, three


def _shortest(beats: Beats, start: str) -> tuple[str, ...] | None:
    """A shortest way from an agent back to itself."""
    paths: dict[str, tuple[str, ...]] = {start: (start,)}
    frontier = [start]
    for agent in frontier:
        for other in sorted(beats.get(agent, frozenset())):
            if other == start:
                return paths[agent]
            if other not in paths:
                paths[other] = (*paths[agent], other)
                frontier.append(other)
    return None


def _turned(cycle: tuple[str, ...]) -> tuple[str, ...]:
    first = cycle.index(min(cycle))
    return cycle[first:] + cycle[:first]
