"""Default agents with their budgets: the opponent for a person, and the solver for a puzzle."""

from collections.abc import Mapping
from typing import Any

from arena import ArenaError, Game, Registry
from arena.api.games import Abilities
from arena_play import human

DECISION_LIMITS: Mapping[str, Any] = {"nodes": 100_000}
"""The default limits on a decision in a game: about a second for the slowest of the built-in games."""
SOLUTION_LIMITS: Mapping[str, Any] = {"nodes": 2_000_000}
"""The default limits on a solution: some seconds, and less memory than any current machine has."""


def propose_agent(registry: Registry, game: Game, heuristic: str | None = None) -> str:
    """Return the name of the first agent that proposes itself for `game`. If there is none, return the first agent that can play
    the game; raises ArenaError if none can.

    Local search agents are left out, because they start from states that they choose and not from the given position.
    """
    informed = heuristic is not None or (game.name, game.default_heuristic) in registry.heuristics
    names = [name for name in registry.propose_agents(game, informed=informed) if "local" not in registry.agents[name].needs]
    names = names or list_fitting_agents(registry, game)
    if not names:
        raise ArenaError(f"no agent can play {game.name}; `arena matrix` shows why")
    return names[0]


def list_fitting_agents(registry: Registry, game: Game) -> list[str]:
    """Return the names of all agents that can play or solve a game, except `human`."""
    return [
        name
        for name, agent in sorted(registry.agents.items())
        if name != human.NAME and Abilities(agent).find_refusal(game) is None
    ]
