"""What the bridge brings."""

from arena import Agent, Game, hookimpl
from arena_bridges.openspiel.agents import OpenSpielCFR, OpenSpielMCTS
from arena_bridges.openspiel.game import OpenSpiel


@hookimpl
def arena_games() -> list[type[Game]]:
    """Return the game that stands for all of open_spiel's."""
    return [OpenSpiel]


@hookimpl
def arena_agents() -> list[type[Agent]]:
    """Return open_spiel's own agents for it."""
    return [OpenSpielMCTS, OpenSpielCFR]
