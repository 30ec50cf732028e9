"""The functions that make environments, and games that are small enough for tests."""

from typing import Any

import pytest

from arena import Game, load_plugins

SMALLER: dict[str, dict[str, Any]] = {"prisoners-dilemma": {"turns": 5, "noise": 0.1}, "sudoku": {"box": 2}}
NAMES = sorted(name for name, kind in load_plugins(environ=False).games.items() if kind.__module__.startswith("arena_games"))


def make_small_game(name: str) -> Game:
    """Return a built-in game, with smaller parameters if its default is too large for tests."""
    return load_plugins(environ=False).game(name)(**SMALLER.get(name, {}))


@pytest.fixture(scope="session")
def environments(missing: Any) -> Any:
    """Return the module with the functions that make environments. The test is skipped if a library is not installed."""
    for library in ("gymnasium", "pettingzoo"):
        try:
            __import__(library)
        except ModuleNotFoundError:
            missing("rl", f"{library} is not installed")
    from arena_bridges import rl

    return rl
