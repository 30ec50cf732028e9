"""The full-width search of a game for two, in negamax form. C. E. Shannon, Programming a Computer for Playing Chess, 1950."""

import sys
from collections.abc import Callable

from arena import Game, Search, State
from arena_agents.deepening import STEP, Horizon, Plies

Value = Callable[[State, int, int], float]
"""(state, seat, ply) -> the value of the state to `seat`, `ply` actions after the root."""


def full_width(
    game: Game, search: Search, depth: Plies, horizon: Horizon, is_quiet: Callable[[State], bool] | None = None
) -> Value:
    """Return a function that looks at every line to `depth` plies, and beyond it while the state is not quiet.

    Who moves is asked of the game at every state, so a seat may have several turns running.
    """
    actions, result, to_move = game.actions, game.result, game.to_move
    is_terminal, returns, evaluate = game.is_terminal, game.returns, search.evaluate
    deepest = sys.maxsize if depth is None else depth
    infinity = float("inf")

    def value(state: State, seat: int, ply: int) -> float:
        if is_terminal(state):
            return returns(state)[seat] * (1.0 - ply * STEP)
        if ply >= deepest and (is_quiet is None or is_quiet(state)):
            horizon.met = True
            return evaluate(state, seat)
        mover = to_move(state)
        best = -infinity
        ply += 1
        for action in actions(state):
            score = value(result(state, action), mover, ply)
            best = max(best, score)
        return best if mover == seat else -best

    return value
