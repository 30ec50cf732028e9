"""Student's t distribution: its distribution function and its quantiles, for any positive number of degrees of freedom."""

from collections.abc import Callable
from math import exp, inf, lgamma, log, log1p, sqrt
from statistics import NormalDist

_NORMAL = NormalDist()
_NEARLY_NORMAL = 1e6
"""Degrees of freedom from which on the normal distribution and the first term of the expansion beyond it say all (26.7.5)."""


def t_cdf(t: float, df: float) -> float:
    """The chance that Student's t with `df` > 0 degrees of freedom is at most `t`, to about 1e-9.

    By the incomplete beta function (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.1 and 26.5.8).
    """
    if df >= _NEARLY_NORMAL:
        return _NORMAL.cdf(t - (t**3 + t) / (4 * df))
    square = t * t
    tail = _incomplete_beta(df / 2, 0.5, df / (df + square), square / (df + square)) / 2
    return tail if t < 0 else 1 - tail


def t_quantile(share: float, df: float) -> float:
    """The value that Student's t with `df` degrees of freedom stays below with the chance `share`, strictly within (0, 1).

    >>> round(t_quantile(0.975, 9), 4)
    2.2622
    """
    if df >= _NEARLY_NORMAL:
        z = _NORMAL.inv_cdf(share)
        return z + (z**3 + z) / (4 * df)
    if share < 0.5:
        return -t_quantile(1 - share, df)
    high = 1.0
    while t_cdf(high, df) < share:
        high *= 2
    return bisect(lambda t: t_cdf(t, df) - share, 0.0, high)


def bisect(rising: Callable[[float], float], low: float, high: float) -> float:
    """The place between `low` and `high` where a rising function changes its sign, to the last bits of a float."""
    for _ in range(200):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if rising(middle) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """The regularised incomplete beta function at x; `rest` is 1 - x, handed in since it may be tiny."""
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(b, a, rest, x)
    log_rest = log1p(-x) if x < 0.5 else log(rest)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log_rest) / a
    return front * _continued_fraction(a, b, x)


def _continued_fraction(a: float, b: float, x: float) -> float:
    """The fraction of 26.5.8, evaluated by Lentz's method."""
    value, upper, lower = 1.0, 1.0, 0.0
    previous = inf
    for step in range(1, 20 + int(20 * sqrt(a + b))):
        m = step // 2
        if step % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        lower = 1 / (1 + term * lower)
        upper = 1 + term / upper
        previous, value = value, value * upper * lower
        if abs(value - previous) < 1e-15 * abs(value):
            break
    return 1 / value
