"""Alpha-beta search with a memory: states that are met again, by another order of moves or in a deeper iteration.

D. E. Knuth, R. W. Moore, An Analysis of Alpha-Beta Pruning, 1975; for the table, R. D. Greenblatt and others, The Greenblatt
Chess Program, 1967, and D. M. Breuker, Memory versus Search in Games, 1998.
"""

import sys
from collections.abc import Callable, Iterable, Sequence

from arena import Action, Game, Search, State
from arena_agents.deepening import PROVEN, STEP, Horizon, Plies
from arena_agents.pruned import Bounded
from arena_agents.state_tables import Table, TableEntry

WHOLE = sys.maxsize
"""The depth of a search that met no horizon: it holds at any depth."""

Hinted = Callable[[State, int, int | None], Iterable[tuple[int, State]]]
"""(state, seat to move, the number of the action that is best as far as is known) -> every action's number in their order, with
the state after it, that action first, generated when they are asked for."""

_INFINITY = float("inf")


def remembering(game: Game, search: Search, depth: Plies, horizon: Horizon, successors: Hinted, table: Table) -> Bounded:
    """Return a function that finds the value of `pruned`, and notes in `table` what it learns of each state.

    The table may come from searches of other depths from the same root. What it tells counts if it was searched deep
    enough, or to the end; its action is looked at first in any case.
    """
    to_move, is_terminal, returns, evaluate = game.to_move, game.is_terminal, game.returns, search.evaluate
    deepest = WHOLE if depth is None else depth
    find, keep = table.find, table.keep

    def value(state: State, seat: int, ply: int, alpha: float, beta: float) -> float:
        if is_terminal(state):
            return returns(state)[seat] * (1.0 - ply * STEP)
        if ply >= deepest:
            horizon.met = True
            return evaluate(state, seat)
        mover = to_move(state)
        if mover != seat:
            alpha, beta = -beta, -alpha
        entry = find(state)
        if entry is not None and (known := _settled(entry, deepest, ply, alpha, beta)) is not None:
            horizon.met |= entry.depth != WHOLE
            return known if mover == seat else -known
        ceiling = 1.0 - (ply + 1) * STEP
        beta = min(beta, ceiling)
        if alpha >= beta:
            return beta if mover == seat else -beta
        met, horizon.met = horizon.met, False
        floor, best, chosen, before = alpha, -_INFINITY, -1, search.nodes
        for place, child in successors(state, mover, None if entry is None else entry.place):
            score = value(child, mover, ply + 1, alpha, beta)
            if score > best:
                best = score
                chosen = place
                if score > alpha:
                    alpha = score
                    if alpha >= beta:
                        break
        low, high = _bounds(best, floor, beta, ceiling)
        reached = deepest - ply if horizon.met else WHOLE
        keep(state, TableEntry(reached, low, high, ply, chosen, search.nodes - before), known=entry is not None)
        horizon.met |= met
        return best if mover == seat else -best

    return value


def best_first(game: Game, order: Callable[[State, int], Sequence[Action]]) -> Hinted:
    """Return the successors in the order of actions that `order` gives, but the one that was best before comes first."""
    result = game.result

    def successors(state: State, mover: int, hint: int | None) -> Iterable[tuple[int, State]]:
        actions = order(state, mover)
        if hint is not None:
            yield hint, result(state, actions[hint])
        for place, action in enumerate(actions):
            if place != hint:
                yield place, result(state, action)

    return successors


def _bounds(best: float, alpha: float, beta: float, ceiling: float) -> tuple[float, float]:
    """What the outcome of a search with a window says of the value; nothing is above the ceiling."""
    return (best if best > alpha else -_INFINITY), (best if best < beta or best == ceiling else _INFINITY)


def _settled(entry: TableEntry, deepest: int, ply: int, alpha: float, beta: float) -> float | None:
    """The value, or a bound outside the window, that spares a search; None where the entry does not say enough."""
    if entry.depth < deepest - ply:
        return None
    low, high = entry.low, entry.high
    if entry.ply != ply:
        low, high = _moved(low, entry.ply - ply, -_INFINITY), _moved(high, entry.ply - ply, _INFINITY)
    if high <= alpha:
        return high
    return low if low >= beta or low == high else None


def _moved(bound: float, plies: int, unknown: float) -> float:
    """A bound of a state met so many plies nearer to the root: wins and losses move along.

    Whether another value does cannot be told, as it may stand for a return or for an evaluation: then it is `unknown`.
    """
    if PROVEN < abs(bound) <= 1.0:
        return bound + plies * STEP if bound > 0 else bound - plies * STEP
    return bound if bound == 0 else unknown
