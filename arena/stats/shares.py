"""Intervals of a share, such as that of the attempts that were solved, and of the difference between two agents' shares."""

from collections.abc import Iterable, Sequence
from math import sqrt
from statistics import NormalDist, fmean
from typing import NamedTuple

from arena.stats.clustered import effective_size
from arena.stats.likelihood import bisect
from arena.stats.paired import SIGNIFICANCE_LEVEL, mean_interval_of

Z95 = 1.959963984540054
"""The 97.5 % point of the standard normal distribution."""


def wilson(successes: float, trials: float) -> tuple[float, float]:
    """Return the 95 % Wilson score interval of a proportion; (0, 1) without trials. Of trials that depend on each other, `trials`
    is the effective number.

    E. B. Wilson, Probable Inference, the Law of Succession, and Statistical Inference, 1927. The interval never leaves [0, 1],
    and it has a width even if no trial or every trial was a success.

    >>> [round(bound, 4) for bound in wilson(8, 10)]
    [0.4902, 0.9433]
    """
    if trials == 0:
        return (0.0, 1.0)
    share = successes / trials
    weight = Z95 * Z95 / trials
    middle = share + weight / 2
    reach = Z95 * sqrt(share * (1 - share) / trials + weight / (4 * trials))
    # Exact at either end, because rounding would give a bound next to 0 or 1.
    low = 0.0 if successes == 0 else (middle - reach) / (1 + weight)
    high = 1.0 if successes == trials else (middle + reach) / (1 + weight)
    return (low, high)


class PairedShares(NamedTuple):
    """The numbers of rounds in which both agents succeeded, only the first did, only the second did, and neither did."""

    both: int
    only_one: int
    only_other: int
    neither: int

    @classmethod
    def of(cls, results: Iterable[tuple[bool, bool]]) -> "PairedShares":
        """Count results. Each result says whether the first and the second agent succeeded."""
        listed = [(bool(one), bool(other)) for one, other in results]
        return cls(*(listed.count(kind) for kind in ((True, True), (True, False), (False, True), (False, False))))

    @property
    def rounds(self) -> int:
        """The number of rounds."""
        return sum(self)

    @property
    def difference(self) -> float:
        """The share of the first agent minus the share of the second; 0 without rounds."""
        return (self.only_one - self.only_other) / self.rounds if self.rounds else 0.0


def difference_interval(
    pairs: PairedShares, chance: float = SIGNIFICANCE_LEVEL, groups: Sequence[Sequence[float]] = ()
) -> tuple[float, float]:
    """Return the score interval for the difference between the two shares. Without rounds, it is [-1, 1].

    `chance` is the probability that the interval misses the difference. `groups` contains the differences of the rounds if
    some rounds depend on each other: those of one group. The counts are then scaled to the effective number of rounds (see
    `effective_size`). If this interval contains 0 although sign flips of the groups refute 0, the bound next to 0 is theirs
    (`mean_interval_of`).

    The interval consists of the differences that the score test for paired proportions does not reject: T. Tango, Equivalence
    test and confidence interval for the difference in proportions for the paired-sample design, 1998. The width of the interval
    is above 0 even if both agents always agree.
    """
    if not pairs.rounds:
        return -1.0, 1.0
    middle, edge = pairs.difference, 1 - 1e-12  # at 1 and -1 the statistic has no variance
    scale = effective_size(groups) / pairs.rounds if groups else 1.0
    n, only_one, only_other = [scale * count for count in (pairs.rounds, pairs.only_one, pairs.only_other)]

    def beyond(difference: float) -> float:
        """Return Tango's score statistic: the standardised excess of the observed difference over `difference`, which is strictly
        within (-1, 1).

        The variance is computed from the probabilities that are most likely if the true difference is `difference`. They are the
        solution of a quadratic equation.
        """
        a = 2 * n
        b = (2 * n - only_one + only_other) * difference - only_one - only_other
        c = -only_other * difference * (1 - difference)
        share = (sqrt(max(0.0, b * b - 4 * a * c)) - b) / (2 * a)
        variance = n * (2 * share + difference * (1 - difference))
        excess = only_one - only_other - n * difference
        if variance > 0:
            return excess / sqrt(variance)
        return 0.0 if abs(excess) < 1e-9 else 1e9 * (1 if excess > 0 else -1)  # without variance, the statistic is 0 or infinite

    reach = NormalDist().inv_cdf(1 - chance / 2)
    low = -1.0 if middle <= -edge else bisect(lambda d: reach - beyond(d), -edge, middle)
    high = 1.0 if middle >= edge else bisect(lambda d: -reach - beyond(d), middle, edge)
    if low <= 0 <= high and len(groups) < pairs.rounds and groups:
        least, most = mean_interval_of(list(map(fmean, groups)), chance, list(map(len, groups)))
        if least is not None and least > 0:
            low = least
        if most is not None and most < 0:
            high = most
    return low, high
