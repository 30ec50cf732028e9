"""Default agents: the opponent of a person and the solver of a puzzle, with their budgets."""

from collections.abc import Mapping
from typing import Any

from arena import ArenaError, Game, Registry
from arena.api.games import find_refusal
from arena_play import human

DECISION_LIMITS: Mapping[str, Any] = {"nodes": 100_000}
"""The default limits of a decision in a game: about a second with the slowest of the built-in games."""
SOLUTION_LIMITS: Mapping[str, Any] = {"nodes": 2_000_000}
"""The default limits of a solution: some seconds, and less memory than any current machine has."""


def propose_agent(registry: Registry, game: Game, heuristic: str | None = None) -> str:
    """Return the name of the agent that is proposed for `game`, else the first that can play it; ArenaError if none can.

    Agents of local search are left out because they start from states of their own and not from the given position.
    """
    informed = heuristic is not None or (game.name, game.default_heuristic) in registry.heuristics
    names = [name for name in registry.propose_agents(game, informed=informed) if "local" not in registry.agents[name].needs]
    names = names or list_fitting_agents(registry, game)
    if not names:
        raise ArenaError(f"no agent can play {game.name}; `arena matrix` tells why")
    return names[0]


def list_fitting_agents(registry: Registry, game: Game) -> list[str]:
    """The names of all agents that can play or solve a game, except `human`."""
    return [name for name, agent in sorted(registry.agents.items()) if name != human.NAME and find_refusal(agent, game) is None]
