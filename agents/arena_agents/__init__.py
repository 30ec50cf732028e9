"""The agents that come with arena."""

from arena_agents.plugin import arena_agents

__all__ = ["arena_agents"]
