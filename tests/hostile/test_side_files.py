"""Files beside a store from a stranger, which SQLite and arena open by their names.

Each attack is first tried with SQLite alone, or with Python's own functions, to see that it would succeed.
"""

import json
import os
import shutil
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.api.run import transcript_file
from arena.errors import StoreError
from arena.store import Store
from arena.store.database import put_aside
from arena.store.recovery import recover
from arena_records.merger import merge_stores
from arena_records.transcripts import read_lines
from arena_review.kept import Kept, place_of
from tests.bridges.llm.stub import first, serving
from tests.conftest import Arena
from tests.hostile.conftest import list_served

pytestmark = pytest.mark.promise(hole="beside", isolation="any")

SPEC: dict[str, Any] = {"game": "tic-tac-toe", "rounds": 5, "seed": 3, "agents": ["random", "greedy"]}
PAGE_BYTES = 4096
NONCE, SECTOR_BYTES = 12345, 512
MAGIC = bytes.fromhex("d9d505f920a163d7")
Plant = Callable[[Path, Path], None]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "cup.db"
    arena.run(SPEC, store=path)
    return path


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file of the user that has nothing to do with the store."""
    path = tmp_path / "thesis.txt"
    path.write_text("my thesis")
    return path


def make_journal(database: Path, pages: int, named: Path | None = None) -> None:
    """Write a rollback journal as section 3 of https://sqlite.org/fileformat2.html describes it: with page 1 as it is now, so
    that it restores nothing, and with the name of a super-journal.
    """
    page = database.read_bytes()[:PAGE_BYTES]
    head = MAGIC + b"".join([number.to_bytes(4) for number in (1, NONCE, pages, SECTOR_BYTES, PAGE_BYTES)])
    total = (NONCE + sum(page[PAGE_BYTES - 200 : 0 : -200])) % (1 << 32)
    parts = [head.ljust(SECTOR_BYTES, b"\0"), (1).to_bytes(4), page, total.to_bytes(4)]
    if named is not None:
        name = os.fsencode(named)
        parts += [((1 << 30) // PAGE_BYTES + 1).to_bytes(4), name, len(name).to_bytes(4), sum(name).to_bytes(4), MAGIC]
    database.with_name(f"{database.name}-journal").write_bytes(b"".join(parts))


def count_matches(place: Path) -> int:
    with Store.open(place) as opened:
        return len(opened)


def count_with_sqlite(place: Path) -> int:
    with closing(sqlite3.connect(place)) as connection:
        return int(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])


def open_in_each_way(store: Path) -> list[Callable[[], object]]:
    """Return functions that open a store: for reading, writing, moving it away and merging."""
    return [
        lambda: Store.open(store),
        lambda: Store.open(store, write=True),
        lambda: put_aside(store),
        lambda: merge_stores(store.with_name("merged.db"), [store]),
        lambda: merge_stores(store, [store]),
    ]


@pytest.mark.unit
def test_a_journal_cannot_delete_files_of_the_user(store: Path, victim: Path) -> None:
    """SQLite deletes the file that a hot journal names as its super-journal."""
    copy = store.with_name("copy.db")
    shutil.copy(store, copy)
    for database in (copy, store):
        make_journal(database, store.stat().st_size // PAGE_BYTES, victim)
    assert count_with_sqlite(copy) > 0
    assert not victim.exists(), "the attack works with SQLite alone"
    victim.write_text("my thesis")
    for attempt in open_in_each_way(store):
        with pytest.raises(StoreError, match=r"cup\.db-journal names another file, which SQLite would delete"):
            attempt()
        assert victim.read_text() == "my thesis"
    with Store.open_sound(store, foreign=True) as opened:
        assert len(opened) == 10, "the matches themselves can still be read"


@pytest.mark.unit
def test_the_journal_of_a_review_cannot_delete_files_of_the_user(store: Path, victim: Path) -> None:
    review = place_of(store)
    with closing(sqlite3.connect(review)) as connection, connection:
        connection.execute("CREATE TABLE other (x)")
    make_journal(review, 2, victim)
    for write in (False, True):
        with pytest.raises(StoreError, match=r"cup\.review-journal names another file"):
            Kept(review, write=write)
    assert victim.read_text() == "my thesis"


@pytest.mark.unit
def test_a_journal_cannot_enlarge_a_store(store: Path) -> None:
    """SQLite extends the database to the number of pages in the journal's header."""
    copy, pages = store.with_name("copy.db"), 1 << 14
    shutil.copy(store, copy)
    for database in (copy, store):
        make_journal(database, pages)
    count_with_sqlite(copy)
    assert copy.stat().st_size == pages * PAGE_BYTES, "the attack works with SQLite alone"
    size = store.stat().st_size
    for attempt in open_in_each_way(store):
        with pytest.raises(StoreError, match="larger than both"):
            attempt()
    assert store.stat().st_size == size


def plant_link(place: Path, victim: Path) -> None:
    place.symlink_to(victim)


def plant_second_name(place: Path, victim: Path) -> None:
    place.hardlink_to(victim)


def plant_pipe(place: Path, victim: Path) -> None:
    os.mkfifo(place)


def plant_endless_file(place: Path, victim: Path) -> None:
    place.symlink_to("/dev/zero")


def plant_loop(place: Path, victim: Path) -> None:
    place.symlink_to(place.name)


def plant_folder(place: Path, victim: Path) -> None:
    place.mkdir()


PLANTS: dict[str, tuple[Plant, str]] = {
    "link": (plant_link, "is a symbolic link"),
    "second name": (plant_second_name, "several names"),
    "pipe": (plant_pipe, "is a named pipe"),
    "endless": (plant_endless_file, "is a symbolic link"),
    "loop": (plant_loop, "is a symbolic link"),
    "folder": (plant_folder, "is a folder"),
}


@pytest.mark.unit
@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal", ".lock"])
@pytest.mark.parametrize("kind", PLANTS)
def test_a_side_file_of_a_store_must_be_regular(store: Path, victim: Path, kind: str, ending: str) -> None:
    """SQLite would wait forever for a pipe."""
    plant, words = PLANTS[kind]
    plant(store.with_name(f"cup.db{ending}"), victim)
    if ending == ".lock":
        assert not Store.is_held(store)
        assert count_matches(store) == 10, "who only reads needs no lock"
    reads, writes, moves, merges, replaces = open_in_each_way(store)
    for attempt in (writes, moves, replaces) if ending == ".lock" else (reads, writes, moves, merges, replaces):
        with pytest.raises(StoreError, match=rf"cup\.db{ending} .*{words}"):
            attempt()
        assert victim.read_text() == "my thesis"


@pytest.mark.unit
@pytest.mark.parametrize("kind", PLANTS)
def test_a_review_beside_a_store_must_be_a_regular_file(store: Path, victim: Path, kind: str) -> None:
    plant, words = PLANTS[kind]
    victim.write_text("")
    plant(place_of(store), victim)
    for write in (False, True):
        with pytest.raises(StoreError, match=words):
            Kept(place_of(store), write=write)
    assert victim.read_text() == ""


@pytest.mark.unit
@pytest.mark.parametrize("kind", ["pipe", "endless", "folder"])
def test_a_store_must_be_a_regular_file(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "cup.db"
    PLANTS[kind][0](place, place)
    for attempt in open_in_each_way(place):
        with pytest.raises(StoreError, match=r"expected a file"):
            attempt()


@pytest.mark.unit
@pytest.mark.parametrize("kind", PLANTS)
def test_a_temporary_file_beside_a_store_is_created_again(store: Path, victim: Path, kind: str) -> None:
    """Links are not followed."""
    merged = store.with_name("merged.db")
    for part in ("merged.db.part", ".cup.1.db.part"):
        for ending in ("", "-wal", "-shm", "-journal"):
            if kind != "folder":
                PLANTS[kind][0](store.with_name(part + ending), victim)
    assert merge_stores(merged, [store]) == count_matches(merged) == 10
    with Store.open(store, write=True) as opened:
        assert count_matches(opened.copy_aside()) == 10
    assert victim.read_text() == "my thesis"
    assert not list(store.parent.glob("*.part*"))


@pytest.mark.unit
def test_a_copy_does_not_use_a_name_with_a_journal(store: Path, victim: Path) -> None:
    """The journal would change a store that is moved to this name."""
    store.with_name("cup.1.db-journal").symlink_to(victim)
    aside = put_aside(store)
    assert aside is not None
    assert (aside.name, count_matches(aside)) == ("cup.2.db", 10)


def damage(place: Path) -> None:
    data = bytearray(place.read_bytes())
    data[:16] = bytes(16)
    place.write_bytes(data)


@pytest.mark.unit
def test_an_endless_log_is_not_read(store: Path) -> None:
    """The log is a sparse file of a terabyte, or a pipe."""
    damage(store)
    log = store.with_name("cup.db-wal")
    with log.open("wb") as file:
        file.truncate(1 << 40)
    found = recover(store)
    assert (found.count, found.complete) == (10, True)
    log.unlink()
    os.mkfifo(log)
    with pytest.raises(StoreError, match="is a named pipe"):
        recover(store)


@pytest.mark.unit
def test_a_large_page_number_in_a_log_is_handled_quickly(store: Path) -> None:
    """It is the last of four billion pages."""
    damage(store)
    frame = ((1 << 32) - 1).to_bytes(4) * 2 + bytes(16)
    store.with_name("cup.db-wal").write_bytes(bytes(32) + frame + bytes(PAGE_BYTES))
    found = recover(store)
    assert (found.count, found.complete) == (10, True)


@pytest.mark.unit
def test_the_journal_of_a_killed_run_repairs_its_store(store: Path) -> None:
    """Arena's journal names no other file. SQLite writes pages before a commit if its cache is full."""
    copy = store.with_name("copy.db")
    with closing(sqlite3.connect(store, isolation_level=None)) as connection:
        connection.executescript(
            "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN; DELETE FROM record; DELETE FROM detail"
        )
        connection.execute("CREATE TABLE filler AS SELECT zeroblob(100000)")
        shutil.copy(store, copy)
        shutil.copy(store.with_name("cup.db-journal"), store.with_name("copy.db-journal"))
    assert copy.read_bytes() != store.read_bytes()
    with Store.open(copy, write=True) as opened:
        assert (len(opened), opened.find_fault()) == (10, None)
    assert not copy.with_name("copy.db-journal").exists()


@pytest.mark.unit
@pytest.mark.parametrize("linked", [False, True])
def test_the_log_of_a_killed_run_contains_its_matches(store: Path, tmp_path: Path, linked: bool) -> None:
    """This holds behind a link, too, and if the store is damaged."""
    folder = tmp_path / "copy"
    folder.mkdir()
    with Store.open(store, write=True) as opened:
        opened.discard([3])
        for ending in ("", "-wal", "-shm", ".lock"):
            shutil.copy(store.with_name(f"cup.db{ending}"), folder / f"cup.db{ending}")
    place = folder / "cup.db"
    if linked:
        place = tmp_path / "link.db"
        place.symlink_to(folder / "cup.db")
        place.with_name("link.db-wal").symlink_to("/dev/zero")  # not a name that counts
    assert count_matches(place) == recover(place).count == 9
    with Store.open(place, write=True) as opened:
        assert len(opened) == 9
    assert [file.name for file in folder.iterdir()] == ["cup.db"]


@pytest.mark.unit
def test_the_lock_file_of_a_killed_run_is_reused(store: Path) -> None:
    lock = store.with_name("cup.db.lock")
    for text in ("123456789\n", "9" * 40, "", "no number"):
        lock.write_text(text)
        assert not Store.is_held(store)
        with Store.open(store, write=True):
            assert lock.read_text() == f"{os.getpid()}\n"
            assert Store.is_held(store)
        assert not lock.exists()


@pytest.mark.process
@pytest.mark.parametrize("kind", PLANTS)
def test_a_transcript_is_not_written_through_a_link(victim: Path, tmp_path: Path, kind: str) -> None:
    """A model could otherwise write a line into any file of the user."""
    place, (plant, words) = tmp_path / "cup.db", PLANTS[kind]
    with serving(first) as stub:
        spec = {**SPEC, "rounds": 1, "agents": [{"agent": "llm", "url": stub.url, "model": "m"}, "random"]}
        plant(transcript_file(place), victim)
        with pytest.raises(StoreError, match=words):
            arena.run(spec, store=place)
        assert (victim.read_text(), stub.requests) == ("my thesis", [])
        shutil.rmtree(transcript_file(place)) if kind == "folder" else transcript_file(place).unlink()
        arena.run(spec, store=place)
    assert transcript_file(place).read_text().count("\n") == 2


@pytest.mark.unit
def test_an_endless_transcript_is_not_read(store: Path) -> None:
    honest = {"match": "0" * 32, "labels": ["a", "b"], "exchanges": [{"seat": 0}]}
    with transcript_file(store).open("w") as file:
        file.write(json.dumps(honest) + "\n")
        file.flush()
        file.truncate(1 << 40)
    with Store.open(store) as opened:
        assert list(read_lines(opened, "")) == [honest]


@pytest.mark.process
def test_every_command_ends_if_a_side_file_is_a_pipe(store: Path, arena: Arena, tmp_path: Path) -> None:
    (tmp_path / "cup.yaml").write_text(json.dumps(SPEC))
    os.mkfifo(store.with_name("cup.db-journal"))
    for words in (
        *[(name, "cup.db") for name in ("leaderboard", "export", "check", "matches", "compare", "review")],
        ("run", "cup.yaml", "--store", "cup.db"),
        ("run", "cup.yaml", "--store", "cup.db", "--fresh"),
    ):
        done = arena(*words)
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), (words, done.stderr)
        assert "cup.db-journal is a named pipe" in done.stderr


@pytest.mark.process
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_a_server_shows_the_other_stores(store: Path, victim: Path, tmp_path: Path, end: signal.Signals) -> None:
    for name, ending, kind in (("a", "-journal", "pipe"), ("b", "-wal", "endless"), ("c", "-shm", "pipe")):
        shutil.copy(store, tmp_path / f"{name}.db")
        PLANTS[kind][0](tmp_path / f"{name}.db{ending}", victim)
    damage(tmp_path / "b.db")
    os.mkfifo(tmp_path / "cup.db.lock")
    os.mkfifo(tmp_path / "cup.review")
    states = {"a": "failed", "b": "failed", "c": "failed", "cup": "finished"}
    assert list_served(tmp_path, end) == (states, 0)


WILD: dict[str, dict[str, Any]] = {
    "messages that are a number": {"messages": 5},
    "messages that are a text": {"messages": "rules"},
    "messages of nothing": {"messages": [None, 5]},
    "surrogates": {"answer": "\ud800", "messages": [{"role": "user", "content": "\udfff"}], "\ud800": "\ud800"},
    "counts that are none": {"seat": {}, "decision": 10**400, "request": [], "tokens_in": float("nan"), "tokens_out": -1},
    "numbers that JSON lacks": {"cost": float("inf"), "other": [float("nan")]},
    "texts that are none": {"outcome": [], "answer": {}, "thoughts": 5, "fault": [1], "model": {"a": 1}, "truncated": "no"},
}


@pytest.mark.parametrize("name", WILD)
def test_a_foreign_transcript_does_not_break_commands(name: str, store: Path, arena: Arena, tmp_path: Path) -> None:
    """Each command that reads transcripts shows the honest exchange beside it."""
    with Store.open(store) as opened:
        match = next(iter(opened.records()))[0].id
    honest = {"seat": 0, "decision": 0, "messages": [{"role": "user", "content": "your move"}], "answer": "honest words"}
    line = {"match": match, "labels": ["random", "greedy"], "exchanges": [{"seat": 0, **WILD[name]}, honest]}
    transcript_file(store).write_text(json.dumps(line) + "\n")
    assert "honest words" in arena("replay", store, match, "--transcript").stdout
    done = arena("dataset", store, "-o", tmp_path / "data")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(row) for row in (tmp_path / "data" / "transcripts.jsonl").read_text().splitlines()]
    assert [row["answer"] for row in rows][1:] == ["honest words"]
    done = arena("report", store, "-o", tmp_path / "report.html")
    assert done.returncode == 0, done.stderr
