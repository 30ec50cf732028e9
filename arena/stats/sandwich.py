"""The uncertainty of ratings, if there are few pairs: the cluster-robust covariance, or sandwich estimator.

The likelihood treats all games as independent, but the two games of a pair are not. So the scatter of the scores of pairs (the
slopes of their log-likelihood) is estimated for every two competitors and transferred to the ratings (K.-Y. Liang and S. L.
Zeger, Longitudinal data analysis using generalized linear models, 1986). Few pairs determine a variance only roughly, so the
quantiles are Student's t with the degrees of freedom of Welch and Satterthwaite.

A few pairs may by chance be far more alike than expected, above all if one side wins nearly all of them, and pairs with equal
results show no scatter at all. So the estimate is shrunk towards the scatter under the fitted model, which counts like four
pairs, and its degrees of freedom grow by four (as in G. Smyth's moderated t, 2004). The estimate is never less than three
quarters of the model's scatter. (In a trial without this rule, with 10 pairs per pairing at a lead of 350 Elo, only 83 % of the
95 % intervals were correct.)
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt

import numpy as np

from arena.stats.bradley_terry import Fit
from arena.stats.distributions import student_cdf, student_quantile
from arena.stats.newton import Array, constrained_inverse
from arena.stats.observations import Competitor, Pair, Pairings, kinds_of
from arena.stats.pairing_spread import ALIKE, Differences, PairingScore
from arena.stats.pairwise_likelihood import PairwiseLikelihood, statistics_of

VIRTUAL_PAIRS = 4
"""The weight of the scatter under the fitted model, as a number of pairs, compared with the estimated scatter."""

MIN_SCATTER_SHARE = 0.75
"""The lower bound of an estimated scatter, as a share of the scatter under the fitted model."""


@dataclass(frozen=True, slots=True)
class Stratum:
    """The contribution of clusters of one kind (the pairs of a pairing) to the covariance of the score."""

    places: list[int]
    """The parameters to which the scores of the clusters belong."""
    scatter: Array
    """The covariance, for these parameters, of the sum of the scores of the clusters."""
    freedom: float
    """Its degrees of freedom; at least 1."""

    def variance(self, row: Array) -> float:
        """Return the contribution to the variance of an estimate, given the row of the estimate in the inverse information."""
        lead = row[self.places]
        return float(lead @ self.scatter @ lead)

    def weighted(self, weight: float) -> "Stratum":
        """Return the contribution of the same clusters if their scores have this weight."""
        return replace(self, scatter=weight**2 * self.scatter)


class Sandwich:
    """The covariance of ratings relative to the mean of the field, in natural units. Competitors are given by their indices."""

    name = "sandwich"

    def __init__(
        self,
        ratings: Sequence[float],
        information: Array,
        strata: Sequence[Stratum],
        pairings: Sequence[PairingScore] = (),
        differences: Differences = ALIKE,
    ) -> None:
        """`strata` come from the games alone; `differences` are additional variances between pairings."""
        self.pairings, self.differences = pairings, differences
        self._ratings, self._information = ratings, information
        strata = [*strata]
        for places, _, slope, _ in pairings:
            if variance := differences.variance(places) * (slope * differences.weight(places)) ** 2:
                scatter = variance * np.array([[1.0, -1.0], [-1.0, 1.0]])
                strata.append(Stratum([*places], scatter, differences.freedom_of(places)))
        self._strata: dict[int, list[Stratum]] = defaultdict(list)
        for stratum in strata:
            for place in stratum.places:
                self._strata[place].append(stratum)
        self._all_strata = strata
        self._freedom: dict[int, float] = {}

    @cached_property
    def _matrices(self) -> tuple[Array, Array]:
        """Return the inverse of the information, and the covariance of the estimates."""
        bread, meat = constrained_inverse(self._information, len(self._ratings)), np.zeros_like(self._information)
        for stratum in self._all_strata:
            meat[np.ix_(stratum.places, stratum.places)] += stratum.scatter
        return bread, bread @ meat @ bread

    def interval(self, agent: int, other: int | None = None) -> tuple[float, float]:
        """Return the 95 % interval of a rating, or of its lead over another rating."""
        middle, error, freedom = self._estimate(agent, other)
        reach = student_quantile(freedom, 0.975) * error
        return middle - reach, middle + reach

    def superiority(self, agent: int, other: int) -> float:
        """Return the likelihood of superiority over another competitor, within [0, 1]."""
        middle, error, freedom = self._estimate(agent, other)
        return student_cdf(freedom, middle / error) if error > 0 else 0.5

    def _estimate(self, agent: int, other: int | None) -> tuple[float, float, float]:
        """Return an estimate, its standard error, and the degrees of freedom of the error."""
        spread = self._matrices[1]
        if other is None:
            return self._ratings[agent], sqrt(max(0.0, spread[agent, agent])), self._freedom_of(agent)
        variance = spread[agent, agent] + spread[other, other] - 2 * spread[agent, other]
        freedom = min(self._freedom_of(agent), self._freedom_of(other))
        return self._ratings[agent] - self._ratings[other], sqrt(max(0.0, variance)), freedom

    def _freedom_of(self, agent: int) -> float:
        """Return the effective degrees of freedom (F. Satterthwaite, 1946) of the variance of a rating.

        They come from the pairings of the competitor itself, because the others add next to nothing to the variance.
        """
        if agent not in self._freedom:
            parts = [(stratum.variance(self._matrices[0][agent]), stratum.freedom) for stratum in self._strata[agent]]
            squares = sum(part * part / freedom for part, freedom in parts)
            self._freedom[agent] = sum(part for part, _ in parts) ** 2 / squares if squares else 1.0
        return self._freedom[agent]


def stratum_of(places: list[int], scores: Array, model: Array, *, alike: bool, parts: int, floor: bool = True) -> Stratum:
    """Return the stratum of clusters with these scores, a row for each; `model` is the scatter under the fitted model.

    If all clusters are `alike`, or if there is only one, they get the scatter of the model. If `floor` is true, an estimate must
    not be too small; this is judged by the variances of the first `parts` parameters.
    """
    freedom = len(scores) - 1
    scatter = model
    if freedom and not alike:
        centred = scores - scores.mean(axis=0)
        estimate = centred.T @ centred * (len(scores) / freedom)
        scatter = (freedom * estimate + VIRTUAL_PAIRS * model) / (freedom + VIRTUAL_PAIRS)
        if floor and scatter.diagonal()[:parts].sum() < MIN_SCATTER_SHARE * model.diagonal()[:parts].sum():
            scatter = MIN_SCATTER_SHARE * model
    return Stratum(places, scatter, freedom + VIRTUAL_PAIRS)


def sandwich(fit: Fit[Competitor], pairings: Pairings[Competitor], differences: Differences = ALIKE) -> Sandwich:
    """Return the sandwich for Bradley-Terry ratings that were fitted to the games of these pairs, weighted by `differences`."""
    terms = range(len(fit.agents), len(fit.information))
    likelihood = PairwiseLikelihood([(0, 1)], 2, fit.model)
    index = {agent: k for k, agent in enumerate(fit.agents)}
    kinds = {seats: [kind for kind in kinds_of(pairs) if kind[0].games] for seats, pairs in pairings.items()}
    played = [([index[one], index[two]], found) for (one, two), found in kinds.items() if found]
    if not played:
        return Sandwich(fit.ratings, fit.information, [])
    # The scores of all kinds of pairs in all pairings at once: each table has the games of one pair.
    sizes = [len(found) for _, found in played]
    place = np.array([[*[fit.ratings[k] for k in seats], *fit.shared] for seats, _ in played])
    everywhere = np.repeat(place, sizes, axis=0)
    known = {id(pair): statistics_of(pair) for _, found in played for pair, _ in found}
    tables = np.array([known[id(pair)] for _, found in played for pair, _ in found]).T[:, :, None]
    times = np.array([count for _, found in played for _, count in found])
    ends = np.cumsum(sizes)
    slopes = likelihood.gradient(everywhere, tables, likelihood.odds(everywhere, tables))
    scores = np.split(np.repeat(slopes, times, axis=0), np.add.reduceat(times, ends - np.array(sizes)).cumsum()[:-1])
    sums = np.add.reduceat(tables * times[:, None], ends - np.array(sizes), axis=1)
    scatters = likelihood.information(place, likelihood.odds(place, sums))
    # Both ratings have the score of the lead, except for the sign, so the variance of the first parameter is sufficient.
    strata, residuals = [], []
    for (seats, found), own, scatter in zip(played, scores, scatters, strict=True):
        stratum = stratum_of([*seats, *terms], own, scatter, alike=len(dict(found)) == 1, parts=1)
        residuals.append(score_pairing((seats[0], seats[1]), own, scatter, stratum))
        strata.append(stratum.weighted(differences.weight(residuals[-1].places)))
    return Sandwich(fit.ratings, fit.information, strata, residuals, differences)


def score_pairing(places: tuple[int, int], scores: Array, model: Array, stratum: Stratum) -> PairingScore:
    """Return the distance of a pairing from the fit, given the scores of its clusters (one row each) and the model's scatter."""
    return PairingScore(places, float(scores[:, 0].sum()), float(model[0, 0]), float(stratum.scatter[0, 0]))


def sandwich_of_rounds(
    fit: Fit[Competitor],
    rounds: Sequence[Mapping[tuple[Competitor, Competitor], Pair]],
    differences: Differences = ALIKE,
    *,
    floor: bool,
) -> Sandwich:
    """Return the sandwich for Bradley-Terry ratings that were fitted to the games of all these rounds, which are the clusters.

    All games of a round share dice and deals. Because of shared dice, a round varies less than independent games would, so
    `floor` should be true only if a few rounds may be alike by chance.
    """
    terms = list(range(len(fit.agents), len(fit.information)))
    index = {agent: k for k, agent in enumerate(fit.agents)}
    met = [(k, seats, pair) for k, pairs in enumerate(rounds) for seats, pair in pairs.items() if pair.games]
    if not met:
        return Sandwich(fit.ratings, fit.information, [])
    games: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, (_, (one, two), _) in enumerate(met):
        games[index[one], index[two]].append(number)
    ends = np.array([[index[agent] for agent in seats] for _, seats, _ in met])
    likelihood = PairwiseLikelihood([(0, 1)], 2, fit.model)
    place = np.column_stack([np.array(fit.ratings)[ends], np.tile(fit.shared, (len(met), 1))])
    tables = np.array([statistics_of(pair) for *_, pair in met]).T[:, :, None]
    odds = likelihood.odds(place, tables)
    slopes, information = likelihood.gradient(place, tables, odds), likelihood.information(place, odds)
    weights = np.ones(len(met))
    for places, played in games.items():
        weights[played] = differences.weight(places)
    scores = np.zeros((len(rounds), len(fit.information)))
    parameters = np.column_stack([ends, np.tile(terms, (len(met), 1))]).astype(np.intp)
    np.add.at(scores, (np.array([k for k, *_ in met])[:, None], parameters), slopes * weights[:, None])
    residuals = []
    for places, played in games.items():
        model = information[played].sum(axis=0)
        stratum = stratum_of([*places, *terms], slopes[played], model, alike=False, parts=1, floor=floor)
        residuals.append(score_pairing(places, slopes[played], model, stratum))
    every = list(range(len(fit.information)))
    stratum = stratum_of(every, scores, fit.information, alike=len(rounds) < 2, parts=len(fit.agents), floor=floor)
    return Sandwich(fit.ratings, fit.information, [stratum], residuals, differences)
