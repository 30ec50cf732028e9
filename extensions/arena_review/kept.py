"""The file beside a store in which reviews keep their results: answers to questions, and the verdicts of the last review."""

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cache
from math import inf
from pathlib import Path
from typing import Any, NamedTuple, Self, get_type_hints

from arena.api.errors import StoreError
from arena.api.store import Database
from arena.clock import monotonic

SUFFIX = ".review"
"""The suffix of this file, which replaces the suffix of the store."""
FORMAT = 1


PlaceKey = tuple[int, str]
"""The number of a board and a position."""


class Judged(NamedTuple):
    """A decision with its verdict, readable without the code of the game."""

    match: str
    number: int
    """The index of its action in the match, from 0. Actions of chance count."""
    board: int
    round: int
    entry: int
    seat: int
    ply: int
    """The number of decisions before it in the match."""
    choices: int
    """The number of legal actions."""
    opening: str
    position: str
    action: str
    judge: str | None
    """The judge that gave the verdict, or that has found that there can be none; then `grade` is None. This field and the next
    ones, up to `exact`, are None if no judge got far enough.
    """
    best: str | None
    best_value: float | None
    value: float | None
    loss: float | None
    grade: str | None
    exact: bool | None
    won: float
    """The return in the match for the seat that decided."""


_KINDS = [kind | int if kind in (float, float | None, bool | None) else kind for kind in get_type_hints(Judged).values()]
"""The types of the columns of a decision. SQLite has no type for true and false."""
COLUMNS = ", ".join([f'"{name}"' for name in Judged._fields])
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS answer (board TEXT, judge TEXT, effort INTEGER, question TEXT, answer TEXT, seconds REAL,
    PRIMARY KEY (board, judge, effort, question)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS decision ({COLUMNS}, PRIMARY KEY ("match", "number")) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reviewed ("match" TEXT, entry INTEGER, PRIMARY KEY ("match", entry)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS option (board INTEGER, position TEXT, action TEXT, grade TEXT, loss REAL,
    PRIMARY KEY (board, position, action)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS review (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
"""


_READ_SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master"
OPENING_SECONDS = 2.0
"""Seconds that SQLite may compute until the schema of a file has been checked."""


@cache
def _list_objects() -> frozenset[tuple[Any, ...]]:
    """Return the rows that `_SCHEMA` adds to `sqlite_master`. Other SQL in a file, which may come from anyone, may never end."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(_SCHEMA)
        return frozenset(connection.execute(_READ_SCHEMA))


def place_of(store: Path) -> Path:
    """Return the path of the file for the reviews of a store.

    >>> place_of(Path("results/cup.db")).name
    'cup.review'
    """
    return store.with_suffix(SUFFIX)


class Kept:
    """The open file. It may be used from any thread."""

    def __init__(self, place: Path, *, write: bool = True) -> None:
        """Open the file for the reviews of a store. With `write`, create it if it does not exist."""
        self.place = place
        self._lock = threading.Lock()
        try:
            self._open = Database.connect(place, "rwc" if write else "ro", beside=True)
            self._open.isolation_level = "DEFERRED"  # a transaction for many rows
            self._open.deadline = monotonic() + OPENING_SECONDS
            version = self._open.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, FORMAT):
                raise StoreError(f"{place} was made by another version of arena review; delete it, and review again")
            found = frozenset(map(tuple, self._open.execute(f"{_READ_SCHEMA} LIMIT 100")))
            if not found <= _list_objects():
                raise StoreError(f"{place} is not a valid arena review file; delete it, and review again")
            self._open.deadline = inf
            if write:
                self._open.execute("PRAGMA journal_mode = WAL")
                self._open.executescript(_SCHEMA)
                self._open.execute(f"PRAGMA user_version = {FORMAT}")
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise StoreError(
                f"{place} cannot be opened: {error}; you can delete it, because its contents will be computed again"
            ) from error

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._open.close()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Hold the lock. Raises StoreError for a file that cannot be read, or that has values which no review writes."""
        with self._lock:
            try:
                yield
            except (sqlite3.DatabaseError, ValueError, TypeError, RecursionError) as error:
                raise StoreError(f"{self.place} cannot be read: {error}; delete it, and review again") from error

    def answers(self, board: str, judge: str, effort: int) -> dict[str, Any]:
        """Return all answers that a judge has found on a board with this effort."""
        asked = "SELECT question, answer FROM answer WHERE board = ? AND judge = ? AND effort = ?"
        with self._reading(), closing(self._open.execute(asked, (board, judge, effort))) as rows:
            return {question: json.loads(answer) for question, answer in rows}

    def add_answers(self, board: str, judge: str, effort: int, found: Iterable[tuple[str, Any, float]]) -> None:
        """Store answers, each with its question and the seconds that it took."""
        rows = [(board, judge, effort, question, json.dumps(answer), seconds) for question, answer, seconds in found]
        with self._lock, self._open:
            self._open.executemany("INSERT OR REPLACE INTO answer VALUES (?, ?, ?, ?, ?, ?)", rows)

    def put_decisions(self, reviewed: Sequence[tuple[str, int]], decisions: Iterable[Judged]) -> None:
        """Replace the decisions of entries in matches. `reviewed` contains the id of each match with the number of an entry,
        even if this entry has no decision there.
        """
        marks = ", ".join("?" * len(Judged._fields))
        with self._lock, self._open:
            self._open.executemany('DELETE FROM decision WHERE "match" = ? AND entry = ?', reviewed)
            self._open.executemany("INSERT OR IGNORE INTO reviewed VALUES (?, ?)", reviewed)
            self._open.executemany(f"INSERT INTO decision VALUES ({marks})", decisions)  # noqa: S608 - question marks

    def forget_decisions(self, matches: Sequence[str]) -> None:
        """Delete the decisions of all entries in some matches, each given by its id."""
        with self._lock, self._open:
            for table in ("decision", "reviewed"):
                self._open.executemany(f'DELETE FROM {table} WHERE "match" = ?', [(match,) for match in matches])  # noqa: S608

    def reviewed(self) -> set[tuple[str, int]]:
        """Return the id of each reviewed match with the number of each entry whose decisions were reviewed."""
        with self._reading():
            return {(str(match), int(entry)) for match, entry in self._open.execute("SELECT * FROM reviewed")}

    def decisions(self, where: str = "1", values: Sequence[Any] = ()) -> Iterator[Judged]:
        """Yield the decisions that fulfil an SQL condition, in the order of their matches."""
        with self._reading():
            rows = self._open.execute(f'SELECT {COLUMNS} FROM decision WHERE {where} ORDER BY "match", number', values).fetchall()  # noqa: S608 - conditions of this package
            for row in rows:
                for name, value, kind in zip(Judged._fields, row, _KINDS, strict=True):
                    if not isinstance(value, kind):
                        raise ValueError(f"a decision has {value!r} as its {name}")
        return map(Judged._make, rows)

    def note_alike(self, found: Mapping[PlaceKey, str]) -> None:
        """Store which positions look alike; see `alike`."""
        self.note("alike", [[board, position, first] for (board, position), first in found.items()])

    def alike(self) -> dict[PlaceKey, str]:
        """Return, for positions of games with hidden information, the first position that looks the same to the mover."""
        known = self.noted("alike") or []
        with self._reading():
            return {(int(board), str(position)): str(first) for board, position, first in known}

    def put_options(self, judged: Iterable[Judged]) -> None:
        """Store the verdicts on the legal actions of costly positions."""
        rows = [(one.board, one.position, one.action, one.grade, one.loss) for one in judged]
        with self._lock, self._open:
            self._open.executemany("INSERT OR REPLACE INTO option VALUES (?, ?, ?, ?, ?)", rows)

    def options(self, board: int, position: str) -> list[tuple[str, str | None, float | None]]:
        """Return the legal actions of a position with their grades and losses; an empty list if they were not judged."""
        asked = "SELECT action, grade, loss FROM option WHERE board = ? AND position = ?"
        with self._reading():
            try:
                return self._open.execute(asked, (board, position)).fetchall()
            except sqlite3.OperationalError:  # an older file without this table, which the next review adds
                return []

    def note(self, name: str, value: Any) -> None:
        """Store a fact about the last review under a name."""
        with self._lock, self._open:
            self._open.execute("INSERT OR REPLACE INTO review VALUES (?, ?)", (name, json.dumps(value)))

    def noted(self, name: str) -> Any:
        """Return a fact about the last review by its name; None if it was not stored."""
        with self._reading():
            row = self._open.execute("SELECT value FROM review WHERE name = ?", (name,)).fetchone()
            return None if row is None else json.loads(row[0])
