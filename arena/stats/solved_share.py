"""The Wilson interval for the share of attempts that were solved."""

from math import sqrt

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
