"""Ratings with 95 % intervals, from pairs of games instead of single games, and how certain the order of competitors is.

If every two competitors that met (a *pairing*) have at least 40 pairs of games, intervals come from a bootstrap
(`arena.stats.bootstrap`), otherwise from a sandwich estimator (`arena.stats.sandwich`). A competitor that won or lost every game
has only one bound (`one_sided`). A competitor with fewer than two distinct pairs has no interval.
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
from arena.stats.observations import Competitor, Pair, Pairings, Table, kinds_of, share_equal, table_of, weigh
from arena.stats.pairing_spread import ALIKE, Differences, find_differences
from arena.stats.position_effect import fit_at_spread, fit_positions, sandwich_of_positions
from arena.stats.prior import MODEL, Model
from arena.stats.sandwich import Sandwich, sandwich, sandwich_of_rounds

MIN_BOOTSTRAP_PAIRS = 40
"""The smallest number of pairs per pairing for a bootstrap. With fewer pairs, its intervals would be too narrow."""
BOUND_ACCURACY = 1e-4
"""The accuracy of a one-sided bound in natural units; 0.02 Elo."""


@dataclass(frozen=True, slots=True)
class Rated(Generic[Competitor]):
    """A rating in Elo. Both bounds are None if nothing is known; one is None if the interval is open on that side."""

    agent: Competitor
    elo: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Difference:
    """The lead of one rating over another in Elo, with its 95 % interval and the likelihood of superiority."""

    elo: float
    low: float | None
    high: float | None
    superiority: float | None


@dataclass(frozen=True)
class Ratings(Generic[Competitor]):
    """Ratings relative to their mean, or to the anchor, whose rating is 0."""

    fit: Fit[Competitor]
    spread: Bootstrap | Sandwich
    known: frozenset[Competitor]
    """Competitors with at least two distinct pairs, against any opponents."""
    bounds: Mapping[Competitor, Fit[Competitor]]
    """For each competitor that won or lost every game, the fit at its only bound."""
    sides: Mapping[Competitor, int]
    """For the same competitors: 1 if they won every game, -1 if they lost every game."""
    anchor: Competitor | None = None

    @property
    def method(self) -> str:
        """How the intervals were computed: `bootstrap` or `sandwich`."""
        return self.spread.name

    @property
    def differences(self) -> Differences:
        """The variances of leads that the variance of games does not explain."""
        return self.spread.differences if isinstance(self.spread, Sandwich) else ALIKE

    @cached_property
    def rows(self) -> tuple[Rated[Competitor], ...]:
        """Return all competitors, the best first. Equal competitors stay in their order."""
        elo = self.fit.elo(self.anchor)
        return tuple(sorted((self._rated(agent, elo[agent]) for agent in self.fit.agents), key=lambda row: -row.elo))

    def difference(self, agent: Competitor, other: Competitor) -> Difference:
        """Return the lead of `agent` over `other`. It has only one bound if one of them won or lost every game, or if one won and
        the other lost every game (then the weaker of two bounds). It has none if both won, or both lost, every game.
        """
        i, j = place_of(self.fit.agents, agent), place_of(self.fit.agents, other)
        elo = (self.fit.ratings[i] - self.fit.ratings[j]) * ELO
        if i == j or not {agent, other} <= self.known:
            return Difference(elo, None, None, None)
        superiority = self.spread.superiority(i, j)
        swept = [one for one in (agent, other) if one in self.bounds]
        if swept:
            leads = {1 if one == agent else -1 for one in swept if self.sides[one] > 0}
            leads |= {-1 if one == agent else 1 for one in swept if self.sides[one] < 0}
            at_bounds = [self.bounds[one].elo() for one in swept]
            bounds = [ratings[agent] - ratings[other] for ratings in at_bounds]
            low = min(bounds) if leads == {1} else None
            return Difference(elo, low, max(bounds) if leads == {-1} else None, superiority)
        low, high = self.spread.interval(i, j)
        return Difference(elo, low * ELO, high * ELO, superiority)

    def superiority(self, agent: Competitor, other: Competitor) -> float | None:
        """Return the likelihood that `agent` is better than `other`; None if either has fewer than two distinct pairs."""
        if agent == other or not {agent, other} <= self.known:
            return None
        return self.spread.superiority(place_of(self.fit.agents, agent), place_of(self.fit.agents, other))

    def _rated(self, agent: Competitor, elo: float) -> Rated[Competitor]:
        if agent not in self.known or agent == self.anchor:
            return Rated(agent, elo, None, None)
        if agent in self.bounds:
            # A fit at a bound is relative to the mean of all others; it is shifted back to the mean of all.
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
    """Return the ratings of competitors from all their pairs of games.

    `pairings` has a list of pairs of games for every two competitors that met. Repeated games are not another pair; they are
    added to the pair that they repeat. `rng` seeds the bootstrap, which draws `samples` tables. If the games of a round share
    dice and deals, `rounds` has the same games by round, and rounds are the clusters. `openings` is False if all pairs begin from
    one position; otherwise the ratings allow for positions that favour a seat (`arena.stats.position_effect`). Raises ArenaError
    for an unknown anchor, or if there is no finite fit, which can only happen without the prior.
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
    if openings and rounds is None:  # shared dice of a round do not count as an advantage of its position
        fitted = fit_positions(pairings, fitted)

    def measure(differences: Differences = ALIKE) -> Sandwich:
        if fitted.spread:
            return sandwich_of_positions(fitted, pairings, differences)
        if rounds is not None and len(pairings) > 1:
            return sandwich_of_rounds(fitted, rounds, differences, floor=len(rounds) < MIN_BOOTSTRAP_PAIRS)
        return sandwich(fitted, pairings, differences)

    plain = measure()
    spread: Bootstrap | Sandwich = plain
    differences, weighted = find_differences(plain.pairings, len(fitted.agents)), pairings
    if differences is not ALIKE:
        places = {agent: k for k, agent in enumerate(fitted.agents)}
        weighted = weigh(pairings, lambda seats: differences.weight((places[seats[0]], places[seats[1]])))
        fitted = _fit_all(weighted, fitted.agents, fitted)
        spread = measure(differences)
    elif not fitted.spread and rounds is None and min(distinct.values(), default=0) >= MIN_BOOTSTRAP_PAIRS:
        spread = bootstrap(fitted, pairings, rng, samples=samples)
    bounds = {agent: one_sided(weighted, agent, side, fitted) for agent, side in sides.items()}
    return Ratings(fitted, spread, known, bounds, sides, anchor)


def overlapping(rows: Iterable[Rated[Competitor]]) -> dict[Competitor, tuple[Competitor, ...]]:
    """Return, for each competitor, the others whose intervals overlap with its own, so that their order is not certain.

    An open end overlaps everything beyond it.
    """
    listed = list(rows)

    def overlap(one: Rated[Competitor], two: Rated[Competitor]) -> bool:
        orders = (one, two), (two, one)
        return not any(low.high is not None and high.low is not None and low.high < high.low for low, high in orders)

    return {row.agent: tuple(other.agent for other in listed if other is not row and overlap(row, other)) for row in listed}


def extremes(table: Table[Competitor]) -> dict[Competitor, int]:
    """Return the competitors that won every game (1) or lost every game (-1)."""
    points: dict[Competitor, float] = defaultdict(float)
    games: dict[Competitor, float] = defaultdict(float)
    for (first, second), counts in table.items():
        points[first] += counts.points
        points[second] += counts.games - counts.points
        games[first] += counts.games
        games[second] += counts.games
    return {agent: 1 if points[agent] else -1 for agent in games if games[agent] and points[agent] in {0, games[agent]}}


def one_sided(pairings: Pairings[Competitor], agent: Competitor, side: int, best: Fit[Competitor]) -> Fit[Competitor]:
    """Return the fit at the one-sided 95 % bound for a competitor that won every game (`side` 1) or lost every game (-1).

    The profile likelihood is maximised over everything but the rating of the competitor. At the bound, this likelihood is 1/20 of
    its limit for extreme ratings. The prior of this competitor, a virtual draw (`arena.stats.prior`), is left out. A pair counts
    as one observation, however many games it has. For two competitors, with pairs as games, this is the bound of C. Clopper and
    E. Pearson, 1934. `best` is the likeliest fit; its spread of positions is kept. The fit is relative to the mean of all others.
    """
    others = tuple(name for name in best.agents if name != agent)
    # For extreme ratings, every game of the competitor is certain, so the limit is the likelihood of all other games.
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
    if best.spread:
        return fit_at_spread(pairings, agents, best.spread, model=best.model, held=held, start=start)
    return fit(table_of(pairings), agents, model=best.model, held=held, start=start)
