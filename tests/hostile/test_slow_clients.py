"""Slow clients of many addresses take all connections of a server."""

import asyncio
import http.client
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, Self

import pytest

import arena as api
from arena_web.live import MAX_STREAMS
from arena_web.server import MAX_CONNECTIONS
from tests.eventually import DEADLINE_SECONDS, eventually

pytestmark = [pytest.mark.promise(hole="server", isolation="any")]

FILES = 700
"""File descriptors that a server may have."""
CROWD = MAX_CONNECTIONS + 40
"""Slow clients."""
HONEST_SECONDS = 5.0
"""Seconds in which an honest client is served."""


class Target(NamedTuple):
    """A server, and the requests that attack it."""

    port: int
    host: str
    body: str
    """A path that accepts a body without a token."""
    events: str
    page: str
    by_proxy: bool

    def head(self, words: str, address: str) -> bytes:
        """The head of a request, of an address that a proxy names, if there is one."""
        forwarded = f"X-Forwarded-For: {address}\r\n" if self.by_proxy else ""
        return f"{words} HTTP/1.1\r\nHost: {self.host}\r\n{forwarded}".encode()

    def connect(self, address: str) -> socket.socket:
        """A connection from an address of this machine, or of its proxy."""
        source = "127.0.0.1" if self.by_proxy else address
        return socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE_SECONDS, source_address=(source, 0))

    def get(self, path: str, address: str = "127.0.0.1") -> int:
        """The status of the answer to an honest request, which is read as far as its first bytes."""
        with closing(self.connect(address)) as asking:
            asking.sendall(self.head(f"GET {path}", address) + b"\r\n")
            answer = http.client.HTTPResponse(asking)
            answer.begin()
            assert answer.read(100)
            return answer.status


@contextmanager
def served(folder: Path) -> Iterator[Target]:
    """Serve a store, with a limit of FILES for the descriptors of the server."""
    api.run({"game": "tic-tac-toe", "rounds": 1, "agents": ["random", "greedy"]}, store=folder / "cup.db")
    words = [sys.executable, "-m", "arena", "serve", "cup.db", "--port", "0"]
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (FILES, FILES))
        port = int(server.stdout.readline().strip().rstrip("/").rpartition(":")[2])
        try:
            yield Target(port, f"127.0.0.1:{port}", "/api/position", "/api/t/cup/events", "/t/cup", by_proxy=False)
        finally:
            server.send_signal(signal.SIGINT)


class SlowCrowd(threading.Thread):
    """More slow clients than a server has room for, each of an address of its own, back a second after it is closed."""

    def __init__(self, target: Target, manners: Sequence[str]) -> None:
        """`manners` are theirs in turn, of `head`, `body`, `stream` and `answer`."""
        super().__init__(daemon=True)
        self._target, self._manners = target, manners
        self._stopping = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self.connected = 0

    def __enter__(self) -> Self:
        self.start()
        eventually(lambda: self.connected >= CROWD, lambda: self.connected)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self.join()

    def run(self) -> None:
        """Attack until the end of the context."""
        self._loop.run_until_complete(self._attack())
        self._loop.close()

    async def _attack(self) -> None:
        tasks = [asyncio.create_task(self._client(number)) for number in range(CROWD)]
        await self._stopping.wait()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _client(self, number: int) -> None:
        address = f"127.1.{number // 200}.{number % 200 + 1}"
        source = ("127.0.0.1" if self._target.by_proxy else address, 0)
        manner = self._manners[number % len(self._manners)]
        head = self._target.head
        said = {
            "head": head("GET /", address),
            "body": head(f"POST {self._target.body}", address)
            + b"Content-Type: application/json\r\nContent-Length: 5000\r\n\r\n",
            "stream": head(f"GET {self._target.events}", address) + b"\r\n",
            "answer": (head("GET /static/style.css", address) + b"\r\n") * 15,
        }[manner]
        await asyncio.sleep(number / CROWD)  # slow, and no flood
        while True:
            with suppress(OSError):
                made = socket.socket()
                made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)  # little of the unread data is buffered
                made.setblocking(False)
                made.bind(source)
                await self._loop.sock_connect(made, ("127.0.0.1", self._target.port))
                reader, writer = await asyncio.open_connection(sock=made, limit=1)
                self.connected += 1
                try:
                    writer.write(said)
                    while not reader.at_eof():
                        await asyncio.sleep(1)
                        if manner in ("head", "body"):
                            writer.write(b" ")
                            await writer.drain()
                finally:
                    writer.close()
            await asyncio.sleep(1)


def check_honest_requests(target: Target, manners: Sequence[str]) -> None:
    """Assert that the answers to an honest client come in time while a crowd of slow clients attacks the server."""
    with SlowCrowd(target, manners):
        for path in (target.page, "/static/style.css", target.events) * 5:
            began = time.monotonic()
            assert target.get(path) == 200
            assert time.monotonic() - began < HONEST_SECONDS
            time.sleep(0.05)


def test_an_honest_client_is_served_among_slow_ones(tmp_path: Path) -> None:
    """Each slow client sends its request one byte at a time."""
    with served(tmp_path) as target:
        check_honest_requests(target, ["body"])


def test_streams_leave_room_for_another_address(tmp_path: Path) -> None:
    """The streams of many addresses are read; the stream of another address replaces the oldest one."""
    with served(tmp_path) as target, ExitStack() as stack:
        made = []
        for number in range(MAX_STREAMS):
            one = stack.enter_context(closing(target.connect(f"127.1.{number // 200}.{number % 200 + 1}")))
            one.sendall(target.head(f"GET {target.events}", "") + b"\r\n")  # at once: the server waits only some seconds for it
            assert one.recv(12) == b"HTTP/1.1 200"
            made.append(one)
        assert target.get(target.events, "127.2.0.1") == 200
        seen = b""
        while not seen.endswith(b"0\r\n\r\n"):
            part = made[0].recv(1 << 16)
            assert part, "it has come to its end"
            seen += part
        assert MAX_STREAMS < MAX_CONNECTIONS
