"""Language models behind an OpenAI-compatible address, as agents."""

from collections.abc import Iterable

from arena import Agent, hookimpl
from arena.api.results import BoardColumn
from arena_bridges.llm.agent import LanguageModel

__all__ = ["LanguageModel", "arena_agents", "arena_columns"]


@hookimpl
def arena_agents() -> Iterable[type[Agent]]:
    """Return the agent."""
    return [LanguageModel]


@hookimpl
def arena_columns() -> Iterable[BoardColumn]:
    """Return the columns for the spending of its agents."""
    return [
        BoardColumn("tokens-in", "Tokens in", "count", "Tokens of questions, in all decisions.", amount="tokens_in"),
        BoardColumn("tokens-out", "Tokens out", "count", "Tokens of answers, in all decisions.", amount="tokens_out"),
        BoardColumn("money", "Money", description="The price of all decisions.", amount="money"),
    ]
