"""The plot of ratings, solved shares or mean returns over the run."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from arena.format import Kind
from arena.report.evidence import Evidence
from arena.report.palette import Palette
from arena.report.plot import MOST_LINES, Plot, count_axis, legend, lines_height, room_for, share_axis, short
from arena.results.rating_curve import CURVES, Point, curve_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def convergence_plot(evidence: Evidence) -> Plot | None:
    """The ratings, solved shares or mean returns after each twentieth of the matches; None where there is nothing to follow."""
    versus = evidence.sheet.kind == "versus"
    points = curve_of(evidence.sheet, tuple(evidence.scored))
    if len(points) < 2:
        return None
    labels = evidence.sheet.labels
    kept, note = room_for([entry for entry in evidence.ranked if entry in points[-1].values], MOST_LINES)
    what = CURVES[evidence.sheet.kind]
    means = f"{what}s of all attempts until then"
    return Plot(
        "convergence",
        "Ratings over the run" if versus else f"{what} over the run",
        f"{'Ratings, fitted anew to all matches until then' if versus else means}, in the order in which they were played.{note}",
        ("Matches", *[labels[entry] for entry in evidence.ranked]),
        tuple([(point.played, *[point.values.get(entry) for entry in evidence.ranked]) for point in points]),
        lines_height(len(kept), 2.6),
        lambda axes, palette: _draw(axes, palette, [(labels[entry], entry) for entry in kept], points, evidence.sheet.kind),
    )


def _draw(axes: "Axes", palette: Palette, entries: Sequence[tuple[str, int]], points: Sequence[Point], kind: Kind) -> None:
    for number, (label, entry) in enumerate(entries):
        known = [(point.played, point.values[entry]) for point in points if entry in point.values]
        played, values = zip(*known, strict=True)
        axes.plot(played, values, label=short(label), markevery=(number % 4, 4), **palette.line(number))
    axes.set_xlabel("Matches played")
    count_axis(axes)
    if kind != "puzzle":
        axes.set_ylabel("Elo" if kind == "versus" else CURVES[kind])
    else:
        share_axis(axes)
    legend(axes)
