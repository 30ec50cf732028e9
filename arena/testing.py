"""The conformance kit, from the extension `check`: plays games, agents, heuristics and encodings and checks their promises.

    from arena.testing import check_agent, check_game

    def test_my_agent():
        check_agent("my-agent")

The functions that begin with `check` raise Violation, an AssertionError, for the first broken promise, with the actions, the
expected and the actual value, and the seed. Those that end in `verdicts` go on and yield a Verdict for every promise.
"""

from importlib.metadata import entry_points
from typing import Any

from arena.errors import ArenaError

GROUP = "arena.testing"
"""The group of entry points that provide the names of this module."""
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
    found = entry_points(group=GROUP, name="kit")
    if not found:
        raise ArenaError("arena.testing needs the extension arena_check, which is not installed")
    return getattr(next(iter(found)).load(), name)


def __dir__() -> list[str]:
    """Return the public names, which tab completion and the manual list."""
    return __all__
