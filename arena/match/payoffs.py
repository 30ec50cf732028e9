"""What the seats get at the end of a match, however it ends."""

from collections.abc import Sequence
from math import isfinite

from arena.configured import name_of
from arena.errors import GameError, shown
from arena.game import Game, Puzzle, State, gives
from arena.returns import bounds

TOLERANCE = 1e-9


def checked_returns(game: Game, given: Sequence[float]) -> tuple[float, ...]:
    """Return what every seat gets at a terminal state; GameError where it is not what the game promises."""
    returns = tuple(map(float, given))
    if len(returns) != game.players:
        raise GameError(f"{name_of(game)}: returns gave {len(returns)} values for {game.players} seats")
    low, high = bounds(game)
    for value in returns:
        if not (low <= value <= high and isfinite(value)):
            raise GameError(f"{name_of(game)}: returns gave {returns}; expected values in [{low:g}, {high:g}]")
    if game.zero_sum and abs(sum(returns)) > TOLERANCE:
        raise GameError(f"{name_of(game)}: returns gave {returns}, which do not add up to 0 as zero_sum promises")
    return returns


def standing(game: Game, state: State) -> tuple[float, ...]:
    """Return what every seat has so far, the result at the move limit; zeros where the game does not tell.

    GameError for what cannot be a result: another number of values, none that is finite, or of a zero-sum game a sum but 0.
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
            f"{name_of(game)}: standing gave {shown(given)}; expected a finite number for each of {game.players} seats"
        )
    if game.zero_sum and abs(sum(values)) > TOLERANCE:
        raise GameError(f"{name_of(game)}: standing gave {values}, which do not add up to 0 as zero_sum promises")
    return values


def lost(game: Game, seat: int | None, state: State = None) -> tuple[float, ...]:
    """Return what everyone gets when one seat loses by a fault: that seat `min_return`, and a puzzle's solver 0.

    The others share what keeps a zero-sum game zero-sum; else they get what they have in `state`, 0 where that is not known.
    """
    if isinstance(game, Puzzle) or (game.players == 1 and game.zero_sum):
        return (0.0,)
    least = float(bounds(game)[0])
    if game.zero_sum:
        others = [-least / (game.players - 1)] * game.players
    else:
        others = list(standing(game, state)) if state is not None else [0.0] * game.players
    return tuple([least if number == seat else value for number, value in enumerate(others)])
