"""A ladder behind Caddy and behind nginx, configured as in its guide, but with different names, ports and certificates."""

import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import NamedTuple

import pytest

from arena.errors import ArenaError
from arena_ladder.submit import submit
from tests.conftest import Missing, arena_in
from tests.docs.pages import ROOT
from tests.eventually import DEADLINE_SECONDS, eventually
from tests.ladder.hosting import SPEC, HostedLadder, agent

SECTION = (ROOT / "ladder" / "docs" / "ladder.md").read_text("utf-8").partition("## On the network, with TLS")[2]
BLOCKS = {"caddy": "text", "nginx": "nginx"}
"""What each block of the guide is marked as; the first one is meant."""
CADDY = """{
    admin off
    skip_install_trust
    default_bind 127.0.0.1
    http_port HTTP
    https_port TLS
}
"""
NGINX = """
daemon off; master_process off; pid nginx.pid;
events {}
http {
    access_log off; gzip on; client_body_temp_path body; proxy_temp_path proxy;
    fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
"""
"""What a system has before the block of the guide, in a folder of its own."""
CERTIFICATE = "/etc/letsencrypt/live/arena.example.org"
PATH = f"{os.environ.get('PATH', '')}{os.pathsep}/usr/sbin"


class Ports(NamedTuple):
    """Ports of this machine that were free a moment ago."""

    ladder: int
    tls: int
    http: int


class Proxied(NamedTuple):
    """A ladder behind a proxy; its address is that of the proxy."""

    kind: str
    ladder: HostedLadder
    ports: Ports
    trust: ssl.SSLContext

    def asked(self, path: str, who: str = "127.0.0.1", headers: Mapping[str, str] | None = None) -> HTTPResponse:
        """The answer, without following it, to a client with this address of the machine."""
        client = HTTPSConnection(
            "localhost", self.ports.tls, timeout=DEADLINE_SECONDS, source_address=(who, 0), context=self.trust
        )
        return _answer(client, path, headers or {})


def _answer(client: HTTPConnection, path: str, headers: Mapping[str, str]) -> HTTPResponse:
    with closing(client):
        client.request("GET", path, headers=dict(headers))
        answer = client.getresponse()
        answer.read()
        return answer


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory, openssl: str) -> Path:
    """A folder with a certificate for localhost that no authority has signed, and its key."""
    folder = tmp_path_factory.mktemp("certificate")
    options = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -keyout privkey.pem"
    options += " -out fullchain.pem -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    subprocess.run([openssl, *options.split()], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module", params=list(BLOCKS))
def proxied(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, missing: Missing, certificate: Path
) -> Iterator[Proxied]:
    """A ladder behind each of the two, whose certificate this process trusts."""
    kind: str = request.param
    program = shutil.which(kind, path=PATH)
    if program is None:
        missing("proxies", f"there is no {kind}: apt-get install caddy nginx-light")
    assert program is not None
    folder, ports = tmp_path_factory.mktemp(kind), _free_ports()
    block = re.search(f"^```{BLOCKS[kind]}\n(.*?)^```", SECTION, re.DOTALL | re.MULTILINE)
    assert block
    configured = {"caddy": _caddyfile, "nginx": _nginx_conf}[kind](block[1], ports)
    shutil.copytree(certificate, folder, dirs_exist_ok=True)
    (folder / kind).write_text(_replaced(configured, {CERTIFICATE: ".", "arena.example.org": "localhost"}))
    options = {
        "caddy": ["run", "--config", "caddy", "--adapter", "caddyfile"],
        "nginx": ["-p", str(folder), "-c", "nginx", "-e", "errors"],
    }[kind]
    words = ["--public", f"https://localhost:{ports.tls}", "--port", str(ports.ladder)]
    with ExitStack() as stack:
        stack.enter_context(pytest.MonkeyPatch.context()).setenv("SSL_CERT_FILE", f"{certificate}/fullchain.pem")
        ladder = stack.enter_context(HostedLadder(folder, SPEC.replace("interval: 200", "interval: 400"), *words))
        with (folder / "errors").open("a") as errors:
            process = subprocess.Popen([program, *options], cwd=folder, env={"HOME": str(folder)}, stderr=errors)
        stack.callback(process.wait, 30)
        stack.callback(process.terminate)
        _wait(ports.tls, process, folder / "errors")
        yield Proxied(kind, ladder, ports, ssl.create_default_context())


def _caddyfile(block: str, ports: Ports) -> str:
    mine = _replaced(block, {"8765": str(ports.ladder)})
    mine = mine.replace("{\n", "{\n    tls fullchain.pem privkey.pem\n", 1)
    return _replaced(CADDY, {"HTTP": str(ports.http), "TLS": str(ports.tls)}) + mine


def _nginx_conf(block: str, ports: Ports) -> str:
    listening = {f"listen {known}": f"listen 127.0.0.1:{port}" for known, port in ((443, ports.tls), (80, ports.http))}
    return NGINX + _replaced(block, {**listening, "8765": str(ports.ladder)}) + "}\n"


def _replaced(text: str, given: Mapping[str, str]) -> str:
    for word, other in given.items():
        assert word in text or word == CERTIFICATE, f"the block has no {word}"
        text = text.replace(word, other)
    return text


def _free_ports() -> Ports:
    with ExitStack() as stack:
        found = [stack.enter_context(closing(socket.create_server(("127.0.0.1", 0)))) for _ in Ports._fields]
        return Ports(*[int(one.getsockname()[1]) for one in found])


def _wait(port: int, process: "subprocess.Popen[bytes]", errors: Path) -> None:
    def is_open() -> bool:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=DEADLINE_SECONDS).close()
            return True
        assert process.poll() is None, errors.read_text()
        return False

    eventually(is_open, errors.read_text)


def test_no_address_redirects_from_https_to_http(proxied: Proxied) -> None:
    """Requests over HTTP, with a trailing slash, or to an old address are redirected to HTTPS or to another path."""
    home = proxied.asked("/")
    assert (home.status, home.getheader("content-type"), home.getheader("set-cookie")) == (200, "text/html; charset=utf-8", None)
    assert proxied.asked("/static/standings.js").status == 200
    assert proxied.asked("/t/ladder").getheader("location") == "/"
    assert proxied.asked("/hand-in/").getheader("location") == f"{proxied.ladder.url}/hand-in"
    plain = _answer(HTTPConnection("localhost", proxied.ports.http, timeout=DEADLINE_SECONDS), "/hand-in", {})
    assert (plain.status, plain.getheader("location")) == (
        {"caddy": 308, "nginx": 301}[proxied.kind],
        "https://localhost/hand-in",
    )


def test_requests_from_pages_of_other_sites_are_refused(proxied: Proxied) -> None:
    """Plain HTTP and other ports count as another site."""
    eventually(lambda: proxied.asked("/api/standings").status != 503)  # standings are known soon after the start
    port = proxied.ports.tls
    known = {f"https://localhost:{port}": 200, f"http://localhost:{port}": 403, "https://localhost": 403, "null": 403}
    assert {origin: proxied.asked("/api/standings", headers={"Origin": origin}).status for origin in known} == known


def test_limits_count_the_real_address_of_a_client(proxied: Proxied) -> None:
    """Each request claims a different client address, but the proxy sees the same one."""

    def guess(who: str, number: int) -> int:
        said = {"Authorization": "Bearer guess", "X-Forwarded-For": f"203.0.113.{number}", "Forwarded": f"for=203.0.113.{number}"}
        return proxied.asked("/api/submissions", who, {**said, "X-Real-IP": f"203.0.113.{number}"}).status

    found = [guess("127.0.0.2", number) for number in range(13)]
    assert (set(found[:10]), found[-1]) == ({401}, 429)
    assert guess("127.0.0.3", 1) == 401


def test_changed_standings_arrive_at_once(proxied: Proxied) -> None:
    """No event waits until a buffer is full."""
    with urllib.request.urlopen(f"{proxied.ladder.url}/api/events", timeout=DEADLINE_SECONDS) as stream:
        events = (json.loads(line[5:]) for line in stream if line.startswith(b"data:"))
        assert next(events)["state"] != "paused"
        assert proxied.ladder.admin("pause").returncode == 0
        assert any(event["state"] == "paused" for event in events)


def test_authors_behind_a_proxy_read_the_reason_of_a_refusal(proxied: Proxied, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reasons are the proxy's certificate, size limit, redirect and missing response."""
    ladder = proxied.ladder
    (token,) = ladder.tokens("ada")
    monkeypatch.setenv("ARENA_TOKEN", token)
    small, large = ladder.folder / "mine.py", ladder.folder / "large.py"
    small.write_bytes(agent())
    large.write_bytes(b"#" * (2 << 20))

    def told(file: Path = small, url: str = ladder.url) -> str:
        with pytest.raises(ArenaError) as raised:
            submit.callback(file, url, None, wait=False)  # type: ignore[misc]  # a command has one
        return str(raised.value)

    done = arena_in(ladder.folder)("submit", "mine.py", "--to", ladder.url, ARENA_TOKEN=token)
    assert ladder.ask("/api/submissions", token).body["rows"][0]["id"] == done.stdout.strip(), done.stderr
    own = "the body is larger than 320 KiB"
    before = f"the file is too large for the server in front of the ladder at {ladder.url}"
    assert told(large) == f"not taken (413): {own if proxied.kind == 'caddy' else before}; submit a smaller file"
    status = {"caddy": 308, "nginx": 301}[proxied.kind]
    plain = f"http://localhost:{proxied.ports.http}"
    assert told(url=plain) == f"not taken ({status}): {plain} redirects to https://localhost; pass this address to --to"
    with monkeypatch.context() as patch:
        patch.delenv("SSL_CERT_FILE")
        unknown = told()
    assert unknown.startswith(f"{ladder.url}/api/submissions: its certificate is not trusted: self-signed certificate; ")
    assert unknown.endswith("set SSL_CERT_FILE to the authority's certificate")
    ladder.kill()
    assert told() == f"not taken (502): the ladder behind {ladder.url} does not answer; try again in a minute"
