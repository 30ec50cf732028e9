"""Elo: a logarithmic scale of strength, and its relation to the expected score."""

from math import exp, log, log10, sqrt

ELO = 400 / log(10)
"""The Elo points in a natural unit, which is one unit of log-odds. 400 points mean odds of ten to one."""

NORMALIZED_ELO = 800 / log(10)
"""The points of normalised Elo for one standard deviation of the score of a single game."""


def expected_score(elo: float) -> float:
    """Return the expected score, from 0 to 1, for a lead of `elo` points (A. Elo, 1978, the logistic form).

    >>> round(expected_score(191), 2)
    0.75
    """
    x = elo / ELO
    # exp gets only numbers from -700 to 0, so that it neither overflows nor returns denormal numbers
    return 1 / (1 + exp(-x)) if x >= 0 else exp(max(x, -700.0)) / (1 + exp(max(x, -700.0)))


def elo_difference(score: float) -> float | None:
    """Return the lead in Elo for which `score` is the expected score; None for 0 and 1, because the lead is infinite.

    >>> round(elo_difference(0.75) or 0)
    191
    """
    if not 0 < score < 1:
        return None
    return 0.0 - 400 * log10(1 / score - 1)  # not -0.0 for one half


def normalized_elo(score: float, variance: float) -> float | None:
    """Return the lead in normalised Elo; None if the variance is 0.

    The lead is the score above one half, measured in standard deviations of a game and converted to the scale of Elo. `variance`
    is the variance of the mean score of a pair of games, which is half the variance of a game (M. Van den Bergh, Normalized Elo
    in practice). Normalised Elo determines the number of games that a test needs, for any share of draws.
    """
    return (score - 0.5) / sqrt(2 * variance) * NORMALIZED_ELO if variance > 0 else None
