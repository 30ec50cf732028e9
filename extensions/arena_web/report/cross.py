"""The heat map of the score of each agent against each other agent."""

from typing import TYPE_CHECKING

from arena.api.results import Leaderboard, figures
from arena_web.report.palette import Palette
from arena_web.report.plot import MAX_ROWS, Plot, fit_label, room_for, row_height

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MIN_FONT_POINTS = 4.2
"""The minimum font size, in points, for a share inside a square."""
MAX_NUMBERED_COLUMNS = 14
"""Up to this number of agents, every column is numbered; with more agents, every fifth column."""
MARGIN_POINTS = 16.0
"""The width of the margins of a plot, in points."""
DIGIT_WIDTH_EM = 0.64
"""The width of a digit as a fraction of the font size."""
MAX_OPACITY = 0.6
"""The opacity of the colour for a score of 100 %. The number on it must stay readable."""

Scores = tuple[tuple[float | None, ...], ...]


def cross_plot(board: Leaderboard) -> Plot | None:
    """Return the heat map of the cells of the cross-table; None if no two agents have met."""
    if board.cross is None or not any(share is not None for row in board.cross for share in row):
        return None
    labels = [row["agent"] for row in board.rows]
    kept, note = room_for(range(len(labels)), MAX_ROWS)
    scores = tuple([tuple([board.cross[one][other] for other in kept]) for one in kept])
    return Plot(
        "cross",
        "Cross-table",
        f"{board.cross_title}. Cells are blue above one half and vermillion below, and stronger "
        f"colours are farther from one half. The columns have the same order as the rows.{note}",
        ("Agent", *labels),
        tuple([(label, *row) for label, row in zip(labels, board.cross, strict=True)]),
        row_height([labels[k] for k in kept]) + 0.05 * len(kept),
        lambda axes, palette: _draw(axes, palette, [f"{fit_label(axes, labels[k], 0.34)}  {k + 1}" for k in kept], scores),
        left_out=len(labels) - len(kept),
    )


def _size(axes: "Axes", labels: list[str]) -> float:
    """Return the font size, in points, at which a share with five characters fits into a square of the heat map. The labels take
    the rest of the width. The result is at most the default size.
    """
    from matplotlib import rcParams
    from matplotlib.textpath import TextPath

    usual = rcParams["font.size"]
    widest = max([TextPath((0, 0), line, size=usual).get_extents().width for label in labels for line in label.splitlines()])
    squares = 72 * axes.figure.bbox.width / axes.figure.dpi - widest - MARGIN_POINTS
    return float(min(usual, 0.96 * squares / len(labels) / (5 * DIGIT_WIDTH_EM)))


def _draw(axes: "Axes", palette: Palette, labels: list[str], scores: Scores) -> None:
    from matplotlib.collections import PatchCollection
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Rectangle

    squares, colours, size = [], [], _size(axes, labels)
    for row, shares in enumerate(scores):
        for column, share in enumerate(shares):
            squares.append(Rectangle((column - 0.48, row - 0.46), 0.96, 0.92))
            shade = palette.grid if share is None else palette.blue if share >= 0.5 else palette.vermillion
            colours.append(to_rgba(shade, 0.35 if share is None else MAX_OPACITY * abs(2 * share - 1)))
            if share is not None and size >= MIN_FONT_POINTS:
                axes.text(column, row, figures.fixed(100 * share, 1), ha="center", va="center", fontsize=size)
    axes.add_collection(PatchCollection(squares, facecolors=colours, edgecolors="none"))
    places = range(len(labels))
    axes.set_yticks(places, labels)
    named = [place for place in places if len(labels) <= MAX_NUMBERED_COLUMNS or (place + 1) % 5 == 0]
    axes.set_xticks(named, [str(place + 1) for place in named])
    axes.set_xlim(-0.5, len(labels) - 0.5)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.xaxis.tick_top()
    axes.grid(visible=False)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
