"""The plot of ratings, or of solved shares, over the run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.errors import ArenaError
from arena.report.evidence import Evidence, MatchSummary
from arena.report.palette import Palette
from arena.report.plot import MOST_LINES, Plot, count_axis, legend, room_for, share_axis, short
from arena.results.rating import MOST_RATED
from arena.stats.observations import WinDrawLoss, ranking_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 20
"""At how many points of the run the ratings are fitted."""


@dataclass(frozen=True, slots=True)
class Point:
    """Ratings or solved shares after so many matches; entries that had not played are left out."""

    played: int
    values: dict[int, float]


def convergence_plot(evidence: Evidence) -> Plot | None:
    """The ratings, or solved shares, after each twentieth of the matches; None where there is nothing to follow."""
    versus = evidence.sheet.kind == "versus"
    points = rating_points(evidence) if versus else solved_points(evidence)
    if len(points) < 2:
        return None
    labels = evidence.sheet.labels
    kept, note = room_for([entry for entry in evidence.ranked if entry in points[-1].values], MOST_LINES)
    what = "Ratings, fitted anew to all matches until then" if versus else "Solved shares of all attempts until then"
    return Plot(
        "convergence",
        "Ratings over the run" if versus else "Solved share over the run",
        f"{what}, in the order in which they were played.{note}",
        ("Matches", *[labels[entry] for entry in evidence.ranked]),
        tuple([(point.played, *[point.values.get(entry) for entry in evidence.ranked]) for point in points]),
        2.6 + 0.16 * ((len(kept) + 1) // 2),
        lambda axes, palette: _draw(axes, palette, [(labels[entry], entry) for entry in kept], points, versus=versus),
    )


def rating_points(evidence: Evidence) -> tuple[Point, ...]:
    """Every entry's rating, as on the leaderboard, fitted to the matches so far at each of POINTS points of the run."""
    labels = evidence.sheet.labels
    if len(labels) > MOST_RATED:
        return ()
    anchor = labels.index(evidence.sheet.anchor) if evidence.sheet.anchor in labels else None
    games = _GamesSoFar(range(len(labels)))
    points = []
    for played, part in _parts(tuple(evidence.scored)):
        games.add(part)
        try:
            ratings = games.elo(anchor)
        except ArenaError:
            return ()
        points.append(Point(played, {entry: ratings[entry] for entry in sorted(games.seen)}))
    return tuple(points)


def solved_points(evidence: Evidence) -> tuple[Point, ...]:
    """Every entry's solved share at each of POINTS points of the run."""
    solved = [0] * len(evidence.sheet.labels)
    attempts = [0] * len(evidence.sheet.labels)
    points = []
    for played, part in _parts(tuple(evidence.scored)):
        for match in part:
            solved[match.seats[0]] += bool(match.solved)
            attempts[match.seats[0]] += 1
        points.append(Point(played, {entry: solved[entry] / of for entry, of in enumerate(attempts) if of}))
    return tuple(points)


class _GamesSoFar:
    """The games so far, as the likelihood takes them; entries by their numbers."""

    def __init__(self, entries: Sequence[int]) -> None:
        self._entries = entries
        self._counts: dict[tuple[int, int], list[int]] = {}
        self._rankings: list[tuple[tuple[int, ...], ...]] = []
        self.seen: set[int] = set()

    def add(self, matches: Iterable[MatchSummary]) -> None:
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


def _parts(matches: Sequence[MatchSummary]) -> Iterable[tuple[int, Sequence[MatchSummary]]]:
    """The matches in POINTS parts of about one size, each with the number of matches up to its end."""
    start = 0
    for number in range(1, POINTS + 1):
        end = number * len(matches) // POINTS
        if end > start:
            yield end, matches[start:end]
        start = end


def _draw(axes: "Axes", palette: Palette, entries: Sequence[tuple[str, int]], points: Sequence[Point], *, versus: bool) -> None:
    for number, (label, entry) in enumerate(entries):
        known = [(point.played, point.values[entry]) for point in points if entry in point.values]
        played, values = zip(*known, strict=True)
        axes.plot(played, values, label=short(label), markevery=(number % 4, 4), **palette.line(number))
    axes.set_xlabel("Matches played")
    count_axis(axes)
    if versus:
        axes.set_ylabel("Elo")
    else:
        share_axis(axes, "Solved")
    legend(axes)
