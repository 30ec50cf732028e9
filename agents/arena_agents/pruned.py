"""Alpha-beta search for games with two seats, in negamax form, and the order in which it tries actions.

D. E. Knuth, R. W. Moore, An Analysis of Alpha-Beta Pruning, 1975.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heapify, heappop
from itertools import repeat
from typing import Any

from arena import Action, Game, Search, State
from arena_agents.deepening import STEP, Horizon, Move, Plies, largest_value

Successors = Callable[[State, int], Iterable[State]]
"""(state, seat to move) -> the states after each action, the most promising first; each is generated only when it is needed."""
Bounded = Callable[[State, int, int, float, float], float]
"""(state, seat, ply, alpha, beta) -> the value of the state for `seat`: exact between alpha and beta, otherwise a bound."""


def search_pruned(
    game: Game,
    search: Search,
    depth: Plies,
    horizon: Horizon,
    successors: Successors,
    is_quiet: Callable[[State], bool] | None = None,
) -> Bounded:
    """Return a function that finds the same value as `full_width` without searching irrelevant lines.

    No value is better than a win with the next action, so the window can be narrowed further.
    """
    to_move, is_terminal, returns, evaluate = game.to_move, game.is_terminal, game.returns, search.evaluate
    largest = largest_value(game)
    deepest = sys.maxsize if depth is None else depth
    infinity = float("inf")

    def value(state: State, seat: int, ply: int, alpha: float, beta: float) -> float:
        if is_terminal(state):
            return horizon[returns(state)[seat]] * (1.0 - ply * STEP)
        if ply >= deepest and (is_quiet is None or is_quiet(state)):
            horizon.met = True
            return evaluate(state, seat)
        mover = to_move(state)
        if mover != seat:
            alpha, beta = -beta, -alpha
        ply += 1
        ceiling = largest - ply * STEP
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
    """Return an order of actions: wins first, then actions that block a win of the other seat, then the rest."""
    actions, threats = game.actions, game.threats

    def order(state: State, mover: int) -> Sequence[Action]:
        legal = actions(state)
        urgent = threats(state, mover) or threats(state, 1 - mover)
        if not urgent:
            return legal
        return [*[a for a in legal if a in urgent], *[a for a in legal if a not in urgent]]

    return order


def in_order(game: Game, order: Callable[[State, int], Sequence[Action]]) -> Successors:
    """Return the successors in the order of actions that `order` returns. Each is generated only when it is needed."""
    result = game.result

    def successors(state: State, mover: int) -> Iterable[State]:
        return map(result, repeat(state), order(state, mover))

    return successors


WINS, BLOCKS, IMPROVES, KEEPS, WORSENS = range(1, 6)


class Priorities:
    """Takes actions from a heap. Priorities: 1 for a win, 2 for blocking a win, 3 to 5 for a better, equal or worse heuristic
    value.

    Unless `coarse` is set, actions of priority 3 to 5 are ordered by the heuristic value itself, the highest first. A successor
    is generated when its turn comes, or earlier if its priority depends on its heuristic value. So if a winning or blocking
    action cuts the search off, the other successors are never generated.
    """

    def __init__(self, game: Game, search: Search, *, coarse: bool) -> None:
        self._game = game
        self._evaluate = search.evaluate
        self._coarse = coarse

    def successors(self, state: State, mover: int) -> Iterator[State]:
        """Yield the successors of a state, the highest priority first and equal ones in the order of the game."""
        for _, child in self.enumerate_actions(state, mover, None):
            yield child

    def moves(self, state: State, mover: int) -> Iterator[Move]:
        """Yield every action with its successor, the highest priority first and equal ones in the order of the game."""
        legal = self._game.actions(state)
        for number, child in self.enumerate_actions(state, mover, None):
            yield legal[number], child

    def enumerate_actions(self, state: State, mover: int, hint: int | None) -> Iterator[tuple[int, State]]:
        """Yield the index of every action with its successor. The action `hint` comes first."""
        game = self._game
        legal = game.actions(state)
        settled = set[int]()
        if hint is not None:
            settled.add(hint)
            yield hint, game.result(state, legal[hint])
        wins, blocks = game.threats(state, mover), game.threats(state, 1 - mover)
        forced = [
            (WINS if action in wins else BLOCKS, number)
            for number, action in enumerate(legal)
            if (action in wins or action in blocks) and number != hint
        ]
        settled.update([number for _, number in forced])
        heapify(forced)
        while forced:
            number = heappop(forced)[1]
            yield number, game.result(state, legal[number])
        if len(settled) == len(legal):
            return
        before = self._evaluate(state, mover) if self._coarse else 0.0
        rest: list[tuple[float, int, Any]] = []
        for number, action in enumerate(legal):
            if number not in settled:
                child = game.result(state, action)
                rest.append((self._priority(child, mover, before), number, child))
        heapify(rest)
        while rest:
            _, number, child = heappop(rest)
            yield number, child

    def _priority(self, child: State, mover: int, before: float) -> float:
        after = self._evaluate(child, mover)
        if not self._coarse:
            return -after
        if after >= 1.0:  # a win in a game without `threats`
            return WINS
        return IMPROVES if after > before else KEEPS if after == before else WORSENS
