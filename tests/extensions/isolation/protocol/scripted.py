"""A program that speaks by heart: `scripted.py SCRIPT`, a transcript as in the manual. It ends with code 9 where arena deviates.

Where arena's line is another one than in the script, the two go to SCRIPT.outcome; after the last of arena's lines, the
word `said`.
"""

import json
import sys
from pathlib import Path
from typing import Any


def main(script: Path) -> None:
    expected = script.read_text().splitlines()
    heard = max(number for number, line in enumerate(expected) if not line.startswith("< "))
    for number, line in enumerate(expected):
        if line.startswith("< "):
            sys.stdout.write(line[2:] + "\n")
            sys.stdout.flush()
            continue
        said = sys.stdin.readline()
        if timeless(said) != timeless(line[2:]):
            Path(f"{script}.outcome").write_text(f"{line}\n> {said}")
            sys.exit(9)
        if number == heard:  # before the last answer: after it, arena may end this program at any moment
            Path(f"{script}.outcome").write_text("said")


def timeless(line: str) -> Any:
    """A message without arena's version, and without the token of a match, which is new every time."""
    try:
        return {key: value for key, value in json.loads(line).items() if key not in ("arena", "match")}
    except ValueError:
        return line


if __name__ == "__main__":
    main(Path(sys.argv[1]))
