"""Fixtures make the same decision with plain and with compiled code, and compare the outcomes."""

import os
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple

import pytest

import arena
from arena import Agent, Game, Limits, Puzzle
from arena.counting import GoPlain, Meter, counting_view
from arena.errors import OutOfBudget
from arena.heuristics import bind
from arena.identity import Stream
from arena.search import Search, SharedStart
from arena.search_engines import find_loop
from arena_compiled import seam

Missing = Callable[[str, str], None]
Twice = Callable[..., "Outcome"]


class Outcome(NamedTuple):
    """The outcome of a decision, and its costs."""

    found: Any
    report: Any
    nodes: int
    evaluations: int
    expanded: int
    """The expanded states of a solver; 0 for other agents."""
    drew: bool
    next_number: float


def decision(agent: Agent, game: Game, state: Any, evaluation: Any, limits: Limits) -> tuple[Outcome, bool]:
    """Make one decision, as the referee does. Return its outcome, and whether compiled code ran."""
    meter, rng = Meter(), Stream("seat")
    meter.begin(limits.nodes, limits.seconds, limits.cpu_seconds)
    view = counting_view(game, meter)
    search = Search(view, evaluation, limits, meter, rng, SharedStart(game, Stream("start")), find_loop)
    method = agent.solve if isinstance(game, Puzzle) and type(agent).solve is not Agent.solve else agent.choose
    try:
        found = method(view, state, search)
    except OutOfBudget as error:
        found = ("out of", str(error))
    except GoPlain:
        found = "goes plain"
    drew = not isinstance(rng, Stream)
    ran = search.served is not None and search.served.ran
    expanded = meter.expanded if method == getattr(agent, "solve", None) else 0
    return Outcome(found, search._last, meter.nodes, meter.evaluations, expanded, drew, rng.random()), ran


@pytest.fixture(scope="session")
def compiler(missing: Missing) -> None:
    """Skip a test without numba."""
    if find_spec("numba") is None:
        missing("fast", "there is nothing that compiles: pip install '.[fast]'")


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let all test files share the cache of compiled code, even if they run in different processes."""
    folder = tmp_path_factory.getbasetemp()
    shared = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARENA_CACHE", str(shared / "code"))
        yield


@pytest.fixture
def compiling(compiler: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make arena compile every engine as soon as it is requested."""
    monkeypatch.setenv("ARENA_COMPILE", "always")
    monkeypatch.delenv("ARENA_PLAIN", raising=False)
    yield
    seam._pairs.clear()
    bound.cache_clear()


@cache
def bound(heuristic: Any, game: Game) -> Any:
    """Return a heuristic that is bound to a game. The result is cached, so its code is loaded only once per game."""
    return None if heuristic is None else bind(heuristic, game)


@pytest.fixture
def twice(compiling: None, monkeypatch: pytest.MonkeyPatch) -> Twice:
    """Return a function that makes a decision with compiled and with plain code, asserts that the outcomes are equal, and
    returns the outcome.
    """

    def twice(agent: Agent, game: Game, state: Any, heuristic: Any = None, limits: Mapping[str, Any] | None = None) -> Outcome:
        evaluation = bound(heuristic, game)
        bounds = Limits(**(limits or {}))
        fast, ran = decision(agent, game, state, evaluation, bounds)
        reasons = [pair.reason for pair in seam._pairs.values()]
        with monkeypatch.context() as patch:
            patch.setenv("ARENA_PLAIN", "1")
            plain, none = decision(agent, game, state, evaluation, bounds)
        assert not none
        assert fast == plain
        assert ran, reasons
        return fast

    return twice


def same_record(*arguments: Any, **keywords: Any) -> arena.Record:
    """Play a match with compiled and with plain code. Assert that the records are equal, and return the record of the compiled
    code.
    """
    fast = arena.play(*arguments, **keywords)
    before = os.environ.get("ARENA_PLAIN")
    os.environ["ARENA_PLAIN"] = "1"
    try:
        plain = arena.play(*arguments, **keywords)
    finally:
        os.environ.pop("ARENA_PLAIN") if before is None else os.environ.__setitem__("ARENA_PLAIN", before)
    assert fast.timeless() == plain.timeless()
    assert set(fast.timing or ()) == {"compiled", "compiled_seconds"}
    assert set(plain.timing or ()) == {"plain", "plain_seconds"}
    return fast


@pytest.fixture
def same(compiling: None) -> Callable[..., arena.Record]:
    """Return the function `same_record`."""
    return same_record
