"""A ladder that is killed again and again, by command: `python -m tests.extensions.ladder.kills [KILLS [SEED]]`.

It kills 100 times by default, with seed 7.

Each kill comes at a random moment after an author has begun to hand in: some while the file is on its way, some while it is
checked or plays. Prints what was kept, and ends with 1 where something is lost that had been acknowledged.
"""

import random
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.extensions.ladder.hosting import GOOD, HostedLadder, agent

SOON, LATE = 0.1, 0.8
"""Seconds from the begin of a request to a kill, at most: within them a file comes in, or is checked and matches are played."""
PATIENCE = 10.0
"""Seconds to wait for a match: where all are settled none comes."""
REFUSED_EACH = 3
"""Every so many files one is of an agent that does not pass."""


@dataclass(slots=True)
class Killed:
    """What a ladder was sent and what it has acknowledged, over all its lives."""

    sent: list[bytes] = field(default_factory=list)
    acknowledged: dict[str, bytes] = field(default_factory=dict)
    """The files by their ids."""
    matches: set[str] = field(default_factory=set)
    """The ids of matches that a page has shown."""


def killed(folder: Path, kills: int, seed: int = 7) -> Killed:
    """Host a ladder in a folder, kill it so many times, let it end as a person does, and return what it had acknowledged."""
    rng, found = random.Random(seed), Killed()
    with HostedLadder(folder) as ladder, ThreadPoolExecutor(1) as pool:
        (token,) = ladder.tokens("ada")
        for number in range(kills):
            content = agent(f"{GOOD}  # {number}" if number % REFUSED_EACH else f"return 99  # {number}")
            found.sent.append(content)
            handing_in = pool.submit(_acknowledged, ladder, token, content, f"n{number % 4}")
            time.sleep(rng.uniform(0.0, LATE if number % 2 else SOON))
            found.matches |= _shown(ladder, found.matches) if number % 4 == 3 else set()
            ladder.kill()
            if (key := handing_in.result()) is not None:
                found.acknowledged[key] = content
            ladder.again()
        for row in ladder.ask("/api/submissions", token).body["rows"]:  # those, too, whose answers did not arrive
            ladder.verdict(token, row["id"], 120)
        code, said = ladder.end()
    assert (code, said) == (0, "")
    return found


def _acknowledged(ladder: HostedLadder, token: str, content: bytes, name: str) -> str | None:
    """The id of a file that was taken; None where no answer came."""
    try:
        answer = ladder.submit(token, content, name=name)
    except (OSError, HTTPException):
        return None
    assert answer.status == 202, answer
    return str(answer.body["id"])


def _shown(ladder: HostedLadder, known: Set[str]) -> set[str]:
    """The matches of the page, once it has others than the known ones: so the kill comes while more are played."""
    until = time.monotonic() + PATIENCE
    while True:
        shown = {match["id"] for match in ladder.ask("/api/t/ladder/matches").body["matches"]}
        if shown - known or time.monotonic() > until:
            return shown


def check(folder: Path, found: Killed) -> dict[str, int]:
    """AssertionError where a store does not have all that was acknowledged, or has something twice; return the counts of it."""
    store = folder / "results" / "course.db"
    command = [sys.executable, "-m", "arena", "check", str(store)]
    whole = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert whole.stdout.endswith("0 faults\n"), whole.stdout + whole.stderr
    with sqlite3.connect(store) as kept:
        rows: list[Any] = kept.execute("SELECT id, content, status, name, version FROM ladder_submission").fetchall()
        records = {key for (key,) in kept.execute("SELECT lower(hex(id)) FROM record")}
        places = [number for (number,) in kept.execute("SELECT number FROM place")]
    contents = {key: bytes(content) for key, content, *_ in rows}
    assert contents.items() >= found.acknowledged.items()
    assert not Counter(contents.values()) - Counter(found.sent), "a file that nobody sent, or one twice"
    assert records >= found.matches
    assert len(places) == len(set(places))
    wrong = [key for key, content, status, *_ in rows if (status == "refused") != (b"return 99" in content)]
    assert not wrong, "verdicts on other files than these"
    versions = sorted((name, version) for *_, name, version in rows if version is not None)
    assert versions == sorted(_numbered(name for _, content, _, name, _ in rows if b"return 99" not in content))
    return {"acknowledged": len(found.acknowledged), "kept": len(rows), "shown": len(found.matches), "matches": len(places)}


def _numbered(names: Any) -> list[tuple[str, int]]:
    """Versions from 1 on of each name."""
    return [(name, version) for name, count in Counter(names).items() for version in range(1, count + 1)]


def main(kills: int = 100, seed: int = 7) -> int:
    """Kill a ladder and tell what came of it."""
    began = time.monotonic()
    with TemporaryDirectory(prefix="ladder-kills-") as folder:
        counts = check(Path(folder), killed(Path(folder), kills, seed))
    print(f"{kills} kills within {time.monotonic() - began:.0f} s; nothing lost: ", end="")
    print("{acknowledged} files acknowledged of {kept} kept, {shown} matches shown of {matches} played".format(**counts))
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
