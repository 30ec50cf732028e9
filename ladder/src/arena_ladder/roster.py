"""The authors of a ladder: a file with one name per line, or a roster as CSV."""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROSTER_SUFFIX = ".csv"
COLUMNS = ("id", "name", "e-mail")
"""The columns that a roster must have. The column `team` is optional, and other columns are ignored."""
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
ID_TEXT = "1 to 40 letters, digits, dots, dashes and underscores, beginning with a letter or a digit"
RESERVED_NAMES = ("admin", "ladder")
"""Names in the audit log that do not belong to authors."""


@dataclass(frozen=True, slots=True)
class Person:
    """An author of the roster."""

    id: str
    name: str = ""
    email: str = ""
    team: str = ""
    """The team with which the author hands in; empty if the author hands in alone."""


class RosterFault(Exception):
    """A roster cannot be used. `line` is the number of the line with the fault, or 0 if the fault concerns the whole file."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def is_id(text: str) -> bool:
    """Return True if a text can be the id of an author or of a team in a roster."""
    return ID.fullmatch(text) is not None and text not in RESERVED_NAMES


def read_roster(path: Path) -> tuple[list[Person], list[RosterFault]]:
    """Return the authors of a roster, and all its faults. A roster with a fault must not be used.

    Raises OSError if the file cannot be read, and UnicodeDecodeError if it is not UTF-8.
    """
    text = path.read_bytes().decode("utf-8-sig")
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    people: list[Person] = []
    faults: list[RosterFault] = []
    try:
        heading = [cell.strip().lower().replace("email", "e-mail") for cell in next(rows, [])]
        missing = [name for name in COLUMNS if name not in heading]
        if missing:
            expected = ", ".join(COLUMNS)
            return [], [
                RosterFault(1, f"missing columns: {', '.join(missing)}; the first line must name {expected}, and may name team")
            ]
        people += _read_rows(rows, heading, faults)
    except csv.Error as error:
        faults.append(RosterFault(rows.line_num, f"this is not CSV: {error}"))
    ids = {person.id for person in people}
    both = sorted({person.team for person in people} & ids)
    faults += [RosterFault(0, f"{team!r} is both an id and a team; give the team another name") for team in both]
    if not people and not faults:
        faults.append(RosterFault(1, "the roster has no authors"))
    return people, faults


def _read_rows(rows: Iterator[list[str]], heading: list[str], faults: list[RosterFault]) -> Iterator[Person]:
    lines: dict[str, int] = {}
    for number, cells in enumerate(rows, 2):
        line = getattr(rows, "line_num", number)
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(heading):
            faults.append(RosterFault(line, f"expected {len(heading)} cells, got {len(cells)}"))
            continue
        values = dict(zip(heading, [cell.strip() for cell in cells], strict=True))
        person = Person(values["id"], values["name"], values["e-mail"], values.get("team", ""))
        for kind, text in (("id", person.id), ("team", person.team)):
            if not is_id(text) and (text or kind == "id"):
                faults.append(RosterFault(line, f"{text!r} is not a valid {kind}; expected {ID_TEXT}"))
        for kind, text in (("name", person.name), ("e-mail", person.email)):
            if not text.isprintable():
                faults.append(RosterFault(line, f"{text!r} is not a valid {kind}; expected printable text"))
        if person.id in lines:
            faults.append(RosterFault(line, f"the id {person.id!r} is already in line {lines[person.id]}"))
        lines.setdefault(person.id, line)
        yield person
