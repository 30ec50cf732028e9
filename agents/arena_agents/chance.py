"""The agent that every other one should beat."""

from collections.abc import Sequence
from typing import ClassVar

from arena import Action, Agent, Game, Search, State


class Random(Agent):
    """Plays a legal action at random, each with the same chance."""

    name = "random"
    copes: ClassVar[frozenset[str]] = frozenset({"chance", "hidden-information"})
    uses_heuristic = False
    reference = True

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return a random action."""
        return search.rng.choice(game.actions(state))

    def policy(self, game: Game, observation: State) -> Sequence[float]:
        """Return the same probability for every action."""
        actions = game.actions(observation)
        return [1.0 / len(actions)] * len(actions)
