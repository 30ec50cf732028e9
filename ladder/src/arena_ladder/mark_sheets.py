"""Marks as files: a table, CSV, JSON, one `results.json` for each author in the format of Gradescope, and the open marks."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arena.api.cli import OutputKind, check_place, write_output
from arena.api.results import TextTable
from arena_ladder.mark_book import Graded, MarkRow
from arena_ladder.roster import Person

PERSON = ("id", "name", "e-mail", "team")
MEASURES = ("points", "penalty", "agent", "reason", "against", "pairs", "lead", "lead_low", "lead_high", "games", "faults")
COLUMNS = (*PERSON, "mark", "open", "late", *MEASURES)
"""The columns of a sheet."""
NO_MARK = "-"


def as_values(person: Person, row: MarkRow) -> dict[str, Any]:
    """Return the values of a row by the columns of a sheet."""
    found: dict[str, Any] = dict(zip(PERSON, (person.id, person.name, person.email, person.team), strict=True))
    found |= {"mark": row.mark, "open": row.is_open, "late": row.is_late}
    return found | {name: getattr(row, name) for name in MEASURES}


def as_csv(rows: Sequence[Graded]) -> str:
    """Return the sheet as CSV. The columns `open` and `late` contain their own name or are empty."""
    lines = [TextTable.csv_line(COLUMNS)]
    for person, row in rows:
        words = {"mark": row.mark or "", "open": "open" if row.is_open else "", "late": "late" if row.is_late else ""}
        values = {**as_values(person, row), **words}
        lines.append(TextTable.csv_line([values[name] for name in COLUMNS]))
    return "\n".join(lines) + "\n"


def as_json(rows: Sequence[Graded]) -> str:
    """Return the sheet as JSON, with the decisions of every mark."""
    more = [{"decisions": row.decisions, "more_pairs": row.more_pairs} for _, row in rows]
    return json.dumps([{**as_values(*graded), **own} for graded, own in zip(rows, more, strict=True)], indent=2)


def as_table(rows: Sequence[Graded]) -> str:
    """Return the sheet as a table for a terminal."""
    from tabulate import tabulate

    shown = [
        [
            person.id,
            row.mark or NO_MARK,
            "late" if row.is_late else "",
            "open" if row.is_open else "",
            row.agent or NO_MARK,
            row.reason,
            row.games,
            row.faults,
        ]
        for person, row in rows
    ]
    return tabulate(shown, ["Author", "Mark", "", "", "Agent", "What decided it", "Games", "Faults"])


def gradescope_results(row: MarkRow) -> dict[str, Any]:
    """Return the results of an author in the format of Gradescope, with one test for each mark, each worth one point."""
    reached = list(row.decisions).index(row.mark) + 1 if row.mark is not None else 0
    tests = []
    for number, (name, decision) in enumerate(row.decisions.items()):
        passed = number < reached
        one = {"name": name, "score": float(passed), "max_score": 1.0, "status": "passed" if passed else "failed"}
        tests.append({**one, "output": decision})
    agent = row.agent or "No version is active"
    output = (
        f"{agent}: {row.mark or 'no mark'}{' so far; a higher mark is still undecided' if row.is_open else ''}. {row.reason}."
    )
    if row.is_late:
        output += f" It is late and loses {100 * row.penalty:g} % of its points."
    return {"score": row.points, "output": output, "visibility": "visible", "tests": tests}


RESULTS = OutputKind("results.json", "a results file for Gradescope", b'{\n  "score": ')
"""The file for an author."""


def write_gradescope(rows: Sequence[Graded], folder: Path) -> None:
    """Write `ID/results.json` for every author into a folder."""
    for person, row in rows:
        place = folder / person.id
        folder.mkdir(parents=True, exist_ok=True)
        place.mkdir(0o700, exist_ok=True)
        check_place(place / RESULTS.suffix, RESULTS, option="--gradescope")
        write_output(place / RESULTS.suffix, (json.dumps(gradescope_results(row), indent=2) + "\n").encode())


def describe_open(rows: Sequence[MarkRow], games_per_hour: float | None, hours: float, *, solve: bool = False) -> str:
    """Return the open marks as text. Marks that need the fewest games come first; a sentence says how many could be decided in
    `hours` hours. If `solve` is true, authors solve positions instead of playing games.
    """
    noun, times = ("positions", 1) if solve else ("games", 2)
    left = sorted((row for row in rows if row.is_open), key=lambda row: (row.more_pairs, row.author))
    if not left:
        return "No marks are undecided."
    lines = []
    for row in left:
        so_far = row.mark or "no mark"
        lines.append(f"{row.author}: {so_far} so far; about {times * row.more_pairs:,} more {noun} decide {row.against}")
    if games_per_hour is None:
        lines.append(f"The speed is unknown: no {'position was attempted' if solve else 'game was rated'} yet.")
        return "\n".join(lines)
    budget, decided = games_per_hour * hours, 0
    for row in left:
        budget -= times * row.more_pairs
        decided += budget >= 0
    unit = "hour" if hours == 1 else "hours"
    lines.append(f"{hours:g} more {unit} would decide about {decided} of {len(left)}, at {games_per_hour:,.0f} {noun} an hour.")
    return "\n".join(lines)
