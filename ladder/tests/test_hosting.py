"""A ladder as its host and its authors meet it: real processes, a real network, real signals."""

import asyncio
import hashlib
import io
import os
import signal
import socket
import sqlite3
import struct
import subprocess
import time
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from arena.errors import ArenaError
from arena.results.leaderboard import Leaderboard
from arena.store import Store
from arena_isolation.child import ChildProcess
from arena_ladder.host import open_ladder, serve
from arena_ladder.season import played_matches
from arena_ladder.spec import load_ladder
from arena_ladder.submit import submit
from arena_web.serve import bind_socket
from tests.eventually import DEADLINE_SECONDS, eventually
from tests.extensions.isolation.test_archive import packed
from tests.fork_server import run_module
from tests.ladder.hosting import GOOD, SPEC, HostedLadder, agent
from tests.ladder.kills import CALM_EACH, check, killed
from tests.noughts_program import write_program

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostedLadder]:
    spec = SPEC.replace("interval: 200", "interval: 400")  # it soon rests, so that the tests do not pay for its matches
    with HostedLadder(tmp_path_factory.mktemp("ladder"), spec) as hosted:
        yield hosted


def _arena(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return run_module("arena", words, folder=folder, environment={**os.environ, **environment})


def test_an_agent_is_submitted_checked_and_rated(ladder: HostedLadder) -> None:
    (token,) = ladder.tokens("ada")
    (ladder.folder / "mine.py").write_bytes(agent())
    done = _arena(ladder.folder, "submit", "mine.py", "--to", ladder.url, "--wait", ARENA_TOKEN=token)
    assert done.returncode == 0, done.stderr
    key, said = done.stdout.splitlines()
    assert said == "ada/mine@1: playing"
    told = ladder.verdict(token, key)
    assert (told["status"], told["agent"], told["version"], told["reason"]) == ("playing", "ada/mine@1", 1, None)
    assert {finding["check"] for finding in told["findings"] if finding["kept"]} == {"ready", "plays", "repeats", "limits"}

    def rated() -> dict[str, Any] | None:
        rows = {row["agent"]: row for row in ladder.rows()}
        return rows if rows.get("ada/mine@1", {}).get("rating_low") is not None else None

    rows = eventually(rated)
    assert rows is not None
    assert rows["ada/mine@1"]["rating_low"] < rows["ada/mine@1"]["rating"] < rows["ada/mine@1"]["rating_high"]
    assert rows["random"]["rating"] == 0
    course = ladder.ask("/api/agents/ada/mine@1").body["course"]
    assert [point["games"] for point in course] == sorted({point["games"] for point in course})


@pytest.mark.parametrize("hard", [True, False], ids=["reset", "closed"])
def test_a_closed_connection_leaves_no_traceback(ladder: HostedLadder, hard: bool) -> None:
    """The connection is closed in a request body, in an answer, or in a stream. The log has at most one line for each case."""
    (token,) = ladder.tokens("leaver")
    before, address = len(ladder.errors.read_text()), urlsplit(ladder.url)
    host = f"Host: {address.netloc}\r\n"
    form = "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 5000\r\n\r\n--x\r\n"
    body = "Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{"
    asked = {
        f"POST /api/submissions HTTP/1.1\r\n{host}Authorization: Bearer {token}\r\n{form}": 0,
        f"POST /api/claim HTTP/1.1\r\n{host}{body}": 0,
        f"GET /static/style.css HTTP/1.1\r\n{host}\r\n": 1,
        f"GET /api/events HTTP/1.1\r\n{host}\r\n": 1,
        f"GET /api/t/ladder/matches HTTP/1.1\r\n{host}\r\n": 0,
    }
    for request, size in asked.items():
        with socket.create_connection((address.hostname, address.port)) as visitor:
            if hard:
                visitor.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            visitor.sendall(request.encode())
            visitor.recv(size)
    for _ in range(3):  # it has noticed by then that they are gone
        assert ladder.ask("/health").status == 200
        time.sleep(0.2)
    said = ladder.errors.read_text()[before:]
    assert len(said.splitlines()) <= len(asked), said


def test_authors_of_refused_agents_read_the_reason_and_others_do_not(ladder: HostedLadder) -> None:
    mine, other = ladder.tokens("carl", "dora")
    reasons = {
        "return 1 / 0": "first move: exception: ZeroDivisionError: division by zero (mine.py:9)",
        "os._exit(3)": "first move: crash: its process ended with code 3",
        "import random; return random.choice(game.actions(state))": "must give the same answers in ",
    }
    keys = {body: ladder.submit(mine, agent(body)).body["id"] for body in reasons}
    for body, key in keys.items():
        told = ladder.verdict(mine, key)
        assert told["status"] == "refused"
        assert reasons[body] in told["reason"]
        assert str(ladder.folder) not in str(told)
        foreign = ladder.ask(f"/api/submissions/{key}", other)
        assert (foreign.status, foreign.body["error"]) == (403, "this submission belongs to another author")
        assert ladder.ask(f"/api/submissions/{key}").status == 401
        assert key not in str(ladder.ask("/api/submissions", other).body)


def test_zips_and_programs_can_be_submitted(ladder: HostedLadder) -> None:
    (token,) = ladder.tokens("eve")
    package = packed(
        {"it/agent.py": agent("from helper import pick; return pick(game, state)"), "it/helper.py": _HELPER, "it/w.txt": b"1"}
    )
    one = ladder.submit(token, package, "it.zip").body["id"]
    other = ladder.submit(token, write_program('"prog"').encode(), "prog.sh", "prog").body["id"]
    told = ladder.verdict(token, one)
    assert (told["status"], told["kind"]) == ("playing", "zip"), told
    told = ladder.verdict(token, other)
    assert (told["status"], told["kind"], told["agent"]) == ("playing", "program", "eve/prog@1"), told["reason"]
    for key in (one, other):  # so that later seasons do not start them
        assert ladder.ask(f"/api/submissions/{key}/withdraw", token, b"").status == 200


_HELPER = b"""
from pathlib import Path
def pick(game, state):
    return game.actions(state)[-int((Path(__file__).parent / "w.txt").read_text())]
"""


@pytest.mark.parametrize(
    ("content", "file", "status", "error"),
    [
        (b"", "mine.py", 422, "mine.py is empty"),
        (bytes(300 << 10), "mine.py", 413, "at most 256 KiB"),
        (bytes(400 << 10), "mine.py", 413, "the body is larger than 320 KiB"),
    ],
)
def test_invalid_uploads_are_not_stored(ladder: HostedLadder, content: bytes, file: str, status: int, error: str) -> None:
    (token,) = ladder.tokens("fay")
    answer = ladder.submit(token, content, file)
    assert answer.status == status
    assert error in answer.body["error"]
    assert answer.body["hint"]
    assert ladder.ask("/api/submissions", token).body["rows"] == []


REFUSED = [
    (b"\x00\x01\x02 no python", "mine.py", "mine.py is not Python"),
    (b"def (", "mine.py", "SyntaxError"),
    (b"x = 1", "mine.py", "expected one agent in the file, found none"),
    (packed({"../agent.py": b"x"}), "it.zip", "points outside its folder"),
    (packed({"agent.py": bytes(2 << 20)}), "it.zip", "more than 256 KiB when unpacked"),
    (packed({"agent.py": bytes(2 << 20)}, zipfile.ZIP_BZIP2), "it.zip", "'agent.py' in the zip is not compressed with deflate"),
    (packed({"a.py": b"", "b.py": b""}), "it.zip", "expected agent.py at the top of the zip"),
    (b"#!/bin/sh\r\nexit\r\n", "prog", "has a Windows line ending"),
    (b"process.stdin.resume();", "agent.js", "a program begins with #! and its interpreter"),
]
"""Files that the check refuses, with their names and the reasons."""


def test_the_check_refuses_faulty_agents_with_a_reason(ladder: HostedLadder) -> None:
    (token,) = ladder.tokens("gil")
    keys = [ladder.submit(token, content, file).body["id"] for content, file, _ in REFUSED]
    for key, (_, _, reason) in zip(keys, REFUSED, strict=True):
        told = ladder.verdict(token, key)
        assert told["status"] == "refused"
        assert reason in told["reason"]


def test_tokens_are_required_and_stored_as_hashes(ladder: HostedLadder) -> None:
    assert ladder.submit(None, agent()).status == 401
    assert ladder.submit("wrong", agent()).body["error"] == "this token is unknown"
    old, _ = ladder.tokens("hal", "ida")
    (new,) = ladder.tokens("hal")
    assert ladder.ask("/api/submissions", old).status == 401
    assert ladder.ask("/api/submissions", new).status == 200
    with sqlite3.connect(ladder.folder / "results" / "course.db") as store:
        kept = store.execute("SELECT token FROM ladder_author WHERE name = 'hal'").fetchone()[0]
    assert kept == hashlib.sha256(new.encode()).hexdigest()
    stored = b"".join(file.read_bytes() for file in (ladder.folder / "results").glob("course.db*") if file.is_file())
    assert new.encode() not in stored


def test_the_command_explains_how_to_get_a_valid_token(ladder: HostedLadder, monkeypatch: pytest.MonkeyPatch) -> None:
    (ladder.folder / "mine.py").write_bytes(agent())
    done = _arena(ladder.folder, "submit", "mine.py", "--to", ladder.url, ARENA_TOKEN="wrong")
    told = "not taken (401): this token is unknown; ask the host of the ladder for one\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", told)
    monkeypatch.chdir(ladder.folder)
    for token, url, told in (
        ("", ladder.url, "no token: set ARENA_TOKEN to the token that the host of the ladder gave you"),
        ("two words", ladder.url, "ARENA_TOKEN is not a token: expected the word of letters and digits that the host"),
        ("t\N{LATIN SMALL LETTER O WITH DIAERESIS}ken", ladder.url, "ARENA_TOKEN is not a token: expected the word"),
        ("token", "127.0.0.1:8765", "--to 127.0.0.1:8765: expected an address such as https://arena.example.org"),
    ):
        monkeypatch.setenv("ARENA_TOKEN", token)
        with pytest.raises(ArenaError, match=told):
            submit.callback(Path("mine.py"), url, None, False)  # type: ignore[misc]  # a command has one


def test_foreign_origins_and_addresses_are_refused(ladder: HostedLadder) -> None:
    for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert ladder.ask("/api/standings", headers=headers).status == 403
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    for path, status in (("/", 200), ("/claim", 200), ("/yours", 200), ("/api/standings", 403)):
        assert ladder.ask(path, headers=link).status == status
        assert ladder.ask(path, headers={**link, "Sec-Fetch-Dest": "iframe"}).status == 403
    assert ladder.ask("/nothing").body == {"error": "this address does not exist", "hint": "see /openapi.json"}
    assert ladder.ask("/api/submissions/0000").status == 401


def test_a_ladder_without_a_sandbox_does_not_start_even_if_the_agents_of_the_host_need_none(tmp_path: Path) -> None:
    """A ladder starts without a sandbox only if the spec says `process`."""
    (tmp_path / "course.yaml").write_text(SPEC.replace("isolation: process\n", ""))
    done = _arena(tmp_path, "ladder", "course.yaml", "--port", "0", PATH=str(tmp_path))
    told = "sandbox: expected bwrap on PATH, found none; install bubblewrap 0.8 or newer, or use isolation: process\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", told)


def test_an_open_ladder_accepts_each_name_once(ladder: HostedLadder) -> None:
    json_type = {"Content-Type": "application/json"}
    answer = ladder.ask("/api/authors", body=b'{"name": "kim"}', headers=json_type)
    assert answer.status == 201
    assert ladder.ask("/api/submissions", answer.body["token"]).body == {
        "author": "kim", "id": "kim", "name": "", "team": "", "rows": [], "total": 0, "page": 0, "pages": 1, "messages": [],
    }  # fmt: skip
    taken = ladder.ask("/api/authors", body=b'{"name": "kim"}', headers=json_type)
    assert (taken.status, taken.body) == (409, {"error": "the name kim is taken", "hint": "choose another one"})
    for name in (b"Kim!", b"admin", b"ladder"):  # the audit log calls others by these two
        assert ladder.ask("/api/authors", body=b'{"name": "%s"}' % name, headers=json_type).status == 422, name
    assert "'admin' is not a valid author name; expected 1 to 40" in ladder.admin("tokens", "admin").stderr
    assert ladder.ask("/api/authors", body=b"[", headers=json_type).status == 422


def audited(ladder: HostedLadder) -> int:
    """How many withdrawals the audit log has."""
    return ladder.admin("audit").stdout.count("withdraw")


def placed(ladder: HostedLadder, word: str) -> bool:
    """Tell whether matches of an agent are on the boards of the last season."""
    with Store.open(ladder.folder / "results" / "course.db") as store:
        return any(word in label for one in played_matches(store) for label in one.labels)


def check_boards_agree(ladder: HostedLadder, below: str) -> None:
    """`arena leaderboard` ranks the agents in play as the page does, and `below`, which has left play, under all of them."""
    assert ladder.admin("pause").returncode == 0
    live = eventually(lambda: (found := ladder.ask("/api/standings").body)["state"] == "paused" and found)
    [board] = Leaderboard.load(ladder.folder / "results" / "course.db")
    stored = [row["agent"] for row in board.rows]
    playing = [row["agent"] for row in live["rows"]]
    assert stored[: len(playing)] == playing
    assert {"lea/n1@1", "random", "greedy"} <= set(playing)
    assert board.sheet.left == tuple(label for label in board.sheet.labels if label not in playing)
    assert below not in playing
    assert ladder.admin("resume").returncode == 0


def test_authors_can_withdraw_agents_and_admins_can_ban_authors(ladder: HostedLadder) -> None:
    (token,) = ladder.tokens("lea")
    one, two = (ladder.submit(token, agent(f"{GOOD}  # lea {number}"), name=f"n{number}").body["id"] for number in range(2))
    for key in (one, two):
        assert ladder.verdict(token, key)["status"] == "playing"
    assert ladder.ask(f"/api/submissions/{one}/withdraw", token, b"").body["status"] == "withdrawn"
    changes = audited(ladder)
    for _ in range(5):
        again = ladder.ask(f"/api/submissions/{one}/withdraw", token, b"")
        assert (again.status, again.body["error"]) == (409, "n0 is withdrawn")
    assert audited(ladder) == changes, "a second withdrawal is no event, so no season begins by it"
    flood = [ladder.ask(f"/api/submissions/{one}/withdraw", token, b"").status for _ in range(10)]
    assert set(flood) == {409, 429}
    check_boards_agree(ladder, below="lea/n0@1")
    assert ladder.admin("ban", "lea").returncode == 0
    assert ladder.ask("/api/submissions", token).status == 403
    assert ladder.admin("ban", "nobody").returncode == 2
    eventually(lambda: "lea/" not in str(ladder.ask("/api/standings").body))
    assert "ban lea" in ladder.admin("audit").stdout
    eventually(lambda: not placed(ladder, "lea/"), lambda: "matches of a banned author move no rating")


def test_health_metrics_and_the_api_description_are_served(ladder: HostedLadder) -> None:
    health = ladder.ask("/health")
    assert (health.status, health.body["state"] in ("playing", "idle")) == (200, True)
    metrics = ladder.ask("/metrics").body
    assert "arena_ladder_up 1\n" in metrics
    assert 'arena_ladder_submissions{status="playing"}' in metrics
    described: Any = ladder.ask("/openapi.json").body
    assert described["openapi"] == "3.1.0"
    for path, operations in described["paths"].items():
        asked = ladder.ask(path.format(id="0" * 16, name="random"), None, b"" if "get" not in operations else None)
        known = operations.get("get") or operations["post"]
        assert str(asked.status) in known["responses"], path


def test_a_backup_of_a_running_ladder_can_be_hosted(ladder: HostedLadder, tmp_path: Path) -> None:
    done = ladder.admin("backup", str(tmp_path / "copy.db"))
    assert done.returncode == 0, done.stderr
    assert ladder.admin("backup", str(tmp_path / "copy.db")).returncode == 2
    assert _arena(tmp_path, "check", "copy.db").stdout.endswith("0 faults\n")
    with sqlite3.connect(tmp_path / "copy.db") as copy:
        assert copy.execute("SELECT count(*) FROM ladder_submission").fetchone()[0] > 0


def test_a_ladder_refuses_a_store_in_use_and_a_store_of_another_ladder(ladder: HostedLadder, tmp_path: Path) -> None:
    done = _arena(ladder.folder, "ladder", "course.yaml", "--port", "0")
    assert (done.returncode, "is in use by process" in done.stderr) == (2, True)
    (tmp_path / "course.yaml").write_text(SPEC)
    (tmp_path / "cup.yaml").write_text("game: tic-tac-toe\nagents: [random, greedy]\nrounds: 1\n")
    assert _arena(tmp_path, "run", "cup.yaml", "--store", "cup.db").returncode == 0
    done = _arena(tmp_path, "ladder", "course.yaml", "--store", "cup.db", "--port", "0")
    assert (done.returncode, "contains a tournament, not a ladder" in done.stderr) == (2, True)
    copied = ladder.admin("backup", str(tmp_path / "other.db"))
    assert copied.returncode == 0
    (tmp_path / "other.yaml").write_text(SPEC.replace("tic-tac-toe", "connect-four"))
    done = _arena(tmp_path, "ladder", "other.yaml", "--store", "other.db", "--port", "0")
    here = '[["connect-four",{"columns":7,"in_a_row":4,"rows":6}]]'
    there = '[["tic-tac-toe",{"columns":3,"in_a_row":3,"rows":3}]]'
    other = f"other.db is another ladder's store: it has the games {there}, but this ladder has {here}; choose"
    assert (done.returncode, other in done.stderr) == (2, True), done.stderr


def test_a_signal_does_not_interrupt_a_query_of_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGTERM arrives during a query, which continues until the ladder has closed its pages. The ladder then exits normally."""
    monkeypatch.setenv(ChildProcess.QUIET_VARIABLE, "")
    (tmp_path / "course.yaml").write_text(SPEC)
    found: list[Any] = []
    with (
        open_ladder(load_ladder(tmp_path / "course.yaml"), tmp_path / "a.db", 1) as host,
        bind_socket("127.0.0.1", 0) as listening,
    ):

        def read() -> None:
            host.store._connection.create_function("closed", 0, lambda: host.runner.stopping.wait(DEADLINE_SECONDS))
            os.kill(os.getpid(), signal.SIGTERM)
            count = "WITH RECURSIVE x(n) AS (SELECT closed() UNION ALL SELECT n + 1 FROM x WHERE n < 100000) SELECT max(n) FROM x"
            found.extend(host.store.query(count))

        monkeypatch.setattr(host.runner, "play", read)
        with suppress(KeyboardInterrupt):  # it would end pytest
            asyncio.run(serve([host], listening, "127.0.0.1", None, io.StringIO()))
    assert found == [(100_000,)]


@pytest.mark.parametrize("kills", [pytest.param(4), pytest.param(100, marks=pytest.mark.proof)])
def test_acknowledged_data_survives_kills(tmp_path: Path, kills: int) -> None:
    """The ladder is killed at random moments and restarted. It keeps every submission and match that a page has shown."""
    counts = check(tmp_path, killed(tmp_path, kills))
    assert counts["acknowledged"] >= kills // CALM_EACH
    assert counts["shown"] > 0


def test_a_killed_ladder_makes_the_same_plans_as_an_uninterrupted_one(tmp_path: Path) -> None:
    """With built-in agents and a seed, plans depend only on results, and results only on plans."""
    whole, pieces = tmp_path / "whole", tmp_path / "pieces"
    whole.mkdir()
    pieces.mkdir()
    spec = SPEC.replace("interval: 200", "interval: 60")
    with HostedLadder(whole, spec) as one:
        eventually(lambda: len(_plans(whole)) >= 20)
        one.end()
    with HostedLadder(pieces, spec) as other:
        for least in (1, 9):
            eventually(lambda: len(_plans(pieces)) >= least)  # noqa: B023
            other.kill()
            other.again()
        eventually(lambda: len(_plans(pieces)) >= 20)
        other.end()
    plans = [_plans(folder)[:20] for folder in (whole, pieces)]
    assert plans[0] == plans[1]


def _plans(folder: Path) -> list[tuple[Any, ...]]:
    with sqlite3.connect(folder / "results" / "course.db") as kept:
        return kept.execute("SELECT number, board, one, other, round FROM ladder_plan ORDER BY number").fetchall()
