"""Looking a fixed number of plies ahead, in puzzles and in games alike."""

from typing import ClassVar

from arena import Action, Agent, Game, Search, State
from arena_agents.deepening import Depth, Horizon
from arena_agents.full_width import ahead


class Lookahead(Agent):
    """Plays the action with the best value `depth` plies on; ties are broken at random.

    In a puzzle that is the best value at the end of exactly `depth` actions; a line that meets a goal ends there. In a
    game the replies are included: everybody plays for the best value of his own. Where chance moves, the mean counts, and no ply.
    """

    name = "lookahead"
    engine = "full-width"
    copes: ClassVar[frozenset[str]] = frozenset({"chance"})
    wants_heuristic: ClassVar[bool] = True
    reference = "games"

    def __init__(self, *, depth: Depth = 2) -> None:
        self.depth = depth

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return an action that leads to the best value."""
        seat = game.to_move(state)
        value = ahead(game, search, min(self.depth, search.limits.depth or self.depth), Horizon())
        return search.best(game.actions(state), key=lambda action: value(game.result(state, action), seat, 1))
