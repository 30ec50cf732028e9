"""Intransitive cycles: A beats B, B beats C, and C beats A, each significantly. Ratings are transitive and cannot show them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from arena.stats.likelihood import mean_interval
from arena.stats.observations import PAIR_SCORES, Competitor, Pairings, kinds_of

Beats: TypeAlias = Mapping[Competitor, frozenset[Competitor]]
"""For each competitor, the others that it beats."""


def beats(pairings: Pairings[Competitor]) -> dict[Competitor, frozenset[Competitor]]:
    """Return, for each competitor, the others against which its score has a 95 % interval above one half.

    The interval uses only the pairs of these two. Ratings are not used, because they put all competitors on one line.
    """
    found: dict[Competitor, set[Competitor]] = {}
    for (one, two), pairs in pairings.items():
        found.setdefault(one, set())
        found.setdefault(two, set())
        scores = Counter(dict.fromkeys(PAIR_SCORES, 0))
        for pair, count in kinds_of(pairs):
            if pair.is_whole:
                scores[pair.score] += count
        values = sorted(scores)
        bounds = mean_interval([scores[value] for value in values], values)
        if bounds and bounds[0] > 0.5:
            found[one].add(two)
        elif bounds and bounds[1] < 0.5:
            found[two].add(one)
    return {one: frozenset(others) for one, others in found.items()}


def cycles(beats: Beats[Competitor], *, most: int = 20) -> tuple[tuple[Competitor, ...], ...]:
    """Return at most `most` of the shortest cycles. Competitors are sorted by their texts; each cycle begins with its first one.

    Cycles of three are returned if there are any (a tournament graph with a cycle has one); otherwise, a shortest cycle, if any.
    """
    names = sorted(beats, key=str)  # every hashable value has a text, but not every one has an order
    place = {name: k for k, name in enumerate(names)}
    edges = [sorted(place[other] for other in beats[name] if other in place) for name in names]
    found = sorted(_threes(edges))[:most]
    if not found:
        around = [cycle for k in range(len(names)) if (cycle := _shortest(edges, k))]
        shortest = min(around, key=lambda cycle: (len(cycle), cycle), default=())
        first = shortest.index(min(shortest)) if shortest else 0
        found = [shortest[first:] + shortest[:first]] if shortest else []
    return tuple(tuple(names[k] for k in cycle) for cycle in found)


def _threes(edges: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    beaten = [frozenset(found) for found in edges]
    for one, found in enumerate(edges):
        for two in found:
            for three in edges[two]:
                if one < two and one < three and one in beaten[three]:
                    yield one, two, three


def _shortest(edges: Sequence[Sequence[int]], start: int) -> tuple[int, ...] | None:
    paths: dict[int, tuple[int, ...]] = {start: (start,)}
    frontier = [start]
    for vertex in frontier:  # the list grows during the loop
        for other in edges[vertex]:
            if other == start:
                return paths[vertex]
            if other not in paths:
                paths[other] = (*paths[vertex], other)
                frontier.append(other)
    return None
