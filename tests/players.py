"""Agents with which tests play. The file is also a plugin: a spec names it as `str(PLAYERS)`."""

import time
from pathlib import Path
from typing import Any

from arena import Agent, Game, Search, hookimpl

PLAYERS = Path(__file__)


class First(Agent):
    """Plays the first legal action."""

    name = "first"

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        """Return the first action."""
        return game.actions(state)[0]


class Last(Agent):
    """Plays the last legal action."""

    name = "last"

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        """Return the last action."""
        return game.actions(state)[-1]


class Raiser(Agent):
    """Raises an exception in every decision."""

    name = "raiser"

    def __init__(self, *, message: str = "boom") -> None:
        self.message = message

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        """Raise the exception."""
        raise RuntimeError(self.message)


class Sleeper(Agent):
    """Sleeps in every decision, and plays the first legal action."""

    name = "sleeper"

    def __init__(self, *, seconds: float = 0.5) -> None:
        self.seconds = seconds

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        """Sleep, and return the first action."""
        time.sleep(self.seconds)
        return game.actions(state)[0]


class Scripted(Agent):
    """Chooses by a function."""

    name = "scripted"

    def __init__(self, *, does: Any = None) -> None:
        self.does = does

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        """Return the result of the function."""
        return self.does(game, state, search)


class Solver(Agent):
    """Returns a solution, or the result of a function."""

    name = "solver"

    def __init__(self, *, found: Any = None) -> None:
        self.found = found

    def solve(self, game: Game, state: Any, search: Search) -> Any:
        """Return the solution."""
        return self.found(game, state, search) if callable(self.found) else self.found


@hookimpl
def arena_agents() -> list[type[Agent]]:
    """Return the agents that a spec can name."""
    return [First, Last, Raiser, Sleeper]
