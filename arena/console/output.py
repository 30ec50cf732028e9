"""The abilities of a terminal, and a stdout kept for results: output of plugins, in Python or below it, goes to stderr."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import IO


def terminal_size(out: IO[str]) -> tuple[int, int]:
    """Return columns and lines of a terminal, by COLUMNS and LINES if set; 0 if not known, and for a file or a pipe."""
    if not out.isatty():
        return 0, 0
    try:
        columns, lines = os.get_terminal_size(out.fileno())
    except (OSError, ValueError):
        columns = lines = 0
    return _environment("COLUMNS") or columns, _environment("LINES") or lines


def _environment(key: str) -> int:
    given = os.environ.get(key, "")
    return int(given) if given.isdecimal() else 0


def room(out: IO[str]) -> int | None:
    """Return the columns that a result has room for; None for a file or a pipe."""
    return terminal_size(out)[0] or None


def draws(stream: IO[str]) -> bool:
    """Return whether a stream is a terminal that moves its cursor, by rich's rule but without importing rich."""
    return stream.isatty() and os.environ.get("TERM", "").lower() not in ("dumb", "unknown")


@contextmanager
def results_alone() -> Iterator[IO[str]]:
    """Yield a stream to the real stdout; inside the block everything else that writes to stdout reaches stderr."""
    sys.stdout.flush()
    try:
        kept = os.dup(sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):  # stdout is not a file, as in a test
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


class LiveLine:
    """One line of a terminal, cut to its width; nothing if the stream is not a terminal, or if the line is not `wanted`."""

    def __init__(self, stream: IO[str], *, wanted: bool = True) -> None:
        self._stream = stream
        self._there = False
        self.shown = wanted and draws(stream)
        """False if nothing is ever written."""

    def show(self, text: str) -> None:
        """Write `text` in place of the old one; erase it for an empty text."""
        if self.shown and (text or self._there):
            self._stream.write(f"\r\x1b[K{text[: (room(self._stream) or 80) - 1]}")
            self._stream.flush()
            self._there = bool(text)
