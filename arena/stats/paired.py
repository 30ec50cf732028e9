"""Tests and intervals for paired differences: two competitors on the same positions, or in the same rounds.

One decision: `agree` makes the interval of a difference contain 0 exactly if the test does not decide.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import ceil, floor, fsum, gcd, isclose, lcm, ldexp, log2, log10, sqrt
from typing import NamedTuple

from arena.stats.distributions import binomial_cdf, find_unit, list_plain, student_cdf, student_quantile

SIGNIFICANCE_LEVEL = 0.05
"""The significance level of every claim: the probability of a false one, if there is no difference."""
MAX_FLIPPED = 400
"""The signs of at most this many differences are flipped. With more, the test is Student's t."""
CELLS = 50_000
"""The number of cells into which sums are sorted, see `flip_signs`. It bounds the memory, whatever the values are."""
EXACT_UNITS = 8
"""Values are not rounded if the sum of their sizes is at most this number of common units for each cell."""
BOUND_CELLS = 5_000
"""The same for the many tests that a bound needs, because a bound hardly depends on the cells."""
MAX_DENOMINATOR = 5040
"""The largest denominator of a value that counts as a fraction, and not as a number without a common unit."""
MAX_UNITS = 2**40
"""If a value is more than this number of units, floats cannot tell whether it is a multiple of the unit."""
MAX_BOUND_OPERATIONS = 150_000_000
"""The largest number of additions by which the bounds of an interval are found exactly."""
MAX_BOUND_CELLS = 2_500_000
"""The largest number of cells, for the sums and weights of subsets, in which these bounds are found; they take about 50 MB."""
MAX_HALVINGS = 1000
"""The number of times that a cell is halved at most; the smallest float is about 2^-1074 of 1."""
MAX_ENUMERATED = 16
"""The largest number of values without a small common unit for which all subsets are listed."""
EQUAL_SUMS = 1e-12
"""Sums that differ by less than this part of the sum of all sizes are equal, but for errors of rounding."""
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
    unit = find_unit(counted)
    counted = Counter({value / unit: times for value, times in counted.items()})
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
    return test_differences(
        [group[0] if len(group) == 1 else round_off(fsum(group), max(map(abs, group), default=0.0)) for group in groups]
    )


test_groups.__test__ = False  # type: ignore[attr-defined]
test_differences.__test__ = False  # type: ignore[attr-defined]  # pytest collects names that begin with `test`


def flip_signs(values: Iterable[float]) -> float:
    """Return the two-sided p-value of the exact sign-flip test. Its null hypothesis is that each value is as likely with the
    opposite sign.

    The p-value is the share of all combinations of signs for which the sum is at least as far from 0 as observed (R. A. Fisher,
    The Design of Experiments, 1935). If all values other than 0 are of one size, it is the sign test. `values` may be a Counter.

    It is exact if the values are multiples of a common unit and their sizes sum to at most EXACT_UNITS * CELLS units, and for up
    to MAX_ENUMERATED values other than 0, whose combinations are listed. Other values, such as logarithms or rates, are rounded
    from the largest to the smallest: each by at most 1 / CELLS of the sum of its size and all smaller ones. The test of the
    rounded values is exact. If the p-value of the values is above 0.0001, the result deviates from it by less than 1 % for up to
    100 values, and by less than 3 % for more. Memory and time depend on the number of the values, and not on their sizes.

    >>> round(flip_signs([2] * 8 + [0, 0]), 9)
    0.0078125
    """
    return _flip_signs(values, CELLS)


def _flip_signs(values: Iterable[float], cells: int) -> float:
    counted = {value: times for value, times in _count(values).items() if value}
    sizes = {abs(value) for value in counted}
    number = sum(counted.values())
    if len(sizes) < 2:
        fewer = min([sum([times for value, times in counted.items() if (value > 0) == side]) for side in (True, False)])
        return min(1.0, 2 * binomial_cdf(fewer, number, 0.5)) if number else 1.0
    return _share_beyond(tuple(sorted(counted.items())), cells)


def _common_unit(sizes: Collection[float]) -> float | None:
    """Return the largest unit of which all sizes are whole multiples, except for errors of rounding; None if there is none.

    Means over the games of a round have such a unit. With other roundings, sums that are equal would often differ.
    """
    largest, unit = max(sizes, default=0.0), Fraction(0)
    for size in sizes:
        fraction = Fraction(size).limit_denominator(MAX_DENOMINATOR)
        unit = Fraction(gcd(unit.numerator, fraction.numerator), lcm(unit.denominator, fraction.denominator))
        if not isclose(fraction, size, rel_tol=1e-9) or largest > MAX_UNITS * unit:
            return None
    return float(unit)


@lru_cache(1024)
def _share_beyond(counted: tuple[tuple[float, int], ...], cells: int, *, strict: bool = False) -> float:
    """Return the share of combinations of signs for which the sum of values is as far from 0 as it is, or with `strict` farther.

    `counted` contains the values other than 0 and their numbers. See `flip_signs` for the rounding.
    """
    import numpy as np

    largest, unit = max([abs(value) for value, _ in counted]), _common_unit({abs(value) for value, _ in counted})
    scaled = [(value / largest, times) for value, times in counted]  # so that no sum overflows
    values = sorted([value for value, times in scaled if value for _ in range(times)], key=abs)
    rests = list(accumulate(map(abs, values)))
    total, finest = rests[-1], 0.0 if unit is None else unit / largest
    if total > EXACT_UNITS * cells * finest:
        if len(values) <= MAX_ENUMERATED:
            sums = np.zeros(1)
            for value in values:
                sums = np.concatenate([sums - value, sums + value])
            far = abs(fsum(values)) + total * (EQUAL_SUMS if strict else -EQUAL_SUMS)
            return min(1.0, 2 * float(np.mean(sums >= far)))
        halvings = max(0, ceil(log2(total / cells / finest))) if finest else MAX_HALVINGS
        width = finest * 2**halvings if finest else total / cells
    else:
        halvings, width = 0, finest
    # A value is rounded to a cell whose width is halved as often as the sum of the sizes up to this one is half of all sizes.
    depths = [min(halvings, int(log2(total) - log2(rest))) for rest in rests]
    steps = [round(ldexp(value / width, depth)) << depths[0] - depth for value, depth in zip(values, depths, strict=True)]
    rest = sum(map(abs, steps))
    slack = (rest - abs(sum(steps))) // 2 - strict  # flipping a value of the larger sign uses up its size
    if slack < 0:
        return 0.0
    cell, inside = 1 << depths[0], 0.0
    shares, offset = np.zeros(slack // cell + 1), slack % cell  # the share of the combinations with each slack
    shares[-1] = 1.0
    for step, depth in zip(map(abs, reversed(steps)), reversed(depths), strict=True):
        finer = 1 << depths[0] - depth
        if finer < cell:
            first, offset = divmod(offset, finer)
            split = np.zeros(first + (len(shares) - 1) * (cell // finer) + 1)
            split[first :: cell // finer] = shares
            shares, cell = split, finer
        rest -= step
        flipped = shares[step // cell :] / 2
        shares /= 2
        shares[: len(flipped)] += flipped
        undecided = max(0, -((offset - rest) // cell))  # with more slack, all values that follow may be flipped
        inside += float(shares[undecided:].sum())
        shares = shares[:undecided]
        if not len(shares):
            break
    return min(1.0, 2 * inside)


def subtract(one: float, other: float) -> float:
    """Return the difference of two values; 0 if it can be an error of rounding, because equal paths may add up in another order.

    The limit is relative, because values may have any unit: a difference of 1e-12 is large for seconds of 1e-9.

    >>> subtract(0.1 + 0.2, 0.3), subtract(3.0, 2.5), subtract(4e-13, 0.0)
    (0.0, 0.5, 4e-13)
    """
    return 0.0 if isclose(one, other, rel_tol=1e-9) else one - other


def round_off(value: float, size: float = 1.0) -> float:
    """Return a sort key without errors of rounding, so that figures that are equal but for them share a rank.

    `size` is the size of the numbers from which the value was computed. If it is below 1, the value has more decimals.

    >>> round_off(0.1 + 0.2) == round_off(0.3), round_off(1e-16) == 0.0, round_off(3e-13, size=1e-12)
    (True, True, 3e-13)
    """
    decimals = 12 - floor(log10(size)) if 0 < size < 1 else 12
    return float(f"{round(value, decimals):.12g}")


def student_interval(values: Sequence[float], chance: float = SIGNIFICANCE_LEVEL, freedom: float | None = None) -> Bounds:
    """Return the interval of the mean by Student's t; `chance` is the probability that it misses the mean.

    There is no interval for fewer than two values, or for values that are all equal.
    """
    unit = find_unit(list_plain(values))
    values = [value / unit for value in list_plain(values)]
    if len(set(values)) < 2:
        return None, None
    mean, number = sum(values) / len(values), len(values)
    error = sqrt(sum([(value - mean) ** 2 for value in values]) / (number - 1) / number)
    reach = student_quantile(freedom or number - 1, 1 - chance / 2) * error
    return (mean - reach) * unit, (mean + reach) * unit


def mean_interval_of(values: Sequence[float], chance: float = SIGNIFICANCE_LEVEL, sizes: Sequence[int] | None = None) -> Bounds:
    """Return the interval of the mean of independent differences that goes with `test_differences`; `chance` is the probability
    that it misses the mean, and `sizes` are the weights of the values: a mean of several values has their number.

    It is `sign_flip_interval`. If that contains 0, it also contains `student_interval`, up to the largest difference on either
    side. For most values, the two hardly differ. But sign flips assume that the values are symmetric about their mean: if most
    rounds are equal and the few others favour one competitor, they refute every lead of the other, although there may be rounds
    of a kind that was not drawn. Above MAX_FLIPPED values, it is `student_interval`. A bound is None if there are too few values.

    >>> low, high = mean_interval_of([0.0] * 18 + [1.0, 1.0])
    >>> round(low, 3), sign_flip_interval([0.0] * 18 + [1.0, 1.0])[0]
    (-0.044, 0.0)
    """
    values = list_plain(values)
    weights = [1] * len(values) if sizes is None else list_plain(sizes)
    mean = sum([value * size for value, size in zip(values, weights, strict=True)]) / max(1, sum(weights))
    scale = len(values) / max(1, sum(weights))  # the mean is a ratio of two sums, so its variance is linearised
    spread = [mean + scale * size * (value - mean) for value, size in zip(values, weights, strict=True)]
    usual = student_interval(values if sizes is None else spread, chance)
    if len(values) > MAX_FLIPPED:
        return usual
    (low, high), (least, most) = usual, sign_flip_interval(values, chance, sizes)
    if low is None or high is None or least is None or most is None or least > 0 or most < 0:
        return least, most
    furthest = max(map(abs, values))
    return max(min(low, least), -furthest), min(max(high, most), furthest)


def sign_flip_interval(values: Sequence[float], chance: float = SIGNIFICANCE_LEVEL, sizes: Sequence[int] | None = None) -> Bounds:
    """Return the means that sign flips do not refute at the level `chance`: an interval of the mean if the values are symmetric.

    Its ends are means of subsets of the values (J. A. Hartigan, Using subsample values as typical values, 1969). There is none if
    there are too few values to refute any mean. `sizes` are the weights of the values.
    """
    values = list_plain(values)
    weights = [1] * len(values) if sizes is None else list_plain(sizes)
    least, most = min(values, default=0.0), max(values, default=0.0)
    if least == most or 2 * 0.5 ** len(values) > chance:
        return None, None
    mean = sum([value * size for value, size in zip(values, weights, strict=True)]) / sum(weights)
    return (
        _exact_bounds(values, weights, chance)
        or _enumerated_bounds(values, weights, chance)
        or _approximate_bounds(values, weights, chance, mean)
    )


def _exact_bounds(values: Sequence[float], weights: Sequence[int], chance: float) -> tuple[float, float] | None:
    """Return the bounds of the means that sign flips do not refute; None if the values have no common unit, or are too
    many or too large.

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
    if cells > MAX_BOUND_CELLS or cells * len(values) > MAX_BOUND_OPERATIONS:
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
    """Return the same bounds by bisection. A bound that is exactly 0 is 0."""

    def refutes(middle: float) -> bool:
        deviations = [size * (value - middle) for value, size in zip(values, weights, strict=True)]
        return _flip_signs(deviations, BOUND_CELLS) <= chance

    def find_bound(outside: float) -> float:
        if mean * outside <= 0 and _jumps_at_zero(values, weights, chance):
            return 0.0
        inside = mean
        for _ in range(BISECTIONS):
            middle = (inside + outside) / 2
            inside, outside = (inside, middle) if refutes(middle) else (middle, outside)
        return (inside + outside) / 2

    return find_bound(min(values)), find_bound(max(values))


def _jumps_at_zero(values: Sequence[float], weights: Sequence[int], chance: float) -> bool:
    """Return whether the mean 0 is not refuted, and each mean on its other side is."""
    counted = Counter([size * value for value, size in zip(values, weights, strict=True) if value])
    known = tuple(sorted(counted.items()))
    return bool(known) and _share_beyond(known, CELLS, strict=True) <= chance < _share_beyond(known, CELLS)


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
