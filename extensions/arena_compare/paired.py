"""Paired comparisons of two agents on the same positions. They compare the solved shares, or any other figures."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from statistics import NormalDist, fmean
from typing import NamedTuple

from arena.stats import binomial_cdf, bisect, student_cdf


class Solved(NamedTuple):
    """The numbers of positions that both agents solved, that only the first solved, that only the second solved, and that neither
    solved.
    """

    both: int
    only_one: int
    only_other: int
    neither: int

    @classmethod
    def of(cls, results: Iterable[tuple[bool, bool]]) -> "Solved":
        """Count results. Each result says whether the first and the second agent solved a position."""
        listed = [(bool(one), bool(other)) for one, other in results]
        return cls(*(listed.count(kind) for kind in ((True, True), (True, False), (False, True), (False, False))))

    @property
    def positions(self) -> int:
        """The number of positions."""
        return sum(self)

    @property
    def difference(self) -> float:
        """The solved share of the first agent minus the solved share of the second; 0 without positions."""
        return (self.only_one - self.only_other) / self.positions if self.positions else 0.0


def mcnemar(only_one: int, only_other: int) -> float:
    """Return the two-sided p-value of McNemar's exact test, whose null hypothesis is that both agents solve equally often.

    Q. McNemar, Note on the sampling error of the difference between correlated proportions, 1947; this is the exact form, which
    is a sign test. Only positions that exactly one of the agents solved carry information. Without such positions, the result is
    1.

    >>> round(mcnemar(0, 6), 12)
    0.03125
    """
    total = only_one + only_other
    return min(1.0, 2 * binomial_cdf(min(only_one, only_other), total, 0.5)) if total else 1.0


def flip_signs(leads: Sequence[int]) -> float:
    """Return the two-sided p-value of the exact sign-flip test. Its null hypothesis is that the agents are equal, so that each
    lead is as likely with the opposite sign.

    The p-value is the share of all combinations of signs for which the sum of the leads is at least as far from 0 as observed (R.
    A. Fisher, The Design of Experiments, 1935).

    >>> flip_signs([2] * 8 + [0, 0])
    0.0078125
    """
    sums = Counter({0: 1})
    for lead in leads:
        before, sums = sums, Counter()
        for total, count in before.items():
            sums[total + lead] += count
            sums[total - lead] += count
    return sum([count for total, count in sums.items() if abs(total) >= abs(sum(leads))]) / sums.total()


def difference_interval(solved: Solved) -> tuple[float, float]:
    """Return the 95 % score interval for the difference between the two solved shares. Without positions, it is [-1, 1].

    The interval consists of the differences that the score test for paired proportions does not reject: T. Tango, Equivalence
    test and confidence interval for the difference in proportions for the paired-sample design, 1998. The width of the interval
    is above 0 even if both agents always agree.
    """
    if not solved.positions:
        return -1.0, 1.0
    middle, edge = solved.difference, 1 - 1e-12  # at 1 and -1 the statistic has no variance

    def beyond(difference: float) -> float:
        """Return Tango's score statistic: the standardised excess of the observed difference over `difference`, which is strictly
        within (-1, 1).

        The variance is computed from the probabilities that are most likely if the true difference is `difference`. They are the
        solution of a quadratic equation.
        """
        n, one, other = solved.positions, solved.only_one, solved.only_other
        a = 2 * n
        b = (2 * n - one + other) * difference - one - other
        c = -other * difference * (1 - difference)
        share = (sqrt(max(0.0, b * b - 4 * a * c)) - b) / (2 * a)
        variance = n * (2 * share + difference * (1 - difference))
        excess = one - other - n * difference
        if variance > 0:
            return excess / sqrt(variance)
        return 0.0 if abs(excess) < 1e-9 else 1e9 * (1 if excess > 0 else -1)  # without variance, the statistic is 0 or infinite

    reach = NormalDist().inv_cdf(0.975)
    low = -1.0 if middle <= -edge else bisect(lambda d: reach - beyond(d), -edge, middle)
    high = 1.0 if middle >= edge else bisect(lambda d: -reach - beyond(d), middle, edge)
    return low, high


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95 % interval. With fewer than two positions, the bounds are None."""

    value: float
    low: float | None
    high: float | None


def paired_bootstrap(
    values: Sequence[float], rng: random.Random, *, statistic: Callable[[Sequence[float]], float] = fmean, samples: int = 2000
) -> Estimate | None:
    """Return a statistic of `values`, which has one value for each position, and the bootstrap interval of this statistic; None
    without positions. The default statistic is the mean.

    The bounds of the interval are percentiles of the statistic over resampled positions (B. Efron, 1979). Pass the differences
    between two agents, so that the difficulty of a position cancels out. The same generator in the same state gives the same
    interval.
    """
    if not values:
        return None
    if len(values) < 2:
        return Estimate(statistic(values), None, None)
    import numpy as np

    low, high = np.quantile([statistic(rng.choices(values, k=len(values))) for _ in range(samples)], [0.025, 0.975])
    return Estimate(statistic(values), float(low), float(high))


def paired_difference(pairs: Iterable[tuple[float, float]], rng: random.Random) -> Estimate | None:
    """Return the mean difference between the figures of two agents; None without positions."""
    return paired_bootstrap([one - other for one, other in pairs], rng)


def paired_ratio(
    pairs: Iterable[tuple[float, float]], rng: random.Random, *, least: float = 1.0, samples: int = 2000
) -> Estimate | None:
    """Return the geometric mean of the ratios between the figures of two agents; None without positions.

    This is meant for nodes or seconds, whose values differ by orders of magnitude. A figure below `least`, such as no nodes at
    all, counts as `least`.
    """
    logs = [log(max(one, least)) - log(max(other, least)) for one, other in pairs]
    found = paired_bootstrap(logs, rng, samples=samples)
    if found is None:
        return None
    low, high = (None if bound is None else exp(bound) for bound in (found.low, found.high))
    return Estimate(exp(found.value), low, high)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the Holm-adjusted p-values of several tests, in the same order.

    S. Holm, A simple sequentially rejective multiple test procedure, 1979: rejecting at or below 0.05 keeps the family-wise error
    rate at 5 %.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, k in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[k]))  # never below the result for a smaller p-value
        adjusted[k] = largest
    return adjusted


def mean_p_value(values: Sequence[float]) -> float:
    """Return the two-sided p-value of Student's t-test for the hypothesis that independent values have the mean 0; 1.0 for fewer
    than two values.

    If all values are equal and not 0, they have no spread, and a sign test is used instead.
    """
    if len(values) < 2:
        return 1.0
    mean = sum(values) / len(values)
    squares = sum((value - mean) ** 2 for value in values)
    if not squares:
        return 1.0 if not mean else 0.5 ** (len(values) - 1)
    freedom = len(values) - 1
    return 2 * student_cdf(freedom, -abs(mean) / sqrt(squares / freedom / len(values)))
