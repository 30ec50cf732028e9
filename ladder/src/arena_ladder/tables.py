"""The tables that a ladder keeps in addition to its matches, with its settings and the audit log.

They are in the same file as the matches. Every method is one transaction and may be called from any thread. After it has
returned, the data survive a crash of the process. Other processes, such as `arena ladder admin`, may write at the same time.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from arena.api.errors import StoreError
from arena.api.store import Database
from arena.clock import wall_time

TABLES = """
CREATE TABLE IF NOT EXISTS ladder_setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ladder_author (
    name TEXT PRIMARY KEY, token TEXT, registered REAL NOT NULL, banned REAL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ladder_submission (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, author TEXT NOT NULL, name TEXT, version INTEGER, kind TEXT NOT NULL,
    file TEXT NOT NULL, digest TEXT NOT NULL, content BLOB NOT NULL, received REAL NOT NULL, status TEXT NOT NULL,
    decided REAL, reason TEXT, findings TEXT, agent TEXT, faults INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX IF NOT EXISTS ladder_version ON ladder_submission (author, name, version) WHERE version NOT NULL;
CREATE INDEX IF NOT EXISTS ladder_status ON ladder_submission (status);
CREATE INDEX IF NOT EXISTS ladder_handed_in ON ladder_submission (author, decided);
CREATE TABLE IF NOT EXISTS ladder_plan (
    number INTEGER PRIMARY KEY, board INTEGER NOT NULL, one TEXT NOT NULL, other TEXT NOT NULL, round INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS ladder_met ON ladder_plan (board, one, other);
CREATE INDEX IF NOT EXISTS ladder_round ON ladder_plan (board, round);
CREATE INDEX IF NOT EXISTS ladder_round_of_one ON ladder_plan (board, one, round);
CREATE INDEX IF NOT EXISTS ladder_round_of_other ON ladder_plan (board, other, round);
CREATE TABLE IF NOT EXISTS ladder_rating (
    number INTEGER PRIMARY KEY, time REAL NOT NULL, board INTEGER NOT NULL, label TEXT NOT NULL, games INTEGER NOT NULL,
    elo REAL NOT NULL, low REAL, high REAL
);
CREATE INDEX IF NOT EXISTS ladder_course ON ladder_rating (label, board);
CREATE TABLE IF NOT EXISTS ladder_person (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, team TEXT NOT NULL, handle TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ladder_mark (
    label TEXT NOT NULL, baseline TEXT NOT NULL, terms TEXT NOT NULL, decision INTEGER NOT NULL, pairs INTEGER NOT NULL,
    time REAL NOT NULL, PRIMARY KEY (label, baseline, terms)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ladder_description (key TEXT PRIMARY KEY, answers TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ladder_link (code TEXT PRIMARY KEY, author TEXT NOT NULL UNIQUE, made REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ladder_message (
    number INTEGER PRIMARY KEY, time REAL NOT NULL, author TEXT NOT NULL, text TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS ladder_message_to ON ladder_message (author);
CREATE TABLE IF NOT EXISTS ladder_feedback (submission TEXT PRIMARY KEY, time REAL NOT NULL, found TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ladder_start (
    label TEXT PRIMARY KEY, unanswered INTEGER NOT NULL, longest REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ladder_audit (
    number INTEGER PRIMARY KEY, time REAL NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL, detail TEXT NOT NULL
);
"""


class AuditLine(NamedTuple):
    """One action by an author, by an admin, or by the ladder itself."""

    time: float
    who: str
    what: str
    detail: str


class LadderTables(Database):
    """The tables of a ladder in an open store. The store must exist."""

    def __init__(self, path: Path) -> None:
        connection = self.connect(path, "rw")
        super().__init__(path, connection)
        with self._telling():
            connection.execute("PRAGMA synchronous = FULL")  # so that an acknowledged submission survives a power failure
            connection.executescript(f"BEGIN IMMEDIATE; {TABLES} COMMIT;")

    def close(self) -> None:
        """Close the connection."""
        with self._guard:
            self._connection.close()

    def changes(self) -> int:
        """Return a number that grows whenever any process changes the submissions in play or a setting."""
        return int(self._value("SELECT value FROM ladder_setting WHERE key = 'changes'") or 0)

    def setting(self, key: str) -> str | None:
        """Return the value of a setting; None if it was never set."""
        found = self._value("SELECT value FROM ladder_setting WHERE key = ?", key)
        return None if found is None else str(found)

    def set(self, key: str, value: str, who: str | None = None) -> None:
        """Change a setting. `who` appears in the audit log."""
        with self._writing():
            self._keep_setting(key, value)
            self._note_change()
            if who is not None:
                self.note(who, f"set {key}", value)

    def _keep_setting(self, key: str, value: str) -> None:
        """Change a setting without starting a new season."""
        self._write("INSERT OR REPLACE INTO ladder_setting (key, value) VALUES (?, ?)", key, value)

    def _note_change(self) -> None:
        """Record a change of the submissions in play or of a setting, which starts a new season."""
        self._write(
            "INSERT INTO ladder_setting (key, value) VALUES ('changes', '1') "
            "ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1"
        )

    def note(self, who: str, what: str, detail: str = "", when: float | None = None) -> None:
        """Add a line to the audit log. `when` is the time of something that happened on another ladder; otherwise it is now."""
        when = wall_time() if when is None else when
        self._write("INSERT INTO ladder_audit (time, who, what, detail) VALUES (?, ?, ?, ?)", when, who, what, detail)

    def audit(self, most: int = 1000) -> list[AuditLine]:
        """Return the latest lines of the audit log, the last one first."""
        return [
            AuditLine(*row)
            for row in self._rows("SELECT time, who, what, detail FROM ladder_audit ORDER BY number DESC LIMIT ?", most)
        ]

    def backup(self, place: Path) -> None:
        """Write the whole store to another file. Raises StoreError if the file exists. The copy is always complete."""
        if place.exists():
            raise StoreError(f"{place} already exists; choose a new file")
        self.copy(place)

    def _rows(self, sql: str, *values: Any) -> list[Any]:
        return self._all(sql, values)

    def _write(self, sql: str, *values: Any) -> int:
        """Run a statement, and return the number of rows that it has changed."""
        with self._writing() as write:
            return write.execute(sql, values).rowcount

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Run a transaction. If it is nested, it becomes part of the outer transaction."""
        with self._guard:
            if self._connection.in_transaction:
                yield self._connection
                return
            with super()._writing() as write:
                yield write
