"""The range of a game's returns, and the scale from -1 to 1 on which states are valued by heuristics and searches."""

from math import isfinite, isnan
from typing import Any

from arena.game import Game


def bounds(game: Game) -> tuple[float, float]:
    """Return `min_return` and `max_return` of a game; the default of one that the author uses for something else."""
    low, high = game.min_return, game.max_return
    if type(low) is type(high) is float and isfinite(low) and not isnan(high):  # as a rule; every match asks
        return low, high
    return low if is_number(low) and isfinite(low) else Game.min_return, high if is_number(high) else Game.max_return


def is_number(given: Any) -> bool:
    """Tell whether something is a number, infinity among them."""
    return isinstance(given, (int, float)) and not isinstance(given, bool) and not isnan(given)


def scaled(game: Game, value: float) -> float:
    """Return what a return of a game is on the scale from -1 to 1, linearly; as it is where the range is open or empty."""
    low, high = bounds(game)
    if (low, high) == (-1, 1) or not _is_range(low, high):
        return value
    return 2.0 * (value - low) / (high - low) - 1.0


def unscaled(game: Game, value: float) -> float:
    """Return the return of a game that is `value` on the scale from -1 to 1: the inverse of `scaled`."""
    low, high = bounds(game)
    if (low, high) == (-1, 1) or not _is_range(low, high):
        return value
    return low + (value + 1.0) * (high - low) / 2.0


def _is_range(low: float, high: float) -> bool:
    return isfinite(low) and isfinite(high) and low < high
