"""One ply: whatever looks best right after the action."""

from arena import Action, Agent, Game, Search, State


class Greedy(Agent):
    """Plays the action whose successor the heuristic likes best; ties are broken at random."""

    name = "greedy"
    wants_heuristic = True
    reference = True

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return the action with the best successor."""
        seat = game.to_move(state)
        return search.best(game.actions(state), key=lambda action: search.evaluate(game.result(state, action), seat))
