"""The terminal: text wrapped to its width, styles, lines read with editing and history, frames drawn in place.

Without a terminal the same goes through pipes: no style, no cursor movement, and what was read is echoed.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from typing import IO

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text
from rich.theme import Theme

from arena.console.output import draws, terminal_size
from arena.errors import Interrupted
from arena.spec.faults import one_line

NARROWEST = 20
"""Columns that text is not wrapped below."""
WIDEST = 100
"""Columns beyond which text is hard to read."""
LONGEST = 1 << 16
"""Characters of a line that are read at a time."""


class Screen:
    """Writes to a person and reads what is typed. `out` is the real stdout, whatever stands in for it."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out
        self._in = sys.stdin or StringIO()
        self.terminal = out.isatty()
        """Whether what is written is seen at once, by somebody, on a screen."""
        self.interactive = self.terminal and self._in.isatty()
        """Whether somebody types."""
        self._moves = draws(out)
        self._console = Console(
            file=out,
            color_system="standard" if self._moves and not os.environ.get("NO_COLOR") else None,
            force_terminal=self.terminal,
            theme=Theme({"good": "green", "bad": "red"}),
            legacy_windows=False,
        )
        self._drawn = 0
        if hasattr(self._in, "reconfigure"):
            self._in.reconfigure(errors="backslashreplace")  # what is no text is no action either, and no crash

    @property
    def width(self) -> int:
        """Columns for text, now."""
        return max(NARROWEST, min(WIDEST, self.columns_of_boards or 80))

    @property
    def columns_of_boards(self) -> int | None:
        """Columns for a board, now; None if it is not seen on a screen."""
        return (terminal_size(self._out)[0] or 80) - 1 if self.terminal else None

    def say(self, text: str = "", style: str | None = None) -> None:
        """Write text, every line of it wrapped to the width; what a terminal might take for a command is escaped."""
        for line in text.split("\n"):
            for part in wrapped(one_line(line), self.width):
                self.put(part, style)

    def put(self, text: str, style: str | None = None) -> None:
        """Write text as it is, such as a board."""
        self._console.out(text, style=style, highlight=False)

    def columns(self, items: Sequence[str]) -> None:
        """Write short texts side by side, by column, as many as fit."""
        clean = [one_line(item) for item in items]
        wide = max(map(cell_len, clean), default=0) + 2
        down = -(-len(clean) // max(1, (self.width - 2) // wide))
        for row in range(down):
            self.put("  " + "".join([set_cell_size(item, wide) for item in clean[row::down]]).rstrip())

    def ask(self, prompt: str, words: Sequence[str] = ()) -> str:
        """Return the line that is typed next, without space around it; EOFError if there is none any more.

        `words` are what the Tab key completes.
        """
        try:
            return (self._typed(prompt, words) if self.interactive else self._piped(prompt)).strip()
        except (EOFError, Interrupted):
            self.put("")  # what follows stands on a line of its own
            raise

    def _typed(self, prompt: str, words: Sequence[str]) -> str:
        with self._in_front():
            _complete(words)
            return input(prompt)

    def _piped(self, prompt: str) -> str:
        print(prompt, end="", file=self._out, flush=True)
        line = self._in.readline(LONGEST)
        if not line:
            raise EOFError
        if not self._in.isatty():  # a terminal has shown it already
            self.put(one_line(line.strip()))
        return line

    @contextmanager
    def _in_front(self) -> Iterator[None]:
        """Give Python's own stdout back for a while: its line editing works on nothing else."""
        if self._out is sys.__stdout__:
            yield
            return
        behind = os.dup(1)
        os.dup2(self._out.fileno(), 1)
        try:
            with redirect_stdout(sys.__stdout__):
                yield
        finally:
            os.dup2(behind, 1)
            os.close(behind)

    def draw(self, text: str) -> None:
        """Draw a frame in the place of the last one; below it if the screen cannot do that, or is too small."""
        columns, lines = [found or usual for found, usual in zip(terminal_size(self._out), (80, 24), strict=True)]
        rows = text.split("\n")
        if self._moves:
            rows = [set_cell_size(row, columns - 1).rstrip() for row in rows]
        up = f"\x1b[{self._drawn}A\x1b[J" if self._drawn else ""  # rich would erase it line by line, which flickers
        fits = self._moves and len(rows) < lines
        self.put((up if fits else "") + "\n".join(rows))
        self._drawn = len(rows) if fits else 0

    def leave(self) -> None:
        """Let the last frame stand."""
        self._drawn = 0


def wrapped(line: str, width: int, further: int = 2) -> list[str]:
    """A line broken between words, and long words anywhere, at `width` columns; what follows is indented `further`."""
    hanging = " " * (len(line) - len(line.lstrip()) + further)
    first, *more = [part.plain for part in Text(line).wrap(_CONSOLE, width)]
    if more:
        rest = Text(line[len(first) :].lstrip()).wrap(_CONSOLE, max(1, width - len(hanging)))
        more = [hanging + part.plain for part in rest]
    return [part.rstrip() for part in (first, *more)]


_CONSOLE = Console()
"""What `Text.wrap` wants; nothing is written to it."""


def _complete(words: Sequence[str]) -> None:
    """Have the Tab key complete `words`, and input edited with history; nothing of it if Python has no readline."""
    try:
        import readline
    except ImportError:
        return
    readline.set_completer(lambda start, number: [*[word for word in words if word.startswith(start)], None][number])
    readline.set_completer_delims(" ")
    readline.parse_and_bind("tab: complete")
