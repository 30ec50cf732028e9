"""Type A with alpha-beta, looking at actions in the order of a priority queue."""

from typing import ClassVar

from arena import Action, Agent, Game, Search, State
from arena_agents.deepening import BEST, Depth, Horizon, Plies, Probe, deepen
from arena_agents.priorities import Priorities
from arena_agents.pruned import pruned


class TypeAPlus(Agent):
    """Plays an action of the same value as Type A, with fewer nodes: alpha-beta, and promising actions first."""

    name = "type-a-plus"
    engine = "type-a-plus"
    needs: ClassVar[frozenset[str]] = frozenset({"two-player", "zero-sum"})
    wants_heuristic = True

    def __init__(self, *, depth: Depth = 2) -> None:
        self.depth = depth

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return an action of the highest value."""
        seat = game.to_move(state)
        priorities = Priorities(game, search, coarse=True)

        def look(depth: Plies, horizon: Horizon) -> Probe:
            loop = search.compiled("type-a-plus", depth=depth, horizon=horizon)
            value = loop or pruned(game, search, depth, horizon, priorities.successors, game.is_quiet)
            return lambda child, top: value(child, seat, 1, top, BEST)

        return deepen(search, priorities.moves(state, seat), self.depth, look, enough=BEST)
