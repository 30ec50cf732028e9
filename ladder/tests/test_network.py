"""Which address counts as the client, where a token may go, and how a ladder refuses files while it shuts down."""

import json
import signal
import socket
import threading
from contextlib import closing, suppress
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.conftest import Arena
from tests.eventually import DEADLINE_SECONDS, eventually
from tests.ladder.hosting import SPEC, HostedLadder, agent

pytestmark = pytest.mark.process


def test_the_option_public_trusts_the_headers_of_a_proxy(tmp_path: Path) -> None:
    """The proxy sets the host and the origin, and names the client. The guide configures Caddy and nginx in this way."""
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    with HostedLadder(tmp_path, SPEC, "--public", "https://arena.example.org", "--port", str(port)) as own:
        assert own.url == "https://arena.example.org"
        own.url = f"http://127.0.0.1:{port}"

        def asked(address: str, **more: str) -> int:
            given = {"Host": "arena.example.org", "X-Forwarded-For": f"198.51.100.1, {address}", **more}
            return own.ask("/api/submissions", "guess", headers=given).status

        assert [asked("203.0.113.7", Origin="https://arena.example.org") for _ in range(12)][-1] == 429
        assert asked("203.0.113.8") == 401
        assert asked("203.0.113.8", Origin="http://arena.example.org") == 403
        assert asked("203.0.113.8", Host="evil.example") == 403
        assert asked("203.0.113.8", Host="arena.example.org:443", Origin="https://arena.example.org") == 401
        with closing(HTTPConnection("127.0.0.1", port, timeout=DEADLINE_SECONDS)) as asking:
            asking.request("POST", "/api/submissions/", headers={"Host": "arena.example.org"})
            answer = asking.getresponse()
        assert (answer.status, answer.getheader("location")) == (307, "https://arena.example.org/api/submissions")


def test_a_token_is_sent_only_to_the_given_address(tmp_path: Path, arena: Arena) -> None:
    """A redirect to another server or scheme is reported and not followed."""
    (tmp_path / "mine.py").write_bytes(agent())
    with socket.create_server(("127.0.0.1", 0)) as first, socket.create_server(("127.0.0.1", 0)) as second:
        there, elsewhere = (f"http://127.0.0.1:{one.getsockname()[1]}" for one in (first, second))

        def answer() -> None:
            connection, _ = first.accept()
            with connection:
                while not connection.recv(1 << 16).endswith(b"--\r\n"):
                    pass
                told = f"HTTP/1.1 302 Found\r\nLocation: {elsewhere}/api/submissions\r\nContent-Length: 0\r\n\r\n"
                connection.sendall(told.encode())

        answering = threading.Thread(target=answer)
        answering.start()
        done = arena("submit", "mine.py", "--to", there, ARENA_TOKEN="secret")
        answering.join()
        second.settimeout(0.0)
        with pytest.raises(BlockingIOError):
            second.accept()
    assert (done.returncode, done.stderr) == (
        2,
        f"not taken (302): {there} redirects to {elsewhere}; pass this address to --to\n",
    )


def test_token_guesses_are_slowed_down_and_uploads_during_a_shutdown_are_dropped(tmp_path: Path, arena: Arena) -> None:
    """The file arrives after the signal, and its author is told that it was not stored."""
    with HostedLadder(tmp_path) as ladder:
        found = [ladder.ask("/api/submissions", f"guess{number}").status for number in range(15)]
        told = {"X-Forwarded-For": "203.0.113.7"}
        elsewhere = ladder.ask("/api/submissions", "guess", headers=told).status
        assert set(found[:10]) == {401}
        assert found[-1] == 429
        assert elsewhere == 429, "without --public, the ladder does not believe the header"
        (token,) = ladder.tokens("ada")
        port = int(ladder.url.rpartition(":")[2])
        body = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.py"\r\n\r\n' + agent() + b"\r\n--x--\r\n"
        sent = {"Authorization": f"Bearer {token}", "Content-Type": "multipart/form-data; boundary=x"}
        sent |= {"Host": f"127.0.0.1:{port}", "Content-Length": str(len(body)), "Expect": "100-continue"}
        with socket.create_connection(("127.0.0.1", port), timeout=DEADLINE_SECONDS) as asking:
            head = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
            asking.sendall(f"POST /api/submissions HTTP/1.1\r\n{head}\r\n".encode())
            assert asking.recv(1000).startswith(b"HTTP/1.1 100 ")  # it has begun to read the form
            ladder.process.send_signal(signal.SIGTERM)

            def refuses() -> bool:
                with suppress(ConnectionRefusedError):
                    socket.create_connection(("127.0.0.1", port), timeout=DEADLINE_SECONDS).close()
                    return False
                return True

            eventually(refuses)
            asking.sendall(body)
            answer = b"".join(iter(lambda: asking.recv(1000), b""))
        assert answer.startswith(b"HTTP/1.1 503 ")
        refusal = {
            "error": "the ladder is shutting down and has not stored the submission",
            "hint": "submit it again in a minute",
        }
        assert json.loads(answer.partition(b"\r\n\r\n")[2]) == refusal
        (ladder.folder / "mine.py").write_bytes(agent())
        done = arena("submit", "mine.py", "--to", ladder.url, ARENA_TOKEN=token)
        refused = f"{ladder.url}/api/submissions does not answer: [Errno 111] Connection refused"
        assert (done.returncode, done.stderr) == (2, f"{refused}; check the address, and check that the ladder is running\n")
        ladder.process.communicate(timeout=DEADLINE_SECONDS)
        assert (ladder.process.returncode, ladder.errors.read_text()) == (0, "")
        ladder.again()
        assert ladder.ask("/api/submissions", token).body["rows"] == []
