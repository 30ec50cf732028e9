"""What a ladder keeps beside its matches, in the same file: authors, submissions, plans, the course of ratings, an audit log.

Every method is one transaction and may be called from any thread; what has returned is safe, whatever happens to the process
after it. Other processes, such as `arena ladder admin`, may write at the same time.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from secrets import token_hex, token_urlsafe
from time import time
from typing import Any, Literal, NamedTuple, get_args

from arena import ArenaError, __version__
from arena.api.store import StoreError
from arena.store.database import BUSY_SECONDS, Database, copy_database, explain_error
from arena_isolation.versions import Described
from arena_web.errors import Refusal

Status = Literal["queued", "checking", "playing", "refused", "withdrawn", "suspended"]
STATUSES: tuple[Status, ...] = get_args(Status)
DAY_SECONDS = 24 * 3600.0

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
CREATE TABLE IF NOT EXISTS ladder_rating (
    number INTEGER PRIMARY KEY, time REAL NOT NULL, board INTEGER NOT NULL, label TEXT NOT NULL, games INTEGER NOT NULL,
    elo REAL NOT NULL, low REAL, high REAL
);
CREATE INDEX IF NOT EXISTS ladder_course ON ladder_rating (label, board);
CREATE TABLE IF NOT EXISTS ladder_description (key TEXT PRIMARY KEY, answers TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ladder_audit (
    number INTEGER PRIMARY KEY, time REAL NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL, detail TEXT NOT NULL
);
"""


class Plan(NamedTuple):
    """A pair of games to be played: both seat orders of one round."""

    number: int
    """Counted from 0 over the whole life of the ladder."""
    board: int
    one: str
    """The label of one of the two, the smaller by text."""
    other: str
    round: int


class CoursePoint(NamedTuple):
    """The rating of an agent at some time."""

    time: float
    board: int
    games: int
    elo: float
    low: float | None
    high: float | None


class AuditLine(NamedTuple):
    """One thing that an author or an admin did, or that the ladder did with a submission."""

    time: float
    who: str
    what: str
    detail: str


@dataclass(frozen=True, slots=True)
class Submission:
    """One thing that an author handed in, and what became of it."""

    number: int
    id: str
    author: str
    name: str | None
    """The agent's name; None as long as the author did not give one and no check has found it."""
    version: int | None
    """Counted from 1 among the agent's versions that were taken; None of one that has not been."""
    kind: str
    """`python`, `zip` or `program`."""
    file: str
    """The name of the file as it was handed in, without folders."""
    digest: str
    received: float
    status: Status
    decided: float | None
    reason: str | None
    """Why it does not play, in a sentence for its author."""
    findings: Sequence[Mapping[str, Any]]
    """What the check found, for its author alone."""
    agent: str | None
    """The name that its code gives the agent; None where it is no plugin."""
    faults: int
    """Matches in a row that it lost by faults."""

    @property
    def label(self) -> str:
        """What tables call it: `author/agent@3`."""
        return f"{self.author}/{self.name}@{self.version}"


class Ledger(Database):
    """The tables of a ladder in an open store. The store must be there."""

    def __init__(self, path: Path) -> None:
        try:
            uri = f"{path.absolute().as_uri()}?mode=rw"
            connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            super().__init__(path, connection)
            connection.execute("PRAGMA synchronous = FULL")  # an acknowledged submission outlives a power cut
            connection.executescript(f"BEGIN IMMEDIATE; {TABLES} COMMIT;")
        except sqlite3.Error as error:
            raise explain_error(path, error) from error

    def close(self) -> None:
        """Close the connection."""
        with self._guard:
            self._connection.close()

    def changes(self) -> int:
        """Return a number that grows with every change of who is in play, or of a setting, by whichever process."""
        return int(self._value("SELECT value FROM ladder_setting WHERE key = 'changes'") or 0)

    # Settings

    def setting(self, key: str) -> str | None:
        """The value of a setting; None where it was never set."""
        found = self._value("SELECT value FROM ladder_setting WHERE key = ?", key)
        return None if found is None else str(found)

    def set(self, key: str, value: str, who: str | None = None) -> None:
        """Set a setting; `who` stands in the audit log."""
        with self._writing() as write:
            write.execute("INSERT OR REPLACE INTO ladder_setting (key, value) VALUES (?, ?)", (key, value))
            _note_change(write)
            if who is not None:
                _note(write, who, f"set {key}", value)

    # Authors

    def register(self, name: str, who: str) -> str:
        """Give an author a new token and return it; the old one is of no use any more. Only its hash is kept."""
        token = token_urlsafe(32)
        with self._writing() as write:
            write.execute(
                "INSERT INTO ladder_author (name, token, registered) VALUES (?, ?, ?) "
                "ON CONFLICT (name) DO UPDATE SET token = excluded.token",
                (name, _hash(token), time()),
            )
            _note(write, who, "token", name)
        return token

    def expect(self, name: str) -> None:
        """Have an author known who has no token yet."""
        with self._writing() as write:
            write.execute("INSERT OR IGNORE INTO ladder_author (name, registered) VALUES (?, ?)", (name, time()))

    def join(self, name: str, who: str) -> str:
        """Register an author who is new, and return the token; Refusal where the name is taken."""
        with self._writing():
            if self._rows("SELECT 1 FROM ladder_author WHERE name = ?", name):
                raise Refusal(409, f"the name {name} is taken", "choose another one")
            return self.register(name, who)

    def author_of(self, token: str) -> str:
        """The author whose token this is; Refusal 401 for an unknown one, 403 for one who is banned."""
        found = self._rows("SELECT name, banned FROM ladder_author WHERE token = ?", _hash(token))
        if not found:
            raise Refusal(401, "this token is not known", "ask the host of the ladder for one")
        name, banned = found[0]
        if banned is not None:
            raise Refusal(403, f"{name} is banned from this ladder", "ask its host why")
        return str(name)

    def authors(self) -> list[tuple[str, bool]]:
        """The names of all authors, and whether each is banned."""
        return [(name, banned is not None) for name, banned in self._rows("SELECT name, banned FROM ladder_author ORDER BY name")]

    def ban(self, name: str, who: str) -> None:
        """Take an author's submissions out of play and his token from him; ArenaError for an unknown one."""
        with self._writing() as write:
            if not write.execute("UPDATE ladder_author SET banned = ? WHERE name = ?", (time(), name)).rowcount:
                raise ArenaError(f"no author {name!r} here; `arena ladder admin SPEC tokens` lists them")
            self._retire(write, "author = ? AND status IN ('queued', 'checking', 'playing')", (name,), "its author is banned")
            _note(write, who, "ban", name)

    # Submissions

    def submit(self, author: str, name: str | None, kind: str, file: str, content: bytes, per_day: int) -> Submission:
        """Keep a submission and return it; Refusal 429 where its author has handed in `per_day` within 24 hours."""
        now = time()
        with self._writing() as write:
            since = "SELECT count(*), min(received) FROM ladder_submission WHERE author = ? AND received > ?"
            count, first = self._rows(since, author, now - DAY_SECONDS)[0]
            if count >= per_day:
                hours = max(0.0, first + DAY_SECONDS - now) / 3600
                raise Refusal(429, f"{author} has handed in {count} in 24 hours, the most here", f"wait {hours:.1f} hours")
            key = token_hex(8)
            write.execute(
                "INSERT INTO ladder_submission (id, author, name, kind, file, digest, content, received, status) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'queued')",
                (key, author, name, kind, file, sha256(content).hexdigest(), content, now),
            )
            _note(write, author, "submit", f"{key} {file}")
        return self.submission(key)

    def submission(self, key: str) -> Submission:
        """The submission of an id; Refusal 404 for an unknown one."""
        found = self._submissions("WHERE id = ?", key)
        if not found:
            raise Refusal(404, f"no submission {key}", "see the list on your page")
        return found[0]

    def submissions(self, author: str | None = None) -> list[Submission]:
        """All submissions, or those of an author, in the order in which they came."""
        return (
            self._submissions("ORDER BY number")
            if author is None
            else self._submissions("WHERE author = ? ORDER BY number", author)
        )

    def counts(self) -> Mapping[Status, int]:
        """How many submissions have each status."""
        found = dict(self._rows("SELECT status, count(*) FROM ladder_submission GROUP BY status"))
        return {status: found.get(status, 0) for status in STATUSES}

    def in_play(self) -> list[Submission]:
        """The submissions that play, in the order in which they came."""
        return self._submissions("WHERE status = 'playing' ORDER BY number")

    def content(self, key: str) -> bytes:
        """What was handed in."""
        return bytes(self._value("SELECT content FROM ladder_submission WHERE id = ?", key))

    def next_to_check(self) -> Submission | None:
        """The submission that has waited longest, which is `checking` from now on; None where none waits.

        Fair among authors: of those who wait, who had the fewest checked in 24 hours comes first; of each one is checked at a
        time, so that versions are counted as they came. None once the ladder is over.
        """
        if not self._rows("SELECT 1 FROM ladder_submission WHERE status = 'queued' LIMIT 1"):
            return None  # asked twice a second: no lock is taken for it
        with self._writing() as write:
            busy = "SELECT author FROM ladder_submission WHERE status = 'checking'"
            waiting = self._submissions(f"WHERE status = 'queued' AND author NOT IN ({busy}) ORDER BY number")
            if not waiting or self.setting("over") is not None:
                return None
            counts = dict(
                self._rows(
                    "SELECT author, count(*) FROM ladder_submission WHERE decided > ? GROUP BY author", time() - DAY_SECONDS
                )
            )
            first = min(waiting, key=lambda one: (counts.get(one.author, 0), one.number))
            write.execute("UPDATE ladder_submission SET status = 'checking' WHERE id = ?", (first.id,))
        return self.submission(first.id)

    def requeue(self) -> None:
        """Let those be checked once more whose check a process did not end that is gone."""
        with self._writing() as write:
            write.execute("UPDATE ladder_submission SET status = 'queued' WHERE status = 'checking'")

    def refuse(self, key: str, reason: str, findings: Sequence[Mapping[str, Any]]) -> None:
        """Note that a submission did not pass its check, and why."""
        with self._writing() as write:
            write.execute(
                "UPDATE ladder_submission SET status = 'refused', decided = ?, reason = ?, findings = ? "
                "WHERE id = ? AND status = 'checking'",
                (time(), reason, json.dumps(list(findings)), key),
            )
            _note(write, "ladder", "refuse", key)

    def accept(self, key: str, name: str, agent: str | None, findings: Sequence[Mapping[str, Any]], keep: int) -> Submission:
        """Let a submission play as the next version of `name`; versions before the latest `keep` leave play.

        One that was withdrawn meanwhile stays so.
        """
        with self._writing() as write:
            one = self.submission(key)
            if one.status == "checking":
                latest = self._value("SELECT max(version) FROM ladder_submission WHERE author = ? AND name = ?", one.author, name)
                version = 1 + (latest or 0)
                write.execute(
                    "UPDATE ladder_submission SET status = 'playing', decided = ?, name = ?, version = ?, agent = ?, "
                    "findings = ? WHERE id = ?",
                    (time(), name, version, agent, json.dumps(list(findings)), key),
                )
                older = "author = ? AND name = ? AND version <= ? AND status = 'playing'"
                self._retire(write, older, (one.author, name, version - keep), f"version {version} has taken its place")
                _note_change(write)
                _note(write, "ladder", "accept", f"{key} {one.author}/{name}@{version}")
        return self.submission(key)

    def withdraw(self, key: str, who: str, reason: str = "withdrawn by its author") -> bool:
        """Take a submission out of play, or out of the queue; False, and nothing is noted, if it is in neither."""
        with self._writing() as write:
            found = self._retire(write, "id = ? AND status IN ('queued', 'checking', 'playing', 'suspended')", (key,), reason)
            if found:
                _note(write, who, "withdraw", key)
        return found

    def turn_away(self, reason: str) -> None:
        """Take all out of the queue, those that are being checked too."""
        with self._writing() as write:
            self._retire(write, "status IN ('queued', 'checking')", (), reason)

    def suspend(self, label: str, reason: str) -> None:
        """Take a playing submission out of play for its faults."""
        with self._writing() as write:
            write.execute(
                "UPDATE ladder_submission SET status = 'suspended', reason = ? "
                "WHERE status = 'playing' AND author || '/' || name || '@' || version = ?",
                (reason, label),
            )
            _note_change(write)
            _note(write, "ladder", "suspend", f"{label}: {reason}")

    def count_faults(self, label: str, faults: int) -> None:
        """Note how many matches in a row an agent has lost by faults."""
        with self._writing() as write:
            write.execute(
                "UPDATE ladder_submission SET faults = ? WHERE author || '/' || name || '@' || version = ?", (faults, label)
            )

    def _retire(self, write: sqlite3.Connection, where: str, values: Sequence[Any], reason: str) -> bool:
        """Withdraw submissions and return whether there are any; only then there is a change, which begins a season."""
        found = write.execute(
            f"UPDATE ladder_submission SET status = 'withdrawn', decided = coalesce(decided, ?), reason = ? WHERE {where}",
            (time(), reason, *values),
        )
        if found.rowcount:
            _note_change(write)
        return bool(found.rowcount)

    def _submissions(self, where: str, *values: Any) -> list[Submission]:
        columns = (
            "number, id, author, name, version, kind, file, digest, received, status, decided, reason, findings, agent, faults"
        )
        rows = self._rows(f"SELECT {columns} FROM ladder_submission {where}", *values)
        return [
            Submission(*[json.loads(cell or "[]") if place == 12 else cell for place, cell in enumerate(row)]) for row in rows
        ]

    # Plans and ratings

    def plan(self, pairs: Iterable[tuple[int, str, str]]) -> list[Plan]:
        """Note which pairs meet next, by board and labels, and return them: each in a round in which the two have not met."""
        with self._writing() as write:
            number = 1 + (-1 if (last := self._value("SELECT max(number) FROM ladder_plan")) is None else last)
            for board, *labels in pairs:
                one, other = sorted(labels)
                met = "SELECT coalesce(max(round) + 1, 0) FROM ladder_plan WHERE board = ? AND one = ? AND other = ?"
                round_ = self._value(met, board, one, other)
                write.execute("INSERT INTO ladder_plan VALUES (?, ?, ?, ?, ?)", (number, board, one, other, round_))
                number += 1
            first = -1 if last is None else last
        return self.plans(first + 1)

    def plans(self, first: int = 0) -> list[Plan]:
        """All plans from a number on, in order."""
        return [Plan(*row) for row in self._rows("SELECT * FROM ladder_plan WHERE number >= ? ORDER BY number", first)]

    def keep_ratings(self, points: Iterable[tuple[str, CoursePoint]]) -> None:
        """Keep points of the courses of ratings."""
        with self._writing() as write:
            write.executemany(
                "INSERT INTO ladder_rating (label, time, board, games, elo, low, high) VALUES (?, ?, ?, ?, ?, ?, ?)",
                [(label, *point) for label, point in points],
            )

    def course(self, label: str) -> list[CoursePoint]:
        """The ratings of an agent over time."""
        columns = "time, board, games, elo, low, high"
        return [
            CoursePoint(*row) for row in self._rows(f"SELECT {columns} FROM ladder_rating WHERE label = ? ORDER BY number", label)
        ]

    # Descriptions

    def descriptions(self) -> dict[tuple[str, ...], dict[bytes, Mapping[str, Any]]]:
        """The plugins that arena was told to bring, so that a restarted process need not ask each of them again."""
        found: dict[tuple[str, ...], dict[bytes, Mapping[str, Any]]] = {}
        for key, answers in self._rows("SELECT key, answers FROM ladder_description"):
            arena, *rest = json.loads(key)
            if arena == __version__:
                found[tuple(rest)] = {asked.encode(): answer for asked, answer in json.loads(answers)}
        return found

    def keep_descriptions(self, found: Described) -> None:
        """Keep what plugins bring. Another version of arena asks them again."""
        with self._writing() as write:
            write.executemany(
                "INSERT OR REPLACE INTO ladder_description (key, answers) VALUES (?, ?)",
                [
                    (json.dumps([__version__, *key]), json.dumps([[asked.decode(), answer] for asked, answer in answers.items()]))
                    for key, answers in found.items()
                ],
            )

    # Audit

    def note(self, who: str, what: str, detail: str = "") -> None:
        """Add a line to the audit log."""
        with self._writing() as write:
            _note(write, who, what, detail)

    def audit(self, most: int = 1000) -> list[AuditLine]:
        """The latest lines of the audit log, the last one first."""
        return [
            AuditLine(*row)
            for row in self._rows("SELECT time, who, what, detail FROM ladder_audit ORDER BY number DESC LIMIT ?", most)
        ]

    def backup(self, place: Path) -> None:
        """Write all of the store to another file; StoreError where one is there. There is no half of a copy at any time."""
        if place.exists():
            raise StoreError(f"{place} is there already; name a file that is not")
        with self._guard, self._telling():
            copy_database(self._connection, place)

    # Inside

    def _rows(self, sql: str, *values: Any) -> list[Any]:
        return self._all(sql, values)

    def _value(self, sql: str, *values: Any) -> Any:
        rows = self._rows(sql, *values)
        return rows[0][0] if rows else None

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction, all or nothing; one inside another is a part of it."""
        with self._guard:
            if self._connection.in_transaction:
                yield self._connection
                return
            with super()._writing() as write:
                yield write


def _hash(token: str) -> str:
    """What is kept of a token: it has 256 random bits, so a plain hash of it cannot be searched."""
    return sha256(token.encode()).hexdigest()


def _note(write: sqlite3.Connection, who: str, what: str, detail: str) -> None:
    write.execute("INSERT INTO ladder_audit (time, who, what, detail) VALUES (?, ?, ?, ?)", (time(), who, what, detail))


def _note_change(write: sqlite3.Connection) -> None:
    write.execute(
        "INSERT INTO ladder_setting (key, value) VALUES ('changes', '1') "
        "ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1"
    )
