"""The agent that every other one should beat."""

from arena import Action, Agent, Game, Search, State


class Random(Agent):
    """Plays a legal action at random, each with the same chance."""

    name = "random"
    copes = frozenset({"chance", "hidden-information"})
    uses_heuristic = False
    reference = True

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return a random action."""
        return search.rng.choice(game.actions(state))
