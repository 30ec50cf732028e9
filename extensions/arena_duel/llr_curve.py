"""The live view of a sequential test. It shows the log-likelihood ratio (LLR) as a mark on a bar between the bounds of the test,
and as a curve.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import IO, TYPE_CHECKING, Self

from arena.api.cli import Terminal
from arena.api.match import find_loser
from arena.api.results import Tally, figures
from arena.api.run import PlayedMatch
from arena.api.store import play_hash_of
from arena.clock import monotonic
from arena_pairings.sprt_state import SprtState

if TYPE_CHECKING:
    from rich.live import Live

FRAME_SECONDS = 0.2
"""Seconds between two frames on a terminal."""
LINE_SECONDS = 10.0
"""Seconds between two lines when stderr is not a terminal."""
LEVELS = "▁▂▃▄▅▆▇█"
MAX_COLUMNS = 60
"""Maximum width of the bar and of the curve, in columns."""


class LlrCurve(AbstractContextManager["LlrCurve"]):
    """Counts the pairs of games in a duel. On a terminal, the bar and the curve are updated in place; elsewhere, lines are
    printed at intervals.
    """

    def __init__(self, tally: Tally, title: str, stream: IO[str], *, quiet: bool = False) -> None:
        self._tally, self._title, self._stream, self._quiet = tally, title, stream, quiet
        self._in_place = Terminal(stream).draws
        self._began = self._shown = monotonic()
        self._matches = 0
        self._live: Live | None = None
        self.points: list[float] = []
        """The log-likelihood ratio at each update."""

    def __exit__(self, *_: object) -> None:
        """Stop, but leave the last frame on the screen."""
        if not self._quiet and self._matches:
            self._show()
        if self._live is not None:
            self._live.stop()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def note(self, played: PlayedMatch) -> None:
        """Count a match that has just been played."""
        record = played.record
        if record.termination != "void":
            loser, drew = find_loser(record.termination, record.seat), any(record.drew)
            seats, hash_ = played.pairing.seats, play_hash_of(record)
            self._tally.add_game(played.pairing.round, seats, record.returns, hash_, drew, record.adjusted, loser)
        self._matches += 1
        now = monotonic()
        if not self._quiet and now - self._shown >= (FRAME_SECONDS if self._in_place else LINE_SECONDS):
            self._show()
            self._shown = monotonic()

    def _show(self) -> None:
        state = SprtState.of(self._tally.sheet, self._tally.matches, self._tally.returns.luck_by_round(0))
        if state is None:
            return
        self.points.append(state.llr)
        if not self._in_place:
            print(f"{self._title}: {self.line(state)}", file=self._stream, flush=True)
            return
        if self._live is None:
            from rich.console import Console
            from rich.live import Live

            console = Console(file=self._stream, force_terminal=True, highlight=False, markup=False, emoji=False)
            self._live = Live(console=console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False)
            self._live.start()
        width = max(10, min(MAX_COLUMNS, (Terminal(self._stream).room or 80) - 16))
        self._live.update("\n".join([self._title, self.line(state), *frame(state, self.points, width)]), refresh=True)

    def line(self, state: SprtState) -> str:
        """Return the state in one line."""
        pairs = sum(state.counts)
        rate = self._matches / max(monotonic() - self._began, 1e-9)
        spent = figures.span(monotonic() - self._began)
        lost, drawn, won = sum(state.counts[:2]), state.counts[2], sum(state.counts[3:])
        whole = None if state.forecast is None else state.forecast.at_score
        foretold = "" if whole is None else f" of about {whole:,.0f}"
        parts = [
            f"{pairs:,}{foretold} pairs ({won} won, {drawn} level, {lost} lost)",
            f"{rate:.3g} games/s, {spent}",
            f"log-likelihood ratio {state.llr:+.2f} (ends at {state.test.lower:.2f} or {state.test.upper:+.2f})",
        ]
        return ", ".join(parts)


def frame(state: SprtState, points: Sequence[float], width: int) -> list[str]:
    """Return the lines of a frame, `width` columns wide: a bar that shows the ratio between the bounds and, below the bar, the
    curve so far.
    """
    span = state.test.upper - state.test.lower

    def share(value: float) -> float:
        return min(1.0, max(0.0, (value - state.test.lower) / span))

    at = round(share(state.llr) * (width - 1))
    bar = "".join(["●" if place == at else "┼" if place == round(share(0.0) * (width - 1)) else "─" for place in range(width)])
    shown = list(points)
    if len(shown) > width:  # keep the latest point of every column
        shown = [shown[(column + 1) * len(shown) // width - 1] for column in range(width)]
    curve = "".join([LEVELS[min(len(LEVELS) - 1, int(share(value) * len(LEVELS)))] for value in shown])
    return [f"no better ├{bar}┤ better", f"{'':>10}{curve}"]
