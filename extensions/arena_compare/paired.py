"""The solved shares of two agents on the same positions, and the interval of their difference."""

from collections.abc import Iterable
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

from arena.stats import SIGNIFICANCE_LEVEL, bisect


class Solved(NamedTuple):
    """The numbers of rounds whose position both agents solved, only the first solved, only the second solved, and neither
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
    def rounds(self) -> int:
        """The number of rounds, of which several may start from the same position."""
        return sum(self)

    @property
    def difference(self) -> float:
        """The solved share of the first agent minus the solved share of the second; 0 without positions."""
        return (self.only_one - self.only_other) / self.rounds if self.rounds else 0.0


def difference_interval(solved: Solved, chance: float = SIGNIFICANCE_LEVEL, size: float | None = None) -> tuple[float, float]:
    """Return the score interval for the difference between the two solved shares. Without positions, it is [-1, 1].

    `chance` is the probability that the interval misses the difference. `size` is the effective number of rounds if some depend
    on each other (see `effective_size`): the counts are scaled to it.

    The interval consists of the differences that the score test for paired proportions does not reject: T. Tango, Equivalence
    test and confidence interval for the difference in proportions for the paired-sample design, 1998. The width of the interval
    is above 0 even if both agents always agree.
    """
    if not solved.rounds:
        return -1.0, 1.0
    middle, edge = solved.difference, 1 - 1e-12  # at 1 and -1 the statistic has no variance
    scale = 1.0 if size is None else size / solved.rounds
    n, only_one, only_other = [scale * count for count in (solved.rounds, solved.only_one, solved.only_other)]

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
    return low, high
