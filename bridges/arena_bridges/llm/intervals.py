"""Confidence intervals that stay inside the range of a value, for the columns of language models."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from math import exp, inf, sqrt

from arena.api.results import Measured

Estimate = tuple[int, int, float, float | None, float | None]
"""The indices of a board and of an entry, a mean, and the bounds of its 95 % interval."""


def estimate(found: Iterable[Measured], low: float = 0.0, high: float = inf) -> Iterator[Estimate]:
    """Yield the mean of each entry. All values are between `low` and `high`."""
    rounds: dict[tuple[int, int], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in found:
        rounds[one.board, one.entry][one.round].append(one.value)
    for (board, entry), values in rounds.items():
        yield board, entry, *bound_mean(list(values.values()), low, high)


def bound_mean(clusters: list[list[float]], low: float, high: float) -> tuple[float, float | None, float | None]:
    """Return the mean of all values with its 95 % interval. Each cluster counts as one observation.

    The standard error is linearised over the clusters, as in `arena.stats.clustered_mean`, and the quantile is from Student's t.
    If `high` is finite, the interval is a score interval: its bounds are the means at which the distance to the observed mean is
    the quantile times the standard error at that mean. The variance is assumed to be proportional to (mean - low) (high - mean).
    For shares and one value per cluster, this is the interval of E. Wilson (1927). If all values lie at one end of the
    range, the variance cannot be estimated; then the variance of a share with one observation per cluster is used. If `high` is
    infinite, the interval is symmetric on the scale of the logarithm.
    """
    from arena.stats import student_quantile

    size, count = sum(map(len, clusters)), len(clusters)
    mean = sum(map(sum, clusters)) / size
    if count < 2:
        return mean, None, None
    squares = sum((sum(values) - mean * len(values)) ** 2 for values in clusters)
    quantile = student_quantile(count - 1, 0.975)
    reach = quantile * sqrt(squares * count / (count - 1)) / size
    above = mean - low
    if high == inf:
        return (mean, mean, mean) if above <= 0 else (mean, low + above * exp(-reach / above), low + above * exp(reach / above))
    share = above / (high - low)
    inner = share * (1 - share)
    factor = (reach / (high - low)) ** 2 / inner if 1e-12 < share < 1 - 1e-12 else quantile**2 / count
    middle = (share + factor / 2) / (1 + factor)
    half = sqrt(max(0.0, factor * inner + factor**2 / 4)) / (1 + factor)
    ends = [low + (high - low) * min(1.0, max(0.0, end)) for end in (middle - half, middle + half)]
    return mean, ends[0], ends[1]
