"""A store: records in as they come, in batches that are whole or not there; every table out of it."""

import sqlite3
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from arena.errors import StoreError
from arena.format import Pairing
from arena.match.record import Record
from arena.schedule.ranking import Ranking
from arena.schedule.schedule import Scheduled
from arena.store.database import copied, free_name, read_only, told, writable
from arena.store.lock import Lock, locked
from arena.store.removal import matches_of, remove_code, remove_matches
from arena.store.rows import RECORD, record_of, returns_of, rows_of
from arena.store.run import CodeKey, Run, boards_text, row_of, run_of_row

BATCH = 2000
"""Records in one transaction, at the most."""
DELAY = 0.2
"""Seconds that a record waits to be written, at the most."""
CHUNK = 500
"""Keys in one question."""


class Kept(NamedTuple):
    """What the schedule has to know of a match that is in the store."""

    number: int
    returns: tuple[float, ...] | None
    """None where it is void."""
    play_hash: int | None = None
    """A hash of what was played, where no seat used random numbers, so that it can only be repeated; None where one did."""


class Store:
    """A store that is open. What `flush` has written is safe, whatever happens to the process after it."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: Lock | None) -> None:
        self.path = path
        self._connection = connection
        self._lock = lock
        self._guard = threading.RLock()
        self._pending: list[tuple[Scheduled | None, Record]] = []
        self._waiting_since = 0.0
        self._timer: threading.Timer | None = None
        self._next = 1 + (self._one("SELECT max(number) FROM record") or 0)
        self._trouble: StoreError | None = None

    @classmethod
    def open(cls, path: str | Path, *, write: bool = False) -> Self:
        """Open a store; with `write`, make it where there is none, and lock it. StoreError says what is in the way."""
        place = Path(path)
        if not write:
            if not place.is_file():
                raise StoreError(f"no store {place}; expected a file that `arena run` has made")
            return cls(place, read_only(place), None)
        lock = locked(place)
        try:
            return cls(place, writable(place), lock)
        except BaseException:
            lock.release()
            raise

    def close(self) -> None:
        """Write what is pending and close the file."""
        try:
            self.flush()
        finally:
            with self._guard:
                self._stop_timer()
                if self._lock is not None:
                    self._tidy()
                self._connection.close()
            if self._lock is not None:
                self._lock.release()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Write what is pending and close the file."""
        self.close()

    def _tidy(self) -> None:
        """Leave one file behind; where somebody is reading it, its two companions stay until the next run."""
        with suppress(sqlite3.Error):
            self._connection.execute("PRAGMA busy_timeout = 0")
            self._connection.execute("PRAGMA journal_mode = DELETE")

    # Runs

    def begin(self, run: Run) -> None:
        """Note that a run starts. For another schedule than the last one's, no record is on a board until it is placed.

        A run that has its times already, as one of another store has, keeps them.
        """
        with self._writing() as write:
            before = self._one("SELECT hash FROM run ORDER BY number DESC LIMIT 1")
            if before != run.hash:
                write.execute("DELETE FROM place")
            columns = "name, hash, seed, spec, boards, plugins, versions, started, ended"
            values = (*row_of(run), run.started or now(), run.ended)
            write.execute(f"INSERT INTO run ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)  # noqa: S608

    def end(self, rankings: Mapping[int, Ranking] | None = None) -> None:
        """Note that the last run has come to its end, with the `rankings` of its boards by formats of plugins."""
        self.flush()
        with self._writing() as write:
            write.execute("UPDATE run SET ended = ? WHERE number = (SELECT max(number) FROM run)", (now(),))
            if rankings:
                ranked = enumerate(self.last().boards)
                boards = [replace(board, ranking=rankings.get(number, board.ranking)) for number, board in ranked]
                write.execute("UPDATE run SET boards = ? WHERE number = (SELECT max(number) FROM run)", (boards_text(boards),))

    def runs(self) -> list[Run]:
        """Every run, the last one at the end."""
        columns = "started, ended, name, hash, seed, spec, boards, plugins, versions"
        return [run_of_row(row) for row in self._all(f"SELECT {columns} FROM run ORDER BY number")]  # noqa: S608

    def last(self) -> Run:
        """The last run; StoreError where there is none."""
        runs = self.runs()
        if not runs:
            raise StoreError(f"{self.path} holds no run yet")
        return runs[-1]

    # Records in

    def add(self, scheduled: Scheduled | None, record: Record) -> None:
        """Take a record. It is written within a fifth of a second, many at a time."""
        with self._guard:
            self._complain()
            self._pending.append((scheduled, record))
            if len(self._pending) >= BATCH:
                self.flush()
            elif self._timer is None:
                self._timer = threading.Timer(DELAY, self._in_time)
                self._timer.daemon = True
                self._timer.start()

    def flush(self) -> None:
        """Write what is pending, all of it or nothing. StoreFull where the disk is full; then it is pending still."""
        with self._guard:
            self._stop_timer()
            if not self._pending:
                return
            try:
                self._write(self._pending)
            except _Repeated:
                self._write(self._first_of_each())
            self._pending = []

    def _write(self, pending: Sequence[tuple[Scheduled | None, Record]]) -> None:
        rows = [(number, scheduled, rows_of(record)) for number, (scheduled, record) in enumerate(pending, self._next)]
        with self._writing() as write:
            try:
                write.executemany(_into("record", 17), [(number, *row.record) for number, _, row in rows])
            except sqlite3.IntegrityError as error:
                raise _Repeated from error
            write.executemany(_into("detail", 11), [(number, *row.detail) for number, _, row in rows])
            write.executemany(_into("effort", 5), [(number, *effort) for number, _, row in rows for effort in row.effort])
            write.executemany(_PLACE, [_place(number, scheduled) for number, scheduled, _ in rows if scheduled is not None])
        self._next += len(rows)

    def _first_of_each(self) -> list[tuple[Scheduled | None, Record]]:
        """Those pending records that are there under no other; the places of the rest are noted.

        A format may have the same match played twice. It is the same record then, in two places.
        """
        known = {key: kept.number for key, kept in self.has([record.id for _, record in self._pending]).items()}
        new: list[tuple[Scheduled | None, Record]] = []
        again: list[tuple[int, Scheduled]] = []
        for scheduled, record in self._pending:
            if record.id not in known:
                known[record.id] = self._next + len(new)
                new.append((scheduled, record))
            elif scheduled is not None:
                again.append((known[record.id], scheduled))
        self.place(again)
        return new

    def place(self, found: Iterable[tuple[int, Scheduled]]) -> None:
        """Put records that are there, by their numbers, on the boards of this run."""
        with self._writing() as write:
            write.executemany(_PLACE, [_place(number, scheduled) for number, scheduled in found])

    # Records out of it

    def holds(self, labels: Collection[str]) -> bool:
        """Tell whether there is a match in which one of some labels sits."""
        self.flush()
        with self._guard, self._telling():
            return bool(matches_of(self._connection, labels))

    def copy_aside(self) -> Path:
        """Keep a copy of the store under another name beside it, and return that."""
        self.flush()
        aside = free_name(self.path)
        with self._guard, self._telling():
            copied(self._connection, aside)
        return aside

    def forget(self, labels: Collection[str], code: Collection[CodeKey]) -> int:
        """Delete the matches in which one of some labels sits, and the hashes of the code that played them alone; all or nothing.

        Returns the number of matches.
        """
        self.flush()
        with self._writing() as write:
            gone = remove_matches(write, labels)
            remove_code(write, code)
        return gone

    def _in_time(self) -> None:
        """What the timer does. Trouble is told to whoever comes next."""
        with self._guard:
            self._timer = None
            try:
                self.flush()
            except StoreError as error:
                self._trouble = error

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _complain(self) -> None:
        if self._trouble is not None:
            trouble, self._trouble = self._trouble, None
            raise trouble

    # Records out

    def has(self, ids: Sequence[str]) -> dict[str, Kept]:
        """Those of some ids that are there, with their numbers and returns."""
        found: dict[str, Kept] = {}
        for start in range(0, len(ids), CHUNK):
            keys = [bytes.fromhex(one) for one in ids[start : start + CHUNK]]
            marks = ",".join("?" * len(keys))
            rows = self._all(f"SELECT id, number, returns, termination, drew, play FROM record WHERE id IN ({marks})", keys)  # noqa: S608
            for key, number, returns, termination, used_rng, played in rows:
                play_hash = None if "1" in used_rng else played
                found[key.hex()] = Kept(number, None if termination == "void" else returns_of(returns), play_hash)
        return found

    def __len__(self) -> int:
        """How many records there are, on a board or not."""
        return int(self._one("SELECT count(*) FROM record"))

    def record(self, key: str) -> tuple[Record, Scheduled | None]:
        """The record of an id, or of the start of one, and its place on the boards; StoreError where there is not just one."""
        text = key.lower()
        if not text or len(text) > 32 or set(text) - set("0123456789abcdef"):
            raise StoreError(f"expected the id of a match, 32 hexadecimal digits or the first of them, got {key!r}")
        low, high = bytes.fromhex(text.ljust(32, "0")), bytes.fromhex(text.ljust(32, "f"))
        rows = self._all(f"{_ANYWHERE} WHERE r.id BETWEEN ? AND ? LIMIT 2", (low, high))
        if not rows:
            raise StoreError(f"{self.path} holds no match {key}")
        if len(rows) > 1:
            raise StoreError(f"{self.path} holds several matches whose ids begin with {key}; give more digits")
        return _found(rows[0])

    def found(self, ids: Sequence[str]) -> dict[str, tuple[Record, Scheduled | None]]:
        """Those of some ids that are there, with their places."""
        found: dict[str, tuple[Record, Scheduled | None]] = {}
        for start in range(0, len(ids), CHUNK):
            keys = [bytes.fromhex(one) for one in ids[start : start + CHUNK]]
            for row in self._all(f"{_ANYWHERE} WHERE r.id IN ({','.join('?' * len(keys))})", keys):
                record, place = _found(row)
                found[record.id] = (record, place)
        return found

    def records(self, *, boards: bool = False) -> Iterator[tuple[Record, Scheduled | None]]:
        """Every record with its place, a few at a time; with `boards` those of the last run's schedule in its order.

        Without, they come in the order in which they were written.
        """
        for row in self.query(f"{_ON_BOARDS} ORDER BY p.number" if boards else f"{_ANYWHERE} ORDER BY r.number"):
            yield _found(row)

    def void(self) -> Iterator[Record]:
        """The void records on the boards of the last run, in the order of the schedule."""
        for row in self.query(f"{_ON_BOARDS} WHERE r.termination = 'void' ORDER BY p.number"):
            yield _found(row)[0]

    def query(self, sql: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a question about the tables, one by one."""
        with self._telling():
            yield from self._connection.cursor().execute(sql, values)

    def chunks(self, sql: str, values: Sequence[Any] = ()) -> Iterator[list[tuple[Any, ...]]]:
        """The same, many rows at a time."""
        with self._telling():
            cursor = self._connection.cursor().execute(sql, values)
            while rows := cursor.fetchmany(CHUNK):
                yield rows

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All that is read meanwhile is of one moment, whatever a writer adds."""
        with self._guard, self._telling():
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._connection.execute("COMMIT")

    # Inside

    def _one(self, sql: str) -> Any:
        rows = self._all(sql)
        return rows[0][0] if rows else None

    def _all(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._guard, self._telling():
            return self._connection.execute(sql, values).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction: all or nothing."""
        with self._guard, self._telling():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise told(self.path, error) from error


def _into(table: str, columns: int) -> str:
    return f"INSERT INTO {table} VALUES ({', '.join('?' * columns)})"  # noqa: S608 - a name of ours and question marks


_PLACE = "INSERT OR REPLACE INTO place VALUES (?, ?, ?, ?, ?)"
_COLUMNS = f"SELECT {RECORD}, p.number, p.board, p.round, p.seats"
_ON_BOARDS = f"{_COLUMNS} FROM place p JOIN record r ON r.number = p.record JOIN detail d ON d.record = p.record"
_ANYWHERE = (
    f"{_COLUMNS} FROM record r JOIN detail d ON d.record = r.number "  # noqa: S608 - names of ours
    "LEFT JOIN place p ON p.number = (SELECT min(number) FROM place WHERE record = r.number)"
)


class _Repeated(Exception):
    """One of the records is there already."""


def _place(number: int, scheduled: Scheduled) -> tuple[Any, ...]:
    seats = ",".join(map(str, scheduled.pairing.seats))
    return (scheduled.number, number, scheduled.board, scheduled.pairing.round, seats)


@lru_cache(65536)
def seats_of(text: str) -> tuple[int, ...]:
    """The entries in the seats of a place."""
    return tuple(map(int, text.split(",")))


def _found(row: Sequence[Any]) -> tuple[Record, Scheduled | None]:
    *record, number, board, round_, seats = row
    where = None if number is None else Scheduled(number, board, Pairing(round_, seats_of(seats)))
    return record_of(record), where


def now() -> str:
    """Return the time of day as text, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")
