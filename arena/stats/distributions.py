"""Student's t, the binomial and the chi-squared distribution, without scipy, because importing it takes a quarter of a second.

Leading factors are written with the remainder of Stirling's formula (C. Loader, Fast and accurate computation of binomial
probabilities, 2000), because differences of the logarithms of large gamma functions would lose their digits.
"""

from collections.abc import Iterable
from functools import lru_cache
from math import copysign, erfc, exp, frexp, inf, isfinite, lgamma, log, log1p, pi, sqrt
from statistics import NormalDist
from typing import Any

HALF_LOG_TAU = log(2 * pi) / 2
LARGEST_SIZE, SMALLEST_SIZE = 1e100, 1e-100
"""Between these sizes, the third power of a value is an ordinary float."""
MAX_UNIT_EXPONENT = 1022
"""The largest exponent of a power of two that can be inverted without a loss of digits."""
MAX_ITERATIONS = 10_000
"""A limit for loops, which need far fewer iterations for parameters up to 1e9."""
MAX_BETA_FREEDOM = 10_000
"""Above these degrees of freedom, the beta function loses digits, but a normal quantile does not (G. Hill, 1970)."""


def list_plain(values: Iterable[Any]) -> list[Any]:
    """Return numbers as Python numbers. The operators of numpy's numbers differ, and some overflow or have fewer digits.

    >>> import numpy as np
    >>> list_plain(np.array([0.5, 2.0], dtype=np.float32)), list_plain([np.int64(3), 1])
    ([0.5, 2.0], [3, 1])
    """
    return [value.item() if hasattr(value, "item") else value for value in values]


def find_unit(values: Iterable[float]) -> float:
    """Return the power of two by which to divide values so that sums of their squares neither overflow nor vanish; 1 for
    ordinary values. No digit is lost by the division.

    >>> find_unit([0.5, -3e99]), find_unit([-1.5 * 2.0**600, 2.0]) == 2.0**600
    (1.0, True)
    """
    largest = max(map(abs, values), default=0.0)
    if largest == 0 or SMALLEST_SIZE < largest < LARGEST_SIZE or not isfinite(largest):
        return 1.0
    return float(2.0 ** max(-MAX_UNIT_EXPONENT, min(MAX_UNIT_EXPONENT, frexp(largest)[1] - 1)))


def student_cdf(freedom: float, t: float) -> float:
    """Return the probability that Student's t with these degrees of freedom is at most `t`.

    >>> round(student_cdf(1, 1), 12)
    0.75
    """
    tail = _student_tail(freedom, t)
    return tail if t < 0 else 1 - tail


@lru_cache(1024)
def student_quantile(freedom: float, probability: float) -> float:
    """Return the value that Student's t with these degrees of freedom exceeds with a probability of `1 - probability`.

    >>> round(student_quantile(10, 0.975), 3)
    2.228
    """
    outside = min(probability, 1 - probability)
    if outside <= 0:
        return copysign(inf, probability - 0.5)
    # Newton's method climbs to the quantile from below, because the distribution is concave; a start above it only costs a step.
    z = -NormalDist().inv_cdf(outside)
    t = z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2) if freedom > 4 else z
    half = freedom / 2
    height = exp(half * log1p(0.5 / half) - 0.5 + _stirling(half + 0.5) - _stirling(half) - HALF_LOG_TAU)
    for _ in range(MAX_ITERATIONS):
        density = height * exp(-(half + 0.5) * log1p(t * t / freedom))
        step = (_student_tail(freedom, t) - outside) / density
        t = max(z, t + step)
        if abs(step) <= 1e-8 * t:  # the next step would be about the square of it
            break
    return copysign(t, probability - 0.5)


def _student_tail(freedom: float, t: float) -> float:
    """Return the probability beyond |t| on one side."""
    square = t * t
    if freedom > MAX_BETA_FREEDOM:
        a = freedom - 0.5
        z, b = sqrt(a * log1p(square / freedom)), 48 * a * a
        more = (4 * z**7 + 33 * z**5 + 240 * z**3 + 855 * z) / (10 * b * (b + 0.8 * z**4 + 100))
        return erfc((z + (z**3 + 3 * z) / b - more) / sqrt(2)) / 2
    return beta_share(freedom / 2, 0.5, freedom / (freedom + square), square / (freedom + square)) / 2


def binomial_cdf(successes: int, trials: int, probability: float) -> float:
    """Return the probability of at most this many successes.

    >>> round(binomial_cdf(0, 6, 0.5), 12)
    0.015625
    """
    return 1.0 if successes >= trials else beta_share(trials - successes, successes + 1, 1 - probability, probability)


def beta_share(a: float, b: float, x: float, y: float) -> float:
    """Return the regularised incomplete beta function at x; y is 1 - x. It is computed as a continued fraction (by Lentz)."""
    if x <= 0 or y <= 0:
        return 0.0 if x <= 0 else 1.0
    total = a + b
    if x > (a + 1) / (total + 2):
        return 1 - beta_share(b, a, y, x)
    excess = b * x - a * y
    front = a * _log_ratio(x * total / a, excess / a) + b * _log_ratio(y * total / b, -excess / b)
    front += _stirling(total) - _stirling(a) - _stirling(b) - HALF_LOG_TAU
    d = 1 / (1 - total * x / (a + 1))
    c, fraction = 1.0, d
    for m in range(1, MAX_ITERATIONS):
        place = a + 2 * m
        term = m * (b - m) * x / ((place - 1) * place)
        d = 1 / (1 + term * d)
        c = 1 + term / c
        fraction *= d * c
        term = -(a + m) * (total + m) * x / (place * (place + 1))
        d = 1 / (1 + term * d)
        c = 1 + term / c
        fraction *= d * c
        if abs(d * c - 1) < 4e-16:
            break
    return exp(front) * sqrt(b / (a * total)) * fraction


def chi_squared_tail(freedom: int, value: float) -> float:
    """Return the probability that chi-squared with these degrees of freedom is above `value`.

    >>> round(chi_squared_tail(2, 2), 12) == round(exp(-1), 12)
    True
    """
    s, y = freedom / 2, value / 2
    if y <= 0:
        return 1.0
    front = exp(s * (_log_ratio(y / s, (y - s) / s) - (y - s) / s) - _stirling(s) - HALF_LOG_TAU) * sqrt(s)
    total = 0.0
    if y < s:
        while front > 1e-17 * total:
            front *= 1 / s if not total else y / s
            s += 1
            total += front
        return 1 - total
    term = front / y
    while s >= 1 and term > 1e-17 * total:
        total += term
        s -= 1
        term *= s / y
    return total + (erfc(sqrt(y)) if freedom % 2 else 0.0)


def _log_ratio(ratio: float, excess: float) -> float:
    """Return the logarithm of a ratio that equals 1 + excess. Whichever of both numbers is more precise is used."""
    return log1p(excess) if abs(excess) < 0.5 else log(ratio)


def _stirling(x: float) -> float:
    """Return the logarithm of the gamma function minus Stirling's formula."""
    if x < 16:
        return lgamma(x) - (x - 0.5) * log(x) + x - HALF_LOG_TAU
    square = x * x
    return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / (1188 * square)) / square) / square) / square) / x
