"""A process checks each version of a store once, however often it looks at the store, and none that only it has written."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest

import arena
from arena.clock import wall_time
from arena.errors import StoreDamaged
from arena.results.leaderboard import Leaderboard
from arena.spec import load_spec
from arena.store import Store, contents
from arena.store.rows import returns_of
from arena.store.run import Run, run_of_row
from arena_web.entry_page import entry_page
from arena_web.live import Watcher
from arena_web.match_filter import MatchFilter
from arena_web.matches import around, matches

SPEC: dict[str, Any] = {"game": "tic-tac-toe", "rounds": 3, "seed": 7, "agents": ["random", "greedy", "lookahead"]}
LATER_SECONDS = 60.0


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store that was written a minute ago."""
    path = tmp_path / "cup.db"
    arena.run(SPEC, store=path)
    now = wall_time()
    monkeypatch.setattr(contents, "wall_time", lambda: now + LATER_SECONDS)
    return path


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The paths of the stores that are checked, once for each check."""
    found: list[Path] = []
    check = contents.StoreContents.find_fault

    def noted(self: contents.StoreContents, *, details: bool = True) -> str | None:
        found.append(self.path)
        return check(self, details=details)

    monkeypatch.setattr(contents.StoreContents, "find_fault", noted)
    return found


def look(path: Path) -> None:
    """Open all kinds of views of a store."""
    (key, *_) = [one["id"] for one in matches(path, MatchFilter())["matches"]]
    around(path, key, MatchFilter())
    entry_page(path, "random")
    Leaderboard.load(path)


def noting(told: list[Any], function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that also notes its argument."""

    def call(argument: Any) -> Any:
        told.append(argument)
        return function(argument)

    return call


@contextmanager
def changed(path: Path) -> Iterator[sqlite3.Connection]:
    """Another program that changes a store. SQLite writes the file at the end of the block."""
    with closing(sqlite3.connect(path)) as connection, connection:
        yield connection


def test_each_version_of_a_file_is_checked_once(store: Path, checks: list[Path]) -> None:
    look(store)
    look(store)
    assert checks == [store]
    with changed(store) as connection:
        connection.execute("UPDATE run SET ended = '2026-01-02T03:04:05+00:00'")
    look(store)
    look(store)
    assert checks == [store] * 2


def test_lists_and_boards_are_checked_once_too(store: Path, checks: list[Path]) -> None:
    """They leave out the parts of matches that no board uses. A check of the whole store covers them, but not the reverse."""
    watcher = Watcher(store)
    for _ in range(3):
        assert watcher._brief()["state"] == watcher._read()["state"] == "finished"
    assert checks == [store]
    look(store)
    assert checks == [store] * 2
    with changed(store) as connection:
        connection.execute("UPDATE run SET ended = '2026-01-02T03:04:05+00:00'")
    look(store)
    watcher._brief()
    assert checks == [store] * 3


def test_damage_that_no_board_uses_hides_no_board(store: Path, checks: list[Path]) -> None:
    with changed(store) as connection:
        connection.execute("UPDATE detail SET actions = 'x' WHERE record = 1")
    watcher = Watcher(store)
    for _ in range(2):
        with pytest.raises(StoreDamaged):
            matches(store, MatchFilter())
        assert [watcher._brief()["state"], watcher._read()["state"]] == ["finished", "finished"]
    assert len(checks) == 2


def test_changes_in_the_write_ahead_log_make_a_new_version_of_the_file(store: Path, checks: list[Path]) -> None:
    with changed(store) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    with closing(sqlite3.connect(store)) as writer:
        for number in range(3):  # the file itself does not change, because the changes are only in the log
            with writer:
                writer.execute("UPDATE run SET ended = ?", (f"2026-01-02T03:04:0{number}+00:00",))
            look(store)
            look(store)
    assert checks == [store] * 3


def test_a_file_that_has_just_changed_is_checked_each_time(
    store: Path, checks: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another change could leave the time and the size of the file the same."""
    monkeypatch.setattr(contents, "wall_time", lambda: store.stat().st_mtime + 0.01)
    matches(store, MatchFilter())
    matches(store, MatchFilter())
    assert checks == [store] * 2


def test_damage_is_reported_at_each_check_even_after_a_check_without_damage(store: Path, checks: list[Path]) -> None:
    look(store)
    good = store.read_bytes()
    with changed(store) as connection:
        connection.execute("UPDATE record SET returns = '0,0' WHERE number = 1")  # a draw, in a file of the same size
    assert store.stat().st_size == len(good)
    told = []
    for _ in range(2):
        with pytest.raises(StoreDamaged, match="has changed since it was written") as error:
            matches(store, MatchFilter())
        told.append(str(error.value))
    assert told[0] == told[1]
    assert len(checks) == 2
    store.write_bytes(good)
    look(store)
    assert len(checks) == 3


def test_many_requests_at_once_need_one_check(store: Path, checks: list[Path]) -> None:
    count = 8
    together, found = Barrier(count), []

    def ask() -> None:
        together.wait()
        found.append(matches(store, MatchFilter())["total"])

    threads = [Thread(target=ask) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [18] * count  # three agents, three rounds, both orders of seats
    assert checks == [store]


def test_a_store_that_this_process_writes_is_checked_when_its_first_run_begins(store: Path, checks: list[Path]) -> None:
    with Store.open(store, write=True) as writer:
        for _ in range(3):
            writer.begin(Run.of(load_spec(SPEC)))
            look(store)
        assert checks == [store]
    look(store)
    assert checks == [store] * 2


def test_the_last_run_is_read_without_the_earlier_ones(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(store, write=True) as writer:
        for _ in range(4):
            writer.begin(Run.of(load_spec(SPEC)))
    with Store.open(store) as opened:
        expected, read = opened.runs(), list[Any]()
        monkeypatch.setattr(contents, "run_of_row", noting(read, run_of_row))
        assert opened.last() == expected[-1]
    assert len(expected) == 5
    assert len(read) == 1


def test_the_page_of_an_entry_reads_only_its_games(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Any] = []
    monkeypatch.setattr(Store, "returns_of", staticmethod(noting(read, returns_of)))
    entry_page(store, "random")
    assert len(read) == 12  # of 18 games; each of the three agents has two opponents, three rounds and two orders of seats
