"""SQL in a store from a stranger is never run."""

import http.client
import json
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import arena
from arena.cli import cli
from arena.errors import Interrupted, StoreDamaged, StoreError
from arena.store import Store
from arena.store.database import MAX_CELL_BYTES, Connection, Database
from arena.store.recovery import recover
from arena_review.kept import COLUMNS, Kept, place_of
from tests.conftest import Arena
from tests.eventually import eventually
from tests.hostile.conftest import list_served

pytestmark = pytest.mark.promise(hole="foreign", isolation="any")

SPEC: dict[str, Any] = {"game": "tic-tac-toe", "rounds": 5, "seed": 3, "agents": ["random", "greedy"]}
ENDLESS = "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT"
COMMANDS = [("leaderboard",), ("export",), ("check",), ("matches",), ("compare",), ("replay",), ("run",)]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "cup.db"
    arena.run(SPEC, store=path)
    return path


def hide_table(path: Path, table: str) -> None:
    """Put an endless view in place of a table."""
    with closing(sqlite3.connect(path)) as connection, connection:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        connection.execute(f"ALTER TABLE {table} RENAME TO z")
        connection.execute(f"CREATE VIEW {table} AS {ENDLESS} {', '.join([f'n AS {one}' for one in columns])} FROM x")


@pytest.mark.parametrize("table", ["run", "record", "detail", "effort", "place"])
def test_a_view_in_place_of_a_table_is_refused(store: Path, arena: Arena, tmp_path: Path, table: str) -> None:
    """The matches can still be exported from the pages of the file."""
    hide_table(store, table)
    (tmp_path / "cup.yaml").write_text(json.dumps(SPEC))
    for words in COMMANDS:
        more = {"replay": ["cup.db", "00"], "run": ["cup.yaml", "--store", "cup.db"]}.get(words[0], ["cup.db"])
        done = arena(*words, *more)
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr
        assert f"cup.db is not a valid store: arena makes no view {table};" in done.stderr
    rest = arena("export", "--sound", "cup.db")
    assert (rest.returncode, len(rest.stdout.splitlines())) == (0, 10)


@pytest.mark.unit
@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM record; END",
        "ALTER TABLE place ADD COLUMN more AS (number + 1)",
        "ALTER TABLE place ADD COLUMN more INTEGER CHECK (more IS NULL)",
        "CREATE INDEX i ON place (abs(number))",
        "CREATE TABLE other (x)",
        "CREATE VIRTUAL TABLE other USING fts5(x)",
    ],
)
def test_sql_objects_other_than_those_of_arena_are_refused(store: Path, sql: str) -> None:
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute(sql)
    for write in (False, True):
        with pytest.raises(StoreError, match="is not a valid store") as refused:
            Store.open(store, write=write)
        assert not isinstance(refused.value, StoreDamaged)


@pytest.mark.unit
def test_a_store_without_its_index_is_reported_as_damaged(store: Path) -> None:
    """Its records can be recovered."""
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("DROP INDEX place_of_record")
    with pytest.raises(StoreDamaged, match=r"it has no index place_of_record; `arena check .*cup\.db'?` lists"):
        Store.open(store)


def test_a_server_with_a_refused_store_still_serves_the_other_stores(store: Path, tmp_path: Path) -> None:
    shutil.copy(store, tmp_path / "z.db")
    hide_table(tmp_path / "z.db", "run")
    assert list_served(tmp_path, signal.SIGINT) == ({"cup": "finished", "z": "failed"}, 0)


SPIN = """
import pathlib, sys
from arena.results.leaderboard import Leaderboard
def spin(*arguments):
    pathlib.Path("began").touch()
    while True:
        pass
Leaderboard.of_run = spin
from arena.cli import run_process
run_process()
"""


def test_a_server_can_be_stopped_while_a_leaderboard_would_take_forever(store: Path) -> None:
    """Other pages are answered in the meantime."""
    words = [sys.executable, "-c", SPIN, "serve", str(store), "--port", "0"]
    with subprocess.Popen(words, cwd=store.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        port = int(server.stdout.readline().strip().rstrip("/").rpartition(":")[2])
        with closing(socket.create_connection(("127.0.0.1", port), timeout=60)) as waiting:
            waiting.sendall(f"GET /api/t/cup HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            eventually((store.parent / "began").exists)
            with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
                connection.request("GET", "/t/cup")
                assert connection.getresponse().status == 200
            began = time.monotonic()
            server.send_signal(signal.SIGINT)
            try:
                assert server.wait(60) == 0
            finally:
                server.kill()
            assert time.monotonic() - began < 5
        assert "Traceback" not in server.stderr.read()


@pytest.mark.unit
def test_a_query_ends_at_its_limit_and_with_the_server(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The query multiplies large tables, which is slow."""
    slow = f"{ENDLESS} max(n) FROM x"
    with Store.open(store) as opened:
        monkeypatch.setattr(Database, "query_seconds", 0.1)
        with pytest.raises(StoreError, match="took too long"):
            list(opened.query(slow))
        monkeypatch.setattr(Database, "query_seconds", 600.0)
        monkeypatch.setattr(Connection, "stopping", True)
        with pytest.raises(StoreError, match="took too long"):
            list(opened.query(slow))
        monkeypatch.setattr(Connection, "stopping", False)
        previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        try:
            with pytest.raises((Interrupted, KeyboardInterrupt)):
                list(opened.query(slow))
        finally:
            signal.signal(signal.SIGALRM, previous)


@pytest.mark.unit
def test_reading_a_foreign_store_writes_nothing_and_limits_text(store: Path) -> None:
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("UPDATE detail SET message = zeroblob(?) WHERE record = 1", (MAX_CELL_BYTES + 1,))
    with Store.open(store) as opened:
        for name, value in (("trusted_schema", 0), ("query_only", 1), ("cell_size_check", 1)):
            assert list(opened.query(f"PRAGMA {name}")) == [(value,)]
        with pytest.raises(StoreError, match="cannot be written"):
            list(opened.query("DELETE FROM record"))
        with pytest.raises(StoreError, match="a row has more than 128 MiB"):
            opened.verify()
    assert recover(store).count == 9


REVIEWS = {
    "a view": [
        "ALTER TABLE decision RENAME TO z",
        f"CREATE VIEW decision AS {ENDLESS} {', '.join([f'n AS {one}' for one in COLUMNS.split(', ')])} FROM x",
    ],
    "a trigger": ["CREATE TRIGGER t AFTER INSERT ON answer BEGIN DELETE FROM decision; END"],
    "a table": ["CREATE TABLE other (x)"],
    "no number": ["INSERT INTO decision (match, number, loss, grade) VALUES ('00', 'x', 'y', 'z')"],
    "no JSON": ["INSERT INTO review VALUES ('effort', '[')", "INSERT INTO answer VALUES ('', '', 1, '', '{', 0)"],
}


@pytest.mark.unit
@pytest.mark.parametrize("change", REVIEWS)
def test_a_review_file_is_checked_like_its_store(store: Path, change: str) -> None:
    place = place_of(store)
    with Kept(place) as kept:
        kept.note("effort", 3)
    with Kept(place, write=False) as kept:
        assert (kept.noted("effort"), [*kept.decisions()]) == (3, [])
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute("DELETE FROM review")
        for sql in REVIEWS[change]:
            connection.execute(sql)

    def read(*, write: bool) -> None:
        with Kept(place, write=write) as kept:
            kept.noted("effort")
            list(kept.decisions())

    for write in (False, True):
        with pytest.raises(StoreError, match=r"delete it, and review again"):
            read(write=write)
    done = CliRunner().invoke(cli, ["compare", str(store), "--by", "loss"])
    assert change == "no JSON" or isinstance(done.exception, StoreError)


@pytest.mark.unit
def test_a_review_file_that_is_not_a_database_is_reported(store: Path) -> None:
    place_of(store).write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 16)
    for write in (False, True):
        with pytest.raises(StoreError, match="cannot be opened"):
            Kept(place_of(store), write=write)
