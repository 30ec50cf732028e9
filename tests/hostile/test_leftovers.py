"""A process that is killed leaves no files, and a request with two lengths leaves nothing for the next user."""

import signal
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import arena as api
from arena_isolation.sandbox import BAIT_PREFIX, _secret

KILLED = """
import os, pathlib, sys
from arena_isolation.sandbox import _secret
with _secret(pathlib.Path(sys.argv[1]), "x"):
    os.kill(os.getpid(), 9)
"""


@pytest.mark.promise(hole="leftovers", isolation="sandbox")
def test_files_of_a_killed_test_program_are_deleted_by_the_next_one(tmp_path: Path) -> None:
    """Files of running processes, and other files, are kept."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    (tmp_path / f"{BAIT_PREFIX}link").symlink_to(left)
    with _secret(tmp_path, "first") as first:
        assert not left.exists()
        with _secret(tmp_path, "second") as second:
            assert [path.read_text() for path in (*first, *second)] == ["first", "second"]
    assert [path.name for path in tmp_path.iterdir()] == [f"{BAIT_PREFIX}link"]


@pytest.mark.promise(hole="server", isolation="any")
def test_a_request_with_two_lengths_is_refused(tmp_path: Path) -> None:
    """A proxy may use the other length. Then the rest would be treated as the next request of another user."""
    api.run({"game": "tic-tac-toe", "rounds": 1, "agents": ["random", "greedy"]}, store=tmp_path / "cup.db")
    command = [sys.executable, "-m", "arena", "serve", str(tmp_path / "cup.db"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline().strip().rstrip("/").rpartition(":")[2])
        hidden = f"GET /api/tournaments HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"
        head = f"POST /api/move HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        lengths = f"Content-Length: {5 + len(hidden)}\r\nTransfer-Encoding: chunked\r\n\r\n"
        with closing(socket.create_connection(("127.0.0.1", port), timeout=60)) as client:
            client.sendall(f"{head}{lengths}0\r\n\r\n{hidden}".encode())
            answer = b""
            while part := client.recv(1 << 16):
                answer += part
        server.send_signal(signal.SIGINT)
        assert server.wait(60) == 0
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1") == 1
    assert b"got both" in answer
