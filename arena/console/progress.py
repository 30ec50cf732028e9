"""How far a run has come: live on a terminal, a line a minute elsewhere."""

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from time import monotonic
from types import TracebackType
from typing import IO, Any, Protocol, Self

from arena.results.standings import Standings
from arena.schedule.schedule import Scheduled
from arena.spec import Board
from arena.tournament.results import PlayedMatch

LIVE = 0.2
"""Seconds between two updates on a terminal."""
PLAIN = 60.0
"""Seconds between two lines elsewhere."""
SHOWN = 12
"""Lines of the standings that are shown."""
FINE = frozenset({"normal", "move-limit", "stuck", "gave-up"})
"""Endings that are nobody's fault."""


class View(Protocol):
    """A way to show a text again and again."""

    def show(self, lines: Sequence[str]) -> None:
        """Show these lines in place of the last ones."""

    def end(self) -> None:
        """Take away what should not stay."""


class Progress(AbstractContextManager["Progress"]):
    """Tells how many matches are done, how fast, how long it will take, what failed, and how the agents stand.

    On a terminal it is updated in place, also while a long match is being played; elsewhere a plain line is written once a
    minute; with `quiet` nothing is.
    """

    def __init__(
        self, boards: Sequence[Board], total: int, stream: IO[str], *, quiet: bool = False, every: float = PLAIN
    ) -> None:
        self._boards = boards
        self._total = total
        self._standings = Standings(boards)
        self._done = self._found = self._failed = 0
        self._notes: dict[int, str] = {}
        self._staff: Callable[[], str] | None = None
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._began = monotonic()
        self._live = stream.isatty()
        self._every = LIVE if self._live else every
        self._view: View | None = None if quiet else _Terminal(stream) if self._live else _Lines(stream)
        self._ticker = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> Self:
        """Begin to show it."""
        self._began = monotonic()
        if self._view is not None:
            self._ticker.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Take it away."""
        self._over.set()
        if self._view is not None:
            self._ticker.join()
            self._view.end()

    def found(self, scheduled: Scheduled, returns: Sequence[float] | None) -> None:
        """Count a match that the store had."""
        with self._lock:
            self._found += 1
            if returns is not None:
                self._standings.count(scheduled.board, scheduled.pairing, returns)

    def note(self, played: PlayedMatch) -> None:
        """Count a match that has just been played."""
        record = played.record
        with self._lock:
            self._done += 1
            self._failed += record.termination not in FINE
            if record.termination != "void":
                self._standings.count(played.board, played.pairing, record.returns)

    def say(self, board: int, text: str) -> None:
        """Have a board's own word on how far it is shown, such as the state of a test."""
        with self._lock:
            self._notes[board] = text

    def ask(self, staff: Callable[[], str]) -> None:
        """Have shown who plays, asked anew each time, from another thread."""
        self._staff = staff

    def _tick(self) -> None:
        while not self._over.wait(self._every):
            with self._lock:
                lines = [self.line(), *self._table()] if self._live else [self.line()]
            if self._view is not None:
                with suppress(OSError, ValueError):  # nobody reads it any more
                    self._view.show(lines)

    def line(self) -> str:
        """The state of the run in one line."""
        spent = max(monotonic() - self._began, 1e-9)
        rate = self._done / spent
        left = self._total - self._done - self._found
        parts = [f"{self._done + self._found:,}/{self._total:,} matches", f"{rate:,.{0 if rate >= 10 else 2}f}/s"]
        if self._done and left > 0:
            parts.append(f"{duration(left / rate)} left")
        if self._failed:
            parts.append(f"{self._failed:,} failed")
        if self._staff is not None:
            parts.append(self._staff())
        parts += [self._notes[board] for board in sorted(self._notes)]
        return ", ".join(parts)

    def _table(self) -> list[str]:
        board = self._standings.latest
        standings = self._standings.of(board)
        width = max(len(one.agent) for one in standings)
        lines = [
            f"  {one.agent:{width}}  {'-' if one.score is None else f'{100 * one.score:.1f} %':>7}  {one.games:,}"
            for one in standings[:SHOWN]
        ]
        more = len(standings) - SHOWN
        return [f"{self._boards[board].title}, so far:", *lines, *([f"  and {more} more"] if more > 0 else [])]


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


def duration(seconds: float) -> str:
    """A time as people say it: `42 s`, `3 min 20 s`, `2 h 5 min`, `4 d 2 h`."""
    whole = round(seconds)
    for unit, size, smaller, part in (("d", 86400, "h", 3600), ("h", 3600, "min", 60), ("min", 60, "s", 1)):
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size} {unit} {rest} {smaller}" if rest else f"{whole // size} {unit}"
    return f"{whole} s"


class _Lines:
    """Writes plain lines, one after the other."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def show(self, lines: Sequence[str]) -> None:
        self._stream.write("\n".join(lines) + "\n")
        self._stream.flush()

    def end(self) -> None:
        pass


class _Terminal:
    """Writes over what it wrote last; by rich where it is installed, which knows how wide things are."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._live: Any = None
        self._plain = False

    def show(self, lines: Sequence[str]) -> None:
        if self._live is None and not self._plain:
            self._live = _rich(self._stream)
            self._plain = self._live is None
        if self._plain:
            self._stream.write(f"\r\x1b[K{lines[0]}")
            self._stream.flush()
        else:
            self._live.update(_text("\n".join(lines)), refresh=True)

    def end(self) -> None:
        if self._live is not None:
            self._live.stop()
        elif self._plain:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def _rich(stream: IO[str]) -> Any:
    """A live display, None where rich is not installed."""
    try:
        from rich.console import Console
        from rich.live import Live
    except ImportError:
        return None
    live = Live(console=Console(file=stream), auto_refresh=False, transient=True, redirect_stdout=False)
    live.start()
    return live


def _text(text: str) -> Any:
    from rich.text import Text

    return Text(text, no_wrap=True, overflow="ellipsis")
