"""The server checks hosts, origins, tokens and sizes of requests, and restricts what browsers do with answers."""

import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.extensions.web.conftest import Pages

TOKEN = "a-token-of-this-test"


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "localhost.evil.example:{port}",
        "127.0.0.1:{port}@evil",
        "",
    ],
)
def test_a_foreign_host_is_refused(pages: Pages, host: str) -> None:
    answer = pages.ask("/api/tournaments", Host=host.format(port=pages.port))
    assert answer.status == 403
    assert "error" in answer.json


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "LocalHost:{port}", "[::1]:{port}"])
def test_the_servers_own_host_names_are_accepted(pages: Pages, host: str) -> None:
    assert pages.ask("/api/tournaments", Host=host.format(port=pages.port)).status == 200


@pytest.mark.parametrize("path", ["/", "/api/tournaments", "/static/style.css", "/api/t/cup/events"])
@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:{port}", "http://localhost:{port}"]
)
def test_a_foreign_origin_is_refused_everywhere(pages: Pages, path: str, origin: str) -> None:
    assert pages.ask(path, Origin=origin.format(port=pages.port)).status == 403


def test_a_foreign_origin_cannot_change_anything(pages: Pages) -> None:
    for headers in ({"Origin": "http://evil.example"}, {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}):
        assert pages.ask("/api/t/cup/stop", {}, **headers).status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_link_on_another_site_opens_pages_and_nothing_else(pages: Pages, site: str) -> None:
    """Chromium sends these headers. A page that another site opens may not begin to play as its address says."""
    link = {"Sec_Fetch_Site": site, "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
    for path in ("/", "/t/cup", "/t/cup/matches"):
        assert pages.ask(path, **link).status in (200, 302)
        assert pages.ask(path, method="HEAD", **link).status in (200, 302)
        for other in (
            {"Sec_Fetch_Dest": "iframe"},
            {"Sec_Fetch_Dest": "object"},
            {"Sec_Fetch_Dest": "empty"},
            {"Sec_Fetch_Mode": "no-cors"},
            {"Sec_Fetch_Mode": "cors", "Sec_Fetch_Dest": "empty"},
            {"Origin": "http://evil.example"},
        ):
            assert pages.ask(path, **(link | other)).status == 403
    for path in ("/api/tournaments", "/api/t/cup/events", "/play", "/puzzles"):
        assert pages.ask(path, **link).status == 403
    for path in ("/", "/t/cup", "/api/t/cup/stop"):
        assert pages.ask(path, {}, **link).status == 403


@pytest.mark.process
def test_requests_with_a_body_must_be_json(server: Any) -> None:
    body = b'{"game": {"name": "tic-tac-toe"}, "seed": 1}'
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
        assert server.ask("/api/position", body, content_type=kind).status == 415
    assert server.ask("/api/position", body, content_type="application/json; charset=utf-8").status == 200


def test_get_requests_change_nothing(pages: Pages) -> None:
    for path in ("/api/solve", "/api/move", "/api/t/cup/stop"):
        assert pages.ask(path).status == 405


def test_bodies_are_limited_by_header_and_by_received_bytes(pages: Pages) -> None:
    assert pages.ask("/api/position", b" " * (600 << 10)).status == 413
    chunked = pages.ask("/api/position", iter([b" " * (100 << 10)] * 6), method="POST", content_type="application/json")
    assert chunked.status == 413


@pytest.mark.process
def test_a_body_in_chunks_is_refused_while_it_is_sent(server: Any) -> None:
    """The client sends 8 MiB before it reads the answer, which says what it should do."""
    answer = server.ask("/api/position", iter([b"[" * (1 << 16)] * 128), method="POST")
    assert answer.status == 411
    assert answer.json["error"] == "expected a body with content-length, got one in chunks; send the length of the body"


@pytest.mark.parametrize("path", ["/", "/api/inventory", "/api/t/cup/events", "/static/style.css"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_request_for_a_page_has_no_body(pages: Pages, path: str, method: str) -> None:
    """A page that takes a long time, such as a stream, waits only for the end of the connection, never for a body."""
    for headers in ({"content_length": "5"}, {"content_length": "x"}, {"transfer_encoding": "chunked"}):
        answer = pages.ask(path, method=method, **headers)
        assert answer.status == 400
        assert answer.json["error"] == f"expected no body with {method}; leave the body out"
        assert answer.headers["connection"] == "close"
    if not path.endswith("events"):
        assert pages.ask("/", content_length="0").status in (200, 302)


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'"text"', b"\xff", b"[" * 100_000])
def test_a_body_that_is_not_a_mapping_is_refused(pages: Pages, body: bytes) -> None:
    answer = pages.ask("/api/position", body)
    assert answer.status == 400
    assert "expected" in answer.json["error"]


@pytest.mark.parametrize("path", ["/", "/t/cup", "/play", "/static/board.js", "/none"])
def test_every_answer_has_a_policy_without_inline_script(pages: Pages, path: str) -> None:
    check_policy(pages.ask(path).headers)


@pytest.mark.process
def test_answers_of_the_process_with_plugins_are_guarded(serve: Any, place: Path) -> None:
    """They have the same policy, and the words of a path are not read as SQL."""
    with serve(place, "cup.db") as server:
        check_policy(server.ask("/api/inventory").headers)
        assert server.ask("/api/t/cup/match/%27%20OR%201=1").status == 400


def check_policy(headers: Any) -> None:
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        "/static/../pages.py",
        "/static/%2e%2e/pages.py",
        "/static/..%2fpages.py",
        "/static//etc/passwd",
        "/static/%2fetc%2fpasswd",
        "/static/boards/../../boards.py",
        "/modules/othello.js",
        "/modules/../static/..%2fpages.py",
        "/modules/%2fetc%2fpasswd",
        "/modules/",
        "/static/",
        "/t/..%2f..%2fcup",
        "/api/t/%2e%2e%2fcup/matches",
        "/api/t/cup.db",
        "/api/t/cup/match/..%2f..%2fcup",
    ],
)
def test_a_path_cannot_leave_the_folder_of_the_server(pages: Pages, path: str) -> None:
    answer = pages.ask(path)
    assert answer.status in (400, 404)
    assert "import" not in answer.text
    assert "root:" not in answer.text


@pytest.mark.process
def test_other_interfaces_need_the_printed_token(serve: Any, place: Path) -> None:
    with serve(place, "cup.db", "--host", "0.0.0.0") as server:
        token = server.address.rpartition("token=")[2]
        assert len(token) >= 32
        assert "//0.0.0.0" not in server.address, "browsers on other machines cannot open 0.0.0.0"
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(server.address) as answer:
            assert answer.status == 200
        for path in ("/", "/play", "/static/style.css", "/api/tournaments", "/api/t/cup/events", "/?token=wrong", "/?token="):
            assert server.ask(path).status == 401
        assert server.ask("/api/tournaments", authorization="Bearer wrong").status == 401
        assert server.ask("/api/tournaments", authorization=f"Bearer {token}").status == 200


@pytest.fixture
def open_pages(pages: Pages, place: Path) -> Pages:
    """Return the pages of a server on all interfaces, which needs a token."""
    return Pages(store=place / "cup.db", host="0.0.0.0", token=TOKEN)


def test_the_token_moves_from_the_address_into_a_cookie(open_pages: Pages) -> None:
    first = open_pages.ask(f"/t/cup/matches?page=2&token={TOKEN}")
    assert first.status == 303
    assert first.headers["location"] == "/t/cup/matches?page=2"
    kept = first.headers["set-cookie"]
    assert "HttpOnly" in kept
    assert "SameSite=Strict" in kept, "the last cookie"
    cookie = f"arena-{open_pages.port}={TOKEN}"
    assert open_pages.ask("/t/cup", Cookie=cookie).status == 200
    assert open_pages.ask("/t/cup", Cookie=cookie[:-1]).status == 401


@pytest.mark.promise(hole="page", isolation="any")
@pytest.mark.parametrize(("path", "foreign"), [("/t/cup", 200), ("/play", 403), ("/puzzles", 403), ("/api/tournaments", 403)])
def test_without_https_cookies_tell_links_of_other_sites_apart(open_pages: Pages, path: str, foreign: int) -> None:
    """A browser sends no `Sec-Fetch-*` to a plain address of another machine. With a request that another site has caused, it
    sends no cookie that is `SameSite=Strict` (RFC 6265bis, 5.2).
    """
    lax, strict = f"arena-{open_pages.port}={TOKEN}", f"arena-{open_pages.port}-own={TOKEN}"
    assert open_pages.ask(path, Cookie=lax).status == foreign
    assert open_pages.ask(path, Cookie=f"{lax}; {strict[:-1]}").status == foreign
    assert open_pages.ask(path, Cookie=strict).status == 401
    assert open_pages.ask(path, Cookie=f"{lax}; {strict}").status == 200


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("//evil.example/", "/evil.example/"),
        ("/%5Cevil.example", "/%5Cevil.example"),
        ("/\\evil.example", "/%5Cevil.example"),
        ("/%2F/evil.example", "/evil.example"),
        ("/%0d%0aset-cookie:a=b", "/%0D%0Aset-cookie%3Aa%3Db"),
        ("/%E2%82%AC", "/%E2%82%AC"),
        ("/%09/evil.example", "/%09/evil.example"),
        ("/t/cup/%3Fa", "/t/cup/%3Fa"),
    ],
)
def test_a_request_with_a_token_is_never_redirected_to_another_server(open_pages: Pages, path: str, target: str) -> None:
    """Browsers read a backslash as a slash. The target is percent-encoded, so every path is valid in a `Location` header."""
    answer = open_pages.ask(f"{path}?token={TOKEN}")
    assert (answer.status, answer.headers["location"]) == (303, target)


def test_other_interfaces_accept_addresses_but_not_foreign_names(open_pages: Pages) -> None:
    for host, status in (("192.168.0.7", 200), ("[fe80::1]", 200), ("evil.example", 403)):
        answer = open_pages.ask("/api/tournaments", Host=f"{host}:{open_pages.port}", authorization=f"Bearer {TOKEN}")
        assert answer.status == status


@pytest.mark.parametrize("path", ["/nope", "/t/nope", "/t/cup/match/xyz", f"/t/cup/match/{'0' * 32}", "/t/cup/matches/1"])
def test_an_unknown_address_has_an_error_page(pages: Pages, path: str) -> None:
    """A browser gets a page with status 404 and a link to the start page. Programs get JSON."""
    answer = pages.ask(path, accept="text/html,application/xhtml+xml,*/*;q=0.8")
    assert (answer.status, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert 'href="/">Go to the start page</a>' in answer.text
    other = pages.ask(path)
    assert (other.status, list(other.json)) == (404, ["error"])
