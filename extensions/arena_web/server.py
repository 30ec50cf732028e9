"""The server itself: uvicorn with the application behind its guard."""

import asyncio
import secrets
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import IO, Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from arena.api.cli import say
from arena_web.app import ANSWERS, Server
from arena_web.guard import Guard, Site, is_loopback, is_wildcard
from arena_web.plugin_process import PluginProcesses
from arena_web.store_folder import stores_in
from arena_web.tournaments import Tournaments

GRACE_SECONDS = 2
"""Seconds for answers that are on their way when the server ends."""
MAX_CONNECTIONS = 400
"""Open at a time: event streams, and pages that load their files. Below the file descriptors that a process usually has."""
HEAD_SECONDS = 5.0
"""For the head of a request, from the connection or from the last answer on."""


async def host(
    listening: socket.socket,
    name: str,
    plugins: Sequence[str],
    out: IO[str],
    *,
    store: Path | None = None,
    spec: Path | None = None,
    folder: Path | None = None,
) -> None:
    """Serve on a socket until Ctrl-C or SIGTERM; the address is the first line on `out`.

    `store` is shown, and `spec` played into it; of a `folder` all stores are listed. On another interface than loopback every
    request needs a token, which is part of the address.
    """
    port = listening.getsockname()[1]
    token = None if is_loopback(name) else secrets.token_urlsafe(24)
    tournaments = Tournaments(plugins, folder)
    server = Server(tournaments, PluginProcesses(plugins))
    config = uvicorn.Config(
        Guard(server.app(), Site(name, port), ANSWERS, token=token),
        log_level="error",
        access_log=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        server_header=False,
        ws="none",
        http=BoundedConnection,
    )
    running = QuietServer(config)
    with end_on_signals(running, server.stopping):
        if folder is not None:
            tournaments.show_folder(stores_in(folder))
        if store is not None:
            tournament = tournaments.show(store, spec)
            if spec is not None:
                await tournament.start(plugins)
        _say_where(name, port, token, out)
        await running.serve(sockets=[listening])


def _say_where(host: str, port: int, token: str | None, out: IO[str]) -> None:
    reached = address_of(host)
    name = f"[{reached}]" if ":" in reached else reached
    print(f"http://{name}:{port}/" + ("" if token is None else f"?token={token}"), file=out, flush=True)
    if token is not None:
        say("note: other machines can reach this server; whoever has its address with the token can use it")
    if sys.stderr.isatty():
        say("Ctrl-C ends it")


def address_of(host: str) -> str:
    """The host by which browsers find a server on an interface; for all interfaces this machine's address in its network.

    Nothing is sent: the system is asked by which of its addresses it would reach others.
    """
    if not is_wildcard(host):
        return host
    six = ":" in host
    with socket.socket(socket.AF_INET6 if six else socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect(("2001:db8::1" if six else "192.0.2.1", 9))  # addresses for documentation: nobody's
        except OSError:
            return "localhost"
        found: str = asking.getsockname()[0]
    return found


class BoundedConnection(H11Protocol):
    """A connection that is closed if no request comes in time, or for a newer one if there are too many."""

    def connection_made(self, transport: Any) -> None:
        """Take a connection; the one that has been idle for longest gives way."""
        super().connection_made(transport)
        self._expect_head()
        if len(self.connections) > MAX_CONNECTIONS:
            others = [one for one in self.connections if isinstance(one, BoundedConnection) and one.idle]
            min(others, key=lambda one: one.since, default=self).close()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._timer.cancel()
        super().connection_lost(exc)

    @property
    def idle(self) -> bool:
        """True while no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def close(self) -> None:
        """Close it; what is on its way is sent."""
        self.transport.close()

    def _expect_head(self) -> None:
        timer: asyncio.TimerHandle | None = getattr(self, "_timer", None)
        if timer is not None:
            timer.cancel()
        self.since = monotonic()
        self._timer = self.loop.call_later(HEAD_SECONDS, self._close_if_idle)

    def _close_if_idle(self) -> None:
        if self.idle:
            self.close()


class QuietServer(uvicorn.Server):
    """A server that leaves signals to `end_on_signals`: uvicorn would raise them again, and the exit code would not be 0."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave all signals as they are."""
        yield


@contextmanager
def end_on_signals(running: uvicorn.Server, stopping: asyncio.Event) -> Iterator[None]:
    """End the server, rather than the process, on Ctrl-C and SIGTERM."""

    def stop() -> None:
        stopping.set()
        running.should_exit = True

    loop = asyncio.get_running_loop()
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}
    for number in numbers:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
            signal.signal(number, before[number])
