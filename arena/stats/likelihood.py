"""The likelihood of counted outcomes when only their mean is given: what margins and tests of pairs rest on.

Outcomes have `values`, each was seen `counts` times. Of all distributions over these values, seen or not, with a given mean, the
likeliest is found; no variance is estimated, so nothing breaks where every outcome was the same (A. Owen, Empirical Likelihood,
2001, chapter 2; here the unseen values belong to the support, which keeps every likelihood inside the range of the values
finite).
"""

from collections.abc import Sequence
from functools import lru_cache
from math import log, sqrt
from statistics import NormalDist

from arena.stats.student import bisect, t_quantile

ONE_IN_TWENTY = log(20)
"""How far the log-likelihood may fall until a bound is reached that holds on one side at 95 %."""


def log_likelihood(counts: Sequence[float], values: Sequence[float], mean: float) -> float:
    """The largest log-likelihood of the counts, the mean of the values being `mean`, strictly within their range."""
    total = sum(counts)
    theta = tilt(counts, values, mean)
    return sum(n * (log(n / total) - log(1 + theta * (v - mean))) for n, v in zip(counts, values, strict=True) if n)


def likeliest(counts: Sequence[float], values: Sequence[float], mean: float) -> list[float]:
    """The likeliest shares of the outcomes, the mean of the values being `mean`."""
    total = sum(counts)
    theta = tilt(counts, values, mean)
    shares = [n / (total * (1 + theta * (v - mean))) if n else 0.0 for n, v in zip(counts, values, strict=True)]
    missing = 1 - sum(shares)
    if missing > 1e-12:  # the mean lies outside of what was seen: an unseen extreme must have a share
        extreme = max(values) if theta < 0 else min(values)
        shares[list(values).index(extreme)] += missing
    return shares


def tilt(counts: Sequence[float], values: Sequence[float], mean: float) -> float:
    """The multiplier theta that makes n / (N (1 + theta (value - mean))) the likeliest shares, all of them being at least 0."""
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
        if not low < theta < high:
            return low if slope > 0 else high
    return theta


def mean_interval(counts: Sequence[float], values: Sequence[float]) -> tuple[float, float] | None:
    """The 95 % interval of the mean, within the range of the values; None under two outcomes.

    The means that a likelihood-ratio test does not reject, with the square of Student's t for its bound since there may be few
    outcomes. Where every outcome was the least or the largest possible, that is one bound, and the other is one-sided: the mean
    at which the chance of such a run is one in twenty.
    """
    return _mean_interval(tuple(counts), tuple(values))  # many agents have few different counts


@lru_cache(4096)
def _mean_interval(counts: tuple[float, ...], values: tuple[float, ...]) -> tuple[float, float] | None:
    total = sum(counts)
    if total < 2:
        return None
    low, high = min(values), max(values)
    middle = sum(n * v for n, v in zip(counts, values, strict=True)) / total
    reach = ONE_IN_TWENTY if middle in {low, high} else t_quantile(0.975, total - 1) ** 2 / 2
    best = sum(n * log(n / total) for n in counts if n)

    def beyond(mean: float) -> float:
        return best - log_likelihood(counts, values, mean) - reach

    edge = (high - low) * 1e-12
    below = low if middle <= low + edge else bisect(lambda mean: -beyond(mean), low + edge, middle)
    above = high if middle >= high - edge else bisect(beyond, middle, high - edge)
    return below, above


def superiority(counts: Sequence[float], values: Sequence[float], mean: float) -> float:
    """The likelihood of superiority: how sure one may be that the true mean is above `mean`, within [0, 1]; 0.5 without outcomes.

    The signed root of the likelihood ratio, read as a normal deviate.
    """
    total = sum(counts)
    if not total:
        return 0.5
    seen = sum(n * v for n, v in zip(counts, values, strict=True)) / total
    best = sum(n * log(n / total) for n in counts if n)
    root = sqrt(max(0.0, 2 * (best - log_likelihood(counts, values, mean))))
    return NormalDist().cdf(root if seen > mean else -root)
