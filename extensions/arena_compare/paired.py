"""Paired comparisons of two agents on the same positions: solved shares, and any figures of both."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from statistics import fmean
from typing import NamedTuple

from arena.stats import Z95, binomial_cdf, bisect


class Solved(NamedTuple):
    """Counts of positions: solved by both agents, by the one alone, by the other alone, and by neither."""

    both: int
    only_one: int
    only_other: int
    neither: int

    @classmethod
    def of(cls, results: Iterable[tuple[bool, bool]]) -> "Solved":
        """The counts of whether the one and the other solved each position."""
        listed = [(bool(one), bool(other)) for one, other in results]
        return cls(*(listed.count(kind) for kind in ((True, True), (True, False), (False, True), (False, False))))

    @property
    def positions(self) -> int:
        """The number of positions."""
        return sum(self)

    @property
    def difference(self) -> float:
        """The one's solved share less the other's; 0 without positions."""
        return (self.only_one - self.only_other) / self.positions if self.positions else 0.0


def mcnemar(only_one: int, only_other: int) -> float:
    """The two-sided p-value of McNemar's exact test, whose null hypothesis is that both agents solve equally often.

    Q. McNemar, Note on the sampling error of the difference between correlated proportions, 1947; exact form, a sign test. Only
    positions that exactly one of them solved carry information. The result is 1 if there are none.

    >>> round(mcnemar(0, 6), 12)
    0.03125
    """
    total = only_one + only_other
    return min(1.0, 2 * binomial_cdf(min(only_one, only_other), total, 0.5)) if total else 1.0


def flip_signs(leads: Sequence[int]) -> float:
    """The two-sided p-value of the exact sign-flip test, whose null hypothesis is that the leads of equal agents are as likely
    with the other sign.

    R. A. Fisher, The Design of Experiments, 1935: the share of all combinations of signs whose sum is at least as far from 0.

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
    """The 95 % score interval of the difference of both solved shares, within [-1, 1]; [-1, 1] itself without positions.

    The differences that the score test for paired proportions does not reject: T. Tango, Equivalence test and confidence interval
    for the difference in proportions for the paired-sample design, 1998. The interval has a width even if both agents always
    agree.
    """
    if not solved.positions:
        return -1.0, 1.0
    middle, edge = solved.difference, 1 - 1e-12  # at 1 and -1 themselves the statistic has no variance

    def beyond(difference: float) -> float:
        """Tango's score statistic: the standardised excess of the seen difference over `difference`, strictly within (-1, 1).

        The variance takes the likeliest probabilities under that difference, the root of a quadratic equation.
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
        return 0.0 if abs(excess) < 1e-9 else 1e9 * (1 if excess > 0 else -1)  # rounding error; the sign is needed

    low = -1.0 if middle <= -edge else bisect(lambda d: Z95 - beyond(d), -edge, middle)
    high = 1.0 if middle >= edge else bisect(lambda d: -Z95 - beyond(d), middle, edge)
    return low, high


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95 % interval; the bounds are None with fewer than two positions."""

    value: float
    low: float | None
    high: float | None


def paired_bootstrap(
    values: Sequence[float], rng: random.Random, *, statistic: Callable[[Sequence[float]], float] = fmean, samples: int = 2000
) -> Estimate | None:
    """A statistic of one value a position, by default the mean, with its bootstrap interval; None without positions.

    Percentiles of the statistic over resampled positions (B. Efron, 1979). Hand in the differences of both agents, so that the
    difficulty of a position cancels out. The same generator in the same state gives the same interval.
    """
    if not values:
        return None
    if len(values) < 2:
        return Estimate(statistic(values), None, None)
    import numpy as np

    low, high = np.quantile([statistic(rng.choices(values, k=len(values))) for _ in range(samples)], [0.025, 0.975])
    return Estimate(statistic(values), float(low), float(high))


def paired_difference(pairs: Iterable[tuple[float, float]], rng: random.Random) -> Estimate | None:
    """The mean difference of the one's figures and the other's; None without positions."""
    return paired_bootstrap([one - other for one, other in pairs], rng)


def paired_ratio(
    pairs: Iterable[tuple[float, float]], rng: random.Random, *, least: float = 1.0, samples: int = 2000
) -> Estimate | None:
    """The geometric mean of the ratios of the one's figures to the other's; None without positions.

    For nodes or seconds, which spread over orders of magnitude. A figure below `least`, such as no nodes at all, counts as
    `least`.
    """
    logs = [log(max(one, least)) - log(max(other, least)) for one, other in pairs]
    found = paired_bootstrap(logs, rng, samples=samples)
    if found is None:
        return None
    low, high = (None if bound is None else exp(bound) for bound in (found.low, found.high))
    return Estimate(exp(found.value), low, high)


def holm(p_values: Sequence[float]) -> list[float]:
    """The Holm-adjusted p-values of many tests, in their order.

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
