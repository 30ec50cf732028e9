"""The mean of values in clusters, with a 95 % interval. A cluster is a round: its matches share dice and deals."""

from collections.abc import Sequence
from itertools import compress
from math import inf, isfinite, sqrt
from typing import NamedTuple

from arena.stats.distributions import student_quantile

FOLDS = 5
"""The number of parts into which clusters are divided to fit the coefficient of luck."""
LEVEL = 0.95
"""The confidence level of an interval."""
MAX_ROUNDING = 1e-20
"""The largest sum of squared deviations, as a share of the sum of squares, that may come from rounding alone."""
MIN_CLUSTERS = 10
"""The minimum number of clusters for which the coefficient of luck is fitted."""


class ClusteredMean(NamedTuple):
    """A mean with its 95 % interval. The mean is None without values; the bounds are None for fewer than two clusters, and for
    equal values whose range is unknown.
    """

    mean: float | None
    low: float | None
    high: float | None


def clustered_mean(sums: Sequence[float], counts: Sequence[int], within: tuple[float, float] = (-inf, inf)) -> ClusteredMean:
    """Return the mean of all values with its interval, given the sum and the number of the values of each cluster.

    `within` is the range of the values, which the interval does not leave.

    The mean is a ratio of two sums over clusters, so its variance is linearised (W. Cochran, Sampling Techniques, 1977, chapter
    6). The interval uses Student's t with one degree of freedom less than there are clusters. Clusters are treated as
    independent; nothing is assumed about the values within a cluster.

    If all n clusters have the same value, there is no variance to estimate. Then a cluster may differ with at most the
    probability with which n of them in a row do not in 1 of 20 cases, and if it does, it may be at an end of the range.

    >>> round(clustered_mean([-1.0] * 10, [1] * 10, within=(-1.0, 1.0)).high, 4)
    -0.4823
    """
    clusters = [(total, count) for total, count in zip(sums, counts, strict=True) if count]
    size = sum(count for _, count in clusters)
    if not size:
        return ClusteredMean(None, None, None)
    mean = sum(total for total, _ in clusters) / size
    if len(clusters) < 2:
        return ClusteredMean(mean, None, None)
    squares = sum((total - mean * count) ** 2 for total, count in clusters)
    if squares <= MAX_ROUNDING * sum(total**2 for total, _ in clusters):
        share = 1 - (1 - LEVEL) ** (1 / len(clusters))
        low, high = [mean + share * (end - mean) if isfinite(end) else None for end in within]
        return ClusteredMean(mean, low, high)
    freedom = len(clusters) - 1
    reach = student_quantile(freedom, (1 + LEVEL) / 2) * sqrt(squares * len(clusters) / freedom) / size
    return ClusteredMean(mean, max(within[0], mean - reach), min(within[1], mean + reach))


def remove_luck(returns: Sequence[float], luck: Sequence[float], counts: Sequence[int]) -> list[float] | None:
    """Return the sum of each cluster minus its luck times a coefficient.

    Returns None if there are fewer than MIN_CLUSTERS clusters, or if there was no luck. If the correction does not lower the
    variance, as with rare luck that decides nothing, the sums are returned unchanged.

    Luck has the mean 0, so any coefficient leaves the mean unchanged; the best one is the slope of the regression of returns on
    luck. This slope is 1 if luck decides everything, and near 0 if the better side wins with any dice. The coefficient of a
    cluster is fitted to the clusters of the other FOLDS - 1 folds, so it does not depend on the values that it corrects
    (cross-fitting: V. Chernozhukov and others, Double/debiased machine learning, 2018).

    >>> remove_luck([1.0, -1.0] * 10, [1.0, -1.0] * 10, [1] * 20) == [0.0] * 20
    True
    """
    places = [k for k, count in enumerate(counts) if count]
    if len(places) < MIN_CLUSTERS or not any(luck):
        return None
    corrected = list(returns)
    for fold in range(FOLDS):
        others = [k for n, k in enumerate(places) if n % FOLDS != fold]
        mean = sum([returns[k] for k in others]) / sum([counts[k] for k in others])
        squares = sum([luck[k] ** 2 for k in others])
        products = sum([(returns[k] - mean * counts[k]) * luck[k] for k in others])
        for k in places[fold::FOLDS]:
            corrected[k] -= products / squares * luck[k] if squares else 0.0
    before, after = [_scatter(list(compress(sums, counts)), list(compress(counts, counts))) for sums in (returns, corrected)]
    return corrected if after < before else list(returns)


def _scatter(sums: Sequence[float], counts: Sequence[int]) -> float:
    """Return the sum of squared deviations of clusters from the mean of all values."""
    mean = sum(sums) / sum(counts)
    return sum([(total - mean * count) ** 2 for total, count in zip(sums, counts, strict=True)])
