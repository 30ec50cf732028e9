"""Standings during a tournament: the results so far, counted match by match, and the ratings computed from them.

Memory does not grow with the matches of a puzzle; a pair of games takes a few bytes (see `arena.results.pairs`). Games with three
or more seats are counted but not rated.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

from arena.format import Pairing
from arena.results.board_rows import Row, per
from arena.results.pairs import PairedGames
from arena.results.rating import strengths
from arena.results.tally import ResultCount
from arena.schedule.board_info import BoardInfo
from arena.spec import Board
from arena.stats.observations import GameResults
from arena.stats.solved_share import wilson

NO_RATING = (None, None, None)
MAX_ENTRIES_RATED_LIVE = 32
"""Boards with more entries are not rated during the run, because this would delay the end of the run."""


@dataclass(slots=True)
class _Count(ResultCount):
    returns: float = 0.0

    @property
    def mean(self) -> float | None:
        """The mean return."""
        return per(self.returns, self.games)


class Standings:
    """The standings of all boards of a spec."""

    def __init__(self, boards: Sequence[Board]) -> None:
        self._boards = boards
        self._counts = [[_Count() for _ in board.seats] for board in boards]
        self._games = [PairedGames() for _ in boards]
        self._elo: dict[int, Mapping[int, tuple[float | None, float | None, float | None]]] = {}
        self.latest = 0
        """The board of the match that finished last."""

    def count(self, board: int, pairing: Pairing, returns: Sequence[float], play_hash: int | None = None) -> None:
        """Count one match that was not void; `play_hash` is None if a seat used random numbers."""
        self.latest = board
        counts = self._counts[board]
        for seat, entry in enumerate(pairing.seats):
            counts[entry].add(returns[seat], max((*returns[:seat], *returns[seat + 1 :]), default=0.0))
            counts[entry].returns += returns[seat]
        if len(pairing.seats) == 2 and len(counts) <= MAX_ENTRIES_RATED_LIVE:
            self._games[board].add(pairing.round, pairing.seats, returns, play_hash or 0, play_hash is None)

    def results(self, board: int) -> GameResults[int]:
        """Return the results of a board so far, as input for `rate`."""
        return self._games[board].results()

    def rate(self, board: int, results: GameResults[int]) -> None:
        """Rate a board from results that `results` returned. `of` shows these ratings from then on. Rating may take a second."""
        found = strengths(BoardInfo.of(self._boards[board]), results)
        if found is not None:
            self._elo[board] = found.elo

    def of(self, board: int) -> list[Row]:
        """Return the standings of a board, best first. The rows have the keys of its leaderboard; unknown values are None."""
        seats = self._boards[board].seats
        kind = self._boards[board].kind
        versus = kind == "versus"
        elo = self._elo.get(board, {}) if versus else {}
        rows = []
        for entry, (seat, count) in enumerate(zip(seats, self._counts[board], strict=True)):
            row: Row = {"agent": seat.label}
            if versus:
                rating, low, high = elo.get(entry, NO_RATING) if count.games else NO_RATING
                row |= {"rating": rating, "rating_low": low, "rating_high": high, "games": count.games, "wins": count.wins}
                row |= {"draws": count.draws, "losses": count.losses, "score": count.score, "mean_return": count.mean}
            elif kind == "score":
                row |= {"attempts": count.games, "mean_return": count.mean, "return_low": None, "return_high": None}
            else:
                low, high = wilson(count.wins, count.games) if count.games else (None, None)
                row |= {"attempts": count.games, "solved": per(count.wins, count.games), "solved_low": low, "solved_high": high}
            rows.append(row)
        by_returns = kind == "score" or self._boards[board].ranked_by == "returns"
        key = "mean_return" if by_returns else "score" if versus else "solved"
        return sorted(rows, key=lambda row: -inf if row[key] is None else row[key], reverse=True)
