"""A store without a file, for a run without a path: a temporary database that only this process can see."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from arena.format import Pairing
from arena.match.record import Record
from arena.schedule.schedule import Scheduled
from arena.store.contents import COLUMNS
from arena.store.database import MAX_CELL_BYTES, STEPS_PER_LOOK, Connection
from arena.store.rows import read_record, seats_of
from arena.store.schema import ANYWHERE, ON_BOARDS, TABLES
from arena.store.store import Store

MAX_BATCH_RECORDS = 250
"""The most records in one transaction, which is quick without a disk. More records would cost time in the garbage collection."""
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
        connection.executescript(f"BEGIN; {TABLES} {TRANSCRIPTS} COMMIT;")
        super().__init__(Path("the temporary store"), connection, None)
        self._has_transcripts = False

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
            if len(self._pending) >= MAX_BATCH_RECORDS:
                self.flush()

    def records(self, *, boards: bool = False) -> Iterator[tuple[Record, Scheduled | None]]:
        """Yield every record with its place, in the order in which they were written, or in that of the schedule."""
        order = f"{ON_BOARDS} ORDER BY p.number" if boards else f"{ANYWHERE} ORDER BY r.number"
        for rows in self.chunks(f"{COLUMNS} {order}"):
            yield from map(self._found, rows)

    def _found(self, row: Sequence[Any]) -> tuple[Record, Scheduled | None]:
        *cells, _, number, board, round_, seats = row
        record = self._reveal(read_record(cells))
        if self._has_transcripts:
            for (text,) in self._all("SELECT exchanges FROM transcript WHERE id = ?", cells[:1]):
                record = record._replace(transcript=tuple(map(tuple, json.loads(text))))
        return record, None if number is None else Scheduled(number, board, Pairing(round_, seats_of(seats)))
