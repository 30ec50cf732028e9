"""Many connections to `arena serve`, and specs of many agents."""

import http.client
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

import arena as api
from arena.spec import load_spec
from arena.spec.entries import _key_adapter
from arena_web.live import MAX_STREAMS
from tests.conftest import Arena
from tests.eventually import DEADLINE_SECONDS

pytestmark = pytest.mark.promise(hole="server", isolation="any")

FILES = 700
"""File descriptors that the server may have; more connections than that would be the end of it."""

HEAD_SECONDS = 2.0
"""The seconds after which the server closes a connection that has not sent a whole request."""


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("served")
    api.run({"game": "tic-tac-toe", "rounds": 1, "agents": ["random", "greedy"]}, store=folder / "cup.db")
    code = f"import arena_web.server as server; server.HEAD_SECONDS = {HEAD_SECONDS}; import arena.cli as cli; cli.run_process()"
    words = [sys.executable, "-c", code, "serve", "cup.db", "--port", "0"]
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout is not None
            resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (FILES, FILES))
            yield int(server.stdout.readline().strip().rstrip("/").rpartition(":")[2])
        finally:
            server.send_signal(signal.SIGINT)


def connected(port: int, said: bytes) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", port), timeout=DEADLINE_SECONDS)
    made.sendall(said)
    return made


def status(port: int) -> int:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE_SECONDS)) as asking:
        asking.request("GET", "/api/tournaments")
        return asking.getresponse().status


def test_silent_connections_are_closed(port: int) -> None:
    """There are more such connections than file descriptors."""
    half = b"GET / HTTP/1.1\r\nHost: 127.0.0.1"
    with ExitStack() as stack:
        for number in range(FILES + 50):
            stack.enter_context(closing(connected(port, half if number % 7 == 0 else b"")))
        assert status(port) == 200
        last = stack.enter_context(closing(connected(port, half)))
        began = time.monotonic()
        assert last.recv(1000) == b""
        assert time.monotonic() - began < HEAD_SECONDS + 10


def test_streams_are_limited(port: int) -> None:
    """230 requests are sent before any answer is read."""
    host = f"127.0.0.1:{port}"
    asked = f"GET /api/t/cup/events HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    with ExitStack() as stack:
        made = [stack.enter_context(closing(connected(port, asked))) for _ in range(MAX_STREAMS + 30)]
        first = [one.recv(12) for one in made]
    assert (first.count(b"HTTP/1.1 200"), first.count(b"HTTP/1.1 429")) == (MAX_STREAMS, 30)


@pytest.mark.unit
def test_validators_are_created_once() -> None:
    """Creating them took most of the time for a spec with many agents."""
    entries = [{"agent": "random", "label": f"a{number}", "limits": {"nodes": number + 1}} for number in range(200)]
    before = _key_adapter.cache_info()
    load_spec({"game": "tic-tac-toe", "agents": entries})
    after = _key_adapter.cache_info()
    assert after.misses - before.misses <= 2
    assert after.hits - before.hits >= 398


def test_validation_of_a_spec_builds_no_tables_of_heuristics(arena: Arena, tmp_path: Path) -> None:
    agent = "{agent: ida-star, heuristic: {name: pattern-db, partition: %s}, limits: {nodes: 10}}"
    (tmp_path / "s.yaml").write_text(f"game: {{name: sliding-tiles, rows: 4, columns: 4}}\nagents: [{agent % '6-6-3'}]\n")
    (tmp_path / "bad.yaml").write_text(f"game: sliding-tiles\nagents: [{agent % '4-5'}]\n")
    (tmp_path / "small.yaml").write_text(f"game: sliding-tiles\nrounds: 1\nagents: [{agent % '4-4'}]\n")
    cache = tmp_path / "cache"
    assert arena("validate", "s.yaml", "small.yaml", ARENA_CACHE=str(cache)).returncode == 0
    bad = arena("validate", "bad.yaml", ARENA_CACHE=str(cache))
    assert (bad.returncode, "sizes must add up to 8" in bad.stderr) == (2, True)
    assert not cache.exists()
    assert arena("run", "small.yaml", "--no-store", "--quiet", ARENA_CACHE=str(cache)).returncode == 0
    assert len([*cache.glob("*.table")]) == 2  # compiled code may lie beside them
