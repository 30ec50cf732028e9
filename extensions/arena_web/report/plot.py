"""Plots before they are drawn. A plot has its numbers, its texts, and the function that draws it. This module also has the axes
and legends that plots share.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import ceil, floor, log10
from textwrap import wrap
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from arena_web.report.palette import Palette

MAX_LINES = 16
"""The maximum number of agents that one plot distinguishes by colours and markers."""
MAX_ROWS = 30
"""The maximum number of agents that have a row in one plot."""
CHARACTER_WIDTH_EM = 0.58
"""The width of a character as a fraction of the font size."""
LINE_INCHES = 0.17
"""The height of a line of text in the usual font size."""
WIDTH_INCHES, FONT_POINTS = 4.0, 8.5
"""The default width of a plot, which fits a column of a paper and a phone, and the default font size."""
TICK_SHARE = 0.45
"""The maximum share of the width of a plot that labels beside its rows may take."""
MAX_LABEL_LINES = 3
"""The maximum number of lines of a label; further lines are cut off."""
MAX_LOG_TICKS = 5
"""The maximum number of ticks on a logarithmic axis."""

Cell: TypeAlias = str | int | float | None


@dataclass(frozen=True, slots=True)
class Plot:
    """One plot. `rows` contains all the numbers, including the numbers of agents that do not fit into the plot."""

    name: str
    """A word for file names and anchors, such as `ratings`."""
    title: str
    text: str
    """The text below the plot, which explains it. It is also the description for readers of the page without the plot."""
    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    area_height: float
    """The height of the plot without its legend, in inches, if the plot is WIDTH_INCHES wide."""
    draw: "Callable[[Axes, Palette], None]"
    lines: tuple[str, ...] = ()
    """The labels of the lines in the legend."""
    left_out: int = 0
    """The number of agents that do not fit into the plot."""

    @property
    def height(self) -> float:
        """Return the height in inches, including the legend, if the plot is WIDTH_INCHES wide and has the usual font size."""
        return self.area_height + arrange_legend(self.lines, WIDTH_INCHES, FONT_POINTS, None)[1]


_ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """Replace the characters that a page cannot show: control characters, also those that reverse text, and halves of surrogate
    pairs.
    """
    return _ODD.sub("\ufffd", text)


def wrap_label(label: str, characters: int) -> str:
    """Wrap a label for a plot. Only lines beyond MAX_LABEL_LINES are cut off."""
    text = " ".join(printable(label).split())
    lines = wrap(text, max(8, characters), max_lines=MAX_LABEL_LINES, placeholder="…") or [""]
    return f"\u200b{chr(10).join(lines)}" if text.startswith("_") else "\n".join(lines)  # legends hide labels with _


def fit_label(axes: "Axes", label: str, share: float = TICK_SHARE) -> str:
    """Wrap a label so that it takes at most a share of the width of the figure."""
    from matplotlib import rcParams

    return wrap_label(label, _characters(share * axes.figure.get_figwidth(), rcParams["font.size"]))


def _characters(inches: float, points: float) -> int:
    return int(72 * inches / (CHARACTER_WIDTH_EM * points))


def row_height(labels: Sequence[str]) -> float:
    """Return the height of a plot that has one row for each label."""
    lines = max([wrap_label(label, _characters(TICK_SHARE * WIDTH_INCHES, FONT_POINTS)).count("\n") for label in labels])
    return 0.8 + max(0.25, 0.15 * (lines + 1)) * len(labels)


def arrange_legend(labels: Sequence[str], width: float, points: float, columns: int | None) -> tuple[int, float, list[str]]:
    """Return the number of columns of a legend below a plot, its height in inches, and its wrapped labels.

    If `columns` is not given, there are as many columns, up to four, as the longest label allows. `width` is in inches.
    """
    if not labels:
        return 1, 0.0, []
    room = _characters(width, points)
    handle = 8  # the width, in characters, of the line before a label and of the space after it
    longest = max(map(len, labels))
    columns = columns or max(1, min(4, len(labels), room // (longest + handle)))
    texts = [wrap_label(label, room // columns - handle) for label in labels]
    rows = -(-len(texts) // columns)
    lines = [
        max([text.count("\n") + 1 for text in row])
        for row in zip_longest(*[texts[k * rows : (k + 1) * rows] for k in range(columns)], fillvalue="")
    ]
    return columns, LINE_INCHES * (sum(lines) + 0.7) * points / FONT_POINTS, texts


def room_for(agents: Sequence[int], most: int) -> tuple[tuple[int, ...], str]:
    """Return the best agents, as many as a plot can show, and a sentence with the number of agents that are left out, if any."""
    if len(agents) <= most:
        return tuple(agents), ""
    return tuple(agents[:most]), f" The plot shows the best {most} of {len(agents)} agents; the table shows all of them."


def share_axis(axes: "Axes", label: str = "Solved") -> None:
    """Turn the vertical axis into an axis for shares, from 0 to 100 %."""
    axes.set_ylim(-0.03, 1.03)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    axes.set_ylabel(label)


def count_axis(axes: "Axes") -> None:
    """Turn the horizontal axis into an axis for counts, with ticks only at whole numbers, even if there is room for just one
    tick.
    """
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(nbins="auto", steps=[1, 2, 5, 10], integer=True, min_n_ticks=1))


def log_axis(axis: "Axis", low: float, high: float) -> None:
    """Make an axis of `axes` logarithmic from `low` to `high`. The ticks are powers of ten, written out if they are short."""
    axis.axes.set(**{f"{axis.axis_name}scale": "log", f"{axis.axis_name}lim": (low, high)})
    powers = [10.0**power for power in range(ceil(log10(low)), floor(log10(high)) + 1)]
    ticks = powers[:: -(-len(powers) // MAX_LOG_TICKS)] if powers else [low, high]
    axis.set_ticks(ticks, [tick_text(tick) for tick in ticks])
    axis.axes.minorticks_off()


def tick_text(value: float) -> str:
    """Return the text of a tick on a logarithmic axis."""
    return f"{value:,.0f}" if 1000 <= value < 1e6 else f"{value:.3g}"
