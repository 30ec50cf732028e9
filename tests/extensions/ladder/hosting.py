"""A ladder as a process of its own, and authors who hand in agents over the network."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

SPEC = """
game: tic-tac-toe
agents:
  - {agent: random, isolation: none}
  - {agent: greedy, isolation: none}
isolation: process
seed: 5
until: {interval: 60}
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
GOOD = "return search.rng.choice(game.actions(state))"


def agent(body: str = GOOD) -> bytes:
    """The file of an agent that chooses by `body`."""
    return AGENT.replace("BODY", body).encode()


class Answer(NamedTuple):
    """The answer to a request."""

    status: int
    body: Any
    headers: Mapping[str, str]


class HostedLadder:
    """A ladder that `arena ladder` hosts in a folder."""

    def __init__(self, folder: Path, spec: str = SPEC, *words: str) -> None:
        self.folder = folder
        (folder / "course.yaml").write_text(spec)
        self._words = words
        self.process = self._start()
        self.url = self._address()

    def _start(self) -> subprocess.Popen[str]:
        workers = [] if "--cluster" in self._words else ["--workers", "1"]
        command = [sys.executable, "-m", "arena", "ladder", "course.yaml", "--port", "0", *workers, *self._words]
        with self.errors.open("a") as errors:  # a pipe that nobody reads would hold it up
            return subprocess.Popen(
                command, cwd=self.folder, text=True, start_new_session=True, stdout=subprocess.PIPE, stderr=errors
            )

    @property
    def errors(self) -> Path:
        """The file with all that it has said on stderr."""
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
        """Start it once more after it has ended."""
        self.process = self._start()
        self.url = self._address()

    def kill(self) -> None:
        """End it as a power cut does."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate(timeout=30)

    def end(self) -> tuple[int, str]:
        """End it as a person does; return the exit code and what it said on stderr."""
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=60)
        return self.process.returncode, self.errors.read_text()

    def admin(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command of the admin."""
        command = [sys.executable, "-m", "arena", "ladder", "admin", "course.yaml", *words]
        return subprocess.run(command, cwd=self.folder, text=True, capture_output=True, timeout=60, check=False)

    def tokens(self, *authors: str) -> list[str]:
        """New tokens of authors."""
        done = self.admin("tokens", *authors)
        assert done.returncode == 0, done.stderr
        return [line.partition(" ")[2] for line in done.stdout.splitlines()]

    def ask(
        self, path: str, token: str | None = None, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Ask for something; POST where there is a body."""
        sent = {**({} if token is None else {"Authorization": f"Bearer {token}"}), **(headers or {})}
        request = urllib.request.Request(self.url + path, body, sent)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return Answer(answer.status, _read(answer.read()), dict(answer.headers))
        except urllib.error.HTTPError as error:
            return Answer(error.code, _read(error.read()), dict(error.headers))

    def submit(self, token: str | None, content: bytes, file: str = "mine.py", name: str | None = None) -> Answer:
        """Hand in a file."""
        parts = [] if name is None else [b'--x\r\nContent-Disposition: form-data; name="name"\r\n\r\n', name.encode(), b"\r\n"]
        parts.append(f'--x\r\nContent-Disposition: form-data; name="file"; filename="{file}"\r\n\r\n'.encode())
        parts += [content, b"\r\n--x--\r\n"]
        return self.ask("/api/submissions", token, b"".join(parts), {"Content-Type": "multipart/form-data; boundary=x"})

    def verdict(self, token: str, key: str, seconds: float = 60.0) -> Any:
        """Wait until a submission is decided and return what is told of it."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            told = self.ask(f"/api/submissions/{key}", token).body
            if told["status"] not in ("queued", "checking"):
                return told
            time.sleep(0.1)
        raise AssertionError(f"no verdict within {seconds} s")


def _read(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return body.decode(errors="replace")
