"""Two agents that met the same positions, compared position by position: solved shares, and any numbers of both."""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from statistics import fmean
from typing import NamedTuple

from arena.stats.proportion import Z95
from arena.stats.quantile import quantile
from arena.stats.student import bisect


class Solved(NamedTuple):
    """On how many positions both agents, the one alone, the other alone, or neither came to a solution."""

    both: int
    only_one: int
    only_other: int
    neither: int

    @classmethod
    def of(cls, results: Iterable[tuple[bool, bool]]) -> "Solved":
        """Counted from what the one and the other did on each position."""
        listed = [(bool(one), bool(other)) for one, other in results]
        return cls(*(listed.count(kind) for kind in ((True, True), (True, False), (False, True), (False, False))))

    @property
    def positions(self) -> int:
        """How many positions there are."""
        return sum(self)

    @property
    def difference(self) -> float:
        """The share that the one solved less the share that the other did; 0 without positions."""
        return (self.only_one - self.only_other) / self.positions if self.positions else 0.0


def mcnemar(only_one: int, only_other: int) -> float:
    """The two-sided chance that two equally good agents differ at least this much: an exact sign test.

    Q. McNemar, Note on the sampling error of the difference between correlated proportions, 1947; exact form. Only positions that
    one of both solved say anything; without any, 1.

    >>> mcnemar(0, 6)
    0.03125
    """
    total = only_one + only_other
    ways = tail = 1
    for k in range(min(only_one, only_other)):
        ways = ways * (total - k) // (k + 1)
        tail += ways
    return min(1.0, tail / 2 ** (total - 1)) if total else 1.0


def difference_interval(solved: Solved, z: float = Z95) -> tuple[float, float]:
    """The interval, by default at 95 %, of the difference of both solved shares, within [-1, 1]; all of it without positions.

    The score interval for paired proportions of T. Tango, Equivalence test and confidence interval for the difference in
    proportions for the paired-sample design, 1998: the differences that a score test does not reject. It has a width, too, where
    both always agreed.
    """
    if not solved.positions:
        return -1.0, 1.0
    middle, edge = solved.difference, 1 - 1e-12

    def beyond(difference: float) -> float:
        return _tango(solved, difference)

    low = -1.0 if middle <= -edge else bisect(lambda d: z - beyond(d), -edge, middle)
    high = 1.0 if middle >= edge else bisect(lambda d: -z - beyond(d), middle, edge)
    return low, high


def _tango(solved: Solved, difference: float) -> float:
    """Tango's score statistic: how many deviations the seen difference lies above `difference`, strictly within (-1, 1)."""
    n, one, other = solved.positions, solved.only_one, solved.only_other
    a = 2 * n
    b = (2 * n - one + other) * difference - one - other
    c = -other * difference * (1 - difference)
    share = (sqrt(max(0.0, b * b - 4 * a * c)) - b) / (2 * a)
    variance = n * (2 * share + difference * (1 - difference))
    excess = one - other - n * difference
    return excess / sqrt(variance) if variance > 0 else (0.0 if abs(excess) < 1e-9 else 1e9 * (1 if excess > 0 else -1))


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95 % interval; the bounds are None under two positions."""

    value: float
    low: float | None
    high: float | None


def paired_bootstrap(
    values: Sequence[float], rng: random.Random, *, statistic: Callable[[Sequence[float]], float] = fmean, samples: int = 2000
) -> Estimate | None:
    """A statistic of one value a position, by default the mean, with its 95 % interval; None without positions.

    The percentiles of the statistic over positions drawn anew with replacement (B. Efron, 1979). Hand in the differences of both
    agents, so that what makes a position hard for both falls out. The same generator in the same state gives the same interval.
    """
    if not values:
        return None
    if len(values) < 2:
        return Estimate(statistic(values), None, None)
    drawn = sorted(statistic(rng.choices(values, k=len(values))) for _ in range(samples))
    return Estimate(statistic(values), quantile(drawn, 0.025), quantile(drawn, 0.975))


def paired_difference(pairs: Iterable[tuple[float, float]], rng: random.Random, *, samples: int = 2000) -> Estimate | None:
    """What the one's numbers exceed the other's by, on average over the positions; None without positions."""
    return paired_bootstrap([one - other for one, other in pairs], rng, samples=samples)


def paired_ratio(
    pairs: Iterable[tuple[float, float]], rng: random.Random, *, least: float = 1.0, samples: int = 2000
) -> Estimate | None:
    """How many times as large the one's numbers are as the other's: the geometric mean over the positions; None without
    positions.

    Of nodes or seconds, which spread over orders of magnitude; a number below `least`, such as no nodes at all, counts as
    `least`.
    """
    logs = [log(max(one, least)) - log(max(other, least)) for one, other in pairs]
    found = paired_bootstrap(logs, rng, samples=samples)
    if found is None:
        return None
    low, high = (None if bound is None else exp(bound) for bound in (found.low, found.high))
    return Estimate(exp(found.value), low, high)


def holm(chances: Sequence[float]) -> list[float]:
    """The chances of many tests, each corrected for there being many, in their order: reject what stays at or below 0.05.

    S. Holm, A simple sequentially rejective multiple test procedure, 1979: no more than 5 % risk of any false rejection at all.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected = [0.0] * len(chances)
    worst = 0.0
    for rank, k in enumerate(sorted(range(len(chances)), key=chances.__getitem__)):
        worst = max(worst, min(1.0, (len(chances) - rank) * chances[k]))
        corrected[k] = worst
    return corrected
