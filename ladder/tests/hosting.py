"""A ladder that runs in its own process, and requests of authors that submit agents over the network."""

import json
import os
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

from tests.eventually import DEADLINE_SECONDS, eventually
from tests.fork_server import ForkedProcess, preload, run_module, start_module

SPEC = """
game: tic-tac-toe
agents:
  - {agent: random, isolation: none}
  - {agent: greedy, isolation: none}
isolation: process
seed: 5
until: {interval: 200}
submissions: {per_day: 1000}
"""
AGENT = """
from arena import Agent, hookimpl
import os, time

class Mine(Agent):
    name = "mine"

    def choose(self, game, state, search):
        BODY

@hookimpl
def arena_agents():
    return [Mine]
"""
IMPORTED = ("arena_ladder.host", "uvicorn.lifespan.on", "uvicorn.protocols.http.auto")
"""The modules that a ladder imports when it starts."""
GOOD = "return search.rng.choice(game.actions(state))"


def agent(body: str = GOOD) -> bytes:
    """Return the file of an agent. `body` is the code of its method `choose`."""
    return AGENT.replace("BODY", body).encode()


class Answer(NamedTuple):
    """The answer to a request."""

    status: int
    body: Any
    headers: Mapping[str, str]


class HostedLadder:
    """A ladder that `arena ladder` hosts in a folder."""

    def __init__(self, folder: Path, spec: str = SPEC, *words: str, target: str = "course.yaml") -> None:
        self.folder, self._target = folder, target
        if target == "course.yaml":
            (folder / target).write_text(spec)
        self._words = words
        self.process = self._start()
        self.url = self._address()

    def _start(self) -> "ForkedProcess | subprocess.Popen[str]":
        workers = [] if "--cluster" in self._words else ["--workers", "1"]
        preload(*IMPORTED)
        words = ["ladder", self._target, "--port", "0", *workers, *self._words]
        with self.errors.open("a") as errors:  # if the pipe were not read, the ladder would hang
            return start_module("arena", words, folder=self.folder, environment=os.environ, errors=errors.fileno())

    @property
    def errors(self) -> Path:
        """The file with the output of the ladder on stderr."""
        return self.folder / "errors.txt"

    def _address(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        if not line:
            raise AssertionError(self.errors.read_text())
        return line.rstrip("/")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.kill()

    def again(self) -> None:
        """Start the ladder again after it has ended."""
        self.process = self._start()
        self.url = self._address()

    def kill(self) -> None:
        """Kill the ladder with all its processes, as a power cut would."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate(timeout=DEADLINE_SECONDS)

    def end(self) -> tuple[int, str]:
        """Stop the ladder with SIGTERM. Return the exit code and the output on stderr."""
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=DEADLINE_SECONDS)
        assert self.process.returncode is not None
        return self.process.returncode, self.errors.read_text()

    def admin(self, *words: str, spec: str = "course.yaml") -> subprocess.CompletedProcess[str]:
        """Run a command of `arena ladder admin`."""
        return run_module("arena", ["ladder", "admin", spec, *words], folder=self.folder, environment=os.environ)

    def tokens(self, *authors: str) -> list[str]:
        """Make new tokens for authors, and return them."""
        done = self.admin("tokens", *authors)
        assert done.returncode == 0, done.stderr
        return [line.partition(" ")[2] for line in done.stdout.splitlines()]

    def ask(
        self, path: str, token: str | None = None, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send a request: POST if there is a body, otherwise GET."""
        sent = {**({} if token is None else {"Authorization": f"Bearer {token}"}), **(headers or {})}
        request = urllib.request.Request(self.url + path, body, sent)
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as answer:
                return Answer(answer.status, _read(answer.read()), dict(answer.headers))
        except urllib.error.HTTPError as error:
            return Answer(error.code, _read(error.read()), dict(error.headers))

    def rows(self) -> list[Any]:
        """Wait until there are standings, and return their rows."""
        eventually(lambda: self.ask("/api/standings").status != 503)
        return list(self.ask("/api/standings").body["rows"])

    def submit(self, token: str | None, content: bytes, file: str = "mine.py", name: str | None = None) -> Answer:
        """Hand in a file."""
        parts = [] if name is None else [b'--x\r\nContent-Disposition: form-data; name="name"\r\n\r\n', name.encode(), b"\r\n"]
        parts.append(f'--x\r\nContent-Disposition: form-data; name="file"; filename="{file}"\r\n\r\n'.encode())
        parts += [content, b"\r\n--x--\r\n"]
        return self.ask("/api/submissions", token, b"".join(parts), {"Content-Type": "multipart/form-data; boundary=x"})

    def verdict(self, token: str, key: str) -> Any:
        """Wait until a submission has been checked, and return its data."""

        def checked() -> Any:
            told = self.ask(f"/api/submissions/{key}", token).body
            return told["status"] not in ("queued", "checking") and told

        return eventually(checked)


def _read(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return body.decode(errors="replace")
