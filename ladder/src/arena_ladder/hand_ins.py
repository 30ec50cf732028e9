"""All submissions as the host of the ladder sees them: with their authors, identical files, code and logs."""

import json
import os
import zipfile
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from arena import ArenaError
from arena.api.results import TextTable
from arena_ladder.code_folder import CodeFolder
from arena_ladder.ledger import Feedback, Ledger
from arena_ladder.roster import Person
from arena_ladder.submissions import Submission


@dataclass(frozen=True, slots=True)
class HandIn:
    """A submission with everything that the host may know about it."""

    submission: Submission
    people: tuple[Person, ...]
    """The author, or all members of the team."""
    identical: tuple[str, ...]
    """The public names of other authors that handed in the same file, the earliest first."""
    feedback: Feedback | None = None
    """The result of its last review."""

    def is_by(self, author: str | None) -> bool:
        """Return True if the submission is from this author.

        The author is given by the id or the public name; None means any author.
        """
        return author in (None, self.submission.author, *[person.id for person in self.people])

    @property
    def time(self) -> str:
        """Return the time at which the submission was received."""
        return datetime.fromtimestamp(self.submission.received, UTC).isoformat(timespec="seconds")

    @property
    def name(self) -> str:
        """Return the public name of the agent, or the name of the file if the agent has none yet."""
        one = self.submission
        return one.label if one.version is not None else f"{one.author}/{one.file}"

    def as_values(self) -> dict[str, Any]:
        """Return the submission as plain values."""
        one = self.submission
        people = [{"id": person.id, "name": person.name, "e-mail": person.email, "team": person.team} for person in self.people]
        shown = {"id": one.id, "author": one.author, "people": people, "agent": self.name, "kind": one.kind, "file": one.file}
        more = {"received": self.time, "status": one.status, "reason": one.reason, "findings": list(one.findings)}
        feedback = None if self.feedback is None else self.feedback.as_values()
        return {**shown, **more, "faults": one.faults, "identical": list(self.identical), "feedback": feedback}

    def describe(self) -> str:
        """Return the submission as a line of text."""
        names = ", ".join([f"{person.name} ({person.id})" if person.name else person.id for person in self.people])
        reason = f": {self.submission.reason}" if self.submission.reason else ""
        twins = f"; identical to a file of {', '.join(self.identical)}" if self.identical else ""
        return f"{self.time} {self.submission.id} {self.name} by {names}: {self.submission.status}{reason}{twins}"


def list_hand_ins(ledger: Ledger) -> list[HandIn]:
    """Return all submissions, the oldest first."""
    people: dict[str, list[Person]] = defaultdict(list)
    for person, handle in ledger.people():
        people[handle].append(person)
    found, feedback = ledger.submissions(), ledger.all_feedback()
    authors: dict[str, list[str]] = defaultdict(list)
    for one in found:
        if one.author not in authors[one.digest]:
            authors[one.digest].append(one.author)
    return [
        HandIn(
            one,
            tuple(people.get(one.author) or [Person(one.author)]),
            tuple([other for other in authors[one.digest] if other != one.author]),
            feedback.get(one.id),
        )
        for one in found
    ]


def write_archive(hand_ins: Iterable[HandIn], ledger: Ledger, folder: CodeFolder, place: Path | IO[bytes]) -> None:
    """Write the code, the logs and the feedback of submissions to a zip file, with a folder for each author and submission.

    In the zip file, `index.csv` lists the names of the persons for each folder.
    """
    if isinstance(place, Path):
        try:
            number = os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)  # it has names and addresses
        except FileExistsError:
            raise ArenaError(f"{place} already exists; choose a new file") from None
        with os.fdopen(number, "wb") as file:
            write_archive(hand_ins, ledger, folder, file)
        return
    lines = [TextTable.csv_line(["folder", "id", "name", "e-mail", "team", "agent", "received", "status", "reason"])]
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        for one in hand_ins:
            made = one.submission
            inside = f"{made.author}/{made.number:06}-{made.id}"
            plain = "".join([letter if letter.isalnum() or letter in "._-" else "_" for letter in made.file])
            archive.writestr(f"{inside}/code/{plain.lstrip('.') or 'agent'}", ledger.content(made.id))
            archive.writestr(f"{inside}/log.txt", folder.log(made))
            if one.feedback is not None:
                archive.writestr(f"{inside}/feedback.json", json.dumps(one.feedback.as_values(), indent=2))
            for person in one.people:
                facts = (one.name, one.time, made.status, made.reason or "")
                lines.append(TextTable.csv_line([inside, person.id, person.name, person.email, person.team, *facts]))
        archive.writestr("index.csv", "\n".join(lines) + "\n")
