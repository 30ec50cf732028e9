"""A command that kills a ladder again and again: `python -m tests.ladder.kills [KILLS [SEED]]`.

The default is 100 kills with seed 7.

Each kill comes at a random moment after an author has begun to hand in a file: while the file is sent, while it is checked, or
while its agent plays. The command prints how much was kept. If something acknowledged was lost, it fails with exit code 1.
"""

import os
import random
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Set
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.eventually import eventually
from tests.fork_server import run_module
from tests.ladder.hosting import GOOD, SPEC, HostedLadder, agent

SOON, LATE = 0.1, 0.8
"""The maximum seconds from the begin of a request to a kill. Within SOON, a file arrives. Within LATE, it is also checked, and
matches are played.
"""
CALM_EACH = 4
"""Once per this number of files, the kill waits for the answer and for a match. So there is something to lose on any machine."""
REFUSED_EACH = 3
"""One of this number of files has an agent that is refused."""


@dataclass(slots=True)
class Killed:
    """The files that were sent to a ladder, and everything that it acknowledged, over all restarts."""

    sent: list[bytes] = field(default_factory=list)
    acknowledged: dict[str, bytes] = field(default_factory=dict)
    """The acknowledged files; the keys are their ids."""
    matches: set[str] = field(default_factory=set)
    """The ids of matches that a page has shown."""


def killed(folder: Path, kills: int, seed: int = 7) -> Killed:
    """Host a ladder in a folder, kill it `kills` times, and finally stop it properly. Return everything that it acknowledged."""
    rng, found = random.Random(seed), Killed()
    with HostedLadder(folder, SPEC.replace("interval: 200", "interval: 60")) as ladder, ThreadPoolExecutor(1) as pool:
        (token,) = ladder.tokens("ada")
        for number in range(kills):
            content = agent(f"{GOOD}  # {number}" if number % REFUSED_EACH else f"return 99  # {number}")
            found.sent.append(content)
            handing_in = pool.submit(_acknowledged, ladder, token, content, f"n{number % 4}")
            time.sleep(rng.uniform(0.0, LATE if number % 2 else SOON))
            if number % CALM_EACH == CALM_EACH - 1:
                wait([handing_in])
                found.matches |= _shown(ladder, found.matches)
            ladder.kill()
            if (key := handing_in.result()) is not None:
                found.acknowledged[key] = content
            ladder.again()
        assert ladder.admin("pause").returncode == 0  # so that the checks of the files get the processors
        for row in reversed(ladder.ask("/api/submissions", token).body["rows"]):  # in the order in which they are checked
            ladder.verdict(token, row["id"])  # files without an answer are checked, too
        code, said = ladder.end()
    assert (code, said) == (0, "")
    return found


def _acknowledged(ladder: HostedLadder, token: str, content: bytes, name: str) -> str | None:
    """Hand in a file. Return its id, or None if no answer came."""
    try:
        answer = ladder.submit(token, content, name=name)
    except (OSError, HTTPException):
        return None
    assert answer.status == 202, answer
    return str(answer.body["id"])


def _shown(ladder: HostedLadder, known: Set[str]) -> set[str]:
    """Wait until the page of matches has new ones, and return the ids of all. So the kill comes while more matches are played.

    On a ladder that is idle, all results are settled and no match comes.
    """
    shown: set[str] = set()

    def is_new() -> bool:
        idle = ladder.ask("/health").body["state"] == "idle"
        shown.update(match["id"] for match in ladder.ask("/api/t/ladder/matches").body["matches"])
        return bool(shown - known) or idle

    eventually(is_new)
    return shown


def check(folder: Path, found: Killed) -> dict[str, int]:
    """Assert that the store has everything acknowledged, and nothing twice. Return the numbers of files and matches."""
    store = folder / "results" / "course.db"
    whole = run_module("arena", ["check", str(store)], folder=store.parent, environment=os.environ, timeout=300)
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
    """Return the versions that agents with these names get: 1, 2, ... for each name."""
    return [(name, version) for name, count in Counter(names).items() for version in range(1, count + 1)]


def main(kills: int = 100, seed: int = 7) -> int:
    """Kill a ladder, and print the outcome."""
    began = time.monotonic()
    with TemporaryDirectory(prefix="ladder-kills-") as folder:
        counts = check(Path(folder), killed(Path(folder), kills, seed))
    print(f"{kills} kills within {time.monotonic() - began:.0f} s; nothing lost: ", end="")
    print("{acknowledged} files acknowledged of {kept} kept, {shown} matches shown of {matches} played".format(**counts))
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
