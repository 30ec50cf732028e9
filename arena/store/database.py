"""Opens the file of a store, checks its tables, and turns errors from SQLite into helpful messages.

A store may come from anyone, and SQLite runs what the schema of a file contains: a view in place of a table can be an endless
query. So a file is used only if its schema is exactly that of arena. Until then, queries have a time limit.
"""

import os
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from math import inf
from pathlib import Path
from shlex import quote
from typing import Any

from arena.clock import monotonic
from arena.errors import Interrupted, StoreDamaged, StoreError, StoreFull
from arena.match.record import hash_match
from arena.store.lock import lock_store
from arena.store.schema import APPLICATION, TABLES, VERSION, Fit, checksum, fit_schema
from arena.store.side_files import (
    ENDINGS,
    PRIVATE_FILE,
    check_database,
    check_side_file,
    make_private,
    path_beside,
    remove_database,
)

BUSY_SECONDS = 30.0
"""Seconds to wait for another process that uses the file."""
OPENING_SECONDS = 2.0
"""Seconds that SQLite may compute until the schema of a file has been checked."""
MAX_CELL_BYTES = 128 << 20
"""The most bytes of a text, a blob or a row. The longest matches known have some megabytes."""
STEPS_PER_LOOK = 10_000
"""Steps of SQLite's virtual machine between two looks at the clock. They take about a millisecond."""
ROWS_PER_READ = 500
CACHE_KIB = 32_000
"""SQLite's cache for the file. It holds the index of half a million keys, which are inserted at random places."""


class Connection(sqlite3.Connection):
    """A connection whose queries end with Ctrl-C, at a deadline, and when `stop_queries` is called.

    SQLite discards an exception that a signal raises in the progress handler, so `explain_error` raises it again.
    """

    deadline = inf
    stopping = False

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.create_function("checksum", -1, checksum, deterministic=True)
        self.create_function("hash_match", 5, hash_match, deterministic=True)

    def look(self) -> bool:
        """Return whether SQLite must end its query; the progress handler."""
        return Connection.stopping or monotonic() > self.deadline


def stop_queries(*, stop: bool = True) -> None:
    """End all queries of this process until this is called with False, because a server ends."""
    Connection.stopping = stop


def open_writable(place: Path) -> Connection:
    """Return a connection that writes. If the file does not exist, it is created. Raises StoreError if this fails."""
    _refuse_empty(place, new=True)
    return _open(place, "rwc", _prepare)


def open_read_only(place: Path) -> Connection:
    """Return a connection that reads. This also works on a read-only file system."""
    try:
        _refuse_empty(place)
        return _open(place, "ro", _check)
    except StoreError as error:
        if isinstance(error.__cause__, sqlite3.OperationalError) and not path_beside(place, "-wal").exists():
            return _open(place, "ro&immutable=1", _check)  # a file system on which SQLite cannot create its side files
        raise


def _refuse_empty(place: Path, *, new: bool = False) -> None:
    """Raise StoreError if a file has no bytes. SQLite would delete the write-ahead log beside it, which may hold matches.

    With `new`, an empty file without a log is accepted, because it becomes a store.
    """
    if (new and not place.exists()) or place.stat().st_size:
        return
    log = path_beside(place, "-wal")
    found = check_side_file(log)
    if found is not None and found.st_size:
        raise StoreDamaged(
            f"{place} is damaged: it is empty, but {log.name} beside it is not; keep both files; {describe_rescue(place)}"
        )
    if not new:
        raise StoreError(
            f"{place} has no matches yet: it is empty (0 bytes), because `arena run` ended before it made the store; "
            "run it again, or restore a copy if the file had matches"
        )


def _open(place: Path, mode: str, ready: Callable[[Path, Connection], None]) -> Connection:
    connection = Database.connect(place, mode)
    connection.deadline = monotonic() + OPENING_SECONDS
    with ExitStack() as ends:
        ends.callback(connection.close)
        try:
            ready(place, connection)
        except DATABASE_ERRORS as error:
            raise explain_error(place, error, connection) from error
        ends.pop_all()
    connection.deadline = inf
    return connection


def _check(place: Path, connection: Connection) -> None:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    objects = connection.execute(READ_SCHEMA).fetchall()
    if not application and not objects:
        raise StoreError(f"{place} has no matches yet: `arena run` ended before it made the tables of the store; run it again")
    fit = fit_schema(objects)
    if application != APPLICATION and fit.words:
        raise StoreError(f"{place} is another program's database; expected an arena store")
    if version != VERSION:
        newer = version > VERSION
        writer = "was made by a newer version of arena" if newer else "was made before the first release of arena"
        remedy = "install a newer arena" if newer else "move it away, or choose another store"
        kind = StoreError if fit.words else StoreDamaged  # with the tables of this version, the number itself may be wrong
        raise kind(
            f"{place} {writer}, or its header is damaged (store version {version}, here {VERSION}); {remedy}. "
            f"If it is damaged, {describe_rescue(place)}"
        )
    if application != APPLICATION:
        fit = Fit("its header is not valid", is_damage=True)
    if fit.words:
        kind = StoreDamaged if fit.is_damage else StoreError
        said = "is damaged" if fit.is_damage else "is not a valid store"
        raise kind(f"{place} {said}: {fit.words}; {describe_rescue(place)}")
    connection.execute("PRAGMA temp_store = MEMORY")


READ_SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT 200"


def _prepare(place: Path, connection: Connection) -> None:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    if not application and not connection.execute(READ_SCHEMA).fetchall():
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
            raise explain_error(place, error, connection) from error


def put_aside(place: Path) -> Path | None:
    """Rename a store and return its new path. If it does not exist, or is removed because it has no matches, return None. Raises
    StoreError if it is in use.
    """
    with lock_store(place):
        if not place.exists():
            return None
        settle(place)
        with closing(open_read_only(place)) as connection:
            empty = connection.execute("SELECT 1 FROM record LIMIT 1").fetchone() is None
        if empty:
            remove_database(place)
            return None
        aside = free_name(place)
        place.rename(aside)
    return aside


def free_name(place: Path) -> Path:
    """Return the first unused name among `cup.1.db`, `cup.2.db` and so on, for a store `cup.db`."""
    number = 1
    while True:
        aside = place.with_name(f"{place.stem}.{number}{place.suffix}")
        if not any(os.path.lexists(f"{aside}{ending}") for ending in ("", *ENDINGS)):  # SQLite would use a journal of that name
            return aside
        number += 1


def copy_database(connection: Connection, place: Path) -> None:
    """Copy an open store to another path, with the same mode. An incomplete copy is never visible."""
    part, file = place.with_name(f".{place.name}.part"), connection.execute("PRAGMA database_list").fetchone()[2]
    try:
        remove_database(part)
        make_private(part)
        with closing(sqlite3.connect(part)) as copy:
            connection.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
        part.chmod(stat.S_IMODE(Path(file).stat().st_mode) if file else PRIVATE_FILE)
        part.rename(place)
    except OSError as error:
        raise StoreError(f"{place} cannot be written: {error.strerror}; free some space there for a copy of the store") from error
    finally:
        with suppress(OSError):
            remove_database(part)


DATABASE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""Errors from SQLite. Its module raises the second for texts, and for messages of errors, that are not UTF-8."""
NO_DAMAGE = ("BUSY", "LOCKED", "IOERR", "FULL", "INTERRUPT", "NOMEM", "TOOBIG", "READONLY", "CANTOPEN", "PERM", "AUTH")


def is_damage(error: BaseException | None) -> bool:
    """Return whether an error from SQLite may come from a damaged file."""
    name = getattr(error, "sqlite_errorname", "").removeprefix("SQLITE_")
    return isinstance(error, DATABASE_ERRORS) and not name.startswith(NO_DAMAGE)


def describe_rescue(path: Path) -> str:
    """Return the advice with which every message about damage ends: how to find out what is damaged in a file, and how to
    continue with the rest.
    """
    name, rest = quote(str(path)), quote(str(path.with_name(f"{path.stem}-sound{path.suffix}")))
    return (
        f"`arena check {name}` lists what is damaged; `arena merge --sound {rest} {name}` copies the rest to a new store, "
        "which `arena run` continues"
    )


def explain_error(path: Path, error: sqlite3.Error | UnicodeDecodeError, connection: Connection | None = None) -> StoreError:
    """Return a StoreError for an error from SQLite. Its message says what is wrong and how to correct it.

    Raises Interrupted if the user has ended the query.
    """
    name = getattr(error, "sqlite_errorname", "")
    if name == "SQLITE_FULL" or "IOERR_WRITE" in name:
        return StoreFull(
            f"{path}: the disk is full; the data written so far is safe. Free some space and run the same command again"
        )
    if name.startswith("SQLITE_READONLY"):
        return StoreError(f"{path} cannot be written to: {error}; choose another place for the store")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreError(f"{path} is locked by another program: {error}")
    if name == "SQLITE_NOTADB" and path.suffix in (".yaml", ".yml", ".json"):
        command = f"arena run {quote(str(path))}"
        return StoreError(f"{path} is a spec: `{command}` plays it; name its store, by default results/{path.stem}.db")
    if name == "SQLITE_NOTADB" and path.suffix in (".jsonl", ".csv"):
        return StoreError(
            f"{path} is not a store; if it is an export, name its store instead: `arena merge --sound NEW STORE` reads "
            "even damaged stores"
        )
    if name == "SQLITE_INTERRUPT":
        if connection is None or connection.deadline == inf or not connection.look():
            raise Interrupted from error
        return StoreError(f"{path}: a query took too long for a store of this size and was stopped")
    if name == "SQLITE_TOOBIG":
        return StoreError(f"{path}: a row has more than {MAX_CELL_BYTES >> 20} MiB; arena never writes such a row")
    if name.startswith("SQLITE_CORRUPT") or not name:  # no name: a text is not UTF-8
        return StoreDamaged(f"{path} is damaged: {error}; {describe_rescue(path)}")
    if name == "SQLITE_NOTADB":
        return StoreError(f"{path} is not a store: {error}; move it away, or choose another store")
    return StoreError(f"{path}: {error}")


class Database:
    """An open database, used by one thread at a time. Errors from SQLite become StoreErrors with helpful messages."""

    query_seconds = inf
    """Seconds that SQLite may compute until the next row of a query. A server sets this, because a store may come from anyone."""
    stop_queries = staticmethod(stop_queries)

    def __init__(self, path: Path, connection: Connection) -> None:
        self.path = path
        self._connection = connection
        self._guard = threading.RLock()

    @staticmethod
    def connect(path: Path, mode: str, *, beside: bool = False) -> Connection:
        """Return a connection to a file. `mode` is a mode of SQLite's URIs. Raises StoreError if it cannot be opened.

        A file `beside` a store must be a regular file. The path of a store itself may be a link.
        """
        if beside:
            check_side_file(path)
        check_database(path)
        uri = f"{path.absolute().as_uri()}?mode={mode}"
        try:
            connection = sqlite3.connect(
                uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, factory=Connection
            )
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_CELL_BYTES)
            connection.set_progress_handler(connection.look, STEPS_PER_LOOK)
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            if mode.startswith("ro"):
                connection.execute("PRAGMA query_only = ON")
        except sqlite3.Error as error:
            raise explain_error(path, error) from error
        return connection

    def copy(self, place: Path) -> None:
        """Copy the database to another path. An incomplete copy is never visible."""
        with self._guard, self._telling():
            copy_database(self._connection, place)

    def query(self, sql: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query, one by one."""
        with self._telling():
            cursor = self._connection.cursor().execute(sql, values)
            while (row := cursor.fetchone()) is not None:
                yield row
                self._connection.deadline = monotonic() + self.query_seconds

    def chunks(self, sql: str) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of a query, many at a time."""
        with self._telling():
            cursor = self._connection.cursor().execute(sql)
            while rows := cursor.fetchmany(ROWS_PER_READ):
                yield rows
                self._connection.deadline = monotonic() + self.query_seconds

    def _value(self, sql: str, *values: Any) -> Any:
        rows = self._all(sql, values)
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
        self._connection.deadline = monotonic() + self.query_seconds
        try:
            yield
        except DATABASE_ERRORS as error:
            raise explain_error(self.path, error, self._connection) from error
