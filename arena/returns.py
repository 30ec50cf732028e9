"""Returns: the range of a game, the scale on which heuristics and searches value states, and the result of a match."""

from collections.abc import Sequence
from math import isfinite, isnan
from typing import Any

from arena.configured import name_of
from arena.errors import GameError, abbreviate
from arena.game import Game, Puzzle, State, gives


def bounds(game: Game) -> tuple[float, float]:
    """Return `min_return` and `max_return` of a game, or the default if the author uses the name for something else."""
    low, high = game.min_return, game.max_return
    if type(low) is type(high) is float and isfinite(low) and not isnan(high):  # the usual case; every match asks
        return low, high
    return low if is_number(low) and isfinite(low) else Game.min_return, high if is_number(high) else Game.max_return


def is_number(given: Any) -> bool:
    """Return whether something is a number, infinity among them."""
    return isinstance(given, (int, float)) and not isinstance(given, bool) and not isnan(given)


def scale_return(game: Game, value: float) -> float:
    """Map a return of a game linearly to the scale from -1 to 1; return it unchanged if the range is open or empty."""
    low, high = bounds(game)
    if (low, high) == (-1, 1) or not _is_range(low, high):
        return value
    return 2.0 * (value - low) / (high - low) - 1.0


def unscale_value(game: Game, value: float) -> float:
    """Return the return of a game that is `value` on the scale from -1 to 1: the inverse of `scale_return`."""
    low, high = bounds(game)
    if (low, high) == (-1, 1) or not _is_range(low, high):
        return value
    return low + (value + 1.0) * (high - low) / 2.0


def _is_range(low: float, high: float) -> bool:
    return isfinite(low) and isfinite(high) and low < high


ZERO_SUM_TOLERANCE = 1e-9
"""The largest sum of the returns of a zero-sum game."""


def check_returns(game: Game, given: Sequence[float]) -> tuple[float, ...]:
    """Return the result of every seat at a terminal state; GameError if `given` breaks a promise of the game."""
    returns = tuple(map(float, given))
    if len(returns) != game.players:
        raise GameError(f"{name_of(game)}: returns gave {len(returns)} values for {game.players} seats")
    low, high = bounds(game)
    for value in returns:
        if not (low <= value <= high and isfinite(value)):
            raise GameError(f"{name_of(game)}: returns gave {returns}; expected values in [{low:g}, {high:g}]")
    if game.zero_sum and abs(sum(returns)) > ZERO_SUM_TOLERANCE:
        raise GameError(f"{name_of(game)}: returns gave {returns}, which do not add up to 0 as zero_sum promises")
    return returns


def standing(game: Game, state: State) -> tuple[float, ...]:
    """Return what every seat has so far, the result at the move limit; zeros if the game does not define it.

    GameError for an impossible result: another number of values, a value that is not finite, or a sum other than 0 in a zero-sum
    game.
    """
    if not gives(game, "standing"):
        return (0.0,) * game.players
    given = game.standing(state)
    try:
        values = tuple(map(float, given))
    except (TypeError, ValueError):
        values = ()
    if len(values) != game.players or not all(map(isfinite, values)):
        raise GameError(
            f"{name_of(game)}: standing gave {abbreviate(given)}; expected a finite number for each of {game.players} seats"
        )
    if game.zero_sum and abs(sum(values)) > ZERO_SUM_TOLERANCE:
        raise GameError(f"{name_of(game)}: standing gave {values}, which do not add up to 0 as zero_sum promises")
    return values


def returns_of_loss(game: Game, seat: int | None, state: State = None) -> tuple[float, ...]:
    """Return everyone's result if one seat loses by a fault: `min_return` for this seat, 0 for the solver of a puzzle.

    In a zero-sum game the others share the difference to 0; otherwise they get their standing in `state`, 0 if it is not known.
    """
    if isinstance(game, Puzzle) or (game.players == 1 and game.zero_sum):
        return (0.0,)
    least = float(bounds(game)[0])
    if game.zero_sum:
        others = [-least / (game.players - 1)] * game.players
    else:
        others = list(standing(game, state)) if state is not None else [0.0] * game.players
    return tuple([least if number == seat else value for number, value in enumerate(others)])
