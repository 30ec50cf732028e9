"""A random-effects model and tests for results from several domains. The domains are treated as a sample of a population."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite, sqrt

from arena.stats import bisect, chi_squared_tail, flip_signs, student_cdf, student_quantile

ROUNDING_DIGITS = 12
"""The number of digits to which effects are rounded before they are ranked, so that rounding errors do not change ranks."""


@dataclass(frozen=True, slots=True)
class RandomEffects:
    """The estimated mean effect in the population of domains, with its 95 % interval."""

    value: float
    low: float | None
    """`low` and `high` are the bounds of the interval; None if neither the rounds nor the domains differ."""
    high: float | None
    p_value: float
    """The two-sided p-value for the hypothesis that the mean effect is 0."""
    spread: float
    """The standard deviation of the true effects between domains."""
    spread_p_value: float
    """The p-value of Cochran's test for the hypothesis that all domains have the same effect."""

    def widened(self, chance: float, domains: int) -> "RandomEffects":
        """Return the same effect of a number of domains with an interval that misses it with the probability `chance`."""
        if self.low is None or self.high is None:
            return self
        factor = student_quantile(domains - 1, 1 - chance / 2) / student_quantile(domains - 1, 0.975)
        return replace(
            self, low=self.value + factor * (self.low - self.value), high=self.value + factor * (self.high - self.value)
        )


def combine(effects: Sequence[float], errors: Sequence[float]) -> RandomEffects:
    """Return the mean effect over domains. `effects` has the effect in each domain, and `errors` their standard errors, which are
    above 0.

    The spread between domains is estimated by the method of R. Paule and J. Mandel (Consensus values and weighting factors,
    1982). The spread is above 0 exactly if the effects differ more than their errors explain on average. The interval has the
    correction by G. Knapp and J. Hartung (Improved tests for a random effects meta-regression with a single covariate, 2003).
    Raises ValueError for fewer than two domains.

    >>> found = combine([0.1, 0.3, 0.2], [0.05, 0.05, 0.05])
    >>> round(found.value, 6), round(found.low, 3), round(found.high, 3)
    (0.2, -0.048, 0.448)
    """
    number = len(effects)
    if number < 2 or len(errors) != number or not all(error > 0 and isfinite(error) for error in errors):
        raise ValueError("expected the effects of two domains or more, each with a standard error above 0")
    variances = [error**2 for error in errors]
    between = _spread(effects, variances)
    mean, squares, weight = _weighted(effects, [1 / (variance + between) for variance in variances])
    scale = squares / (number - 1)
    if scale < 1e-24:  # all domains have the same effect, so their spread gives no interval
        scale = 1.0
    error = sqrt(scale / weight)
    reach = student_quantile(number - 1, 0.975) * error
    _, cochran, _ = _weighted(effects, [1 / variance for variance in variances])
    return RandomEffects(
        mean,
        mean - reach,
        mean + reach,
        2 * student_cdf(number - 1, -abs(mean) / error),
        sqrt(between),
        chi_squared_tail(number - 1, cochran),
    )


def _weighted(effects: Sequence[float], weights: Sequence[float]) -> tuple[float, float, float]:
    """Return the weighted mean, the weighted sum of squares about it, and the sum of the weights."""
    total = sum(weights)
    mean = sum([weight * effect for weight, effect in zip(weights, effects, strict=True)]) / total
    return mean, sum([weight * (effect - mean) ** 2 for weight, effect in zip(weights, effects, strict=True)]), total


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
    known = [rounded for effect in effects if (rounded := round(effect, ROUNDING_DIGITS))]
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
    return flip_signs([(effect > 0) - (effect < 0) for effect in effects])
