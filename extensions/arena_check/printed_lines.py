"""What plugins print during checks: the first lines are shown, and the others are counted."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import IO, Any, cast

from arena.api.cli import say
from arena.api.results import figures

MAX_PRINTED_LINES = 10
"""The lines that a plugin prints during the checks of a command, of which no more are shown."""
MAX_PRINTED_CHARACTERS = 2_000
"""The same in characters, for lines without an end."""


@contextmanager
def few_printed_lines() -> Iterator[None]:
    """Inside the block, show only the first lines that are printed to stdout; then say how many were not shown.

    An agent prints thousands of lines, if each of its decisions prints one.
    """
    printed = _FirstLines(sys.stdout)
    try:
        with redirect_stdout(cast("IO[str]", printed)):
            yield
    finally:
        if printed.hidden:
            if printed.begun:
                print(file=sys.stderr)
            more = figures.amount(printed.hidden, "character")
            if lines := printed.lines - min(printed.lines, MAX_PRINTED_LINES):
                more = f"{figures.amount(lines, 'line')} ({more})"
            say(f"note: {more} that the plugin printed are not shown; `arena play` and `arena run` show all")


class _FirstLines:
    """A stream that passes on the first lines that are written to it. Everything else is left to the other stream."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._room = MAX_PRINTED_CHARACTERS
        self.lines = self.hidden = 0
        self.begun = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        lines = text.splitlines(keepends=True)
        shown = "".join(lines[: max(0, MAX_PRINTED_LINES - self.lines)])[: self._room]
        self._room -= len(shown)
        self.begun = not shown.endswith("\n") if shown else self.begun
        self.lines += text.count("\n")
        self.hidden += len(text) - len(shown)
        self._stream.write(shown)
        return len(text)
