"""Models over TLS: who signs for a server is known by the file in SSL_CERT_FILE; one that nobody signs for is refused at once."""

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
    """A folder with an authority, `ca.pem`, and a server of 127.0.0.1 that it has signed for, `server.pem` and `server.key`."""
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
def encrypted(certificates: Path) -> Iterator[tuple[Stub, str]]:
    """A server of models that speaks TLS, and its address."""
    with serving(first) as stub:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates / "server.pem", certificates / "server.key")
        stub.server.socket = context.wrap_socket(stub.server.socket, server_side=True)
        yield stub, stub.url.replace("http:", "https:")


def spec(url: str, api: ApiName = "chat", **more: Any) -> dict[str, Any]:
    model = {"agent": "llm", "url": url, "model": "m", "api": api}
    return {"game": "tic-tac-toe", "rounds": 1, "agents": [model, "greedy"], **more}


@pytest.mark.parametrize("api", get_args(ApiName))
def test_a_model_behind_an_authority_of_ones_own(api: ApiName, certificates: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It plays as over HTTP by every protocol, and also from a process of its own."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates / "ca.pem"))
    with encrypted(certificates) as (stub, url):
        records = list(arena.run(spec(url, api)).records)
        asked = len(stub.requests)
        if api == "chat":
            apart = arena.run(spec(url, isolation="process")).records
            assert [record.actions for record in records] == [record.actions for record in apart]
            assert len(stub.requests) == 2 * asked
    assert asked == sum(len(record.transcript) for record in records) > 0
    assert [record.termination for record in records] == ["normal"] * 2


@pytest.mark.parametrize(
    ("host", "known", "told"),
    [("127.0.0.1", False, "certificate verify failed"), ("localhost", True, "not valid for 'localhost'")],
)
def test_a_server_that_nobody_signs_for_is_refused_before_the_first_match(
    certificates: Path, monkeypatch: pytest.MonkeyPatch, host: str, known: bool, told: str
) -> None:
    """By an authority that is not known, or for another name: with the reason and what to do. It is not asked again."""
    if known:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificates / "ca.pem"))
    else:
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setattr("arena_bridges.llm.endpoint.FIRST_ANSWER_SECONDS", 3600.0)
    with encrypted(certificates) as (stub, url):
        with pytest.raises(ArenaError, match=rf"has no trusted certificate.*{told}.*SSL_CERT_FILE"):
            arena.run(spec(url.replace("127.0.0.1", host)))
        assert stub.requests == []


def test_a_certificate_that_is_not_valid_any_more_loses_nobody_a_match(
    certificates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a run that goes on: the backend does not answer, as if it were silent for a moment."""
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setattr("arena_bridges.llm.endpoint.FIRST_PAUSE_SECONDS", 0.01)
    with encrypted(certificates) as (_, url), pytest.raises(Unavailable, match="certificate verify failed") as refused:
        Endpoint(url).ask(Question("m", [], 9))
    assert not isinstance(refused.value, BackendGone)
