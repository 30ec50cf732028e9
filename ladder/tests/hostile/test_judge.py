"""Submissions that try to forge the results of their own check."""

import json
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from arena.match.match import Program
from arena.plugins.syntax import list_parsed
from arena.store import Store
from arena_isolation.protocol import VERSION
from arena_ladder.code_folder import CodeFolder
from arena_ladder.contest import SeasonPlans
from arena_ladder.examination import examine
from arena_ladder.judge import CHECK_SECONDS, CheckBounds, NotPassed
from arena_ladder.ledger import Ledger
from arena_ladder.matchmaking import standings
from arena_ladder.season import Entrant, begin_season
from arena_ladder.spec import LadderSpec, load_ladder
from arena_ladder.submissions import MAX_FINDINGS_CHARACTERS, MAX_REASON_CHARACTERS, UNREADABLE, Known
from tests.conftest import arena_in
from tests.eventually import eventually
from tests.ladder.hosting import SPEC, HostedLadder, agent

PLAYS = "return game.actions(state)[0]"
ANSWERS = """
import fcntl, json, os, stat, sys

DESCRIPTION = {
    "type": "description", "games": [], "heuristics": [], "known": [],
    "agents": [{"name": "mine", "needs": [], "wants_heuristic": False, "chooses": True, "solves": False, "options": {}}],
}
FIRST = DESCRIPTION
KNOWN = {
    "hello": {"type": "hello", "protocol": 2, "name": "mine", "can": ["choose", "solve", "describe", "check"]},
    "describe": DESCRIPTION,
    "options": {"type": "checked", "values": {}, "faults": [], "optimal": None},
    "decide": {"type": "decided", "fault": None},
    "check": {"type": "checked", "verdicts": [{"check": "plays", "promise": "passed", "reached": True, "found": None}]},
    "start": {"type": "ready"},
    "prepare": {"type": "prepared"},
    "choose": {"type": "action", "action": "99"},
}

def answer_all():
    pipes = {}
    for number in range(3, 64):
        try:
            if stat.S_ISFIFO(os.fstat(number).st_mode):
                pipes.setdefault(fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE, number)
        except OSError:
            pass
    requests, replies = os.fdopen(pipes[os.O_RDONLY]), os.fdopen(pipes[os.O_WRONLY], "w")

    def say(what):
        replies.write((what if isinstance(what, str) else json.dumps(what)) + "\\n")
        replies.flush()

    say(FIRST)
    for line in requests:
        say(KNOWN.get(json.loads(line)["type"], {"type": "passed"}))
    os._exit(0)

main = sys.modules["__main__"].__spec__.name
"""
LIES = {
    "plays illegal moves": "FIRST = KNOWN['start' if main.endswith('agent_host') else 'describe']\nanswer_all()\n",
    "does not exist": "if not main.endswith('agent_host'): answer_all()\n",
    "says passed to everything": "FIRST = {'type': 'passed', 'name': 'mine', 'findings': []}\nanswer_all()\n",
}
CLAIMS = {
    "16 MB": "DESCRIPTION['agents'][0]['options'] = {'x': {'default': 'x' * (16 << 20)}}",
    "many": "DESCRIPTION['heuristics'] = [['tic-tac-toe', 'h%d' % number] for number in range(20_000)]",
    "long name": "DESCRIPTION['agents'][0]['name'] = 'x' * 500_000",
}
KEPT_BYTES = 10_000
"""Bytes of all that a ladder keeps of what a plugin says of itself."""


class Bench:
    """The parts of a ladder that check what is handed in."""

    def __init__(self, folder: Path, isolation: str = "process") -> None:
        (folder / "course.yaml").write_text(SPEC.replace("isolation: process", f"isolation: {isolation}"))
        self.ladder: LadderSpec = load_ladder(folder / "course.yaml")
        self.store = Store.open(folder / "a.db", write=True)
        self.ledger = Ledger(folder / "a.db")
        self.code = CodeFolder(self.ledger, 1 << 20)

    def examine(self, content: bytes) -> Any:
        """Check a file as the ladder does."""
        self.ledger.expect("ada")
        one = self.ledger.submit("ada", None, "python", "mine.py", content, 100)
        return examine(self.ladder, self.code, one)

    def accept(self, content: bytes) -> str:
        """Let a file play without a check; return the id."""
        self.ledger.expect("ada")
        key = self.ledger.submit("ada", "mine", "python", "mine.py", content, 100).id
        assert self.ledger.next_to_check() is not None
        self.ledger.accept(key, "mine", "mine", (), 2, Known("0" * 32, {"agents": []}))
        return key


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Callable[..., Bench]]:
    made: list[Bench] = []

    def make(isolation: str = "process") -> Bench:
        made.append(Bench(tmp_path, isolation))
        return made[-1]

    yield make
    for one in made:
        one.ledger.close()
        one.store.close()


@pytest.mark.promise(hole="judge", isolation=("process", "sandbox"))
@pytest.mark.parametrize("isolation", ["process", "sandbox"])
@pytest.mark.parametrize("lie", LIES)
def test_a_submission_that_writes_its_own_verdict_is_refused(lie: str, isolation: str, bench: Callable[..., Bench]) -> None:
    """The submission writes to the pipes of its process when it is imported."""
    with pytest.raises(NotPassed):
        bench(isolation).examine(ANSWERS.encode() + LIES[lie].encode())


@pytest.mark.promise(hole="judge", isolation=("process", "sandbox"))
@pytest.mark.parametrize("claim", CLAIMS)
def test_the_length_of_what_submissions_report_is_limited(claim: str, bench: Callable[..., Bench]) -> None:
    lying = f"if not main.endswith('agent_host'):\n    {CLAIMS[claim]}\n    answer_all()\n"
    kept, reason = None, ""
    try:
        kept = bench().examine(ANSWERS.encode() + lying.encode() + agent(PLAYS)).claims
    except NotPassed as error:
        reason = str(error)
    assert len(reason.encode()) <= MAX_REASON_CHARACTERS
    assert len(json.dumps(kept, allow_nan=False)) < KEPT_BYTES


@pytest.mark.promise(hole="judge", isolation=("process", "sandbox"))
def test_submitted_files_are_parsed_only_in_a_separate_process(bench: Callable[..., Bench]) -> None:
    """A deeply nested expression would end the process that parses it."""
    one = bench()
    passed = one.examine(agent(PLAYS))
    file = next(one.code.path.glob("*/agent_*.py"))
    handed = one.ledger.submissions()[0]
    assert one.ledger.next_to_check() is not None
    one.ledger.accept(handed.id, "mine", passed.agent, passed.findings, 2, Known(passed.code, passed.claims))
    (playing,) = one.ledger.in_play()
    season = begin_season(one.ladder, one.store, [one.code.entrant(playing, one.ladder.spec)])
    assert "ada/mine@1" in season.labels(0)
    assert not [known for known in list_parsed() if known.is_relative_to(file.parents[1])]


def test_a_file_that_breaks_the_parser_ends_only_its_own_check(bench: Callable[..., Bench]) -> None:
    with pytest.raises(NotPassed) as raised:
        bench().examine(agent(PLAYS) + b"x = " + b"(" * 190 + b"-" * 500_000 + b"1" + b")" * 190 + b"\n")
    assert len(str(raised.value)) <= MAX_REASON_CHARACTERS


BAD_ROWS = {
    "deep": "[" * 900 + "]" * 900,
    "deep in a verdict": json.dumps([{"game": "tic-tac-toe", "found": "?"}]).replace('"?"', "[" * 5000 + "]" * 5000),
    "long": json.dumps([{"game": "x" * (16 << 20), "check": "", "promise": "", "kept": True, "reached": True, "found": None}]),
    "no JSON": "{",
}


@pytest.mark.unit
@pytest.mark.promise(hole="judge", isolation=("process", "sandbox"))
@pytest.mark.parametrize("row", BAD_ROWS)
def test_invalid_rows_of_an_old_store_do_not_prevent_the_start_of_a_ladder(row: str, bench: Callable[..., Bench]) -> None:
    one = bench()
    key = one.accept(agent(PLAYS))
    with closing(sqlite3.connect(one.ledger.path)) as store:
        store.execute("UPDATE ladder_submission SET findings = ? WHERE id = ?", (BAD_ROWS[row], key))
        store.commit()
    one.ledger.requeue()
    found = one.ledger.submission(key)
    assert (found.status, found.reason, found.findings) == ("suspended", UNREADABLE, ())
    assert begin_season(one.ladder, one.store, []).known == set()


@pytest.mark.unit
@pytest.mark.promise(hole="judge", isolation=("process", "sandbox"))
def test_the_size_of_verdicts_is_limited(bench: Callable[..., Bench]) -> None:
    ledger = bench().ledger
    ledger.expect("ada")
    key = ledger.submit("ada", "mine", "python", "mine.py", b"x", 100).id
    assert ledger.next_to_check() is not None
    finding = {"game": "x", "check": "plays", "promise": "p" * 4000, "kept": False, "reached": True, "found": "\ud800" * 4000}
    ledger.refuse(key, "\ud800" * (1 << 20), [finding] * 100)
    with closing(sqlite3.connect(ledger.path)) as store:
        sizes = store.execute("SELECT length(reason), length(findings) FROM ladder_submission").fetchone()
    assert sizes[0] <= MAX_REASON_CHARACTERS
    assert sizes[1] <= MAX_FINDINGS_CHARACTERS


HANGS = """
import os, sys, time
if not sys.modules["__main__"].__spec__.name.endswith("agent_host"):
    if os.path.exists({mark!r}):
        time.sleep(100)
    open({mark!r}, "w").close()
"""


@pytest.mark.promise(hole="judge", isolation=("process", "sandbox"))
def test_a_process_that_never_answers_does_not_delay_a_season(tmp_path: Path) -> None:
    """The process answers during its check, and hangs later."""
    with HostedLadder(tmp_path, SPEC.replace("interval: 200", "interval: 1")) as ladder:
        ada, bob = ladder.tokens("ada", "bob")
        slow = HANGS.format(mark=str(tmp_path / "mark")).encode() + agent(PLAYS)
        assert ladder.verdict(ada, ladder.submit(ada, slow).body["id"])["status"] == "playing"
        assert ladder.verdict(bob, ladder.submit(bob, agent()).body["id"])["status"] == "playing"
        eventually(lambda: {row["agent"] for row in ladder.rows() if row["games"]} >= {"ada/mine@1", "bob/mine@1"}, ladder.rows)


HANGS_IN_START = """#!/usr/bin/env python3
import json, sys, time
for line in sys.stdin:
    if json.loads(line)["type"] != "hello":
        time.sleep(1000)
    print(json.dumps({"type": "hello", "protocol": 2, "can": ["choose"]}), flush=True)
"""
HANGS_WHEN_MADE = agent(PLAYS).replace(b"    def choose", b"    def __init__(self):\n        time.sleep(1000)\n\n    def choose")


@pytest.mark.promise(hole="judge", isolation=("process", "sandbox"))
def test_an_agent_that_hangs_at_its_start_is_refused_while_its_author_waits(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_bytes(HANGS_WHEN_MADE)
    (tmp_path / "mine").write_text(HANGS_IN_START)
    with HostedLadder(tmp_path, f"{SPEC}limits: {{start_seconds: 1}}\n") as ladder:
        for token, file in zip(ladder.tokens("ada", "bob"), ("mine", "mine.py"), strict=True):
            done = arena_in(tmp_path)("submit", file, "--to", ladder.url, "--wait", ARENA_TOKEN=token)
            assert done.returncode == 1, done.stderr
            reason = "tic-tac-toe: its first move: timeout: its start took longer than its limit of 1 s"
            assert done.stdout.splitlines()[1:] == [f"{file}: refused: {reason}"]


LADDERS = {
    "no JSON": "<html>",
    "deep": '{"id": ' + "[" * 100_000,
    "a list": "[]",
    "no status": '{"id": "\\u001b[2J"}',
    "odd": json.dumps({"id": "x", "status": [[]], "agent": {}, "reason": "\x1b[2J", "findings": [5, {"found": "\x1b[2J\ud800"}]}),
    "without an end": '{"id": "' + "x" * (2 << 20),
}


@pytest.mark.promise(hole="text", isolation="any")
@pytest.mark.parametrize("says", LADDERS)
def test_answers_of_a_ladder_cannot_control_the_terminal(says: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_bytes(agent(PLAYS))
    body = LADDERS[says].encode()

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.do_GET()

        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            with suppress(OSError):
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        done = arena_in(tmp_path)("submit", "mine.py", "--to", url, "--wait", ARENA_TOKEN="x")
        server.shutdown()
    assert done.returncode == (1 if says in ("odd", "no status") else 2), done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.promise(hole="judge", isolation=("process", "sandbox"))
def test_a_damaged_submission_is_suspended(tmp_path: Path) -> None:
    with HostedLadder(tmp_path, SPEC.replace("interval: 200", "interval: 1")) as ladder:
        ada, bob = ladder.tokens("ada", "bob")
        key = ladder.submit(ada, agent(PLAYS)).body["id"]
        for author, one in ((ada, key), (bob, ladder.submit(bob, agent()).body["id"])):
            assert ladder.verdict(author, one)["status"] == "playing"
        ladder.end()
        with closing(sqlite3.connect(tmp_path / "results" / "course.db")) as store:
            deep = '{"type":"known","code":"0","claims":' + "[" * 900 + "]" * 900 + "}"
            store.execute("UPDATE ladder_description SET answers = ? WHERE key = ?", (deep, key))
            store.commit()
        ladder.again()
        eventually(lambda: ladder.ask("/health").body["matches"])
        found = ladder.ask(f"/api/submissions/{key}", ada).body
        assert (found["status"], found["reason"]) == ("suspended", f"it can no longer be loaded: {UNREADABLE}")
        assert {row["agent"] for row in ladder.rows()} == {"random", "greedy", "bob/mine@1"}


@pytest.mark.unit
def test_a_withdrawn_agent_starts_no_match(bench: Callable[..., Bench]) -> None:
    one = bench()
    key = one.accept(agent(PLAYS))
    season = begin_season(one.ladder, one.store, [Entrant({"agent": "random", "label": "ada/mine@1", "isolation": "none"})])
    plans = SeasonPlans(
        season, one.ledger, lambda **_: True, lambda: [standings(season, 0, 1.0, "random")], frozenset({"ada/mine@1"})
    )

    def names(size: int) -> set[str]:
        return {season.labels(0)[entry] for match in plans.take(size) for entry in match.pairing.seats}

    assert "ada/mine@1" in names(10) | names(1)
    assert one.ledger.withdraw(key, "ada")
    while plans.waiting():
        assert "ada/mine@1" not in names(1)


@pytest.mark.load
def test_a_check_does_not_count_time_without_a_processor(tmp_path: Path, load: None) -> None:
    """With a quarter of a core, a program takes seconds to start. Only the time in which it ran or slept counts."""
    hello = json.dumps({"type": "hello", "protocol": VERSION, "can": ["choose"]})
    script = f"for _ in range(4 * 10**7): pass\ninput()\nprint({hello!r}, flush=True)\ninput()"
    bounds = CheckBounds(memory_mb=1024)
    began = time.monotonic()
    bounds.start(Program("late", {}, None, (), str(tmp_path), (sys.executable, "-c", script)), None, "process").end()
    assert 0 < CHECK_SECONDS - bounds.seconds < (time.monotonic() - began) / 2
