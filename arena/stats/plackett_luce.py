"""Ratings from rankings, for games with three or more seats: the Plackett-Luce model, with maximum likelihood and a prior.

R. D. Luce, Individual Choice Behavior, 1959; R. L. Plackett, The Analysis of Permutations, 1975. In this model, the winner is
drawn from all competitors with probabilities proportional to exp(rating), the second from the rest, and so on. For a tie, the
log-likelihood is averaged over all orders of the tied competitors, so a draw between two is half a win and half a loss. There are
no terms for seats, because groups play in all orders of seats. Everything except the likelihood comes from Bradley-Terry: the
prior, Newton's method with the mean of the ratings held at 0, the sandwich estimator, and Elo relative to the mean or an anchor.
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
"""The games of one group from one position, in all orders of seats. It corresponds to a pair of games of two competitors."""

MAX_TIED = 12
"""The largest number of competitors that may tie. The average over their orders visits every subset of them."""


def fit_rankings(
    rankings: Iterable[Ranking[Competitor]], agents: Iterable[Competitor] | None = None, *, prior: float = 1.0
) -> Fit[Competitor]:
    """Return the maximum-likelihood ratings, without a first-mover term and without a draw term.

    `agents` sets the order and may include competitors without games; the default is all competitors in the order of the
    rankings. Raises ArenaError if more than 12 competitors tie, if a competitor is not in `agents`, or if there is no finite fit,
    which can only happen without the prior.
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
    """Return ratings of a field from rankings, with intervals from the sandwich estimator.

    `groups` has the clusters of each group that met. If a group plays exactly the same games again, these are not another
    cluster; they are added to the first cluster with these games. Competitors in no group with two or more clusters have no
    interval. Raises ArenaError like `fit_rankings`, and for an unknown anchor.
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
    """Return the sandwich for ratings fitted to these rankings. `arena.stats.sandwich` says how the scatter is shrunk."""
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
    """A choice among some competitors, given by their indices, with a weight. Each of `chosen` is chosen with an equal share."""

    weight: float
    chosen: tuple[int, ...]
    among: tuple[int, ...]


def _choices_of(game: Ranking[Hashable], places: Mapping[Any, int]) -> Iterator[_Choice]:
    """Yield all choices in a game. If k competitors tie, any m of them hold the last m places with probability 1 / C(k, m)."""
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
        """`agents` are the indices of the competitors, including all competitors in the choices."""
        column = {agent: k for k, agent in enumerate(agents)}
        self._weights = np.array([choice.weight for choice in choices])[:, None]
        self._chosen = np.zeros((len(choices), len(agents)))
        self._among = np.zeros((len(choices), len(agents)), dtype=bool)
        for row, choice in enumerate(choices):
            self._chosen[row, [column[agent] for agent in choice.chosen]] = 1 / len(choice.chosen)
            self._among[row, [column[agent] for agent in choice.among]] = True

    def scores(self, ratings: Array) -> Array:
        """Return, for every choice, the gradient of its log-likelihood."""
        scores: Array = self._weights * (self._chosen - self._chances(ratings)[0])
        return scores

    def slope(self, ratings: Array) -> Slope:
        """Return the log-likelihood of all choices together, with its gradient and its information."""
        chances, log_total = self._chances(ratings)
        value = self._weights[:, 0] @ (self._chosen @ ratings - log_total)
        weighted = self._weights * chances
        return Slope(float(value), self.scores(ratings).sum(axis=0), np.diag(weighted.sum(axis=0)) - weighted.T @ chances)

    def _chances(self, ratings: Array) -> tuple[Array, Array]:
        logits = np.where(self._among, ratings, -np.inf)
        height = logits.max(axis=1, initial=-np.inf, keepdims=True)  # subtracted to prevent overflow
        weights = np.exp(logits - height)
        total = weights.sum(axis=1, keepdims=True)
        return weights / total, (height + np.log(total))[:, 0]
