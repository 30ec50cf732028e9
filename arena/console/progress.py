"""Shows the progress of a run: on a terminal, in a line that is redrawn in place; elsewhere, in one line per minute."""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from typing import IO, Any, Self

from arena.clock import monotonic
from arena.console.output import LiveLine
from arena.errors import escape_line
from arena.match.record import FAULTS
from arena.results import figures
from arena.schedule.runner import Turns
from arena.spec import Board
from arena.tournament.results import PlayedMatch
from arena.tracking import listening

SECONDS_BETWEEN_FRAMES = 0.2
"""Seconds between two updates on a terminal."""
SECONDS_BETWEEN_LINES = 60.0
"""Seconds between two lines if the output is not a terminal."""
SILENCE_SECONDS = 60.0
"""The number of seconds without a finished match after which the pending decisions are named."""
UNLIMITED_ADVICE = "and `limits: {seconds: 10}` in the spec sets one"
MAX_DECISIONS_NAMED = 3
"""The largest number of pending decisions that are named."""


class Progress(AbstractContextManager["Progress"]):
    """Shows how many matches are done, how fast, the time left, and how many failed or are void.

    Matches that the store already had count as done, and their failures count, too. Only the rate is that of this run alone.

    On a terminal, the line is redrawn in place, also during a long match, and erased at the end. Elsewhere, one line per minute
    is written. If `quiet`, nothing is shown. If no match has finished for `silence` seconds, pending decisions are named.
    """

    def __init__(
        self,
        boards: Sequence[Board],
        total: int,
        stream: IO[str],
        *,
        quiet: bool = False,
        every: float = SECONDS_BETWEEN_LINES,
        silence: float = SILENCE_SECONDS,
    ) -> None:
        self._boards = boards
        self._total = total
        self._stream = stream
        self._done = self._found = self._failed = self._void = 0
        self._notes: dict[int, str] = {}
        self._expected: dict[int, int] = {}
        self.staff: Callable[[], str] | None = None
        """Returns a text about the processes that play. Another thread calls it at each update."""
        self.left: Callable[[int], float] = lambda total: total - self._done - self._found
        """Returns how many matches are still to be played, for a given size of the schedule. Another thread calls it."""
        self.share: Callable[[int], tuple[int, bool]] = lambda total: (total, True)
        """Returns how many matches of a schedule of a given size this machine plays, and whether this number is exact."""
        self._turns: Turns = tuple
        self._silence = silence
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._began = self._heard = monotonic()
        self._line = LiveLine(stream, wanted=not quiet)
        self._every = SECONDS_BETWEEN_FRAMES if self._line.shown else every
        self._ticker = None if quiet else threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> Self:
        """Start the display."""
        if self._ticker is not None:
            self._ticker.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the display and erase the line."""
        self._over.set()
        if self._ticker is not None:
            self._ticker.join()
        self._line.show("")

    def found(self, *, failed: bool) -> None:
        """Count a match that an earlier run has stored. `failed` is whether a seat lost it by a fault."""
        with self._lock:
            self._found += 1
            self._failed += failed
            if not self._done:
                self._began = monotonic()  # the speed counts matches that are played, not matches that are read from a store

    def note(self, played: PlayedMatch) -> None:
        """Count a match that has just finished."""
        with self._lock:
            self._heard = monotonic()
            self._done += 1
            self._failed += played.record.termination in FAULTS
            self._void += played.record.termination == "void"

    def say(self, board: int, text: str) -> None:
        """Show a note about a board, such as the state of its test."""
        with self._lock:
            self._notes[board] = text

    def expect(self, sizes: Mapping[int, int]) -> None:
        """Set the expected numbers of matches; the keys are indices of boards. They replace the largest possible numbers."""
        with self._lock:
            self._expected.update(sizes)

    def watch(self, turns: Turns) -> None:
        """Set the function that returns the decisions in progress. Another thread calls it when no match ends."""
        self._turns = turns

    def _tick(self) -> None:
        line = heard = self._began
        while not self._over.wait(min(self._every, self._silence / 4)):
            now = monotonic()
            with suppress(OSError, ValueError):  # the stream is closed
                if self._line.shown:
                    self._line.show(self.line())
                elif now - line >= self._every:
                    line = now
                    print(escape_line(self.line()), file=self._stream, flush=True)
                heard = max(heard, self._heard)
                if now - heard >= self._silence and (lines := self._silent()):
                    heard = now
                    self._line.show("")
                    self._stream.writelines(f"{escape_line(text)}\n" for text in lines)
                    self._stream.flush()

    def line(self) -> str:
        """Return the state of the run in one line."""
        rate = self._done / max(monotonic() - self._began, 1e-9)
        total = self._total - sum([self._boards[board].size - size for board, size in list(self._expected.items())])
        total = max(total, self._done + self._found)
        size, exact = self.share(total)
        about = "~" if self._expected or not exact else ""
        parts = [
            f"{self._done + self._found:,}/{about}{size:,} matches",
            f"{rate:,.{0 if rate >= 10 else 2}f}/s",
        ]
        if self._done and (left := self.left(total)) > 0:
            parts.append(f"{figures.span(left / rate)} left")
        if self._failed:
            parts.append(f"{self._failed:,} failed")
        if self._void:
            parts.append(f"{self._void:,} void")
        if self.staff is not None:
            parts.append(self.staff())
        parts += [self._notes[board] for board in sorted(self._notes)]
        return ", ".join(parts)

    def _silent(self) -> list[str]:
        spent = monotonic() - self._heard
        turns = self._turns() if spent >= self._silence else ()
        lines = []
        for turn in turns[:MAX_DECISIONS_NAMED]:
            pairing, board = turn.scheduled.pairing, self._boards[turn.scheduled.board]
            labels = [board.seats[entry].label for entry in pairing.seats]
            match = f"{' - '.join(labels)}, round {pairing.round + 1} of {board.title}"
            timed = board.seats[pairing.seats[turn.seat]].limits.timed
            advice = "" if timed else f"; its decisions have no time limit: Ctrl-C stops the run, {UNLIMITED_ADVICE}"
            lines.append(
                f"no match has finished for {figures.span(spent)}: {labels[turn.seat]} is at ply {turn.ply} of {match}{advice}"
            )
        return [*lines, f"and {len(turns) - MAX_DECISIONS_NAMED} more"] if len(turns) > MAX_DECISIONS_NAMED else lines


class PercentLine:
    """A line that shows the percentage of long work, such as building a table. It shows nothing if the stream is not a terminal.

    Inside `with PercentLine(sys.stderr):`, it shows the progress that `tell_progress` reports.
    """

    def __init__(self, stream: IO[str], *, quiet: bool = False) -> None:
        self._line = LiveLine(stream, wanted=not quiet)

    def __enter__(self) -> None:
        self._listening = listening(self)
        self._listening.__enter__()

    def __exit__(self, *raised: Any) -> None:
        self._listening.__exit__(*raised)

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show the progress of the work `what`: `done` of `total` steps. The line is erased at the end."""
        self._line.show("" if done >= total else f"{what}: {100 * done // max(1, total)} %")
