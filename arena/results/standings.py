"""Standings while a tournament runs: points so far, counted match by match in constant memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from arena.format import Pairing, result_points
from arena.spec import Board


class Standing(NamedTuple):
    """One line of the standings of a board."""

    agent: str
    games: int
    score: float | None
    """Points over games, a draw counts a half; of a puzzle the share solved. None before the first game."""


@dataclass(slots=True)
class _Count:
    games: int = 0
    points: float = 0.0


class Standings:
    """The standings of all boards of a spec."""

    def __init__(self, boards: Sequence[Board]) -> None:
        self._boards = boards
        self._counts = [[_Count() for _ in board.seats] for board in boards]
        self.latest = 0
        """The board on which a match was finished last."""

    def count(self, board: int, pairing: Pairing, returns: Sequence[float]) -> None:
        """Count one match that was not void."""
        self.latest = board
        counts = self._counts[board]
        for seat, entry in enumerate(pairing.seats):
            others = (*returns[:seat], *returns[seat + 1 :])
            counts[entry].games += 1
            counts[entry].points += result_points(returns[seat], max(others)) if others else returns[seat]

    def of(self, board: int) -> list[Standing]:
        """The standings of a board, best first."""
        lines = [
            Standing(seat.label, count.games, count.points / count.games if count.games else None)
            for seat, count in zip(self._boards[board].seats, self._counts[board], strict=True)
        ]
        return sorted(lines, key=lambda line: -1.0 if line.score is None else line.score, reverse=True)
