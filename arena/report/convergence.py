"""The plot of ratings, or of solved shares, over the run."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from arena.report.evidence import Evidence
from arena.report.palette import Palette
from arena.report.plot import MOST_LINES, Plot, count_axis, legend, room_for, share_axis, short
from arena.results.rating_curve import Point, rating_points, solved_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def convergence_plot(evidence: Evidence) -> Plot | None:
    """The ratings, or solved shares, after each twentieth of the matches; None where there is nothing to follow."""
    versus = evidence.sheet.kind == "versus"
    points = (rating_points if versus else solved_points)(evidence.sheet, tuple(evidence.scored))
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
