"""The agent `human`: as far as a spec is concerned an agent like any other, that anybody may seat at any game.

It is known to `arena play` alone, where its place is taken by whoever sits at the terminal.
"""

from collections.abc import Sequence

from arena import Action, Agent, Game, State, hookimpl
from arena.api.match import Search

NAME = "human"


class Human(Agent):
    """Whoever sits at the terminal."""

    name = NAME
    copes = frozenset({"chance", "hidden-information"})

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Nobody calls this: the terminal asks for the action."""
        raise TypeError("a person is asked at the terminal, by `arena play`")


@hookimpl
def arena_agents() -> Sequence[type[Agent]]:
    """The agent of this module."""
    return [Human]
