"""Empirical likelihood for counted outcomes: intervals and tests for their mean.

Each outcome has a value from `values` and was seen `counts` times. The module computes the likeliest distribution over these
values with a given mean. No variance is estimated, so nothing fails if every outcome was the same (A. Owen, Empirical Likelihood,
2001, chapter 2; here values without outcomes are included, so every likelihood inside the range of the values is finite).
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import log

from arena.stats.distributions import list_plain, student_quantile
from arena.stats.paired import SIGNIFICANCE_LEVEL

MIN_OUTCOMES = 3
"""The fewest independent outcomes (pairs of games, or rounds) with which an interval is computed."""


def log_likelihood(counts: Sequence[float], values: Sequence[float], mean: float) -> float:
    """Return the largest log-likelihood of the counts among distributions with `mean`, strictly inside the range of values."""
    total = sum(counts)
    theta = tilt(counts, values, mean)
    return sum(n * (log(n / total) - log(1 + theta * (v - mean))) for n, v in zip(counts, values, strict=True) if n)


def likeliest(counts: Sequence[float], values: Sequence[float], mean: float) -> list[float]:
    """Return the probabilities of the likeliest distribution with this `mean`."""
    counts, values = list_plain(counts), list_plain(values)
    total = sum(counts)
    theta = tilt(counts, values, mean)
    shares = [n / (total * (1 + theta * (v - mean))) if n else 0.0 for n, v in zip(counts, values, strict=True)]
    missing = 1 - sum(shares)
    if missing > 1e-12:  # the mean is outside the observed values: the rest goes to the extreme value on its side
        extreme = max(values) if theta < 0 else min(values)
        shares[list(values).index(extreme)] += missing
    return shares


def tilt(counts: Sequence[float], values: Sequence[float], mean: float) -> float:
    """Return the tilt (Lagrange multiplier) theta for this `mean`: a value seen n times in N outcomes has the share n / (N (1 +
    theta (value - mean))). Theta lies between two ends, at which the share of an extreme value becomes infinite. Newton's method
    is safeguarded by bisection between them. If there is no root inside, for example if only one value was seen, it is an end.
    """
    seen = [(n, v - mean) for n, v in zip(counts, values, strict=True) if n]
    low, high = -1 / (max(values) - mean), 1 / (mean - min(values))
    theta = 0.0
    for _ in range(200):
        slope = curve = 0.0
        for n, x in seen:
            part = x / (1 + theta * x)
            slope += n * part
            curve += n * part * part
        if slope > 0:
            low = theta
        else:
            high = theta
        step = slope / curve if curve else 0.0
        if abs(step) <= 1e-14 * (1 + abs(theta)):
            return theta
        guess = theta + step
        theta = guess if low < guess < high else (low + high) / 2
        if not low < theta < high:  # no float is left between them
            return low if slope > 0 else high
    return theta


def mean_interval(
    counts: Sequence[float], values: Sequence[float], chance: float = SIGNIFICANCE_LEVEL
) -> tuple[float, float] | None:
    """Return the interval of the mean, within the range of the values; None if there are fewer than MIN_OUTCOMES.

    The interval consists of the means that a likelihood-ratio test does not reject. Because there may be few outcomes, the test
    uses the squared quantile of Student's t instead of chi-squared. If every outcome was the least or the largest possible value,
    this value is one bound. The other bound is one-sided: the mean at which the probability of such outcomes is `chance`, the
    probability with which an interval misses the mean.
    """
    # cached, because many pairings of a large board have the same counts
    return _mean_interval(tuple(list_plain(counts)), tuple(list_plain(values)), chance)


@lru_cache(4096)
def _mean_interval(counts: tuple[float, ...], values: tuple[float, ...], chance: float) -> tuple[float, float] | None:
    total = sum(counts)
    if total < MIN_OUTCOMES:
        return None
    low, high = min(values), max(values)
    middle = sum(n * v for n, v in zip(counts, values, strict=True)) / total
    reach = -log(chance) if middle in {low, high} else student_quantile(total - 1, 1 - chance / 2) ** 2 / 2
    best = sum(n * log(n / total) for n in counts if n)

    def beyond(mean: float) -> float:
        return best - log_likelihood(counts, values, mean) - reach

    edge = (high - low) * 1e-12  # the likelihood is finite only strictly inside
    below = low if middle <= low + edge else bisect(lambda mean: -beyond(mean), low + edge, middle)
    above = high if middle >= high - edge else bisect(beyond, middle, high - edge)
    return below, above


def bisect(rising: Callable[[float], float], low: float, high: float) -> float:
    """Return the root of an increasing function between `low` and `high`, to the last bits; `low` or `high` if there is none."""
    for _ in range(200):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if rising(middle) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
