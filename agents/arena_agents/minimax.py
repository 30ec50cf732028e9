"""Minimax: every line to the end, or to a depth."""

from typing import ClassVar

from arena import Action, Agent, Game, Limits, Search, State
from arena_agents.deepening import Depth, Horizon, Plies, Probe, deepen, each, endless
from arena_agents.full_width import full_width


class Minimax(Agent):
    """Plays the best action against the best replies, looking at every line to `depth` plies or to the end.

    Of equal actions it plays the first. Under a budget it deepens ply by ply.
    """

    name = "minimax"
    engine = "full-width"
    needs: ClassVar[frozenset[str]] = frozenset({"two-player", "zero-sum"})

    def __init__(self, *, depth: Depth | None = None) -> None:
        self.depth = depth

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return the first of the best actions."""
        seat = game.to_move(state)

        def look(depth: Plies, horizon: Horizon) -> Probe:
            loop = search.compiled("full-width", depth=depth, horizon=horizon)
            value = full_width(game, search, depth, horizon) if loop is None else loop
            return lambda child, top: value(child, seat, 1)

        return deepen(search, each(game, state, game.actions(state)), self.depth, look)

    def needs_limit(self, limits: Limits) -> bool:
        """Return True without a depth and without a budget."""
        return endless(self.depth, limits)
