"""Games and agents of open_spiel, and our games for it."""

from arena import Agent, Game, hookimpl
from arena_bridges.openspiel.agents import OpenSpielCFR, OpenSpielMCTS
from arena_bridges.openspiel.game import OpenSpiel
from arena_bridges.openspiel.outward import register

__all__ = ["OpenSpiel", "OpenSpielCFR", "OpenSpielMCTS", "arena_agents", "arena_games", "register"]


@hookimpl
def arena_games() -> list[type[Game]]:
    """Return the game that stands for all of open_spiel's."""
    return [OpenSpiel]


@hookimpl
def arena_agents() -> list[type[Agent]]:
    """Return open_spiel's own agents for it."""
    return [OpenSpielMCTS, OpenSpielCFR]
