"""Strategies of the Axelrod library, as agents for the prisoner's dilemma."""

from collections.abc import Mapping

from arena import hookimpl


@hookimpl
def arena_agents() -> Mapping[str, str]:
    """Return the agent."""
    return {"axelrod": "arena_bridges.axelrod.agent:AxelrodStrategy"}
