"""Runs the application, wrapped in its guard, with uvicorn."""

import asyncio
import logging
import re
import secrets
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import h11
import uvicorn
from h11 import _readers as h11_readers
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from arena.api.cli import say
from arena.api.store import Database
from arena.clock import monotonic
from arena_setup.hosts import is_loopback
from arena_web.app import ANSWERS, Server
from arena_web.guard import MAX_HEAD_BYTES, MAX_HEADERS, Guard, Site, is_wildcard
from arena_web.plugin_process import PluginProcesses
from arena_web.store_folder import stores_in
from arena_web.tournaments import Tournaments

GRACE_SECONDS = 1
"""The number of seconds that pending answers get when the server ends. An answer may wait for a board of a large store."""
END_SWITCH_SECONDS = 0.0002
"""The number of seconds after which a thread must let another one run, once the server ends."""
MAX_CONNECTIONS = 400
"""The maximum number of open connections, which are event streams and pages that load their files. It is below the usual limit on
file descriptors.
"""
MAX_ACCEPTED = 50
"""The number of connections that are accepted before the server handles data on existing ones."""
HEAD_SECONDS = 5.0
"""The timeout for the head of a request, counted from the connection or from the last answer."""
PART_BYTES = 4 << 10
"""The number of bytes that are parsed at a time."""
UNREAD_SECONDS = 20.0
"""The timeout for a client that stops reading an answer. It applies only to answers that exceed the buffer of the system."""

HEADER_LINE = re.compile(
    rb"(?P<field_name>[-!#$%&'*+.^_`|~0-9a-zA-Z]+):[ \t]*+(?P<field_value>(?:[^\x00\s]++(?:[ \t]++[^\x00\s]++)*+)?+)[ \t]*+"
)
CHUNK_LINE = re.compile(rb"(?P<chunk_size>[0-9A-Fa-f]{1,20})(?:(?P<chunk_ext>;.*)|[ \t]*)\r\n")
# These replace the patterns of h11 for the same lines. With its own patterns, h11 needs seconds for a line of 64,000 spaces that
# ends with a bad byte. It parses a line before any code of arena sees the request.
h11_readers.header_field_re, h11_readers.chunk_header_re = HEADER_LINE, CHUNK_LINE

STORE_QUERY_SECONDS = 30.0
"""The timeout for a query of a store. A store may come from anyone, and its content decides how long a query takes."""


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
    """Serve on a socket until Ctrl-C or SIGTERM. The address is printed as the first line on `out`.

    The pages show `store`. If `spec` is given, it is played, and its matches are added to `store`. If `folder` is given, all
    stores in the folder are listed. On an interface other than loopback, every request needs a token, which is part of the
    address.
    """
    port = listening.getsockname()[1]
    token = None if is_loopback(name) else secrets.token_urlsafe(24)
    tournaments = Tournaments(folder)
    server = Server(tournaments, PluginProcesses(plugins))
    running = QuietServer(Guard(server.app(), Site(name, port), ANSWERS, token=token))
    Database.query_seconds = STORE_QUERY_SECONDS
    with end_on_signals(running, server.stopping, stop_queries=True):
        if folder is not None:
            tournaments.show_folder(stores_in(folder))
        if store is not None:
            tournament = tournaments.show(store, spec)
            if spec is not None:
                await tournament.start(plugins)
        print(url_of(name, port) + ("" if token is None else f"?token={token}"), file=out, flush=True)
        if token is not None:
            say("note: other machines can reach this server; anyone with its address and the token can use it")
        if sys.stderr.isatty():
            say("press Ctrl-C to stop it")
        await running.serve(sockets=[listening])


def address_of(host: str) -> str:
    """Return the host name with which browsers reach a server on an interface. If the interface stands for all interfaces, this
    is the address of this machine in its network.

    Nothing is sent: the operating system only names the address that it would use for an outgoing connection.
    """
    if not is_wildcard(host):
        return host
    six = ":" in host
    with socket.socket(socket.AF_INET6 if six else socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect(("2001:db8::1" if six else "192.0.2.1", 9))  # addresses that are reserved for documentation
        except OSError:
            return "localhost"
        found: str = asking.getsockname()[0]
    return found


def url_of(host: str, port: int) -> str:
    """Return the address of the first page of a server on an interface."""
    reached = address_of(host)
    return f"http://[{reached}]:{port}/" if ":" in reached else f"http://{reached}:{port}/"


class BoundedParser(h11.Connection):
    """A parser of requests that stops after a few events, because nobody else gets an answer while it works.

    The network delivers up to 256 KiB at a time, which may be 43,000 chunks of a body or 65,000 headers. So h11 gets the bytes in
    parts, and a head that is much too long is an error before all of it is parsed. A body in chunks is not parsed at all.
    """

    def __init__(self) -> None:
        super().__init__(h11.SERVER, 2 * MAX_HEAD_BYTES)  # the guard refuses a shorter head with a better message
        self._waiting = bytearray()
        self._lines = 0
        """The number of lines that h11 got since the last event."""
        self.ignores_body = False
        """True after the head of a request with a body in chunks. All further bytes are discarded."""

    def receive_data(self, data: bytes) -> None:
        """Take bytes from the network."""
        if not self.ignores_body:
            self._waiting += data

    def next_event(self) -> Any:
        """Return the next event, as h11 does."""
        while not self.ignores_body:
            event = super().next_event()
            if event is not h11.NEED_DATA:
                self._lines = 0
                if isinstance(event, h11.Request):
                    self.ignores_body = any(name == b"transfer-encoding" for name, _ in event.headers)
                return event
            if self._lines > 2 * MAX_HEADERS and self.their_state is h11.IDLE:
                raise h11.RemoteProtocolError("too many headers", 431)
            if not self._waiting:
                return event
            part = bytes(self._waiting[:PART_BYTES])
            del self._waiting[:PART_BYTES]
            self._lines += part.count(b"\n")
            super().receive_data(part)
        return h11.NEED_DATA


class BoundedConnection(H11Protocol):
    """A connection that is closed when its client is too slow. When there are too many connections, it may also be closed to make
    room for a newer one.
    """

    conn: BoundedParser

    def connection_made(self, transport: Any) -> None:
        """Accept a connection. If there are too many, close the connection that has waited longest for its client."""
        super().connection_made(transport)
        self.conn = BoundedParser()
        self._unread: asyncio.TimerHandle | None = None
        self.dropped = False
        self._expect_head()
        if len(self.connections) > MAX_CONNECTIONS:  # connections that were dropped are counted until the event loop removes them
            open_ones = [one for one in self.connections if isinstance(one, BoundedConnection) and not one.dropped]
            if len(open_ones) > MAX_CONNECTIONS:
                open_ones.remove(self)
                min(open_ones, key=lambda one: (not one.waits_for_client, one.since)).drop()

    def on_response_complete(self) -> None:
        """Wait for the next request. After a body in chunks there is none, but while the client still sends, the connection stays
        open for some seconds, because the client would otherwise lose the answer.
        """
        super().on_response_complete()
        self._expect_head()
        if self.conn.ignores_body:
            self.transport.write_eof()

    def send_400_response(self, msg: str) -> None:
        """Refuse bytes that are not HTTP, and close the connection. If they follow a request, its answer cannot be sent any more,
        and if a part of it has been sent, there is no place for another answer.
        """
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()

    def pause_writing(self) -> None:
        """Wait until the client reads. After a timeout, the connection is dropped with the rest of the answer."""
        super().pause_writing()
        self.since = monotonic()
        self._unread = self.loop.call_later(UNREAD_SECONDS, self.drop)

    def resume_writing(self) -> None:
        """Continue, because the client reads again."""
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
        """Return True while no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def waits_for_client(self) -> bool:
        """Return True while the connection waits for its client to send a request or the rest of one, or to read an answer."""
        return self.idle or self.cycle.more_body or self.flow.write_paused

    def close(self) -> None:
        """Close the connection. Pending data is still sent if the client reads it in time."""
        self.transport.close()
        self._timer = self.loop.call_later(UNREAD_SECONDS, self.drop)

    def drop(self) -> None:
        """Close the connection at once. Data that the client has not read is lost."""
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
    """A server that leaves signals to `end_on_signals`. uvicorn would raise them again, and then the exit code would not be 0.

    The server accepts only a few connections at a time, so that it reads the head of a request before it accepts many newer
    connections.
    """

    def __init__(self, guard: ASGIApp) -> None:
        config = uvicorn.Config(
            guard,
            log_level="error",
            access_log=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
            server_header=False,
            ws="none",
            proxy_headers=False,  # the guard decides which proxy to trust
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
        """Leave all signal handlers as they are."""
        yield


@contextmanager
def end_on_signals(running: uvicorn.Server, stopping: asyncio.Event, *, stop_queries: bool = False) -> Iterator[None]:
    """On Ctrl-C and SIGTERM, end the server instead of the process.

    With `stop_queries`, all queries of stores end at once, too. This is for a server that only reads stores: other threads, such
    as those of a ladder, must be able to finish what they write.
    """

    def stop() -> None:
        stopping.set()
        # a thread that computes a board would otherwise hold up each system call of the end by 5 ms, and there are hundreds
        sys.setswitchinterval(END_SWITCH_SECONDS)
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # an answer that is cut off now is no error
        running.should_exit = True
        if stop_queries:
            Database.stop_queries()

    loop = asyncio.get_running_loop()
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}
    for number in numbers:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        Database.stop_queries(stop=False)
        for number in numbers:
            loop.remove_signal_handler(number)
            signal.signal(number, before[number])
