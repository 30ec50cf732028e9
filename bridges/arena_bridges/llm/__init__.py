"""Language models behind an OpenAI-compatible address, as agents."""

from collections.abc import Iterable

from arena import Agent, hookimpl
from arena_bridges.llm.agent import LanguageModel

__all__ = ["LanguageModel", "arena_agents"]


@hookimpl
def arena_agents() -> Iterable[type[Agent]]:
    """Return the agent."""
    return [LanguageModel]
