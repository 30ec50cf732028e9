"""The plots of the distributions of moves and of nodes, agent by agent."""

from collections.abc import Callable, Iterator, Sequence
from math import log10
from statistics import fmean
from typing import TYPE_CHECKING

from arena.report.evidence import Evidence, MatchSummary
from arena.report.palette import Palette
from arena.report.plot import MOST_ROWS, Plot, count_axis, room_for, row_height, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BARS = 40
"""Classes of the histogram in a row."""
NONE = 0.4
"""The place of 0 on a logarithmic axis."""
EDGE = 0.25
"""The lower end of that axis."""
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)

Values = Callable[[MatchSummary, int], float | None]


def spread_plots(evidence: Evidence) -> list[Plot]:
    """The distributions of moves and of nodes; those of which there is nothing to show are left out."""
    plots: list[Plot | None]
    if evidence.sheet.kind != "puzzle":
        moves = "The actions of each match that the agent played in, of both sides together."
        nodes = "Nodes of a move, on average over the agent's moves of a match."
        plots = [
            _plot(evidence, "moves", "Moves of a match", moves, lambda match, seat: match.moves),
            _plot(evidence, "nodes", "Nodes of a move", nodes, _nodes_of_a_move, log=True),
        ]
        if evidence.sheet.kind == "score":
            plots.insert(
                0, _plot(evidence, "scores", "Score of a match", "The score of each match.", lambda match, _: match.returns[0])
            )
    else:
        moves = "The actions, or steps, of each solved attempt."
        nodes = "The nodes of each attempt, solved or not."
        plots = [
            _plot(evidence, "moves", "Moves of a solution", moves, lambda match, seat: match.moves if match.solved else None),
            _plot(evidence, "nodes", "Nodes of an attempt", nodes, lambda match, seat: match.efforts[seat].nodes, log=True),
        ]
    return [plot for plot in plots if plot is not None]


def _nodes_of_a_move(match: MatchSummary, seat: int) -> float | None:
    effort = match.efforts[seat]
    return effort.nodes / effort.decisions if effort.decisions else None


def _plot(evidence: Evidence, name: str, title: str, what: str, value: Values, *, log: bool = False) -> Plot | None:
    values = _values(evidence, value)
    entries = [entry for entry in evidence.ranked if values[entry]]
    if not any(values[entry][-1] > 0 for entry in entries):
        return None
    kept, note = room_for(entries, MOST_ROWS)
    labels = evidence.sheet.labels
    scale = " The axis is logarithmic." if log else ""
    return Plot(
        name,
        title,
        f"{what} Each row has a height of its own; the bar below it spans the middle half, the mark is the median.{scale}{note}",
        ("Agent", "Count", "Mean", "Least", "5 %", "25 %", "Median", "75 %", "95 %", "Most"),
        tuple([(labels[entry], *_summary(values[entry])) for entry in entries]),
        row_height(len(kept)) + 0.12 * len(kept),
        lambda axes, palette: _draw(axes, palette, title, [(labels[entry], values[entry]) for entry in kept], log=log),
    )


def _values(evidence: Evidence, value: Values) -> dict[int, list[float]]:
    """All values of every entry, in order."""
    found: dict[int, list[float]] = {entry: [] for entry in range(len(evidence.sheet.labels))}
    for match in evidence.scored:
        for seat, entry in enumerate(match.seats):
            one = value(match, seat)
            if one is not None:
                found[entry].append(one)
    return {entry: sorted(values) for entry, values in found.items()}


def _summary(values: Sequence[float]) -> Iterator[float | int]:
    import numpy as np

    yield len(values)
    yield fmean(values)
    yield from np.quantile(values, QUANTILES).tolist()


def _draw(axes: "Axes", palette: Palette, name: str, rows: Sequence[tuple[str, list[float]]], *, log: bool) -> None:
    most = max(values[-1] for _, values in rows)
    edges = _log_edges(most) if log else _edges(min(values[0] for _, values in rows), most)
    for place, (_, values) in enumerate(rows):
        _row(axes, palette, place, [max(NONE, value) for value in values] if log else values, edges)
    if log:
        _log_axis(axes, most)
    else:
        count_axis(axes)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_yticks(range(len(rows)), [short(label) for label, _ in rows])
    axes.set_ylim(len(rows) - 0.55, -0.75)
    axes.set_xlabel(name)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)


def _row(axes: "Axes", palette: Palette, place: int, values: list[float], edges: Sequence[float]) -> None:
    import numpy as np

    counts, _ = np.histogram(values, bins=np.asarray(edges))
    heights = 0.62 * counts / max(1, counts.max())
    axes.stairs(place - heights, edges, baseline=place, fill=True, facecolor=palette.blue, alpha=0.4, edgecolor="none")
    axes.plot([edges[0], edges[-1]], [place, place], color=palette.grid, linewidth=0.8)
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
    axes.plot([low, high], [place + 0.1, place + 0.1], color=palette.blue, linewidth=3, solid_capstyle="butt")
    axes.plot([middle], [place + 0.1], marker="d", color=palette.vermillion, markersize=6)


def _log_edges(most: float) -> list[float]:
    """The bounds of BARS classes from below 0's place to above the largest value."""
    low, high = log10(EDGE), log10(2 * max(most, 1))
    return [10 ** (low + k * (high - low) / BARS) for k in range(BARS + 1)]


def _edges(least: float, most: float) -> list[float]:
    """The bounds of classes of one width, a whole number of moves each."""
    width = max(1, -(-int(most - least + 1) // BARS))
    start = int(least) - 0.5
    return [start + width * k for k in range(int((most - start) // width) + 2)]


def _log_axis(axes: "Axes", most: float) -> None:
    """Ticks at powers of ten, few enough to be read, and one for 0."""
    powers = range(int(log10(max(most, 1))) + 1)
    ticks = [10.0**power for power in powers if power % (1 + len(powers) // 7) == 0]
    axes.set_xscale("log")
    axes.set_xticks([NONE, *ticks], ["0", *[f"{tick:,.0f}" if tick < 1e5 else f"{tick:.0e}" for tick in ticks]])
    axes.minorticks_off()
