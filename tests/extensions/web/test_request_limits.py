"""Requests are limited for each client, except for files of the pages. A refused client reads when to retry."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI

from arena_web.app import ANSWERS
from arena_web.assets import Assets
from arena_web.guard import Guard, Rate, RateLimits, RequestLimits, Site


def ask(guard: Guard, path: str, **headers: str) -> tuple[int, dict[str, str]]:
    """Return the status and the headers of a response."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    receive: Callable[[], Awaitable[Any]] = asyncio.Event().wait
    given = {"host": "127.0.0.1:80", **headers}
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "client": ("203.0.113.5", 1),
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in given.items()],
    }
    asyncio.run(guard(scope, receive, send))
    found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], found


def guarded() -> Guard:
    """Return a server with the files of the pages, and with limits of two requests at a time and one in ten seconds."""
    app = FastAPI()
    Assets().add_to(app)

    @app.get("/api/none")
    async def answer() -> None: ...

    rate = Rate("requests", 2, 0.1)
    names = {"a": "ada", "b": "bob"}
    limits = RequestLimits(rate, rate)
    return Guard(app, Site("127.0.0.1", 80), ANSWERS, limits=RateLimits(), requests=limits, client_of=names.get)


def test_known_clients_with_one_address_have_separate_limits() -> None:
    """An unknown token does not circumvent the limit of its address."""
    guard = guarded()
    for token in ("a", "b"):
        found = [ask(guard, "/api/none", authorization=f"Bearer {token}")[0] for _ in range(3)]
        assert found == [200, 200, 429]
    guesses = [ask(guard, "/api/none", authorization=f"Bearer guess{number}")[0] for number in range(3)]
    assert guesses == [200, 200, 429]


def test_a_refused_client_gets_the_time_to_retry() -> None:
    guard = guarded()
    status, headers = [ask(guard, "/api/none") for _ in range(3)][-1]
    assert (status, headers["retry-after"]) == (429, "10")


def test_files_are_unlimited_and_cached() -> None:
    """The files are loaded 300 times from one address. A browser with a cached file gets no body."""
    guard = guarded()
    found = [ask(guard, "/static/page.js") for _ in range(300)]
    assert {status for status, _ in found} == {200}
    headers = found[0][1]
    assert "max-age" in headers["cache-control"]
    again = ask(guard, "/static/page.js", if_none_match=headers["etag"])
    assert again[0] == 304
