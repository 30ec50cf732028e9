"""Requests that take long to parse: one of them would keep a server from answering all others.

The tests count steps, or watch that the slow code gets nothing of the request.
"""

import asyncio
import codecs
import http.cookies
import logging
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, strategies as st

from arena import run
from arena.spec.parameters import explain_faults
from tests.extensions.web.conftest import Pages
from tests.hostile.test_patterns import find_slow

pytest.importorskip("fastapi")

import uvicorn
from h11 import _abnf as grammar
from uvicorn.server import ServerState

from arena_web.server import CHUNK_LINE, HEADER_LINE, PART_BYTES, BoundedConnection

pytestmark = [pytest.mark.unit, pytest.mark.promise(hole="server", isolation="any")]

TOKEN = "a-token-of-this-test"
SLOW_COOKIE = 'a="' + r"\\" * 1000 + '"'
"""A quoted value. The time that Python takes to unquote it grows with the square of its length."""
THEIRS = {"header_field_re": grammar.header_field, "chunk_header_re": grammar.chunk_header}
"""The patterns of h11 itself."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("served") / "cup.db"
    run({"game": "tic-tac-toe", "rounds": 1, "agents": ["random", "greedy"]}, store=place)
    return place


@pytest.mark.parametrize("token", [None, TOKEN])
def test_quoted_cookies_are_never_decoded(store: Path, token: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds before and after the token is compared. A quoted value does not hide the token beside it."""
    unquoted: list[str] = []
    monkeypatch.setattr(http.cookies, "_unquote", unquoted.append)
    pages = Pages(store=store, host="127.0.0.1" if token is None else "0.0.0.0", token=token)
    own = f"arena-{pages.port}={TOKEN}; arena-{pages.port}-own={TOKEN}"
    assert pages.ask("/api/tournaments", Cookie=SLOW_COOKIE).status == (200 if token is None else 401)
    for cookies in (own, f"{SLOW_COOKIE}; {own}", f"{own} ;b", f"x={own}; {own}"):
        assert pages.ask("/api/tournaments", Cookie=cookies).status == 200
    assert pages.ask("/api/tournaments", Cookie=f'arena-{pages.port}="{TOKEN}"').status == (200 if token is None else 401)
    assert unquoted == []


def test_the_total_size_of_cookies_is_limited(store: Path) -> None:
    pages = Pages(store=store)
    for cookies, status in (([4096], 200), ([4097], 431), ([2048, 2048], 200), ([2048, 2049], 431), ([1] * 199, 200)):
        pages.more_headers = [("cookie", "c" * size) for size in cookies]
        answer = pages.ask("/api/tournaments")
        assert answer.status == status
        if status == 431:
            said = f"the cookies have {sum(cookies):,} bytes; expected at most 4,096"
            assert answer.json["error"] == f"{said}; delete the cookies of this host in your browser"


@pytest.mark.parametrize("name", ["accept", "range", "forwarded", "authorization", "if-none-match", "last-event-id"])
def test_the_total_size_of_the_head_of_a_request_is_limited(store: Path, name: str) -> None:
    pages = Pages(store=store)
    assert pages.ask("/api/tournaments", **{name: "a" * 16_000}).status == 200
    for path, headers in (
        ("/api/tournaments", {name: "a" * 16_384}),
        (f"/api/tournaments?{'a' * 8192}", {name: "a" * 8192}),
        (f"/{'a' * 16_384}", {}),
    ):
        answer = pages.ask(path, **headers)
        assert answer.status == 431
        assert re.fullmatch(
            r"the address and the headers have 16,\d{3} bytes; expected at most 16,384; send a shorter address or fewer headers",
            answer.json["error"],
        )


def test_the_number_of_headers_is_limited(store: Path) -> None:
    pages = Pages(store=store)
    for more, status in ((150, 200), (201, 431)):
        pages.more_headers = [("a", "b")] * more
        assert pages.ask("/api/tournaments").status == status


def imported_modules(*names: str) -> list[ModuleType]:
    """Return all modules of some packages that are imported."""
    return [module for name, module in sys.modules.items() if name.partition(".")[0] in names]


@pytest.mark.usefixtures("deep_recursion")
def test_no_pattern_that_reads_a_request_is_slow() -> None:
    """This covers all patterns that the modules of the libraries define, whatever they are for."""
    patterns = {
        f"{module.__name__}.{name}": value
        for module in imported_modules("h11", "starlette", "fastapi", "uvicorn", "python_multipart", "sse_starlette")
        for name, value in vars(module).items()
        if isinstance(value, re.Pattern)
    }
    assert patterns["h11._readers.header_field_re"] is HEADER_LINE
    assert patterns["h11._readers.chunk_header_re"] is CHUNK_LINE
    slow = {name: attack for name, pattern in patterns.items() if (attack := find_slow(pattern, "fullmatch"))}
    assert not slow
    for theirs in THEIRS.values():
        assert find_slow(re.compile(theirs.encode()), "fullmatch"), "no replacement is necessary any more"


LINES = st.lists(
    st.sampled_from([b"a", b":", b" ", b"\t", b"\x00", b"\x0b", b"\r", b"\n", b";", b"\xff", b"1", b"\r\n"]), max_size=9
)


@given(LINES)
def test_the_patterns_accept_the_lines_that_h11_accepts(parts: list[bytes]) -> None:
    for own, theirs in ((HEADER_LINE, grammar.header_field), (CHUNK_LINE, grammar.chunk_header)):
        for line in (b"".join(parts), b"a:" + b"".join(parts), b"1" + b"".join(parts) + b"\r\n"):
            found, known = own.fullmatch(line), re.fullmatch(theirs.encode(), line)
            assert (found is None) == (known is None)
            for group in ("field_name", "field_value", "chunk_size"):
                if found is not None and known is not None and group in own.groupindex:
                    assert found[group] == known[group]


def count_steps(call: Callable[[], Any]) -> int:
    """Return how often Python enters or resumes a function during a call."""
    steps = 0

    def count(*_: Any) -> None:
        nonlocal steps
        steps += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(before)
    return steps


def test_the_time_to_report_errors_is_linear_in_their_number() -> None:
    def explain(size: int) -> Callable[[], Any]:
        value: Any = {"options": {f"k{number}": [] for number in range(size)}}
        details = [{"type": "int_type", "loc": ("options", key), "msg": "bad"} for key in value["options"]]
        return lambda: explain_faults(details, value)

    few, many = [count_steps(explain(size)) for size in (100, 400)]
    assert few >= 100
    assert many < 5 * few


@pytest.mark.parametrize("place", ["game", "options"])
def test_values_are_counted_before_they_are_read(store: Path, place: str) -> None:
    values: dict[str, Any] = {f"k{number}": [] for number in range(101)}
    game = {"name": "tic-tac-toe", "parameters": values if place == "game" else {}}
    body = {"game": game, "state": "", "agent": {"agent": "random", "options": values if place == "options" else {}}}
    where = "game.parameters" if place == "game" else "agent.options"
    assert Pages(store=store).ask("/api/move", body).json["faults"] == [f"{where}: expected at most 100 values, got 101"]


def test_a_client_cannot_choose_the_charset_of_json(store: Path) -> None:
    """Some charsets take long to decode. `utf-8` is used, whatever a client says."""
    asked: list[str] = []

    def search(name: str) -> None:
        asked.append(name)

    codecs.register(search)
    try:
        kind = "application/json; charset=arena-none; charset*=arena-none''x"
        answer = Pages(store=store).ask("/api/position", '{"game": "é"}'.encode(), content_type=kind)
    finally:
        codecs.unregister(search)
    assert answer.json["faults"] == ["game: expected a mapping, got 'é'"]
    assert asked == []


class Wire(asyncio.Transport):
    """A transport that keeps what a server writes."""

    def __init__(self) -> None:
        super().__init__()
        self.written, self.closed = b"", False

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def close(self) -> None:
        self.closed = True

    abort = write_eof = close

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def is_closing(self) -> bool:
        return self.closed


async def begin_stream(_scope: Any, receive: Any, send: Any) -> None:
    """An application whose answer ends with the connection."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    while (await receive())["type"] != "http.disconnect":
        pass


async def answer_once(_scope: Any, _receive: Any, send: Any) -> None:
    """An application that does not read the body of a request."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@contextmanager
def connected(app: Any, wire: Wire) -> Iterator[BoundedConnection]:
    """Return a connection of a server to a client, within an event loop."""
    config, state = uvicorn.Config(app, log_config=None), ServerState()
    config.load()
    connection = BoundedConnection(config, state, {})
    connection.connection_made(wire)
    yield connection
    connection.connection_lost(None)


async def pause() -> None:
    """Let the tasks of the connections run."""
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("app", [answer_once, begin_stream])
def test_garbage_after_a_head_causes_no_internal_error(app: Any, late: bool, caplog: pytest.LogCaptureFixture) -> None:
    """The answer of the application cannot be sent any more. A traceback for each such request would fill the disk of a host."""
    wire = Wire()

    async def talk() -> None:
        with connected(app, wire) as connection:
            connection.data_received(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            if late:
                await pause()
            if not wire.closed:
                connection.data_received(b"zz\r\n")
            await pause()

    asyncio.run(talk())
    assert wire.closed
    assert wire.written.startswith(b"HTTP/1.1 200" if late else b"HTTP/1.1 400")
    assert wire.written.count(b"HTTP/1.1") == 1
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []


POST = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
READ_BYTES = 256 << 10
"""The number of bytes that asyncio reads at a time."""
CROWDS = {
    "chunks": (CHUNKED, b"1\r\n[\r\n"),
    "extensions of chunks": (CHUNKED, b"1;a=b;c\r\n[\r\n"),
    "trailers": (CHUNKED + b"0\r\n", b"a:\r\n"),
    "headers": (POST, b"a:\n"),
    "folded headers": (POST + b"a:\n", b" b\n"),
    "empty requests": (b"", b"GET / HTTP/1.1\r\nHost:a\r\n\r\n"),
    "requests after a body": (POST + b"Content-Length: 1\r\n\r\n[", b"GET / HTTP/1.1\r\nHost:a\r\n\r\n"),
    "requests and a head": (b"GET / HTTP/1.1\r\nHost:a\r\n\r\n" + POST, b"a:\n"),
}
"""What a client may send: a beginning, and something small that it repeats."""


@pytest.mark.parametrize("crowd", CROWDS)
def test_a_request_in_small_parts_does_not_delay_other_requests(crowd: str) -> None:
    """The work for the largest read is compared with that for a small part of it. Previously, it was a hundred times as much."""

    def work(*reads: bytes) -> int:
        async def talk() -> None:
            wire = Wire()
            with connected(answer_once, wire) as connection:
                for read in reads:
                    if not wire.closed:
                        connection.data_received(read)
                    await pause()

        return count_steps(lambda: asyncio.run(talk()))

    begin, repeated = CROWDS[crowd]
    read = begin + repeated * (READ_BYTES // len(repeated))
    allowed = 3 * work(POST + b"a:\n" * (PART_BYTES // 4) + b"\r\n")
    assert allowed > PART_BYTES
    assert work(read[:READ_BYTES], read[:READ_BYTES]) < allowed
    assert work(read[:READ_BYTES] + b"\r\n\r\n") < allowed


def test_a_client_that_sends_chunks_gets_the_answer_to_its_head(store: Path) -> None:
    """The client reads the reason even if it continues to send. Nothing after the head is read as another request."""
    answer = Pages(store=store).ask("/api/position", iter([b"{}"]), method="POST", transfer_encoding="chunked")
    assert answer.status == 411
    assert answer.json["error"] == "expected a body with content-length, got one in chunks; send the length of the body"
    wire = Wire()
    wire.write_eof = lambda: None  # type: ignore[method-assign]

    async def talk() -> None:
        with connected(answer_once, wire) as connection:
            for part in (CHUNKED, b"1\r\n[\r\n", b"0\r\n\r\n", POST + b"\r\n", b"\x00"):
                connection.data_received(part)
                await pause()
            assert not wire.closed

    asyncio.run(talk())
    assert wire.written.count(b"HTTP/1.1 200") == wire.written.count(b"HTTP/1.1") == 1
