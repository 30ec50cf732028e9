"""Games and agents of open_spiel, and our games for it."""

from arena_bridges.openspiel.agents import OpenSpielCFR, OpenSpielMCTS
from arena_bridges.openspiel.game import OpenSpiel
from arena_bridges.openspiel.outward import register
from arena_bridges.openspiel.plugin import arena_agents, arena_games

__all__ = ["OpenSpiel", "OpenSpielCFR", "OpenSpielMCTS", "arena_agents", "arena_games", "register"]
