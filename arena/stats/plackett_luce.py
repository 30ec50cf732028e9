"""Ratings from rankings, for games of three and more seats: Plackett-Luce, by maximum likelihood, with the prior of all ratings.

R. D. Luce, Individual Choice Behavior, 1959; R. L. Plackett, The Analysis of Permutations, 1975. The winner is chosen among all
with chances proportional to exp(rating), the second among the rest, and so on. Agents that tie count as every order of theirs in
equal shares: the logarithm of the likelihood is averaged over these orders; so a draw of two is half a win and half a loss. No
seat has a term of its own, since every group of agents plays in all orders of seats. What a game shares with Bradley-Terry's is
everything but the likelihood itself: the prior, Newton's method with the ratings' mean held at 0, the sandwich, and Elo about the
mean or an anchor.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import comb, exp, log
from typing import NamedTuple, TypeAlias

from arena.errors import ArenaError
from arena.stats.bradley_terry import Fit, place_of
from arena.stats.intervals import Ratings
from arena.stats.newton import Matrix, Slope, maximise
from arena.stats.prior import virtual_draw
from arena.stats.sandwich import VIRTUAL_PAIRS, Sandwich, Stratum, moderated, scatter_of

Ranking: TypeAlias = Sequence[Sequence[str]]
"""The agents of one game, the best first, those that tie together: [["a"], ["b", "c"]]. Nobody stands there twice."""

Cluster: TypeAlias = Sequence[Ranking]
"""The games of one group from one position, in all orders of seats: what a pair is for two."""

MOST_TIED = 12
"""How many may tie: every set of them is looked at."""


def ranking_of(returns: Mapping[str, float]) -> tuple[tuple[str, ...], ...]:
    """The ranking of one game by what each agent got, higher being better.

    >>> ranking_of({"a": 0.0, "b": 1.0, "c": 0.0})
    (('b',), ('a', 'c'))
    """
    levels = sorted(set(returns.values()), reverse=True)
    return tuple(tuple(agent for agent, got in returns.items() if got == level) for level in levels)


def fit_rankings(rankings: Iterable[Ranking], agents: Iterable[str] | None = None, *, prior: float = 1.0) -> Fit:
    """The ratings that make the rankings likeliest, with no first-mover term and no draws of their own.

    `agents` gives the order and names those without games too; by default all that are ranked, sorted. Raises ArenaError where
    more than 12 tie, an agent is not in `agents`, or there is no finite fit, which takes the prior to be off.
    """
    games = [[tuple(level) for level in ranking] for ranking in rankings]
    names = tuple(sorted({agent for game in games for level in game for agent in level}) if agents is None else agents)
    places = {name: k for k, name in enumerate(names)}
    stages = [stage for game in games for stage in _stages(game, places)]

    def slope(place: Sequence[float]) -> Slope:
        return _slope(place, stages, prior)

    best = maximise(slope, [0.0] * len(names), ratings=len(names))
    return Fit(names, tuple(best.place), 0.0, None, best.slope.value, best.slope.information)


def rate_rankings(
    groups: Mapping[Hashable, Sequence[Cluster]],
    agents: Iterable[str] | None = None,
    *,
    anchor: str | None = None,
    prior: float = 1.0,
) -> Ratings:
    """Rate a field by rankings, with the intervals of a sandwich.

    `groups` holds for each group of agents who meet its clusters, of which each is a distinct one, its repeats added to it.
    Agents without a group that has two have no interval. Raises ArenaError as `fit_rankings`, and where the anchor is no agent.
    """
    games = [game for clusters in groups.values() for cluster in clusters for game in cluster]
    fitted = fit_rankings(games, agents, prior=prior)
    if anchor is not None:
        place_of(fitted.agents, anchor)
    several = [clusters for clusters in groups.values() if len(clusters) > 1]
    known = frozenset(
        agent for clusters in several for cluster in clusters for game in cluster for level in game for agent in level
    )
    return Ratings(fitted, sandwich_of_rankings(fitted, groups), known, {}, {}, anchor)


def sandwich_of_rankings(fit: Fit, groups: Mapping[Hashable, Sequence[Cluster]]) -> Sandwich:
    """The spread of ratings that were fitted to all these rankings, each group's mixed with the model's, as that of pairs is."""
    places = {name: k for k, name in enumerate(fit.agents)}
    strata = []
    for clusters in groups.values():
        stages = [[stage for game in cluster for stage in _stages(game, places)] for cluster in clusters]
        involved = sorted({place for cluster in stages for stage in cluster for place in stage.among})
        if not involved:
            continue
        model = _slope(fit.ratings, [stage for cluster in stages for stage in cluster], 0.0).information
        scatter = [[model[one][two] for two in involved] for one in involved]
        if len(clusters) > 1:
            scores = [_slope(fit.ratings, cluster, 0.0).gradient for cluster in stages]
            measured = scatter_of([tuple(score[place] for place in involved) for score in scores])
            scatter = moderated(measured, scatter, len(clusters), parts=len(involved))
        weights = tuple(involved), (1.0,) * len(involved), tuple(range(len(involved)))
        strata.append(Stratum(weights, scatter, len(clusters) - 1 + VIRTUAL_PAIRS))
    return Sandwich(fit.ratings, fit.information, strata)


class _Stage(NamedTuple):
    """A choice among some agents, by their places, which counts `weight`; each of `chosen` is chosen `1 / len(chosen)` of it."""

    weight: float
    chosen: tuple[int, ...]
    among: tuple[int, ...]


def _stages(game: Ranking, places: Mapping[str, int]) -> Iterator[_Stage]:
    """All choices of a game: of k that tie, each m are the last left of them in one of C(k, m) orders."""
    unknown = [agent for level in game for agent in level if agent not in places]
    if unknown:
        raise ArenaError(f"ratings: expected agents that are rated, one of {', '.join(places)}; got {unknown[0]!r}")
    levels = [tuple(places[agent] for agent in level) for level in game]
    for k, level in enumerate(levels):
        if len(level) > MOST_TIED:
            raise ArenaError(f"ratings: expected at most {MOST_TIED} agents to tie in one game, got {len(level)}")
        below = tuple(place for later in levels[k + 1 :] for place in later)
        for left in range(1, len(level) + 1):
            for tied in combinations(level, left):
                if len(tied) + len(below) > 1:
                    yield _Stage(1 / comb(len(level), left), tied, tied + below)


def _slope(place: Sequence[float], stages: Iterable[_Stage], prior: float) -> Slope:
    terms = [virtual_draw(x) for x in place]
    value = prior * sum(term.value for term in terms)
    gradient = [prior * term.slope for term in terms]
    information: Matrix = [[0.0] * len(place) for _ in place]
    for k, term in enumerate(terms):
        information[k][k] = prior * term.information
    for stage in stages:
        chances, chosen = _chances(place, stage)
        value += chosen
        for one, p in chances:
            gradient[one] -= stage.weight * p
            row = information[one]
            row[one] += stage.weight * p
            for two, q in chances:
                row[two] -= stage.weight * p * q
        for one in stage.chosen:
            gradient[one] += stage.weight / len(stage.chosen)
    return Slope(value, gradient, information)


def _chances(place: Sequence[float], stage: _Stage) -> tuple[list[tuple[int, float]], float]:
    """The chances of all in a stage, and what the stage adds to the logarithm of the likelihood."""
    height = max(place[k] for k in stage.among)
    weights = [exp(place[k] - height) for k in stage.among]
    total = sum(weights)
    mean = sum(place[k] for k in stage.chosen) / len(stage.chosen)
    chances = [(k, weight / total) for k, weight in zip(stage.among, weights, strict=True)]
    return chances, stage.weight * (mean - height - log(total))
