"""Ratings from rankings, for games of three and more seats: Plackett-Luce, by maximum likelihood, with the prior of all ratings.

R. D. Luce, Individual Choice Behavior, 1959; R. L. Plackett, The Analysis of Permutations, 1975. The winner is chosen among all
with probabilities proportional to exp(rating), the second among the rest, and so on. A tie counts as every order of the tied
competitors in equal shares: the log-likelihood is averaged over these orders; so a draw of two is half a win and half a loss. No
seat has its own term, because every group plays in all orders of seats. Everything except the likelihood comes from
Bradley-Terry: the prior, Newton's method with the ratings' mean held at 0, the sandwich estimator, and Elo about the mean or an
anchor.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import comb
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from arena.errors import ArenaError
from arena.stats.bradley_terry import Fit, place_of
from arena.stats.intervals import Ratings
from arena.stats.newton import Array, Slope, maximise
from arena.stats.observations import Competitor, Ranking
from arena.stats.prior import Model, virtual_games
from arena.stats.sandwich import Sandwich, stratum_of

Cluster: TypeAlias = Sequence[Ranking[Competitor]]
"""The games of one group from one position, in all orders of seats: the counterpart of a pair for two."""

MAX_TIED = 12
"""The most competitors that may tie, because the average over their orders takes every subset of them."""


def fit_rankings(
    rankings: Iterable[Ranking[Competitor]], agents: Iterable[Competitor] | None = None, *, prior: float = 1.0
) -> Fit[Competitor]:
    """The maximum-likelihood ratings, without a first-mover term and without a draw term.

    `agents` gives the order and may name competitors without games; the default is all that are ranked, in the order of the
    rankings. Raises ArenaError if more than 12 tie, a competitor is not in `agents`, or there is no finite fit, which can only
    happen without the prior.
    """
    games = Counter(tuple(map(tuple, ranking)) for ranking in rankings)
    names = tuple(dict.fromkeys(agent for game in games for level in game for agent in level) if agents is None else agents)
    places = {name: k for k, name in enumerate(names)}
    choices = [
        choice._replace(weight=choice.weight * count) for game, count in games.items() for choice in _choices_of(game, places)
    ]
    likelihood, model = _ChoiceLikelihood(choices, range(len(names))), Model(draws=False, first_mover=False, prior=prior)

    def posterior(place: Array) -> Slope:
        plain, virtual = likelihood.slope(place), virtual_games(place, model)
        value = plain.value + float(virtual.value.sum())
        return Slope(value, plain.gradient + virtual.slope, plain.information + np.diag(virtual.information))

    best, slope = maximise(posterior, np.zeros(len(names)), ratings=len(names))
    return Fit(names, tuple(best.tolist()), 0.0, None, model, slope.value, slope.information)


def rate_rankings(
    groups: Mapping[Any, Sequence[Cluster[Competitor]]],
    agents: Iterable[Competitor] | None = None,
    *,
    anchor: Competitor | None = None,
) -> Ratings[Competitor]:
    """Ratings of a field from rankings, with intervals from the sandwich estimator.

    `groups` holds the clusters of each group that meets; each cluster is distinct, with its repeats added to it. Competitors
    without a group of two clusters have no interval. Raises ArenaError as `fit_rankings`, and for an unknown anchor.
    """
    games = [game for clusters in groups.values() for cluster in clusters for game in cluster]
    fitted = fit_rankings(games, agents)
    if anchor is not None:
        place_of(fitted.agents, anchor)
    several = [clusters for clusters in groups.values() if len(clusters) > 1]
    known = frozenset(
        agent for clusters in several for cluster in clusters for game in cluster for level in game for agent in level
    )
    return Ratings(fitted, sandwich_of_rankings(fitted, groups), known, {}, {}, anchor)


def sandwich_of_rankings(fit: Fit[Competitor], groups: Mapping[Any, Sequence[Cluster[Competitor]]]) -> Sandwich:
    """The sandwich of ratings that were fitted to all these rankings; a group's scatter is moderated like a pair's."""
    places = {name: k for k, name in enumerate(fit.agents)}
    ratings = np.array(fit.ratings)
    strata = []
    for clusters in groups.values():
        choices = [(k, choice) for k, cluster in enumerate(clusters) for game in cluster for choice in _choices_of(game, places)]
        involved = sorted({place for _, choice in choices for place in choice.among})
        if not involved:
            continue
        likelihood = _ChoiceLikelihood([choice for _, choice in choices], involved)
        scores = np.zeros((len(clusters), len(involved)))
        np.add.at(scores, [k for k, _ in choices], likelihood.scores(ratings[involved]))
        scatter = likelihood.slope(ratings[involved]).information
        strata.append(stratum_of(involved, scores, scatter, alike=False, parts=len(involved)))
    return Sandwich(fit.ratings, fit.information, strata)


class _Choice(NamedTuple):
    """A choice among some competitors, by their indices, with a weight; each of `chosen` is chosen in an equal share of it."""

    weight: float
    chosen: tuple[int, ...]
    among: tuple[int, ...]


def _choices_of(game: Ranking[Hashable], places: Mapping[Any, int]) -> Iterator[_Choice]:
    """All choices of a game. Of k that tie, each subset of m is the last left of them in one of C(k, m) orders."""
    unknown = [agent for level in game for agent in level if agent not in places]
    if unknown:
        raise ArenaError(f"ratings: expected agents that are rated, one of {', '.join(map(str, places))}; got {unknown[0]!r}")
    levels = [tuple(places[agent] for agent in level) for level in game]
    for k, level in enumerate(levels):
        if len(level) > MAX_TIED:
            raise ArenaError(f"ratings: expected at most {MAX_TIED} agents to tie in one game, got {len(level)}")
        below = tuple(place for later in levels[k + 1 :] for place in later)
        for left in range(1, len(level) + 1):
            for tied in combinations(level, left):
                if len(tied) + len(below) > 1:
                    yield _Choice(1 / comb(len(level), left), tied, tied + below)


class _ChoiceLikelihood:
    """The log-likelihood of many choices as a function of the ratings: a row for every choice, a column for every competitor."""

    def __init__(self, choices: Sequence[_Choice], agents: Sequence[int]) -> None:
        """`agents` are the indices of the competitors, including all that the choices name."""
        column = {agent: k for k, agent in enumerate(agents)}
        self._weights = np.array([choice.weight for choice in choices])[:, None]
        self._chosen = np.zeros((len(choices), len(agents)))
        self._among = np.zeros((len(choices), len(agents)), dtype=bool)
        for row, choice in enumerate(choices):
            self._chosen[row, [column[agent] for agent in choice.chosen]] = 1 / len(choice.chosen)
            self._among[row, [column[agent] for agent in choice.among]] = True

    def scores(self, ratings: Array) -> Array:
        """The slope of the log-likelihood of every choice."""
        scores: Array = self._weights * (self._chosen - self._chances(ratings)[0])
        return scores

    def slope(self, ratings: Array) -> Slope:
        """The log-likelihood of all choices together."""
        chances, log_total = self._chances(ratings)
        value = self._weights[:, 0] @ (self._chosen @ ratings - log_total)
        weighted = self._weights * chances
        return Slope(float(value), self.scores(ratings).sum(axis=0), np.diag(weighted.sum(axis=0)) - weighted.T @ chances)

    def _chances(self, ratings: Array) -> tuple[Array, Array]:
        """The probabilities of all in every choice, and the logarithms of their sums of exp(rating)."""
        logits = np.where(self._among, ratings, -np.inf)
        height = logits.max(axis=1, initial=-np.inf, keepdims=True)  # the largest exponent is subtracted against overflow
        weights = np.exp(logits - height)
        total = weights.sum(axis=1, keepdims=True)
        return weights / total, (height + np.log(total))[:, 0]
