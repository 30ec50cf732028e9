"""Actions in the order of a priority queue: wins, blocks, and then by the heuristic of what they lead to."""

from collections.abc import Iterator
from heapq import heapify, heappop
from typing import Any

from arena import Game, Search, State
from arena_agents.deepening import PROVEN, Move

WINS, BLOCKS, IMPROVES, KEEPS, WORSENS = range(1, 6)


class Priorities:
    """Takes actions from a heap: 1 wins, 2 blocks a win, 3 improves the heuristic, 4 keeps it, 5 worsens it.

    Where it is not `coarse`, those of 3 to 5 come by the heuristic itself, the highest first. A successor is generated
    when it is its turn, or when its heuristic is needed for its priority. So where a win or a block cuts the search off, the rest
    is never made.
    """

    def __init__(self, game: Game, search: Search, *, coarse: bool) -> None:
        self._game = game
        self._evaluate = search.evaluate
        self._coarse = coarse

    def successors(self, state: State, mover: int) -> Iterator[State]:
        """Yield the successors of a state, the highest priority first, equal ones in the order of the game."""
        for _, child in self.numbered(state, mover, None):
            yield child

    def moves(self, state: State, mover: int) -> Iterator[Move]:
        """Yield every action with its successor, the highest priority first, equal ones in the order of the game."""
        legal = self._game.actions(state)
        for number, child in self.numbered(state, mover, None):
            yield legal[number], child

    def numbered(self, state: State, mover: int, hint: int | None) -> Iterator[tuple[int, State]]:
        """Yield the number of every action among those of the game with its successor; the one of `hint` comes first."""
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
        if after > PROVEN:  # a game that does not tell its threats
            return WINS
        return IMPROVES if after > before else KEEPS if after == before else WORSENS
