"""Reports what a terminal can do, and keeps stdout free for results: all other output, also from plugins, goes to stderr."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import IO, Any, cast

from arena.clock import monotonic
from arena.errors import escape_controls, escape_line
from arena.notation import read_digits


class Terminal:
    """A stream, and what it can do if it is a terminal."""

    __slots__ = ("_out",)

    def __init__(self, out: IO[str]) -> None:
        self._out = out

    @property
    def size(self) -> tuple[int, int]:
        """The numbers of columns and lines, which COLUMNS and LINES override; 0 if unknown, and for a file or a pipe."""
        if not self._out.isatty():
            return 0, 0
        try:
            columns, lines = os.get_terminal_size(self._out.fileno())
        except (OSError, ValueError):
            columns = lines = 0
        return _environment("COLUMNS") or columns, _environment("LINES") or lines

    @property
    def room(self) -> int | None:
        """The number of columns for a result; None for a file or a pipe."""
        return self.size[0] or None

    @property
    def draws(self) -> bool:
        """Whether it is a terminal that can move its cursor."""
        return self._out.isatty() and os.environ.get("TERM", "").lower() not in ("dumb", "unknown")


def _environment(key: str) -> int:
    given = os.environ.get(key, "")
    return read_digits(given, 6) or 0


class _EscapingStream:
    """A text stream that escapes the control characters in all that is written to it, except tabs and line ends."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(escape_controls(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def results_alone(*, draws: bool = False) -> Iterator[IO[str]]:
    """Yield a stream that writes to the real stdout. Inside the block, all other output to stdout goes to stderr.

    Results may contain texts of others, such as the names in a store. So characters that a terminal would interpret are escaped,
    unless the command `draws` and escapes such texts itself.
    """
    with _redirect_stdout() as real:
        yield real if draws else cast("IO[str]", _EscapingStream(real))


@contextmanager
def _redirect_stdout() -> Iterator[IO[str]]:
    sys.stdout.flush()
    try:
        kept = os.dup(sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):  # stdout is not a file, for example in a test
        real = sys.stdout
        with redirect_stdout(sys.stderr):
            yield real
        return
    number = sys.stdout.fileno()
    results = os.fdopen(kept, "w", encoding=sys.stdout.encoding, errors="backslashreplace")
    try:
        with suppress(OSError):
            os.dup2(sys.stderr.fileno(), number)
        with redirect_stdout(sys.stderr):
            yield results
        results.flush()
    finally:
        os.dup2(kept, number)
        with suppress(OSError):
            results.close()


def erase_live_line() -> None:
    """Erase the live line, if there is one, so that other text can be written to the terminal."""
    if _live_line is not None:
        _live_line.show("")


class LiveLine:
    """One line on a terminal, cut to its width. Nothing is shown if `wanted` is false.

    If the stream is not a terminal, nothing is shown either, unless `in_file` is true: then every SECONDS_BETWEEN_LINES, a text
    is printed as a line of its own.
    """

    SECONDS_BETWEEN_LINES = 10.0

    def __init__(self, stream: IO[str], *, wanted: bool = True, in_file: bool = False) -> None:
        self._stream = stream
        self._there = False
        self.shown = wanted and Terminal(stream).draws
        """Whether the line is updated in place."""
        self._prints = in_file and wanted and not self.shown
        self._printed = monotonic()

    def show(self, text: str) -> None:
        """Replace the line by `text`; an empty text erases it. Characters that a terminal would interpret are escaped."""
        text = escape_line(text)
        if self._prints and text and monotonic() - self._printed >= self.SECONDS_BETWEEN_LINES:
            self._printed = monotonic()
            print(text, file=self._stream, flush=True)
        global _live_line  # noqa: PLW0603 - a process has one terminal
        if self.shown and (text or self._there):
            _live_line = self if text else None
            self._stream.write(f"\r\x1b[K{text[: (Terminal(self._stream).room or 80) - 1]}")
            self._stream.flush()
            self._there = bool(text)


_live_line: LiveLine | None = None
