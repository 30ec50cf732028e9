"""Empirical likelihood of counted outcomes: intervals and tests of their mean.

Outcomes have `values`, each was seen `counts` times. The likeliest distribution over these values with a given mean is computed.
No variance is estimated, so nothing breaks if every outcome was the same (A. Owen, Empirical Likelihood, 2001, chapter 2; here
the support includes the unseen values, which keeps every likelihood inside the range of the values finite).
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import log, sqrt
from statistics import NormalDist

from arena.stats.distributions import student_quantile

ONE_IN_TWENTY = log(20)
"""The fall of the log-likelihood at a one-sided 95 % bound if all outcomes were equal: their probability is 1 in 20 there."""


def log_likelihood(counts: Sequence[float], values: Sequence[float], mean: float) -> float:
    """The largest log-likelihood of the counts among distributions with `mean`, strictly within the range of the values."""
    total = sum(counts)
    theta = tilt(counts, values, mean)
    return sum(n * (log(n / total) - log(1 + theta * (v - mean))) for n, v in zip(counts, values, strict=True) if n)


def likeliest(counts: Sequence[float], values: Sequence[float], mean: float) -> list[float]:
    """The probabilities of the likeliest distribution with `mean`."""
    total = sum(counts)
    theta = tilt(counts, values, mean)
    shares = [n / (total * (1 + theta * (v - mean))) if n else 0.0 for n, v in zip(counts, values, strict=True)]
    missing = 1 - sum(shares)
    if missing > 1e-12:  # the mean is outside the observed range: the rest belongs to the unseen extreme on its side
        extreme = max(values) if theta < 0 else min(values)
        shares[list(values).index(extreme)] += missing
    return shares


def tilt(counts: Sequence[float], values: Sequence[float], mean: float) -> float:
    """The tilt (Lagrange multiplier) theta of the empirical likelihood with `mean`: shares are n / (N (1 + theta (value -
    mean))).

    It lies between the two ends at which the share of an extreme value becomes infinite. Newton's method, safeguarded by
    bisection of that bracket; an end itself if the dual has no root inside, for example if only one value was seen.
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
        if not low < theta < high:  # the bracket is down to two neighbouring floats
            return low if slope > 0 else high
    return theta


def mean_interval(counts: Sequence[float], values: Sequence[float]) -> tuple[float, float] | None:
    """The 95 % interval of the mean, within the range of the values; None under two outcomes.

    The means that a likelihood-ratio test does not reject, with the squared quantile of Student's t instead of chi-squared's,
    because there may be few outcomes. If every outcome was the least or the largest possible value, this value is one bound, and
    the other is one-sided: the mean at which the probability of such a run is 1 in 20.
    """
    return _mean_interval(tuple(counts), tuple(values))  # cached: the pairings of a large board share few different counts


@lru_cache(4096)
def _mean_interval(counts: tuple[float, ...], values: tuple[float, ...]) -> tuple[float, float] | None:
    total = sum(counts)
    if total < 2:
        return None
    low, high = min(values), max(values)
    middle = sum(n * v for n, v in zip(counts, values, strict=True)) / total
    reach = ONE_IN_TWENTY if middle in {low, high} else student_quantile(total - 1, 0.975) ** 2 / 2
    best = sum(n * log(n / total) for n in counts if n)

    def beyond(mean: float) -> float:
        return best - log_likelihood(counts, values, mean) - reach

    edge = (high - low) * 1e-12  # the likelihood is only finite strictly inside
    below = low if middle <= low + edge else bisect(lambda mean: -beyond(mean), low + edge, middle)
    above = high if middle >= high - edge else bisect(beyond, middle, high - edge)
    return below, above


def superiority(counts: Sequence[float], values: Sequence[float], mean: float) -> float:
    """The likelihood of superiority: the confidence that the true mean is above `mean`, within [0, 1]; 0.5 without outcomes.

    The signed root of the likelihood ratio as a normal deviate.
    """
    total = sum(counts)
    if not total:
        return 0.5
    seen = sum(n * v for n, v in zip(counts, values, strict=True)) / total
    best = sum(n * log(n / total) for n in counts if n)
    root = sqrt(max(0.0, 2 * (best - log_likelihood(counts, values, mean))))  # at the maximum, rounding may give less than 0
    return NormalDist().cdf(root if seen > mean else -root)


def bisect(rising: Callable[[float], float], low: float, high: float) -> float:
    """The root of an increasing function between `low` and `high`, to the last bits of a float; an end if there is none."""
    for _ in range(200):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if rising(middle) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
