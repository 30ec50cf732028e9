"""Shannon's strategy of type A: full width to a depth, and on from there until nothing is hanging."""

from typing import ClassVar

from arena import Action, Agent, Game, Search, State
from arena_agents.deepening import Depth, Horizon, Plies, Probe, deepen, each
from arena_agents.full_width import full_width


class TypeA(Agent):
    """Looks at every line to `depth` plies, and beyond while a state is not quiet, and evaluates where it stops.

    C. E. Shannon, Programming a Computer for Playing Chess, 1950.
    """

    name = "type-a"
    engine = "type-a"
    needs: ClassVar[frozenset[str]] = frozenset({"two-player", "zero-sum"})
    wants_heuristic = True

    def __init__(self, *, depth: Depth = 2) -> None:
        self.depth = depth

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return the first of the best actions."""
        seat = game.to_move(state)

        def look(depth: Plies, horizon: Horizon) -> Probe:
            loop = search.compiled("type-a", depth=depth, horizon=horizon)
            value = full_width(game, search, depth, horizon, game.is_quiet) if loop is None else loop
            return lambda child, top: value(child, seat, 1)

        return deepen(search, each(game, state, game.actions(state)), self.depth, look)
