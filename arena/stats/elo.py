"""Elo: a logarithmic scale of strength, and its relation to the expected score."""

from math import exp, log, log10, sqrt

ELO = 400 / log(10)
"""Elo points of one natural unit (one unit of log-odds): 400 points are odds of ten to one."""

NORMALIZED_ELO = 800 / log(10)
"""Normalised Elo of one standard deviation of a single game."""


def expected_score(elo: float) -> float:
    """The expected score, within [0, 1], at a lead of `elo` points (A. Elo, 1978, the logistic form).

    >>> round(expected_score(191), 2)
    0.75
    """
    x = elo / ELO
    # Only exp of a number at or below 0, and not below -700, so that it neither overflows nor gives denormal numbers.
    return 1 / (1 + exp(-x)) if x >= 0 else exp(max(x, -700.0)) / (1 + exp(max(x, -700.0)))


def elo_difference(score: float) -> float | None:
    """The lead in Elo at which `score` is the expected score; None at 0 and 1, because it is infinite.

    >>> round(elo_difference(0.75) or 0)
    191
    """
    if not 0 < score < 1:
        return None
    return -400 * log10(1 / score - 1)


def normalized_elo(score: float, variance: float) -> float | None:
    """The lead in normalised Elo: the score above one half in standard deviations of a game, on Elo's scale; None without
    variance.

    `variance` is the variance of the mean of a pair of games, so half the variance of a game (M. Van den Bergh, Normalized Elo in
    practice). It determines the number of games that a test needs, for any share of draws.
    """
    return (score - 0.5) / sqrt(2 * variance) * NORMALIZED_ELO if variance > 0 else None


def effect_size(elo: float) -> float:
    """The effect size of a normalised lead: the mean score of pairs above one half, in standard deviations of a pair's mean."""
    return elo * sqrt(2) / NORMALIZED_ELO
