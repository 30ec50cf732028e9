"""Expectimax: every line to a depth, and the mean where chance moves."""

from typing import ClassVar

from arena import Action, Agent, Game, Search, State
from arena_agents.deepening import Depth, Horizon, Plies, Probe, deepen, each
from arena_agents.full_width import ahead


class Expectimax(Agent):
    """Plays the action with the best value `depth` decisions on; what chance does in between counts for no ply.

    Any number of seats: two in a zero-sum game play against each other, else everybody for himself, a single seat for its score.
    Of equal actions it plays the first. Under a budget it deepens to `depth`, ply by ply. D. Michie, Game-Playing and
    Game-Learning Automata, 1966.
    """

    name = "expectimax"
    copes: ClassVar[frozenset[str]] = frozenset({"chance"})

    def __init__(self, *, depth: Depth = 2) -> None:
        self.depth = depth

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return the first of the best actions."""
        seat = game.to_move(state)

        def look(depth: Plies, horizon: Horizon) -> Probe:
            value = ahead(game, search, depth or self.depth, horizon)
            return lambda child, top: value(child, seat, 1)

        return deepen(search, each(game, state, game.actions(state)), self.depth, look, proven=float("inf"))
