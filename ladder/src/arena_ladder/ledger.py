"""The tables that a ladder keeps in addition to its matches: authors, submissions, plans, rating histories and an audit log.

They are in the same file as the matches. Every method is one transaction and may be called from any thread. After it has
returned, the data survive a crash of the process. Other processes, such as `arena ladder admin`, may write at the same time.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from secrets import token_hex, token_urlsafe
from time import time
from typing import Any, Literal, NamedTuple, get_args

from pydantic import BaseModel, TypeAdapter

from arena import ArenaError
from arena.api.errors import StoreError, cut
from arena.api.match import canonical
from arena.api.store import Database, Store
from arena_isolation import protocol
from arena_isolation.helper_process import pack
from arena_isolation.protocol import Broken
from arena_ladder.roster import Person
from arena_ladder.spec import LadderSpec, SubmissionKeys
from arena_web.api import Findings
from arena_web.errors import Refusal

Status = Literal["queued", "checking", "playing", "refused", "withdrawn", "suspended"]
STATUSES: tuple[Status, ...] = get_args(Status)
NIGHT = "night"
"""The name of the setting that holds the last review of matches."""
HOST_TOKEN = "host token"  # noqa: S105 - the name of a setting
"""The name of the setting that holds the hash of the host's token."""
FORGOTTEN = "gone-"
"""The prefix of the public name of an author whose data were removed. A roster does not change such a name."""
DAY_SECONDS = 24 * 3600.0
MAX_REASON_CHARACTERS = 1000
MAX_MESSAGE_CHARACTERS = 4000
MAX_FINDINGS_CHARACTERS = 16 << 10
"""The maximum size of all findings about a submission, in characters of JSON."""
BANNED = "its author is banned"
ENDED = "the ladder ended before the check"
CROWDED = "too many agents are in play, so the most recent ones play on; ask the host of the ladder"
UNREADABLE = "the stored result of its check cannot be read; submit the agent again"

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


class Plan(NamedTuple):
    """A planned pair of games: one round in both seat orders. If an agent is paired with itself, the plan is an attempt to solve
    a position, and the round is the number of the position.
    """

    number: int
    """The number of the plan, counted from 0 over the whole life of the ladder."""
    board: int
    one: str
    """The label of the agent that comes first in alphabetical order."""
    other: str
    round: int


class CoursePoint(NamedTuple):
    """The rating of an agent at one point in time."""

    time: float
    board: int
    games: int
    elo: float
    low: float | None
    high: float | None


class Starts(NamedTuple):
    """How a submission has answered at the starts of its matches."""

    unanswered: int = 0
    """The number of starts that it did not answer since the last answer."""
    longest: float = 0.0
    """The seconds of the longest start that it answered; 0 before the first one."""


class Message(NamedTuple):
    """A message from the host to an author or a team."""

    time: float
    text: str


class Night(NamedTuple):
    """The time at which the last review of matches began, and the number of the first match that the review did not cover."""

    time: float
    first: int


class Feedback(NamedTuple):
    """The result of the last review of a submission."""

    time: float
    matches: int
    """The number of matches that were reviewed."""
    findings: Findings

    def as_values(self) -> dict[str, Any]:
        """Return the feedback as plain values, with the time as text."""
        when = datetime.fromtimestamp(self.time, UTC).isoformat(timespec="seconds")
        found = self.findings
        counts = {"matches": self.matches, "decisions": found["decisions"], "judged": found["judged"]}
        return {"time": when, **counts, "costly": [dict(one) for one in found["costly"]]}


class AuditLine(NamedTuple):
    """One action by an author, by an admin, or by the ladder itself."""

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
    """The name of the agent; None until the author gives a name or a check finds one."""
    version: int | None
    """The number of this version, counted from 1 among the accepted versions of the agent; None if it has not been accepted."""
    kind: str
    """`python`, `zip` or `program`."""
    file: str
    """The name of the file as submitted, without folders."""
    digest: str
    received: float
    status: Status
    decided: float | None
    reason: str | None
    """Why the submission does not play, as a sentence for the author."""
    findings: Sequence[Mapping[str, Any]]
    """The results of the check, which only the author may see."""
    agent: str | None
    """The name of the agent in the code; None if it is not a plugin."""
    faults: int
    """The number of matches in a row that it lost by faults."""

    @property
    def label(self) -> str:
        """Return the public name: `author/agent@3`."""
        return f"{self.author}/{self.name}@{self.version}"


class Finding(BaseModel):
    """One result of a check, which only the author may see."""

    game: str
    check: str
    promise: str
    kept: bool
    reached: bool
    found: str | None


_FINDINGS = TypeAdapter(list[Finding])


class Known(NamedTuple):
    """Facts about the plugin of a submission. They are stored, so that the plugin need not be read or asked again."""

    code: str
    """The hash of the code."""
    claims: Mapping[str, Any]
    """The description that the plugin gives of itself. The check limits the size of this description."""


class Room(NamedTuple):
    """How many agents may be in play."""

    agents: int
    """The number of versions of all authors."""
    per_author: int
    """The number of agents of one author, each with any number of versions."""


class NoRoom(ArenaError):
    """There is no room for a submission. The message is for its author."""


class Ledger(Database):
    """The tables of a ladder in an open store. The store must exist."""

    def __init__(self, path: Path) -> None:
        connection = self.connect(path, "rw")
        super().__init__(path, connection)
        self._others: Sequence[Ledger] = ()
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

    # Settings

    def setting(self, key: str) -> str | None:
        """Return the value of a setting; None if it was never set."""
        found = self._value("SELECT value FROM ladder_setting WHERE key = ?", key)
        return None if found is None else str(found)

    def set(self, key: str, value: str, who: str | None = None) -> None:
        """Change a setting. `who` appears in the audit log."""
        with self._writing() as write:
            write.execute("INSERT OR REPLACE INTO ladder_setting (key, value) VALUES (?, ?)", (key, value))
            _note_change(write)
            if who is not None:
                _note(write, who, f"set {key}", value)

    # Authors

    def register(self, name: str, who: str) -> str:
        """Give an author a new token, and return it. An old token becomes invalid. Only the hash of the token is stored."""
        token = token_urlsafe(32)
        with self._writing() as write:
            write.execute(
                "INSERT INTO ladder_author (name, token, registered) VALUES (?, ?, ?) "
                "ON CONFLICT (name) DO UPDATE SET token = excluded.token",
                (name, _hash(token), time()),
            )
            _note(write, who, "token", name)
        return token

    def make_link(self, name: str, who: str) -> str:
        """Return a code that gives an author a token once; an older code becomes invalid. Only the hash of the code is stored."""
        code = token_urlsafe(24)
        with self._writing() as write:
            self.expect(name)
            write.execute("INSERT OR REPLACE INTO ladder_link (code, author, made) VALUES (?, ?, ?)", (_hash(code), name, time()))
            _note(write, who, "link", name)
        return code

    def claim(self, code: str) -> tuple[str, str]:
        """Use up the code of a link. Return the id of the author and a new token. Raises Refusal 404 if the code is not valid."""
        with self._writing() as write:
            author = self._value("SELECT author FROM ladder_link WHERE code = ?", _hash(code))
            if author is None:
                raise Refusal(404, "this link is invalid or has already been used", "ask the host of the ladder for a new one")
            write.execute("DELETE FROM ladder_link WHERE author = ?", (author,))
            return str(author), self.register(str(author), str(author))

    def expect(self, name: str) -> None:
        """Register an author, without giving out a token."""
        with self._writing() as write:
            write.execute("INSERT OR IGNORE INTO ladder_author (name, registered) VALUES (?, ?)", (name, time()))

    def join(self, name: str, who: str) -> str:
        """Register a new author and return the token. Raises Refusal if the name is taken."""
        with self._writing():
            if self._rows("SELECT 1 FROM ladder_author WHERE name = ?", name):
                raise Refusal(409, f"the name {name} is taken", "choose another one")
            return self.register(name, who)

    def author_of(self, token: str) -> str:
        """Return the public name of the author with this token. The members of a team share this name.

        Raises Refusal 401 for an unknown token, and 403 for a banned author.
        """
        question = (
            "SELECT coalesce(handle, a.name), banned FROM ladder_author a LEFT JOIN ladder_person ON id = a.name WHERE a.name = ?"
        )
        found = self._rows(question, self.find_author(token))
        if not found:
            raise Refusal(401, "this token is unknown", "ask the host of the ladder for one")
        name, banned = found[0]
        if banned is not None:
            raise Refusal(403, f"{name} is banned from this ladder", "ask the host of the ladder for the reason")
        return str(name)

    def find_author(self, token: str) -> str | None:
        """Return the author with this token, even if the author is banned; None for an unknown token."""
        return next((found for ledger in (self, *self._others) if (found := ledger.find_own_author(token)) is not None), None)

    def find_own_author(self, token: str) -> str | None:
        """Return the author to whom this ladder itself has given a token; None for any other token."""
        found = self._value("SELECT name FROM ladder_author WHERE token = ?", _hash(token))
        return None if found is None else str(found)

    def share_tokens(self, others: Iterable["Ledger"]) -> None:
        """Also accept the tokens that other ladders have given to authors with the same ids, and to the host.

        Only ladders in which the same ids are the same people may share tokens, because an id is all that they compare.
        """
        self._others = [ledger for ledger in others if ledger is not self]

    def make_host_token(self) -> str:
        """Return a new token for the page of the host; an old token becomes invalid. Only the hash of the token is stored."""
        token = token_urlsafe(32)
        with self._writing() as write:
            write.execute("INSERT OR REPLACE INTO ladder_setting (key, value) VALUES (?, ?)", (HOST_TOKEN, _hash(token)))
            _note(write, "admin", "token", "host")
        return token

    def is_host(self, token: str) -> bool:
        """Return True if a token belongs to the host."""
        return any(ledger.setting(HOST_TOKEN) == _hash(token) for ledger in (self, *self._others))

    def authors(self) -> list[tuple[str, bool]]:
        """Return the names of all authors, each with a flag that is true for banned authors."""
        return [(name, banned is not None) for name, banned in self._rows("SELECT name, banned FROM ladder_author ORDER BY name")]

    def ban(self, name: str, who: str) -> None:
        """Withdraw the submissions of an author and of the author's team, and refuse their tokens. Raises ArenaError for an
        unknown author.
        """
        with self._writing() as write:
            handle = self._set_banned(write, name, time())
            self._retire(write, "author = ? AND status IN ('queued', 'checking', 'playing')", (handle,), BANNED)
            _note(write, who, "ban", name)

    def unban(self, name: str, who: str) -> None:
        """Accept the token of an author again, and count the matches so far. Submissions stay withdrawn."""
        with self._writing() as write:
            self._set_banned(write, name, None)
            _note_change(write)
            _note(write, who, "unban", name)

    def _set_banned(self, write: sqlite3.Connection, name: str, when: float | None) -> str:
        """Ban all authors with the same public name from the time `when`; None ends the ban. `name` is the public name or the id
        of one of the authors. Return the public name.
        """
        handles = self._rows("SELECT handle FROM ladder_person WHERE id = ? OR handle = ?", name, name)
        handle = str(handles[0][0]) if handles else name
        concerned = "name = ? OR name IN (SELECT id FROM ladder_person WHERE handle = ?)"
        if not write.execute(f"UPDATE ladder_author SET banned = ? WHERE {concerned}", (when, handle, handle)).rowcount:
            raise ArenaError(f"unknown author {name!r}; `arena ladder admin SPEC tokens` lists them")
        return handle

    def banned(self) -> frozenset[str]:
        """Return the public names of all banned authors."""
        question = (
            "SELECT coalesce(handle, a.name) FROM ladder_author a LEFT JOIN ladder_person ON id = a.name WHERE banned NOT NULL"
        )
        return frozenset([str(handle) for (handle,) in self._rows(question)])

    # The roster

    def enrol(self, people: Iterable[Person], *, pseudonyms: bool) -> None:
        """Add authors, and change authors that are known. No author is removed, and pseudonyms stay the same."""
        with self._writing() as write:
            for person in people:
                self.expect(person.id)
                own = self._rows("SELECT handle, team FROM ladder_person WHERE id = ?", person.id)
                shared = self._rows("SELECT handle FROM ladder_person WHERE team = ? AND team != ''", person.team)
                if own and own[0][0].startswith(FORGOTTEN):
                    continue
                handle = person.team or person.id
                if pseudonyms and shared:
                    handle = shared[0][0]
                elif pseudonyms:
                    handle = own[0][0] if own and own[0][1] == person.team else f"p-{token_hex(4)}"
                write.execute(
                    "INSERT OR REPLACE INTO ladder_person (id, name, email, team, handle) VALUES (?, ?, ?, ?, ?)",
                    (person.id, person.name, person.email, person.team, handle),
                )

    def people(self) -> list[tuple[Person, str]]:
        """Return all authors with their public names, sorted by id."""
        question = (
            "SELECT a.name, coalesce(p.name, ''), coalesce(email, ''), coalesce(team, ''), coalesce(handle, a.name) "
            "FROM ladder_author a LEFT JOIN ladder_person p ON id = a.name ORDER BY a.name"
        )
        return [(Person(*found), str(handle)) for *found, handle in self._rows(question)]

    def without_token(self) -> list[str]:
        """Return the ids of all authors without a token."""
        return [str(name) for (name,) in self._rows("SELECT name FROM ladder_author WHERE token IS NULL ORDER BY name")]

    def forget(self, name: str, who: str) -> list[Submission]:
        """Remove the name, the e-mail address and the token of an author. If no other author shares the public name, also remove
        the code. The records of matches stay.

        Return the submissions for which the caller has to remove logs and files. Raises ArenaError for an unknown author.
        """
        with self._writing() as write:
            handles = {person.id: handle for person, handle in self.people()}
            if name not in handles:
                raise ArenaError(f"unknown author {name!r}; `arena ladder admin SPEC tokens` lists them")
            handle = handles.pop(name)
            write.execute("UPDATE ladder_author SET token = NULL, banned = ? WHERE name = ?", (time(), name))
            write.execute("DELETE FROM ladder_link WHERE author = ?", (name,))
            own = (name, "", "", "", f"{FORGOTTEN}{token_hex(4)}")
            write.execute("INSERT OR REPLACE INTO ladder_person (id, name, email, team, handle) VALUES (?, ?, ?, ?, ?)", own)
            gone: list[Submission] = []
            if handle not in handles.values():
                gone = self.submissions(handle)
                self._retire(
                    write, "author = ? AND status IN ('queued', 'checking', 'playing')", (handle,), "its author was deleted"
                )
                write.execute(
                    "UPDATE ladder_submission SET content = x'', findings = '[]', file = 'forgotten' WHERE author = ?", (handle,)
                )
                write.execute("DELETE FROM ladder_message WHERE author = ?", (handle,))
                write.executemany("DELETE FROM ladder_feedback WHERE submission = ?", [(one.id,) for one in gone])
            _note(write, who, "forget", handle)
        return gone

    # Submissions

    def submit(self, author: str, name: str | None, kind: str, file: str, content: bytes, per_day: int) -> Submission:
        """Store a submission and return it. Raises Refusal 403 if the author was banned or deleted, 422 if the ladder has ended,
        and 429 if the author has already submitted `per_day` times within 24 hours.
        """
        now = time()
        with self._writing() as write:
            self._admit(author)  # again, because a client may send the file for hours after the first look at its token
            since = "SELECT count(*), min(received) FROM ladder_submission WHERE author = ? AND received > ?"
            count, first = self._rows(since, author, now - DAY_SECONDS)[0]
            if count >= per_day:
                seconds = max(0.0, first + DAY_SECONDS - now)
                hint = f"wait {seconds / 3600:.1f} hours"
                raise Refusal(
                    429, f"{author} has submitted {count} in 24 hours, which is the limit of this ladder", hint, seconds
                )
            key = token_hex(8)
            write.execute(
                "INSERT INTO ladder_submission (id, author, name, kind, file, digest, content, received, status) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'queued')",
                (key, author, name, kind, file, sha256(content).hexdigest(), content, now),
            )
            _note(write, author, "submit", f"{key} {file}")
        return self.submission(key)

    def _admit(self, author: str) -> None:
        """Raise Refusal if the author or team with a public name may not submit."""
        if author in self.banned():
            raise Refusal(403, f"{author} is banned from this ladder", "ask the host of the ladder for the reason")
        known = "SELECT 1 FROM ladder_author a LEFT JOIN ladder_person ON id = a.name WHERE coalesce(handle, a.name) = ? LIMIT 1"
        if not self._rows(known, author):
            raise Refusal(403, f"{author} is not an author of this ladder", "ask the host of the ladder")
        if self.setting("over") is not None:
            raise Refusal(422, "this ladder has ended", "its standings stay")

    def submission(self, key: str) -> Submission:
        """Return the submission with an id. Raises Refusal 404 for an unknown id."""
        found = self._submissions("WHERE id = ?", key)
        if not found:
            raise Refusal(404, f"no submission {key}", "see the list on your page")
        return found[0]

    def submissions(self, author: str | None = None) -> list[Submission]:
        """Return all submissions, or all submissions of an author, the oldest first."""
        return (
            self._submissions("ORDER BY number")
            if author is None
            else self._submissions("WHERE author = ? ORDER BY number", author)
        )

    def counts(self) -> Mapping[Status, int]:
        """Return the number of submissions by status."""
        found = dict(self._rows("SELECT status, count(*) FROM ladder_submission GROUP BY status"))
        return {status: found.get(status, 0) for status in STATUSES}

    def is_checking(self) -> bool:
        """Return True if a submission is in the queue or being checked."""
        return bool(self._rows("SELECT 1 FROM ladder_submission WHERE status IN ('queued', 'checking') LIMIT 1"))

    def count_waiting_authors(self) -> int:
        """Return the number of authors with a submission in the queue."""
        return int(self._value("SELECT count(DISTINCT author) FROM ladder_submission WHERE status = 'queued'"))

    def in_play(self) -> list[Submission]:
        """Return the submissions in play, the oldest first."""
        banned = self.banned()
        return [one for one in self._submissions("WHERE status = 'playing' ORDER BY number") if one.author not in banned]

    def content(self, key: str) -> bytes:
        """Return the submitted file."""
        return bytes(self._value("SELECT content FROM ladder_submission WHERE id = ?", key))

    def next_to_check(self) -> Submission | None:
        """Return the next submission to check and set its status to `checking`; None if the queue is empty or the ladder is over.

        Submissions of banned authors stay in the queue.

        The queue treats authors fairly: the author with the fewest checks in the last 24 hours comes first. Each author has at
        most one check at a time, so versions are numbered in the order of submission.
        """
        if not self.has_check():
            return None  # without a lock, because this is called twice a second
        with self._writing() as write:
            waiting = self._list_checks()
            if not waiting:
                return None
            counts = dict(
                self._rows(
                    "SELECT author, count(*) FROM ladder_submission WHERE decided > ? GROUP BY author", time() - DAY_SECONDS
                )
            )
            first = min(waiting, key=lambda one: (counts.get(one.author, 0), one.number))
            write.execute("UPDATE ladder_submission SET status = 'checking' WHERE id = ?", (first.id,))
        return self.submission(first.id)

    def has_check(self) -> bool:
        """Return True if `next_to_check` would return a submission now."""
        return bool(self._list_checks())

    def _list_checks(self) -> list[Submission]:
        """Return the submissions that may be checked now, the oldest first."""
        if not self._rows("SELECT 1 FROM ladder_submission WHERE status = 'queued' LIMIT 1") or self.setting("over") is not None:
            return []
        busy = "SELECT author FROM ladder_submission WHERE status = 'checking'"
        banned = self.banned()
        waiting = self._submissions(f"WHERE status = 'queued' AND author NOT IN ({busy}) ORDER BY number")
        return [one for one in waiting if one.author not in banned]

    def requeue(self) -> None:
        """Put submissions back into the queue if an earlier process has not finished their check, or if they are in play without
        the stored facts about their plugin.

        A submission in play is suspended if its stored findings cannot be read.
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

    def check_again(self, key: str, who: str) -> Submission:
        """Put a submission back into the queue. It keeps its version.

        Raises Refusal 409 if it is already waiting or being checked, if its code was removed, if its author is banned, or if the
        ladder has ended.
        """
        with self._writing() as write:
            one = self.submission(key)
            if one.status in ("queued", "checking"):
                raise Refusal(409, f"{key} is {one.status}", "wait for its check")
            if not self.content(key):
                raise Refusal(409, f"the code of {key} was removed", "ask its author to submit it again")
            if one.author in self.banned():
                raise Refusal(409, f"{one.author} is banned", "unban the author with `admin unban`")
            if self.setting("over") is not None:
                raise Refusal(409, "this ladder has ended", "its standings stay")
            write.execute("UPDATE ladder_submission SET status = 'queued', reason = NULL WHERE id = ?", (key,))
            _forget_steps(write, key)
            _note_change(write)
            _note(write, who, "check again", key)
        return self.submission(key)

    def keep_step(self, key: str, rules: str, step: Mapping[str, Any]) -> None:
        """Note a step of a check that a submission has passed. `rules` is a hash of everything else that decides the check."""
        with self._writing() as write:
            steps = [*self.passed_steps(key, rules), step]
            row = (f"steps {key}", json.dumps([rules, steps]))
            write.execute("INSERT OR REPLACE INTO ladder_setting (key, value) VALUES (?, ?)", row)

    def passed_steps(self, key: str, rules: str) -> list[dict[str, Any]]:
        """Return the steps of a check that was interrupted; none if its rules were others."""
        found, steps = json.loads(self.setting(f"steps {key}") or "[null, []]")
        return (_read_findings(json.dumps(steps)) or []) if found == rules else []  # type: ignore[return-value]

    def refuse(self, key: str, reason: str, findings: Sequence[Mapping[str, Any]]) -> None:
        """Note that a submission did not pass its check, and the reason."""
        with self._writing() as write:
            write.execute(
                "UPDATE ladder_submission SET status = 'refused', decided = CASE WHEN version IS NULL THEN ? ELSE decided END, "
                "reason = ?, findings = ? WHERE id = ? AND status = 'checking'",
                (time(), _bound_text(reason), _pack_findings(findings), key),
            )
            _forget_steps(write, key)
            _note(write, "ladder", "refuse", key)

    def accept(
        self,
        key: str,
        name: str,
        agent: str | None,
        findings: Sequence[Mapping[str, Any]],
        keep: int,
        known: Known | None = None,
        *,
        room: Room | None = None,
    ) -> Submission:
        """Let a submission play as the next version of `name`. Only the latest `keep` versions stay in play.

        A submission that has played before keeps its version, and one that was withdrawn meanwhile stays withdrawn. It is
        withdrawn if its author was banned or the ladder has ended meanwhile, and refused if there is no `room` for it. `known`
        has the facts about a plugin that the check found.
        """
        try:
            with self._writing() as write:
                one = self.submission(key)
                _forget_steps(write, key)
                if one.status == "checking" and one.author in self.banned():
                    self._retire(write, "id = ?", (key,), BANNED)
                elif one.status == "checking" and self.setting("over") is not None:
                    self._retire(write, "id = ?", (key,), ENDED)
                elif one.status == "checking":
                    self._let_play(write, one, name, agent, findings, keep, known)
                    if room is not None:
                        self._check_room(one, room)
        except NoRoom as full:
            self.refuse(key, str(full), findings)
        return self.submission(key)

    def _let_play(
        self,
        write: sqlite3.Connection,
        one: Submission,
        name: str,
        agent: str | None,
        findings: Sequence[Mapping[str, Any]],
        keep: int,
        known: Known | None,
    ) -> None:
        key = one.id
        latest = self._value("SELECT max(version) FROM ladder_submission WHERE author = ? AND name = ?", one.author, name)
        version = 1 + (latest or 0) if one.version is None else one.version
        decided = time() if one.version is None else one.decided  # a check that is repeated does not change the order
        write.execute(
            "UPDATE ladder_submission SET status = 'playing', decided = ?, name = ?, version = ?, agent = ?, "
            "findings = ?, reason = NULL, faults = 0 WHERE id = ?",
            (decided, name, version, agent, _pack_findings(findings), key),
        )
        write.execute("DELETE FROM ladder_start WHERE label = ?", (f"{one.author}/{name}@{version}",))
        if known is not None:
            answers = pack({"type": "known", **known._asdict()}).decode()
            write.execute("INSERT OR REPLACE INTO ladder_description (key, answers) VALUES (?, ?)", (key, answers))
        older = "author = ? AND name = ? AND version <= ? AND status = 'playing'"
        self._retire(write, older, (one.author, name, version - keep), f"it was replaced by version {version}")
        _note_change(write)
        _note(write, "ladder", "accept", f"{key} {one.author}/{name}@{version}")

    def _check_room(self, one: Submission, room: Room) -> None:
        """Raise NoRoom if more agents are in play than there is room for, because `one` plays now."""
        playing = self.in_play()
        if len(playing) > room.agents:
            raise NoRoom(f"{room.agents:,} agents are in play, and there is no room for more; inform the host of the ladder")
        own = {other.name for other in playing if other.author == one.author}
        if one.version is None and len(own) > room.per_author:  # a check that the host repeats takes nothing away
            told = f"{one.author} has {room.per_author:,} other agents in play, which is the limit of this ladder"
            raise NoRoom(f"{told}; withdraw one of them, or submit a new version of one of them")

    def make_room(self, agents: int) -> int:
        """Suspend the oldest submissions in play so that at most `agents` are left, and return the number of these submissions.

        `accept` lets no more play than there is room for, but the spec of the host may have grown.
        """
        with self._writing() as write:
            playing = [one.id for one in self.in_play()]
            surplus = playing[: max(0, len(playing) - agents)]
            for key in surplus:
                write.execute("UPDATE ladder_submission SET status = 'suspended', reason = ? WHERE id = ?", (CROWDED, key))
            if surplus:
                _note_change(write)
                _note(write, "ladder", "make room", f"{len(surplus)} suspended")
        return len(surplus)

    def withdraw(self, key: str, who: str, reason: str = "withdrawn by its author") -> bool:
        """Take a submission out of play or out of the queue. If it is in neither, return False and change nothing."""
        with self._writing() as write:
            found = self._retire(write, "id = ? AND status IN ('queued', 'checking', 'playing', 'suspended')", (key,), reason)
            if found:
                _note(write, who, "withdraw", key)
        return found

    def turn_away(self, reason: str) -> None:
        """Withdraw all submissions that are in the queue or being checked."""
        with self._writing() as write:
            self._retire(write, "status IN ('queued', 'checking')", (), reason)

    def suspend(self, label: str, reason: str) -> None:
        """Take a submission out of play because of its faults."""
        with self._writing() as write:
            write.execute(
                "UPDATE ladder_submission SET status = 'suspended', reason = ? "
                "WHERE status = 'playing' AND author || '/' || name || '@' || version = ?",
                (_bound_text(reason), label),
            )
            _note_change(write)
            _note(write, "ladder", "suspend", f"{label}: {_bound_text(reason)}")

    def count_faults(self, label: str, faults: int) -> None:
        """Store the number of consecutive matches that an agent has lost by faults."""
        with self._writing() as write:
            write.execute(
                "UPDATE ladder_submission SET faults = ? WHERE author || '/' || name || '@' || version = ?", (faults, label)
            )

    def starts(self) -> dict[str, Starts]:
        """Return how submissions have answered at their starts, by label."""
        return {label: Starts(*row) for label, *row in self._rows("SELECT label, unanswered, longest FROM ladder_start")}

    def keep_starts(self, label: str, starts: Starts) -> None:
        """Store how a submission has answered at its starts."""
        with self._writing() as write:
            write.execute("INSERT OR REPLACE INTO ladder_start (label, unanswered, longest) VALUES (?, ?, ?)", (label, *starts))

    def _retire(self, write: sqlite3.Connection, where: str, values: Sequence[Any], reason: str) -> bool:
        """Withdraw submissions.

        Return True if there were any to withdraw. Only in this case, a change is noted, which starts a new season.
        """
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
        """Store the pairs that play next, each given by a board and two labels, and return their plans. Each plan is a round that
        neither of the two agents has played yet: a rating is as precise as the number of rounds of its agent allows.
        """
        with self._writing() as write:
            number = 1 + (-1 if (last := self._value("SELECT max(number) FROM ladder_plan")) is None else last)
            for board, *labels in pairs:
                one, other = sorted(labels)
                met = "SELECT coalesce(max(round) + 1, 0) FROM ladder_plan WHERE board = ? AND (one IN (?, ?) OR other IN (?, ?))"
                round_ = self._value(met, board, one, other, one, other)
                write.execute("INSERT INTO ladder_plan VALUES (?, ?, ?, ?, ?)", (number, board, one, other, round_))
                number += 1
            first = -1 if last is None else last
        return self.plans(first + 1)

    def plans(self, first: int = 0) -> list[Plan]:
        """Return all plans from number `first` on, in order."""
        return [Plan(*row) for row in self._rows("SELECT * FROM ladder_plan WHERE number >= ? ORDER BY number", first)]

    def attempts(self, board: int) -> dict[str, int]:
        """Return the number of planned attempts of every agent on a puzzle; the keys are the labels of the agents."""
        question = "SELECT one, max(round) + 1 FROM ladder_plan WHERE board = ? AND one = other GROUP BY one"
        return dict(self._rows(question, board))

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

    def latest_ratings(self) -> dict[str, float]:
        """Return the latest rating of every agent, by its label."""
        rows = self._rows(
            "SELECT label, elo FROM ladder_rating WHERE number IN (SELECT max(number) FROM ladder_rating GROUP BY label)"
        )
        return {str(label): float(elo) for label, elo in rows}

    # Marks

    def keep_decisions(self, terms: str, found: Iterable[tuple[str, str, int, int]]) -> None:
        """Store which agents are stronger than which baselines, given by their labels. A decision is 1 (the agent is stronger) or
        -1 (it is not), and comes with the number of pairs of games after which it was made.
        """
        with self._writing() as write:
            write.executemany(
                "INSERT OR IGNORE INTO ladder_mark (label, baseline, decision, pairs, terms, time) VALUES (?, ?, ?, ?, ?, ?)",
                [(*one, terms, time()) for one in found],
            )

    def decisions(self, terms: str) -> dict[tuple[str, str], tuple[int, int]]:
        """Return the decisions that were stored under `terms`, by the labels of agent and baseline. Each decision comes with the
        number of pairs of games after which it was made.
        """
        rows = self._rows("SELECT label, baseline, decision, pairs FROM ladder_mark WHERE terms = ?", terms)
        return {(label, baseline): (decision, pairs) for label, baseline, decision, pairs in rows}

    def games_per_hour(self, seats: int = 2) -> float | None:
        """Return the number of games per hour; None if it is not known. For a puzzle, `seats` is 1, and attempts are counted.

        The number is measured over the last hour in which ratings were stored.
        """
        rows = self._rows(
            "SELECT max(games) - min(games), max(time), min(time) FROM ladder_rating "
            "WHERE time > (SELECT max(time) FROM ladder_rating) - 3600 GROUP BY label, board"
        )
        hours = (max((row[1] for row in rows), default=0.0) - min((row[2] for row in rows), default=0.0)) / 3600
        games = sum(row[0] for row in rows) / seats
        return games / hours if hours > 0 and games else None

    # Descriptions

    def known(self, key: str) -> Known | None:
        """Return the stored facts about the plugin of a submission; None if there are none or they cannot be read."""
        try:
            found = protocol.parse(str(self._value("SELECT answers FROM ladder_description WHERE key = ?", key)).encode())
            return Known(protocol.text_of(found, "code"), {**protocol.object_of(found, "claims"), "type": "description"})
        except Broken:
            return None

    # Messages

    def send(self, author: str, text: str, who: str) -> str:
        """Store a message to an author or a team, given by an id or the public name. Return the public name.

        Raises Refusal 404 for an unknown author, and 422 for a text without letters or a text that is too long.
        """
        text = text.strip()
        if not text or len(text) > MAX_MESSAGE_CHARACTERS:
            raise Refusal(422, f"expected a string of 1 to {MAX_MESSAGE_CHARACTERS:,} characters", "write another one")
        handles = {name: handle for person, handle in self.people() for name in (person.id, handle)}
        if author not in handles:
            raise Refusal(404, f"unknown author {author[:60]!r}", "`arena ladder admin SPEC tokens` lists them")
        with self._writing() as write:
            clean = text.encode("utf-8", "backslashreplace").decode()
            write.execute("INSERT INTO ladder_message (time, author, text) VALUES (?, ?, ?)", (time(), handles[author], clean))
            _note(write, who, "message", handles[author])
        return handles[author]

    def messages(self, author: str) -> list[Message]:
        """Return the messages to the author or team with a public name, the latest first."""
        question = "SELECT time, text FROM ladder_message WHERE author = ? ORDER BY number DESC"
        return [Message(*row) for row in self._rows(question, author)]

    # Feedback

    def keep_feedback(self, key: str, matches: int, findings: Findings) -> None:
        """Store what a review found about a submission, in place of the result of an earlier review."""
        text = json.dumps({"matches": matches, "findings": findings})
        with self._writing() as write:
            write.execute(
                "INSERT OR REPLACE INTO ladder_feedback (submission, time, found) VALUES (?, ?, ?)", (key, time(), text)
            )

    def feedback(self, key: str) -> Feedback | None:
        """Return the feedback on a submission; None if it has none."""
        return self._feedback("WHERE submission = ?", key).get(key)

    def all_feedback(self) -> dict[str, Feedback]:
        """Return the feedback on all submissions that have any, by their ids."""
        return self._feedback("")

    def _feedback(self, where: str, *values: Any) -> dict[str, Feedback]:
        rows = self._rows(f"SELECT submission, time, found FROM ladder_feedback {where}", *values)
        return {key: Feedback(when, **json.loads(text)) for key, when, text in rows}

    def last_night(self) -> Night | None:
        """Return the last review. Before the first review, the result has the time at which the ladder was first started with
        `feedback`; it is None if the ladder was never started in this way.
        """
        found = self.setting(NIGHT)
        return None if found is None else Night(**json.loads(found))

    def keep_night(self, night: Night) -> None:
        """Note a review. This does not count as a change, so no new season begins."""
        with self._writing() as write:
            write.execute("INSERT OR REPLACE INTO ladder_setting VALUES (?, ?)", (NIGHT, json.dumps(night._asdict())))

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
        """Write the whole store to another file. Raises StoreError if the file exists. The copy is always complete."""
        if place.exists():
            raise StoreError(f"{place} already exists; choose a new file")
        self.copy(place)

    # Helpers

    def _rows(self, sql: str, *values: Any) -> list[Any]:
        return self._all(sql, values)

    def _value(self, sql: str, *values: Any) -> Any:
        rows = self._rows(sql, *values)
        return rows[0][0] if rows else None

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Run a transaction. If it is nested, it becomes part of the outer transaction."""
        with self._guard:
            if self._connection.in_transaction:
                yield self._connection
                return
            with super()._writing() as write:
                yield write


def bind_store(ladder: LadderSpec, store: Store, ledger: Ledger) -> None:
    """Note in the store that it belongs to this ladder, and add the authors.

    Raises StoreError if the store belongs to something else.
    """
    games = canonical([[board.name, board.parameters] for board in ladder.spec.boards])
    before = ledger.setting("games")
    if before == games:
        ledger.requeue()
    elif before is not None:
        found = f"expected one of {games}, found one of {before}"
        raise StoreError(f"{store.path} is another ladder's store: {found}; choose another store with --store")
    elif store.runs():
        raise StoreError(f"{store.path} contains a tournament, not a ladder; choose another store with --store")
    else:
        ledger.set("games", games)
    # the authors get no tokens here; `arena ladder admin SPEC tokens` creates them
    ledger.enrol(ladder.people or (), pseudonyms=ladder.submissions.names == "pseudonyms")


def find_deadline(rules: SubmissionKeys, ledger: Ledger) -> datetime | None:
    """Return the last moment at which submissions are taken; None without a deadline. `admin reopen` may have moved it."""
    moved = ledger.setting("closes")
    if moved is not None:
        return datetime.fromisoformat(moved)
    return rules.closes if rules.late is None else rules.late.until


def create_store(ladder: LadderSpec, place: Path) -> None:
    """Create the store of a ladder that has not begun."""
    with Store.open(place, write=True) as store, closing(Ledger(place)) as ledger:
        bind_store(ladder, store, ledger)


def _pack_findings(findings: Sequence[Mapping[str, Any]]) -> str:
    """Return findings as JSON. If they are too long, the last ones are left out."""
    kept = list(findings)
    while len(text := json.dumps(kept)) > MAX_FINDINGS_CHARACTERS:
        kept.pop()
    return text


def _read_findings(text: str | None) -> list[Mapping[str, Any]] | None:
    """Read findings from JSON; None if the text is not valid."""
    try:
        return [one.model_dump() for one in _FINDINGS.validate_python(json.loads("[]" if text is None else text))]
    except (ValueError, RecursionError):
        return None


def _bound_text(text: str) -> str:
    """Return a text in a form that can be stored, cut to the maximum length."""
    return cut(text.encode("utf-8", "backslashreplace").decode(), MAX_REASON_CHARACTERS)


def _hash(token: str) -> str:
    """Return the hash of a token for storage. A token has 256 random bits, so a simple hash cannot be reversed by a search."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()  # a string of JSON may be no valid text


def _note(write: sqlite3.Connection, who: str, what: str, detail: str) -> None:
    write.execute("INSERT INTO ladder_audit (time, who, what, detail) VALUES (?, ?, ?, ?)", (time(), who, what, detail))


def _forget_steps(write: sqlite3.Connection, key: str) -> None:
    write.execute("DELETE FROM ladder_setting WHERE key = ?", (f"steps {key}",))


def _note_change(write: sqlite3.Connection) -> None:
    write.execute(
        "INSERT INTO ladder_setting (key, value) VALUES ('changes', '1') "
        "ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1"
    )
