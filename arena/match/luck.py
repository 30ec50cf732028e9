"""Returns without the luck of chance: an unbiased estimate of what a seat is worth, with less variance than its returns.

At every chance node the value of what came is held against the mean of what could have come; the sum of these differences has
the mean 0 whatever the values are, so it may be taken off (a control variate; for games White and Bowling 2009 call such an
estimate MIVAT, and Zinkevich and others 2006 the advantage sum).
"""

from collections.abc import Sequence

from arena.game import CHANCE, Game, State
from arena.heuristic import Evaluation
from arena.match.chance_streams import chance_outcomes, has_chance
from arena.match.record import Record
from arena.match.replay import steps
from arena.returns import unscaled


def adjusted_returns(
    game: Game, record: Record, evaluation: Evaluation | None = None, start: State | None = None
) -> tuple[float, ...] | None:
    """Return `returns - sum over chance nodes of (V(after) - E V(after))` of every seat; None for a void match.

    V is the return of a terminal state, elsewhere what `evaluation` says, as a rule the default heuristic of the game, mapped
    back to the scale of returns; 0 without one. A game without chance has its returns. The match begins at `start`, by default
    where its position says. Differs where the rules do not allow what the record says.
    """
    if record.termination == "void":
        return None
    if not has_chance(game):
        return record.returns
    adjusted = list(record.returns)
    before: State = None
    for step in steps(game, record, start):
        if step.seat == CHANCE:
            came = _values(game, step.state, evaluation)
            means = _means(game, before, evaluation)
            adjusted = [value - (own - mean) for value, own, mean in zip(adjusted, came, means, strict=True)]
        before = step.state
    return tuple(adjusted)


def _means(game: Game, state: State, evaluation: Evaluation | None) -> list[float]:
    """The mean of the values after chance has moved, of every seat."""
    means = [0.0] * game.players
    for action, probability in chance_outcomes(game, state):
        values = _values(game, game.result(state, action), evaluation)
        means = [mean + probability * value for mean, value in zip(means, values, strict=True)]
    return means


def _values(game: Game, state: State, evaluation: Evaluation | None) -> Sequence[float]:
    if game.is_terminal(state):
        return game.returns(state)
    if evaluation is None:
        return [0.0] * game.players
    return [unscaled(game, evaluation(state, seat)) for seat in range(game.players)]
