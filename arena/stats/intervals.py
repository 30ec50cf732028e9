"""Ratings with their 95 % intervals, from pairs of games and never from single ones, and the confidence in the order of a field.

From 40 pairs a pairing up the interval is a bootstrap's (`arena.stats.bootstrap`), below it a sandwich estimator's
(`arena.stats.sandwich`); a competitor with all or none of its points has one bound alone (`one_sided`). One that did
not meet any one other in at least two distinct pairs has none.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isclose
from typing import Generic

from arena.stats.bootstrap import Bootstrap, bootstrap
from arena.stats.bradley_terry import Fit, fit, place_of
from arena.stats.elo import ELO
from arena.stats.likelihood import ONE_IN_TWENTY
from arena.stats.observations import Competitor, Pair, Pairings, Table, kinds_of, table_of
from arena.stats.prior import MODEL, Model
from arena.stats.sandwich import Sandwich, sandwich, sandwich_of_rounds

MIN_BOOTSTRAP_PAIRS = 40
"""The least number of pairs a pairing at which a bootstrap holds its level; below, its intervals are too narrow."""
BOUND_ACCURACY = 1e-4
"""The accuracy of a one-sided bound, in natural units: 0.02 Elo."""


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
        """The lead of `agent` over `other`; one bound if either has all of its points or none, and no bound if both have all."""
        i, j = place_of(self.fit.agents, agent), place_of(self.fit.agents, other)
        elo = (self.fit.ratings[i] - self.fit.ratings[j]) * ELO
        if i == j or not {agent, other} <= self.known:
            return Difference(elo, None, None, None)
        superiority = self.spread.superiority(i, j)
        swept = [one for one in (agent, other) if one in self.bounds]
        if swept:
            # A sweep bounds the difference on the side of the loser; of two sweeps the bound that says less counts.
            leads = {1 if one == agent else -1 for one in swept if self.sides[one] > 0}
            leads |= {-1 if one == agent else 1 for one in swept if self.sides[one] < 0}
            at_bounds = [self.bounds[one].elo() for one in swept]
            bounds = [ratings[agent] - ratings[other] for ratings in at_bounds]
            low = min(bounds) if leads == {1} else None
            return Difference(elo, low, max(bounds) if leads == {-1} else None, superiority)
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
            fit_at_bound = self.bounds[agent]
            bound = fit_at_bound.elo(self.anchor)[agent]
            if self.anchor is None:
                bound -= sum(fit_at_bound.ratings) / len(fit_at_bound.ratings) * ELO
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
        spread: Bootstrap | Sandwich = sandwich_of_rounds(fitted, rounds, floor=len(rounds) < MIN_BOOTSTRAP_PAIRS)
    elif min((_distinct(pairs) for pairs in pairings.values()), default=0) >= MIN_BOOTSTRAP_PAIRS:
        spread = bootstrap(fitted, pairings, rng, samples=samples)
    else:
        spread = sandwich(fitted, pairings)
    return Ratings(fitted, spread, known, bounds, sides, anchor)


def overlapping(rows: Iterable[Rated[Competitor]]) -> dict[Competitor, tuple[Competitor, ...]]:
    """For every competitor the others whose intervals overlap its own, so that their order is not certain; an open end overlaps
    everything beyond it.
    """
    listed = list(rows)

    def overlap(one: Rated[Competitor], two: Rated[Competitor]) -> bool:
        orders = (one, two), (two, one)
        return not any(low.high is not None and high.low is not None and low.high < high.low for low, high in orders)

    return {row.agent: tuple(other.agent for other in listed if other is not row and overlap(row, other)) for row in listed}


def _distinct(pairs: Sequence[Pair]) -> int:
    return sum(count for pair, count in kinds_of(pairs) if pair.games)


def extremes(table: Table[Competitor]) -> dict[Competitor, int]:
    """Those with all of the points (1) or none (-1)."""
    points: dict[Competitor, float] = defaultdict(float)
    games: dict[Competitor, float] = defaultdict(float)
    for (first, second), counts in table.items():
        points[first] += counts.points
        points[second] += counts.games - counts.points
        games[first] += counts.games
        games[second] += counts.games
    return {agent: 1 if points[agent] else -1 for agent in games if games[agent] and points[agent] in {0, games[agent]}}


def one_sided(
    pairings: Pairings[Competitor], agent: Competitor, side: int, agents: tuple[Competitor, ...], *, model: Model = MODEL
) -> Fit[Competitor]:
    """The fit at the one-sided 95 % bound of a competitor with all of its points (`side` 1) or none (-1); about the mean of all
    others.

    The bound is where the profile likelihood (maximised over everything else, the rating held) has fallen to 1 in 20 of its limit
    far out; the competitor's own virtual draw is left out. A pair counts as one observation, however many games it has. For two
    competitors, and pairs for games, this is the bound of C. Clopper and E. Pearson, 1934.
    """
    table = table_of(pairings)
    others = tuple(name for name in agents if name != agent)
    # Far out every game of the competitor is certain, so the limit is the likelihood of all other games.
    far = fit({seats: counts for seats, counts in table.items() if agent not in seats}, others, model=model).log_likelihood
    pairs = [pair for seats, found in pairings.items() if agent in seats for pair in found if pair.games]
    target = far - ONE_IN_TWENTY * sum(pair.games for pair in pairs) / len(pairs)
    last: Fit[Competitor] | None = None

    def at(rating: float) -> Fit[Competitor]:
        nonlocal last
        last = fit(table, agents, model=model, held={agent: side * rating}, start=last)
        return last

    low, high = -4.0, 4.0
    below, above = at(low).log_likelihood - target, at(high).log_likelihood - target
    while below > 0:
        low, below = 2 * low, at(2 * low).log_likelihood - target
    while above < 0:
        high, above = 2 * high, at(2 * high).log_likelihood - target
    return at(_root(lambda rating: at(rating).log_likelihood - target, (low, below), (high, above)))


def _root(rising: Callable[[float], float], low: tuple[float, float], high: tuple[float, float]) -> float:
    """The root between two places, given with their values, by false position with the Illinois rule: the stale end's value is
    halved.

    Every value takes a fit, so a tenth of the evaluations of a bisection matters; `scipy.optimize` would cost every leaderboard
    a quarter of a second for its import.
    """
    for _ in range(100):
        if high[0] - low[0] < BOUND_ACCURACY or isclose(low[1], high[1]):
            break
        x = (low[0] * high[1] - high[0] * low[1]) / (high[1] - low[1])
        value = rising(x)
        if abs(value) < BOUND_ACCURACY**2:
            return x
        if value < 0:
            low, high = (x, value), (high[0], high[1] / 2)
        else:
            low, high = (low[0], low[1] / 2), (x, value)
    return (low[0] + high[0]) / 2
