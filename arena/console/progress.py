"""Progress of a run: standings drawn in place on a terminal, a line a minute elsewhere."""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from time import monotonic
from typing import IO, TYPE_CHECKING, Any, Self

from arena.columns import COLUMNS, Column
from arena.console.output import LiveLine, draws
from arena.format import Kind
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
"""Seconds between two lines elsewhere."""
SILENCE_SECONDS = 60.0
"""Seconds without a finished match after which pending decisions are named."""
UNLIMITED_ADVICE = "and `limits: {seconds: 10}` in the spec ends such a decision"
MAX_DECISIONS_NAMED = 3
"""The most pending decisions that are named."""
SECONDS_BETWEEN_RATINGS = 1.0
"""Seconds before the first rating, and the least time between two."""
MIN_RATING_PAUSES = 15
"""The least pause after a rating, in multiples of its duration."""
MAX_STANDINGS_LINES = 12
"""Lines of the standings that are shown."""
FAULTLESS_ENDINGS = frozenset({"normal", "adjudicated", "move-limit", "stuck", "gave-up", "out-of-budget"})
"""Endings that are no seat's fault."""
COLUMN_GAP = 2
"""Blanks between two columns."""
MIN_LABEL_WIDTH = 8
"""The characters of a label for which other columns leave room."""


class Progress(AbstractContextManager["Progress"]):
    """Shows how many matches are done, how fast, the time left, the failures, and the standings.

    On a terminal they are drawn in place, also during a long match, and erased at the end; elsewhere a line is written once a
    minute; with `quiet` nothing is. After `silence` seconds without a finished match, and again after the same time, a line names
    the pending decisions.
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
        self._staff: Callable[[], str] | None = None
        self._turns: Turns = tuple
        self._silence = silence
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._began = self._heard = monotonic()
        self._rated_next = self._began + SECONDS_BETWEEN_RATINGS
        self._in_place = draws(stream)
        self._every = SECONDS_BETWEEN_FRAMES if self._in_place else every
        self._live: Live | None = None
        self._ticker = None if quiet else threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> Self:
        """Start to show it."""
        self._began = self._heard = monotonic()
        self._rated_next = self._began + SECONDS_BETWEEN_RATINGS
        if self._ticker is not None:
            self._ticker.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, and leave the screen as it was."""
        self._over.set()
        if self._ticker is not None:
            self._ticker.join()
        if self._live is not None:
            self._live.stop()

    def found(self, scheduled: Scheduled, returns: Sequence[float] | None, play_hash: int | None = None) -> None:
        """Count a match that was already in the store."""
        with self._lock:
            self._found += 1
            if not self._done:
                self._began = monotonic()  # the rate counts matches that are played, not matches that are read from a store
            if returns is not None:
                self._standings.count(scheduled.board, scheduled.pairing, returns, play_hash)

    def note(self, played: PlayedMatch) -> None:
        """Count a match that has just been played."""
        record = played.record
        with self._lock:
            self._heard = monotonic()
            self._done += 1
            self._failed += record.termination not in FAULTLESS_ENDINGS
            if record.termination != "void":
                play_hash = None if any(record.drew) else play_hash_of(record)
                self._standings.count(played.board, played.pairing, record.returns, play_hash)

    def say(self, board: int, text: str) -> None:
        """Show a board's own note on its progress, such as the state of a test."""
        with self._lock:
            self._notes[board] = text

    def expect(self, sizes: Mapping[int, int]) -> None:
        """Replace the largest possible numbers of matches of boards by the expected ones, by board number."""
        with self._lock:
            self._expected.update(sizes)

    def ask(self, staff: Callable[[], str]) -> None:
        """Show the text of `staff` about the players; it is called at each update from another thread."""
        self._staff = staff

    def watch(self, turns: Turns) -> None:
        """Ask `turns` for the decisions in progress if no match ends any more; it is called from another thread."""
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
        if self._live is None:  # rich is imported by the first frame; a short run needs none
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
        """Rate the board of the last match now and then; the longer it takes, the less often."""
        began = monotonic()
        if began < self._rated_next:
            return
        with self._lock:
            board = self._standings.latest
            pairings = self._standings.pairings(board)
        self._standings.rate(board, pairings)
        now = monotonic()
        self._rated_next = now + max(SECONDS_BETWEEN_RATINGS, MIN_RATING_PAUSES * (now - began))

    def line(self) -> str:
        """Return the state of the run in one line."""
        spent = max(monotonic() - self._began, 1e-9)
        rate = self._done / spent
        total = self._total - sum([self._boards[board].size - size for board, size in list(self._expected.items())])
        total = max(total, self._done + self._found)
        left = total - self._done - self._found
        parts = [
            f"{self._done + self._found:,}/{'~' if self._expected else ''}{total:,} matches",
            f"{rate:,.{0 if rate >= 10 else 2}f}/s",
        ]
        if self._done and left > 0:
            parts.append(f"{duration(left / rate)} left")
        if self._failed:
            parts.append(f"{self._failed:,} failed")
        if self._staff is not None:
            parts.append(self._staff())
        parts += [self._notes[board] for board in sorted(self._notes)]
        return ", ".join(parts)

    def _silent(self) -> list[str]:
        """Return a line for each pending decision, if no match has ended for long."""
        spent = monotonic() - self._heard
        turns = self._turns() if spent >= self._silence else ()
        lines = []
        for turn in turns[:MAX_DECISIONS_NAMED]:
            pairing, board = turn.scheduled.pairing, self._boards[turn.scheduled.board]
            labels = [board.seats[entry].label for entry in pairing.seats]
            match = f"{' - '.join(labels)}, round {pairing.round + 1} of {board.title}"
            timed = board.seats[pairing.seats[turn.seat]].limits.timed
            advice = "" if timed else f"; its decisions have no limit of time: Ctrl-C stops the run, {UNLIMITED_ADVICE}"
            lines.append(f"no match has ended for {duration(spent)}: {labels[turn.seat]} is at ply {turn.ply} of {match}{advice}")
        return [*lines, f"and {len(turns) - MAX_DECISIONS_NAMED} more"] if len(turns) > MAX_DECISIONS_NAMED else lines

    def _frame(self, width: int) -> "Group":
        """Return the line and the standings of the board of the last match, in `width` columns."""
        from rich.console import Group
        from rich.text import Text

        number = self._standings.latest
        board, rows = self._boards[number], self._standings.of(number)
        table = _make_table(board.kind, rows[:MAX_STANDINGS_LINES], width)
        more = [f"  and {len(rows) - MAX_STANDINGS_LINES} more"] if len(rows) > MAX_STANDINGS_LINES else []
        heading = Text(f"{board.title}, so far:", no_wrap=True, overflow="ellipsis")
        return Group(self.line(), *self._silent(), heading, table, *more)


def _make_table(kind: Kind, rows: Sequence[Row], width: int) -> "Table":
    """Return the rows under the headings of a leaderboard; labels alone are cut, so that every figure can be read."""
    from rich.table import Table
    from rich.text import Text

    usual = [column for column in COLUMNS[kind] if column.shown == "always" and all(column.key in row for row in rows)]
    bounds = {row["agent"]: (row["rating_low"], row["rating_high"]) for row in rows if row.get("rating") is not None}
    unrated = [agent for agent, (low, high) in bounds.items() if None in (low, high) or high - low > 2 * MAX_INTERVAL_ELO]
    shown = BoardTable(tuple(usual), tuple(rows), frozenset(unrated))

    def measure(columns: Sequence[Column]) -> int:
        """Return the width that columns take at least."""
        figures = [column for column in columns if column.key != "agent"]
        wide = [max([len(column.heading), *[len(shown.cell(column, row)) for row in shown.rows]]) for column in figures]
        return MIN_LABEL_WIDTH + sum(wide) + 2 * COLUMN_GAP * len(columns)

    columns = usual
    while measure(columns) > width and (turns := [column.left_out for column in columns if column.left_out]):
        columns = [column for column in columns if column.left_out != min(turns)]  # columns with the same turn go together
    table = Table.grid(padding=(0, COLUMN_GAP), pad_edge=True)
    for column in columns:
        label = column.key == "agent"  # the only column that rich may make narrower
        table.add_column(justify="left" if label else "right", no_wrap=not label)
    table.add_row(*[Text(column.heading, style="dim", no_wrap=True) for column in columns])
    for row in rows:
        texts = [shown.cell(column, row) for column in columns]
        table.add_row(*[Text(text, no_wrap=True, overflow="ellipsis") for text in texts])
    return table


class PercentLine:
    """A line with the percentage of long work, such as building a table; nothing if the stream is not a terminal.

    Inside `with PercentLine(sys.stderr):` it shows the progress reported by `tell_progress`.
    """

    def __init__(self, stream: IO[str], *, quiet: bool = False) -> None:
        self._line = LiveLine(stream, wanted=not quiet)

    def __enter__(self) -> None:
        self._listening = listening(self)
        self._listening.__enter__()

    def __exit__(self, *raised: Any) -> None:
        self._listening.__exit__(*raised)

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show the progress of `what`, `done` of `total`; the line is erased when all is done."""
        self._line.show("" if done >= total else f"{what}: {100 * done // max(1, total)} %")


def duration(seconds: float) -> str:
    """Return a time as people say it: `42 s`, `3 min 20 s`, `2 h 5 min`, `4 d 2 h`."""
    whole = round(seconds)
    for unit, size, smaller, part in (("d", 86400, "h", 3600), ("h", 3600, "min", 60), ("min", 60, "s", 1)):
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size} {unit} {rest} {smaller}" if rest else f"{whole // size} {unit}"
    return f"{whole} s"
