"""The agent `human`. A spec can name it like any other agent, for any game.

Only `arena play` loads it. There, the person at the terminal is asked for an action instead of the agent.
"""

from collections.abc import Sequence

from arena import Action, Agent, Game, Search, State, hookimpl

NAME = "human"


class Human(Agent):
    """The person at the terminal."""

    name = NAME
    copes = frozenset({"chance", "hidden-information"})

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Raise TypeError, because the terminal asks the person for an action."""
        raise TypeError("a person can only play at a terminal, with `arena play`")


@hookimpl
def arena_agents() -> Sequence[type[Agent]]:
    """The agent of this module."""
    return [Human]
