"""Shows the progress of a run: on a terminal, standings that are redrawn in place; elsewhere, one line per minute."""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from time import monotonic
from typing import IO, TYPE_CHECKING, Any, Self

from arena.columns import COLUMNS, Column
from arena.console.output import LiveLine, Terminal
from arena.format import Kind
from arena.results import figures
from arena.results.board_rows import Row
from arena.results.cells import BoardTable
from arena.results.rating import MAX_INTERVAL_ELO
from arena.results.standings import Standings
from arena.schedule.runner import Turns
from arena.schedule.schedule import Scheduled
from arena.spec import Board
from arena.store.rows import play_hash_of
from arena.tournament.results import PlayedMatch
from arena.tracking import listening

if TYPE_CHECKING:
    from rich.console import Group
    from rich.live import Live
    from rich.table import Table

SECONDS_BETWEEN_FRAMES = 0.2
"""Seconds between two updates on a terminal."""
SECONDS_BETWEEN_LINES = 60.0
"""Seconds between two lines if the output is not a terminal."""
SILENCE_SECONDS = 60.0
"""The number of seconds without a finished match after which the pending decisions are named."""
UNLIMITED_ADVICE = "and `limits: {seconds: 10}` in the spec ends such a decision"
MAX_DECISIONS_NAMED = 3
"""The largest number of pending decisions that are named."""
SECONDS_BETWEEN_RATINGS = 1.0
"""Seconds before ratings are first computed, and the shortest time between two computations."""
MIN_RATING_PAUSES = 15
"""The shortest pause after ratings were computed, as a multiple of the time that this took."""
MAX_STANDINGS_LINES = 12
"""The largest number of lines of the standings."""
FAULTLESS_ENDINGS = frozenset({"normal", "adjudicated", "move-limit", "stuck", "gave-up", "out-of-budget"})
"""Ways in which a match can end without a fault of a seat."""
COLUMN_GAP = 2
"""Spaces between two columns."""
MIN_LABEL_WIDTH = 8
"""The minimum width of the labels of agents, in characters."""


class Progress(AbstractContextManager["Progress"]):
    """Shows how many matches are done, how fast, the time left, the failures, and the standings.

    On a terminal, the display is redrawn in place, also during a long match, and erased at the end. Elsewhere, one line per
    minute is written. If `quiet`, nothing is shown. If no match has finished for `silence` seconds, pending decisions are named.
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
        self._standings = Standings(boards)
        self._done = self._found = self._failed = 0
        self._notes: dict[int, str] = {}
        self._expected: dict[int, int] = {}
        self.staff: Callable[[], str] | None = None
        """Returns a text about the processes that play. Another thread calls it at each update."""
        self.left: Callable[[int], float] = lambda total: total - self._done - self._found
        """Returns how many matches are still to be played, for a given size of the schedule. Another thread calls it."""
        self._turns: Turns = tuple
        self._silence = silence
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._began = self._heard = monotonic()
        self._rated_next = self._began + SECONDS_BETWEEN_RATINGS
        self._in_place = Terminal(stream).draws
        self._every = SECONDS_BETWEEN_FRAMES if self._in_place else every
        self._live: Live | None = None
        self._ticker = None if quiet else threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> Self:
        """Start the display."""
        if self._ticker is not None:
            self._ticker.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the display and restore the screen."""
        self._over.set()
        if self._ticker is not None:
            self._ticker.join()
        if self._live is not None:
            self._live.stop()

    def found(self, scheduled: Scheduled, returns: Sequence[float] | None, play_hash: int | None = None) -> None:
        """Count a match that an earlier run has stored."""
        with self._lock:
            self._found += 1
            if not self._done:
                self._began = monotonic()  # the speed counts matches that are played, not matches that are read from a store
            if self._in_place and returns is not None:
                self._standings.count(scheduled.board, scheduled.pairing, returns, play_hash)

    def note(self, played: PlayedMatch) -> None:
        """Count a match that has just finished."""
        record = played.record
        with self._lock:
            self._heard = monotonic()
            self._done += 1
            self._failed += record.termination not in FAULTLESS_ENDINGS
            if self._in_place and record.termination != "void":
                play_hash = None if any(record.drew) else play_hash_of(record)
                self._standings.count(played.board, played.pairing, record.returns, play_hash)

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
                if self._in_place:
                    self._draw()
                    continue
                if now - line >= self._every:
                    line = now
                    print(self.line(), file=self._stream, flush=True)
                heard = max(heard, self._heard)
                if now - heard >= self._silence:
                    heard = now
                    self._stream.writelines(f"{text}\n" for text in self._silent())
                    self._stream.flush()

    def _draw(self) -> None:
        if self._live is None:  # rich is imported for the first frame, because a short run does not need it
            from rich.console import Console
            from rich.live import Live

            console = Console(
                file=self._stream, force_terminal=True, force_interactive=True, highlight=False, markup=False, emoji=False
            )
            self._live = Live(console=console, auto_refresh=False, transient=True, redirect_stdout=False)
            self._live.start()
        self._rate()
        with self._lock:
            frame = self._frame(self._live.console.width)
        self._live.update(frame, refresh=True)

    def _rate(self) -> None:
        """Compute the ratings of the board of the last match from time to time. If this is slow, it is done less often."""
        began = monotonic()
        if began < self._rated_next:
            return
        with self._lock:
            board = self._standings.latest
            results = self._standings.results(board)
        self._standings.rate(board, results)
        now = monotonic()
        self._rated_next = now + max(SECONDS_BETWEEN_RATINGS, MIN_RATING_PAUSES * (now - began))

    def line(self) -> str:
        """Return the state of the run in one line."""
        rate = self._done / max(monotonic() - self._began, 1e-9)
        total = self._total - sum([self._boards[board].size - size for board, size in list(self._expected.items())])
        total = max(total, self._done + self._found)
        parts = [
            f"{self._done + self._found:,}/{'~' if self._expected else ''}{total:,} matches",
            f"{rate:,.{0 if rate >= 10 else 2}f}/s",
        ]
        if self._done and (left := self.left(total)) > 0:
            parts.append(f"{figures.span(left / rate)} left")
        if self._failed:
            parts.append(f"{self._failed:,} failed")
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
                f"no match has ended for {figures.span(spent)}: {labels[turn.seat]} is at ply {turn.ply} of {match}{advice}"
            )
        return [*lines, f"and {len(turns) - MAX_DECISIONS_NAMED} more"] if len(turns) > MAX_DECISIONS_NAMED else lines

    def _frame(self, width: int) -> "Group":
        from rich.console import Group
        from rich.text import Text

        number = self._standings.latest
        board, rows = self._boards[number], self._standings.of(number)
        more = [f"  and {len(rows) - MAX_STANDINGS_LINES} more"] if len(rows) > MAX_STANDINGS_LINES else []
        heading = Text(f"{board.title}, so far:", no_wrap=True, overflow="ellipsis")
        return Group(self.line(), *self._silent(), heading, _make_table(board.kind, rows[:MAX_STANDINGS_LINES], width), *more)


def _make_table(kind: Kind, rows: Sequence[Row], width: int) -> "Table":
    """Return the table of some rows. If the terminal is too narrow, columns are left out and labels cut, but never numbers."""
    from rich.table import Table
    from rich.text import Text

    usual = [column for column in COLUMNS[kind] if column.shown == "always" and all(column.key in row for row in rows)]
    bounds = {row["agent"]: (row["rating_low"], row["rating_high"]) for row in rows if row.get("rating") is not None}
    unrated = [agent for agent, (low, high) in bounds.items() if None in (low, high) or high - low > 2 * MAX_INTERVAL_ELO]
    shown = BoardTable(tuple(usual), tuple(rows), frozenset(unrated))

    def measure(columns: Sequence[Column]) -> int:
        """Return the smallest width at which a table with these columns fits."""
        figures = [column for column in columns if column.key != "agent"]
        wide = [max([len(column.heading), *[len(shown.cell(column, row)) for row in shown.rows]]) for column in figures]
        return MIN_LABEL_WIDTH + sum(wide) + 2 * COLUMN_GAP * len(columns)

    columns = usual
    while measure(columns) > width and (turns := [column.left_out for column in columns if column.left_out]):
        columns = [column for column in columns if column.left_out != min(turns)]  # columns with equal `left_out` go together
    table = Table.grid(padding=(0, COLUMN_GAP), pad_edge=True)
    for column in columns:
        table.add_column(justify="left" if column.key == "agent" else "right", no_wrap=column.key != "agent")  # rich cuts labels
    table.add_row(*[Text(column.heading, style="dim", no_wrap=True) for column in columns])
    for row in rows:
        table.add_row(*[Text(shown.cell(column, row), no_wrap=True, overflow="ellipsis") for column in columns])
    return table


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
