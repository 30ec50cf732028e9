"""The terminal: text and positions that fit its width, styles, input with editing and history, and frames that are drawn in
place.

If the output is not a terminal, there are no styles and the cursor does not move. If the input is not a terminal, it is repeated
in the output.
"""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from typing import IO

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.theme import Theme

from arena import Game, State
from arena.api.cli import Terminal
from arena.api.errors import Interrupted, escape_controls, escape_line

MIN_TEXT_WIDTH = 20
"""The minimum width to which text is wrapped, in columns."""
MAX_TEXT_WIDTH = 100
"""The maximum width of text, because longer lines are hard to read."""
MAX_LINE_CHARACTERS = 1 << 16
"""The maximum number of characters that are read at a time."""


class Screen:
    """Writes to a user and reads input. `out` is the real stdout, even if another stream replaces `sys.stdout`."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out
        self._in = sys.stdin or StringIO()
        self.terminal = out.isatty()
        """True if output goes to a terminal."""
        self.interactive = self.terminal and self._in.isatty()
        """True if input also comes from a terminal."""
        self._moves = Terminal(out).draws
        self._console = Console(
            file=out,
            color_system="standard" if self._moves and not os.environ.get("NO_COLOR") else None,
            force_terminal=self.terminal,
            theme=Theme({"good": "green", "bad": "red"}),
            legacy_windows=False,
        )
        self._drawn = 0
        if hasattr(self._in, "reconfigure"):
            self._in.reconfigure(errors="backslashreplace")  # invalid bytes then give invalid actions instead of a crash

    @property
    def width(self) -> int:
        """The current number of columns for text."""
        return max(MIN_TEXT_WIDTH, min(MAX_TEXT_WIDTH, self.columns_of_boards or 80))

    @property
    def columns_of_boards(self) -> int | None:
        """The current number of columns for a board; None without a terminal."""
        return (Terminal(self._out).size[0] or 80) - 1 if self.terminal else None

    def say(self, text: str = "", style: str | None = None) -> None:
        """Write text, wrapped to the width. Characters that a terminal could interpret as commands are escaped."""
        for line in text.split("\n"):
            for part in wrap_line(escape_line(line), self.width):
                self.put(part, style)

    def put(self, text: str, style: str | None = None) -> None:
        """Write text without wrapping it, for example a board. Control characters are escaped, except tabs and line ends."""
        self._console.out(escape_controls(text), style=style, highlight=False)

    def wipe(self) -> None:
        """Clear the screen and its scrollback. Without a terminal, write a separating line instead."""
        if self._moves:
            self._out.write("\x1b[2J\x1b[3J\x1b[H")
            self._out.flush()
        else:
            self.put("-" * MIN_TEXT_WIDTH)

    def columns(self, items: Sequence[str]) -> None:
        """Write short texts in as many columns as fit. They are ordered down each column."""
        clean = [escape_line(item) for item in items]
        wide = max(map(cell_len, clean), default=0) + 2
        down = -(-len(clean) // max(1, (self.width - 2) // wide))
        for row in range(down):
            self.put("  " + "".join([set_cell_size(item, wide) for item in clean[row::down]]).rstrip())

    def ask(self, prompt: str, words: Sequence[str] = ()) -> str:
        """Read the next line and strip it; raises EOFError at the end of the input.

        The Tab key completes the words in `words`.
        """
        try:
            if not self.interactive:
                return self._read_piped(prompt).strip()
            with self._in_front():
                _complete(words)
                return input(prompt).strip()
        except (EOFError, Interrupted):
            self.put("")  # so that the next output begins on a new line
            raise

    def _read_piped(self, prompt: str) -> str:
        print(prompt, end="", file=self._out, flush=True)
        line = self._in.readline(MAX_LINE_CHARACTERS)
        if not line:
            raise EOFError
        if not self._in.isatty():  # a terminal has shown the input already
            self.put(escape_line(line.strip()))
        return line

    @contextmanager
    def _in_front(self) -> Iterator[None]:
        """Restore the real stdout inside the block, because line editing in Python works only with it."""
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
        """Draw a frame over the previous one. If the screen cannot move its cursor or is too small, draw the frame
        below the previous one.
        """
        columns, lines = [found or usual for found, usual in zip(Terminal(self._out).size, (80, 24), strict=True)]
        rows = escape_controls(text).split("\n")
        if self._moves:
            rows = [set_cell_size(row, columns - 1).rstrip() for row in rows]
        up = f"\x1b[{self._drawn}A\x1b[J" if self._drawn else ""  # rich would erase a frame line by line, which flickers
        fits = self._moves and len(rows) < lines
        if fits:
            self._out.write(up)
        self.put("\n".join(rows))
        self._drawn = len(rows) if fits else 0

    def leave(self) -> None:
        """Keep the last frame on the screen. The next one is drawn below it."""
        self._drawn = 0


def wrap_line(line: str, width: int, further: int = 2) -> list[str]:
    """Break a line between words at `width` columns, or inside a word that is wider. All rows after the first are indented by
    `further`.
    """
    hanging = " " * min(len(line) - len(line.lstrip()) + further, width // 2)
    rows = [""]
    for word in re.split(r"(?<=\s)(?=\S)", line):
        rest = word
        while cell_len(rows[-1] + rest.rstrip()) > width:
            room = max(0, width - cell_len(rows[-1]))
            fits = set_cell_size(rest, room).rstrip() if cell_len(word.rstrip()) > width - len(hanging) else ""
            rows[-1] += fits
            rest = rest[len(fits) :]
            rows.append(hanging)
        rows[-1] += rest
    return [row.rstrip() for row in rows]


def _complete(words: Sequence[str]) -> None:
    """Let the Tab key complete `words` and the arrow keys edit the line. This does nothing if Python has no readline."""
    try:
        import readline
    except ImportError:
        return
    readline.set_completer(lambda start, number: [*[word for word in words if word.startswith(start)], None][number])
    readline.set_completer_delims(" ")
    readline.parse_and_bind("tab: complete")


def fit_board(game: Game, state: State, screen: Screen) -> str:
    """Return a position as its game renders it. If the position is too wide, the spaces between cells are removed. If it is still
    too wide, its notation is returned instead.
    """
    rendered, columns = game.render(state), screen.columns_of_boards
    if columns is None or _width(rendered) <= columns:
        return rendered
    rows = rendered.split("\n")
    if not any(row[1::2].strip() for row in rows):  # only if cells have one character and one space lies between them
        dense = "\n".join([row[::2] for row in rows])
        if _width(dense) <= columns:
            return dense
    wide = f"the board is {_width(rendered):,} columns wide, but the terminal only {columns + 1:,}"
    note = f"({wide}, so the position is shown in its notation)"
    return "\n".join([*wrap_line(game.format_state(state), columns, 0), *wrap_line(note, columns, 0)])


def _width(text: str) -> int:
    return max(map(cell_len, text.split("\n")))
