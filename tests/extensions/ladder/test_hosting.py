"""A ladder as its host and its authors meet it: real processes, a real network, real signals."""

import hashlib
import os
import sqlite3
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena.errors import ArenaError
from arena.store import Store
from arena_ladder.code_folder import CodeFolder
from arena_ladder.contest import MAX_SEASONS, SEASONS_SECONDS, ContestRunner
from arena_ladder.ledger import Ledger
from arena_ladder.season import played_matches
from arena_ladder.spec import load_ladder
from arena_ladder.submit import submit
from tests.extensions.ladder.hosting import GOOD, SPEC, HostedLadder, agent
from tests.extensions.ladder.kills import check, killed
from tests.extensions.ladder.test_archive import packed
from tests.noughts_program import write_program


@pytest.fixture(scope="module")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostedLadder]:
    with HostedLadder(tmp_path_factory.mktemp("ladder")) as hosted:
        yield hosted


def _arena(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "arena", *words]
    given = {**os.environ, **environment}
    return subprocess.run(command, cwd=folder, text=True, capture_output=True, timeout=60, check=False, env=given)


def test_an_agent_is_handed_in_checked_and_rated(ladder: HostedLadder) -> None:
    (token,) = ladder.tokens("ada")
    (ladder.folder / "mine.py").write_bytes(agent())
    done = _arena(ladder.folder, "submit", "mine.py", "--to", ladder.url, ARENA_TOKEN=token)
    assert done.returncode == 0, done.stderr
    told = ladder.verdict(token, done.stdout.strip())
    assert (told["status"], told["agent"], told["version"], told["reason"]) == ("playing", "ada/mine@1", 1, None)
    assert {finding["check"] for finding in told["findings"] if finding["kept"]} == {"ready", "plays", "repeats", "limits"}
    until = time.monotonic() + 60
    while time.monotonic() < until:
        rows = {row["agent"]: row for row in ladder.ask("/api/standings").body["rows"]}
        if rows.get("ada/mine@1", {}).get("rating_low") is not None:
            break
        time.sleep(0.2)
    assert rows["ada/mine@1"]["rating_low"] < rows["ada/mine@1"]["rating"] < rows["ada/mine@1"]["rating_high"]
    assert rows["random"]["rating"] == 0
    course = ladder.ask("/api/agents/ada/mine@1").body["course"]
    assert [point["games"] for point in course] == sorted({point["games"] for point in course})


def test_a_new_version_takes_the_place_of_the_oldest(ladder: HostedLadder) -> None:
    (token,) = ladder.tokens("bob")
    keys = [ladder.submit(token, agent(f"{GOOD}  # {number}"), name="it").body["id"] for number in range(3)]
    told = [ladder.verdict(token, key) for key in keys]
    told[0] = ladder.ask(f"/api/submissions/{keys[0]}", token).body
    assert [one["agent"] for one in told] == ["bob/it@1", "bob/it@2", "bob/it@3"]
    assert [one["status"] for one in told] == ["withdrawn", "playing", "playing"]
    assert told[0]["reason"] == "version 3 has taken its place"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return 1 / 0", "first move: exception: ZeroDivisionError: division by zero (mine.py:9)"),
        ("return 99", "first move: illegal-action"),
        ("os._exit(3)", "first move: crash: its process ended with code 3"),
        ("import random; return random.choice(game.actions(state))", "the same answers from "),
    ],
)
def test_who_does_not_pass_reads_why_and_nobody_else_does(ladder: HostedLadder, body: str, reason: str) -> None:
    mine, other = ladder.tokens("carl", "dora")
    key = ladder.submit(mine, agent(body)).body["id"]
    told = ladder.verdict(mine, key)
    assert told["status"] == "refused"
    assert reason in told["reason"]
    assert str(ladder.folder) not in str(told)
    foreign = ladder.ask(f"/api/submissions/{key}", other)
    assert (foreign.status, foreign.body["error"]) == (403, "this submission is another author's")
    assert ladder.ask(f"/api/submissions/{key}").status == 401
    assert key not in str(ladder.ask("/api/submissions", other).body)


def test_zips_and_programs_play(ladder: HostedLadder) -> None:
    (token,) = ladder.tokens("eve")
    package = packed(
        {"it/agent.py": agent("from helper import pick; return pick(game, state)"), "it/helper.py": _HELPER, "it/w.txt": b"1"}
    )
    told = ladder.verdict(token, ladder.submit(token, package, "it.zip").body["id"])
    assert (told["status"], told["kind"]) == ("playing", "zip"), told
    told = ladder.verdict(token, ladder.submit(token, write_program('"prog"').encode(), "prog.sh", "prog").body["id"])
    assert (told["status"], told["kind"], told["agent"]) == ("playing", "program", "eve/prog@1"), told["reason"]


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
def test_what_is_not_even_kept(ladder: HostedLadder, content: bytes, file: str, status: int, error: str) -> None:
    (token,) = ladder.tokens("fay")
    answer = ladder.submit(token, content, file)
    assert answer.status == status
    assert error in answer.body["error"]
    assert answer.body["hint"]
    assert ladder.ask("/api/submissions", token).body["rows"] == []


@pytest.mark.parametrize(
    ("content", "file", "reason"),
    [
        (b"\x00\x01\x02 no python", "mine.py", "mine.py is no Python"),
        (b"def (", "mine.py", "SyntaxError"),
        (b"x = 1", "mine.py", "expected one agent in the file, found none"),
        (packed({"../agent.py": b"x"}), "it.zip", "leads out of its folder"),
        (packed({"agent.py": bytes(2 << 20)}), "it.zip", "more than 256 KiB when unpacked"),
        (packed({"agent.py": bytes(2 << 20)}, zipfile.ZIP_BZIP2), "it.zip", "'agent.py' in the zip is not packed by deflate"),
        (packed({"a.py": b"", "b.py": b""}), "it.zip", "expected agent.py at the top of the zip"),
        (b"#!/bin/sh\r\nexit\r\n", "prog", "ends as on Windows"),
    ],
)
def test_what_is_refused_by_the_check(ladder: HostedLadder, content: bytes, file: str, reason: str) -> None:
    (token,) = ladder.tokens("gil")
    told = ladder.verdict(token, ladder.submit(token, content, file).body["id"])
    assert told["status"] == "refused"
    assert reason in told["reason"]


def test_tokens_are_asked_for_and_kept_as_hashes(ladder: HostedLadder) -> None:
    assert ladder.submit(None, agent()).status == 401
    assert ladder.submit("wrong", agent()).body["error"] == "this token is not known"
    old, _ = ladder.tokens("hal", "ida")
    (new,) = ladder.tokens("hal")
    assert ladder.ask("/api/submissions", old).status == 401
    assert ladder.ask("/api/submissions", new).status == 200
    with sqlite3.connect(ladder.folder / "results" / "course.db") as store:
        kept = store.execute("SELECT token FROM ladder_author WHERE name = 'hal'").fetchone()[0]
    assert kept == hashlib.sha256(new.encode()).hexdigest()
    stored = b"".join(file.read_bytes() for file in (ladder.folder / "results").glob("course.db*") if file.is_file())
    assert new.encode() not in stored


def test_who_has_no_token_for_the_command_reads_what_to_do(ladder: HostedLadder, monkeypatch: pytest.MonkeyPatch) -> None:
    (ladder.folder / "mine.py").write_bytes(agent())
    done = _arena(ladder.folder, "submit", "mine.py", "--to", ladder.url, ARENA_TOKEN="wrong")
    told = "not taken (401): this token is not known; ask the host of the ladder for one\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", told)
    monkeypatch.chdir(ladder.folder)
    for token, url, told in (
        ("", ladder.url, "no token: set ARENA_TOKEN to the one that the host of the ladder gave you"),
        ("two words", ladder.url, "ARENA_TOKEN is no token: expected one word of letters and digits, as the host"),
        ("t\N{LATIN SMALL LETTER O WITH DIAERESIS}ken", ladder.url, "ARENA_TOKEN is no token: expected one word"),
        ("token", "127.0.0.1:8765", "--to 127.0.0.1:8765: expected an address such as https://arena.example.org"),
    ):
        monkeypatch.setenv("ARENA_TOKEN", token)
        with pytest.raises(ArenaError, match=told):
            submit.callback(Path("mine.py"), url, None)  # type: ignore[misc]  # a command has one


def test_who_is_not_here(ladder: HostedLadder) -> None:
    for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert ladder.ask("/api/standings", headers=headers).status == 403
    assert ladder.ask("/nothing").body == {"error": "there is nothing at this address", "hint": "see /openapi.json"}
    assert ladder.ask("/api/submissions/0000").status == 401


def test_a_ladder_without_a_sandbox_does_not_start_however_the_house_plays(tmp_path: Path) -> None:
    """Only a spec that says `process` does without."""
    (tmp_path / "course.yaml").write_text(SPEC.replace("isolation: process\n", ""))
    done = _arena(tmp_path, "ladder", "course.yaml", "--port", "0", PATH=str(tmp_path))
    told = "sandbox: expected bwrap on PATH, found none; install bubblewrap 0.8 or newer, or use isolation: process\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", told)


def test_anybody_registers_where_that_is_open_and_a_name_once(ladder: HostedLadder) -> None:
    json_type = {"Content-Type": "application/json"}
    answer = ladder.ask("/api/authors", body=b'{"name": "kim"}', headers=json_type)
    assert answer.status == 201
    assert ladder.ask("/api/submissions", answer.body["token"]).body == {"author": "kim", "rows": []}
    taken = ladder.ask("/api/authors", body=b'{"name": "kim"}', headers=json_type)
    assert (taken.status, taken.body) == (409, {"error": "the name kim is taken", "hint": "choose another one"})
    for name in (b"Kim!", b"admin", b"ladder"):  # the audit log calls others by these two
        assert ladder.ask("/api/authors", body=b'{"name": "%s"}' % name, headers=json_type).status == 422, name
    assert "'admin' is no name of an author; expected 1 to 40" in ladder.admin("tokens", "admin").stderr
    assert ladder.ask("/api/authors", body=b"[", headers=json_type).status == 422


def audited(ladder: HostedLadder) -> int:
    """How many withdrawals the audit log has."""
    return ladder.admin("audit").stdout.count("withdraw")


def placed(ladder: HostedLadder, word: str) -> bool:
    """Tell whether matches of an agent are on the boards of the last season."""
    with Store.open(ladder.folder / "results" / "course.db") as store:
        return any(word in label for one in played_matches(store) for label in one.labels)


def test_an_author_withdraws_and_an_admin_bans(ladder: HostedLadder) -> None:
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
    assert ladder.admin("ban", "lea").returncode == 0
    assert ladder.ask("/api/submissions", token).status == 403
    assert ladder.admin("ban", "nobody").returncode == 2
    until = time.monotonic() + 30
    while "lea/" in str(ladder.ask("/api/standings").body) and time.monotonic() < until:
        time.sleep(0.2)
    assert "lea/" not in str(ladder.ask("/api/standings").body)
    assert "ban lea" in ladder.admin("audit").stdout
    while placed(ladder, "lea/") and time.monotonic() < until:
        time.sleep(0.2)
    assert not placed(ladder, "lea/"), "matches of a banned author move no rating"


def test_health_metrics_and_the_description_of_the_api(ladder: HostedLadder) -> None:
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


def test_a_backup_is_taken_while_it_runs_and_is_a_ladder(ladder: HostedLadder, tmp_path: Path) -> None:
    done = ladder.admin("backup", str(tmp_path / "copy.db"))
    assert done.returncode == 0, done.stderr
    assert ladder.admin("backup", str(tmp_path / "copy.db")).returncode == 2
    assert _arena(tmp_path, "check", "copy.db").stdout.endswith("0 faults\n")
    with sqlite3.connect(tmp_path / "copy.db") as copy:
        assert copy.execute("SELECT count(*) FROM ladder_submission").fetchone()[0] > 0


def test_two_ladders_on_one_store_and_stores_of_others(ladder: HostedLadder, tmp_path: Path) -> None:
    done = _arena(ladder.folder, "ladder", "course.yaml", "--port", "0")
    assert (done.returncode, "is in use by process" in done.stderr) == (2, True)
    (tmp_path / "course.yaml").write_text(SPEC)
    (tmp_path / "cup.yaml").write_text("game: tic-tac-toe\nagents: [random, greedy]\nrounds: 1\n")
    assert _arena(tmp_path, "run", "cup.yaml", "--store", "cup.db").returncode == 0
    done = _arena(tmp_path, "ladder", "course.yaml", "--store", "cup.db", "--port", "0")
    assert (done.returncode, "holds a tournament, and no ladder" in done.stderr) == (2, True)
    copied = ladder.admin("backup", str(tmp_path / "other.db"))
    assert copied.returncode == 0
    (tmp_path / "other.yaml").write_text(SPEC.replace("tic-tac-toe", "connect-four"))
    done = _arena(tmp_path, "ladder", "other.yaml", "--store", "other.db", "--port", "0")
    other = 'expected one of [["connect-four",{"columns":7,"in_a_row":4,"rows":6}]], found one of [["tic-tac-toe",{"columns":3,'
    assert (done.returncode, f"other.db is the store of another ladder: {other}" in done.stderr) == (2, True), done.stderr


@pytest.mark.slow
def test_nothing_that_was_acknowledged_is_lost_by_twenty_kills(tmp_path: Path) -> None:
    """Killed at any moment and started again, it has every submission and every match that a page has shown."""
    counts = check(tmp_path, killed(tmp_path, 20))
    assert counts["acknowledged"] >= 5
    assert counts["shown"] > 0


@pytest.mark.slow
def test_a_ladder_that_was_killed_plans_as_one_that_never_was(tmp_path: Path) -> None:
    """With house agents and a seed the plans are a pure function of the results, and these of the plans."""
    whole, pieces = tmp_path / "whole", tmp_path / "pieces"
    whole.mkdir()
    pieces.mkdir()
    with HostedLadder(whole) as one:
        _wait_for_plans(whole, 40)
        one.end()
    with HostedLadder(pieces) as other:
        for least in (1, 9, 17, 25):
            _wait_for_plans(pieces, least)
            other.kill()
            other.again()
        _wait_for_plans(pieces, 40)
        other.end()
    plans = [_plans(folder)[:40] for folder in (whole, pieces)]
    assert plans[0] == plans[1]


def _wait_for_plans(folder: Path, least: int) -> None:
    until = time.monotonic() + 60
    while len(_plans(folder)) < least:
        assert time.monotonic() < until
        time.sleep(0.05)


def _plans(folder: Path) -> list[tuple[Any, ...]]:
    with sqlite3.connect(folder / "results" / "course.db") as kept:
        return kept.execute("SELECT number, board, one, other, round FROM ladder_plan ORDER BY number").fetchall()


def test_seasons_begin_a_few_times_in_a_while_and_a_pause_at_once(tmp_path: Path) -> None:
    """The runner itself says whether a season goes on, from the ledger that the pages write."""
    (tmp_path / "course.yaml").write_text(SPEC)
    ladder = load_ladder(tmp_path / "course.yaml")
    with Store.open(tmp_path / "a.db", write=True) as store, closing(Ledger(tmp_path / "a.db")) as ledger:
        runner = ContestRunner(ladder, store, ledger, CodeFolder(ledger, 1 << 18), 1)
        before = ledger.changes()
        assert runner._goes_on(before)
        ledger.set("title", "changed")
        assert ledger.changes() > before
        assert not runner._goes_on(before)
        runner._seasons.extend([time.monotonic()] * MAX_SEASONS)
        assert runner._goes_on(before)
        runner._seasons[0] -= SEASONS_SECONDS
        assert not runner._goes_on(before)
        runner._seasons[0] += SEASONS_SECONDS
        ledger.set("paused", "yes")
        assert not runner._goes_on(before)
