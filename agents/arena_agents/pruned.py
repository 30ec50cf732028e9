"""Alpha-beta search of a game for two, in negamax form. D. E. Knuth, R. W. Moore, An Analysis of Alpha-Beta Pruning, 1975."""

import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat

from arena import Action, Game, Search, State
from arena_agents.deepening import STEP, Horizon, Plies

Successors = Callable[[State, int], Iterable[State]]
"""(state, seat to move) -> the states after each action, the most promising first, generated when they are asked for."""
Bounded = Callable[[State, int, int, float, float], float]
"""(state, seat, ply, alpha, beta) -> the value of the state to `seat`, exact between alpha and beta, else a bound."""


def pruned(
    game: Game,
    search: Search,
    depth: Plies,
    horizon: Horizon,
    successors: Successors,
    is_quiet: Callable[[State], bool] | None = None,
) -> Bounded:
    """Return a function that finds the value of `full_width` without looking at lines that cannot matter.

    Nobody can do better than to win with the next action, which narrows the window further.
    """
    to_move, is_terminal, returns, evaluate = game.to_move, game.is_terminal, game.returns, search.evaluate
    deepest = sys.maxsize if depth is None else depth
    infinity = float("inf")

    def value(state: State, seat: int, ply: int, alpha: float, beta: float) -> float:
        if is_terminal(state):
            return returns(state)[seat] * (1.0 - ply * STEP)
        if ply >= deepest and (is_quiet is None or is_quiet(state)):
            horizon.met = True
            return evaluate(state, seat)
        mover = to_move(state)
        if mover != seat:
            alpha, beta = -beta, -alpha
        ply += 1
        ceiling = 1.0 - ply * STEP
        best = -infinity
        if beta > ceiling:
            beta = ceiling
            if alpha >= beta:
                best = beta
        if best < beta:
            for child in successors(state, mover):
                score = value(child, mover, ply, alpha, beta)
                if score > best:
                    best = score
                    if score > alpha:
                        alpha = score
                        if alpha >= beta:
                            break
        return best if mover == seat else -best

    return value


def forced_first(game: Game) -> Callable[[State, int], Sequence[Action]]:
    """Return an order of actions: those that win at once, then those that keep the other seat from it, then the rest."""
    actions, threats = game.actions, game.threats

    def order(state: State, mover: int) -> Sequence[Action]:
        legal = actions(state)
        urgent = threats(state, mover) or threats(state, 1 - mover)
        if not urgent:
            return legal
        return [*[a for a in legal if a in urgent], *[a for a in legal if a not in urgent]]

    return order


def in_order(game: Game, order: Callable[[State, int], Sequence[Action]]) -> Successors:
    """Return the successors in the order of actions that `order` gives, each generated when it is asked for."""
    result = game.result

    def successors(state: State, mover: int) -> Iterable[State]:
        return map(result, repeat(state), order(state, mover))

    return successors
