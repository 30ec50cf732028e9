"""Opens the file of a store: what must hold of it, and what SQLite says in words that help."""

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
"""The part of the file that stays in memory: enough for the index of half a million keys, which are added all over it."""


def open_writable(place: Path) -> sqlite3.Connection:
    """A connection that writes; the file is made if there is none. StoreError says what is in the way."""
    return _open(place, f"{place.absolute().as_uri()}?mode=rwc", _prepare)


def open_read_only(place: Path) -> sqlite3.Connection:
    """A connection that reads, also on a medium that cannot be written to."""
    uri = place.absolute().as_uri()
    try:
        return _open(place, f"{uri}?mode=ro", _check)
    except StoreError:
        if place.with_name(f"{place.name}-wal").exists():
            raise
        return _open(place, f"{uri}?mode=ro&immutable=1", _check)  # a medium on which SQLite cannot put its side files


def _open(place: Path, uri: str, ready: Callable[[Path, sqlite3.Connection], None]) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise explain_error(place, error) from error
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
    """Bring all of a store into its one file. Whoever asks holds the lock; StoreError if somebody is reading it."""
    with closing(open_writable(place)) as connection:
        try:
            connection.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.Error as error:
            raise explain_error(place, error) from error


def put_aside(place: Path) -> Path | None:
    """Keep a store under another name, and return that; None if there is no store. StoreError if it is in use."""
    with lock_store(place):
        if not place.exists():
            return None
        settle(place)
        aside = free_name(place)
        place.rename(aside)
    return aside


def free_name(place: Path) -> Path:
    """The first name of `cup.1.db`, `cup.2.db` and so on, for a store `cup.db`, under which there is nothing yet."""
    number = 1
    while (aside := place.with_name(f"{place.stem}.{number}{place.suffix}")).exists():
        number += 1
    return aside


def copy_database(connection: sqlite3.Connection, place: Path) -> None:
    """Copy an open store to another place; there is no half of a copy at any time."""
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
    """Return the StoreError for an error of SQLite: what is wrong, and what to do."""
    name = getattr(error, "sqlite_errorname", "")
    if name == "SQLITE_FULL" or "IOERR_WRITE" in name:
        return StoreFull(f"{path}: the disk is full; what was written before is safe: make room and run the same command again")
    if name.startswith("SQLITE_READONLY"):
        return StoreError(f"{path} cannot be written to: {error}; name another place with --store")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreError(f"{path} is held by another program: {error}")
    if name == "SQLITE_NOTADB" and path.suffix in (".yaml", ".yml"):
        return StoreError(f"{path} is a spec; name the store that `arena run` wrote, by default results/{path.stem}.db")
    if name in ("SQLITE_CORRUPT", "SQLITE_NOTADB"):
        return StoreError(f"{path} is no database, or a damaged one: {error}; move it away, or name another store")
    return StoreError(f"{path}: {error}")


class Database:
    """An open database, for one thread at a time; an error of SQLite is a StoreError in words that help."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._guard = threading.RLock()

    def query(self, sql: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a question about the tables, one by one."""
        with self._telling():
            yield from self._connection.cursor().execute(sql, values)

    def chunks(self, sql: str, values: Sequence[Any] = ()) -> Iterator[list[tuple[Any, ...]]]:
        """The same, many rows at a time."""
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
            raise explain_error(self.path, error) from error
