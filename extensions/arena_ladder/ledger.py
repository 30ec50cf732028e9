"""The tables that a ladder keeps beside its matches: authors, submissions, plans, rating histories and an audit log.

They are in the same file as the matches. Every method is one transaction and may be called from any thread. After it returns,
the data survive a crash of the process. Other processes, such as `arena ladder admin`, may write at the same time.
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

from pydantic import BaseModel, TypeAdapter

from arena import ArenaError
from arena.api.errors import StoreError, cut
from arena.api.store import Database
from arena_isolation import protocol
from arena_isolation.helper import pack
from arena_isolation.protocol import Broken
from arena_web.errors import Refusal

Status = Literal["queued", "checking", "playing", "refused", "withdrawn", "suspended"]
STATUSES: tuple[Status, ...] = get_args(Status)
DAY_SECONDS = 24 * 3600.0
MAX_REASON_CHARACTERS = 1000
MAX_FINDINGS_CHARACTERS = 16 << 10
"""Maximum size of all findings about a submission, as JSON, in characters."""
UNREADABLE = "what was kept of its check cannot be read; hand it in again"

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
    """A planned pair of games: both seat orders of one round."""

    number: int
    """Counted from 0 over the whole life of the ladder."""
    board: int
    one: str
    """Label of the first agent, in alphabetical order."""
    other: str
    round: int


class CoursePoint(NamedTuple):
    """The rating of an agent at one time."""

    time: float
    board: int
    games: int
    elo: float
    low: float | None
    high: float | None


class AuditLine(NamedTuple):
    """One action of an author or an admin, or of the ladder on a submission."""

    time: float
    who: str
    what: str
    detail: str


@dataclass(frozen=True, slots=True)
class Submission:
    """One submission of an author, with its state."""

    number: int
    id: str
    author: str
    name: str | None
    """Name of the agent; None until the author gives one or a check finds it."""
    version: int | None
    """Counted from 1 among the accepted versions of the agent; None if it has not been accepted."""
    kind: str
    """`python`, `zip` or `program`."""
    file: str
    """Name of the file as submitted, without folders."""
    digest: str
    received: float
    status: Status
    decided: float | None
    reason: str | None
    """Why it does not play, as a sentence for its author."""
    findings: Sequence[Mapping[str, Any]]
    """Results of the check, for its author alone."""
    agent: str | None
    """Name of the agent in the code; None if it is not a plugin."""
    faults: int
    """Matches in a row that it lost by faults."""

    @property
    def label(self) -> str:
        """Name in tables: `author/agent@3`."""
        return f"{self.author}/{self.name}@{self.version}"


class Finding(BaseModel):
    """One result of a check, for the author alone."""

    game: str
    check: str
    promise: str
    kept: bool
    reached: bool
    found: str | None


_FINDINGS = TypeAdapter(list[Finding])


class Known(NamedTuple):
    """Kept facts about the plugin of a submission, so that it need not be read or asked again."""

    code: str
    """Hash of the code."""
    claims: Mapping[str, Any]
    """Its description of itself, as bounded by the check."""


class Ledger(Database):
    """The tables of a ladder in an open store. The store must exist."""

    def __init__(self, path: Path) -> None:
        connection = self.connect(path, "rw")
        super().__init__(path, connection)
        with self._telling():
            connection.execute("PRAGMA synchronous = FULL")  # an acknowledged submission survives a power failure
            connection.executescript(f"BEGIN IMMEDIATE; {TABLES} COMMIT;")

    def close(self) -> None:
        """Close the connection."""
        with self._guard:
            self._connection.close()

    def changes(self) -> int:
        """Return a number that grows with every change of the submissions in play or of a setting, by any process."""
        return int(self._value("SELECT value FROM ladder_setting WHERE key = 'changes'") or 0)

    # Settings

    def setting(self, key: str) -> str | None:
        """Return the value of a setting; None if it was never set."""
        found = self._value("SELECT value FROM ladder_setting WHERE key = ?", key)
        return None if found is None else str(found)

    def set(self, key: str, value: str, who: str | None = None) -> None:
        """Set a setting. `who` appears in the audit log."""
        with self._writing() as write:
            write.execute("INSERT OR REPLACE INTO ladder_setting (key, value) VALUES (?, ?)", (key, value))
            _note_change(write)
            if who is not None:
                _note(write, who, f"set {key}", value)

    # Authors

    def register(self, name: str, who: str) -> str:
        """Give an author a new token and return it; the old one becomes invalid. Only its hash is kept."""
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
        """Register an author without a token."""
        with self._writing() as write:
            write.execute("INSERT OR IGNORE INTO ladder_author (name, registered) VALUES (?, ?)", (name, time()))

    def join(self, name: str, who: str) -> str:
        """Register a new author and return the token. Raises Refusal if the name is taken."""
        with self._writing():
            if self._rows("SELECT 1 FROM ladder_author WHERE name = ?", name):
                raise Refusal(409, f"the name {name} is taken", "choose another one")
            return self.register(name, who)

    def author_of(self, token: str) -> str:
        """Return the author with this token. Raises Refusal 401 for an unknown token, and 403 for a banned author."""
        found = self._rows("SELECT name, banned FROM ladder_author WHERE token = ?", _hash(token))
        if not found:
            raise Refusal(401, "this token is not known", "ask the host of the ladder for one")
        name, banned = found[0]
        if banned is not None:
            raise Refusal(403, f"{name} is banned from this ladder", "ask its host why")
        return str(name)

    def authors(self) -> list[tuple[str, bool]]:
        """Return the names of all authors, each with a flag for banned ones."""
        return [(name, banned is not None) for name, banned in self._rows("SELECT name, banned FROM ladder_author ORDER BY name")]

    def ban(self, name: str, who: str) -> None:
        """Take an author's submissions out of play and revoke the token. Raises ArenaError for an unknown author."""
        with self._writing() as write:
            if not write.execute("UPDATE ladder_author SET banned = ? WHERE name = ?", (time(), name)).rowcount:
                raise ArenaError(f"no author {name!r} here; `arena ladder admin SPEC tokens` lists them")
            self._retire(write, "author = ? AND status IN ('queued', 'checking', 'playing')", (name,), "its author is banned")
            _note(write, who, "ban", name)

    # Submissions

    def submit(self, author: str, name: str | None, kind: str, file: str, content: bytes, per_day: int) -> Submission:
        """Keep a submission and return it. Raises Refusal 429 if its author has already submitted `per_day` within 24 hours."""
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
        """Return the submission with an id. Raises Refusal 404 for an unknown id."""
        found = self._submissions("WHERE id = ?", key)
        if not found:
            raise Refusal(404, f"no submission {key}", "see the list on your page")
        return found[0]

    def submissions(self, author: str | None = None) -> list[Submission]:
        """Return all submissions, or the submissions of an author, the oldest first."""
        return (
            self._submissions("ORDER BY number")
            if author is None
            else self._submissions("WHERE author = ? ORDER BY number", author)
        )

    def counts(self) -> Mapping[Status, int]:
        """Return the number of submissions by status."""
        found = dict(self._rows("SELECT status, count(*) FROM ladder_submission GROUP BY status"))
        return {status: found.get(status, 0) for status in STATUSES}

    def in_play(self) -> list[Submission]:
        """Return the submissions in play, the oldest first."""
        return self._submissions("WHERE status = 'playing' ORDER BY number")

    def content(self, key: str) -> bytes:
        """Return the submitted file."""
        return bytes(self._value("SELECT content FROM ladder_submission WHERE id = ?", key))

    def next_to_check(self) -> Submission | None:
        """Return the next submission to check, which is `checking` from now on; None if the queue is empty or the ladder is
        over.

        The queue is fair among authors: the author with the fewest checks in the last 24 hours comes first. Each author has at
        most one check at a time, so versions are numbered in the order of submission.
        """
        if not self._rows("SELECT 1 FROM ladder_submission WHERE status = 'queued' LIMIT 1"):
            return None  # called twice a second: no lock is taken for it
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
        """Requeue submissions whose check an earlier process did not finish or did not keep.

        If the kept result of a check cannot be read, the submission is suspended.
        """
        kept = (
            f"SELECT id, CASE WHEN length(findings) > {MAX_FINDINGS_CHARACTERS} THEN '' ELSE findings END FROM ladder_submission"
        )
        with self._writing() as write:
            for key in [key for key, text in self._rows(kept) if _read_findings(text) is None]:
                write.execute(
                    "UPDATE ladder_submission SET findings = '[]', reason = coalesce(reason, ?), "
                    "status = CASE status WHEN 'playing' THEN 'suspended' ELSE status END WHERE id = ?",
                    (UNREADABLE, key),
                )
            write.execute(
                f"UPDATE ladder_submission SET reason = substr(reason, 1, {MAX_REASON_CHARACTERS}) "
                f"WHERE length(reason) > {MAX_REASON_CHARACTERS}"
            )
            write.execute(
                "UPDATE ladder_submission SET status = 'queued' WHERE status = 'checking' "
                "OR (status = 'playing' AND kind != 'program' AND id NOT IN (SELECT key FROM ladder_description))"
            )

    def refuse(self, key: str, reason: str, findings: Sequence[Mapping[str, Any]]) -> None:
        """Note that a submission did not pass its check, and the reason."""
        with self._writing() as write:
            write.execute(
                "UPDATE ladder_submission SET status = 'refused', decided = ?, reason = ?, findings = ? "
                "WHERE id = ? AND status = 'checking'",
                (time(), _bound_text(reason), _pack_findings(findings), key),
            )
            _note(write, "ladder", "refuse", key)

    def accept(
        self,
        key: str,
        name: str,
        agent: str | None,
        findings: Sequence[Mapping[str, Any]],
        keep: int,
        known: Known | None = None,
    ) -> Submission:
        """Let a submission play as the next version of `name`. Versions before the latest `keep` leave play.

        A submission that has played before keeps its version, and one that was withdrawn meanwhile stays withdrawn. `known`
        holds the facts that the check found about a plugin.
        """
        with self._writing() as write:
            one = self.submission(key)
            if one.status == "checking":
                latest = self._value("SELECT max(version) FROM ladder_submission WHERE author = ? AND name = ?", one.author, name)
                version = 1 + (latest or 0) if one.version is None else one.version
                write.execute(
                    "UPDATE ladder_submission SET status = 'playing', decided = ?, name = ?, version = ?, agent = ?, "
                    "findings = ? WHERE id = ?",
                    (time(), name, version, agent, _pack_findings(findings), key),
                )
                if known is not None:
                    answers = pack({"type": "known", **known._asdict()}).decode()
                    write.execute("INSERT OR REPLACE INTO ladder_description (key, answers) VALUES (?, ?)", (key, answers))
                older = "author = ? AND name = ? AND version <= ? AND status = 'playing'"
                self._retire(write, older, (one.author, name, version - keep), f"version {version} has taken its place")
                _note_change(write)
                _note(write, "ladder", "accept", f"{key} {one.author}/{name}@{version}")
        return self.submission(key)

    def withdraw(self, key: str, who: str, reason: str = "withdrawn by its author") -> bool:
        """Take a submission out of play or out of the queue. Return False and note nothing if it is in neither."""
        with self._writing() as write:
            found = self._retire(write, "id = ? AND status IN ('queued', 'checking', 'playing', 'suspended')", (key,), reason)
            if found:
                _note(write, who, "withdraw", key)
        return found

    def turn_away(self, reason: str) -> None:
        """Empty the queue, including submissions that are being checked."""
        with self._writing() as write:
            self._retire(write, "status IN ('queued', 'checking')", (), reason)

    def suspend(self, label: str, reason: str) -> None:
        """Take a submission out of play for its faults."""
        with self._writing() as write:
            write.execute(
                "UPDATE ladder_submission SET status = 'suspended', reason = ? "
                "WHERE status = 'playing' AND author || '/' || name || '@' || version = ?",
                (_bound_text(reason), label),
            )
            _note_change(write)
            _note(write, "ladder", "suspend", f"{label}: {_bound_text(reason)}")

    def count_faults(self, label: str, faults: int) -> None:
        """Note how many matches in a row an agent has lost by faults."""
        with self._writing() as write:
            write.execute(
                "UPDATE ladder_submission SET faults = ? WHERE author || '/' || name || '@' || version = ?", (faults, label)
            )

    def _retire(self, write: sqlite3.Connection, where: str, values: Sequence[Any], reason: str) -> bool:
        """Withdraw submissions and return whether there were any. Only then it is a change, which begins a season."""
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
        known: list[list[Any]] = [[*row[:12], _read_findings(row[12]) or (), *row[13:]] for row in rows]
        return [Submission(*row) for row in known]

    # Plans and ratings

    def plan(self, pairs: Iterable[tuple[int, str, str]]) -> list[Plan]:
        """Note which pairs meet next, by board and labels, and return their plans. Each plan is a round that the two have not
        played.
        """
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
        """Return all plans from number `first` on, in order."""
        return [Plan(*row) for row in self._rows("SELECT * FROM ladder_plan WHERE number >= ? ORDER BY number", first)]

    def keep_ratings(self, points: Iterable[tuple[str, CoursePoint]]) -> None:
        """Store points of the rating histories."""
        with self._writing() as write:
            write.executemany(
                "INSERT INTO ladder_rating (label, time, board, games, elo, low, high) VALUES (?, ?, ?, ?, ?, ?, ?)",
                [(label, *point) for label, point in points],
            )

    def course(self, label: str) -> list[CoursePoint]:
        """Return the rating history of an agent."""
        columns = "time, board, games, elo, low, high"
        return [
            CoursePoint(*row) for row in self._rows(f"SELECT {columns} FROM ladder_rating WHERE label = ? ORDER BY number", label)
        ]

    # Descriptions

    def known(self, key: str) -> Known | None:
        """Return the kept facts about the plugin of a submission; None if there are none, or if they cannot be read."""
        try:
            found = protocol.parse(str(self._value("SELECT answers FROM ladder_description WHERE key = ?", key)).encode())
            return Known(protocol.text_of(found, "code"), {**protocol.object_of(found, "claims"), "type": "description"})
        except Broken:
            return None

    # Audit

    def note(self, who: str, what: str, detail: str = "") -> None:
        """Add a line to the audit log."""
        with self._writing() as write:
            _note(write, who, what, detail)

    def audit(self, most: int = 1000) -> list[AuditLine]:
        """Return the latest lines of the audit log, the last one first."""
        return [
            AuditLine(*row)
            for row in self._rows("SELECT time, who, what, detail FROM ladder_audit ORDER BY number DESC LIMIT ?", most)
        ]

    def backup(self, place: Path) -> None:
        """Write the whole store to another file. Raises StoreError if the file exists. The copy is never half-written."""
        if place.exists():
            raise StoreError(f"{place} is there already; name a file that is not")
        self.copy(place)

    # Inside

    def _rows(self, sql: str, *values: Any) -> list[Any]:
        return self._all(sql, values)

    def _value(self, sql: str, *values: Any) -> Any:
        rows = self._rows(sql, *values)
        return rows[0][0] if rows else None

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Run a transaction. If it is nested, it is a part of the outer one."""
        with self._guard:
            if self._connection.in_transaction:
                yield self._connection
                return
            with super()._writing() as write:
                yield write


def _pack_findings(findings: Sequence[Mapping[str, Any]]) -> str:
    """Return findings as JSON, without the last ones if they are too long."""
    kept = list(findings)
    while len(text := json.dumps(kept)) > MAX_FINDINGS_CHARACTERS:
        kept.pop()
    return text


def _read_findings(text: str | None) -> list[Mapping[str, Any]] | None:
    """Read findings from JSON; None if the text holds no findings."""
    try:
        return [one.model_dump() for one in _FINDINGS.validate_python(json.loads("[]" if text is None else text))]
    except (ValueError, RecursionError):
        return None


def _bound_text(text: str) -> str:
    """Make any text storable, and cut it to the maximum length."""
    return cut(text.encode("utf-8", "backslashreplace").decode(), MAX_REASON_CHARACTERS)


def _hash(token: str) -> str:
    """Hash a token for storage. It has 256 random bits, so a plain hash cannot be reversed by a search."""
    return sha256(token.encode()).hexdigest()


def _note(write: sqlite3.Connection, who: str, what: str, detail: str) -> None:
    write.execute("INSERT INTO ladder_audit (time, who, what, detail) VALUES (?, ?, ?, ?)", (time(), who, what, detail))


def _note_change(write: sqlite3.Connection) -> None:
    write.execute(
        "INSERT INTO ladder_setting (key, value) VALUES ('changes', '1') "
        "ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1"
    )
