"""Two plots: the ratings with their intervals, and what ranks the board over the run."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from arena.api.results import Leaderboard
from arena_web.rating_curve import CURVES, Figure, Point, curve_of, figure_of
from arena_web.report.evidence import Evidence
from arena_web.report.palette import Palette
from arena_web.report.plot import (
    MAX_LINES,
    MAX_ROWS,
    Plot,
    count_axis,
    fit_label,
    room_for,
    row_height,
    share_axis,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def ratings_plot(board: Leaderboard) -> Plot | None:
    """Return the plot of the rating of every agent with its 95 % interval or bound; None if no agent is rated."""
    rated = [row for row in board.rows if row.get("rating") is not None]
    if not rated:
        return None
    kept, note = room_for(range(len(rated)), MAX_ROWS)
    if board.unrated:
        note = f" If the leaderboard shows a ?, the interval is too wide to place the agent.{note}"
    shown = [rated[k] for k in kept]
    zero = board.zero
    return Plot(
        "ratings",
        "Ratings",
        f"Elo 0 is {zero}. Lines are 95 % intervals from rounds of games. An arrow marks a side without a bound, and a "
        f"hollow dot marks an agent without an interval.{note}",
        ("Agent", "Elo", "From", "To"),
        tuple([(row["agent"], row["rating"], row["rating_low"], row["rating_high"]) for row in rated]),
        row_height([row["agent"] for row in shown]),
        lambda axes, palette: _draw(axes, palette, shown, zero),
        left_out=len(rated) - len(shown),
    )


def _draw(axes: "Axes", palette: Palette, rows: list[dict[str, Any]], zero: str) -> None:
    seen = [row[key] for row in rows for key in ("rating", "rating_low", "rating_high") if row[key] is not None] + [0.0]
    margin = max(30.0, 0.08 * (max(seen) - min(seen)))
    left, right = min(seen) - margin, max(seen) + margin
    axes.axvline(0, color=palette.muted, linewidth=0.8)
    for place, row in enumerate(rows):
        _draw_interval(axes, palette, row, place, (left, right))
    axes.set_yticks(range(len(rows)), [fit_label(axes, row["agent"]) for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(left, right)
    axes.locator_params(axis="x", nbins=6)
    axes.set_xlabel(fit_label(axes, f"Elo about {zero}", 0.6))
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)


def _draw_interval(axes: "Axes", palette: Palette, row: dict[str, Any], place: int, ends: tuple[float, float]) -> None:
    from matplotlib.markers import CARETLEFT, CARETRIGHT  # markers whose tip is at the given place

    elo, low, high = row["rating"], row["rating_low"], row["rating_high"]
    known = low is not None or high is not None
    if known:
        start, end = ends[0] if low is None else low, ends[1] if high is None else high
        axes.plot([start, end], [place, place], color=palette.blue, linewidth=2.2, solid_capstyle="butt")
        for bound in (low, high):
            if bound is not None:
                axes.plot([bound], [place], marker="|", color=palette.blue, markersize=8, markeredgewidth=1.6)
        for bound, tip, marker in ((low, ends[0], CARETLEFT), (high, ends[1], CARETRIGHT)):
            if bound is None:
                axes.plot([tip], [place], marker=marker, color=palette.blue, markersize=8, clip_on=False)
    axes.plot([elo], [place], "o", color=palette.blue, markersize=7, markerfacecolor=palette.blue if known else "none")


def convergence_plot(evidence: Evidence) -> Plot | None:
    """Return the plot of the figure that ranks the board after each twentieth of the matches: scores, ratings, mean returns or
    solved shares. None if there are fewer than two points.
    """
    figure = figure_of(evidence.sheet, evidence.board.ranked_by)
    points = curve_of(evidence.sheet, tuple(evidence.scored), evidence.board.ranked_by)
    if len(points) < 2:
        return None
    labels = evidence.sheet.labels
    known = [entry for entry in evidence.ranked if entry in points[-1].values]
    kept, note = room_for(known, MAX_LINES)
    values = "Ratings, fitted to all matches so far" if figure == "rating" else f"{CURVES[figure]}s of all matches so far"
    return Plot(
        "convergence",
        f"{'Ratings' if figure == 'rating' else CURVES[figure]} over the run",
        f"{values}, in the order of the schedule.{note}",
        ("Matches", *[labels[entry] for entry in evidence.ranked]),
        tuple([(point.played, *[point.values.get(entry) for entry in evidence.ranked]) for point in points]),
        2.6,
        lambda axes, palette: _draw_curves(axes, palette, kept, points, figure),
        tuple([labels[entry] for entry in kept]),
        len(known) - len(kept),
    )


def _draw_curves(axes: "Axes", palette: Palette, entries: Sequence[int], points: Sequence[Point], figure: Figure) -> None:
    for number, entry in enumerate(entries):
        known = [(point.played, point.values[entry]) for point in points if entry in point.values]
        played, values = zip(*known, strict=True)
        axes.plot(played, values, markevery=(number % 4, 4), **palette.line(number))
    axes.set_xlabel("Matches played")
    count_axis(axes)
    if figure in ("solved", "score"):
        share_axis(axes)
    axes.set_ylabel({"rating": "Elo", "solved": "Solved"}.get(figure, CURVES[figure]))
