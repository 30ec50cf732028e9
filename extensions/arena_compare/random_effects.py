"""A random-effects model and tests for results from several domains. The domains are treated as a sample of a population."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite, sqrt

from arena.stats import (
    SIGNIFICANCE_LEVEL,
    bisect,
    chi_squared_tail,
    find_unit,
    flip_signs,
    list_plain,
    student_cdf,
    student_quantile,
)

ROUNDING_DIGITS = 12
"""The number of digits to which effects are rounded before they are ranked, so that rounding errors do not change ranks."""


@dataclass(frozen=True, slots=True)
class RandomEffects:
    """The mean effect over the domains, as an estimate of the mean in their population, with its 95 % interval."""

    value: float
    """The mean of the effects. Each domain counts the same."""
    low: float | None
    """`low` and `high` are the bounds of the interval; None if neither the rounds nor the domains differ."""
    high: float | None
    p_value: float
    """The two-sided p-value for the hypothesis that the mean effect is 0."""
    domains: int
    """The number of domains."""
    deviation: float
    """The standard deviation of the effects."""
    skewness: float
    """The skewness of the effects: the third power of their deviations from the mean, in standard deviations with the divisor
    `domains`, on average.
    """
    within: tuple[float, float] | None
    """The standard error of `value` by the rounds within the domains alone, and its degrees of freedom; None if they are
    unknown.
    """
    spread: float
    """The standard deviation of the true effects between domains."""
    spread_p_value: float
    """The p-value of Cochran's test for the hypothesis that all domains have the same effect."""

    def widened(self, chance: float) -> "RandomEffects":
        """Return the same effect with an interval that misses it with probability `chance`."""
        if self.deviation == 0 and not self.within:
            return replace(self, low=None, high=None)
        reach = student_quantile(self.domains - 1, 1 - chance / 2) / sqrt(self.domains)
        further = reach + abs(self.skewness) * (reach**2 / 3 + 1 / (6 * self.domains))
        low = self.value - self.deviation * (further if self.skewness < 0 else reach)
        high = self.value + self.deviation * (further if self.skewness > 0 else reach)
        if self.within:
            error, freedom = self.within
            reach = student_quantile(freedom, 1 - chance / 2) * error
            low, high = min(low, self.value - reach), max(high, self.value + reach)
        return replace(self, low=low, high=high)


def combine(effects: Sequence[float], errors: Sequence[float], within: tuple[float, float] | None = None) -> RandomEffects:
    """Return the mean effect over domains. `effects` contains the effect in each domain, and `errors` their standard errors,
    which are above 0. `within` is the standard error of the mean by the rounds within the domains alone, and its degrees of
    freedom.

    The interval is the wider one of two on each side. One is Student's interval of the effects. On the side of the longer tail,
    it reaches further, by the term for skewness of P. Hall (Inverting an Edgeworth expansion, 1983), because often one domain has
    a far larger effect than the others. The other one is by `within`, so that domains that happen to agree do not claim more than
    their rounds allow. No weight depends on an effect. The spread between domains is estimated by the method of R. Paule and
    J. Mandel (Consensus values and weighting factors, 1982). Raises ValueError for fewer than two domains.

    >>> found = combine([0.1, 0.3, 0.2], [0.05, 0.05, 0.05])
    >>> round(found.value, 6), round(found.low, 3), round(found.high, 3)
    (0.2, -0.048, 0.448)
    >>> round(combine([0.2, 0.2, 0.2], [0.05, 0.05, 0.05], within=(0.05, 60)).low, 3)
    0.1
    """
    effects, errors = list_plain(effects), list_plain(errors)
    number = len(effects)
    if (unit := find_unit([*effects, *errors])) != 1:
        error = within and (within[0] / unit, within[1])
        return _multiply(combine([one / unit for one in effects], [one / unit for one in errors], error), unit)
    spread_p_value = find_spread_p_value(effects, errors)
    mean = sum(effects) / number
    deviations = [effect - mean for effect in effects]
    squares = sum([deviation**2 for deviation in deviations])
    if squares <= number * (max(map(abs, effects)) * 10**-ROUNDING_DIGITS) ** 2:  # equal but for rounding
        squares = 0.0
    scale = sqrt(squares / number)
    skewness = sum([(deviation / scale) ** 3 for deviation in deviations]) / number if scale else 0.0
    deviation = sqrt(squares / (number - 1))
    p_values = []
    if squares:
        p_values.append(2 * student_cdf(number - 1, -_find_reach(mean / deviation, skewness, number) * sqrt(number)))
    if within:
        p_values.append(2 * student_cdf(within[1], -abs(mean) / within[0]))
    if not p_values:  # nothing varies, so only the signs of the effects are left
        p_values.append(sign_test(effects))
    between = _spread(effects, [error**2 for error in errors])
    found = RandomEffects(mean, None, None, max(p_values), number, deviation, skewness, within, sqrt(between), spread_p_value)
    return found.widened(SIGNIFICANCE_LEVEL)


def _multiply(found: RandomEffects, unit: float) -> RandomEffects:
    low, high = [None if bound is None else bound * unit for bound in (found.low, found.high)]
    within = found.within and (found.within[0] * unit, found.within[1])
    value, deviation, spread = found.value * unit, found.deviation * unit, found.spread * unit
    return replace(found, value=value, low=low, high=high, deviation=deviation, within=within, spread=spread)


def find_spread_p_value(effects: Sequence[float], errors: Sequence[float]) -> float:
    """Return the p-value of Cochran's test for the hypothesis that all domains have the same effect. Raises ValueError for fewer
    than two domains.
    """
    effects, errors = list_plain(effects), list_plain(errors)
    if len(effects) < 2 or len(errors) != len(effects) or not all(error > 0 and isfinite(error) for error in errors):
        raise ValueError("expected the effects of two domains or more, each with a standard error above 0")
    unit = find_unit([*effects, *errors])
    effects, errors = [one / unit for one in effects], [one / unit for one in errors]
    return chi_squared_tail(len(effects) - 1, _weighted(effects, [error**-2 for error in errors])[1])


def _find_reach(ratio: float, skewness: float, number: int) -> float:
    """Return the `reach` (see `RandomEffects.widened`) with which the interval of a mean ends at 0. `ratio` is the mean, divided
    by the standard deviation.
    """
    if ratio * skewness >= 0:  # the longer tail is away from 0
        return abs(ratio)
    rest = max(0.0, abs(ratio) - abs(skewness) / (6 * number))
    return 2 * rest / (1 + sqrt(1 + 4 / 3 * abs(skewness) * rest))


def _weighted(effects: Sequence[float], weights: Sequence[float]) -> tuple[float, float]:
    """Return the weighted mean, and the weighted sum of squares about it."""
    total = sum(weights)
    mean = sum([weight * effect for weight, effect in zip(weights, effects, strict=True)]) / total
    return mean, sum([weight * (effect - mean) ** 2 for weight, effect in zip(weights, effects, strict=True)])


def _spread(effects: Sequence[float], variances: Sequence[float]) -> float:
    """Return the variance between domains for which the weighted sum of squares is the number of domains minus one."""

    def excess(between: float) -> float:
        return len(effects) - 1 - _weighted(effects, [1 / (variance + between) for variance in variances])[1]

    if excess(0.0) >= 0:
        return 0.0
    most = max(effects) - min(effects)
    return bisect(excess, 0.0, most**2 * len(effects))


def signed_ranks(effects: Sequence[float]) -> float:
    """Return the two-sided p-value of Wilcoxon's exact signed-rank test. Its null hypothesis is that effects are symmetric about
    0.

    F. Wilcoxon, Individual comparisons by ranking methods, 1945. Effects of 0 are left out, and effects of equal size share the
    mean of their ranks. The p-value is exact even if ranks are shared.

    >>> signed_ranks([0.1, 0.2, 0.3, 0.4, 0.5])
    0.0625
    """
    effects = list_plain(effects)
    largest = max([1.0, *map(abs, effects)])
    known = [rounded for effect in effects if (rounded := round(effect / largest, ROUNDING_DIGITS))]
    sizes = sorted(map(abs, known))
    # ranks are doubled, because a shared rank may be a multiple of one half
    doubled = [bisect_left(sizes, abs(effect)) + bisect_right(sizes, abs(effect)) + 1 for effect in known]
    return flip_signs([rank if effect > 0 else -rank for rank, effect in zip(doubled, known, strict=True)])


def sign_test(effects: Sequence[float]) -> float:
    """Return the two-sided p-value of the exact sign test. Its null hypothesis is that effects above and below 0 are equally
    likely.

    >>> round(sign_test([0.1, 0.2, 0.3, 0.4, 0.5]), 12)
    0.0625
    """
    return flip_signs([(effect > 0) - (effect < 0) for effect in list_plain(effects)])
