"""The test kit of the extension `check`. It plays matches to check games, agents, heuristics and encodings.

    from arena.testing import check_agent, check_game

    def test_my_agent():
        check_agent("my-agent")

A promise is a property that a game or an agent must have. Functions whose names begin with `check` raise Violation, an
AssertionError, for the first broken promise. The error holds the actions, the expected and the actual value, and the seed.
Functions whose names end in `verdicts` continue after a broken promise, and yield a Verdict for each promise.
"""

from typing import Any

from arena.lazy import find_entry_points

GROUP = "arena.testing"
"""The group of entry points that provide the names in this module."""
__all__ = [  # noqa: F822 - each is looked up on first use
    "Finding",
    "Verdict",
    "Violation",
    "agent_verdicts",
    "check_agent",
    "check_encoding",
    "check_game",
    "check_heuristic",
    "encoding_verdicts",
    "game_verdicts",
    "heuristic_verdicts",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'arena.testing' has no attribute {name!r}")
    return getattr(find_entry_points(GROUP)[0].load(), name)


def __dir__() -> list[str]:
    """Return the public names, for tab completion and for the manual."""
    return __all__
