"""Options for --cluster are validated, and messages explain why a cluster cannot be used."""

import json
import socket
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Thread

import pytest

from arena_cluster.address import address_of
from arena_cluster.dask import dask_engine
from arena_cluster.engine import ClusterError
from tests.conftest import Arena


def test_valid_addresses_are_accepted(tmp_path: Path) -> None:
    """The values are addresses, a scheduler file and local workers."""
    assert address_of("tcp://10.0.0.1:8786").url == "tcp://10.0.0.1:8786"
    assert address_of("tls://node:08786").url == "tls://node:8786"
    assert address_of("tcp://[::1]:8786").host == "::1"
    assert address_of("local:3").workers == 3
    file = tmp_path / "scheduler.json"
    file.write_text(json.dumps({"type": "Scheduler", "address": "tls://1.2.3.4:5"}))
    assert address_of(str(file)).url == "tls://1.2.3.4:5"


@pytest.mark.parametrize(
    ("given", "exposed"),
    [
        ("tcp://127.0.0.1:1", False),
        ("tcp://127.9.9.9:1", False),
        ("tcp://localhost:1", False),
        ("tcp://[::1]:1", False),
        ("tcp://10.0.0.1:1", True),
        ("tcp://node:1", True),
        ("tcp://[fe80::1]:1", True),
        ("tls://10.0.0.1:1", False),
        ("local:2", False),
    ],
)
def test_an_address_other_than_loopback_counts_as_exposed_without_tls(given: str, exposed: bool) -> None:
    """Other users cannot listen on the loopback interface, and cannot read a connection with TLS."""
    assert address_of(given).exposed is exposed


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("http://a:1", "unknown protocol 'http'; expected tcp:// or tls://"),
        ("ucx://a:1", "unknown protocol 'ucx'"),
        ("tcp://a", "expected tcp://HOST:PORT"),
        ("tcp://:1", "expected tcp://HOST:PORT"),
        ("tcp://a:0", "a port from 1 to 65535"),
        ("tls://a:99999", "a port from 1 to 65535"),
        ("local:0", "expected local:N"),
        ("local:", "expected local:N"),
        ("local:\u00b2", "expected local:N"),
        ("local:two", "expected local:N"),
        ("10.0.0.1:8786", "the protocol is missing"),
        ("nowhere.json", "no such file"),
        (".", "cannot be read"),
        ("", "expected tcp://HOST:PORT"),
        ("a\0b", "cannot be read"),
    ],
)
def test_invalid_addresses_are_refused(given: str, expected: str) -> None:
    """Each message gives the value and the expected one."""
    with pytest.raises(ClusterError) as refused:
        address_of(given)
    assert str(refused.value).startswith(f"--cluster {given or repr('')}: ")
    assert expected in str(refused.value)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe", "it is not a text file"),
        (b"[1]", "has no address"),
        (b'{"address": 3}', "has no address"),
        (b'{"address": "inproc://1/2/3"}', "unknown protocol 'inproc'"),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_invalid_scheduler_files_are_refused(content: bytes, expected: str, tmp_path: Path) -> None:
    """The message differs from the message about a stale file."""
    file = tmp_path / "s.json"
    file.write_bytes(content)
    with pytest.raises(ClusterError, match=expected):
        address_of(str(file))


SPEC = "game: tic-tac-toe\nrounds: 1\nagents: [random, greedy]\n"


def test_an_address_without_a_server_is_refused(dask: None, arena: Arena, tmp_path: Path) -> None:
    """No process listens at the port of the address or of a stale scheduler file. The exit code is 2, and no store is created."""
    (tmp_path / "s.yaml").write_text(SPEC)
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"tcp://127.0.0.1:{server.getsockname()[1]}"
    (tmp_path / "scheduler.json").write_text(json.dumps({"address": url}))
    for given, expected in ((url, "no server answers there"), ("scheduler.json", "the file is out of date")):
        done = arena("run", "s.yaml", "--cluster", given)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"--cluster {given}: ")
        assert expected in done.stderr
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("said", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"", b"\0" * 8, None])
def test_a_server_other_than_a_scheduler_is_refused(dask: None, monkeypatch: pytest.MonkeyPatch, said: bytes | None) -> None:
    """The server speaks another protocol, closes the connection, or sends nothing. The waits for a greeting and for TLS are
    limited.
    """
    monkeypatch.setattr("arena_cluster.connection.GREETING_SECONDS", 0.3)
    monkeypatch.setattr("arena_cluster.connection.TLS_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server, ExitStack() as open_:

        def answer() -> None:
            with suppress(OSError):
                while True:
                    connection = open_.enter_context(server.accept()[0])
                    if said is not None:
                        connection.sendall(said)
                        connection.close()

        Thread(target=answer, daemon=True).start()
        given = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with (
            pytest.raises(ClusterError, match=rf"--cluster {given}: the server there is not a Dask scheduler"),
            dask_engine(address_of(given)),
        ):
            pass
        server.shutdown(socket.SHUT_RDWR)


def test_a_note_warns_of_an_exposed_address(dask: None, arena: Arena, tmp_path: Path) -> None:
    """The note comes before any data is sent. 0.0.0.0 is this machine, too, but arena does not treat it so."""
    (tmp_path / "s.yaml").write_text(SPEC)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    for address, said in (("0.0.0.0", True), ("127.0.0.1", False)):
        done = arena("run", "s.yaml", "--cluster", f"tcp://{address}:{port}")
        assert done.returncode == 2
        assert (f"note: tcp://{address}:{port} has neither encryption nor authentication" in done.stderr) is said


def test_a_missing_extra_is_explained(invoke: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says how to install the extra."""
    (tmp_path / "s.yaml").write_text(SPEC)
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = invoke("run", "s.yaml", "--cluster", "local:2")
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'distributed>=2025.1'" in done.stderr


def test_a_plugin_too_large_to_be_sent_is_refused(invoke: Arena, tmp_path: Path) -> None:
    """The message names the plugin before any node starts to play."""
    (tmp_path / "s.yaml").write_text(SPEC + "plugins: [mine.py]\n")
    with (tmp_path / "mine.py").open("wb") as file:
        file.write(b"#" * (32 << 20) + b"\n")
    done = invoke("run", "s.yaml", "--cluster", "local:2")
    assert (done.returncode, done.stdout) == (2, "")
    assert "mine.py cannot be sent to the cluster: it has 33,554,433 bytes, and at most 33,554,432 are sent" in done.stderr


def test_workers_cannot_be_combined_with_cluster(invoke: Arena, tmp_path: Path) -> None:
    """The cluster determines the number of its workers."""
    (tmp_path / "s.yaml").write_text(SPEC)
    done = invoke("run", "s.yaml", "--cluster", "local:2", "--workers", 2)
    assert done.returncode == 2
    assert "--workers cannot be used with --cluster" in done.stderr
