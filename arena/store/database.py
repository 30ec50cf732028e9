"""Opens the file of a store, checks it, and turns errors from SQLite into helpful messages."""

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
"""Seconds to wait for another process that uses the file."""
ROWS_PER_READ = 500
CACHE_KIB = 32_000
"""SQLite's cache for the file. It holds the index of half a million keys, which are inserted at random places."""


def open_writable(place: Path) -> sqlite3.Connection:
    """Return a connection that writes. If the file does not exist, it is created. Raises StoreError if this fails."""
    return _open(place, "rwc", _prepare)


def open_read_only(place: Path) -> sqlite3.Connection:
    """Return a connection that reads. This also works on a read-only file system."""
    try:
        return _open(place, "ro", _check)
    except StoreError:
        if place.with_name(f"{place.name}-wal").exists():
            raise
        return _open(place, "ro&immutable=1", _check)  # a file system on which SQLite cannot create its side files


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
        raise StoreError(f"{place} is empty: `arena run` ended before it made the store; run it again")
    if application != APPLICATION:
        raise StoreError(f"{place} is a database of another program; expected a store of arena")
    if version > VERSION:
        raise StoreError(f"{place} was made by a newer arena (store version {version}, here {VERSION}); install a newer arena")
    if version < VERSION:
        raise StoreError(
            f"{place} is a store from before the first release (store version {version}, here {VERSION}); "
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
    """Merge the side files of a store into its file; the caller holds the lock. Raises StoreError if the store is being read."""
    with closing(open_writable(place)) as connection:
        try:
            connection.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.Error as error:
            raise explain_error(place, error) from error


def put_aside(place: Path) -> Path | None:
    """Rename a store and return its new path; None if it does not exist. Raises StoreError if it is in use."""
    with lock_store(place):
        if not place.exists():
            return None
        settle(place)
        aside = free_name(place)
        place.rename(aside)
    return aside


def free_name(place: Path) -> Path:
    """Return the first unused name among `cup.1.db`, `cup.2.db` and so on, for a store `cup.db`."""
    number = 1
    while (aside := place.with_name(f"{place.stem}.{number}{place.suffix}")).exists():
        number += 1
    return aside


def copy_database(connection: sqlite3.Connection, place: Path) -> None:
    """Copy an open store to another path. An incomplete copy is never visible."""
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
    """Return a StoreError for an error from SQLite. Its message says what is wrong and how to correct it."""
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
        return StoreError(f"{path} is not a database, or is damaged: {error}; move it away, or name another store")
    return StoreError(f"{path}: {error}")


class Database:
    """An open database, used by one thread at a time. Errors from SQLite become StoreErrors with helpful messages."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._guard = threading.RLock()

    @staticmethod
    def connect(path: Path, mode: str) -> sqlite3.Connection:
        """Return a connection to a file. `mode` is a mode of SQLite's URIs. Raises StoreError if it cannot be opened."""
        uri = f"{path.absolute().as_uri()}?mode={mode}"
        try:
            return sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise explain_error(path, error) from error

    def copy(self, place: Path) -> None:
        """Copy the database to another path. An incomplete copy is never visible."""
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
