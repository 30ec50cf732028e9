"""Writes the golden files of this folder anew: `.venv/bin/python tests/golden/make_golden.py` in the root of a checkout.

Only the removal of a feature, or the repair of a wrong value, may change them. If anything else does, ids or records have
changed, and arena can no longer use earlier stores. Then correct the code, and leave the files as they are.

ids.json    the ids of 200 matches and more, from `ids.yaml` (all built-in games and agents) and `options.yaml` (the rest)
cup.db      the store of a run of `cup.yaml`
cup.txt     its boards as a table, as `arena leaderboard` prints them
cup.json    the same as JSON
cup.jsonl   its export
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from shutil import copy
from tempfile import TemporaryDirectory
from typing import TypedDict

from arena.schedule.schedule import Schedule, Scheduled
from arena.spec import load_spec

FOLDER = Path(__file__).parent
SPECS = ("ids.yaml", "options.yaml")
PLAIN_MATCHES_PER_BOARD = 8
"""After this number of matches on a board, only those with a new entry are listed."""
PRINTED = {"cup.txt": ["leaderboard"], "cup.json": ["leaderboard", "--format", "json"], "cup.jsonl": ["export"]}
"""The arguments that print each file from a store, which come before and after its path."""


class GoldenMatch(TypedDict):
    """A match of a spec and its id."""

    spec: str
    board: str
    round: int
    seats: list[str]
    id: str


def find_place(match: Scheduled) -> tuple[object, ...]:
    """Return the place of a match in an order that depends on no order of play: by round, then by its entries, then by seats."""
    return match.board, match.pairing.round, sorted(match.pairing.seats), match.pairing.seats


def schedule() -> list[GoldenMatch]:
    """Return the first matches of every board, and each later match in which an entry plays for the first time on the board."""
    found: list[GoldenMatch] = []
    for name in SPECS:
        spec = load_spec(FOLDER / name)
        seen: set[tuple[int, int]] = set()
        listed = [0] * len(spec.boards)
        for match in sorted(Schedule(spec).take(spec.size), key=find_place):
            new = {(match.board, entry) for entry in match.pairing.seats} - seen
            if not new and listed[match.board] >= PLAIN_MATCHES_PER_BOARD:
                continue
            seen |= new
            listed[match.board] += 1
            board = spec.boards[match.board]
            seats = [board.seats[entry].label for entry in match.pairing.seats]
            found.append(
                {
                    "spec": name,
                    "board": board.title,
                    "round": match.pairing.round,
                    "seats": seats,
                    "id": match.match_id(spec),
                }
            )
    return found


def printed(command: str, *options: str, store: Path = FOLDER / "cup.db") -> str:
    """Return the output of a command for a store. In JSON, the environments are left out, as they differ between machines."""
    words = [sys.executable, "-m", "arena", command, str(store), *options]
    text = subprocess.run(words, capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "120"}).stdout
    if "json" not in options:
        return text
    document = json.loads(text)
    del document["environments"]
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def make() -> None:
    """Write all files."""
    lines = ",\n".join([json.dumps(match) for match in schedule()])
    (FOLDER / "ids.json").write_text(f"[\n{lines}\n]\n", "utf-8")
    with TemporaryDirectory() as folder:
        copy(FOLDER / "cup.yaml", folder)
        words = [sys.executable, "-m", "arena", "run", "cup.yaml", "--quiet"]
        subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        copy(Path(folder, "results", "cup.db"), FOLDER / "cup.db")
    for name, words in PRINTED.items():
        (FOLDER / name).write_text(printed(*words), "utf-8")


if __name__ == "__main__":
    make()
