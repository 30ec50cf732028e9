"""Strings in requests that are not valid text, or that take long to decode: each is refused, and none causes an internal
error.
"""

import asyncio
import codecs
import http.cookies
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from encodings import punycode
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.types import Message, Scope

from arena.store import Store
from arena_ladder.host import Assignments, LadderApp, LadderHost
from arena_ladder.ledger import Ledger, bind_store
from arena_ladder.spec import load_ladder
from arena_web.guard import Guard, RateLimits, Site
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


def ask(
    app: FastAPI | Guard | Assignments,
    path: str,
    body: bytes,
    kind: str = "application/json",
    token: str = "",
    more: Sequence[tuple[bytes, bytes]] = (),
    method: str = "POST",
    query: bytes = b"",
) -> int:
    """Send a request with `more` headers, and return the status of the answer."""
    answers: list[Message] = []
    scope: Scope = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(), "root_path": "", "query_string": query,
        "scheme": "http", "http_version": "1.1", "client": ("::1", 1), "server": ("localhost", 80), "client_address": "::1",
        "headers": [
            (b"host", b"localhost"), (b"content-type", kind.encode()), (b"authorization", f"Bearer {token}".encode()), *more,
        ],
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


SLOW = "xn--" + ("\U0001f600" * 3).encode("punycode")[:-2].decode() + "a" * 300_000
"""A text that takes a minute to decode as punycode, which is quadratic in its length."""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of unknown charsets that somebody looks up, and `punycode` if somebody decodes it."""
    found: list[str] = []

    def decode(*_: object) -> str:
        found.append("punycode")
        return ""

    monkeypatch.setattr(punycode, "punycode_decode", decode)

    def search(name: str) -> None:
        found.append(name)

    codecs.register(search)
    yield found
    codecs.unregister(search)


@pytest.mark.parametrize(
    "charset", ["idna", "punycode", "utf-7", "unicode_escape", "utf-16-le", "undefined", "rot13", "no-such", "'utf-8'", '"idna"']
)
@pytest.mark.filterwarnings("ignore:invalid escape:DeprecationWarning")
def test_no_charset_of_a_form_causes_an_internal_error(host: LadderHost, charset: str, asked: list[str]) -> None:
    app, token = LadderApp(host).app(), host.ledger.register("ada", "admin")
    for name in (b"\\ud800", b"+2AA-", b"\xff\xd8.py", b"xn--\xff", SLOW.encode()):
        named = b'--x\r\ncontent-disposition: form-data; name="name"\r\n\r\n' + name + b"\r\n"
        file = b'--x\r\ncontent-disposition: form-data; name="file"; filename="' + name + b'"\r\n\r\nx = 1\r\n--x--\r\n'
        first, quoted = f"boundary=x; charset={charset}", f'charset={charset}; boundary="x"'
        for body, kind in ((named + file, first), (file, first), (file, quoted)):
            assert ask(app, "/api/submissions", body, f"multipart/form-data; {kind}", token) == 422
    assert asked == []


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("boundary=x", 202),
        ('boundary="x"', 202),
        ("BOUNDARY=x; charset=UTF-8", 202),
        ('charset="utf8"; boundary=x', 202),
        ("boundary=x; charset*=arena-none''x", 202),  # such a name is another one
        ("boundary=x; charset=arena-none", 422),
        ("boundary*=arena-none''x", 422),
        ("boundary*0=x", 422),
        ("boundary==?arena-none?q?x?=", 422),
        ("boundary=" + "x" * 71, 422),
        ("boundary=\xff", 422),
        ("", 422),
    ],
)
def test_a_header_of_a_part_cannot_choose_a_charset(host: LadderHost, said: str, status: int, asked: list[str]) -> None:
    """A file name that is not in UTF-8 is accepted, because it is only displayed."""
    app, token = LadderApp(host).app(), host.ledger.register("ada", "admin")
    for names, more in (
        (b"name=\"file\"; filename*=arena-none''a.py; filename=a.py", b""),
        (b"name=\"file\"; filename*0*=arena-none''a; filename=a.py", b"content-type: text/x-python; charset=arena-none\r\n"),
        (b'name="file"; filename="=?arena-none?q?a?=.py"', b"content-transfer-encoding: arena-none\r\n"),
        (b'name="file"; filename="\xff.py"', b"content-type: multipart/mixed; charset=arena-none\r\n"),
    ):
        part = b"--x\r\ncontent-disposition: form-data; " + names + b"\r\n" + more + b"\r\nx = 1\r\n--x--\r\n"
        assert ask(app, "/api/submissions", part, f"multipart/form-data; {said}", token) == status
    assert asked == []


def test_a_long_field_of_a_form_is_refused(host: LadderHost) -> None:
    app, token = LadderApp(host).app(), host.ledger.register("ada", "admin")
    file = b'--x\r\ncontent-disposition: form-data; name="file"; filename="a.py"\r\n\r\nx = 1\r\n'
    for size, status in ((40, 202), (41, 422), (300_000, 422)):
        named = b'--x\r\ncontent-disposition: form-data; name="name"\r\n\r\n' + b"a" * size + b"\r\n"
        assert ask(app, "/api/submissions", file + named + b"--x--\r\n", "multipart/form-data; boundary=x", token) == status


@pytest.mark.parametrize("several", [False, True])
def test_a_ladder_does_not_decode_quoted_cookies(host: LadderHost, several: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time that Python takes for this grows with the square of the length."""
    unquoted: list[str] = []
    monkeypatch.setattr(http.cookies, "_unquote", unquoted.append)
    site, application = Site("localhost", 80), LadderApp(host)
    guard: Guard | Assignments = application.guard(site)
    if several:
        guard = Assignments([host], {"/course": application}, {"/course": application.guard(site)}, asyncio.Event()).guard(site)
    quoted = b'a="' + rb"\\" * 1000 + b'"'
    for path in ("/health", "/api/ladder", "/static/page.js", "/course/health", "/api/claim"):
        assert ask(guard, path, b"", more=[(b"cookie", quoted)]) in (200, 404, 405, 422)
        assert ask(guard, path, b"", more=[(b"cookie", quoted)] * 3) == 431
    assert unquoted == []


def test_only_forms_may_have_a_large_body(host: LadderHost) -> None:
    """JSON is parsed at once, even without a token, and each of these numbers takes long to parse."""
    host.ladder = replace(host.ladder, submissions=host.ladder.submissions.model_copy(update={"size_kb": 4000}))
    guard = LadderApp(host).guard(Site("localhost", 80))
    body = b"[" + b"1e-400," * 100_000 + b"1]"
    for more in ([(b"content-length", str(len(body)).encode())], []):
        assert ask(guard, "/api/claim", body, more=more) == 413
    form = b'--x\r\ncontent-disposition: form-data; name="file"; filename="a.py"\r\n\r\n' + b"#" * 700_000 + b"\r\n--x--\r\n"
    token = host.ledger.register("ada", "admin")
    assert ask(guard, "/api/submissions", form, "multipart/form-data; boundary=x", token) == 202


PUBLIC = """
/ /hand-in /yours /host /claim /t/ladder /t/ladder/matches /t/ladder/entry /t/ladder/match/{id} /starter.py /dist/{name}
/static/{name:path} /modules/{name} /openapi.json /health /metrics /api/live /api/events /api/standings /api/ladder
/api/agents/{name:path} /api/t/ladder/matches /api/t/ladder/match/{id} /api/t/ladder/match/{id}/around /api/t/ladder/entry
/api/t/ladder/panels /api/authors /api/claim
"""
"""The addresses that need no token."""


def list_routes(routes: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Yield the addresses of an application, each with its method."""
    for route in routes:
        yield from [(route.path, method) for method in route.methods - {"HEAD"}]


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"text": 1}', b"\xff", b"[" * 100_000])
def test_a_request_without_a_token_gets_no_details_about_its_errors(
    host: LadderHost, body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the body of a request nor its parameters are read before its token."""
    monkeypatch.setattr(RateLimits, "take", lambda *_: None)
    app = LadderApp(host).app()
    own = [(path, method) for path, method in list_routes(app.routes) if path not in PUBLIC.split()]
    assert len(own) == 13, own
    for path, method in own:
        for token in ("", "unknown"):
            status = ask(app, path.replace("{id}", "0"), body, token=token, method=method, query=b"page=x&author=1&author=2")
            assert status == 401, path


def test_a_ladder_closed_for_registration_does_not_read_the_body_of_a_registration(host: LadderHost) -> None:
    app = LadderApp(host).app()
    assert ask(app, "/api/authors", b"{") == 422
    host.ladder = replace(host.ladder, people=())
    assert ask(app, "/api/authors", b"{") == 403
