"""Fixtures: a server that runs as users start it, the data that it shows, and a real browser that opens its pages."""

import asyncio
import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import pytest

from arena import run
from tests.eventually import DEADLINE_SECONDS

PLUGIN = """
import random, time
from arena import Agent, Game, hookimpl


class Pebbles(Game):
    "Take one or two pebbles; the player who takes the last one wins. It has no board, so that it is shown as text."
    name = "pebbles"

    def __init__(self, *, heap: int = 5):
        self.heap = heap

    def initial(self, rng): return (self.heap, 0)
    def to_move(self, state): return state[1]
    def actions(self, state): return [n for n in (1, 2) if n <= state[0]]
    def result(self, state, action): return (state[0] - action, 1 - state[1])
    def returns(self, state): return (-1.0, 1.0) if state[1] == 0 else (1.0, -1.0)
    def render(self, state): return "o " * state[0] + "<b>left</b>"


class Stubborn(Agent):
    "An agent that never ends its search and ignores its limits."
    name = "stubborn"
    def choose(self, game, state, search):
        while True:
            time.sleep(0.01)


class Greedy(Agent):
    "An agent that allocates memory for ever."
    name = "hoarder"
    def choose(self, game, state, search):
        kept = []
        while True:
            kept.append(bytearray(1 << 24))


class Chatty(Agent):
    "An agent that prints during its decisions."
    name = "chatty"
    def choose(self, game, state, search):
        print('{"error": "not an answer"}')
        return game.actions(state)[-1]


@hookimpl
def arena_games():
    return [Pebbles]


@hookimpl
def arena_agents():
    return [Stubborn, Greedy, Chatty]
"""
HOSTILE = "<script>window.hit = 1</script>"


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


class Served:
    """A server that runs in a separate process."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "arena", "serve", *arguments, "--port", "0"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        self.port = int(self.address.partition("?")[0].rstrip("/").rpartition(":")[2]) if self.address else 0

    def ask(self, path: str, body: Any = None, *, method: str | None = None, **headers: str) -> Answer:
        """Send a request as a page does. Keyword arguments are headers, with underscores instead of hyphens."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        data = body if body is None or isinstance(body, (bytes, Iterator)) else json.dumps(body).encode()
        if data is not None:
            given.setdefault("content-type", "application/json")
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE_SECONDS)) as connection:
            connection.request(method or ("GET" if data is None else "POST"), path, data, given)
            response = connection.getresponse()
            endless = response.getheader("content-type", "").startswith("text/event-stream")
            text = "" if endless else response.read().decode()
            return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, text)

    def end(self, with_: signal.Signals = signal.SIGINT) -> tuple[int, str]:
        """Stop the server. Return its exit code and its output on stderr."""
        if self.process.poll() is None:
            self.process.send_signal(with_)
        _, said = self.process.communicate(timeout=DEADLINE_SECONDS)
        return self.process.returncode, said


class Pages:
    """The pages of a store or a folder in this process, without a server. Code that needs another process does not run."""

    port = 8000
    more_headers: Sequence[tuple[str, str]] = ()
    """Headers of every request, of which several may have the same name."""

    def __init__(
        self, *, store: Path | None = None, folder: Path | None = None, host: str = "127.0.0.1", token: str | None = None
    ):
        from arena_web.app import ANSWERS, Server
        from arena_web.guard import Guard, Site
        from arena_web.plugin_process import PluginProcesses
        from arena_web.store_folder import stores_in
        from arena_web.tournaments import Tournaments

        tournaments = Tournaments(folder)
        if folder is not None:
            tournaments.show_folder(stores_in(folder))
        if store is not None:
            tournaments.show(store)
        self._guard = Guard(Server(tournaments, PluginProcesses([])).app(), Site(host, self.port), ANSWERS, token=token)

    def ask(self, path: str, body: Any = None, *, method: str | None = None, **headers: str) -> Answer:
        """Send a request to the application. The arguments are those of `Served.ask`."""
        given = {"host": f"127.0.0.1:{self.port}"} | {name.replace("_", "-").lower(): value for name, value in headers.items()}
        parts = list(body) if isinstance(body, Iterator) else [body if isinstance(body, bytes) else json.dumps(body).encode()]
        if body is not None:
            given.setdefault("content-type", "application/json")
            if not isinstance(body, Iterator):
                given.setdefault("content-length", str(len(parts[0])))
        messages = [{"type": "http.request", "body": part, "more_body": True} for part in parts if body is not None]
        messages.append({"type": "http.request", "body": b"", "more_body": False})
        target, _, query = path.partition("?")
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method or ("GET" if body is None else "POST"),
            "scheme": "http",
            "path": unquote(target),
            "raw_path": target.encode(),
            "query_string": query.encode(),
            "client": ("127.0.0.1", 1),
            "headers": [(name.encode(), value.encode()) for name, value in [*given.items(), *self.more_headers]],
        }
        sent: list[Any] = []

        async def receive() -> Any:
            return messages.pop(0) if messages else await asyncio.Event().wait()

        async def send(message: Any) -> None:
            sent.append(message)

        asyncio.run(self._guard(scope, receive, send))
        assert not sent[-1].get("more_body"), "the answer is incomplete"
        text = b"".join([message.get("body", b"") for message in sent[1:]]).decode()
        return Answer(sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}, text)


Serve = Callable[..., Any]


@contextmanager
def served(folder: Path, *arguments: str) -> Iterator[Served]:
    """Run a server inside a `with` statement. At the end, its exit code must be 0, and stderr may have only notes."""
    server = Served(folder, *arguments)
    try:
        yield server
    except BaseException:
        server.end()
        raise
    code, said = server.end()
    noted = [line for line in said.splitlines() if not line.startswith(("note: ", '{"error": "not an answer"}'))]
    assert (code, noted) == (0, [])


@pytest.fixture(scope="session")
def serve() -> Serve:
    """Return the context manager `served`; skip the test if a library is not installed."""
    pytest.importorskip("fastapi")
    pytest.importorskip("uvicorn")
    return served


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a plugin and a store. The store has two boards, and the label of one agent is an HTML script."""
    folder = tmp_path_factory.mktemp("web")
    (folder / "pebbles.py").write_text(PLUGIN)
    run(
        {
            "name": "Small <b>cup</b>",
            "games": ["tic-tac-toe", "pebbles"],
            "rounds": 6,
            "plugins": [str(folder / "pebbles.py")],
            "agents": ["random", {"agent": "lookahead", "depth": 3}, {"agent": "chatty", "label": HOSTILE}],
        },
        store=folder / "cup.db",
    )
    return folder


@pytest.fixture(scope="session")
def server(serve: Serve, place: Path) -> Iterator[Served]:
    """Run a server for the store in `place`, for all tests. A test that starts tournaments runs its own server."""
    with serve(place, "cup.db", "--plugin", "pebbles.py") as running:
        yield running


@pytest.fixture(scope="session")
def pages(place: Path) -> Pages:
    """Return the pages of the store in `place`, without a server."""
    pytest.importorskip("fastapi")
    return Pages(store=place / "cup.db")


def find_violations(page: Any, rules: Sequence[str] = (), *, without: bool = False) -> list[str]:
    """Return the violations that axe finds on a page: of all rules, of the given ones, or of all others."""
    from axe_playwright_python.sync_playwright import Axe

    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if without:
        options["rules"] = {rule: {"enabled": False} for rule in rules}
    elif rules:
        options["runOnly"] = list(rules)
    found = Axe().run(page, options=options).response["violations"]
    return [f"{one['id']}: {one['help']}: {[node['html'][:200] for node in one['nodes'][:3]]}" for one in found]


class Visit:
    """A page in a browser window of a given width, in the light and the dark theme."""

    def __init__(self, browser: Any, address: str, width: int) -> None:
        self.width = width
        self.address = address
        self._context = browser.new_context(viewport={"width": width, "height": 900}, reduced_motion="reduce")
        self.page = self._context.new_page()
        self.page.set_default_timeout(1000 * DEADLINE_SECONDS)
        self.errors: list[str] = []
        self.page.on(
            "console", lambda message: self.errors.append(message.text) if message.type in ("error", "warning") else None
        )
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def go(self, path: str) -> Any:
        """Open a page of the server."""
        self.page.goto(self.address.rstrip("/") + path)
        return self.page

    def check(self, other: int | None = None) -> None:
        """Check the requirements of every page: it has no accessibility faults, errors or sideways scrolling, and no script of
        a hostile label has run. If the width `other` is given, the page is checked at this width too.
        """
        self.page.mouse.move(0, 0)
        self.page.evaluate("scrollTo(0, 0)")
        assert find_violations(self.page) == []
        self.page.emulate_media(color_scheme="dark")
        assert find_violations(self.page, ["color-contrast"]) == []  # no other rule depends on the theme
        self.page.emulate_media(color_scheme="light")
        self._check_width()
        if other is not None:
            size = self.page.viewport_size
            self.page.set_viewport_size({**size, "width": other})
            assert find_violations(self.page, ["color-contrast"], without=True) == []
            self._check_width()
            self.page.set_viewport_size(size)

    def _check_width(self) -> None:
        assert self.errors == []
        assert self.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        assert self.page.evaluate("window.hit") is None

    def end(self) -> None:
        """Close the page."""
        self._context.close()


@pytest.fixture(scope="session")
def visiting() -> type[Visit]:
    """Return the class `Visit`."""
    return Visit
