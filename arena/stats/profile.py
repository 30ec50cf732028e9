"""Bounds for agents that won, or lost, all their points: no rating is too high for one that won everything, so one bound alone
exists.
"""

from collections.abc import Callable
from math import isclose

from arena.stats.bradley_terry import MODEL, Fit, Model, fit
from arena.stats.likelihood import ONE_IN_TWENTY
from arena.stats.pairs import Pairings, Table, table_of

ACCURACY = 1e-4
"""Of a bound, in natural units: 0.02 Elo."""


def extreme(table: Table, agent: str) -> int:
    """1 for an agent with all of the points, -1 for one with none, else 0."""
    points = games = 0.0
    for (first, second), tally in table.items():
        if agent in {first, second}:
            games += tally.games
            points += tally.points if agent == first else tally.games - tally.points
    if not games or 0 < points < games:
        return 0
    return 1 if points else -1


def one_sided(pairings: Pairings, agent: str, agents: tuple[str, ...], *, model: Model = MODEL) -> Fit:
    """The fit at the one bound, at 95 %, of an agent that won all its points or none; about the mean of all others.

    The bound is where the profile likelihood, the largest over everything else with the agent's rating held, has fallen to one in
    twenty of what it approaches far out; the agent's own virtual draw is left out. A pair counts as one observation, however many
    games it has. For two agents, and pairs for games, this is the bound of C. Clopper and E. Pearson, 1934.
    """
    table = table_of(pairings)
    side = extreme(table, agent)
    others = tuple(name for name in agents if name != agent)
    far = fit({seats: tally for seats, tally in table.items() if agent not in seats}, others, model=model).log_likelihood
    pairs = [pair for seats, found in pairings.items() if agent in seats for pair in found if pair.games]
    target = far - ONE_IN_TWENTY * sum(pair.games for pair in pairs) / len(pairs)

    def at(rating: float) -> Fit:
        return fit(table, agents, model=model, held={agent: side * rating})

    low, high = -4.0, 4.0
    below, above = at(low).log_likelihood - target, at(high).log_likelihood - target
    while below > 0:
        low, below = 2 * low, at(2 * low).log_likelihood - target
    while above < 0:
        high, above = 2 * high, at(2 * high).log_likelihood - target
    return at(_root(at, target, (low, below), (high, above)))


def _root(at: Callable[[float], Fit], target: float, low: tuple[float, float], high: tuple[float, float]) -> float:
    """Where the likelihood reaches the target, by false position with the stale end's value halved (the Illinois rule)."""
    for _ in range(100):
        if high[0] - low[0] < ACCURACY or isclose(low[1], high[1]):
            break
        x = (low[0] * high[1] - high[0] * low[1]) / (high[1] - low[1])
        value = at(x).log_likelihood - target
        if abs(value) < ACCURACY**2:
            return x
        if value < 0:
            low, high = (x, value), (high[0], high[1] / 2)
        else:
            low, high = (low[0], low[1] / 2), (x, value)
    return (low[0] + high[0]) / 2
