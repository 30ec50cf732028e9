"""Ratings, solved shares or mean returns over a run: fitted anew to the matches so far, at a few points of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from arena import ArenaError
from arena.api.results import BoardInfo
from arena.results.rating import MAX_RATED_ENTRIES
from arena.stats.observations import WinDrawLoss, ranking_of

POINTS = 20
"""At how many points of the run the ratings are fitted."""


class ScoredMatch(Protocol):
    """What has to be known of a match that is not void."""

    @property
    def seats(self) -> tuple[int, ...]:
        """The entry in each seat."""

    @property
    def returns(self) -> tuple[float, ...]:
        """What each seat got."""

    @property
    def solved(self) -> bool | None:
        """Whether a puzzle was solved; None for a game."""


@dataclass(frozen=True, slots=True)
class Point:
    """Ratings or solved shares after so many matches; entries that had not played are left out."""

    played: int
    values: dict[int, float]


def rating_points(sheet: BoardInfo, matches: Sequence[ScoredMatch]) -> tuple[Point, ...]:
    """Every entry's rating, as on the leaderboard, fitted to the matches so far at each of POINTS points of the run.

    `matches` are those of one board in the order in which they were played. Nothing for a board that is not rated.
    """
    labels = sheet.labels
    if len(labels) > MAX_RATED_ENTRIES:
        return ()
    anchor = labels.index(sheet.anchor) if sheet.anchor in labels else None
    games = _GamesSoFar(range(len(labels)))
    points = []
    for played, part in _parts(matches):
        games.add(part)
        try:
            ratings = games.elo(anchor)
        except ArenaError:
            return ()
        points.append(Point(played, {entry: ratings[entry] for entry in sorted(games.seen)}))
    return tuple(points)


def mean_points(sheet: BoardInfo, matches: Sequence[ScoredMatch]) -> tuple[Point, ...]:
    """Every entry's solved share, or mean return on a board of scores, at each of POINTS points of the run."""
    sums = [0.0] * len(sheet.labels)
    attempts = [0] * len(sheet.labels)
    points = []
    for played, part in _parts(matches):
        for match in part:
            sums[match.seats[0]] += match.returns[0] if sheet.kind == "score" else bool(match.solved)
            attempts[match.seats[0]] += 1
        points.append(Point(played, {entry: sums[entry] / of for entry, of in enumerate(attempts) if of}))
    return tuple(points)


def curve_of(sheet: BoardInfo, matches: Sequence[ScoredMatch]) -> tuple[Point, ...]:
    """The curve of a board: of ratings where agents play each other, else of means."""
    return (rating_points if sheet.kind == "versus" else mean_points)(sheet, matches)


CURVES = {"versus": "Rating", "puzzle": "Solved share", "score": "Mean return"}
"""What a curve shows, by the kind of board."""


class _GamesSoFar:
    """The games so far, as the likelihood takes them; entries by their numbers."""

    def __init__(self, entries: Sequence[int]) -> None:
        self._entries = entries
        self._counts: dict[tuple[int, int], list[int]] = {}
        self._rankings: list[tuple[tuple[int, ...], ...]] = []
        self.seen: set[int] = set()

    def add(self, matches: Iterable[ScoredMatch]) -> None:
        for match in matches:
            self.seen.update(match.seats)
            if len(match.seats) == 2:
                got, theirs = match.returns
                cell = self._counts.setdefault((match.seats[0], match.seats[1]), [0, 0, 0])
                cell[0 if got > theirs else 1 if got == theirs else 2] += 1
            else:
                self._rankings.append(ranking_of(dict(zip(match.seats, match.returns, strict=True))))

    def elo(self, anchor: int | None) -> dict[int, float]:
        from arena.stats.bradley_terry import fit
        from arena.stats.plackett_luce import fit_rankings

        if self._rankings:
            return fit_rankings(self._rankings, self._entries).elo(anchor)
        return fit({seats: WinDrawLoss(*counts) for seats, counts in self._counts.items()}, self._entries).elo(anchor)


def _parts(matches: Sequence[ScoredMatch]) -> Iterable[tuple[int, Sequence[ScoredMatch]]]:
    """The matches in POINTS parts of about one size, each with the number of matches up to its end."""
    start = 0
    for number in range(1, POINTS + 1):
        end = number * len(matches) // POINTS
        if end > start:
            yield end, matches[start:end]
        start = end
