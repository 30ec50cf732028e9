"""The store of a ladder answers queries at any time, even if it is large, and while other processes lock the file."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena.errors import StoreError
from arena.store import Store, database
from arena_ladder.host import LadderApp, LadderHost, refusal_of
from arena_ladder.ledger import Ledger
from tests.ladder.hostile.test_many_submissions import host as host
from tests.ladder.hostile.test_public_figures import ask


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Store.open(tmp_path / "a.db", write=True), closing(Ledger(tmp_path / "a.db")) as opened:
        yield opened


def test_frequent_queries_read_no_submitted_file(ledger: Ledger) -> None:
    """A column that is stored after a file can only be found by reading the whole file: a thousand files of 200 KB took a
    third of a second.

    So the query plan of each statement must use an index.
    """
    said: list[str] = []
    ledger.expect("ada")
    ledger._connection.set_trace_callback(said.append)
    key = ledger.submit("ada", "mine", "python", "mine.py", b"x", 10).id
    assert ledger.next_to_check() is not None
    assert ledger.next_to_check() is None
    ledger.accept(key, "mine", "mine", (), 2)
    assert [one.id for one in ledger.in_play()] == [key]
    assert ledger.submissions("ada") == ledger.submissions_on_page("ada", 0, 20) == ledger.in_play()
    assert ledger.count_submissions("ada") == 1
    assert {status: count for status, count in ledger.counts().items() if count} == {"playing": 1}
    ledger.suspend("ada/mine@1", "it lost")
    ledger.ban("ada", "admin")
    ledger.turn_away("over")
    ledger._connection.set_trace_callback(None)
    asked = [sql for sql in said if "ladder_submission" in sql and sql.startswith(("SELECT", "UPDATE"))]
    assert len(asked) > 10
    for sql in asked:
        plan = [row[-1] for row in ledger._connection.execute(f"EXPLAIN QUERY PLAN {sql}")]
        assert not [step for step in plan if step.startswith("SCAN ladder_submission") and "COVERING INDEX" not in step], sql


def test_submissions_of_an_author_are_checked_in_order(ledger: Ledger) -> None:
    """A later file becomes a later version. Submissions of other authors do not wait."""
    ledger.expect("ada")
    ledger.expect("bob")
    keys = [ledger.submit(author, "it", "python", "it.py", b"x", 10).id for author in ("ada", "ada", "bob")]

    def taken() -> str | None:
        one = ledger.next_to_check()
        return None if one is None else one.id

    assert [taken(), taken(), taken()] == [keys[0], keys[2], None]
    assert ledger.accept(keys[0], "it", "it", (), 2).version == 1
    assert taken() == keys[1]
    assert ledger.accept(keys[1], "it", "it", (), 2).version == 2


def test_a_locked_store_is_not_reported_as_a_missing_page(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer says that the submission was not stored, and has the status 503 instead of 404."""
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.01)
    with closing(Ledger(ledger.path)) as impatient, closing(sqlite3.connect(ledger.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError) as raised:
            impatient.submit("ada", "mine", "python", "mine.py", b"x", 10)
    refusal = refusal_of(raised.value)
    told = "the store of the ladder cannot be used right now; nothing was stored"
    assert (refusal.status, str(refusal), refusal.hint) == (503, told, "try again in a minute, or contact the host of the ladder")
    assert refusal_of(StoreError("a.db holds no match 0")).status == 404


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/ada/my course/results/a.db holds no match 0", "a.db holds no match 0"),
        ("paused: /srv/x/a.db: the disk is full; free some space", "paused: a.db: the disk is full; free some space"),
        ("OSError: [Errno 5] Input/output error: '/srv/x/a.db'", "OSError: [Errno 5] Input/output error: 'a.db'"),
        ("the cluster tls://10.0.0.1:8786 is away", "the cluster tls://10.0.0.1:8786 is away"),
        ("expected and/or, see results/a.db", "expected and/or, see results/a.db"),
    ],
)
def test_the_public_state_names_no_folder_of_the_host(
    host: LadderHost, monkeypatch: pytest.MonkeyPatch, text: str, shown: str
) -> None:
    def fail() -> None:
        raise StoreError(text)

    host.runner._tell(text)
    assert host.public.read().state == shown
    monkeypatch.setattr(host.runner, "play", fail)
    host._contest()
    assert host.public_state == shown
    assert str(host.trouble) == text, "the host reads all of it"


def test_no_page_shows_an_error_that_names_a_file_of_the_host(host: LadderHost, monkeypatch: pytest.MonkeyPatch) -> None:
    app, path = LadderApp(host), host.store.path

    async def answer(*_: object) -> dict[str, str]:
        return {"error": f"{path} holds no match 0"}

    monkeypatch.setattr(app._pages.processes, "ask", answer)
    for page, query in ((f"match/{'0' * 32}", ""), ("panels", f"place=match&id={'0' * 32}")):
        told = asyncio.run(ask(app.app(), f"/api/t/ladder/{page}", query, ""))
        assert told.startswith("404 ")
        assert "not found here" in told
        assert str(path.parent) not in told


def test_a_new_version_replaces_the_oldest_one(ledger: Ledger) -> None:
    """The ladder keeps two active versions per agent. Another agent of the same author is not affected."""
    ledger.expect("bob")
    keys = [
        ledger.submit("bob", name, "python", "it.py", f"{number}".encode(), 10).id
        for number, name in enumerate(["other"] + ["it"] * 3)
    ]
    for key in keys:
        one = ledger.next_to_check()
        assert one is not None
        assert one.id == key
        ledger.accept(key, one.name or "", "it", (), 2)
    found = [ledger.submission(key) for key in keys]
    assert [one.label for one in found] == ["bob/other@1", "bob/it@1", "bob/it@2", "bob/it@3"]
    assert [one.status for one in found] == ["playing", "withdrawn", "playing", "playing"]
    assert found[1].reason == "it was replaced by version 3"
