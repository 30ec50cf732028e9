"""How far a run has come, on a terminal."""

from time import monotonic
from typing import IO

from arena.tournament import Played

EVERY = 0.1
"""Seconds between two updates of the line."""


class Progress:
    """A line that counts matches while a tournament runs; nothing where the stream is no terminal."""

    def __init__(self, total: int, stream: IO[str], *, quiet: bool = False) -> None:
        self._total = total
        self._stream = stream
        self._shown = not quiet and stream.isatty()
        self._done = 0
        self._failed = 0
        self._began = monotonic()
        self._next = self._began + EVERY

    def note(self, played: Played) -> None:
        """Count a match."""
        self._done += 1
        self._failed += played.record.termination not in _FINE
        if self._shown and monotonic() >= self._next:
            self._next = monotonic() + EVERY
            self._write()

    def _write(self) -> None:
        spent = monotonic() - self._began
        left = spent / self._done * (self._total - self._done)
        failed = f", {self._failed:,} failed" if self._failed else ""
        rate = self._done / spent
        self._stream.write(f"\r\x1b[K{self._done:,}/{self._total:,} matches, {rate:,.0f}/s, {left:,.0f} s left{failed}")
        self._stream.flush()

    def end(self) -> None:
        """Take the line away."""
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


class Work:
    """A line that shows how far long work has come, such as building a table; nothing where the stream is no terminal."""

    def __init__(self, stream: IO[str], *, quiet: bool = False) -> None:
        self._stream = stream
        self._shown = not quiet and stream.isatty()

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show a state of the work; the line goes when all is done."""
        if self._shown:
            self._stream.write("\r\x1b[K" if done >= total else f"\r\x1b[K{what}: {100 * done // max(1, total)} %")
            self._stream.flush()


_FINE = frozenset({"normal", "move-limit", "stuck", "gave-up"})
