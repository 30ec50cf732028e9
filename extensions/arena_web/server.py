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
"""Seconds for pending answers when the server ends."""
MAX_CONNECTIONS = 400
"""The maximum number of open connections: event streams, and pages that load their files. It is below the usual limit of file
descriptors."""
MAX_ACCEPTED = 50
"""The number of connections accepted before the server handles data of existing ones."""
HEAD_SECONDS = 5.0
"""The timeout for the head of a request, from the connection or the last answer on."""
UNREAD_SECONDS = 20.0
"""The timeout for a client to continue reading, if its answer exceeds the system's buffer."""


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

    `store` is shown, and `spec` played into it; if `folder` is given, all its stores are listed. On an interface other than
    loopback, every request needs a token, which is part of the address.
    """
    port = listening.getsockname()[1]
    token = None if is_loopback(name) else secrets.token_urlsafe(24)
    tournaments = Tournaments(plugins, folder)
    server = Server(tournaments, PluginProcesses(plugins))
    running = QuietServer(Guard(server.app(), Site(name, port), ANSWERS, token=token))
    with end_on_signals(running, server.stopping):
        if folder is not None:
            tournaments.show_folder(stores_in(folder))
        if store is not None:
            tournament = tournaments.show(store, spec)
            if spec is not None:
                await tournament.start(plugins)
        print(url_of(name, port) + ("" if token is None else f"?token={token}"), file=out, flush=True)
        if token is not None:
            say("note: other machines can reach this server; whoever has its address with the token can use it")
        if sys.stderr.isatty():
            say("Ctrl-C ends it")
        await running.serve(sockets=[listening])


def address_of(host: str) -> str:
    """The host by which browsers find a server on an interface; for all interfaces this machine's address in its network.

    Nothing is sent: the operating system names the address that it would use for outgoing connections.
    """
    if not is_wildcard(host):
        return host
    six = ":" in host
    with socket.socket(socket.AF_INET6 if six else socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect(("2001:db8::1" if six else "192.0.2.1", 9))  # reserved addresses for documentation
        except OSError:
            return "localhost"
        found: str = asking.getsockname()[0]
    return found


def url_of(host: str, port: int) -> str:
    """The address of the first page of a server on an interface."""
    reached = address_of(host)
    return f"http://[{reached}]:{port}/" if ":" in reached else f"http://{reached}:{port}/"


class BoundedConnection(H11Protocol):
    """A connection that is closed if its client is too slow, or for a newer one if there are too many."""

    def connection_made(self, transport: Any) -> None:
        """Accept a connection. If there are too many, close the one that has waited longest for its client."""
        super().connection_made(transport)
        self._unread: asyncio.TimerHandle | None = None
        self.dropped = False
        self._expect_head()
        if len(self.connections) > MAX_CONNECTIONS:  # dropped ones are included until the event loop removes them
            open_ones = [one for one in self.connections if isinstance(one, BoundedConnection) and not one.dropped]
            if len(open_ones) > MAX_CONNECTIONS:
                open_ones.remove(self)
                min(open_ones, key=lambda one: (not one.waits_for_client, one.since)).drop()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._expect_head()

    def pause_writing(self) -> None:
        """Wait until the client reads; on a timeout the rest is dropped with the connection."""
        super().pause_writing()
        self.since = monotonic()
        self._unread = self.loop.call_later(UNREAD_SECONDS, self.drop)

    def resume_writing(self) -> None:
        """Go on: the client reads."""
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._timer.cancel()
        if self._unread is not None:
            self._unread.cancel()
        super().connection_lost(exc)

    @property
    def idle(self) -> bool:
        """True while no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def waits_for_client(self) -> bool:
        """True while nothing happens until the client sends a request, or the rest of one, or reads its answer."""
        return self.idle or self.cycle.more_body or self.flow.write_paused

    def close(self) -> None:
        """Close the connection; pending data is sent if the client reads it in time."""
        self.transport.close()
        self._timer = self.loop.call_later(UNREAD_SECONDS, self.drop)

    def drop(self) -> None:
        """Close the connection at once; unread data is lost."""
        self.dropped = True
        self.transport.abort()

    def _expect_head(self) -> None:
        timer: asyncio.TimerHandle | None = getattr(self, "_timer", None)
        if timer is not None:
            timer.cancel()
        self.since = monotonic()

        def close_if_idle() -> None:
            if self.idle:
                self.close()

        self._timer = self.loop.call_later(HEAD_SECONDS, close_if_idle)


class QuietServer(uvicorn.Server):
    """A server that leaves signals to `end_on_signals`: uvicorn would raise them again, and the exit code would not be 0.

    It accepts few connections at a time, so that the head of a request is read before many newer connections are accepted.
    """

    def __init__(self, guard: Guard) -> None:
        config = uvicorn.Config(
            guard,
            log_level="error",
            access_log=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
            server_header=False,
            ws="none",
            proxy_headers=False,  # the guard itself decides which proxy to trust
            http=BoundedConnection,
        )
        super().__init__(config)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen with a large backlog."""
        waiting, self.config.backlog = self.config.backlog, MAX_ACCEPTED
        await super().startup(sockets)
        for one in sockets or ():
            one.listen(waiting)

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
