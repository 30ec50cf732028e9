"""The mean of values that come in clusters, with a 95 % interval: matches of one round share a position, dice and deals."""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple


class ClusteredMean(NamedTuple):
    """A mean with its 95 % interval; None where there is none, the bounds where fewer than two clusters have values."""

    mean: float | None
    low: float | None
    high: float | None


def clustered_mean(sums: Sequence[float], counts: Sequence[int]) -> ClusteredMean:
    """Return the mean of all values, given the sum and the number of those of each cluster, with its interval.

    The mean is a ratio of two sums over clusters, so its variance is linearised (W. Cochran, Sampling Techniques, 1977, chapter
    6), with the quantile of Student's t for one degree of freedom less than there are clusters. Clusters are taken for
    independent, and nothing is supposed of the values in one of them.
    """
    clusters = [(total, count) for total, count in zip(sums, counts, strict=True) if count]
    size = sum(count for _, count in clusters)
    if not size:
        return ClusteredMean(None, None, None)
    mean = sum(total for total, _ in clusters) / size
    if len(clusters) < 2:
        return ClusteredMean(mean, None, None)
    from scipy.special import stdtrit  # type: ignore[import-untyped]

    squares = sum((total - mean * count) ** 2 for total, count in clusters)
    freedom = len(clusters) - 1
    reach = float(stdtrit(freedom, 0.975)) * sqrt(squares * len(clusters) / freedom) / size
    return ClusteredMean(mean, mean - reach, mean + reach)


def mean_p_value(values: Sequence[float]) -> float:
    """Return the two-sided p-value of Student's t-test that independent values have the mean 0; 1.0 for fewer than two.

    Values that are all the same, but not 0, give 0.0.
    """
    if len(values) < 2:
        return 1.0
    from scipy.special import stdtr

    mean = sum(values) / len(values)
    squares = sum((value - mean) ** 2 for value in values)
    if not squares:
        return 1.0 if not mean else 0.0
    freedom = len(values) - 1
    return float(2 * stdtr(freedom, -abs(mean) / sqrt(squares / freedom / len(values))))
