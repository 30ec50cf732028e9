"""Quantiles of a sample."""

from collections.abc import Sequence


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which a share of ordered values lies, between two of them where it falls there.

    `ordered` is not empty, `share` from 0 to 1. Linear interpolation: definition 7 of R. J. Hyndman and Y. Fan, Sample quantiles
    in statistical packages, The American Statistician 50, 1996.

    >>> quantile([1.0, 2.0, 4.0], 0.75)
    3.0
    """
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
