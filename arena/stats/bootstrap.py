"""The uncertainty of ratings, if there are many pairs: a bootstrap, which fits thousands of resampled tables at once.

For every two competitors (a *pairing*), as many pairs of games as they played are drawn from these pairs with replacement, and
the ratings are fitted to the result (B. Efron, Bootstrap Methods, 1979). Percentiles of these ratings are the bounds of the
interval. If all pairs of a pairing had the same score, resampling shows no spread, so its games are drawn from the fitted model
instead (a parametric bootstrap).
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from arena.stats.bradley_terry import Fit
from arena.stats.newton import Array, constrained_inverse
from arena.stats.observations import Competitor, Pair, Pairings, WinDrawLoss, kinds_of
from arena.stats.pairwise_likelihood import PairwiseLikelihood, statistics_of
from arena.stats.prior import virtual_games

MAX_CELLS_RESAMPLED = 300_000
"""The approximate number of cells (pairings times samples) that are resampled at a time. This limits memory."""

MAX_CELLS_FITTED = 30_000
"""The approximate number of cells (pairings times samples) that are fitted at a time, so that a processor's cache suffices."""

MAX_PAIRS_DRAWN_SINGLY = 1_000
"""Up to this number of pairs of a pairing, each pair is drawn separately, which is quicker for few pairs. For more pairs, one
multinomial draw gives the numbers of all kinds of pairs. Both methods have the same distribution."""

MAX_LAST_STEP = 3e-4
"""The largest last Newton step, in natural units. The remaining error is about a tenth of it, less than a hundredth of an Elo
point, while the sampling error of the percentiles is some tenths of a point."""

MAX_SHARED_STEP = 0.5
"""If no step is larger than this, in natural units, all tables share the information matrix from the fit of the real table, which
saves a matrix for each table. Resampled tables lie about a standard error from the real one, so most steps are this small."""

MAX_SHARED_STEPS = 20
"""The number of steps with the shared matrix, which converge only linearly, before each table uses its own matrix."""


class Bootstrap:
    """Ratings from resampled tables relative to their mean, in natural units. Competitors are given by their indices."""

    name = "bootstrap"

    def __init__(self, samples: Array) -> None:
        """`samples` has a row for each resampled table and a column for each competitor."""
        self._samples = samples

    def interval(self, agent: int, other: int | None = None) -> tuple[float, float]:
        """Return the 95 % percentile interval of a rating, or of its lead over another rating."""
        column = self._samples[:, agent]
        low, high = np.quantile(column if other is None else column - self._samples[:, other], [0.025, 0.975])
        return float(low), float(high)

    def superiority(self, agent: int, other: int) -> float:
        """Return the likelihood of superiority: the share of samples with a higher rating, half a sample or more from 0 and 1."""
        lead = self._samples[:, agent] - self._samples[:, other]
        better = float((lead > 0).sum() + 0.5 * (lead == 0).sum())
        return (better + 0.5) / (len(lead) + 1)


def bootstrap(fit: Fit[Competitor], pairings: Pairings[Competitor], rng: random.Random, *, samples: int = 1000) -> Bootstrap:
    """Return the bootstrap for Bradley-Terry ratings that were fitted to the games of all these pairs.

    `rng` only seeds numpy's generator, so results are the same as long as numpy does not change its generators.
    """
    generator = np.random.default_rng(rng.getrandbits(128))
    played = {seats: pairs for seats, pairs in pairings.items() if any(pair.games for pair in pairs)}
    places = [(fit.agents.index(one), fit.agents.index(two)) for one, two in played]
    resamplers = [_resampler(fit, seats, pairs) for seats, pairs in played.items()]
    size, share = max(25, MAX_CELLS_RESAMPLED // max(1, len(played))), max(1, MAX_CELLS_FITTED // max(1, len(played)))
    parts = []
    for done in range(0, samples, size):
        tables = np.stack([resample(generator, min(size, samples - done)) for resample in resamplers], axis=2)
        parts += [refit(fit, places, tables[:, k : k + share].copy()) for k in range(0, tables.shape[1], share)]
    return Bootstrap(np.concatenate(parts))


Resampler: TypeAlias = Callable[[np.random.Generator, int], Array]
"""A function that resamples one pairing a number of times. It returns the sums of the statistics of the drawn pairs, with a row
per statistic and a column per sample."""


def _resampler(fit: Fit[Competitor], seats: tuple[Competitor, Competitor], pairs: Sequence[Pair]) -> Resampler:
    kinds: Counter[Pair] = Counter()
    for pair, count in kinds_of(pairs):
        kinds[pair] += count if pair.games else 0
    kinds, total = +kinds, kinds.total()
    if len({pair.score for pair in kinds}) == 1:
        one, two = seats
        none, results = WinDrawLoss(), (WinDrawLoss(wins=1), WinDrawLoss(draws=1), WinDrawLoss(losses=1))
        ahead = sum(pair.forward.games * count for pair, count in kinds.items())
        behind = sum(pair.backward.games * count for pair, count in kinds.items())
        first = _by_kind(round(ahead), fit.chances(one, two), [Pair(result, none) for result in results])
        second = _by_kind(round(behind), fit.chances(two, one), [Pair(none, result) for result in results])
        return lambda generator, samples: first(generator, samples) + second(generator, samples)
    if total > MAX_PAIRS_DRAWN_SINGLY:
        return _by_kind(total, [count / total for count in kinds.values()], list(kinds))
    return _one_by_one([pair for pair in pairs if pair.games])


def _by_kind(count: int, chances: Sequence[float], kinds: Sequence[Pair]) -> Resampler:
    statistics = np.array([statistics_of(pair) for pair in kinds])
    return lambda generator, samples: (generator.multinomial(count, chances, size=samples) @ statistics).T


def _one_by_one(pairs: Sequence[Pair]) -> Resampler:
    known = {id(pair): statistics_of(pair) for pair, _ in kinds_of(pairs)}
    statistics, count = np.array([known[id(pair)] for pair in pairs]).T.copy(), len(pairs)
    # A statistic that is equal for all pairs, as the number of games usually is, needs no sum over the picked pairs.
    varies = [bool(np.ptp(row)) for row in statistics]

    def resample(generator: np.random.Generator, samples: int) -> Array:
        picked = generator.integers(0, count, size=(count, samples), dtype=np.uint16)
        rows = zip(statistics, varies, strict=True)
        return np.stack([row.take(picked).sum(axis=0) if varied else np.full(samples, row[0] * count) for row, varied in rows])

    return resample


def refit(fit: Fit[Any], pairings: Sequence[tuple[int, int]], tables: Array) -> Array:
    """Return the ratings of each table, one per row. Newton's method runs on all tables at once, starting from the real fit.

    `tables` has the form that `PairwiseLikelihood` expects. All tables have the same pairings, given by indices.
    """
    count = len(fit.agents)
    likelihood = PairwiseLikelihood(pairings, count, fit.model)
    inverse = constrained_inverse(fit.information, count)
    place = np.tile(np.array([*fit.ratings, *fit.shared]), (tables.shape[1], 1))
    for attempt in range(200):
        odds = likelihood.odds(place, tables)
        virtual = virtual_games(place, fit.model)
        gradient = likelihood.gradient(place, tables, odds) + virtual.slope
        step = gradient @ inverse
        if attempt >= MAX_SHARED_STEPS or np.abs(step).max() >= MAX_SHARED_STEP:
            information = likelihood.information(place, odds)
            information[:, range(place.shape[1]), range(place.shape[1])] += virtual.information
            step = (constrained_inverse(information, count) @ gradient[:, :, None])[:, :, 0]
        largest = np.abs(step).max(axis=1, keepdims=True)
        place += step / np.maximum(largest, 1.0)  # no step is longer than one natural unit, so no backtracking is needed
        if largest.max() < MAX_LAST_STEP:
            break
    return place[:, :count]
