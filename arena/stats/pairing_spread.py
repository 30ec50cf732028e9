"""Estimates differences between pairings (every two competitors that met) that ratings cannot explain, such as cycles of wins.

The lead in a pairing is the difference of two ratings plus a deviation. The variance of the deviation is the sum of two parts,
one for each competitor. Most competitors have the same part. It is estimated from the distances between the leads and their fit
(R. DerSimonian and N. Laird, Meta-analysis in clinical trials, 1986). A competitor whose pairings are significantly further from
the fit has a separate part. So one unusual competitor does not widen the intervals of a whole field.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from arena.stats.distributions import chi_squared_tail
from arena.stats.newton import Array

MIN_FREEDOM = 10
"""The spread is estimated if pairings outnumber free ratings by at least this number, as with six competitors that all meet. With
fewer, the estimate is so rough that every interval would be several times as wide."""
MAX_CHANCE = 0.05
"""If chance alone makes pairings (or competitors) differ this much with at least this probability, they count as alike."""
MAX_ODD_SHARE = 1 / 3
"""The largest share of competitors with a separate part. The others are the standard with which these are compared."""
ITERATIONS = 10
"""The number of times that the separate parts are estimated, each time with weights from the previous estimate."""


class PairingScore(NamedTuple):
    """The difference of the results of one pairing from the fit."""

    places: tuple[int, int]
    """The indices of both competitors."""
    score: float
    """The sum, over its games, of the slopes of the log-likelihood with respect to the lead of the first competitor."""
    information: float
    """The information that its games give about this lead."""
    scatter: float
    """The variance of the score."""


@dataclass(frozen=True, slots=True)
class Differences:
    """The variances of leads that the variance of games does not explain, for leads in log-odds; 0 if chance may explain them."""

    common: float = 0.0
    """The part of each competitor that has no separate part."""
    own: Mapping[int, float] = field(default_factory=dict)
    """The parts of competitors whose pairings differ more than the pairings of others."""
    freedom: float = 1.0
    """The degrees of freedom of the common part."""
    weights: Mapping[tuple[int, int], float] = field(default_factory=dict)
    """The weights of the games of pairings, at most 1. Games that give less information about ratings count less."""

    def variance(self, places: tuple[int, int]) -> float:
        """Return the variance of the lead in a pairing."""
        return sum([self.own.get(place, self.common) for place in places])

    @property
    def spread(self) -> float:
        """Return the standard deviation of the lead between competitors without a separate part."""
        return sqrt(2 * self.common)

    @property
    def own_spreads(self) -> dict[int, float]:
        """Return, for each competitor with a separate part, the standard deviation of its lead over other competitors."""
        return {place: sqrt(part + self.common) for place, part in self.own.items()}

    def weight(self, places: tuple[int, int]) -> float:
        """Return the weight of the games of a pairing."""
        return self.weights.get(places, 1.0)

    def freedom_of(self, places: tuple[int, int]) -> float:
        """Return the degrees of freedom of the variance of a pairing. This is 1 if a competitor has a separate part."""
        return 1.0 if not self.own.keys().isdisjoint(places) else self.freedom


ALIKE = Differences()


def find_differences(pairings: Sequence[PairingScore], competitors: int) -> Differences:
    """Estimate the differences between pairings from their distances to a fit.

    Competitors get a separate part one by one, the most unusual first, as long as the probability that chance alone causes such
    large squared distances is below MAX_CHANCE.
    """
    known = [pairing for pairing in pairings if pairing.scatter > 0 and pairing.information > 0]
    ends = np.array([pairing.places for pairing in known], dtype=np.intp).reshape(-1, 2)
    leads = np.array([pairing.score / pairing.information for pairing in known])
    noise = np.array([pairing.scatter / pairing.information**2 for pairing in known])
    met = np.bincount(ends.ravel(), minlength=competitors)
    own: dict[int, float] = {}
    while True:
        rest = ~np.isin(ends, list(own)).any(axis=1)
        freedom = int(rest.sum()) - len(np.unique(ends[rest])) + 1
        if not own and freedom < MIN_FREEDOM:
            return ALIKE
        distances, remainders = _distances(ends[rest], leads[rest], 1 / noise[rest], competitors)
        total = float((distances**2 / noise[rest]).sum())
        by_chance = chi_squared_tail(freedom, total) > MAX_CHANCE if freedom > 0 else True
        if not own and by_chance:
            return ALIKE
        common = 0.0 if by_chance else max(0.0, total - freedom) / float((remainders / noise[rest]).sum()) / 2
        parts = np.full(competitors, common)
        for _ in range(ITERATIONS if own else 1):
            parts[list(own)] = list(own.values())
            variances = noise + parts[ends].sum(axis=1)
            distances, remainders = _distances(ends, leads, 1 / variances, competitors)
            squares = distances**2 / remainders
            for agent in own:
                mine = (ends == agent).any(axis=1)
                excess = np.average(squares[mine] - variances[mine], weights=variances[mine] ** -2)
                own[agent] = max(common, parts[agent] + float(excess))
        sums = np.bincount(ends.ravel(), weights=np.repeat(squares / variances, 2), minlength=competitors)
        # The distances of the pairings of a competitor have one degree of freedom less than there are pairings, because the
        # rating is fitted.
        tails = {
            agent: chi_squared_tail(int(met[agent]) - 1, sums[agent] * (met[agent] - 1) / met[agent])
            for agent in range(competitors)
            if met[agent] > 2 and agent not in own
        }
        oddest = min(tails, key=tails.__getitem__)
        if tails[oddest] * competitors > MAX_CHANCE or len(own) + 1 > MAX_ODD_SHARE * competitors:
            break
        own[oddest] = common
    # All pairings share the common part, so its degrees of freedom are divided among the pairings of a competitor.
    found = Differences(common, own, max(1, freedom) / max(1.0, 2 * len(known) / competitors))
    shares = noise / (noise + [found.variance(pairing.places) for pairing in known])
    return replace(found, weights={one.places: float(share) for one, share in zip(known, shares / shares.max(), strict=True)})


def _distances(ends: "np.ndarray[Any, np.dtype[np.intp]]", leads: Array, weights: Array, competitors: int) -> tuple[Array, Array]:
    """Return the residuals of leads from least-squares ratings, and the share of each lead's variance that is left in them."""
    one, two = ends.T
    laplacian, right = np.zeros((competitors, competitors)), np.zeros(competitors)
    for i, j, sign in ((one, one, 1), (two, two, 1), (one, two, -1), (two, one, -1)):
        np.add.at(laplacian, (i, j), sign * weights)
    np.add.at(right, one, weights * leads)
    np.add.at(right, two, -weights * leads)
    inverse = np.linalg.pinv(laplacian, hermitian=True)
    ratings = inverse @ right
    leverage = weights * (inverse[one, one] + inverse[two, two] - 2 * inverse[one, two])
    return leads - ratings[one] + ratings[two], np.maximum(1 - leverage, 0.05)  # would be 0 if a competitor has only one pairing
