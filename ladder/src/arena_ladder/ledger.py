"""Everything that a ladder keeps in its tables: authors, submissions, plans, rating histories, marks, messages and feedback."""

import json
from collections.abc import Collection, Iterable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from arena.api.cli import say
from arena.api.errors import StoreError
from arena.api.match import canonical
from arena.api.store import Run, Store
from arena.clock import wall_time
from arena_ladder.spec import LadderSpec, SubmissionKeys
from arena_ladder.submissions import SubmissionTables
from arena_web.api import Findings
from arena_web.errors import Refusal

NIGHT = "night"
"""The name of the setting that holds the last review of matches."""
MAX_MESSAGE_CHARACTERS = 4000
PRIVATE_FOLDER = 0o700
"""The mode of the folders beside a store. The files in them have other modes, because an agent may run as another user."""


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


class Ledger(SubmissionTables):
    """The tables of a ladder."""

    def plan(self, pairs: Iterable[tuple[int, str, str]], dealt: Collection[int] = ()) -> list[Plan]:
        """Store the pairs that play next, each given by a board and two labels, and return their plans. Each plan is a round that
        neither of the two agents has played yet: a rating is as precise as the number of rounds of its agent allows.

        On the boards in `dealt`, each plan is a round that no agent has played yet, because after a match everybody can read the
        dice and deals of its round.
        """
        unused: dict[int, int] = {}
        with self._writing():
            number = 1 + (-1 if (last := self._value("SELECT max(number) FROM ladder_plan")) is None else last)
            for board, *labels in pairs:
                one, other = sorted(labels)
                last_round = "SELECT coalesce(max(round), -1) FROM ladder_plan WHERE board = ?"
                if board in dealt:
                    round_ = unused[board] if board in unused else 1 + self._value(last_round, board)
                    unused[board] = round_ + 1
                else:  # each of these questions reads one row of an index, however many plans there are
                    seats = [(seat, label) for seat in ("one", "other") for label in (one, other)]
                    round_ = 1 + max([self._value(f"{last_round} AND {seat} = ?", board, label) for seat, label in seats])
                self._write("INSERT INTO ladder_plan VALUES (?, ?, ?, ?, ?)", number, board, one, other, round_)
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
        """Return the latest rating of every agent; the keys are the labels."""
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
                [(*one, terms, wall_time()) for one in found],
            )

    def decisions(self, terms: str) -> dict[tuple[str, str], tuple[int, int]]:
        """Return the decisions that were stored under `terms`; the keys are the labels of agent and baseline. Each decision
        comes with the number of pairs of games after which it was made.
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
        with self._writing():
            clean = text.encode("utf-8", "backslashreplace").decode()
            self._write("INSERT INTO ladder_message (time, author, text) VALUES (?, ?, ?)", wall_time(), handles[author], clean)
            self.note(who, "message", handles[author])
        return handles[author]

    def messages(self, author: str) -> list[Message]:
        """Return the messages to the author or team with a public name, the latest first."""
        question = "SELECT time, text FROM ladder_message WHERE author = ? ORDER BY number DESC"
        return [Message(*row) for row in self._rows(question, author)]

    # Feedback

    def keep_feedback(self, key: str, matches: int, findings: Findings) -> None:
        """Store what a review found about a submission, in place of the result of an earlier review."""
        text = json.dumps({"matches": matches, "findings": findings})
        self._write(
            "INSERT OR REPLACE INTO ladder_feedback (submission, time, found) VALUES (?, ?, ?)", *(key, wall_time(), text)
        )

    def feedback(self, key: str) -> Feedback | None:
        """Return the feedback on a submission; None if it has none."""
        return self.feedback_on([key]).get(key)

    def feedback_on(self, keys: Sequence[str]) -> dict[str, Feedback]:
        """Return the feedback on the given submissions that have any; the keys are their ids."""
        return self._feedback(f"WHERE submission IN ({', '.join('?' * len(keys))})", *keys)

    def all_feedback(self) -> dict[str, Feedback]:
        """Return the feedback on all submissions that have any; the keys are their ids."""
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
        """Store a review. This does not count as a change, so no new season begins."""
        self._keep_setting(NIGHT, json.dumps(night._asdict()))


def bind_store(ladder: LadderSpec, store: Store, ledger: Ledger) -> None:
    """Record in the store that it belongs to this ladder, and add the authors.

    Raises StoreError if the store belongs to something else.
    """
    games = canonical([[board.name, board.parameters] for board in ladder.spec.boards])
    before = ledger.setting("games")
    if before == games:
        ledger.requeue()
    elif before is not None:
        found = f"it has the games {before}, but this ladder has {games}"
        raise StoreError(f"{store.path} is another ladder's store: {found}; choose another store with --store")
    elif find_last_run(store) is not None:
        raise StoreError(f"{store.path} contains a tournament, not a ladder; choose another store with --store")
    else:
        ledger.set("games", games)
    # the authors get no tokens here; `arena ladder admin SPEC tokens` creates them
    ledger.enrol(ladder.people or (), pseudonyms=ladder.submissions.names == "pseudonyms")


def find_last_run(store: Store) -> Run | None:
    """Return the last run of a store; None if there is none. A ladder has a run for each season, so not all of them are read."""
    return store.last() if any(store.query("SELECT 1 FROM run LIMIT 1")) else None


def find_deadline(rules: SubmissionKeys, ledger: Ledger) -> datetime | None:
    """Return the last moment at which submissions are taken; None without a deadline. `admin reopen` may have moved it."""
    moved = ledger.setting("closes")
    if moved is not None:
        return datetime.fromisoformat(moved)
    return rules.closes if rules.late is None else rules.late.until


def make_private(place: Path) -> None:
    """Let only the user of the ladder read its store, and the folders beside it, because they have the seed, addresses and code.

    If this fails, for example because the files belong to somebody else, a line on stderr says so.
    """
    try:
        Store.make_private(place)
        for folder in private_folders(place):
            if folder.is_dir():
                folder.chmod(PRIVATE_FOLDER)
    except OSError as error:
        if place.exists():  # otherwise it cannot be created, and whoever opens it says why
            say(f"note: {place}: other users of this machine may be able to read it: {error.strerror} ({error.filename})")


def private_folders(place: Path) -> tuple[Path, Path]:
    """Return the folder for the code of submissions, and the folder for their logs, beside the store of a ladder."""
    code = place.resolve().with_name(f"{place.name}.code")
    return code, code.with_suffix(".logs")


def create_store(ladder: LadderSpec, place: Path) -> None:
    """Create the store of a ladder that has not begun."""
    make_private(place)
    with Store.open(place, write=True) as store, closing(Ledger(place)) as ledger:
        bind_store(ladder, store, ledger)
