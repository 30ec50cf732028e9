"""Fixtures for many tests: a single decision of an agent outside a match, the positions of tic-tac-toe, and programs that may
not be installed.
"""

import asyncio
import faulthandler
import gc
import io
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from importlib.util import find_spec
from math import inf
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple
from unittest import mock

import pytest
from hypothesis import settings

from arena import Agent, Game, Limits, cli
from arena.counting import Meter, counting_view
from arena.heuristics import bind
from arena.identity import Stream
from arena.plugins.registry import Registry
from arena.plugins.sources import load_plugins
from arena.search import Search, SharedStart
from tests.eventually import eventually
from tests.fork_server import PROCESS_EVENT, run_module
from tests.leftovers import Present
from tests.proofs import ProofPage

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that starts the tests in the background makes them ignore Ctrl-C. Programs that tests start would ignore it, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).parents[1]
REQUIRED = os.environ.get("ARENA_REQUIRE", "").replace(",", " ").split()
"""The programs and libraries that must be installed, for example `sandbox`, `languages`, `browser`, `cluster`, `open-spiel`,
`openspiel`, `rl`, `proxies` and `fast`. If one of them is missing, its tests fail instead of being skipped. With `all`, each
test that is skipped fails, unless it is in quarantine.
"""

TIERS = ["unit", "process", "service", "sandbox", "compiled", "browser", "load", "proof"]
"""What a test needs: Python and a temporary folder; processes or sockets; another program; bubblewrap; numba; Chromium; a
machine that does nothing else; and hours. A test belongs to the last of the tiers that its marks, fixtures and folder name. If it
has the mark `unit`, for example from its module, its folder does not count.
"""
FOLDER_TIERS = {
    "bench": "load",
    "bridges/axelrod": "service",
    "bridges/engines": "process",
    "bridges/llm": "process",
    "hostile": "load",
    "ladder/hostile": "load",
    "release": "process",
}
FIXTURE_TIERS = {
    "arena": "process", "called": "process", "dask": "process", "drawn": "process", "elsewhere": "process", "made": "process",
    "terminal": "process",
    "c_compiler": "service", "installed": "service", "node": "service", "openssl": "service", "proxied": "service",
    "bubblewrap": "sandbox", "namespaces": "sandbox",
    "compiler": "compiled",
    "browser": "browser", "chromium": "browser",
}  # fmt: skip
UNIT_EVENTS = {
    "subprocess.Popen": "starts a process", "os.system": "starts a process", "os.fork": "starts a process",
    "os.forkpty": "starts a process", "os.posix_spawn": "starts a process", PROCESS_EVENT: "starts a process",
    "socket.bind": "opens a socket", "socket.connect": "opens a socket", "time.sleep": "sleeps",
}  # fmt: skip
"""The audit events that a unit test must not cause, and how a message calls them."""

settings.register_profile("arena", deadline=None)  # an example may take as long as the machine needs
settings.load_profile("arena")
PROOF_SECONDS = 7200
QUARANTINE = ROOT / "tests" / "quarantine.txt"
IN_QUARANTINE = "tests/quarantine.txt"
"""How the reason begins for which a test in quarantine is skipped."""

Missing = Callable[[str, str], None]
Arena = Callable[..., subprocess.CompletedProcess[str]]


def arena_in(folder: Path) -> Arena:
    """Return a function that runs the command line in a folder with `run_module`. It takes the words of the command, and
    environment variables as keyword arguments.
    """

    def arena(*words: object, **environment: object) -> subprocess.CompletedProcess[str]:
        variables = {**os.environ, **{name: str(value) for name, value in environment.items()}}
        return run_module("arena", [str(word) for word in words], folder=folder, environment=variables)

    return arena


def invoke_in(folder: Path) -> Arena:
    """Return a function like that of `arena_in`, which runs the command line in this process and starts no workers.

    Modules stay imported from one call to the next, and output to file descriptors is not captured.
    """

    def invoke(*words: object, **environment: object) -> subprocess.CompletedProcess[str]:
        command, out, err = ["arena", *map(str, words)], io.StringIO(), io.StringIO()
        with (
            chdir(folder),
            mock.patch.dict(os.environ, {name: str(value) for name, value in environment.items()}),
            mock.patch("arena.commands.run.SECONDS_BEFORE_WORKERS", inf),
            mock.patch("arena.schedule.fingerprint.Fingerprint.is_trusted", return_value=True),  # plugin files run here, too
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            code = cli.main(command[1:])
        return subprocess.CompletedProcess(command, code, out.getvalue(), err.getvalue())

    return invoke


def library_folders() -> list[str]:
    """Return the folders from which Python imports libraries, also those that are named by a .pth file."""
    return [entry for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")]


def at_terminal(folder: Path, *words: str, **environment: str) -> tuple[str, bytes]:
    """Run the command line in a folder, with a pseudo-terminal as stderr. Return the text on stdout and the bytes on stderr."""
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


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of `make proofs`."""
    parser.addoption("--proofs", type=Path, metavar="FILE", help="write the results of the tests marked `proof` to this page")


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin that writes the page of proofs, in the process that gets all results."""
    page = config.getoption("--proofs")
    if page is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(ProofPage(page))


@pytest.hookimpl(tryfirst=True)  # before pytest selects tests by their marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark each test with its tier, and skip the tests in quarantine. A proof may take up to two hours.

    A test may also have marks of other tiers, for example from its module. If one tier is asked for, these tests are left out.
    """
    quarantine = read_quarantine()
    for item in items:
        tier = find_tier(item)
        item.add_marker(tier)
        if tier == "proof":
            item.add_marker(pytest.mark.timeout(PROOF_SECONDS))
        if (reason := quarantine.get(item.nodeid, quarantine.get(item.nodeid.partition("[")[0]))) is not None:
            item.add_marker(pytest.mark.skip(reason=f"{IN_QUARANTINE}: {reason}"))
    if (asked := config.getoption("markexpr")) in TIERS:
        config.hook.pytest_deselected(items=[item for item in items if find_tier(item) != asked])
        items[:] = [item for item in items if find_tier(item) == asked]


def find_tier(item: pytest.Item) -> str:
    """Return the tier of a test. A test with the parameter `sandbox` needs bubblewrap."""
    parameters: dict[str, Any] = item.callspec.params if hasattr(item, "callspec") else {}
    fixtures = [*getattr(item, "fixturenames", ())]
    if "sandbox" in (parameters.get("isolation"), *parameters.get("stilled", ())):
        fixtures.append("bubblewrap")
    found = {FIXTURE_TIERS[name] for name in fixtures if name in FIXTURE_TIERS}
    found |= {mark.name for mark in item.iter_markers() if mark.name in TIERS}
    if "unit" not in found:
        found |= {tier for folder, tier in FOLDER_TIERS.items() if (ROOT / "tests" / folder) in item.path.parents}
    return max(found, key=TIERS.index, default="unit")


_events: list[str] = []
_fixture_events: dict[pytest.FixtureDef[Any], list[str]] = {}
"""The events of fixtures that several tests share. They count for each of these tests, and not only for the first."""


def _note_event(event: str, arguments: tuple[object, ...]) -> None:
    if event not in UNIT_EVENTS or _is_importing():
        return
    if event == "time.sleep" and (arguments == (0,) or threading.current_thread().name == "compiled-searches"):
        return  # with numba, that thread watches searches from the first one on
    _events.append(event)


def _is_importing() -> bool:
    """Return whether a library is being imported. On a fresh machine, for example, matplotlib lists the fonts with a program."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_name != "_find_and_load":
        frame = frame.f_back
    return frame is not None


def _sleep(seconds: float) -> None:
    sys.audit("time.sleep", seconds)
    _real_sleep(seconds)


sys.addaudithook(_note_event)
_real_sleep = time.sleep


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
    """Keep the events of a fixture that several tests share."""
    before = len(_events)
    try:
        return (yield)
    finally:
        if fixturedef.scope != "function" and len(_events) > before:
            _fixture_events[fixturedef] = _events[before:]
            del _events[before:]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Forget the events of earlier tests before the fixtures of the next test start. A proof has only the limit PROOF_SECONDS."""
    _events.clear()
    if item.get_closest_marker("proof"):
        faulthandler.cancel_dump_traceback_later()  # pytest has just started it, with the same time for all tests
    if sys.version_info < (3, 13):  # sleeping has no event of its own
        setattr(time, "sleep", _sleep if item.get_closest_marker("unit") else _real_sleep)  # noqa: B010 - for mypy


def read_quarantine() -> dict[str, str]:
    """Return the tests in `tests/quarantine.txt`, each with its reason. A test has no parameters or all of them."""
    lines = QUARANTINE.read_text("utf-8").splitlines()
    return {test: reason for test, reason, _issue, _date in (line.split(" | ") for line in lines if line and line[0] != "#")}


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the number of tests in quarantine."""
    terminalreporter.write_line(f"{len(read_quarantine())} tests are in tests/quarantine.txt")


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Exclude the collected tests from garbage collection, which would otherwise visit their hundreds of thousands of objects."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skipped test into a failure if every test must run."""
    report = yield
    quarantined = any(mark.kwargs.get("reason", "").startswith(IN_QUARANTINE) for mark in item.iter_markers("skip"))
    if report.skipped and "all" in REQUIRED and not quarantined:
        report.outcome, report.longrepr = "failed", f"ARENA_REQUIRE=all: the test was skipped: {report.longreprtext}"
    return report


class VirtualClock:
    """A clock whose time moves only when the test sleeps or adds seconds to `now`. A thread of an earlier test only waits."""

    now = 1_800_000_000.0

    def __init__(self) -> None:
        self._strangers = {thread for thread in threading.enumerate() if thread is not threading.current_thread()}

    def _read(self) -> float:
        return self.now

    monotonic = perf_counter = process_time = thread_time = time = _read

    def sleep(self, seconds: float) -> None:
        """Let `seconds` pass at once."""
        if threading.current_thread() in self._strangers:
            _real_sleep(seconds)
        else:
            self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> VirtualClock:
    """Replace the clock of arena."""
    virtual = VirtualClock()
    monkeypatch.setattr("arena.clock.source", virtual)
    return virtual


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    """Return a function that runs the command line in the folder of the test."""
    return arena_in(tmp_path)


@pytest.fixture
def invoke(tmp_path: Path) -> Arena:
    """Return a function that runs the command line in this process, in the folder of the test."""
    return invoke_in(tmp_path)


@pytest.fixture
def long_margin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Accept answers long after a time limit, so that an agent that stops at its limit is in time on any machine."""
    monkeypatch.setattr(Limits, "MARGIN_SECONDS", 3600.0)
    monkeypatch.setattr(Limits, "margin", Limits.MARGIN_SECONDS)


class Decided(NamedTuple):
    action: Any
    value: float | None
    nodes: int
    evaluations: int
    depth: int | None


Decide = Callable[..., Decided]


@pytest.fixture(scope="session", autouse=True)
def own_tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the tables that heuristics build in a folder of this run instead of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARENA_CACHE", str(tmp_path_factory.mktemp("tables")))
        yield


@pytest.fixture(scope="session", autouse=True)
def temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Let the tests of this worker make their temporary files in a folder of its own."""
    folder = tmp_path_factory.mktemp("temporary")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())  # for tests that run pytest
        patch.setenv("TMPDIR", str(folder))
        patch.setattr(tempfile, "tempdir", str(folder))
        yield folder


@pytest.fixture(autouse=True)
def nothing_left(request: pytest.FixtureRequest, temporary_folder: Path) -> Iterator[None]:
    """Fail a test that leaves a process, a port, a thread or a temporary file. A unit test can leave only a thread.

    This fixture starts before the others of a test, so it ends after them.
    """
    folder = None if request.node.get_closest_marker("unit") else temporary_folder
    before = Present.look(folder)
    yield
    with suppress(pytest.fail.Exception):  # a process that ends soon is accepted
        eventually(lambda: not before.describe_new(folder))
        return
    left = before.describe_new(folder)
    before.end_processes(folder)
    pytest.fail(f"the test left {'; '.join(left)}")


@pytest.fixture(autouse=True)
def same_environment() -> Iterator[None]:
    """Fail a test that leaves the environment variables of this process changed, because later tests would run with them.

    This fixture starts before `monkeypatch`, so it ends after `monkeypatch` has undone its changes. Libraries such as pygame add
    variables when they are imported. These variables are allowed, and stay.
    """
    before, modules = dict(os.environ), len(sys.modules)
    yield
    after = dict(os.environ)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)} - {"PYTEST_CURRENT_TEST"}
    if len(sys.modules) > modules:
        changed -= {name for name in changed if name not in before and not name.startswith("ARENA_")}
    for name in changed:  # so that only the test that made the change fails
        if name in before:
            os.environ[name] = before[name]
        else:
            del os.environ[name]
    assert not changed, f"the test left these environment variables changed: {', '.join(sorted(changed))}"


@pytest.fixture(autouse=True)
def unit_limits(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a unit test that starts a process, opens a socket or sleeps."""
    yield
    if not request.node.get_closest_marker("unit"):
        return
    shared = [one for found in request.node._fixtureinfo.name2fixturedefs.values() for one in found]
    events = {*_events, *[event for one in shared for event in _fixture_events.get(one, ())]}
    if found := sorted({UNIT_EVENTS[event] for event in events}):
        pytest.fail(f"a unit test {' and '.join(found)}: use the mark `process` or a fixture of that tier")


@pytest.fixture(scope="session")
def registry() -> Registry:
    """Return the registry of the installed plugins."""
    return load_plugins()


@pytest.fixture(scope="session")
def decide(registry: Registry) -> Decide:
    """Return a function that lets an agent make one decision, as the referee does, and returns the decision with its costs."""

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
    """Return every position of tic-tac-toe that can be reached and is not terminal."""
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
    """Return a function that skips a test because something is not installed. If ARENA_REQUIRE lists it, the test fails."""

    def missing(what: str, reason: str) -> None:
        if what in REQUIRED:
            pytest.fail(f"ARENA_REQUIRE has {what}: {reason}")
        pytest.skip(reason)

    return missing


@pytest.fixture(scope="session")
def bubblewrap(missing: Missing) -> str:
    """Return the path of bubblewrap, after checking that it can run."""
    found = shutil.which("bwrap")
    if found is None:
        missing("sandbox", "there is no bubblewrap: apt-get install bubblewrap")
    words = ["--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "true"]
    if subprocess.run([str(found), *words], check=False, capture_output=True).returncode:
        missing("sandbox", "bubblewrap does not run here")
    return str(found)


@pytest.fixture(scope="session")
def node(missing: Missing) -> str:
    """Return the path of Node."""
    found = shutil.which("node")
    if found is None:
        missing("languages", "Node is not installed: apt-get install nodejs")
    return str(found)


@pytest.fixture(scope="session")
def c_compiler(missing: Missing) -> str:
    """Return the path of the C compiler."""
    found = shutil.which("cc")
    if found is None:
        missing("languages", "there is no C compiler: apt-get install gcc libc6-dev")
    return str(found)


@pytest.fixture(scope="session")
def openssl(missing: Missing) -> str:
    """Return the path of openssl."""
    found = shutil.which("openssl")
    if found is None:
        missing("tls", "there is no openssl: apt-get install openssl")
    return str(found)


@pytest.fixture(scope="session")
def chromium(missing: Missing) -> Iterator[tuple[Any, Any]]:
    """Start the installed Chromium, once for all tests. Return it with the event loop of Playwright."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        missing("browser", "there is no Chromium: apt-get install chromium")
    if not (find_spec("playwright") and find_spec("axe_playwright_python")):
        missing("browser", "playwright or axe is missing: pip install '.[browser]'")
    from playwright.sync_api import sync_playwright

    # Chromium makes a socket in its temporary folder. The path of a socket has at most 107 bytes; the worker's may be longer.
    with tempfile.TemporaryDirectory(dir="/tmp") as short, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"], env={**os.environ, "TMPDIR": short})
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1, "playwright") as files:
            files.submit(int).result()  # starts its thread now, so that no test leaves it
            loop.set_default_executor(files)  # Playwright reads and writes files in it
            yield browser, loop
            asyncio._set_running_loop(loop)
            browser.close()


@pytest.fixture(scope="module")
def browser(chromium: tuple[Any, Any]) -> Iterator[Any]:
    """Return the browser. Playwright's event loop counts as running until the end of the module, and then no longer, so that the
    tests of other modules can run their own event loops.
    """
    browser, loop = chromium
    asyncio._set_running_loop(loop)
    yield browser
    asyncio._set_running_loop(None)


@pytest.fixture
def called(tmp_path: Path) -> Arena:
    """Return a function that runs `python -m MODULE ...` in the folder of the test. `path` is added to PYTHONPATH."""

    cache = ROOT / ".mypy_cache" / "tests"  # mypy needs about 20 seconds to analyse the imported packages for the first time

    def called(module: str, *words: str, path: str = "", folder: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        beyond = os.pathsep.join(filter(None, [path, os.environ.get("PYTHONPATH", "")]))
        environment = {**os.environ, "PYTHONPATH": beyond, "NO_COLOR": "1", "MYPY_CACHE_DIR": str(cache)}
        return run_module(module, words, folder=folder, environment=environment)

    return called
