"""An open store. It accepts records one by one, writes them in atomic batches, and reads all tables."""

import json
import os
import sqlite3
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

from arena.errors import StoreDamaged, StoreError
from arena.format import Pairing
from arena.match.record import Record
from arena.schedule.board_columns import AlikeMatches, RunMatches, apply_report, fill_columns
from arena.schedule.board_info import BoardInfo
from arena.schedule.fingerprint import Fingerprint
from arena.schedule.ranking import Ranking
from arena.schedule.schedule import Scheduled
from arena.secret import Seed, seed_of_round
from arena.spec import Spec
from arena.store import schema
from arena.store.contents import CHECKED, COLUMNS, NAMING_SECONDS, FileKey, StoreContents, describe_damage
from arena.store.database import (
    MAX_CELL_BYTES,
    STEPS_PER_LOOK,
    Connection,
    copy_database,
    free_name,
    is_damage,
    open_read_only,
    open_writable,
    settle,
)
from arena.store.lock import Lock, is_held, lock_store
from arena.store.rows import NANOSECONDS, place_row, read_record, record_row, results_of, returns_of, rows_of, seats_of
from arena.store.run import RUN, CodeKey, Run, code_key, now, row_of
from arena.store.schema import APPLICATION, digest, placeholders
from arena.store.side_files import check_side_file, make_private, open_side_file, remove_database

MAX_BATCH_RECORDS = 2000
"""The most records in one transaction."""
MAX_DELAY_SECONDS = 0.2
"""The longest time before a record is written, in seconds."""


@contextmanager
def _name_damage(place: Path) -> Iterator[None]:
    """Raise StoreDamaged with the names of the damaged matches if a file cannot be opened because it is damaged."""
    try:
        yield
    except StoreError as error:
        if isinstance(error, StoreDamaged) or is_damage(error.__cause__):
            from arena.store.recovery import recover

            found = recover(place, NAMING_SECONDS)
            if found.count and (found.damage or not isinstance(error, StoreDamaged)):
                parts = found.damage or found.header or [f"the file ({error.__cause__})"]
                raise describe_damage(place, parts) from error
        raise


class _Repeated(Exception):
    """One of the records is already in the store."""


class Store(StoreContents):
    """An open store. Records that `flush` has written are safe, even if the process crashes later."""

    APPLICATION = APPLICATION
    NANOSECONDS = NANOSECONDS
    SPENDING = schema.SPENDING
    MATCH_HASH = schema.MATCH_HASH
    returns_of, results_of, seats_of = staticmethod(returns_of), staticmethod(results_of), staticmethod(seats_of)
    lock, is_held, settle = staticmethod(lock_store), staticmethod(is_held), staticmethod(settle)
    remove, make_private = staticmethod(remove_database), staticmethod(make_private)
    is_temporary = False
    """Whether the store has no file, so it cannot be opened by its path."""

    def __init__(self, path: Path, connection: Connection, lock: Lock | None, *, strict: bool = True) -> None:
        super().__init__(path, connection, strict=strict)
        self._lock = lock
        self._pending: list[tuple[Scheduled | None, Record]] = []
        self._timer: threading.Timer | None = None
        self._next = 1 + (self._value("SELECT max(number) FROM record") or 0)
        self._begun = self._next
        """The number of the first record that this run can add."""
        self._trouble: StoreError | None = None
        self._checked: FileKey | None = None
        """The file, since this object has checked it and holds it locked."""
        self._secret: str | None = None
        self._has_run = False
        """Whether a run has started and not yet ended here. Its matches are then played by its code."""

    @classmethod
    def open(cls, path: str | Path, *, write: bool = False, strict: bool = True) -> Self:
        """Open a store. With `write`, lock it, and create it if it does not exist. Raises StoreError if this fails.

        If it is `strict`, damaged data raises StoreDamaged; otherwise the damage is noted in `suspects`.
        """
        place = Path(path)
        if not write:
            if not place.is_file():
                raise StoreError(f"no store was found at {place}; expected a file made by `arena run`")
            with _name_damage(place):
                return cls(place, open_read_only(place), None, strict=strict)
        with ExitStack() as ends:
            lock = lock_store(place)
            ends.callback(lock.release)
            with _name_damage(place):
                store = cls(place, open_writable(place), lock)
            ends.pop_all()
        return store

    @classmethod
    def open_sound(cls, path: str | Path, *, foreign: bool = False) -> Self:
        """Open a store for reading, even if it is damaged. Then it holds everything that is as it was written, and `lost_matches`
        and `lost_parts` name the rest.

        With `foreign`, this also works if the tables of the file are not those of a store. Raises StoreError if it is
        no store.
        """
        from arena.store.recovery import recover

        place, fault = Path(path), "the file"
        try:
            store = cls.open(place)
        except StoreError as error:
            if not isinstance(error, StoreDamaged) and not (foreign and place.is_file()):
                raise
            found = recover(place)
            if not found.count and not isinstance(error, StoreDamaged):
                raise
        else:
            with ExitStack() as ends:
                ends.callback(store.close)
                fault = store.find_fault() or ""
                if not fault:
                    ends.pop_all()
                    return store
            found = recover(place)
        store = cls(place, found.connection, None)
        store.lost_matches, store.lost_parts = found.matches, [*found.parts, *found.header]
        if not found.damage and not found.header:
            store.lost_parts = [fault]
        return store

    def close(self) -> None:
        """Write pending records and close the file."""
        try:
            self.flush()
            if self._has_run and self._next == self._begun:
                with suppress(StoreError):  # what interrupted the run is said elsewhere
                    last = replace(self.last(), idle=True)
                    with self._writing() as write:
                        _replace_last(write, last)
        finally:
            try:
                with self._guard:
                    self._stop_timer()
                    if self._lock is not None:
                        with suppress(sqlite3.Error):  # another process is reading: the two side files stay until the next run
                            self._connection.execute("PRAGMA busy_timeout = 0")
                            self._connection.execute("PRAGMA journal_mode = DELETE")
                    self._connection.close()
            finally:
                if self._checked is not None:
                    CHECKED.written.discard(self._checked)
                if self._lock is not None:
                    self._lock.release()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Write pending records and close the file."""
        self.close()

    def begin(self, run: Run, placed: Iterable[tuple[int, Scheduled]] = ()) -> None:
        """Record that a run starts. If the schedule has changed, a record is on a board only after it has been placed.

        `placed` holds the numbers of records with their places. These records are placed at once, so that a crash does not remove
        them from the boards. If `run` already has its times, for example because it comes from another store, they are kept.
        Raises StoreDamaged for damaged data. Later runs do not check it again, because nobody else can have written to the store.
        """
        if self._checked is None:
            self.verify()
            if self._lock is not None and (found := self._stamp()) is not None:
                self._checked = found[0]
                CHECKED.written.add(self._checked)
        with self._writing() as write:
            self._begun = self._next
            if self._value("SELECT hash FROM run ORDER BY number DESC LIMIT 1") != run.hash:
                write.execute("DELETE FROM place")
            if run.started:  # its numbers of records are those of another store
                row = row_of(replace(run, first_record=None))
            else:
                row = row_of(replace(run, idle=True, first_record=self._begun))  # idle until its first match is written
            values = (*row, digest(row), run.started or now(), run.ended, run.revealed)
            write.execute(f"INSERT INTO run ({RUN}, digest, started, ended, revealed) VALUES ({placeholders(13)})", values)
            write.executemany(schema.ADD_PLACE, [place_row(number, scheduled) for number, scheduled in placed])
        self._secret, self._known, self._has_run = run.secret, None, not run.started

    def end(self, rankings: Mapping[int, Ranking] | None = None, spec: Spec | None = None) -> None:
        """Record that the last run has ended. Store the `rankings` that formats of plugins computed, and the columns of
        plugins.

        The plugins of the `spec` compute these columns. If the run added no match to an earlier run, it takes over the times and
        versions of that run, because they belong to the results. The seed of the run is no longer secret.
        """
        self.flush()
        self._known, self._has_run = None, False
        runs = self.runs()
        last = runs[-1]
        boards = list(last.boards) if spec is None else self._compute_columns(spec, last.boards)
        boards = [replace(board, ranking=(rankings or {}).get(number, board.ranking)) for number, board in enumerate(boards)]
        with self._writing() as write:
            write.execute("UPDATE run SET ended = ? WHERE number = (SELECT max(number) FROM run)", (now(),))
            if self._next == self._begun:
                write.execute(schema.DATED_AS_BEFORE)
            write.execute("UPDATE run SET revealed = ? WHERE secret NOT NULL AND revealed IS NULL", (now(),))
            ended = replace(last, boards=boards)
            if self._next == self._begun and len(runs) > 1:
                ended = replace(ended, versions=runs[-2].versions, idle=True)
            if ended != last:
                _replace_last(write, ended)

    def fill_columns(self) -> None:
        """Do nothing, because a file has got the columns of plugins when its run ended."""

    def _compute_columns(self, spec: Spec, boards: Sequence[BoardInfo]) -> list[BoardInfo]:
        read = partial(self.records, boards=True)
        _, matches = apply_report(spec.document.values, boards, read)
        return fill_columns(spec, boards, RunMatches(boards, matches, self.group_matches if matches is read else None))

    def group_matches(self) -> Iterator[AlikeMatches]:
        """Yield the groups of matches that are alike, in the order of the first match of each, without void matches."""
        for board, seats, position, returns, termination, fell_back, count, round_ in self.query(schema.ALIKE_MATCHES):
            found = position, returns_of(returns), termination, bool(fell_back)
            yield AlikeMatches(board, seats_of(seats), *found, count, round_)

    def end_shard(self, shard: str) -> None:
        """Record that the last run has completed a shard, such as `2/5`."""
        self.flush()
        ended = replace(self.last(), shard=shard)
        with self._writing() as write:
            _replace_last(write, ended)

    def check_transcripts(self) -> None:
        """Raise StoreError if transcripts cannot be kept beside the store. The record of the first match would be lost."""
        check_side_file(transcript_file(self.path))

    def add(self, scheduled: Scheduled | None, record: Record) -> None:
        """Add a record. It is written within a fifth of a second, together with others. Its transcript is written at once."""
        with self._guard:
            if record.transcript:
                _keep_transcript(transcript_file(self.path), record)
            if self._trouble is not None:
                trouble, self._trouble = self._trouble, None
                raise trouble
            self._pending.append((scheduled, record))
            if len(self._pending) >= MAX_BATCH_RECORDS:
                self.flush()
            elif self._timer is None:
                self._timer = threading.Timer(MAX_DELAY_SECONDS, self._flush_in_time)
                self._timer.daemon = True
                self._timer.start()

    def flush(self) -> None:
        """Write all pending records or none. Raises StoreFull if the disk is full; the records then remain pending."""
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
            (number, scheduled, rows_of(record, self._seed_cell(scheduled, record), hashed=not self.is_temporary))
            for number, (scheduled, record) in enumerate(pending, self._next)
        ]
        begun = replace(self.last(), idle=False) if self._has_run and self._next == self._begun else None
        with self._writing() as write:
            try:
                write.executemany(schema.ADD_RECORD, [record_row(number, row) for number, _, row in rows])
            except sqlite3.IntegrityError as error:
                raise _Repeated from error
            write.executemany(schema.ADD_DETAIL, [(number, *row.detail) for number, _, row in rows])
            write.executemany(schema.ADD_EFFORT, [(number, *one) for number, _, row in rows for one in row.effort])
            write.executemany(
                schema.ADD_PLACE, [place_row(number, scheduled) for number, scheduled, _ in rows if scheduled is not None]
            )
            if begun is not None:
                _replace_last(write, begun)
        self._next += len(rows)

    def _first_of_each(self) -> list[tuple[Scheduled | None, Record]]:
        """Return the pending records that are not yet in the store, and note the places of the others.

        A format may schedule the same match twice; then one record has two places. A void record of an earlier run is replaced.
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
        """Put records that are already in the store, given by their numbers, on the boards of this run."""
        with self._writing() as write:
            write.executemany(schema.ADD_PLACE, [place_row(number, scheduled) for number, scheduled in found])

    def discard(self, numbers: Collection[int]) -> None:
        """Delete the records with these numbers, and their places."""
        if numbers:
            with self._writing() as write:
                for table, column in (("record", "number"), ("detail", "record"), ("effort", "record"), ("place", "record")):
                    write.executemany(f"DELETE FROM {table} WHERE {column} = ?", [(number,) for number in numbers])

    def holds(self, labels: Collection[str]) -> bool:
        """Return whether there is a match in which a seat has one of these labels."""
        self.flush()
        with self._guard, self._telling():
            return bool(_find_labels(self._connection, labels))

    def copy_aside(self) -> Path:
        """Save a copy of the store under another name in the same folder, and return its path."""
        self.flush()
        aside = free_name(self.path)
        with self._guard, self._telling():
            copy_database(self._connection, aside)
        return aside

    def forget(self, labels: Collection[str], code: Collection[CodeKey], entries: Collection[str]) -> int:
        """Delete the matches in which a seat has one of these labels, and the data about entries that no longer have a match.

        These data are the hashes of `code` and the options of `entries`, both given by their keys. Everything or nothing is
        deleted. Returns the number of matches.
        """
        self.flush()
        with self._writing() as write:
            gone = _remove_matches(write, labels)
            _remove_knowledge(write, code, entries)
        self._known = None
        return gone

    def _flush_in_time(self) -> None:
        """Write pending records; a timer calls this. If it fails, the next `add` raises the error."""
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

    def _seed_cell(self, scheduled: Scheduled | None, record: Record) -> int:
        """Return the seed of a record as its row stores it: the number or, for a secret, a negative number.

        The first secret in the store has -1, the next one -2, and so on.
        """
        if isinstance(record.seed, int):
            return record.seed
        digits: Seed | None = record.seed
        if digits is None and scheduled is not None and self._secret is not None:
            digits = seed_of_round(self._secret, scheduled.pairing.round)
        known = list(self._secrets())
        return -1 - (known.index(digits) if digits in known else 0)


def _replace_last(connection: sqlite3.Connection, run: Run) -> None:
    """Replace the row of the last run, but not its times."""
    row = row_of(run)
    connection.execute(
        f"UPDATE run SET ({RUN}, digest) = ({placeholders(10)}) WHERE number = (SELECT max(number) FROM run)", (*row, digest(row))
    )


def _find_labels(connection: sqlite3.Connection, labels: Collection[str]) -> list[str]:
    texts = [text for (text,) in connection.execute("SELECT DISTINCT labels FROM detail")]
    return [text for text in texts if not set(labels).isdisjoint(json.loads(text))]


def _remove_matches(connection: sqlite3.Connection, labels: Collection[str]) -> int:
    gone = 0
    for text in _find_labels(connection, labels):
        gone += connection.execute(
            "DELETE FROM record WHERE number IN (SELECT record FROM detail WHERE labels = ?)", (text,)
        ).rowcount
        connection.execute("DELETE FROM detail WHERE labels = ?", (text,))
    for table in ("effort", "place"):
        connection.execute(f"DELETE FROM {table} WHERE record NOT IN (SELECT number FROM record)")
    return gone


def _remove_knowledge(connection: sqlite3.Connection, code: Collection[CodeKey], entries: Collection[str]) -> None:
    """Delete the hashes of some parts of plugins, and the options of the entries with these keys, from all runs.

    This is done when no match that was played with them remains.
    """
    boards_column, plugins_column = [RUN.split(", ").index(name) for name in ("boards", "plugins")]
    for number, *cells in connection.execute(f"SELECT number, {RUN} FROM run").fetchall():
        plugins = {}
        for source, (version, hashes) in json.loads(cells[plugins_column]).items():
            found = Fingerprint.of(version, hashes)
            left = {part: one for part, one in found.hashes.items() if code_key(source, part) not in code}
            if left:
                plugins[source] = [version, Fingerprint(version, left).text]
        boards = json.loads(cells[boards_column])
        for board in boards:
            board["settings"] = [entry for entry in board.get("settings", ()) if entry["key"] not in entries]
        cells[plugins_column], cells[boards_column] = json.dumps(plugins), json.dumps(boards)
        connection.execute(
            "UPDATE run SET plugins = ?, boards = ?, digest = ? WHERE number = ?",
            (cells[plugins_column], cells[boards_column], digest(cells), number),
        )


# Transcripts: the exchanges of agents with their backends, in a file next to the store, with one line of JSON per match


def transcript_file(store: Path) -> Path:
    """Return the file with the transcripts of a store: `cup.transcripts.jsonl` next to `cup.db`."""
    return store.with_name(f"{store.stem}.transcripts.jsonl")


def _keep_transcript(file: Path, record: Record) -> None:
    """Append the transcript of a match: its id and labels, how it ended, and every exchange with its seat.

    A match that is played again gets another line.
    """
    exchanges = [{"seat": seat, **_read_exchange(text)} for seat, text in record.transcript]
    line = {"match": record.id, "labels": record.labels, "termination": record.termination, "exchanges": exchanges}
    number = open_side_file(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    with open(number, "a", encoding="utf-8") as lines:  # noqa: PTH123 - a descriptor
        lines.write(json.dumps(line) + "\n")


def _read_exchange(text: str) -> dict[str, Any]:
    """Return an exchange from its JSON, or as a text if a node has sent something else."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        values = None
    return values if isinstance(values, dict) else {"text": text}


MAX_TEMPORARY_BATCH_RECORDS = 250
"""The most records in one transaction of a temporary store, which is quick without a disk. More records would cost time in the
garbage collection."""
TRANSCRIPTS = "CREATE TABLE transcript (id BLOB PRIMARY KEY, exchanges TEXT NOT NULL) WITHOUT ROWID;"
"""The transcripts of matches by id, which other stores have in a file beside them."""


class TemporaryStore(Store):
    """A store in a temporary database. SQLite keeps it in memory, moves it to a nameless file if it is large, and deletes it when
    it is closed.

    >>> from arena.api.store import Run
    >>> from arena.api.spec import load_spec
    >>> with TemporaryStore() as store:
    ...     store.begin(Run.of(load_spec({"game": "tic-tac-toe", "agents": ["random", "greedy"]})))
    ...     len(store), store.is_temporary
    (0, True)
    """

    is_temporary = True

    def __init__(self) -> None:
        connection = sqlite3.connect("", isolation_level=None, check_same_thread=False, factory=Connection)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_CELL_BYTES)
        connection.set_progress_handler(connection.look, STEPS_PER_LOOK)
        connection.execute("PRAGMA journal_mode = MEMORY")
        connection.execute("PRAGMA synchronous = OFF")
        connection.executescript(f"BEGIN; {schema.TABLES} {TRANSCRIPTS} COMMIT;")
        super().__init__(Path("the temporary store"), connection, None)
        self._has_transcripts = False
        self._unfilled: Spec | None = None
        """The spec of the run that has ended, until the columns of plugins are computed."""

    def end(self, rankings: Mapping[int, Ranking] | None = None, spec: Spec | None = None) -> None:
        """Record that the last run has ended. `fill_columns` computes the columns of plugins, because this can take
        longer than a short run, and most programs that call `arena.run` read only its records.
        """
        super().end(rankings)
        self._unfilled = spec

    def fill_columns(self) -> None:
        """Compute the columns of plugins if the last run has ended and they have not been computed before."""
        if self._unfilled is not None:
            last = self.last()
            filled = replace(last, boards=self._compute_columns(self._unfilled, last.boards))
            with self._guard:
                _replace_last(self._connection, filled)
                self._unfilled = None

    def close(self) -> None:
        """Delete the database."""
        with self._guard:
            self._connection.close()

    def leave_view(self) -> None:
        """Show all matches again, after a reader has left out some of them; see `Leaderboard.last_run`."""
        self._connection.execute("PRAGMA query_only = OFF")
        self._connection.execute("DROP TABLE IF EXISTS temp.place")

    def verify(self, *, details: bool = True) -> None:
        """Do nothing, because no other process can have changed the database."""

    def check_transcripts(self) -> None:
        """Do nothing, because the database has the transcripts."""

    def add(self, scheduled: Scheduled | None, record: Record) -> None:
        """Add a record. It is written together with others; nothing would be safer if it were written earlier."""
        with self._guard:
            self._pending.append((scheduled, record))
            if record.transcript:
                self._has_transcripts = True
                row = bytes.fromhex(record.id), json.dumps(record.transcript)
                self._connection.execute("INSERT OR REPLACE INTO transcript VALUES (?, ?)", row)
            if len(self._pending) >= MAX_TEMPORARY_BATCH_RECORDS:
                self.flush()

    def records(self, *, boards: bool = False) -> Iterator[tuple[Record, Scheduled | None]]:
        """Yield every record with its place, in the order in which they were written, or in that of the schedule."""
        order = f"{schema.ON_BOARDS} ORDER BY p.number" if boards else f"{schema.ANYWHERE} ORDER BY r.number"
        for rows in self.chunks(f"{COLUMNS} {order}"):
            yield from map(self._found, rows)

    def _found(self, row: Sequence[Any]) -> tuple[Record, Scheduled | None]:
        *cells, _, number, board, round_, seats = row
        record = self._reveal(read_record(cells))
        if self._has_transcripts:
            for (text,) in self._all("SELECT exchanges FROM transcript WHERE id = ?", cells[:1]):
                record = record._replace(transcript=tuple(map(tuple, json.loads(text))))
        return record, None if number is None else Scheduled(number, board, Pairing(round_, seats_of(seats)))
