"""What many tests need: one decision of an agent outside a match, the positions of tic-tac-toe, and programs that not every
machine has.
"""

import gc
import os
import pty
import select
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from arena import Agent, Game, Limits
from arena.counting import Meter, counting_view
from arena.heuristics import bind
from arena.identity import Stream
from arena.plugins.registry import Registry
from arena.plugins.sources import load_plugins
from arena.search import Search, SharedStart

ROOT = Path(__file__).parents[1]
REQUIRED = os.environ.get("ARENA_REQUIRE", "").replace(",", " ").split()
"""What must be here, of `sandbox languages browser cluster open-spiel openspiel rl proxies fast`; else tests fail."""

Missing = Callable[[str, str], None]
Arena = Callable[..., subprocess.CompletedProcess[str]]


def arena_in(folder: Path) -> Arena:
    """The command line as a process of its own in a folder: words, and environment variables by keyword."""

    def arena(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "arena", *map(str, words)],
            capture_output=True,
            text=True,
            cwd=folder,
            env={**os.environ, **environment},
            timeout=120,
            check=False,
        )

    return arena


def at_terminal(folder: Path, *words: str, **environment: str) -> tuple[str, bytes]:
    """Run the command line in a folder with a pseudo-terminal for stderr: what came on stdout, and what was seen there."""
    master, slave = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "arena", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=slave,
        text=True,
        env={**os.environ, **environment},
    ) as started:
        os.close(slave)
        seen = b""
        with suppress(OSError):  # the other end is closed
            while select.select([master], [], [], 60)[0] and (chunk := os.read(master, 1 << 16)):
                seen += chunk
        os.close(master)
        assert started.stdout is not None
        return started.stdout.read(), seen


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    """Run the command line in the folder of the test."""
    return arena_in(tmp_path)


@pytest.fixture
def uncollected() -> Iterator[None]:
    """No garbage collection meanwhile: among the objects of thousands of tests it takes longer than a short time limit."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


class Decided(NamedTuple):
    action: Any
    value: float | None
    nodes: int
    evaluations: int
    depth: int | None


Decide = Callable[..., Decided]


@pytest.fixture(scope="session", autouse=True)
def own_tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tables that heuristics build are kept in a folder of this run, and not in the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARENA_CACHE", str(tmp_path_factory.mktemp("tables")))
        yield


@pytest.fixture(scope="session")
def registry() -> Registry:
    """What the installed plugins bring."""
    return load_plugins()


@pytest.fixture(scope="session")
def decide(registry: Registry) -> Decide:
    """Let an agent choose once, as the referee would, and tell what it used."""

    def decide(
        agent: Agent,
        game: Game,
        state: Any,
        *,
        limits: Mapping[str, Any] | None = None,
        heuristic: str | None = None,
        seed: str = "seat",
    ) -> Decided:
        name = heuristic or game.default_heuristic
        evaluation = None if name is None else bind(registry.heuristic(game.name, name), game)
        bounds = Limits(**(limits or {}))
        meter = Meter()
        meter.begin(bounds.nodes, bounds.seconds)
        view = counting_view(game, meter)
        search = Search(view, evaluation, bounds, meter, Stream(seed), SharedStart(game, Stream("start")))
        action = agent.choose(view, state, search)
        return Decided(action, search.value, meter.nodes, meter.evaluations, search.depth)

    return decide


@pytest.fixture(scope="session")
def open_positions(registry: Registry) -> list[Any]:
    """Every position of tic-tac-toe that can be reached and is not over."""
    game = registry.games["tic-tac-toe"]()
    found = [(0, 0)]
    seen = {(0, 0)}
    for state in found:
        for action in game.actions(state):
            successor = game.result(state, action)
            if successor not in seen:
                seen.add(successor)
                found.append(successor)
    return [state for state in found if not game.is_terminal(state)]


@pytest.fixture(scope="session")
def missing() -> Missing:
    """Skip a test since something is missing here; fail it where ARENA_REQUIRE says that it must be there."""

    def missing(what: str, reason: str) -> None:
        if what in REQUIRED:
            pytest.fail(f"ARENA_REQUIRE has {what}: {reason}")
        pytest.skip(reason)

    return missing


@pytest.fixture(scope="module")
def browser(missing: Missing) -> Iterator[Any]:
    """One browser for all tests of a module, Chromium as the system installs it."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        missing("browser", "there is no Chromium: apt-get install chromium")
    if not (find_spec("playwright") and find_spec("axe_playwright_python")):
        missing("browser", "playwright or axe is missing: pip install 'fairarena[browser]'")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def called(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Arena:
    """Run `python -m MODULE ...` in the test's folder, with what else should be importable."""

    cache = tmp_path_factory.getbasetemp() / "mypy"  # types of what is imported are found out once

    def called(module: str, *words: str, path: str = "", folder: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        beyond = os.pathsep.join(filter(None, [path, os.environ.get("PYTHONPATH", "")]))
        return subprocess.run(
            [sys.executable, "-m", module, *words],
            capture_output=True,
            text=True,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": beyond, "NO_COLOR": "1", "MYPY_CACHE_DIR": str(cache)},
            timeout=120,
            check=False,
        )

    return called
