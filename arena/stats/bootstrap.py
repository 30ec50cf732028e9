"""Uncertainty of ratings when there are many pairs: the bootstrap, thousands of resampled tables fitted at once.

B. Efron, Bootstrap Methods, 1979: the pairs of every pairing are resampled with replacement, in the same number, and the ratings
are fitted to the result; percentiles of these ratings are the interval. A pairing whose pairs all had one score shows no spread,
so its games are drawn from the fitted model instead (a parametric bootstrap).
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
"""The approximate number of pairings times samples that are resampled at a time, which bounds memory."""

MAX_CELLS_FITTED = 30_000
"""The approximate number of pairings times samples that are fitted at a time: as many as a processor's cache holds."""

MAX_PAIRS_DRAWN_SINGLY = 1_000
"""Pairings with more pairs than this count the kinds of pairs by one multinomial draw. Up to this number each pair is drawn
separately, which is quicker for few. Both ways have the same distribution."""

MAX_LAST_STEP = 3e-4
"""The last Newton step, in natural units. The remaining error is about a tenth of it, under a hundredth of an Elo point, while
the sampling error of the percentiles is some tenths of one."""

MAX_SHARED_STEP = 0.5
"""The step, in natural units, up to which tables share the information of the true table's fit, which saves a matrix for each.
Resampled tables lie about a standard error from the true one, so most steps are this small."""

MAX_SHARED_STEPS = 20
"""The number of such steps, which only converge linearly, before each table uses its own information."""


class Bootstrap:
    """Ratings of resampled tables about the field's mean, in natural units; competitors by their indices."""

    name = "bootstrap"

    def __init__(self, samples: Array) -> None:
        """`samples` has a row for every resampled table and a column for every competitor."""
        self._samples = samples

    def interval(self, agent: int, other: int | None = None) -> tuple[float, float]:
        """The 95 % percentile interval of a rating, or of its lead over another."""
        column = self._samples[:, agent]
        low, high = np.quantile(column if other is None else column - self._samples[:, other], [0.025, 0.975])
        return float(low), float(high)

    def superiority(self, agent: int, other: int) -> float:
        """The likelihood of superiority: the share of samples in which the rating is higher, half a sample away from 0 and 1."""
        lead = self._samples[:, agent] - self._samples[:, other]
        better = float((lead > 0).sum() + 0.5 * (lead == 0).sum())
        return (better + 0.5) / (len(lead) + 1)


def bootstrap(fit: Fit[Competitor], pairings: Pairings[Competitor], rng: random.Random, *, samples: int = 1000) -> Bootstrap:
    """Return the bootstrap of Bradley-Terry ratings that were fitted to the games of all these pairs.

    `rng` only seeds numpy's generator, so the numbers are the same as long as numpy keeps its streams.
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
"""Resamples one pairing so many times: the summed statistics of its pairs, a row for each statistic, a column for each sample."""


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
    """Draws `count` pairs by the probabilities of their kinds."""
    statistics = np.array([statistics_of(pair) for pair in kinds])
    return lambda generator, samples: (generator.multinomial(count, chances, size=samples) @ statistics).T


def _one_by_one(pairs: Sequence[Pair]) -> Resampler:
    """Draws as many pairs with replacement."""
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
    """The ratings of every table, a row each: Newton's method on all of them, from the fit of the true table on.

    `tables` are given as to `PairwiseLikelihood`, all with the same pairings of competitors by their indices.
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
        place += step / np.maximum(largest, 1.0)  # instead of backtracking: no step is longer than one natural unit
        if largest.max() < MAX_LAST_STEP:
            break
    return place[:, :count]
