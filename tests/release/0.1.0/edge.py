"""A plugin as it was written for release 0.1.0."""

from typing import Any

from arena import Agent, hookimpl


class Edge(Agent):
    """Plays the first or the last action."""

    name = "edge"

    def choose(self, game: Any, state: Any, search: Any) -> Any:
        """Return one of the two actions."""
        actions = list(game.actions(state))
        return search.rng.choice([actions[0], actions[-1]])


@hookimpl
def arena_agents() -> list[type[Agent]]:
    """Return the agent."""
    return [Edge]
