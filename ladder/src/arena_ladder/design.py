"""Chooses the most informative games: sequential A-optimal design for the Bradley-Terry model.

A pair of games between i and j adds w (e_i - e_j)(e_i - e_j)' to the information about the ratings. Here, e_i is the unit vector
of competitor i, and w is the variance of the score of the pair under the fit. The anchor is the competitor whose rating is 0. Let
C be the covariance of the leads of all competitors over the anchor, and U a set of competitors. The pair lowers the summed
variance of the leads in U by

w |C_U (e_i - e_j)|^2 / (1 + w (e_i - e_j)' C (e_i - e_j)),

where C_U has the rows of C that belong to U (J. Sherman and W. J. Morrison, 1950). The pair with the largest reduction comes
first. This is A-optimality, one pair at a time under the current fit (V. V. Fedorov, Theory of Optimal Experiments, 1972; for
paired comparisons U. Grasshoff and R. Schwabe, Optimal design for the Bradley-Terry paired comparison model, 2008). It is
A-optimal instead of D-optimal because the goal is a small width of every interval about the anchor, and not a small volume of the
region that contains all leads together.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.stats import Ratings

Array = NDArray[np.float64]
MAX_SEAT_SHARE = 0.5
"""One competitor plays in at most this share of the pairs in a plan, if there are other pairs."""


FLOOR_PAIRS = 2
"""The minimum number of pairs of games between any two competitors, even when the ratings hardly depend on these games."""


VIRTUAL_DRAW = 0.25
"""The information of a drawn game between equals."""


def pairs_below_floor(
    ratings: Ratings[Any],
    played: Mapping[tuple[int, int], int],
    wanted: Collection[int],
    playing: Sequence[int],
    count: int,
    exhausted: Collection[tuple[int, int]] = (),
) -> list[tuple[int, int]]:
    """Return up to `count` pairs of competitors with fewer than FLOOR_PAIRS pairs of games in `played`, beginning with the pairs
    that have the fewest.

    Games between equals give the most information about ratings. But if strengths are intransitive (A beats B, B beats C, and C
    beats A), a rating from games against a few opponents is valid only for these opponents, and differences between pairings
    cannot be seen. The arguments `ratings`, `wanted`, `playing`, `count` and `exhausted` are the same as in `next_pairs`. If two
    pairs have equally few games, the pair with closer ratings comes first.
    """
    barred = {(min(both), max(both)) for both in exhausted}
    pairs = [both for both in combinations(sorted(playing), 2) if both not in barred and not set(wanted).isdisjoint(both)]
    least = [(played.get(both, 0), abs(ratings.strengths[both[0]] - ratings.strengths[both[1]]), both) for both in pairs]
    return [both for times, _, both in sorted(least)[:count] if times < FLOOR_PAIRS]


def next_pairs(
    ratings: Ratings[Any],
    anchor: int,
    wanted: Collection[int],
    playing: Sequence[int],
    count: int,
    exhausted: Collection[tuple[int, int]] = (),
) -> list[tuple[int, int]]:
    """Return the `count` pairs of competitors whose games most reduce the summed variance of leads over the anchor.

    `wanted` are the competitors whose leads count. Competitors are indices in the ratings. Both competitors of a pair are in
    `playing`, and the smaller index comes first. Each pair is chosen as if the pairs before it had been played. If possible, no
    competitor is in more than half of the pairs. `exhausted` pairs are skipped, because their games give no new information. The
    result is empty if nothing is left to learn.
    """
    if len(playing) < 2 or not wanted:
        return []
    kept = np.array(sorted({*playing, *wanted}))  # the leads of all others change, too, but nobody asks for them
    covariance = _leads(ratings, anchor)[np.ix_(kept, kept)]
    strengths = ratings.strengths[kept]
    # The information that a pair of games gives about the lead of one competitor over another:
    weights = 1 / (2 * np.cosh((strengths[:, None] - strengths[None, :]) / 2) ** 2)
    active: Any = np.searchsorted(kept, sorted(playing))
    rows: Any = np.searchsorted(kept, sorted(wanted))
    most = max(1, int(count * MAX_SEAT_SHARE)) if len(playing) > 2 else count
    barred = np.tri(len(active), dtype=bool)
    place = {agent: k for k, agent in enumerate(sorted(playing))}
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
        chosen.append((int(kept[i]), int(kept[j])))
        seats.update((i, j))
        step = covariance[i] - covariance[j]
        covariance = covariance - weights[i, j] / (1 + weights[i, j] * (step[i] - step[j])) * np.outer(step, step)
    return chosen


def _leads(ratings: Ratings[Any], anchor: int) -> Array:
    """Return the covariance of the leads over the anchor, in natural units. The row and column of the anchor are zero.

    Each competitor also has a virtual draw with the anchor, so that the covariance is finite before the first game.
    """
    agents = len(ratings.agents)
    kept = [k for k in range(agents) if k != anchor]
    found = np.zeros((agents, agents))
    found[np.ix_(kept, kept)] = np.linalg.inv(ratings.information[np.ix_(kept, kept)] + VIRTUAL_DRAW * np.eye(agents - 1))
    return found


def _falls(covariance: Array, weights: Array, rows: Array) -> Array:
    """Return, for every two competitors, by how much a pair of games between them reduces the summed variance of the leads in
    `rows`.
    """
    part = covariance[rows]
    products = part.T @ part
    own = products.diagonal()
    squares = own[:, None] + own[None, :] - 2 * products
    diagonal = covariance.diagonal()
    spread = diagonal[:, None] + diagonal[None, :] - 2 * covariance
    found: Array = weights * squares / (1 + weights * spread)
    return found
