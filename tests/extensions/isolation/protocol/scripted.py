"""A program that plays a fixed script: `scripted.py SCRIPT`. The script is a transcript as in the manual.

If a line from arena differs from the script, the program writes both lines to SCRIPT.outcome and ends with code 9. After the last
line from arena, it writes the word `said` to SCRIPT.outcome.
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
        if number == heard:  # written before the last answer, because after it arena may end this program at any moment
            Path(f"{script}.outcome").write_text("said")


def timeless(line: str) -> Any:
    """Return a message without arena's version and without the token of the match, because these change."""
    try:
        return {key: value for key, value in json.loads(line).items() if key not in ("arena", "match")}
    except ValueError:
        return line


if __name__ == "__main__":
    main(Path(sys.argv[1]))
