"""Type A with alpha-beta, looking at actions in the order of a priority queue."""

from collections.abc import Iterator
from heapq import heapify, heappop
from typing import ClassVar

from arena import Action, Agent, Game, Search, State
from arena_agents.deepening import BEST, PROVEN, Depth, Horizon, Plies, Probe, deepen
from arena_agents.pruned import pruned

WINS, BLOCKS, IMPROVES, KEEPS, WORSENS = range(1, 6)


class TypeAPlus(Agent):
    """Plays an action of the same value as Type A, with fewer nodes: alpha-beta, and promising actions first."""

    name = "type-a-plus"
    needs: ClassVar[frozenset[str]] = frozenset({"two-player", "zero-sum"})
    wants_heuristic = True

    def __init__(self, *, depth: Depth = 2) -> None:
        self.depth = depth

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return an action of the highest value."""
        seat = game.to_move(state)
        priorities = Priorities(game, search)

        def look(depth: Plies, horizon: Horizon) -> Probe:
            value = pruned(game, search, depth, horizon, priorities.successors, game.is_quiet)
            return lambda child, top: value(child, seat, 1, top, BEST)

        return deepen(search, priorities.pairs(state, seat), self.depth, look, enough=BEST)


class Priorities:
    """Takes actions from a heap: 1 wins, 2 blocks a win, 3 improves the heuristic, 4 keeps it, 5 worsens it.

    A successor is generated when it is its turn, or when its heuristic is needed for its priority. So where a win or a
    block cuts the search off, the rest is never made.
    """

    def __init__(self, game: Game, search: Search) -> None:
        self._game = game
        self._evaluate = search.evaluate

    def successors(self, state: State, mover: int) -> Iterator[State]:
        """Yield the successors of a state, the highest priority first, equal ones in the order of the game."""
        for _, child in self.pairs(state, mover):
            yield child

    def pairs(self, state: State, mover: int) -> Iterator[tuple[Action, State]]:
        """Yield every action with its successor, the highest priority first, equal ones in the order of the game."""
        game = self._game
        legal = game.actions(state)
        wins, blocks = game.threats(state, mover), game.threats(state, 1 - mover)
        forced = [
            (WINS if action in wins else BLOCKS, number)
            for number, action in enumerate(legal)
            if action in wins or action in blocks
        ]
        settled = {number for _, number in forced}
        heapify(forced)
        while forced:
            action = legal[heappop(forced)[1]]
            yield action, game.result(state, action)
        if len(settled) == len(legal):
            return
        before = self._evaluate(state, mover)
        rest = []
        for number, action in enumerate(legal):
            if number not in settled:
                child = game.result(state, action)
                rest.append((self._priority(child, mover, before), number, child))
        heapify(rest)
        while rest:
            _, number, child = heappop(rest)
            yield legal[number], child

    def _priority(self, child: State, mover: int, before: float) -> int:
        after = self._evaluate(child, mover)
        if after > PROVEN:  # a game that does not tell its threats
            return WINS
        return IMPROVES if after > before else KEEPS if after == before else WORSENS
