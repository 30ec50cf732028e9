"""The agent `human`: in a spec it is an agent like any other, for any game.

Only `arena play` knows it. There, the person at the terminal takes its place.
"""

from collections.abc import Sequence

from arena import Action, Agent, Game, Search, State, hookimpl

NAME = "human"


class Human(Agent):
    """Whoever sits at the terminal."""

    name = NAME
    copes = frozenset({"chance", "hidden-information"})

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Never called, because the terminal asks for the action."""
        raise TypeError("a person is asked at the terminal, by `arena play`")


@hookimpl
def arena_agents() -> Sequence[type[Agent]]:
    """The agent of this module."""
    return [Human]
