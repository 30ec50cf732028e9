"""Who plays where nobody was named: the opponent of a person, the solver of a puzzle, and their budgets."""

from collections.abc import Mapping
from typing import Any

from arena.commands.terminal import human
from arena.errors import ArenaError
from arena.game import Game, Puzzle
from arena.plugins.registry import Registry
from arena.traits import refusal

DECISION: Mapping[str, Any] = {"nodes": 100_000}
"""Limits of a decision in a game where the call gives none: about a second with the slowest of the built-in games."""
SOLUTION: Mapping[str, Any] = {"nodes": 2_000_000}
"""Limits of a solution likewise: some seconds, and less memory than any machine of today has."""

INFORMED = ("alpha-beta", "mcts", "lookahead", "greedy", "random")
"""Opponents where there is a heuristic, the best first."""
BLIND = ("mcts", "alpha-beta", "lookahead", "greedy", "random")
"""Opponents where there is none."""
PATHS = ("a-star", "bfs", "dfs", "greedy", "random")
"""Solvers where the way counts."""
FINALS = ("dfs", "min-conflicts", "a-star", "greedy", "random")
"""Solvers where only the final state does."""


def sensible(registry: Registry, game: Game, heuristic: str | None = None) -> str:
    """The name of an agent that plays or solves `game` well without being told anything; ArenaError where none can."""
    name = game.name
    informed = heuristic is not None or (name, game.default_heuristic) in registry.heuristics
    among = INFORMED if informed else BLIND
    preferred = (PATHS if game.path_matters else FINALS) if isinstance(game, Puzzle) else among
    for agent in (*preferred, *sorted(registry.agents)):
        if agent in registry.agents and agent != human.NAME and refusal(registry.agents[agent], game) is None:
            return agent
    raise ArenaError(f"no agent can play {name}; `arena matrix` tells why")


def fitting(registry: Registry, game: Game) -> list[str]:
    """The names of all agents that can play or solve a game, a person left out."""
    return [name for name, agent in sorted(registry.agents.items()) if name != human.NAME and refusal(agent, game) is None]
