"""The submissions to a ladder: their checks, and which of them play."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from secrets import token_hex
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Self, get_args

from pydantic import BaseModel, TypeAdapter

from arena import ArenaError
from arena.api.errors import cut
from arena.clock import wall_time
from arena_isolation import protocol
from arena_isolation.helper_process import pack
from arena_isolation.protocol import Broken
from arena_ladder.authors import FORGOTTEN, AuthorTables
from arena_ladder.roster import Person
from arena_web.errors import Refusal

Status = Literal["queued", "checking", "playing", "refused", "withdrawn", "suspended"]
STATUSES: tuple[Status, ...] = get_args(Status)
DAY_SECONDS = 24 * 3600.0
MAX_REASON_CHARACTERS = 1000
MAX_FINDINGS_CHARACTERS = 16 << 10
"""The maximum size of all findings about a submission, in characters of JSON."""
BANNED = "its author is banned"
ENDED = "the ladder ended before the check"
CROWDED = "too many agents are in play, so the most recent ones play on; ask the host of the ladder"
UNREADABLE = "the stored result of its check cannot be read; submit the agent again"


class Starts(NamedTuple):
    """How a submission has answered at the starts of its matches."""

    unanswered: int = 0
    """The number of starts that it did not answer since the last answer."""
    longest: float = 0.0
    """The seconds of the longest start that it answered; 0 before the first one."""


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


class SubmissionTables(AuthorTables):
    """The submissions in the tables of a ladder."""

    def submit(self, author: str, name: str | None, kind: str, file: str, content: bytes, per_day: int) -> Submission:
        """Store a submission and return it. Raises Refusal 403 if the author was banned or deleted, 422 if the ladder has ended,
        and 429 if the author has already submitted `per_day` times within 24 hours.
        """
        now = wall_time()
        with self._writing():
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
            self._write(
                "INSERT INTO ladder_submission (id, author, name, kind, file, digest, content, received, status) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'queued')",
                *(key, author, name, kind, file, sha256(content).hexdigest(), content, now),
            )
            self.note(author, "submit", f"{key} {file}")
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

    def submissions_on_page(self, author: str, page: int, size: int) -> list[Submission]:
        """Return a page of the submissions of an author, the latest first. No other submission is read."""
        numbers = "SELECT number FROM ladder_submission WHERE author = ? ORDER BY number DESC LIMIT ? OFFSET ?"
        return self._submissions(f"WHERE number IN ({numbers}) ORDER BY number DESC", author, size, page * size)

    def count_submissions(self, author: str) -> int:
        """Return the number of submissions of an author."""
        return int(self._value("SELECT count(*) FROM ladder_submission WHERE author = ?", author))

    def counts(self) -> Mapping[Status, int]:
        """Return the number of submissions by status."""
        found = dict(self._rows("SELECT status, count(*) FROM ladder_submission GROUP BY status"))
        return {status: found.get(status, 0) for status in STATUSES}

    def is_checking(self) -> bool:
        """Return True if a submission is in the queue or being checked."""
        return bool(self._rows("SELECT 1 FROM ladder_submission WHERE status IN ('queued', 'checking') LIMIT 1"))

    def in_play(self) -> list[Submission]:
        """Return the submissions in play, the oldest first."""
        banned = self.banned()
        return [one for one in self._submissions("WHERE status = 'playing' ORDER BY number") if one.author not in banned]

    def content(self, key: str) -> bytes:
        """Return the submitted file."""
        return bytes(self._value("SELECT content FROM ladder_submission WHERE id = ?", key))

    def next_to_check(self, seconds: Mapping[str, float] = MappingProxyType({})) -> Submission | None:
        """Return the next submission to check and set its status to `checking`; None if the queue is empty or the ladder is over.

        Submissions of banned authors stay in the queue.

        The queue treats authors fairly: the author whose checks have taken the least time comes first, given by `seconds`, and
        among equals the one with the fewest checks in the last 24 hours. Each author has at most one check at a time, so versions
        are numbered in the order of submission.
        """
        if not self.has_check():
            return None  # without a lock, because this is called twice a second
        with self._writing():
            waiting = self._list_checks()
            if not waiting:
                return None
            counts = dict(
                self._rows(
                    "SELECT author, count(*) FROM ladder_submission WHERE decided > ? GROUP BY author", wall_time() - DAY_SECONDS
                )
            )
            first = min(waiting, key=lambda one: (seconds.get(one.author, 0.0), counts.get(one.author, 0), one.number))
            self._write("UPDATE ladder_submission SET status = 'checking' WHERE id = ?", first.id)
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
        with self._writing():
            for key in [key for key, text in self._rows(kept) if _read_findings(text) is None]:
                self._write(
                    "UPDATE ladder_submission SET findings = '[]', reason = coalesce(reason, ?), "
                    "status = CASE status WHEN 'playing' THEN 'suspended' ELSE status END WHERE id = ?",
                    *(UNREADABLE, key),
                )
            self._write(
                f"UPDATE ladder_submission SET reason = substr(reason, 1, {MAX_REASON_CHARACTERS}) "
                f"WHERE length(reason) > {MAX_REASON_CHARACTERS}"
            )
            self._write(
                "UPDATE ladder_submission SET status = 'queued' WHERE status = 'checking' "
                "OR (status = 'playing' AND kind != 'program' AND id NOT IN (SELECT key FROM ladder_description))"
            )

    def put_back(self, key: str) -> None:
        """Put a submission whose check was dropped back into the queue, unless it was withdrawn meanwhile."""
        self._write("UPDATE ladder_submission SET status = 'queued' WHERE id = ? AND status = 'checking'", key)

    def check_again(self, key: str, who: str) -> Submission:
        """Put a submission back into the queue. It keeps its version.

        Raises Refusal 409 if it is already waiting or being checked, if its code was removed, if its author is banned, or if the
        ladder has ended.
        """
        with self._writing():
            one = self.submission(key)
            if one.status in ("queued", "checking"):
                raise Refusal(409, f"{key} is {one.status}", "wait for its check")
            if not self.content(key):
                raise Refusal(409, f"the code of {key} was removed", "ask its author to submit it again")
            if one.author in self.banned():
                raise Refusal(409, f"{one.author} is banned", "unban the author with `admin unban`")
            if self.setting("over") is not None:
                raise Refusal(409, "this ladder has ended", "its standings stay")
            self._write("UPDATE ladder_submission SET status = 'queued', reason = NULL WHERE id = ?", key)
            self._forget_steps(key)
            self._note_change()
            self.note(who, "check again", key)
        return self.submission(key)

    def keep_step(self, key: str, rules: str, step: Mapping[str, Any]) -> None:
        """Record a step of a check that a submission has passed. `rules` is a hash of everything else that decides the
        check.
        """
        with self._writing():
            steps = [*self.passed_steps(key, rules), step]
            self._keep_setting(f"steps {key}", json.dumps([rules, steps]))

    def _forget_steps(self, key: str) -> None:
        self._write("DELETE FROM ladder_setting WHERE key = ?", f"steps {key}")

    def passed_steps(self, key: str, rules: str) -> list[dict[str, Any]]:
        """Return the steps of a check that was interrupted; none if its rules were others."""
        found, steps = json.loads(self.setting(f"steps {key}") or "[null, []]")
        return (_read_findings(json.dumps(steps)) or []) if found == rules else []  # type: ignore[return-value]

    def refuse(self, key: str, reason: str, findings: Sequence[Mapping[str, Any]]) -> None:
        """Record that a submission did not pass its check, and the reason."""
        with self._writing():
            self._write(
                "UPDATE ladder_submission SET status = 'refused', decided = CASE WHEN version IS NULL THEN ? ELSE decided END, "
                "reason = ?, findings = ? WHERE id = ? AND status = 'checking'",
                *(wall_time(), _bound_text(reason), _pack_findings(findings), key),
            )
            self._forget_steps(key)
            self.note("ladder", "refuse", key)

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
            with self._writing():
                one = self.submission(key)
                self._forget_steps(key)
                if one.status == "checking" and one.author in self.banned():
                    self._retire("id = ?", (key,), BANNED)
                elif one.status == "checking" and self.setting("over") is not None:
                    self._retire("id = ?", (key,), ENDED)
                elif one.status == "checking":
                    self._let_play(one, name, agent, findings, keep, known)
                    if room is not None:
                        self._check_room(one, room)
        except NoRoom as full:
            self.refuse(key, str(full), findings)
        return self.submission(key)

    def _let_play(
        self,
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
        decided = wall_time() if one.version is None else one.decided  # a check that is repeated does not change the order
        self._write(
            "UPDATE ladder_submission SET status = 'playing', decided = ?, name = ?, version = ?, agent = ?, "
            "findings = ?, reason = NULL, faults = 0 WHERE id = ?",
            *(decided, name, version, agent, _pack_findings(findings), key),
        )
        self._write("DELETE FROM ladder_start WHERE label = ?", f"{one.author}/{name}@{version}")
        if known is not None:
            answers = pack({"type": "known", **known._asdict()}).decode()
            self._write("INSERT OR REPLACE INTO ladder_description (key, answers) VALUES (?, ?)", key, answers)
        older = "author = ? AND name = ? AND version <= ? AND status = 'playing'"
        self._retire(older, (one.author, name, version - keep), f"it was replaced by version {version}")
        self._note_change()
        self.note("ladder", "accept", f"{key} {one.author}/{name}@{version}")

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
        with self._writing():
            playing = [one.id for one in self.in_play()]
            surplus = playing[: max(0, len(playing) - agents)]
            for key in surplus:
                self._write("UPDATE ladder_submission SET status = 'suspended', reason = ? WHERE id = ?", CROWDED, key)
            if surplus:
                self._note_change()
                self.note("ladder", "make room", f"{len(surplus)} suspended")
        return len(surplus)

    def withdraw(self, key: str, who: str, reason: str = "withdrawn by its author") -> bool:
        """Take a submission out of play or out of the queue. If it is in neither, return False and change nothing."""
        with self._writing():
            found = self._retire("id = ? AND status IN ('queued', 'checking', 'playing', 'suspended')", (key,), reason)
            if found:
                self.note(who, "withdraw", key)
        return found

    def turn_away(self, reason: str) -> None:
        """Withdraw all submissions that are in the queue or being checked."""
        self._retire("status IN ('queued', 'checking')", (), reason)

    def suspend(self, label: str, reason: str) -> None:
        """Take a submission out of play because of its faults."""
        with self._writing():
            self._write(
                "UPDATE ladder_submission SET status = 'suspended', reason = ? "
                "WHERE status = 'playing' AND author || '/' || name || '@' || version = ?",
                *(_bound_text(reason), label),
            )
            self._note_change()
            self.note("ladder", "suspend", f"{label}: {_bound_text(reason)}")

    def count_faults(self, label: str, faults: int) -> None:
        """Store the number of consecutive matches that an agent has lost by faults."""
        self._write("UPDATE ladder_submission SET faults = ? WHERE author || '/' || name || '@' || version = ?", *(faults, label))

    def starts(self) -> dict[str, Starts]:
        """Return a summary of how submissions have answered at their starts; the keys are their labels."""
        return {label: Starts(*row) for label, *row in self._rows("SELECT label, unanswered, longest FROM ladder_start")}

    def keep_starts(self, label: str, starts: Starts) -> None:
        """Store how a submission has answered at its starts."""
        self._write("INSERT OR REPLACE INTO ladder_start (label, unanswered, longest) VALUES (?, ?, ?)", label, *starts)

    def _retire(self, where: str, values: Sequence[Any], reason: str) -> bool:
        """Withdraw submissions.

        Return True if there were any to withdraw. Only in this case, a change is noted, which starts a new season.
        """
        changed = self._write(
            f"UPDATE ladder_submission SET status = 'withdrawn', decided = coalesce(decided, ?), reason = ? WHERE {where}",
            *(wall_time(), reason, *values),
        )
        if changed:
            self._note_change()
        return bool(changed)

    def _submissions(self, where: str, *values: Any) -> list[Submission]:
        columns = (
            "number, id, author, name, version, kind, file, digest, received, status, decided, reason, findings, agent, faults"
        )
        rows = self._rows(f"SELECT {columns} FROM ladder_submission {where}", *values)
        known: list[list[Any]] = [[*row[:12], _read_findings(row[12]) or (), *row[13:]] for row in rows]
        return [Submission(*row) for row in known]

    def known(self, key: str) -> Known | None:
        """Return the stored facts about the plugin of a submission; None if there are none or they cannot be read."""
        try:
            found = protocol.parse(str(self._value("SELECT answers FROM ladder_description WHERE key = ?", key)).encode())
            return Known(protocol.text_of(found, "code"), {**protocol.object_of(found, "claims"), "type": "description"})
        except Broken:
            return None

    def _catch_up(self, others: Sequence[Self]) -> None:
        """Take over what happened later on other ladders, also bans and their ends."""
        super()._catch_up(others)
        latest: dict[str, tuple[float, bool]] = {}
        for other in others:
            for name, ban in other.bans().items():
                latest[name] = max(ban, latest.get(name, ban))
        for name, (when, banned) in latest.items():
            known = self.bans().get(name)  # read again each time, because a ban concerns the whole team
            if known is not None and known[1] != banned and when > known[0]:
                change = self.ban_here if banned else self.unban_here
                change(name, "ladder", when)

    def ban(self, name: str, who: str) -> None:
        """Withdraw the submissions of an author and of the author's team, and refuse their tokens, on all ladders that share
        their authors. Raises ArenaError for an unknown author.
        """
        with self._everywhere() as others:
            self.ban_here(name, who)
            for other in others:
                for own in self._known_on(other, name):
                    other.ban_here(own, who)

    def ban_here(self, name: str, who: str, when: float | None = None) -> None:
        """Ban an author on this ladder only."""
        handle = self._set_banned(name, wall_time() if when is None else when)
        self._retire("author = ? AND status IN ('queued', 'checking', 'playing')", (handle,), BANNED)
        self.note(who, "ban", name, when)

    def unban(self, name: str, who: str) -> None:
        """Accept the token of an author again, and count the matches so far, on all ladders that share their authors. Submissions
        stay withdrawn.
        """
        with self._everywhere() as others:
            self.unban_here(name, who)
            for other in others:
                for own in self._known_on(other, name):
                    other.unban_here(own, who)

    def unban_here(self, name: str, who: str, when: float | None = None) -> None:
        """End the ban of an author on this ladder only."""
        self._set_banned(name, None)
        self._note_change()
        self.note(who, "unban", name, when)

    def forget(self, name: str, who: str) -> list[Submission]:
        """Remove the name, the e-mail address and the token of an author. If no other author shares the public name, also remove
        the code. The records of matches stay. On the other ladders that share their authors, only the token is removed.

        Return the submissions for which the caller has to remove logs and files. Raises ArenaError for an unknown author.
        """
        with self._everywhere() as others, self._writing() as write:
            handles = {person.id: handle for person, handle in self.people()}
            if name not in handles:
                raise ArenaError(f"unknown author {name!r}; `arena ladder admin SPEC tokens` lists them")
            handle = handles.pop(name)
            for ledger in (self, *others):
                ledger.keep_token(name, None, who)
            self._write("UPDATE ladder_author SET banned = ? WHERE name = ?", wall_time(), name)
            self._keep_person(Person(name), f"{FORGOTTEN}{token_hex(4)}")
            gone: list[Submission] = []
            if handle not in handles.values():
                gone = self.submissions(handle)
                self._retire("author = ? AND status IN ('queued', 'checking', 'playing')", (handle,), "its author was deleted")
                self._write(
                    "UPDATE ladder_submission SET content = x'', findings = '[]', file = 'forgotten' WHERE author = ?", handle
                )
                self._write("DELETE FROM ladder_message WHERE author = ?", handle)
                write.executemany("DELETE FROM ladder_feedback WHERE submission = ?", [(one.id,) for one in gone])
            self.note(who, "forget", handle)
        return gone


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
