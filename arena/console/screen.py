"""The terminal: text that fits its width, colour where it has any, lines read with editing and history, frames drawn in place.

Without a terminal the same goes through pipes: no colour, no cursor movement, and what was read is echoed.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from textwrap import wrap
from typing import IO

from arena.errors import Interrupted
from arena.spec.faults import one_line

NARROWEST = 20
"""Columns that text is not wrapped below."""
WIDEST = 100
"""Columns beyond which text is hard to read."""
LONGEST = 1 << 16
"""Characters of a line that are read at a time."""
STYLES = {"bold": "1", "dim": "2", "good": "32", "bad": "31"}
"""What colours are used for, by their SGR numbers."""


class Screen:
    """Where a person looks and types. `out` is the real stdout, whatever stands in for it."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out
        self.terminal = out.isatty()
        """Whether what is written is seen at once, by somebody, on a screen."""
        self.interactive = self.terminal and sys.stdin is not None and sys.stdin.isatty()
        """Whether somebody types."""
        capable = os.environ.get("TERM", "") not in ("", "dumb")
        self._moves = self.terminal and capable
        self._colour = self._moves and not os.environ.get("NO_COLOR")
        self._drawn = 0
        if sys.stdin is not None and hasattr(sys.stdin, "reconfigure"):
            sys.stdin.reconfigure(errors="backslashreplace")  # what is no text is no action either, and no crash

    @property
    def size(self) -> tuple[int, int]:
        """Columns and lines, now."""
        try:
            columns, lines = os.get_terminal_size(self._out.fileno())
        except (OSError, ValueError):
            return 80, 24
        return columns or 80, lines or 24

    @property
    def width(self) -> int:
        """Columns for text."""
        return max(NARROWEST, min(WIDEST, self.size[0] - 1 if self.terminal else 80))

    @property
    def columns_of_boards(self) -> int | None:
        """Columns for a board, now; None where it is not seen on a screen."""
        return self.size[0] - 1 if self.terminal else None

    def say(self, text: str = "", style: str | None = None) -> None:
        """Write text, every line of it wrapped to the width; what a terminal might take for a command is escaped."""
        for line in text.split("\n"):
            clean = one_line(line)
            indent = clean[: len(clean) - len(clean.lstrip())]
            for part in wrap(clean, self.width, subsequent_indent=f"{indent}  ", break_on_hyphens=False) or [""]:
                self.put(self.styled(part, style))

    def put(self, text: str) -> None:
        """Write text as it is, such as a board."""
        print(text, file=self._out, flush=True)

    def styled(self, text: str, style: str | None) -> str:
        """Text in a style, where there is colour."""
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if style and self._colour and text else text

    def columns(self, items: Sequence[str]) -> None:
        """Write short texts side by side, by column, as many as fit."""
        if not items:
            return
        clean = [one_line(item) for item in items]
        wide = max(map(len, clean)) + 2
        across = max(1, (self.width - 2) // wide)
        down = -(-len(clean) // across)
        for row in range(down):
            self.put("  " + "".join([f"{item:{wide}}" for item in clean[row::down]]).rstrip())

    def ask(self, prompt: str, words: Sequence[str] = ()) -> str:
        """Return the line that is typed next, without space around it; EOFError where there is none any more.

        `words` are what the Tab key completes.
        """
        try:
            return self._typed(prompt, words) if self.interactive else self._piped(prompt)
        except (EOFError, Interrupted):
            self.put("")  # what follows stands on a line of its own
            raise

    def _typed(self, prompt: str, words: Sequence[str]) -> str:
        with self._in_front(), _completed(words):
            return input(prompt).strip()

    def _piped(self, prompt: str) -> str:
        self._out.write(prompt)
        self._out.flush()
        line = sys.stdin.readline(LONGEST) if sys.stdin is not None else ""
        if not line:
            raise EOFError
        if sys.stdin is None or not sys.stdin.isatty():  # a terminal has shown it already
            self.put(one_line(line.strip()))
        return line.strip()

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
        """Draw a frame in the place of the last one; below it where the screen cannot do that, or is too small."""
        columns, lines = self.size
        rows = text.split("\n")
        if self._moves:
            rows = [row[: columns - 1] for row in rows]
        up = f"\x1b[{self._drawn}A\x1b[J" if self._drawn else ""
        fits = self._moves and len(rows) < lines
        self.put((up if fits else "") + "\n".join(rows))
        self._drawn = len(rows) if fits else 0

    def leave(self) -> None:
        """Let the last frame stand."""
        self._drawn = 0


@contextmanager
def _completed(words: Sequence[str]) -> Iterator[None]:
    """Line editing with history, and `words` completed; nothing of it where Python has no readline."""
    try:
        import readline
    except ImportError:
        yield
        return

    def complete(start: str, number: int) -> str | None:
        found = [word for word in words if word.startswith(start)]
        return found[number] if number < len(found) else None

    before = readline.get_completer()
    readline.set_completer(complete)
    readline.set_completer_delims(" ")
    with suppress(Exception):
        readline.parse_and_bind("tab: complete")
    try:
        yield
    finally:
        readline.set_completer(before)
