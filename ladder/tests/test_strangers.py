"""Hostile requests of strangers. Each one is refused with a reason, and does not delay others."""

import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import psutil
import pytest

from arena.errors import ArenaError
from arena_ladder.judge import Brief, CheckBounds, NotPassed, judge
from arena_ladder.spec import load_ladder
from arena_web.guard import counted_address, public_address
from tests.conftest import arena_in
from tests.eventually import DEADLINE_SECONDS
from tests.ladder.hosting import SPEC, HostedLadder, agent


@pytest.fixture(scope="module")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostedLadder]:
    with HostedLadder(tmp_path_factory.mktemp("gate")) as hosted:
        yield hosted
        assert "boundary" not in hosted.errors.read_text()


@pytest.mark.process
def test_an_upload_of_fifty_megabytes_is_refused_with_a_message(ladder: HostedLadder, tmp_path: Path) -> None:
    """The command prints the answer, and no error about a broken connection."""
    (token,) = ladder.tokens("max")
    (tmp_path / "large.py").write_bytes(b"#" * 50_000_000)
    done = arena_in(tmp_path)("submit", "large.py", "--to", ladder.url, ARENA_TOKEN=token)
    assert (done.returncode, "not taken (413): the body is larger than 320 KiB" in done.stderr) == (2, True), done.stderr


@pytest.mark.process
@pytest.mark.parametrize(
    "body",
    [
        b"garbage",
        b"--x\r\nno header\r\n\r\n--x--\r\n",
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.py"\r\n\r\nx\r\n' * 2 + b"--x--\r\n",
        b"".join(b'--x\r\nContent-Disposition: form-data; name="f%d"\r\n\r\nx\r\n' % field for field in range(9)) + b"--x--\r\n",
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="' + b"a" * 9000 + b'.py"\r\n\r\nx\r\n--x--\r\n',
    ],
    ids=["garbage", "no header", "two files", "nine fields", "long name"],
)
def test_malformed_forms_are_refused(ladder: HostedLadder, body: bytes) -> None:
    (token,) = ladder.tokens("ned")
    answer = ladder.ask("/api/submissions", token, body, {"Content-Type": "multipart/form-data; boundary=x"})
    assert (answer.status, answer.body["error"]) == (422, "expected a form with a file")


@pytest.mark.process
def test_requests_from_one_address_do_not_use_up_the_limit_of_another(tmp_path: Path) -> None:
    """Endless streams hold connections up to the limit of one address. Behind a proxy, the client named by the proxy counts."""
    with (
        HostedLadder(tmp_path, SPEC + "requests: {open: 20}\n", "--public", "https://arena.example.org") as ladder,
        ExitStack() as streams,
    ):
        (listening,) = [one for one in psutil.Process(ladder.process.pid).net_connections() if one.status == "LISTEN"]
        port = int(listening.laddr.port)
        for _ in range(20):
            assert _asked(streams, port, "/api/events", "203.0.113.5") == 200
        assert _asked(streams, port, "/health", "203.0.113.5") == 429
        assert _asked(streams, port, "/health", "198.51.100.1, 203.0.113.5") == 429
        two_lines = "198.51.100.1\r\nX-Forwarded-For: 203.0.113.5"  # as HAProxy adds its own below what a client has made up
        assert _asked(streams, port, "/health", two_lines) == 429
        assert _asked(streams, port, "/health", "203.0.113.5\r\nX-Forwarded-For: 203.0.113.6") == 200


def _asked(streams: ExitStack, port: int, path: str, address: str) -> int:
    """Return the status of the answer to a request that a proxy passes on for an address. The connection stays open."""
    asking = streams.enter_context(socket.create_connection(("127.0.0.1", port), timeout=DEADLINE_SECONDS))
    asking.sendall(f"GET {path} HTTP/1.1\r\nHost: arena.example.org\r\nX-Forwarded-For: {address}\r\n\r\n".encode())
    found = re.match(rb"HTTP/1.1 (\d+)", asking.recv(1000))
    assert found
    return int(found[1])


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("203.0.113.5", "203.0.113.5"),
        ("2001:db8:1:2::1", "2001:db8:1:2::"),
        ("2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::"),
        ("2001:db8:1:3::1", "2001:db8:1:3::"),
        ("::ffff:203.0.113.5", "203.0.113.5"),
        ("::ffff:127.0.0.1", "127.0.0.1"),
        ("::1", "::1"),
        ("fe80::1%eth0", "fe80::"),
        ("unknown", "unknown"),
    ],
)
def test_all_ipv6_addresses_of_a_network_share_one_limit(address: str, counted: str) -> None:
    """A host gets a network of 64 bits (RFC 6177), so a limit for each single address would have no effect."""
    assert counted_address(address) == counted


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("https://arena.example.org", "https://arena.example.org"),
        ("https://Arena.Example.org:443/", "https://arena.example.org"),
        ("https://arena.example.org:8443", "https://arena.example.org:8443"),
        ("http://[2001:DB8::1]:80", "http://[2001:db8::1]"),
        ("arena.example.org", None),
        ("arena.example.org:443", None),
        ("https://arena.example.org/course", None),
        ("https://me@arena.example.org", None),
        ("https://arena.example.org:port", None),
        ("ftp://arena.example.org", None),
        ("https://", None),
        ("", None),
    ],
)
def test_the_address_of_a_proxy_is_normalised(given: str, meant: str | None) -> None:
    """Browsers omit the default port and use lowercase names. Any other value is refused with an error for the host."""
    if meant is not None:
        assert public_address(given) == meant
        return
    with pytest.raises(
        ArenaError, match=r"^--public .*: expected only a scheme and a host, such as https://arena\.example\.org$"
    ):
        public_address(given)


@pytest.mark.process
@pytest.mark.parametrize(
    ("body", "seconds", "cpu_seconds"),
    [("while :; do :; done", 600.0, 0.5), ("while read line; do sleep 600; done", 0.5, 600.0)],
    ids=["busy", "asleep"],
)
def test_a_program_that_exceeds_the_time_of_a_check_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, seconds: float, cpu_seconds: float
) -> None:
    """A program may exceed the limit of CPU time for all answers, or the limit of wall-clock time."""
    monkeypatch.setattr("arena_ladder.judge.CheckBounds", partial(CheckBounds, seconds=seconds, cpu_seconds=cpu_seconds))
    monkeypatch.setattr("arena_ladder.judge.CALL_SECONDS", 600.0)
    (tmp_path / "course.yaml").write_text(SPEC)
    spec = load_ladder(tmp_path / "course.yaml").spec
    program = tmp_path / "prog.sh"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    with pytest.raises(NotPassed, match="timeout"):
        judge(Brief(spec.document, spec.plugins, spec.shared, str(program), True, "prog", "prog.sh", 1024), lambda *_: None)


@pytest.mark.process
def test_no_request_causes_an_internal_error(ladder: HostedLadder) -> None:
    (token,) = ladder.tokens("oda")
    paths = [
        "//evil.example/",
        "/static/%2e%2e/ledger.py",
        "/api/agents/%ff%00",
        "/t/ladder/match/%00",
        "/api/t/ladder/entry?name=%ff",
    ]
    paths += ["/api/t/ladder/matches?page=9999999999999999999999", "/modules/%2e%2e", "/api/submissions/%00", "/a" * 9000]
    assert {ladder.ask(path, token).status for path in paths} <= {200, 404, 431}
    names = [b'"\\ud800"', b"[" * 100_000, b"9" * 5000, b"NaN", b"{}", b'{"name": ' * 5000, b"\xff"]
    assert {ladder.ask("/api/authors", None, name).status for name in names} == {422}
    for name in ("bob/x", "\N{LATIN SMALL LETTER U WITH DIAERESIS}", "a\0b", "a" * 41, "../x", "Ada"):
        assert ladder.submit(token, agent(), name=name).status == 422, name
    assert ladder.ask("/api/submissions", token).body["rows"] == []
    assert "error" not in ladder.errors.read_text()
