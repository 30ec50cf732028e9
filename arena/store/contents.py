"""The contents of a store: its runs and its records. Each of them is checked against its hash when it is read."""

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from arena.clock import monotonic, wall_time
from arena.errors import StoreDamaged, StoreError, listing
from arena.format import Pairing
from arena.match.record import Record, find_loser, hash_match
from arena.processes.interrupts import user_interrupts
from arena.schedule.board_info import BoardInfo
from arena.schedule.schedule import Scheduled
from arena.secret import Seed, split_secret
from arena.store import schema
from arena.store.database import DATABASE_ERRORS, ROWS_PER_READ, Connection, Database, describe_rescue, explain_error, is_damage
from arena.store.rows import PLACE, RECORD, cells_to_digest, check_cells, check_place, record_of, returns_of, rows_of, seats_of
from arena.store.run import RUN, UNREADABLE, Run, name_run, run_of_row
from arena.store.schema import digest, placeholders
from arena.store.side_files import path_beside

NAMING_SECONDS = 2.0
"""Seconds for finding the names of damaged matches for a message. `arena check` takes as long as it needs."""
MAX_NAMED = 3
SETTLED_SECONDS = 0.1
"""A file that was changed this long ago has a later time after its next change, because file systems have coarse clocks."""
MAX_KNOWN_FILES = 1000
"""The check of at most this many files is remembered."""
_WITH_DETAILS = "FROM record r LEFT JOIN detail d ON d.record = r.number"
_PLACES = f"""
SELECT min(p.number), {PLACE.removesuffix("p.round")} min(p.round), max(p.round), min(r.id)
FROM place p JOIN record r ON r.number = p.record GROUP BY 2, 3, 4, 5
"""
_EFFORT = "SELECT seat, decisions, nodes, nanoseconds FROM effort WHERE record = ? ORDER BY seat"
_UNMATCHED = """
SELECT 1 FROM detail WHERE record NOT IN (SELECT number FROM record)
UNION ALL SELECT 1 FROM place WHERE record NOT IN (SELECT number FROM record)
"""


class Kept(NamedTuple):
    """The facts about a stored match that the schedule needs."""

    number: int
    returns: tuple[float, ...] | None
    """The returns; None if the match is void."""
    play_hash: int | None = None
    """A hash of the moves if no seat used random numbers, so that a replay would have the same moves; otherwise None."""
    adjusted: tuple[float, ...] | None = None
    """The returns after a correction for the luck of chance, if known."""
    loser: int | None = None
    """The seat that lost by a fault; None if no seat did."""


LAST_RUN = "ORDER BY number DESC LIMIT 1"
FIRST_RUNS = """
WHERE number IN (SELECT min(number) FROM run WHERE secret NOT NULL GROUP BY secret, revealed IS NULL) ORDER BY number
"""
"""The runs that show which secrets were used, and which of them were revealed. The runs of a ladder have the same secret."""
COLUMNS = f"SELECT {RECORD}, digest, p.number, p.board, p.round, p.seats"


FileKey = tuple[int, int]
"""The device and the inode of a file."""
Version = tuple[tuple[int, ...], ...]
"""The size and the times of the last changes of a file and of its write-ahead log. If root opens the log, SQLite sets its owner
again, which changes one of the two times, so this one is left out."""


class CheckedFiles:
    """The stores that this process has checked as a whole, so that a server does not check them again for each request."""

    def __init__(self) -> None:
        self.written: set[FileKey] = set()
        """The stores that this process has checked and has held locked since, so that nobody else has changed them."""
        self._found: dict[tuple[FileKey, bool], tuple[Version, str | None]] = {}
        """For each other store, with and without details, the version that was checked, and the error if it is damaged."""
        self._locks: dict[tuple[FileKey, bool], threading.Lock] = {}
        """If many requests come at once, one of them checks the store, and the others wait for it."""

    def verify(self, store: "StoreContents", file: FileKey, version: Version | None, *, details: bool) -> None:
        """Verify a store with this version, unless that was done before. None means that the version is not known."""
        key = file, details
        with self._locks.setdefault(key, threading.Lock()):
            if version is not None and self._found.get((file, True)) == (version, None):
                return  # with its details, it is sound, so that it is also sound without them
            known, fault = self._found.get(key, (None, None))
            if version is None or version != known:
                self._found.pop(key, None)
                fault = None
                try:
                    store.verify(details=details)
                except StoreDamaged as error:
                    if version is None:
                        raise
                    fault = str(error)
                if version is not None:
                    while len(self._found) >= MAX_KNOWN_FILES:
                        self._found.pop(next(iter(self._found)), None)
                    self._found[key] = version, fault
        if fault is not None:
            raise StoreDamaged(fault)


CHECKED = CheckedFiles()


class StoreContents(Database):
    """The runs and records of a store.

    If it is `strict`, damaged data raises StoreDamaged; otherwise the damage is noted in `suspects`.
    """

    def __init__(self, path: Path, connection: Connection, *, strict: bool) -> None:
        super().__init__(path, connection)
        self.suspects: list[str] = []
        """Descriptions of data that does not match its hash, if the store is not `strict`."""
        self.lost_matches: list[str] = []
        """The names of the matches that `open_sound` has not recovered."""
        self.lost_parts: list[str] = []
        """The names of other parts that `open_sound` has not recovered."""
        self._strict = strict
        if not strict:  # bytes that are not UTF-8 are damage, which the digest shows
            connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        self._known: dict[Seed, bool] | None = None
        self._boards: Sequence[BoardInfo] | None = ()
        """The boards of the last run, for which places are checked."""

    def runs(self) -> list[Run]:
        """Return all runs, the last one at the end."""
        return self._read_runs("ORDER BY number")

    def _read_runs(self, which: str) -> list[Run]:
        runs = []
        rows = self._all(f"SELECT started, ended, revealed, {RUN}, digest FROM run {which}")
        for started, ended, revealed, *cells, kept in rows:
            self._hold(name_run(started), cells, kept)
            try:
                runs.append(run_of_row((started, ended, revealed, *cells)))
            except UNREADABLE as error:
                raise self._damaged(name_run(started, error)) from error
        return runs

    def last(self) -> Run:
        """Return the last run. Raises StoreError if there is none."""
        runs = self._read_runs(LAST_RUN)  # a ladder has thousands of runs
        if not runs:
            self.refuse_losses()
            raise StoreError(f"{self.path} contains no run yet")
        return runs[0]

    def refuse_losses(self) -> None:
        """Raise StoreDamaged if `open_sound` has not recovered everything."""
        if lost := [*self.lost_matches, *self.lost_parts]:
            raise describe_damage(self.path, lost)

    def __len__(self) -> int:
        """Return the number of records, including records that are on no board."""
        return int(self._value("SELECT count(*) FROM record"))

    def has(self, ids: Sequence[str]) -> dict[str, Kept]:
        """Return the facts about the matches with these `ids` that are in the store, by id."""
        found: dict[str, Kept] = {}
        rows = self._with_ids("SELECT id, number, returns, termination, seat, drew, play, adjusted FROM record WHERE id", ids)
        for key, number, returns, termination, seat, used_rng, played, adjusted in rows:
            play_hash = None if "1" in used_rng else hash_match(played, returns, termination, seat, key)
            corrected = None if adjusted is None else returns_of(adjusted)
            known = None if termination == "void" else returns_of(returns)
            found[key.hex()] = Kept(number, known, play_hash, corrected, find_loser(termination, seat))
        return found

    def record(self, key: str) -> tuple[Record, Scheduled | None]:
        """Return the record with an id that begins with `key`, and its place. Raises StoreError unless exactly one fits."""
        text = key.lower()
        if not text or len(text) > 32 or set(text) - set("0123456789abcdef"):
            raise StoreError(f"expected a match id (32 hexadecimal digits) or its first digits, got {key!r}")
        low, high = bytes.fromhex(text.ljust(32, "0")), bytes.fromhex(text.ljust(32, "f"))
        rows = self._all(f"{COLUMNS} {schema.ANYWHERE} WHERE r.id BETWEEN ? AND ? LIMIT 2", (low, high))
        if not rows:
            raise StoreError(f"{self.path} holds no match {key}")
        if len(rows) > 1:
            raise StoreError(f"{self.path} contains several matches whose ids begin with {key}; give more digits")
        return self._found(rows[0])

    def found(self, ids: Sequence[str]) -> dict[str, tuple[Record, Scheduled | None]]:
        """Return the records with these `ids` that are in the store, with their places."""
        found: dict[str, tuple[Record, Scheduled | None]] = {}
        for row in self._with_ids(f"{COLUMNS} {schema.ANYWHERE} WHERE r.id", ids):
            record, place = self._found(row)
            found[record.id] = (record, place)
        return found

    def _with_ids(self, question: str, ids: Sequence[str]) -> Iterator[Sequence[Any]]:
        for start in range(0, len(ids), ROWS_PER_READ):
            keys = [bytes.fromhex(one) for one in ids[start : start + ROWS_PER_READ]]
            yield from self._all(f"{question} IN ({placeholders(len(keys))})", keys)

    def records(self, *, boards: bool = False) -> Iterator[tuple[Record, Scheduled | None]]:
        """Yield every record with its place, a few at a time, in the order in which they were written.

        With `boards`, only records in the schedule of the last run are yielded, in its order.
        """
        order = f"{schema.ON_BOARDS} ORDER BY p.number" if boards else f"{schema.ANYWHERE} ORDER BY r.number"
        for row in self.query(f"{COLUMNS} {order}"):
            yield self._found(row)

    def void(self) -> Iterator[Record]:
        """Yield the void records on the boards of the last run, in the order of the schedule."""
        for row in self.query(f"{COLUMNS} {schema.ON_BOARDS} WHERE r.termination = 'void' ORDER BY p.number"):
            yield self._found(row)[0]

    @contextmanager
    def snapshot(self, *, verified: bool = False, details: bool = True) -> Iterator[None]:
        """Inside the block, read the store as it is now, even if a process adds records. Raises StoreDamaged for damaged data.

        This checks all rows, unless they have been `verified` already: by the caller, by this process for the same version of the
        file, or before this process has written to the store, which it holds locked. Without `details`, the parts of matches that
        no board uses are not checked.
        """
        with self._guard:
            before = self._stamp() if self._strict and not verified else None
            self._all("BEGIN")
            try:
                if self._strict and not verified:
                    self._all("SELECT 1 FROM run LIMIT 1")  # from here on, the transaction shows one version of the file
                    self._verify_once(before, details=details)
                yield
            finally:
                self._all("COMMIT")

    def _verify_once(self, before: tuple[FileKey, Version] | None, *, details: bool) -> None:
        """Check every row, unless this process has done it since the file was changed. The file was as in `before` just before
        the transaction.
        """
        if before is None:
            self.verify(details=details)
            return
        key, version = before
        if key in CHECKED.written:
            return
        newest = max([time for one in version for time in one[1:]]) / 1e9
        settled = self._stamp() == before and newest + SETTLED_SECONDS < wall_time()
        CHECKED.verify(self, key, version if settled else None, details=details)

    def _stamp(self) -> tuple[FileKey, Version] | None:
        """Return the file of the store and its version; None if the store is in memory or the file is gone."""
        file = next((file for _, name, file in self._all("PRAGMA database_list") if name == "main"), "")
        try:
            found = Path(file).stat() if file else None
        except OSError:
            found = None
        if found is None:
            return None
        version: list[tuple[int, ...]] = [(found.st_size, found.st_mtime_ns, found.st_ctime_ns)]
        with suppress(OSError):
            log = path_beside(Path(file), "-wal").stat()
            version += [(log.st_size, log.st_mtime_ns)] if log.st_size else []
        return (found.st_dev, found.st_ino), tuple(version)

    def verify(self, *, details: bool = True) -> None:
        """Check every row against its hash. Raises StoreDamaged with the names of the matches that are damaged."""
        if (fault := self.find_fault(details=details)) is not None:
            raise self._name_damage(fault)

    def find_fault(self, *, details: bool = True) -> str | None:
        """Return a part that is damaged, or None. The message about it takes more time, because it names the matches.

        Raises Interrupted if the user interrupts it. SQLite replaces an exception that a signal raises in `checksum` by an error
        like that of a damaged text, so the signal itself is noted.
        """
        with user_interrupts() as interrupts:
            try:
                return self._find_fault(details=details)
            finally:
                interrupts.check()

    def _find_fault(self, *, details: bool) -> str | None:
        def run(sql: str) -> sqlite3.Cursor:
            self._connection.deadline = monotonic() + self.query_seconds
            return self._connection.execute(sql)

        try:
            for (found,) in run("PRAGMA integrity_check(1)"):
                if found != "ok":  # for example `*** in database main ***`, and in the next line what is wrong
                    return f"the file ({' '.join(found.removeprefix('*** in database main ***').split())})"
            for table, kinds_of in schema.TYPES.items():
                types = " OR ".join([f"typeof({one}) NOT IN ({kinds})" for one, kinds in kinds_of.items()])
                if run(f"SELECT 1 FROM {table} WHERE {types} LIMIT 1").fetchone():
                    return f"a row of {table}"
            if run(f"SELECT 1 FROM place WHERE checksum IS NOT checksum({schema.COLUMNS['place']}) LIMIT 1").fetchone():
                return "a row of place"
            if run(_UNMATCHED).fetchone():
                return "a row without its match"
            for number, kept, *cells in run(f"SELECT r.number, digest, {RECORD} {_WITH_DETAILS}") if details else ():
                if not self._is_sound(number, cells, kept):
                    return "a record"
            runs = self.runs()
            boards, sizes = runs[-1].boards if runs else (), dict[int, int]()
            for *cells, key in run(_PLACES):
                with suppress(*UNREADABLE):
                    check_place(boards, *cells, sizes=sizes)
                    continue
                return f"the place of match {key.hex()}"
        except StoreDamaged:
            return "a run"
        except DATABASE_ERRORS as error:
            if not is_damage(error):
                raise explain_error(self.path, error, self._connection) from error
            return f"the file ({error})"
        return None

    def _is_sound(self, number: int, cells: Sequence[Any], kept: Any) -> bool:
        """Return whether a record has its hash, cells as arena writes them, and the right amounts for seats after the second."""
        if kept == digest(cells_to_digest(cells)):
            with suppress(ValueError):
                check_cells(cells)
                if len(cells[17]) < 3:
                    return True
                effort = self._connection.execute(_EFFORT, [number]).fetchall()
                return effort == [*rows_of(record_of(cells), cells[4]).effort]
        return False

    def _found(self, row: Sequence[Any]) -> tuple[Record, Scheduled | None]:
        *cells, kept, number, board, round_, seats = row
        self._hold(f"match {cells[0].hex()}", cells_to_digest(cells), kept)
        try:
            record = record_of(cells)
            place = None if number is None else Scheduled(number, board, Pairing(round_, seats_of(seats)))
            if place is not None:
                self._check_place(number, board, seats, cells[7], None, round_)
        except UNREADABLE as error:
            raise self._damaged(f"match {cells[0].hex()}") from error
        return self._reveal(record), place

    def _reveal(self, record: Record) -> Record:
        """Return a record with the digits of its seed if it is a secret that has been revealed."""
        if isinstance(record.seed, int) and record.seed < 0:
            known = list(self._secrets().items())[-1 - record.seed :][:1]  # empty if the run is lost
            record = record._replace(seed=next((digits for digits, revealed in known if revealed), None))
        return record

    def _check_place(self, *cells: Any) -> None:
        """Raise an error if no match on the boards of the last run can have a place."""
        with suppress(*UNREADABLE):
            check_place(self._boards, *cells)
            return
        self._boards = self._last_boards()  # a run may have begun since they were read
        check_place(self._boards, *cells)

    def _last_boards(self) -> Sequence[BoardInfo] | None:
        """Return the boards of the last run; None if `open_sound` has not recovered it."""
        runs = self._read_runs(LAST_RUN)
        return runs[0].boards if runs else None

    def _secrets(self) -> Mapping[Seed, bool]:
        if self._known is None:
            self._known = {}
            for run in self._read_runs(FIRST_RUNS):
                for _, digits in split_secret(run.secret or ""):
                    self._known[digits] = run.revealed is not None or self._known.get(digits, False)
        return self._known

    def _hold(self, what: str, cells: Sequence[Any], kept: bytes) -> None:
        if kept != digest(cells):
            if self._strict:
                raise self._damaged(what)
            self.suspects.append(what)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            with super()._telling():
                yield
        except StoreDamaged as error:
            if isinstance(error.__cause__, DATABASE_ERRORS):
                raise self._name_damage(f"the file ({error.__cause__})") from error
            raise

    def _name_damage(self, fault: str) -> StoreDamaged:
        from arena.store.recovery import recover  # only a damaged store needs this large module

        return describe_damage(self.path, recover(self.path, NAMING_SECONDS).damage or [fault])

    def _damaged(self, what: str) -> StoreDamaged:
        return describe_damage(self.path, [what])


def describe_damage(path: Path, names: Sequence[str]) -> StoreDamaged:
    """Return the error for a store in which these parts are damaged."""
    named = names[:MAX_NAMED] if len(names) <= MAX_NAMED else [*names[:MAX_NAMED], f"{len(names) - MAX_NAMED:,} more"]
    what = listing(named)
    several = len(named) > 1 or named[0].startswith("the counts")
    fault = "have changed since they were written" if several else "has changed since it was written"
    return StoreDamaged(f"{path} is damaged: {what} {fault}; {describe_rescue(path)}")
