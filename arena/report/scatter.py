"""The scatter plot of two entries of a puzzle board: the nodes of one against those of the other, a point for each position."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from arena.report.evidence import Evidence
from arena.report.palette import Palette
from arena.report.plot import Plot, log_axis, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DRAWN = 1_000
"""The most points: more cannot be told apart, and make a page slow."""


class ScatterPoint(NamedTuple):
    """The nodes of two entries on one position; None where an entry has not solved it."""

    round: int
    one: int | None
    other: int | None


def scatter_plot(evidence: Evidence, one: int, other: int, name: str = "scatter") -> Plot | None:
    """The nodes of two entries, by their numbers, on each position that either has solved; None where there is none."""
    points = _points(evidence, one, other)
    if not points:
        return None
    labels = evidence.sheet.labels[one], evidence.sheet.labels[other]
    kept = points[:: -(-len(points) // DRAWN)]
    note = f" The plot and its numbers have {len(kept):,} of {len(points):,} positions." if len(kept) < len(points) else ""
    return Plot(
        name,
        f"{labels[0]} and {labels[1]}, position by position",
        f"{_counted(points, labels)}{note}",
        ("Position", f"Nodes of {labels[0]}", f"Nodes of {labels[1]}"),
        tuple([(point.round + 1, point.one, point.other) for point in kept]),
        4.0,
        lambda axes, palette: _draw(axes, palette, labels, kept),
    )


def _points(evidence: Evidence, one: int, other: int) -> list[ScatterPoint]:
    """The positions that both have met and either has solved."""
    met: dict[int, dict[int, int | None]] = {one: {}, other: {}}
    for match in evidence.scored:
        if match.seats[0] in met:
            met[match.seats[0]][match.round] = match.efforts[0].nodes if match.solved else None
    both = sorted(met[one].keys() & met[other].keys())
    points = [ScatterPoint(round_, met[one][round_], met[other][round_]) for round_ in both]
    return [point for point in points if point.one is not None or point.other is not None]


def _counted(points: Sequence[ScatterPoint], labels: tuple[str, str]) -> str:
    """The counts of points on either side of the diagonal, and at the edges, in words."""
    one, other = labels
    pairs = [(point.one, point.other) for point in points if point.one is not None and point.other is not None]
    fewer = [sum(a < b for a, b in pairs), sum(b < a for a, b in pairs)]
    alone = [sum(point.other is None for point in points), sum(point.one is None for point in points)]
    text = (
        f"Each point is a position, with the nodes of {one} across and those of {other} up. Of {len(pairs):,} that both solved, "
        f"{one} took fewer on {fewer[0]:,} (above the line), {other} on {fewer[1]:,} (below it), and {len(pairs) - sum(fewer):,} "
        "are ties, on the line."
    )
    if any(alone):
        text += f" Triangles at the edge were solved by one alone: {alone[0]:,} by {one} (top), {alone[1]:,} by {other} (right)."
    return text


def _draw(axes: "Axes", palette: Palette, labels: tuple[str, str], points: Sequence[ScatterPoint]) -> None:
    known = [max(1, nodes) for point in points for nodes in (point.one, point.other) if nodes is not None]
    low, high = min(known) / 1.5, max(known) * 1.5
    edge = high * (high / low) ** 0.06
    axes.plot([low, high], [low, high], color=palette.muted, linewidth=1)
    groups = (
        ("o", palette.blue, [point for point in points if point.one is not None and point.other is not None]),
        ("^", palette.vermillion, [point for point in points if point.other is None]),
        (">", palette.green, [point for point in points if point.one is None]),
    )
    for marker, colour, group in groups:
        across = [edge if point.one is None else max(1, point.one) for point in group]
        up = [edge if point.other is None else max(1, point.other) for point in group]
        axes.scatter(across, up, s=14, marker=marker, color=colour, alpha=0.7, linewidths=0)
    for axis in (axes.xaxis, axes.yaxis):
        log_axis(axis, low, edge * (high / low) ** 0.03)
    axes.set_aspect("equal")
    axes.set_xlabel(f"Nodes of {short(labels[0])}")
    axes.set_ylabel(f"Nodes of {short(labels[1])}")
