"""Opens the file of a store, checks it, and turns errors of SQLite into helpful messages."""

import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from arena.errors import StoreError, StoreFull
from arena.store.lock import lock_store
from arena.store.schema import APPLICATION, TABLES, VERSION, checksum

BUSY_SECONDS = 30.0
"""Time to wait for another process that holds the file."""
ROWS_PER_READ = 500
CACHE_KIB = 32_000
"""The size of the in-memory part of the file: enough for the index of half a million keys, which are inserted everywhere."""


def open_writable(place: Path) -> sqlite3.Connection:
    """Return a connection that writes. The file is made if there is none. StoreError gives the reason for a failure."""
    return _open(place, "rwc", _prepare)


def open_read_only(place: Path) -> sqlite3.Connection:
    """Return a connection that reads, also on a read-only medium."""
    try:
        return _open(place, "ro", _check)
    except StoreError:
        if place.with_name(f"{place.name}-wal").exists():
            raise
        return _open(place, "ro&immutable=1", _check)  # a medium on which SQLite cannot put its side files


def _open(place: Path, mode: str, ready: Callable[[Path, sqlite3.Connection], None]) -> sqlite3.Connection:
    connection = Database.connect(place, mode)
    connection.create_function("checksum", -1, checksum, deterministic=True)
    try:
        ready(place, connection)
    except sqlite3.Error as error:
        connection.close()
        raise explain_error(place, error) from error
    except BaseException:
        connection.close()
        raise
    return connection


def _check(place: Path, connection: sqlite3.Connection) -> None:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if not application and not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise StoreError(f"{place} is empty: `arena run` was ended before it had made the store; run it again")
    if application != APPLICATION:
        raise StoreError(f"{place} is a database of another program; expected a store of arena")
    if version > VERSION:
        raise StoreError(f"{place} is a newer store: of version {version}, this arena knows {VERSION}; install a newer arena")
    if version < VERSION:
        raise StoreError(
            f"{place} is a store from before the first release: of version {version}, this arena knows {VERSION}; "
            "move it away, or name another store with --store"
        )
    connection.execute("PRAGMA temp_store = MEMORY")


def _prepare(place: Path, connection: sqlite3.Connection) -> None:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    if not application and not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        connection.execute("PRAGMA journal_mode = WAL")
        script = f"BEGIN; {TABLES} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; COMMIT;"
        connection.executescript(script)
    _check(place, connection)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    connection.execute("PRAGMA wal_autocheckpoint = 8000")


def settle(place: Path) -> None:
    """Merge all side files of a store into its one file. The caller holds the lock; StoreError if another process reads it."""
    with closing(open_writable(place)) as connection:
        try:
            connection.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.Error as error:
            raise explain_error(place, error) from error


def put_aside(place: Path) -> Path | None:
    """Rename a store and return its new path; None if there is no store. StoreError if it is in use."""
    with lock_store(place):
        if not place.exists():
            return None
        settle(place)
        aside = free_name(place)
        place.rename(aside)
    return aside


def free_name(place: Path) -> Path:
    """Return the first unused name of `cup.1.db`, `cup.2.db` and so on, for a store `cup.db`."""
    number = 1
    while (aside := place.with_name(f"{place.stem}.{number}{place.suffix}")).exists():
        number += 1
    return aside


def copy_database(connection: sqlite3.Connection, place: Path) -> None:
    """Copy an open store to another place; an incomplete copy never exists."""
    part = place.with_name(f".{place.name}.part")
    try:
        part.unlink(missing_ok=True)
        with closing(sqlite3.connect(part)) as copy:
            connection.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
        part.rename(place)
    except OSError as error:
        raise StoreError(f"{place} cannot be written: {error.strerror}; make room for a copy of the store there") from error


def explain_error(path: Path, error: sqlite3.Error) -> StoreError:
    """Return the StoreError for an error of SQLite: the fault, and how to correct it."""
    name = getattr(error, "sqlite_errorname", "")
    if name == "SQLITE_FULL" or "IOERR_WRITE" in name:
        return StoreFull(f"{path}: the disk is full; what was written before is safe: make room and run the same command again")
    if name.startswith("SQLITE_READONLY"):
        return StoreError(f"{path} cannot be written to: {error}; name another place with --store")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreError(f"{path} is held by another program: {error}")
    if name == "SQLITE_NOTADB" and path.suffix in (".yaml", ".yml", ".json"):
        return StoreError(f"{path} is a spec: `arena run {path}` plays it; name its store, by default results/{path.stem}.db")
    if name in ("SQLITE_CORRUPT", "SQLITE_NOTADB"):
        return StoreError(f"{path} is no database, or a damaged one: {error}; move it away, or name another store")
    return StoreError(f"{path}: {error}")


class Database:
    """An open database, for one thread at a time; an error of SQLite becomes a StoreError with a helpful message."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._guard = threading.RLock()

    @staticmethod
    def connect(path: Path, mode: str) -> sqlite3.Connection:
        """Return a connection to a file; `mode` is a mode of SQLite's URIs. StoreError if it cannot be opened."""
        uri = f"{path.absolute().as_uri()}?mode={mode}"
        try:
            return sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise explain_error(path, error) from error

    def copy(self, place: Path) -> None:
        """Copy the database to another place; an incomplete copy never exists."""
        with self._guard, self._telling():
            copy_database(self._connection, place)

    def query(self, sql: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query, one by one."""
        with self._telling():
            yield from self._connection.cursor().execute(sql, values)

    def chunks(self, sql: str, values: Sequence[Any] = ()) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of a query, many at a time."""
        with self._telling():
            cursor = self._connection.cursor().execute(sql, values)
            while rows := cursor.fetchmany(ROWS_PER_READ):
                yield rows

    def _one(self, sql: str) -> Any:
        rows = self._all(sql)
        return rows[0][0] if rows else None

    def _all(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._guard, self._telling():
            return self._connection.execute(sql, values).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction: all or nothing."""
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
            raise explain_error(self.path, error) from error
