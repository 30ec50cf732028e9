"""One-sided bounds for competitors with all of their points or none: no rating is too high for one that won everything."""

from collections import defaultdict
from collections.abc import Callable
from math import isclose

from arena.stats.bradley_terry import Fit, fit
from arena.stats.likelihood import ONE_IN_TWENTY
from arena.stats.observations import Competitor, Pairings, Table, table_of
from arena.stats.prior import MODEL, Model

ACCURACY = 1e-4
"""The accuracy of a bound, in natural units: 0.02 Elo."""


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
        if high[0] - low[0] < ACCURACY or isclose(low[1], high[1]):
            break
        x = (low[0] * high[1] - high[0] * low[1]) / (high[1] - low[1])
        value = rising(x)
        if abs(value) < ACCURACY**2:
            return x
        if value < 0:
            low, high = (x, value), (high[0], high[1] / 2)
        else:
            low, high = (low[0], low[1] / 2), (x, value)
    return (low[0] + high[0]) / 2
