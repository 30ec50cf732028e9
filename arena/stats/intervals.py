"""Ratings with their 95 % intervals, from pairs of games and never from single ones, and the confidence in the order of a field.

From 40 pairs a pairing up the interval is a bootstrap's (`arena.stats.bootstrap`), below it a sandwich estimator's
(`arena.stats.sandwich`); a competitor with all or none of its points has one bound alone (`arena.stats.profile`). One that did
not meet any one other in at least two distinct pairs has none.
"""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic

from arena.stats.bootstrap import Bootstrap, bootstrap
from arena.stats.bradley_terry import Fit, fit, place_of
from arena.stats.elo import ELO
from arena.stats.observations import Competitor, Pair, Pairings, kinds_of, table_of
from arena.stats.prior import MODEL, Model
from arena.stats.profile import extremes, one_sided
from arena.stats.sandwich import Sandwich, sandwich, sandwich_of_rounds

FEW = 40
"""The least number of pairs a pairing at which a bootstrap holds its level; below, its intervals are too narrow."""


@dataclass(frozen=True, slots=True)
class Rated(Generic[Competitor]):
    """A rating in Elo. A bound is None where there is none: both where nothing is known, one where that side is open."""

    agent: Competitor
    elo: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Difference:
    """The lead of one rating over another, in Elo, with its 95 % interval and the likelihood of superiority."""

    elo: float
    low: float | None
    high: float | None
    superiority: float | None


@dataclass(frozen=True)
class Ratings(Generic[Competitor]):
    """The ratings of a field about its mean, or about the anchor, whose rating is 0."""

    fit: Fit[Competitor]
    spread: Bootstrap | Sandwich
    known: frozenset[Competitor]
    """Those with at least two distinct pairs, against whomever."""
    bounds: Mapping[Competitor, Fit[Competitor]]
    """The fits at the one bound of those with all or none of their points."""
    sides: Mapping[Competitor, int]
    """Their side: 1 with all points, -1 with none."""
    anchor: Competitor | None = None

    @property
    def method(self) -> str:
        """The source of the intervals: `bootstrap` or `sandwich`."""
        return self.spread.name

    @cached_property
    def rows(self) -> tuple[Rated[Competitor], ...]:
        """The whole field, the best first; equals in the order of the field."""
        elo = self.fit.elo(self.anchor)
        return tuple(sorted((self._rated(agent, elo[agent]) for agent in self.fit.agents), key=lambda row: -row.elo))

    def difference(self, agent: Competitor, other: Competitor) -> Difference:
        """The lead of `agent` over `other`; no bounds where either has one bound alone, or none."""
        i, j = place_of(self.fit.agents, agent), place_of(self.fit.agents, other)
        elo = (self.fit.ratings[i] - self.fit.ratings[j]) * ELO
        if i == j or not {agent, other} <= self.known:
            return Difference(elo, None, None, None)
        superiority = self.spread.superiority(i, j)
        if {agent, other} & set(self.bounds):
            return Difference(elo, None, None, superiority)
        low, high = self.spread.interval(i, j)
        return Difference(elo, low * ELO, high * ELO, superiority)

    def superiority(self, agent: Competitor, other: Competitor) -> float | None:
        """The likelihood of superiority of `agent` over `other`; None where either has fewer than two distinct pairs."""
        if agent == other or not {agent, other} <= self.known:
            return None
        return self.spread.superiority(place_of(self.fit.agents, agent), place_of(self.fit.agents, other))

    def _rated(self, agent: Competitor, elo: float) -> Rated[Competitor]:
        if agent not in self.known or agent == self.anchor:
            return Rated(agent, elo, None, None)
        if agent in self.bounds:
            # A fit at a bound is about the mean of all others: it is brought back to that of the whole field.
            bound = self.bounds[agent].elo(self.anchor)[agent] - (
                0.0 if self.anchor is not None else _mean_elo(self.bounds[agent])
            )
            return Rated(agent, elo, bound, None) if self.sides[agent] > 0 else Rated(agent, elo, None, bound)
        zero = None if self.anchor is None else self.fit.agents.index(self.anchor)
        low, high = self.spread.interval(self.fit.agents.index(agent), zero)
        return Rated(agent, elo, low * ELO, high * ELO)


def rate(
    pairings: Pairings[Competitor],
    agents: Iterable[Competitor] | None = None,
    *,
    rng: random.Random,
    anchor: Competitor | None = None,
    model: Model = MODEL,
    samples: int = 1000,
    rounds: Sequence[Mapping[tuple[Competitor, Competitor], Pair]] | None = None,
) -> Ratings[Competitor]:
    """Ratings of a field from all its pairs of games.

    `pairings` holds every two who met once; each of its pairs is a distinct one, its repeats added to it. `rng` seeds the
    bootstrap, which draws `samples` tables. `rounds` holds the same games by rounds, where games of a round share dice and deals:
    then rounds are the clusters. Raises ArenaError for an unknown anchor, or where there is no finite fit, which takes
    the prior to be off.
    """
    table = table_of(pairings)
    fitted = fit(table, agents, model=model)
    if anchor is not None:
        place_of(fitted.agents, anchor)
    distinct: Counter[Competitor] = Counter()
    for seats, pairs in pairings.items():
        distinct.update(dict.fromkeys(seats, _distinct(pairs)))
    known = frozenset(agent for agent, count in distinct.items() if count > 1)
    sides = {agent: side for agent, side in extremes(table).items() if agent in known}
    bounds = {agent: one_sided(pairings, agent, side, fitted.agents, model=model) for agent, side in sides.items()}
    if rounds is not None and len(pairings) > 1:
        spread: Bootstrap | Sandwich = sandwich_of_rounds(fitted, rounds, floor=len(rounds) < FEW)
    elif min((_distinct(pairs) for pairs in pairings.values()), default=0) >= FEW:
        spread = bootstrap(fitted, pairings, rng, samples=samples)
    else:
        spread = sandwich(fitted, pairings)
    return Ratings(fitted, spread, known, bounds, sides, anchor)


def overlapping(rows: Iterable[Rated[Competitor]]) -> dict[Competitor, tuple[Competitor, ...]]:
    """For every competitor the others whose intervals overlap its own, so that their order is not certain; an open end overlaps
    everything beyond it.
    """
    listed = list(rows)
    return {row.agent: tuple(other.agent for other in listed if other is not row and _overlap(row, other)) for row in listed}


def _overlap(one: Rated[Competitor], two: Rated[Competitor]) -> bool:
    return not any(
        lower.high is not None and upper.low is not None and lower.high < upper.low for lower, upper in ((one, two), (two, one))
    )


def _distinct(pairs: Sequence[Pair]) -> int:
    return sum(count for pair, count in kinds_of(pairs) if pair.games)


def _mean_elo(bound: Fit[Competitor]) -> float:
    return sum(bound.ratings) / len(bound.ratings) * ELO
