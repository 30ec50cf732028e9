"""A pytest plugin with which authors test their own plugins. It provides games and agents as fixtures, and a marker for the
conformance kit.

`@pytest.mark.arena(game=..., agent=..., heuristic=..., seed=0, matches=..., patience=10, check=True)` runs the conformance kit
before the body of the test. If the marker names a heuristic, the kit checks the heuristic on its game. Otherwise, if it names an
agent, the kit checks the agent on the named game, or on every suitable installed game. Otherwise, it checks the game. Game, agent
and heuristic are each given as a class, an object or a name. A name is looked up in the installed plugins and in those that the
ini option `arena_plugins` lists. A call that takes longer than `patience` seconds is ended, and the test fails. With
`check=False`, the kit does not run. The fixtures `arena_game` and `arena_agent` come from the marker, or from the ini options
with the same names. `arena_registry` contains everything that is installed.

In a project that uses neither the marker nor a fixture, only the top-level names of arena are imported.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

if TYPE_CHECKING:
    from arena import Agent, Game, Registry

Value = TypeVar("Value")

NAMES = ("game", "agent", "heuristic", "seed", "matches", "patience", "check")
"""Arguments of the marker."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the ini options."""
    parser.addini(
        "arena_plugins",
        "plugins to load in addition to the installed ones: files, relative to the ini file, or modules",
        type="args",
    )
    parser.addini("arena_game", "the game of the fixture arena_game if no marker names one", default="")
    parser.addini("arena_agent", "the agent of the fixture arena_agent if no marker names one", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers",
        "arena(game, agent, heuristic, seed=0, matches, patience=10, check=True): run arena's conformance checks on them",
    )


@pytest.fixture(scope="session")
def arena_registry(pytestconfig: pytest.Config) -> Registry:
    """Everything that is defined by the installed plugins and by the plugins in the ini option `arena_plugins`."""
    return _call(lambda: _registry(pytestconfig))


@pytest.fixture
def arena_game(request: pytest.FixtureRequest) -> Game:
    """The game that the marker `arena` or the ini option `arena_game` names, created with its default parameters."""
    given = _marker_arguments(request.node).get("game") or request.config.getini("arena_game")
    if not given:
        pytest.fail("arena_game: expected @pytest.mark.arena(game=...) or the ini option arena_game", pytrace=False)
    return _call(lambda: _game(given, request.config))


@pytest.fixture
def arena_agent(request: pytest.FixtureRequest) -> Agent:
    """A fresh instance of the agent that the marker `arena` or the ini option `arena_agent` names."""
    given = _marker_arguments(request.node).get("agent") or request.config.getini("arena_agent")
    if not given:
        pytest.fail("arena_agent: expected @pytest.mark.arena(agent=...) or the ini option arena_agent", pytrace=False)
    return _call(lambda: _agent(given, request.config))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Run the conformance kit before a test that has the marker."""
    if item.get_closest_marker("arena") is not None:
        marked = _marker_arguments(item)
        if marked.get("check", True):
            _call(lambda: _conform(marked, item.config))


def _marker_arguments(item: pytest.Item) -> Mapping[str, Any]:
    """Return the arguments of the marker. The marker of a test overrides the marker of its class, which overrides the marker of
    its module.
    """
    found: dict[str, Any] = {}
    for marker in reversed(list(item.iter_markers("arena"))):
        unknown = [name for name in marker.kwargs if name not in NAMES]
        if marker.args or unknown:
            wrong = ", ".join([*map(repr, marker.args), *unknown])
            expected = f"expected keyword arguments from {', '.join(NAMES)}"
            pytest.fail(f"@pytest.mark.arena: {expected}; got {wrong}", pytrace=False)
        found.update(marker.kwargs)
    return found


def _conform(marked: Mapping[str, Any], config: pytest.Config) -> None:
    from arena.api.games import HeuristicInfo
    from arena_check.agent_checks import check_agent
    from arena_check.game_checks import check_game
    from arena_check.heuristic_checks import check_heuristic

    agent = marked.get("agent") or config.getini("arena_agent") or None
    game = marked.get("game") or config.getini("arena_game") or None
    heuristic = marked.get("heuristic")
    how = {name: marked[name] for name in ("seed", "matches", "patience") if name in marked}
    if heuristic is not None:
        info = HeuristicInfo.of(heuristic)
        board = _game(game or (info and info.game) or "", config)
        known = _registry(config).heuristic(board.name, heuristic) if isinstance(heuristic, str) else heuristic
        check_heuristic(known, board, **how)
    elif marked.get("agent") or (agent and not marked.get("game")):
        check_agent(_agent(agent, config), game and _game(game, config), registry=_registry(config), **how)
    elif game:
        known = _registry(config).game(game) if isinstance(game, str) else game
        check_game(_game(known, config) if isinstance(known, Mapping) else known, **how)
    else:
        pytest.fail("@pytest.mark.arena: expected a game, an agent or a heuristic, got none", pytrace=False)


def _registry(config: pytest.Config) -> Registry:
    """Return the registry of this test run, which the first call loads."""
    from arena import load_plugins

    if _REGISTRY not in config.stash:
        folder = config.inipath.parent if config.inipath else config.rootpath
        named = [str(folder / name) if (folder / name).is_file() else name for name in config.getini("arena_plugins")]
        config.stash[_REGISTRY] = load_plugins(named)
    return config.stash[_REGISTRY]


_REGISTRY: pytest.StashKey[Registry] = pytest.StashKey()


def _game(given: Any, config: pytest.Config) -> Game:
    name, parameters = _split_parameters(given)
    kind = _registry(config).game(name) if isinstance(name, str) else name
    made: Game = kind(**parameters) if isinstance(kind, type) else kind
    return made


def _agent(given: Any, config: pytest.Config) -> Agent:
    from arena.api.games import settings

    name, options = _split_parameters(given)
    kind = _registry(config).agent(name) if isinstance(name, str) else name
    made: Agent = kind(**options) if isinstance(kind, type) else type(kind)(**settings(kind))
    return made


def _split_parameters(given: Any) -> tuple[Any, dict[str, Any]]:
    """Split a mapping such as {"name": "nim", "heap": 7} into its name and its parameters. A name, a class or an object has no
    parameters.
    """
    if not isinstance(given, Mapping):
        return given, {}
    key = "agent" if "agent" in given else "name"
    return given.get(key, ""), {name: value for name, value in given.items() if name != key}


def _call(call: Callable[[], Value]) -> Value:
    """Return the value of a call. If arena raises an error, the test fails with the message of the error, without frames of
    arena.
    """
    from arena import ArenaError
    from arena_check.finding import Violation

    try:
        return call()
    except (ArenaError, Violation) as error:
        if os.environ.get("ARENA_TRACEBACK", "") not in ("", "0"):
            raise
        notes = "".join([f"\n{note}" for note in getattr(error, "__notes__", ()) if note])
        message = f"{error}{notes}"
    pytest.fail(message, pytrace=False)
