"""Strategies of the Axelrod library, as agents of the prisoner's dilemma."""

from collections.abc import Iterable

from arena import Agent, hookimpl
from arena_bridges.axelrod.agent import AxelrodStrategy

__all__ = ["AxelrodStrategy", "arena_agents"]


@hookimpl
def arena_agents() -> Iterable[type[Agent]]:
    """Return the agent."""
    return [AxelrodStrategy]
