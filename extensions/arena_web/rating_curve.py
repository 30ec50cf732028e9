"""Ratings, solved shares or mean returns over the course of a run. They are computed at POINTS points of the run, each time from
the matches played so far.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from arena import ArenaError
from arena.api.results import BoardInfo, Strengths
from arena.stats import Pair, WinDrawLoss, ranking_of

POINTS = 20
"""The number of points of the run at which ratings are computed."""


class ScoredMatch(Protocol):
    """The facts that are needed about a match that is not void."""

    @property
    def round(self) -> int:
        """The number of the round. The matches of a round share a position."""

    @property
    def seats(self) -> tuple[int, ...]:
        """The entry that plays in each seat."""

    @property
    def returns(self) -> tuple[float, ...]:
        """The return of each seat."""

    @property
    def solved(self) -> bool | None:
        """True if a puzzle was solved; None for a game."""


@dataclass(frozen=True, slots=True)
class Point:
    """The ratings or solved shares after some number of matches; entries without matches are left out."""

    played: int
    values: dict[int, float]


def rating_points(sheet: BoardInfo, matches: Sequence[ScoredMatch]) -> tuple[Point, ...]:
    """Return the rating of every entry at POINTS points of the run. At each point, the ratings are computed as on the
    leaderboard, from the matches played so far.

    All pairings have the same weight here. (The leaderboard gives less weight to pairings that fit the ratings badly.)
    `matches` are the matches of one board in the order in which they were played. The result is empty if the board is not rated.
    """
    labels = sheet.labels
    if len(labels) > Strengths.MAX_ENTRIES:
        return ()
    anchor = labels.index(sheet.anchor) if sheet.anchor in labels else None
    games = _GamesSoFar(range(len(labels)), openings=sheet.has_openings and not sheet.has_chance)
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
    """Return the solved share of every entry, or the mean return on a board of scores, at POINTS points of the run."""
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
    """Return the curve of a board: ratings if agents play each other, otherwise solved shares or mean returns."""
    return (rating_points if sheet.kind == "versus" else mean_points)(sheet, matches)


CURVES = {"versus": "Rating", "puzzle": "Solved share", "score": "Mean return"}
"""The title of a curve for each kind of board."""


class _GamesSoFar:
    """The games so far, in the form that the computation of ratings needs. Entries are given as numbers."""

    def __init__(self, entries: Sequence[int], *, openings: bool) -> None:
        """Begin without games. With `openings`, a position may favour a seat; the computation allows for this as on the
        leaderboard.
        """
        self._entries, self._openings = entries, openings
        self._pairs: dict[tuple[int, int], dict[int, Pair]] = defaultdict(dict)
        self._rankings: list[tuple[tuple[int, ...], ...]] = []
        self.seen: set[int] = set()

    def add(self, matches: Iterable[ScoredMatch]) -> None:
        for match in matches:
            self.seen.update(match.seats)
            if len(match.seats) == 2:
                got, theirs = match.returns
                one, two = sorted(match.seats)
                game = WinDrawLoss(got > theirs, got == theirs, got < theirs)
                half = Pair(game, WinDrawLoss()) if match.seats[0] == one else Pair(WinDrawLoss(), game)
                pairs = self._pairs[one, two]
                pairs[match.round] = half.plus(pairs[match.round]) if match.round in pairs else half
            else:
                self._rankings.append(ranking_of(dict(zip(match.seats, match.returns, strict=True))))

    def elo(self, anchor: int | None) -> dict[int, float]:
        from arena.stats import fit, fit_positions, fit_rankings, table_of

        if self._rankings:
            return fit_rankings(self._rankings, self._entries).elo(anchor)
        known: dict[Pair, Pair] = {}  # equal pairs share one object, which makes counting fast
        pairings = {seats: [known.setdefault(pair, pair) for pair in found.values()] for seats, found in self._pairs.items()}
        fitted = fit(table_of(pairings), self._entries)
        return (fit_positions(pairings, fitted) if self._openings else fitted).elo(anchor)


def _parts(matches: Sequence[ScoredMatch]) -> Iterable[tuple[int, Sequence[ScoredMatch]]]:
    """Split the matches into POINTS parts of about equal size; each comes with the number of matches up to its end."""
    start = 0
    for number in range(1, POINTS + 1):
        end = number * len(matches) // POINTS
        if end > start:
            yield end, matches[start:end]
        start = end
