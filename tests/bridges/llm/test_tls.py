"""Test models over TLS: SSL_CERT_FILE names the trusted authorities, and untrusted servers are refused at once."""

import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import pytest

import arena
from arena import ArenaError, BackendGone, Unavailable
from arena_bridges.llm.apis import ApiName, Question
from arena_bridges.llm.endpoint import Endpoint
from tests.bridges.llm.stub import Stub, first, serving

SIGNED_BY = "-addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign"
NEW_KEY = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory, openssl: str) -> Path:
    """Return a folder with an authority, `ca.pem`, and its certificate for 127.0.0.1, `server.pem` and `server.key`."""
    folder = tmp_path_factory.mktemp("tls")
    authority = f"{NEW_KEY} -subj /CN=authority {SIGNED_BY} -keyout ca.key -out ca.pem"
    server = (
        f"{NEW_KEY} -subj /CN=server -CA ca.pem -CAkey ca.key -addext basicConstraints=CA:FALSE "
        "-addext subjectAltName=IP:127.0.0.1 -keyout server.key -out server.pem"
    )
    for command in (authority, server):
        subprocess.run([openssl, *command.split()[1:]], cwd=folder, check=True, capture_output=True)
    return folder


@contextmanager
def serve_tls(certificates: Path) -> Iterator[tuple[Stub, str]]:
    """Run a server of models over TLS, and yield it with its address."""
    with serving(first) as stub:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates / "server.pem", certificates / "server.key")
        stub.server.socket = context.wrap_socket(stub.server.socket, server_side=True)
        yield stub, stub.url.replace("http:", "https:")


def spec(url: str, api: ApiName = "chat", **more: Any) -> dict[str, Any]:
    model = {"agent": "llm", "url": url, "model": "m", "api": api}
    return {"game": "tic-tac-toe", "rounds": 1, "agents": [model, "greedy"], **more}


@pytest.mark.parametrize("api", get_args(ApiName))
def test_a_server_with_a_certificate_of_a_private_authority_is_accepted(
    api: ApiName, certificates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each protocol works as over HTTP, even from a process of its own."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates / "ca.pem"))
    with serve_tls(certificates) as (stub, url):
        records = list(arena.run(spec(url, api)).records)
        asked = len(stub.requests)
        if api == "chat":
            apart = arena.run(spec(url, isolation="process")).records
            assert [record.actions for record in records] == [record.actions for record in apart]
            assert len(stub.requests) == 2 * asked
    assert asked == sum(len(record.transcript) for record in records) > 0
    assert [record.termination for record in records] == ["normal"] * 2


@pytest.mark.parametrize(
    ("host", "known", "message"),
    [("127.0.0.1", False, "certificate verify failed"), ("localhost", True, "not valid for 'localhost'")],
)
def test_an_untrusted_server_is_refused_before_the_first_match(
    certificates: Path, monkeypatch: pytest.MonkeyPatch, host: str, known: bool, message: str
) -> None:
    """The authority is unknown, or the certificate has another name. The message gives the reason and a fix, and nothing is
    retried.
    """
    if known:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificates / "ca.pem"))
    else:
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setattr("arena_bridges.llm.endpoint.FIRST_ANSWER_SECONDS", 3600.0)
    with serve_tls(certificates) as (stub, url):
        with pytest.raises(ArenaError, match=rf"does not have a trusted certificate.*{message}.*SSL_CERT_FILE"):
            arena.run(spec(url.replace("127.0.0.1", host)))
        assert stub.requests == []


def test_an_invalid_certificate_during_a_run_is_a_temporary_failure(certificates: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is the same as for a server that does not answer for a moment, so no agent loses a match."""
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setattr("arena_bridges.llm.endpoint.FIRST_PAUSE_SECONDS", 0.01)
    with serve_tls(certificates) as (_, url), pytest.raises(Unavailable, match="certificate verify failed") as refused:
        Endpoint(url).ask(Question("m", [], 9))
    assert not isinstance(refused.value, BackendGone)
