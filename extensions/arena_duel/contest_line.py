"""The status line of a contest, which looks for the best of several agents (its *variants*): the number of games, the time, and
the names of the variants that are still in the contest.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import IO

from arena.api.cli import LiveLine
from arena.api.results import figures
from arena.api.run import MatchQueue, PlayedMatch
from arena.clock import monotonic
from arena_duel.llr_curve import FRAME_SECONDS
from arena_pairings.best_of import BestOf


class ContestLine(AbstractContextManager["ContestLine"]):
    """Counts the games of a contest. On a terminal, the line is updated in place; elsewhere, new lines are printed at
    intervals.
    """

    def __init__(self, contest: BestOf, labels: Sequence[str], feed: MatchQueue, stream: IO[str], *, quiet: bool = False) -> None:
        self._contest, self._labels, self._feed = contest, labels, feed
        self._line = LiveLine(stream, wanted=not quiet, in_file=True)
        self._began = self._shown = monotonic()

    def __exit__(self, *_: object) -> None:
        """Clear the line on the terminal."""
        self._line.show("")

    def note(self, played: PlayedMatch) -> None:
        """Count a match that has just been played."""
        now = monotonic()
        if now - self._shown < FRAME_SECONDS:
            return
        self._shown = now
        left = list(self._labels)
        if self._contest.contest is not None:
            left = [label for label, still in zip(left, self._contest.contest.is_in[0], strict=True) if still]
        games = figures.amount(self._feed.held + self._feed.played, "game")
        self._line.show(f"{games}, {figures.span(now - self._began)}, still in: {', '.join(left)}")
