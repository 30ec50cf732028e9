"""The games from which ratings learn most: sequential A-optimal design for Bradley-Terry with draws.

A pair of games between i and j adds w (e_i - e_j)(e_i - e_j)' to the information about the ratings, with w the variance of its
score under the fit. With C the covariance of all leads over the anchor, that lowers the variances of some of them, summed up, by

    w |C_U (e_i - e_j)|^2 / (1 + w (e_i - e_j)' C (e_i - e_j)),

C_U the rows of these (J. Sherman and W. J. Morrison, 1950). The pair with the largest fall comes first: A-optimality, one run at
a time under the current fit (V. V. Fedorov, Theory of Optimal Experiments, 1972; for paired comparisons U. Grasshoff,
H. Grossmann, H. Holling and R. Schwabe, Optimal design for Bradley-Terry models, 2008). A-optimal and not D-optimal, since what
is asked for is the width of every interval about the anchor, and not the volume of all of them together.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from arena.stats.bradley_terry import Fit
from arena.stats.newton import Array

MAX_SEAT_SHARE = 0.5
"""The largest share of the pairs of one plan that a single competitor may have a seat in, where others are left."""


def next_pairs(
    fit: Fit[Any],
    anchor: int,
    wanted: Collection[int],
    playing: Sequence[int],
    count: int,
    exhausted: Collection[tuple[int, int]] = (),
) -> list[tuple[int, int]]:
    """Return the `count` pairs of competitors whose games lower the variance of the leads of the `wanted` over the anchor most.

    Competitors are indices of the fit; both of a pair are among the `playing`, the smaller index first. Each pair is chosen as if
    those before it had been played. No competitor is in more than half of them where that can be. The games of `exhausted` pairs
    tell nothing new. Empty where nothing is left to learn.
    """
    if len(playing) < 2 or not wanted:
        return []
    covariance = _leads(fit, anchor)
    weights = _weights(fit)
    active = np.array(sorted(playing))
    rows = np.array(sorted(wanted))
    most = max(1, int(count * MAX_SEAT_SHARE)) if len(playing) > 2 else count
    barred = np.tri(len(active), dtype=bool)
    place = {int(agent): k for k, agent in enumerate(active)}
    for i, j in exhausted:
        if i in place and j in place:
            barred[tuple(sorted((place[i], place[j])))] = True
    chosen: list[tuple[int, int]] = []
    seats: Counter[int] = Counter()
    for _ in range(count):
        falls = _falls(covariance, weights, rows)[np.ix_(active, active)]
        falls[barred] = -np.inf
        if not (falls > 0).any():
            break
        full = [k for k, agent in enumerate(active) if seats[int(agent)] >= most]
        eased = falls.copy()
        eased[full, :] = eased[:, full] = -np.inf
        falls = eased if (eased > 0).any() else falls
        i, j = (int(active[k]) for k in np.unravel_index(int(np.argmax(falls)), falls.shape))
        chosen.append((i, j))
        seats.update((i, j))
        step = covariance[i] - covariance[j]
        covariance = covariance - weights[i, j] / (1 + weights[i, j] * (step[i] - step[j])) * np.outer(step, step)
    return chosen


def _leads(fit: Fit[Any], anchor: int) -> Array:
    """The covariance of the leads over the anchor, in natural units; its own row and column are zero."""
    agents = len(fit.agents)
    others = [k for k in range(len(fit.information)) if k != anchor]
    inverse = np.linalg.inv(fit.information[np.ix_(others, others)])
    found = np.zeros((agents, agents))
    kept = [k for k in range(agents) if k != anchor]
    found[np.ix_(kept, kept)] = inverse[: agents - 1, : agents - 1]
    return found


def _weights(fit: Fit[Any]) -> Array:
    """The information of a pair of games, one in each seat order, about the lead of one competitor over another."""
    ratings = np.array(fit.ratings)
    leads = ratings[:, None] - ratings[None, :]
    return _variance(leads + fit.first_mover, fit.log_draws) + _variance(leads - fit.first_mover, fit.log_draws)


def _variance(leads: Array, log_draws: float | None) -> Array:
    """The variance of half the difference of wins and losses in one game, which is its information about the lead."""
    exponents = np.stack([leads / 2, np.full_like(leads, -np.inf if log_draws is None else log_draws), -leads / 2])
    chances = np.exp(exponents - exponents.max(axis=0))
    wins, _, losses = chances / chances.sum(axis=0)
    found: Array = (wins + losses - (wins - losses) ** 2) / 4
    return found


def _falls(covariance: Array, weights: Array, rows: Array) -> Array:
    """The fall of the summed variance of the leads in `rows` by a pair of games of any two competitors."""
    part = covariance[rows]
    products = part.T @ part
    own = products.diagonal()
    squares = own[:, None] + own[None, :] - 2 * products
    diagonal = covariance.diagonal()
    spread = diagonal[:, None] + diagonal[None, :] - 2 * covariance
    found: Array = weights * squares / (1 + weights * spread)
    return found
