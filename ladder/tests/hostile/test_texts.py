"""Strings of requests that are no valid text: each gets a refusal, and never an internal error."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.types import Message, Scope

from arena.store import Store
from arena_ladder.host import LadderApp, LadderHost
from arena_ladder.ledger import Ledger, bind_store
from arena_ladder.spec import load_ladder
from tests.ladder.hosting import SPEC

pytestmark = [pytest.mark.unit, pytest.mark.promise(hole="text", isolation="any")]
TEXTS = ["\\ud800", "a\\udfff", "\\udc80\\ud800", "\\u0000", "\\uffff"]
"""Half of a pair, alone, as JSON may have it, and characters that few expect."""


@pytest.fixture
def host(tmp_path: Path) -> Iterator[LadderHost]:
    """A ladder whose threads do not run."""
    (tmp_path / "course.yaml").write_text(SPEC)
    ladder, place = load_ladder(tmp_path / "course.yaml"), tmp_path / "a.db"
    with Store.open(place, write=True) as store, closing(Ledger(place)) as ledger:
        bind_store(ladder, store, ledger)
        yield LadderHost(ladder, store, ledger, 1)


def ask(app: FastAPI, path: str, body: bytes, kind: str = "application/json", token: str = "") -> int:
    """Send a POST request, and return the status of the answer."""
    answers: list[Message] = []
    scope: Scope = {
        "type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "root_path": "", "query_string": b"",
        "scheme": "http", "http_version": "1.1", "client": ("::1", 1), "server": ("localhost", 80), "client_address": "::1",
        "headers": [(b"host", b"localhost"), (b"content-type", kind.encode()), (b"authorization", f"Bearer {token}".encode())],
    }  # fmt: skip

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        answers.append(message)

    asyncio.run(app(scope, receive, send))
    return int(answers[0]["status"])


@pytest.mark.parametrize("text", TEXTS)
def test_no_string_of_a_request_causes_an_internal_error(host: LadderHost, text: str) -> None:
    app, token = LadderApp(host).app(), host.ledger.make_host_token()
    host.ledger.expect("ada")
    bodies = {
        "/api/claim": (f'{{"code": "{text}"}}', 404),
        "/api/authors": (f'{{"name": "{text}"}}', 422),
        "/api/host/messages": (f'{{"author": "{text}", "text": "a"}}', 404),
    }
    for path, (body, status) in bodies.items():
        assert ask(app, path, body.encode(), token=token) == status, path
    body = f'{{"author": "ada", "text": "{text}"}}'
    assert ask(app, "/api/host/messages", body.encode(), token=token) == 200


@pytest.mark.parametrize("charset", ["idna", "utf-7", "unicode_escape", "utf-16-le", "undefined", "rot13", "no-such"])
@pytest.mark.filterwarnings("ignore:invalid escape:DeprecationWarning")
def test_no_charset_of_a_form_causes_an_internal_error(host: LadderHost, charset: str) -> None:
    app, token = LadderApp(host).app(), host.ledger.register("ada", "admin")
    for name in (b"\\ud800", b"+2AA-", b"\xff\xd8.py", b"xn--\xff"):
        named = b'--x\r\ncontent-disposition: form-data; name="name"\r\n\r\n' + name + b"\r\n"
        file = b'--x\r\ncontent-disposition: form-data; name="file"; filename="' + name + b'"\r\n\r\nx = 1\r\n--x--\r\n'
        kind = f"multipart/form-data; boundary=x; charset={charset}"
        assert ask(app, "/api/submissions", named + file, kind, token) == 422
        assert ask(app, "/api/submissions", file, kind, token) in (202, 422)
