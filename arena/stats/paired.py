"""Tests and intervals for paired differences: two competitors on the same positions, or in the same rounds.

One decision: `agree` makes the interval of a difference contain 0 exactly if the test does not decide.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import fsum, gcd, isclose, lcm, sqrt
from typing import NamedTuple

from arena.stats.distributions import binomial_cdf, list_plain, student_cdf, student_quantile

SIGNIFICANCE_LEVEL = 0.05
"""The significance level of every claim: the probability of a false one, if there is no difference."""
MAX_FLIPPED = 400
"""The largest number of differences whose signs are flipped. With more, the test is Student's t."""
LEVELS = 200_000
"""The number of steps of the grid to which differences are rounded before their signs are flipped, divided by their number. With
it, p-values above 0.0001 deviate by less than 1 % from those without a grid for up to 100 differences, and by less than 3 % for
more.
"""
BOUND_LEVELS = 20_000
"""The same for the many tests that a bound needs, because a bound hardly depends on the grid."""
MIN_LEVELS = 64
MIN_EXACT_LEVELS = 1000
"""Values that are at most this number of common units are tested without rounding, however many there are."""
MAX_DENOMINATOR = 5040
"""The largest denominator of a value that counts as a fraction, and not as a number without a common unit."""
MAX_BOUND_OPERATIONS = 150_000_000
"""The largest number of additions by which the bounds of an interval are found exactly."""
MAX_ENUMERATED = 16
"""The largest number of values without a common unit for which all subsets are listed."""
BISECTIONS = 14
"""The number of steps by which a bound of more values is found: to 1 / 16,000 of the range of the values."""
SIGN_FLIPS, MCNEMAR, STUDENT = "sign flips", "McNemar's exact test", "Student's t"
Bounds = tuple[float | None, float | None]


class PairedTest(NamedTuple):
    """The two-sided p-value of a test whose null hypothesis is that there is no difference, and the name of the test."""

    p_value: float
    name: str


def test_differences(values: Iterable[float]) -> PairedTest:
    """Test whether independent differences are symmetric about 0: by sign flips, or by Student's t above MAX_FLIPPED of them.

    Differences of one size are tested by the signs at any number. `values` may be a Counter of differences.

    >>> test_differences([1.5, 2.0, 0.5, 1.0, 2.5, 3.0])
    PairedTest(p_value=0.03125, name='sign flips')
    """
    counted = _count(values)
    number = counted.total()
    if number <= MAX_FLIPPED or len({abs(value) for value in counted if value}) < 2:
        return PairedTest(flip_signs(counted), SIGN_FLIPS)
    return PairedTest(student_p_value(counted), STUDENT)


def _count(values: Iterable[float]) -> Counter[float]:
    found = Counter(values)
    return Counter(dict(zip(list_plain(found), list_plain(found.values()), strict=True)))


def student_p_value(values: Iterable[float], freedom: float | None = None) -> float:
    """Return the two-sided p-value of Student's t-test of the hypothesis that the mean of independent values is 0.

    It is 1 for fewer than two values, and for values that are all equal. `values` may be a Counter. By default, there is one
    degree of freedom less than there are values.
    """
    counted = _count(values)
    number = counted.total()
    if number < 2 or len(counted) < 2:
        return 1.0
    mean = sum([value * times for value, times in counted.items()]) / number
    squares = sum([(value - mean) ** 2 * times for value, times in counted.items()])
    return 2 * student_cdf(freedom or number - 1, -abs(mean) / sqrt(squares / (number - 1) / number))


def test_groups(groups: Sequence[Sequence[float]]) -> PairedTest:
    """Test whether the sums of groups of differences are symmetric about 0, see `test_differences`. Differences of one group may
    depend on each other. There is no test, with an empty name, for fewer than two groups.

    >>> test_groups([[1.0, 1.0], [1.0], [1.0], [2.0], [1.0], [1.0]])
    PairedTest(p_value=0.03125, name='sign flips')
    """
    if len(groups) < 2:
        return PairedTest(1.0, "")
    return test_differences([group[0] if len(group) == 1 else round_off(fsum(group)) for group in groups])


test_groups.__test__ = False  # type: ignore[attr-defined]
test_differences.__test__ = False  # type: ignore[attr-defined]  # pytest collects names that begin with `test`


def flip_signs(values: Iterable[float]) -> float:
    """Return the two-sided p-value of the exact sign-flip test. Its null hypothesis is that each value is as likely with the
    opposite sign.

    The p-value is the share of all combinations of signs for which the sum is at least as far from 0 as observed (R. A. Fisher,
    The Design of Experiments, 1935). If all values other than 0 are of one size, it is the sign test. Values that have no common
    unit, such as logarithms, are rounded to a grid first; the test of the rounded values is exact. `values` may be a Counter.

    >>> round(flip_signs([2] * 8 + [0, 0]), 9)
    0.0078125
    """
    return _flip_signs(values, LEVELS)


def _flip_signs(values: Iterable[float], steps_in_all: int) -> float:
    counted = {value: times for value, times in _count(values).items() if value}
    sizes = {abs(value) for value in counted}
    number = sum(counted.values())
    if len(sizes) < 2:
        fewer = min([sum([times for value, times in counted.items() if (value > 0) == side]) for side in (True, False)])
        return min(1.0, 2 * binomial_cdf(fewer, number, 0.5)) if number else 1.0
    largest, levels = max(sizes), max(MIN_LEVELS, steps_in_all // number)
    common = _common_unit(sizes)
    unit = common if common is not None and largest <= max(levels, MIN_EXACT_LEVELS) * common else largest / levels
    steps: Counter[int] = Counter()
    for value, times in counted.items():
        steps[round(value / unit)] += times
    flipped: Counter[int] = Counter()
    for step, times in steps.items():
        flipped[abs(step)] += times
    return _flip_steps(tuple(sorted(flipped.items())), abs(sum([step * times for step, times in steps.items()])))


def _common_unit(sizes: Iterable[float]) -> float | None:
    """Return the largest unit of which all sizes are whole multiples, except for errors of rounding; None if there is none.

    Means over the games of a round have such a unit. On another grid, sums that are equal would often differ.
    """
    fractions = []
    for size in sizes:
        fraction = Fraction(size).limit_denominator(MAX_DENOMINATOR)
        if not isclose(fraction, size, rel_tol=1e-9):
            return None
        fractions.append(fraction)
    denominator = lcm(*[fraction.denominator for fraction in fractions])
    return gcd(*[int(fraction * denominator) for fraction in fractions]) / denominator


@lru_cache(4096)
def _flip_steps(sizes: tuple[tuple[int, int], ...], observed: int) -> float:
    """Return the share of combinations of signs for which whole numbers with these sizes have a sum as far from 0 as `observed`.

    The sum is the sum of all sizes minus twice the sum of the flipped ones, so only small sums of flipped sizes are followed.
    """
    import numpy as np

    most = (sum([size * times for size, times in sizes]) - observed) // 2
    shares = np.zeros(most + 1)
    shares[0] = 1.0
    for size, times in sizes:
        for _ in range(times):
            flipped = shares[: most + 1 - size] / 2 if size <= most else shares[:0]
            shares /= 2
            shares[size:] += flipped
    return min(1.0, 2 * float(shares.sum())) if observed else 1.0


def subtract(one: float, other: float) -> float:
    """Return the difference of two costs; 0 if it can be an error of rounding, because equal paths may add up in another order.

    >>> subtract(0.1 + 0.2, 0.3), subtract(3.0, 2.5)
    (0.0, 0.5)
    """
    return 0.0 if isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) else one - other


def round_off(value: float) -> float:
    """Return a sort key without errors of rounding, so that figures that are equal but for them share a rank.

    >>> round_off(0.1 + 0.2) == round_off(0.3), round_off(1e-16) == 0.0
    (True, True)
    """
    return float(f"{round(value, 12):.12g}")


def student_interval(values: Sequence[float], chance: float = SIGNIFICANCE_LEVEL, freedom: float | None = None) -> Bounds:
    """Return the interval of the mean by Student's t; `chance` is the probability that it misses the mean.

    There is no interval for fewer than two values, or for values that are all equal.
    """
    values = list_plain(values)
    if len(set(values)) < 2:
        return None, None
    mean, number = sum(values) / len(values), len(values)
    error = sqrt(sum([(value - mean) ** 2 for value in values]) / (number - 1) / number)
    reach = student_quantile(freedom or number - 1, 1 - chance / 2) * error
    return mean - reach, mean + reach


def mean_interval_of(values: Sequence[float], chance: float = SIGNIFICANCE_LEVEL, sizes: Sequence[int] | None = None) -> Bounds:
    """Return the interval of the mean that `test_differences` gives: the means that it does not refute at the level `chance`.

    With sign flips, these are means of subsets of the values (J. A. Hartigan, Using subsample values as typical values, 1969); a
    bound is None if there are too few values to refute any mean. Above MAX_FLIPPED values, it is `student_interval`. `sizes` are
    the weights of the values: a mean of several values has their number.
    """
    values = list_plain(values)
    weights = [1] * len(values) if sizes is None else list_plain(sizes)
    mean = sum([value * size for value, size in zip(values, weights, strict=True)]) / max(1, sum(weights))
    if len(values) > MAX_FLIPPED:
        scale = len(values) / sum(weights)  # the mean is a ratio of two sums, so its variance is linearised
        spread = [mean + scale * size * (value - mean) for value, size in zip(values, weights, strict=True)]
        return student_interval(values if sizes is None else spread, chance)
    least, most = min(values, default=0.0), max(values, default=0.0)
    if least == most or 2 * 0.5 ** len(values) > chance:
        return None, None

    return (
        _exact_bounds(values, weights, chance)
        or _enumerated_bounds(values, weights, chance)
        or _approximate_bounds(values, weights, chance, mean)
    )


def _exact_bounds(values: Sequence[float], weights: Sequence[int], chance: float) -> tuple[float, float] | None:
    """Return the bounds of the means that sign flips do not refute; None if the values have no common unit, or are too many.

    For a mean t below the observed one, the p-value is twice the share of subsets whose own mean is at most t, where the empty
    set counts, too. So the bound is the first mean of a subset at which this share exceeds half of `chance`.
    """
    import numpy as np

    unit = _common_unit({abs(value) for value in values if value})
    if unit is None:
        return None
    least, total = min(values), sum(weights)
    steps = [round((value - least) / unit) for value in values]
    cells = (total + 1) * (total * max(steps) + 1)
    if cells * len(values) > MAX_BOUND_OPERATIONS:
        return None
    shares = np.zeros((total + 1, total * max(steps) + 1))  # of the subsets with this weight and this sum
    shares[0, 0] = 1.0
    weight = furthest = 0
    for step, size in zip(steps, weights, strict=True):
        flipped = shares[: weight + 1, : furthest + 1] / 2
        shares[: weight + 1, : furthest + 1] /= 2
        weight, furthest = weight + size, furthest + size * step
        shares[size : weight + 1, size * step : furthest + 1] += flipped
    empty = 0.5 ** len(values)
    shares[0, 0] = 0.0
    weights_of, sums = np.nonzero(shares)
    means, known = sums / weights_of, shares[weights_of, sums]
    bounds = []
    for order in (np.argsort(means, kind="stable"), np.argsort(-means, kind="stable")):
        place = order[int(np.searchsorted(np.cumsum(known[order]) + empty, chance / 2 * (1 + 1e-12), side="right"))]
        sum_of_steps = Fraction(int(sums[place]), int(weights_of[place])) + round(least / unit)
        bounds.append(float(sum_of_steps * Fraction(unit).limit_denominator(MAX_DENOMINATOR**2)))
    return bounds[0], bounds[1]


def _enumerated_bounds(values: Sequence[float], weights: Sequence[int], chance: float) -> tuple[float, float] | None:
    """Return the same bounds by the means of all subsets; None for more than MAX_ENUMERATED values."""
    import numpy as np

    if len(values) > MAX_ENUMERATED:
        return None
    sums, sizes = np.zeros(1), np.zeros(1)
    for value, size in zip(values, weights, strict=True):
        sums, sizes = np.concatenate([sums, sums + size * value]), np.concatenate([sizes, sizes + size])
    means = np.sort(sums[1:] / sizes[1:])
    refuted = int(chance / 2 * (1 + 1e-12) * 2 ** len(values))  # subsets, with the empty one
    return float(means[refuted - 1]), float(means[-refuted])


def _approximate_bounds(values: Sequence[float], weights: Sequence[int], chance: float, mean: float) -> tuple[float, float]:
    """Return the same bounds by bisection, on a grid. A bound that is exactly 0 is 0."""

    def refutes(middle: float) -> bool:
        deviations = [size * (value - middle) for value, size in zip(values, weights, strict=True)]
        return _flip_signs(deviations, BOUND_LEVELS) <= chance

    def find_bound(outside: float) -> float:
        if mean * outside < 0 and _jumps_at_zero(values, weights, chance):
            return 0.0
        inside = mean
        for _ in range(BISECTIONS):
            middle = (inside + outside) / 2
            inside, outside = (inside, middle) if refutes(middle) else (middle, outside)
        return (inside + outside) / 2

    return find_bound(min(values)), find_bound(max(values))


def _jumps_at_zero(values: Sequence[float], weights: Sequence[int], chance: float) -> bool:
    """Return whether the mean 0 is not refuted, and each mean on its other side is."""
    unit = _common_unit({abs(value) for value in values if value})
    if unit is None:
        return False
    steps = [size * round(value / unit) for value, size in zip(values, weights, strict=True)]
    sizes, observed = tuple(sorted(Counter([abs(step) for step in steps if step]).items())), abs(sum(steps))
    return observed > 0 and _flip_steps(sizes, observed + 1) <= chance < _flip_steps(sizes, observed)


def agree(bounds: Bounds, *, decided: bool, value: float, equal: float = 0.0) -> Bounds:
    """Return the bounds of a difference with observed `value` so that they agree with the decision of its test.

    If the test decides, `equal` and all beyond it is refuted, so it is a bound; if it does not, the interval reaches to `equal`.
    """
    low, high = bounds
    if decided:
        return (
            low if low is None or value < equal else max(low, equal),
            high if high is None or value > equal else min(high, equal),
        )
    return None if low is None else min(low, equal), None if high is None else max(high, equal)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the Holm-adjusted p-values of several tests, in the same order.

    S. Holm, A simple sequentially rejective multiple test procedure, 1979: rejecting at or below 0.05 keeps the family-wise error
    rate at 5 %.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p_values, adjusted = list_plain(p_values), [0.0] * len(p_values)
    largest = 0.0
    for rank, k in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[k]))  # never below the result for a smaller p-value
        adjusted[k] = largest
    return adjusted


def holm_chances(p_values: Sequence[float]) -> list[float]:
    """Return the significance level at which Holm's method tests each p-value, in the same order.

    Those that it does not reach are tested at the level of the first that fails. An interval at this level contains 0 exactly if
    the test fails (R. C. Serlin, Confidence intervals and the scientific method: a case for Holm on the range, 1993). Equal
    p-values share the level of the first of them, so that their order does not matter.

    >>> [round(chance, 4) for chance in holm_chances([0.01, 0.04, 0.03])]
    [0.0167, 0.025, 0.025]
    >>> [round(chance, 4) for chance in holm_chances([0.01, 0.01, 0.03])]
    [0.0167, 0.0167, 0.05]
    """
    chances = [SIGNIFICANCE_LEVEL] * len(p_values)
    level, first, failed = SIGNIFICANCE_LEVEL, -1.0, False
    for rank, k in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if not failed and not isclose(p_values[k], first, rel_tol=1e-9):
            level, first = SIGNIFICANCE_LEVEL / (len(p_values) - rank), p_values[k]
        chances[k] = level
        failed = failed or p_values[k] > level
    return chances
