"""Damaged stores: each match is either read as it was written or named."""

import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.errors import StoreDamaged, StoreError
from arena.store import Store
from arena.store.recovery import HEADER_BYTES, Pages, describe_header, recover
from arena.store.schema import fit_schema

HEARTS: dict[str, Any] = {
    "game": "hearts",
    "rounds": 1,
    "seed": 3,
    "agents": ["random", *[{"agent": "random", "label": one} for one in "bcd"]],
}
LONG: dict[str, Any] = {
    "game": "hanoi",
    "rounds": 1,
    "seed": 3,
    "agents": [{"agent": "random", "label": letter * 90} for letter in "abcdefghijkl"],
}
NOUGHTS: dict[str, Any] = {"game": "tic-tac-toe", "rounds": 5, "seed": 3, "agents": ["random", "greedy"]}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of eight pages."""
    path = tmp_path_factory.mktemp("small") / "cup.db"
    arena.run(NOUGHTS, store=path)
    return path


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with inner pages, rows that continue on further pages, four seats and free pages."""
    path = tmp_path_factory.mktemp("large") / "cup.db"
    arena.run({**NOUGHTS, "rounds": 60}, store=path)
    arena.run(HEARTS, store=path)
    arena.run(LONG, store=path)
    arena.run({**NOUGHTS, "rounds": 40, "agents": ["random", {"agent": "random", "label": "b"}]}, store=path)
    with Store.open(path, write=True) as store:
        store.forget(["greedy"], (), ())
    return path


def read_all(store: Store) -> dict[str, Any]:
    return {record.id: record for record, _ in store.records()}


def flip_bytes(path: Path, copy: Path, places: range | list[int], mask: int) -> Iterator[int]:
    """Write a copy of a file for each place, with this byte changed."""
    data = path.read_bytes()
    for place in places:
        changed = bytearray(data)
        changed[place] ^= mask
        copy.write_bytes(changed)
        yield place


def check_copy(copy: Path, whole: dict[str, Any], place: int) -> int:
    """Check that each match of a damaged store is read as it was written, or named. Return the number of named matches."""
    with Store.open_sound(copy, foreign=True) as store:
        found = read_all(store)
        named = {name.removeprefix("match ") for name in store.lost_matches}
    assert found.items() <= whole.items(), place
    assert whole.keys() == found.keys() | named & whole.keys(), place
    refusal = None
    try:
        with Store.open(copy) as store, store.snapshot():
            assert read_all(store) == whole, place
    except StoreError as error:
        refusal = error
    if lost := whole.keys() - found.keys():
        assert any(key in str(refusal) for key in lost), place
    assert isinstance(refusal, StoreDamaged | None), place
    return len(whole) - len(found)


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_no_changed_byte_hides_a_match(small: Path, tmp_path: Path, mask: int) -> None:
    """The test changes the headers and a sample of the other bytes. `test_damage.py` changes all bytes."""
    with Store.open(small) as store:
        whole = read_all(store)
    rest = random.Random(mask).sample(range(100, small.stat().st_size), 40)
    places = [*range(0, 100, 3), *range(100, 108), *rest]
    assert {check_copy(tmp_path / "copy.db", whole, one) for one in flip_bytes(small, tmp_path / "copy.db", places, mask)} <= {
        0,
        1,
    }


def test_recovered_rows_equal_the_rows_that_sqlite_reads(large: Path) -> None:
    found: dict[str, list[Any]] = {}
    for table, number, values in Pages(large.read_bytes(), b"", 4096, 0).rows():
        ordinary = table in ("run", "record", "detail", "place")
        found.setdefault(table, []).append((number, *values[1:]) if ordinary else tuple(values))
    index = found.pop("index")
    with closing(sqlite3.connect(large)) as connection:
        for table, rows in found.items():
            assert sorted(rows, key=repr) == sorted(connection.execute(f"SELECT * FROM {table}"), key=repr)
        pairs = "SELECT id, number FROM record UNION ALL SELECT record, number FROM place"
        assert sorted(index, key=repr) == sorted(connection.execute(pairs), key=repr)
        pages = [row[0] for row in connection.execute("SELECT pagetype FROM dbstat")]
        assert {"internal", "leaf", "overflow"} <= set(pages)
        assert connection.execute("PRAGMA freelist_count").fetchone()[0] > 0
    assert found.keys() == {"run", "record", "detail", "place", "effort"}


@pytest.mark.parametrize("seed", range(6))
def test_only_the_matches_in_a_lost_page_are_lost(large: Path, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    copy, data = tmp_path / "copy.db", bytearray(large.read_bytes())
    with closing(sqlite3.connect(large)) as connection:
        rows = "SELECT lower(hex(id)), digest, decisions FROM record JOIN detail ON detail.record = record.number"
        places = {key: (data.find(one), data.find(other.encode())) for key, one, other in connection.execute(rows)}
    page = rng.randrange(2, len(data) // 4096)
    untouched = {key for key, found in places.items() if -1 not in found and page not in [at // 4096 for at in found]}
    data[page * 4096 : page * 4096 + 4096] = rng.randbytes(4096)
    copy.write_bytes(data)
    with Store.open(large) as store:
        whole = read_all(store)
    with Store.open_sound(copy) as store:
        ours, lost = read_all(store), store.lost_matches
    assert len(untouched) > 70
    assert untouched <= ours.keys()
    assert ours.items() <= whole.items()
    assert len(whole) - len(ours) <= len(lost)


def test_matches_in_the_write_ahead_log_are_recovered(tmp_path: Path) -> None:
    """After a kill, the newest pages are in the log."""
    path, copy = tmp_path / "cup.db", tmp_path / "copy.db"
    arena.run(NOUGHTS, store=path)
    with Store.open(path) as store:
        whole = read_all(store)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        kept = connection.execute("SELECT * FROM place WHERE number = 3").fetchone()
        connection.execute("DELETE FROM place")
        connection.execute("INSERT INTO place VALUES (?, ?, ?, ?, ?, ?)", kept)
        shutil.copy(path, copy)
        shutil.copy(path.with_name("cup.db-wal"), tmp_path / "copy.db-wal")
    data = bytearray(copy.read_bytes())
    data[:16] = bytes(16)
    copy.write_bytes(data)
    with Store.open_sound(copy) as store:
        assert read_all(store) == whole
        assert [place.number for _, place in store.records() if place is not None] == [3]


def test_wrong_counts_are_recomputed(small: Path, tmp_path: Path) -> None:
    copy = shutil.copy(small, tmp_path / "copy.db")
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute("UPDATE record SET nodes_0 = nodes_0 + 1 WHERE number = 2")
    found = recover(Path(copy))
    assert (found.count, found.matches, len(found.parts)) == (10, [], 1)
    with closing(sqlite3.connect(small)) as connection:
        there = connection.execute("SELECT * FROM record").fetchall()
    assert found.connection.execute("SELECT * FROM record").fetchall() == there


@pytest.mark.parametrize("statement", ["UPDATE detail SET record = 5000", "UPDATE record SET number = 5000"])
@pytest.mark.parametrize("number", [1, 6, 10])
def test_a_match_with_a_damaged_number_is_recovered_as_one_match(
    small: Path, tmp_path: Path, statement: str, number: int
) -> None:
    """The number differs between the two rows of the match."""
    copy = shutil.copy(small, tmp_path / "copy.db")
    with closing(sqlite3.connect(copy)) as connection, connection:
        (key,) = connection.execute("SELECT hex(id) FROM record WHERE number = ?", [number]).fetchone()
        connection.execute(f"{statement} WHERE {statement.split()[-3]} = ?", [number])
    with Store.open(small) as store:
        whole = {record.id: place for record, place in store.records()}
    with Store.open_sound(copy) as store:
        assert {record.id: place for record, place in store.records()} == whole
        assert (store.lost_matches, store.lost_parts) == ([], [f"the row of match {key.lower()}"])


EFFORT = [
    "UPDATE effort SET nodes = nodes + 1 WHERE seat = 2",
    "UPDATE effort SET nanoseconds = nanoseconds + 1 WHERE seat = 3",
    "DELETE FROM effort WHERE seat = 2",
    "UPDATE record SET play = play + 1",
    "UPDATE record SET decisions_1 = decisions_1 + 1",
]


@pytest.mark.parametrize("statement", EFFORT)
def test_wrong_counts_of_a_seat_are_reported_as_damage(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "cup.db"
    arena.run(HEARTS, store=path)
    with Store.open(path) as store:
        whole = read_all(store)
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute(statement).rowcount > 0
    with Store.open(path) as store, pytest.raises(StoreDamaged):
        store.verify()
    with Store.open_sound(path) as store:
        assert read_all(store) == whole
        assert store.lost_matches == []
        assert store.lost_parts[0].startswith(("the counts of match ", "the row of match "))


@pytest.mark.parametrize("column", ["started", "ended"])
def test_a_damaged_time_of_a_run_does_not_hide_matches(small: Path, tmp_path: Path, column: str) -> None:
    """The digest of a run does not cover its times."""
    data = small.read_bytes()
    with closing(sqlite3.connect(small)) as connection:
        started, ended = [text.encode() for text in connection.execute("SELECT started, ended FROM run").fetchone()]
    place = data.index(started)
    if column == "ended":  # after the start of the run in the same row; often the same second
        place = data.index(ended, place + 1)
    copy = tmp_path / "copy.db"
    copy.write_bytes(data[:place] + b"\xcd" + data[place + 1 :])
    with Store.open_sound(copy) as store:
        assert (len(read_all(store)), store.lost_matches, len(store.lost_parts)) == (10, [], 1)
        assert store.lost_parts[0].startswith("the run of ")
        assert store.lost_parts[0].isprintable()


TEXT = "CREATE TABLE place (number INTEGER PRIMARY KEY, record, board, round, seats, checksum)"
SCHEMAS = {
    "arena makes no view z": ("view", "z", "z", "CREATE VIEW z AS SELECT 1"),
    "arena makes no trigger z": ("trigger", "z", "run", "CREATE TRIGGER z AFTER INSERT ON run BEGIN SELECT 1; END"),
    "its table place differs from the one that arena makes": ("table", "place", "place", TEXT),
}


@pytest.mark.parametrize("words", SCHEMAS)
def test_a_changed_schema_is_reported_as_damage(small: Path, words: str) -> None:
    """Only declared commands of extensions may add tables."""
    with closing(sqlite3.connect(small)) as connection:
        objects = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
    assert fit_schema(objects) == ("", False)
    other = SCHEMAS[words]
    assert fit_schema([*[one for one in objects if one[1] != other[1]], other]) == (words, False)
    changed = [(kind, name, table, sql and sql.replace("board INTEGER", "boarD INTEGER")) for kind, name, table, sql in objects]
    assert fit_schema(changed) == ("its table place differs from the one that arena makes", True)
    assert [fit_schema(objects[first:])[1] for first in (1, 2, 6, len(objects))] == [True, False, False, False]


def test_a_wrong_header_is_reported(small: Path) -> None:
    """By SQLite's file format, the offsets are: page size 16, number of pages 28, version 60, application 68."""
    data = small.read_bytes()
    header, size = data[:HEADER_BYTES], len(data)
    assert describe_header(header, size) == describe_header(header, None) == []
    for offset in (0, 15, 17, 68, 71):
        changed = bytearray(header)
        changed[offset] ^= 0xFF
        assert describe_header(bytes(changed), size) == ["the header of the file"], offset
    assert describe_header(header[:-1], size) == ["the file, which has only 99 bytes left"]
    (found,) = describe_header(header[:63] + b"\x63" + header[64:], size)
    assert "the version in its header (99;" in found
    (found,) = describe_header(header, size + 1)
    assert f"({size + 1:,} bytes; its header says {size:,})" in found
