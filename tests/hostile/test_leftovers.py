"""Killed runs and refused submissions leave no files, and a killed check goes on."""

import signal
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import arena as api
from arena.store import Store
from arena_isolation.sandbox import BAIT_PREFIX, _secret
from arena_ladder.code_folder import BadSubmission, CodeFolder
from arena_ladder.examination import examine
from arena_ladder.ledger import Ledger
from arena_ladder.spec import load_ladder
from arena_ladder.submission_check import SubmissionCheck
from tests.extensions.ladder.hosting import SPEC, agent
from tests.extensions.ladder.test_archive import packed

KILLED = """
import os, pathlib, sys
from arena_isolation.sandbox import _secret
with _secret(pathlib.Path(sys.argv[1]), "x"):
    os.kill(os.getpid(), 9)
"""


@pytest.mark.promise(hole="leftovers", isolation="sandbox")
def test_the_files_of_a_killed_canary_are_deleted_by_the_next(tmp_path: Path) -> None:
    """Files of living processes, and other files, stay."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    (tmp_path / f"{BAIT_PREFIX}link").symlink_to(left)
    with _secret(tmp_path, "first") as first:
        assert not left.exists()
        with _secret(tmp_path, "second") as second:
            assert [path.read_text() for path in (*first, *second)] == ["first", "second"]
    assert [path.name for path in tmp_path.iterdir()] == [f"{BAIT_PREFIX}link"]


@pytest.mark.unit
@pytest.mark.promise(hole="leftovers", isolation="any")
def test_a_zip_that_is_refused_leaves_no_files(tmp_path: Path) -> None:
    """A name is too long for the disk, after another file has been written."""
    with closing(Store.open(tmp_path / "a.db", write=True)), closing(Ledger(tmp_path / "a.db")) as ledger:
        content = packed({"agent.py": b"", "\N{OLD PERSIAN SIGN AURAMAZDAA}" * 100: b""})
        code = CodeFolder(ledger, 1 << 18)
        with pytest.raises(BadSubmission):
            code.lay_out(ledger.submit("ada", None, "zip", "it.zip", content, 10))
        assert [*code.path.iterdir()] == []


class Killed(Exception):
    """The ladder is killed."""


@pytest.mark.promise(hole="season", isolation="process")
def test_a_check_that_is_killed_repeatedly_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step is made once."""
    (tmp_path / "course.yaml").write_text(SPEC)
    ladder = load_ladder(tmp_path / "course.yaml")
    steps: list[str] = []
    whole = SubmissionCheck.ask_judge

    def ask_and_die(self: SubmissionCheck, request: Any, keep: Any) -> dict[str, Any]:
        def keep_and_die(step: Any) -> None:
            steps.append(step["check"])
            keep(step)
            if len(steps) in (1, 3):
                raise Killed

        return whole(self, request, keep_and_die)

    monkeypatch.setattr(SubmissionCheck, "ask_judge", ask_and_die)
    with closing(Store.open(tmp_path / "a.db", write=True)):
        for life in range(3):
            with closing(Ledger(tmp_path / "a.db")) as ledger:
                if not life:
                    ledger.submit("ada", None, "python", "mine.py", agent(), 100)
                ledger.requeue()
                one = ledger.next_to_check()
                assert one is not None
                try:
                    passed = examine(ladder, CodeFolder(ledger, 1 << 18), one)
                except Killed:
                    continue
                break
        else:
            pytest.fail("the check never ended")
        assert [finding["check"] for finding in passed.findings] == steps == ["ready", "plays", "repeats", "limits"]
        with closing(Ledger(tmp_path / "a.db")) as ledger:
            ledger.accept(one.id, "mine", "mine", passed.findings, 2)
            assert ledger.setting(f"steps {one.id}") is None


@pytest.mark.promise(hole="server", isolation="any")
def test_a_request_with_two_lengths_is_refused(tmp_path: Path) -> None:
    """A proxy may read the other length. The rest would be the next request of another user."""
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
