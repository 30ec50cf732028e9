"""The functions of the public API name an argument of the wrong type, say what they expect, and show what came."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import arena
from arena import Limits
from arena.testing import check_agent, check_encoding, check_game, check_heuristic

SPEC = {"game": "tic-tac-toe", "agents": ["random", "greedy"], "rounds": 1}
SEATS = ["random", "random"]
Call = Callable[[Any], object]


def results() -> arena.Results:
    """Return the results of a short run."""
    return arena.run(SPEC)


def declare(**given: Any) -> object:
    """Declare an encoding with one argument of the wrong type."""
    return arena.encoding(**{"name": "marks", "game": "tic-tac-toe", "shape": (9,), **given})


CALLS: dict[str, tuple[str, Call, list[Any]]] = {
    "run, spec": ("spec: expected a path, a mapping", arena.run, [3, None, ["a"], len, b"x"]),
    "run, workers": (
        "workers: expected a whole number of at least 1",
        lambda one: arena.run(SPEC, workers=one),
        ["2", None, 1.5, True],
    ),
    "run, concurrency": (
        "concurrency: expected a whole number of at least 1",
        lambda one: arena.run(SPEC, concurrency=one),
        ["2", None, [3]],
    ),
    "run, store": ("store: expected a path or None", lambda one: arena.run(SPEC, store=one), [3, True, SPEC, b"x.db"]),
    "run, observe": ("observe: expected a function or None", lambda one: arena.run(SPEC, observe=one), [3, "print", []]),
    "open_store": ("path: expected the path of a store", arena.open_store, [3, None, SPEC, b"x.db"]),
    "load_plugins, paths": ("paths: expected a list of paths", arena.load_plugins, ["mine.py", Path("mine.py"), 3, None, [3]]),
    "load_plugins, entry_points": (
        "entry_points: expected True, False or a list",
        lambda one: arena.load_plugins(entry_points=one),
        ["arena", 3, [3]],
    ),
    "play, plugins": (
        "plugins: expected a list of paths",
        lambda one: arena.play("tic-tac-toe", SEATS, plugins=one),
        ["mine.py", 3, None],
    ),
    "play, position": (
        "position: expected a text in the notation of the game",
        lambda one: arena.play("tic-tac-toe", SEATS, position=one),
        [3, ["x"], b"x"],
    ),
    "play, limits": (
        "limits: expected Limits, a mapping or None",
        lambda one: arena.play("tic-tac-toe", SEATS, limits=one),
        [3, "nodes", ["nodes"]],
    ),
    "play, name": ("game: expected a name", lambda one: arena.play({"name": one}, SEATS), [3, None, []]),
    "Limits.of": ("limits: expected Limits, a mapping or None", Limits.of, [3, "nodes", ["nodes"]]),
    "registry, game": ("game: expected a name", lambda one: arena.load_plugins().game(one), [3, None, [], b"pig"]),
    "registry, agent": ("agent: expected a name", lambda one: arena.load_plugins().agent(one), [3, None, {}]),
    "registry, heuristic": ("heuristic: expected a name", lambda one: arena.load_plugins().heuristic("pig", one), [3, None]),
    "results, of": ("board: expected a whole number of at least 0", lambda one: results().of(one), ["tic-tac-toe", None, 0.0]),
    "results, agents": (
        "agents: expected a list of labels or None",
        lambda one: results().plot(agents=one),
        ["greedy", 3, [3]],
    ),
    "results, ax": ("ax: expected axes of matplotlib or None", lambda one: results().plot(ax=one), [3, "ax"]),
    "heuristic, name": ("name: expected a text", lambda one: arena.heuristic(one, game="pig"), [3, None, len]),
    "heuristic, game": ("game: expected the name of a game", lambda one: arena.heuristic("h", game=one), [3, arena.Game]),
    "encoding, name": ("name: expected a text", lambda one: declare(name=one), [3, None]),
    "encoding, game": ("game: expected the name of a game", lambda one: declare(game=one), [3, arena.Game]),
    "encoding, low": ("low: expected a number", lambda one: declare(low=one), ["0", None]),
    "encoding, high": ("high: expected a number", lambda one: declare(high=one), ["1", None]),
    "uniform": ("outcomes: expected a collection", arena.uniform, [3, None]),
    "check_game, game": ("game: expected a game, its class or its name", check_game, [3, None]),
    "check_game, seed": (
        "seed: expected a whole number of at least 0",
        lambda one: check_game("pig", seed=one),
        ["1", None, 0.5],
    ),
    "check_game, matches": (
        "matches: expected a whole number of at least 1",
        lambda one: check_game("pig", matches=one),
        ["1", 2.0],
    ),
    "check_game, patience": ("patience: expected a number of seconds", lambda one: check_game("pig", patience=one), ["1", None]),
    "check_agent, agent": ("agent: expected an agent, its class or its name", check_agent, [3, None]),
    "check_agent, game": ("game: expected a game, its class or its name", lambda one: check_agent("random", one), [3, []]),
    "check_heuristic": ("h: expected a function or class decorated", lambda one: check_heuristic(one, "pig"), [3, len]),
    "check_encoding": ("target: expected a function or class decorated", lambda one: check_encoding(one, "pig"), [3, len]),
}


def cases() -> Iterator[Any]:
    """Yield each call with each wrong argument, with a name."""
    for name, (message, call, wrong) in CALLS.items():
        for one in wrong:
            yield pytest.param(message, call, one, id=f"{name}: {one!r:.20}")


@pytest.mark.parametrize(("message", "call", "wrong"), list(cases()))
def test_the_error_for_a_wrong_type_names_the_argument(message: str, call: Call, wrong: Any) -> None:
    with pytest.raises(TypeError) as raised:
        call(wrong)
    assert str(raised.value).startswith(message)
    assert ", got " in str(raised.value)


@pytest.mark.parametrize("name", ["workers", "concurrency"])
@pytest.mark.parametrize("number", [0, -1])
def test_a_number_that_is_too_small_is_a_value_error(name: str, number: int) -> None:
    keys: dict[str, Any] = {name: number}
    with pytest.raises(ValueError, match=rf"^{name}: expected a whole number of at least 1, got {number}$"):
        arena.run(SPEC, **keys)


def test_integers_of_numpy_are_accepted_as_whole_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    assert len(arena.run(SPEC, workers=numpy.int64(1)).records) == 2
    assert arena.play("tic-tac-toe", SEATS, seed=numpy.int32(3)).seed == 3
