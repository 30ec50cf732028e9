"""Ratings with their 95 % intervals, from pairs of games and never from single games, and the confidence in the order of a field.

From 40 pairs for each pairing the interval comes from a bootstrap (`arena.stats.bootstrap`), below from a sandwich estimator
(`arena.stats.sandwich`). A competitor with all or none of its points has only one bound (`one_sided`). A competitor that did not
meet any other in at least two distinct pairs has none.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic

from arena.stats.bootstrap import Bootstrap, bootstrap
from arena.stats.bradley_terry import Fit, fit, place_of
from arena.stats.elo import ELO
from arena.stats.likelihood import ONE_IN_TWENTY
from arena.stats.newton import find_root
from arena.stats.observations import Competitor, Pair, Pairings, Table, kinds_of, share_equal, table_of
from arena.stats.position_effect import fit_at_spread, fit_positions, sandwich_of_positions
from arena.stats.prior import MODEL, Model
from arena.stats.sandwich import Sandwich, sandwich, sandwich_of_rounds

MIN_BOOTSTRAP_PAIRS = 40
"""The fewest pairs for each pairing at which a bootstrap holds its level; with fewer, its intervals are too narrow."""
BOUND_ACCURACY = 1e-4
"""The accuracy of a one-sided bound, in natural units: 0.02 Elo."""


@dataclass(frozen=True, slots=True)
class Rated(Generic[Competitor]):
    """A rating in Elo. Both bounds are None if nothing is known, and one is None if that side is open."""

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
    """The ratings of a field about its mean, or about the anchor, which has the rating 0."""

    fit: Fit[Competitor]
    spread: Bootstrap | Sandwich
    known: frozenset[Competitor]
    """Competitors with at least two distinct pairs, against any opponents."""
    bounds: Mapping[Competitor, Fit[Competitor]]
    """The fits at the one bound of competitors with all or none of their points."""
    sides: Mapping[Competitor, int]
    """Their side: 1 with all points, -1 with none."""
    anchor: Competitor | None = None

    @property
    def method(self) -> str:
        """The source of the intervals: `bootstrap` or `sandwich`."""
        return self.spread.name

    @property
    def between_pairings(self) -> float:
        """The standard deviation, in natural units, by which pairings differ from the ratings beyond chance; 0 if they do not."""
        return self.spread.between_pairings if isinstance(self.spread, Sandwich) else 0.0

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
            # A sweep bounds the difference on the side of the loser; of two sweeps, the weaker bound counts.
            leads = {1 if one == agent else -1 for one in swept if self.sides[one] > 0}
            leads |= {-1 if one == agent else 1 for one in swept if self.sides[one] < 0}
            at_bounds = [self.bounds[one].elo() for one in swept]
            bounds = [ratings[agent] - ratings[other] for ratings in at_bounds]
            low = min(bounds) if leads == {1} else None
            return Difference(elo, low, max(bounds) if leads == {-1} else None, superiority)
        low, high = self.spread.interval(i, j)
        return Difference(elo, low * ELO, high * ELO, superiority)

    def superiority(self, agent: Competitor, other: Competitor) -> float | None:
        """The likelihood of superiority of `agent` over `other`; None if either has fewer than two distinct pairs."""
        if agent == other or not {agent, other} <= self.known:
            return None
        return self.spread.superiority(place_of(self.fit.agents, agent), place_of(self.fit.agents, other))

    def _rated(self, agent: Competitor, elo: float) -> Rated[Competitor]:
        if agent not in self.known or agent == self.anchor:
            return Rated(agent, elo, None, None)
        if agent in self.bounds:
            # A fit at a bound is about the mean of all others and is shifted back to the mean of the whole field.
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
    openings: bool = True,
) -> Ratings[Competitor]:
    """Ratings of a field from all its pairs of games.

    `pairings` holds every two competitors that met once; each of its pairs is distinct, with its repeats added to it. `rng` seeds
    the bootstrap, which draws `samples` tables. `rounds` holds the same games by rounds, if games of a round share dice and
    deals: then rounds are the clusters. `openings` is False if all pairs begin from one position; otherwise the ratings allow for
    positions that favour a seat (`arena.stats.position_effect`). Raises ArenaError for an unknown anchor, or if there is no
    finite fit, which can only happen without the prior.
    """
    pairings = share_equal(pairings)
    table = table_of(pairings)
    fitted = fit(table, agents, model=model)
    if anchor is not None:
        place_of(fitted.agents, anchor)
    distinct = {seats: sum([count for pair, count in kinds_of(pairs) if pair.games]) for seats, pairs in pairings.items()}
    of_agent: Counter[Competitor] = Counter()
    for seats, count in distinct.items():
        of_agent.update(dict.fromkeys(seats, count))
    known = frozenset([agent for agent, count in of_agent.items() if count > 1])
    sides = {agent: side for agent, side in extremes(table).items() if agent in known}
    if openings and rounds is None:  # luck shared by a round is not an advantage of a position
        fitted = fit_positions(pairings, fitted)
    bounds = {agent: one_sided(pairings, agent, side, fitted) for agent, side in sides.items()}
    if fitted.spread:
        spread: Bootstrap | Sandwich = sandwich_of_positions(fitted, pairings)
    elif rounds is not None and len(pairings) > 1:
        spread = sandwich_of_rounds(fitted, rounds, floor=len(rounds) < MIN_BOOTSTRAP_PAIRS)
    elif min(distinct.values(), default=0) >= MIN_BOOTSTRAP_PAIRS:
        spread = sandwich(fitted, pairings)
        if not spread.between_pairings:
            spread = bootstrap(fitted, pairings, rng, samples=samples)
    else:
        spread = sandwich(fitted, pairings)
    return Ratings(fitted, spread, known, bounds, sides, anchor)


def overlapping(rows: Iterable[Rated[Competitor]]) -> dict[Competitor, tuple[Competitor, ...]]:
    """For every competitor the others with overlapping intervals, so that their order is not certain; an open end overlaps
    everything beyond it.
    """
    listed = list(rows)

    def overlap(one: Rated[Competitor], two: Rated[Competitor]) -> bool:
        orders = (one, two), (two, one)
        return not any(low.high is not None and high.low is not None and low.high < high.low for low, high in orders)

    return {row.agent: tuple(other.agent for other in listed if other is not row and overlap(row, other)) for row in listed}


def extremes(table: Table[Competitor]) -> dict[Competitor, int]:
    """Return the competitors with all of the points (1) or none (-1)."""
    points: dict[Competitor, float] = defaultdict(float)
    games: dict[Competitor, float] = defaultdict(float)
    for (first, second), counts in table.items():
        points[first] += counts.points
        points[second] += counts.games - counts.points
        games[first] += counts.games
        games[second] += counts.games
    return {agent: 1 if points[agent] else -1 for agent in games if games[agent] and points[agent] in {0, games[agent]}}


def one_sided(pairings: Pairings[Competitor], agent: Competitor, side: int, best: Fit[Competitor]) -> Fit[Competitor]:
    """The fit at the one-sided 95 % bound of a competitor with all of its points (`side` 1) or none (-1); about the mean of all
    others.

    The bound is where the profile likelihood (maximised over everything else, the rating held) has fallen to 1 in 20 of its limit
    far out; the competitor's own virtual draw is left out. A pair counts as one observation, however many games it has. For two
    competitors, and pairs for games, this is the bound of C. Clopper and E. Pearson, 1934. `best` is the likeliest fit, whose
    spread of positions is kept.
    """
    others = tuple(name for name in best.agents if name != agent)
    # Far out every game of the competitor is certain, so the limit is the likelihood of all other games.
    among_others = {seats: found for seats, found in pairings.items() if agent not in seats}
    far = _fit_all(among_others, others, best).log_likelihood
    pairs = [pair for seats, found in pairings.items() if agent in seats for pair in found if pair.games]
    target = far - ONE_IN_TWENTY * sum(pair.games for pair in pairs) / len(pairs)
    last: Fit[Competitor] | None = None

    def at(rating: float) -> Fit[Competitor]:
        nonlocal last
        last = _fit_all(pairings, best.agents, best, held={agent: side * rating}, start=last)
        return last

    low, high = -4.0, 4.0
    below, above = at(low).log_likelihood - target, at(high).log_likelihood - target
    while below > 0:
        low, below = 2 * low, at(2 * low).log_likelihood - target
    while above < 0:
        high, above = 2 * high, at(2 * high).log_likelihood - target
    return at(find_root(lambda rating: at(rating).log_likelihood - target, (low, below), (high, above), accuracy=BOUND_ACCURACY))


def _fit_all(
    pairings: Pairings[Competitor],
    agents: tuple[Competitor, ...],
    best: Fit[Competitor],
    *,
    held: Mapping[Competitor, float] | None = None,
    start: Fit[Competitor] | None = None,
) -> Fit[Competitor]:
    """Fit ratings by the model of another fit, with its spread of positions."""
    if best.spread:
        return fit_at_spread(pairings, agents, best.spread, model=best.model, held=held, start=start)
    return fit(table_of(pairings), agents, model=best.model, held=held, start=start)
