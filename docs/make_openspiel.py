"""Writes the table in `how-to/openspiel.md`: the results of the conformance kit for every game that open_spiel registers.

`make openspiel` runs it, which takes half an hour. Each game is checked in a process of its own, because the check may take long,
raise an exception, or crash. If the names of games are given, only these games are checked, and the rows of all others stay as
they are.
"""

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parent / "how-to" / "openspiel.md"
BEGIN, END = "<!-- games: written by make openspiel -->\n", "<!-- end of games -->\n"
SECONDS = 120
"""The time limit for the check of a game."""
MATCHES = 2
AT_ONCE = 2
NICE = 10
PASSED, SLOW, CRASHED, FAILED, REFUSED = "passes", "slow", "crashes", "fails", "not played"
ORDER = (PASSED, SLOW, FAILED, CRASHED, REFUSED)


class Outcome(NamedTuple):
    """The result of the check of a game: a word of ORDER, with details."""

    game: str
    word: str
    told: str = ""
    traits: str = ""


def names() -> list[str]:
    """Return the names of all games, including those written in Python."""
    from arena_bridges.openspiel.library import with_python_games

    return list(with_python_games().registered_names())


def check(game: str) -> None:
    """Check one game with the kit. Print its traits, the word for the outcome and the details, each on a line."""
    from arena.errors import cut
    from arena.testing import Violation, check_game
    from arena.traits import Traits
    from arena_bridges.openspiel.game import OpenSpiel

    try:
        made = OpenSpiel(game=game)
    except ValueError as error:
        print(f"\n{REFUSED}\n{cut(str(error).removeprefix(f'{game} cannot be played in arena: '), 160)}")
        return
    print(Traits.of(made), flush=True)
    try:
        passed = check_game(made, matches=MATCHES)
        print(f"{PASSED}\n{len(passed)} checks")
    except Violation as violation:
        print(f"{FAILED}\n{cut(' '.join(str(violation).split()), 160)}")


def outcome(game: str) -> Outcome:
    """Check a game in a separate process, and return the outcome."""
    command = [sys.executable, __file__, "--check", game]
    try:
        done = subprocess.run(  # noqa: S603 - this script itself
            command, capture_output=True, text=True, timeout=SECONDS, check=False, preexec_fn=lambda: os.nice(NICE)
        )
    except subprocess.TimeoutExpired as late:
        return Outcome(game, SLOW, f"not finished in {SECONDS} s", (late.stdout or b"").decode().strip())
    traits, *rest = [*done.stdout.split("\n"), "", ""]
    if done.returncode:
        how = signal.Signals(-done.returncode).name if done.returncode < 0 else done.stderr.strip().splitlines()[-1]
        return Outcome(game, CRASHED, how, traits)
    return Outcome(game, rest[0], rest[1], traits)


def outcomes(games: list[str]) -> Iterator[Outcome]:
    """Yield the outcome of each game, in order, and print it to stderr."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for one in pool.map(outcome, games):
            print(one.game, one.word, one.told, sep="\t", file=sys.stderr, flush=True)
            yield one


def table(rows: dict[str, str]) -> str:
    """Return the table in Markdown, after a line with the number of games for each outcome."""
    counts = Counter([row.split(" | ")[1] for row in rows.values()])
    told = ", ".join([f"{counts[word]} {word}" for word in ORDER if counts[word]])
    lines = [rows[name] for name in sorted(rows)]
    return "\n".join([f"Of {len(rows)} games: {told}.", "", "| game | outcome | | traits |", "|---|---|---|---|", *lines, ""])


def main() -> None:
    """Check one game for `outcome`, or check the named games (all games by default) and write the page."""
    words = sys.argv[1:]
    if words[:1] == ["--check"]:
        check(words[1])
        return
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    old, _, after = rest.partition(END)
    rows = {line.split("`")[1]: line for line in old.splitlines() if line.startswith("| `")} if words else {}
    for one in outcomes(words or names()):
        rows[one.game] = f"| `{one.game}` | {one.word} | {one.told.replace('|', ' ')} | {one.traits} |"
    PAGE.write_text(before + BEGIN + table(rows) + END + after, "utf-8")


if __name__ == "__main__":
    main()
