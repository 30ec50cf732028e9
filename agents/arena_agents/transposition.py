"""Alpha-beta search with a memory: states that are met again, by another order of moves or in a deeper iteration.

D. E. Knuth, R. W. Moore, An Analysis of Alpha-Beta Pruning, 1975; for the table, R. D. Greenblatt and others, The Greenblatt
Chess Program, 1967, and D. M. Breuker, Memory versus Search in Games, 1998.
"""

import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

from arena import Action, Game, Search, State
from arena_agents.deepening import PROVEN, STEP, Horizon, Plies
from arena_agents.pruned import Bounded

MOST = 1_000_000
"""States that a table holds; when it is full, it takes no new ones."""

WHOLE = sys.maxsize
"""The depth of a search that met no horizon: it holds at any depth."""

_INFINITY = float("inf")


class TableEntry(NamedTuple):
    """What is known of a state: its value to whoever moves lies between two bounds."""

    depth: int
    """Plies searched below the state; WHOLE where nothing was cut off."""
    low: float
    high: float
    ply: int
    """Actions from the root to the state as it was met; the bounds are seen from the root."""
    action: Action
    """The best action found, the one to look at first."""


Table = dict[State, TableEntry]


def remembering(
    game: Game, search: Search, depth: Plies, horizon: Horizon, order: Callable[[State, int], Sequence[Action]], table: Table
) -> Bounded:
    """Return a function that finds the value of `pruned`, and notes in `table` what it learns of each state.

    The table may come from searches of other depths from the same root. What it tells counts if it was searched deep
    enough, or to the end; its action is looked at first in any case.
    """
    to_move, is_terminal, returns, evaluate, result = (
        game.to_move, game.is_terminal, game.returns, search.evaluate, game.result,
    )  # fmt: skip
    deepest = WHOLE if depth is None else depth
    find = table.get

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
        floor, best, chosen = alpha, -_INFINITY, None
        for action in _hinted(order(state, mover), entry):
            score = value(result(state, action), mover, ply + 1, alpha, beta)
            if score > best:
                best = score
                chosen = action
                if score > alpha:
                    alpha = score
                    if alpha >= beta:
                        break
        if entry is not None or len(table) < MOST:
            low, high = _bounds(best, floor, beta, ceiling)
            table[state] = TableEntry(deepest - ply if horizon.met else WHOLE, low, high, ply, chosen)
        horizon.met |= met
        return best if mover == seat else -best

    return value


def _hinted(actions: Sequence[Action], entry: TableEntry | None) -> Sequence[Action]:
    """The actions in their order, but the one that was best before comes first."""
    if entry is None:
        return actions
    best = entry.action
    return [best, *[action for action in actions if action != best]]


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
