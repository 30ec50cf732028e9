"""Ratings, scores, solved shares or mean returns over the course of a run.

They are computed at POINTS points of the run, each time from the matches played so far.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from arena.api.results import BoardInfo, PairedGames, find_obstacle, put_last, share_points

Figure = Literal["rating", "score", "solved", "mean_return"]
"""What a curve shows."""

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
    def loser(self) -> int | None:
        """The seat that lost by a fault; None if no seat did."""

    @property
    def play_hash(self) -> int:
        """A hash of its moves and its result."""

    @property
    def used_rng(self) -> bool:
        """Whether any seat used random numbers."""

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

    `matches` are the matches of one board in the order of the schedule. Only this order is checked by `arena verify`. The result
    is empty if the board is not rated.
    """
    labels = sheet.labels
    from arena.stats import rate

    anchor = labels.index(sheet.anchor) if sheet.anchor in labels else None
    games, seen = PairedGames(), set[int]()
    points = []
    for played, part in _parts(matches):
        for match in part:
            seen.update(match.seats)
            results = put_last(match.returns, match.loser)
            games.add(match.round, match.seats, results, match.play_hash, match.used_rng or sheet.has_chance)
        if find_obstacle(len(labels), games) is not None:
            return ()
        ratings = rate(games.results(), range(len(labels)), anchor=anchor).rows
        points.append(Point(played, {row.agent: row.elo for row in ratings if row.elo is not None and row.agent in seen}))
    return tuple(points)


def mean_points(sheet: BoardInfo, matches: Sequence[ScoredMatch], figure: Figure) -> tuple[Point, ...]:
    """Return the mean of a figure of every entry at POINTS points of the run."""
    sums = [0.0] * len(sheet.labels)
    counts = [0] * len(sheet.labels)
    points = []
    for played, part in _parts(matches):
        for match in part:
            for entry, value in zip(match.seats, _list_values(match, figure), strict=True):
                sums[entry] += value
                counts[entry] += 1
        points.append(Point(played, {entry: sums[entry] / of for entry, of in enumerate(counts) if of}))
    return tuple(points)


def _list_values(match: ScoredMatch, figure: Figure) -> Sequence[float]:
    """Return the value of each seat."""
    if figure == "solved":
        return [float(bool(match.solved))]
    if figure == "mean_return":
        return match.returns
    return share_points(put_last(match.returns, match.loser))


def figure_of(sheet: BoardInfo, ranked_by: str = "rating") -> Figure:
    """Return the figure of a curve. For agents that play each other, it is the one that ranks the board, or else the rating."""
    if sheet.kind != "versus":
        return "solved" if sheet.kind == "puzzle" else "mean_return"
    return "score" if ranked_by == "score" else "mean_return" if ranked_by == "mean_return" else "rating"


def curve_of(sheet: BoardInfo, matches: Sequence[ScoredMatch], ranked_by: str = "rating") -> tuple[Point, ...]:
    """Return the curve of a board: ratings or, if it is ranked by them, scores or mean returns; for puzzles, solved shares."""
    figure = figure_of(sheet, ranked_by)
    return rating_points(sheet, matches) if figure == "rating" else mean_points(sheet, matches, figure)


CURVES: dict[Figure, str] = {"rating": "Rating", "score": "Score", "solved": "Solved share", "mean_return": "Mean return"}
"""The title of a curve for each figure."""


def _parts(matches: Sequence[ScoredMatch]) -> Iterable[tuple[int, Sequence[ScoredMatch]]]:
    """Split the matches into POINTS parts of about equal size; each comes with the number of matches up to its end."""
    start = 0
    for number in range(1, POINTS + 1):
        end = number * len(matches) // POINTS
        if end > start:
            yield end, matches[start:end]
        start = end
