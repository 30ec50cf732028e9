"""Shares of successes, and how far they can be trusted."""

from math import sqrt

Z95 = 1.959963984540054
"""The 97.5 % point of the standard normal distribution."""


def wilson(successes: int, trials: int, z: float = Z95) -> tuple[float, float]:
    """The Wilson score interval for a share, by default at 95 %; (0, 1) without trials.

    E. B. Wilson, Probable Inference, the Law of Succession, and Statistical Inference, 1927. It never leaves [0, 1], and
    is not empty at 0 or all successes.

    >>> [round(bound, 4) for bound in wilson(8, 10)]
    [0.4902, 0.9433]
    """
    if trials == 0:
        return (0.0, 1.0)
    share = successes / trials
    weight = z * z / trials
    middle = share + weight / 2
    reach = z * sqrt(share * (1 - share) / trials + weight / (4 * trials))
    low = 0.0 if successes == 0 else (middle - reach) / (1 + weight)
    high = 1.0 if successes == trials else (middle + reach) / (1 + weight)
    return (low, high)
