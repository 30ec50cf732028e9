"""A store: records in as they come, in batches that are whole or not there; every table out of it."""

import shlex
import sqlite3
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from arena.errors import StoreDamaged, StoreError
from arena.format import Pairing
from arena.match.record import Record
from arena.schedule.ranking import Ranking
from arena.schedule.schedule import Scheduled
from arena.secret import Seed, parts, seed_of_round
from arena.store.database import copied, free_name, read_only, told, version_of, writable
from arena.store.digest import checksum, digest
from arena.store.lock import Lock, leave, locked, use
from arena.store.removal import matches_of, remove_code, remove_matches, remove_records
from arena.store.rows import OLD_RECORD, RECORD, Rows, hashed, record_of, returns_of, rows_of
from arena.store.run import OLD_RUN, RUN, CodeKey, Run, now, row_of, run_of_row
from arena.store.schema import CHECKED, UNMETERED

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

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: Lock | None, *, strict: bool = True) -> None:
        self.path = path
        self.suspects: list[str] = []
        """What was read and does not fit its hash, where the store is not `strict`."""
        self._strict = strict
        self._inode = use(path)
        self._connection = connection
        self._lock = lock
        self._guard = threading.RLock()
        self._pending: list[tuple[Scheduled | None, Record]] = []
        self._waiting_since = 0.0
        self._timer: threading.Timer | None = None
        self._next = 1 + (self._one("SELECT max(number) FROM record") or 0)
        self._begun = self._next
        """The number of the first record that the run that goes on may add."""
        self._trouble: StoreError | None = None
        self._secret: str | None = None
        self._known: dict[Seed, bool] | None = None
        self._old = version_of(connection) == 1
        self._digest = "NULL" if self._old else "digest"  # a store of version 1 has none, and can be read as it is
        self._columns = f"SELECT {OLD_RECORD if self._old else RECORD}, {self._digest}, p.number, p.board, p.round, p.seats"

    @classmethod
    def open(cls, path: str | Path, *, write: bool = False, strict: bool = True) -> Self:
        """Open a store; with `write`, make it where there is none, and lock it. StoreError says what is in the way.

        A `strict` one raises StoreDamaged where it reads what is not as it was written; another one notes it in `suspects`.
        """
        place = Path(path)
        if not write:
            if not place.is_file():
                raise StoreError(f"no store {place}; expected a file that `arena run` has made")
            return cls(place, read_only(place), None, strict=strict)
        lock = locked(place)
        try:
            connection = writable(place)
            lock.hold(place)
            return cls(place, connection, lock)
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
            leave(self._inode)

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

    def begin(self, run: Run, placed: Iterable[tuple[int, Scheduled]] = ()) -> None:
        """Note that a run starts. For another schedule than the last one's, no record is on a board until it is placed.

        Those `placed`, records by their numbers with their places, are on a board at once, so that no kill takes them off it.
        A run that has its times already, as one of another store has, keeps them. StoreDamaged where what is there is damaged.
        """
        self.verify()
        with self._writing() as write:
            self._begun = self._next
            before = self._one("SELECT hash FROM run ORDER BY number DESC LIMIT 1")
            if before != run.hash:
                write.execute("DELETE FROM place")
            row = row_of(run)
            values = (*row, digest(row), run.started or now(), run.ended, run.revealed)
            write.execute(f"INSERT INTO run ({RUN}, digest, started, ended, revealed) VALUES ({_marks(13)})", values)
            write.executemany(_PLACE, [_place(number, scheduled) for number, scheduled in placed])
        self._secret, self._known = run.secret, None

    def end(self, rankings: Mapping[int, Ranking] | None = None) -> None:
        """Note that the last run has come to its end, with the `rankings` of its boards by formats of plugins.

        One that added no match to those of an earlier run takes over its times, which are those of the results.
        Its seed is secret no more.
        """
        self.flush()
        self._known = None
        with self._writing() as write:
            write.execute("UPDATE run SET ended = ? WHERE number = (SELECT max(number) FROM run)", (now(),))
            if self._next == self._begun:
                write.execute(_DATED_AS_BEFORE)
            write.execute("UPDATE run SET revealed = ? WHERE secret NOT NULL AND revealed IS NULL", (now(),))
            if rankings:
                ranked = enumerate(self.last().boards)
                boards = [replace(board, ranking=rankings.get(number, board.ranking)) for number, board in ranked]
                row = row_of(replace(self.last(), boards=boards))
                write.execute(
                    f"UPDATE run SET ({RUN}, digest) = ({_marks(10)}) WHERE number = (SELECT max(number) FROM run)",
                    (*row, digest(row)),
                )

    def runs(self) -> list[Run]:
        """Every run, the last one at the end."""
        columns = f"NULL, {OLD_RUN}, NULL" if self._old else f"revealed, {RUN}, digest"
        rows = self._all(f"SELECT started, ended, {columns} FROM run ORDER BY number")
        for started, _, _, *cells, kept in rows:
            self._hold(f"the run of {started}", cells, kept)
        try:
            return [run_of_row(row[:-1]) for row in rows]
        except UNREADABLE as error:
            raise self._damaged("a run") from error

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
        rows = [
            (number, scheduled, rows_of(record, self._seed_cell(scheduled, record)))
            for number, (scheduled, record) in enumerate(pending, self._next)
        ]
        with self._writing() as write:
            try:
                write.executemany(_RECORD, [_record_row(number, row) for number, _, row in rows])
            except sqlite3.IntegrityError as error:
                raise _Repeated from error
            write.executemany(_DETAIL, [(number, *row.detail) for number, _, row in rows])
            write.executemany(_EFFORT, [_summed(number, *effort) for number, _, row in rows for effort in row.effort])
            if any(row.unmetered for _, _, row in rows):
                write.execute(UNMETERED)
                write.executemany(_UNMETERED, [(number, *one) for number, _, row in rows for one in row.unmetered])
            write.executemany(_PLACE, [_place(number, scheduled) for number, scheduled, _ in rows if scheduled is not None])
        self._next += len(rows)

    def _first_of_each(self) -> list[tuple[Scheduled | None, Record]]:
        """Those pending records that are there under no other; the places of the rest are noted.

        A format may have the same match played twice. It is the same record then, in two places. A void record of an earlier
        run is not final: it gives way.
        """
        there = self.has([record.id for _, record in self._pending])
        void = {key for key, kept in there.items() if kept.returns is None and kept.number < self._begun}
        self.discard([there[key].number for key in void])
        known = {key: kept.number for key, kept in there.items() if key not in void}
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

    def discard(self, numbers: Collection[int]) -> None:
        """Delete records by their numbers, with their places."""
        if numbers:
            with self._writing() as write:
                remove_records(write, numbers)

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
        self._known = None
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
            rows = self._all(f"SELECT id, number, returns, termination, drew, play FROM record WHERE id IN ({marks})", keys)
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
        rows = self._all(f"{self._columns} {_ANYWHERE} WHERE r.id BETWEEN ? AND ? LIMIT 2", (low, high))
        if not rows:
            raise StoreError(f"{self.path} holds no match {key}")
        if len(rows) > 1:
            raise StoreError(f"{self.path} holds several matches whose ids begin with {key}; give more digits")
        return self._found(rows[0])

    def found(self, ids: Sequence[str]) -> dict[str, tuple[Record, Scheduled | None]]:
        """Those of some ids that are there, with their places."""
        found: dict[str, tuple[Record, Scheduled | None]] = {}
        for start in range(0, len(ids), CHUNK):
            keys = [bytes.fromhex(one) for one in ids[start : start + CHUNK]]
            for row in self._all(f"{self._columns} {_ANYWHERE} WHERE r.id IN ({_marks(len(keys))})", keys):
                record, place = self._found(row)
                found[record.id] = (record, place)
        return found

    def records(self, *, boards: bool = False, sound: bool = False) -> Iterator[tuple[Record, Scheduled | None]]:
        """Every record with its place, a few at a time; with `boards` those of the last run's schedule in its order.

        Without, they come in the order in which they were written. With `sound`, of a store that is not strict, those that are
        not as they were written are left out.
        """
        order = f"{_ON_BOARDS} ORDER BY p.number" if boards else f"{_ANYWHERE} ORDER BY r.number"
        if sound and not self._strict:
            self.suspects += self.damaged()
        for row in self.query(f"{self._columns} {order}"):
            try:
                record, place = self._found(row)
            except StoreDamaged:  # of a store that is not strict: not to be read at all
                if self._strict or f"match {row[0].hex()}" not in self.suspects:
                    raise
                continue
            if sound and place is not None and f"place {place.number}" in self.suspects:
                place = None
            if not (sound and (f"match {record.id}" in self.suspects or (boards and place is None))):
                yield record, place

    def void(self) -> Iterator[Record]:
        """The void records on the boards of the last run, in the order of the schedule."""
        for row in self.query(f"{self._columns} {_ON_BOARDS} WHERE r.termination = 'void' ORDER BY p.number"):
            yield self._found(row)[0]

    def verify(self) -> None:
        """Hold every row that boards and schedules are made of against its checksum; StoreDamaged where one does not fit.

        Rows of version 1 have none. What is read record by record is held against its digest then.
        """
        if damaged := [*self.suspects, *self.damaged()]:
            raise self._damaged(", ".join(damaged[:3]) + (f" and {len(damaged) - 3:,} more" if len(damaged) > 3 else ""))

    def unhashed(self) -> int:
        """Return how many records have no hash, since version 1 wrote them."""
        return len(self) if self._old else int(self._one("SELECT count(*) FROM record WHERE digest IS NULL"))

    def damaged(self) -> Iterator[str]:
        """Yield what does not fit its checksum or lacks its other half, `match 1a2b...` or `place 7`; the file first."""
        yield from [f"the file ({row[0]})" for row in self._all("PRAGMA quick_check(3)") if row[0] != "ok"]
        for table, columns in () if self._old else CHECKED.items():
            found = f"checksum({columns})"
            if table == "record":
                found = f"CASE WHEN adjusted IS NULL THEN {found} ELSE checksum({columns}, adjusted) END"
            yield from [row[0] for row in self._all(f"SELECT {_NAMED[table]} FROM {table} WHERE checksum <> {found}")]
        for half in _HALVES:
            yield from [row[0] for row in self._all(half)]

    @property
    def adjusted(self) -> str:
        """The column with the returns corrected for luck, as an expression of SQL about `record r`; version 1 has none."""
        return "NULL" if self._old else "r.adjusted"

    @property
    def keeps_spent(self) -> bool:
        """Whether records have what decisions spent; those of version 1 do not."""
        return not self._old

    def unmetered(self) -> Iterator[tuple[int, tuple[int, ...], int, int]]:
        """Yield board, entries, seat and states past the view of the matches on the boards of the last run, summed up."""
        if self._one("SELECT count(*) FROM sqlite_master WHERE name = 'unmetered'"):
            for board, seats, seat, states in self.query(_PAST_VIEWS):
                yield board, seats_of(seats), seat, int(states)

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
        """All that is read meanwhile is of one moment, whatever a writer adds; StoreDamaged where it is not as it was written."""
        with self._guard, self._telling():
            self._connection.execute("BEGIN")
            try:
                if self._strict:
                    self.verify()
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

    def _found(self, row: Sequence[Any]) -> tuple[Record, Scheduled | None]:
        *cells, kept, number, board, round_, seats = row
        self._hold(f"match {cells[0].hex()}", hashed(cells), kept)
        try:
            record = record_of(cells)
        except UNREADABLE as error:
            raise self._damaged(f"match {cells[0].hex()}") from error
        if isinstance(record.seed, int) and record.seed < 0:
            digits, revealed = list(self._secrets().items())[-1 - record.seed]
            record = record._replace(seed=digits if revealed else None)
        return record, None if number is None else Scheduled(number, board, Pairing(round_, seats_of(seats)))

    def _seed_cell(self, scheduled: Scheduled | None, record: Record) -> int:
        """Return the seed of a record as its row has it: the number; of a secret -1 for the first of the store, and so on."""
        if isinstance(record.seed, int):
            return record.seed
        digits: Seed | None = record.seed
        if digits is None and scheduled is not None and self._secret is not None:
            digits = seed_of_round(self._secret, scheduled.pairing.round)
        known = list(self._secrets())
        return -1 - (known.index(digits) if digits in known else 0)

    def _secrets(self) -> Mapping[Seed, bool]:
        """Return the digits of all secrets of the store, in the order in which they came, and whether each is revealed."""
        if self._known is None:
            self._known = {}
            for run in self.runs():
                for _, digits in () if run.secret is None else parts(run.secret):
                    self._known[digits] = run.revealed is not None or self._known.get(digits, False)
        return self._known

    def _hold(self, what: str, cells: Sequence[Any], kept: bytes | None) -> None:
        """Hold what was read against its digest; rows of version 1 have none."""
        if kept is not None and kept != digest(cells):
            if self._strict:
                raise self._damaged(what)
            self.suspects.append(what)

    def _damaged(self, what: str) -> StoreDamaged:
        name = shlex.quote(str(self.path))
        return StoreDamaged(
            f"{self.path} is damaged: {what} is not as it was written; `arena check {name}` lists what is damaged, "
            f"`arena export --sound {name}` writes the rest"
        )

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise told(self.path, error) from error


_DATED_AS_BEFORE = """
UPDATE run SET (started, ended) = (SELECT b.started, coalesce(b.ended, run.ended) FROM run b
    WHERE b.number < run.number ORDER BY b.number DESC LIMIT 1)
WHERE number = (SELECT max(number) FROM run) AND number > (SELECT min(number) FROM run)
"""


def _marks(count: int) -> str:
    return ", ".join("?" * count)


_RECORD = f"INSERT INTO record ({CHECKED['record']}, checksum, digest, adjusted) VALUES ({_marks(20)})"
_DETAIL = (
    "INSERT INTO detail (record, game, position, labels, seed, actions, answer, message, traceback, decisions, timing, spent) "
    f"VALUES ({_marks(12)})"
)
_EFFORT = f"INSERT INTO effort ({CHECKED['effort']}, checksum) VALUES ({_marks(6)})"
_PLACE = f"INSERT OR REPLACE INTO place ({CHECKED['place']}, checksum) VALUES ({_marks(6)})"
_UNMETERED = "INSERT INTO unmetered (record, seat, states) VALUES (?, ?, ?)"
_NAMED = {"record": "'match ' || lower(hex(id))", "effort": "'effort in record ' || record", "place": "'place ' || number"}
"""What to call a row of a table that has a checksum, as expressions of SQL."""
_PAST_VIEWS = """
SELECT p.board, p.seats, u.seat, total(u.states) FROM unmetered u JOIN place p ON p.record = u.record
JOIN record r ON r.number = u.record WHERE r.termination <> 'void' GROUP BY 1, 2, 3
"""
_ON_BOARDS = "FROM place p JOIN record r ON r.number = p.record JOIN detail d ON d.record = p.record"
_ANYWHERE = (
    "FROM record r JOIN detail d ON d.record = r.number "
    "LEFT JOIN place p ON p.number = (SELECT min(number) FROM place WHERE record = r.number)"
)


_HALVES = (
    "SELECT 'match ' || lower(hex(id)) FROM record WHERE number NOT IN (SELECT record FROM detail)",
    "SELECT 'detail ' || record FROM detail WHERE record NOT IN (SELECT number FROM record)",
    "SELECT 'place ' || number FROM place WHERE record NOT IN (SELECT number FROM record)",
)
"""Rows that another one belongs to which is not there."""
UNREADABLE = (ValueError, TypeError, KeyError, IndexError)
"""What reading a damaged row may raise; JSON's errors are ValueErrors."""


class _Repeated(Exception):
    """One of the records is there already."""


def _place(number: int, scheduled: Scheduled) -> tuple[Any, ...]:
    seats = ",".join(map(str, scheduled.pairing.seats))
    return _summed(scheduled.number, number, scheduled.board, scheduled.pairing.round, seats)


def _record_row(number: int, rows: Rows) -> tuple[Any, ...]:
    """The cells of a row of `record`; the checksum is of `adjusted`, too, where that is known."""
    cells = (number, *rows.record)
    sum_ = checksum(*cells) if rows.adjusted is None else checksum(*cells, rows.adjusted)
    return (*cells, sum_, rows.digest, rows.adjusted)


def _summed(*cells: Any) -> tuple[Any, ...]:
    return (*cells, checksum(*cells))


@lru_cache(65536)
def seats_of(text: str) -> tuple[int, ...]:
    """The entries in the seats of a place."""
    return tuple(map(int, text.split(",")))
