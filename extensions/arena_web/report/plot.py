"""A plot before it is drawn: its numbers, its texts and its drawing function; and shared axes and legends."""

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
"""The maximum number of agents with rows in one plot."""
CHARACTER_WIDTH_EM = 0.58
"""The width of a character, as a part of the size of its font."""
LINE_INCHES = 0.17
"""The height of a line of text in the usual size."""
WIDTH_INCHES, FONT_POINTS = 4.0, 8.5
"""The default width of a plot, which fits a column of a paper and a phone, and its default font size."""
TICK_SHARE = 0.45
"""The maximum share of the width for labels beside the rows of a plot."""
MAX_LABEL_LINES = 3
"""The maximum number of lines of a label; further lines are cut off."""
MAX_LOG_TICKS = 5
"""The maximum number of ticks of a logarithmic axis."""

Cell: TypeAlias = str | int | float | None


@dataclass(frozen=True, slots=True)
class Plot:
    """One plot. `rows` has all the numbers, including agents for which the plot has no room."""

    name: str
    """A word for files and anchors, such as `ratings`."""
    title: str
    text: str
    """A description for readers who cannot see the plot, and the method for the others."""
    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    area_height: float
    """In inches, of a plot of WIDTH_INCHES, without its legend."""
    draw: "Callable[[Axes, Palette], None]"
    lines: tuple[str, ...] = ()
    """The labels of the lines in the legend."""
    left_out: int = 0
    """The number of agents for which the plot has no room."""

    @property
    def height(self) -> float:
        """In inches, with the legend, of a plot of WIDTH_INCHES in the usual font."""
        return self.area_height + arrange_legend(self.lines, WIDTH_INCHES, FONT_POINTS, None)[1]


_ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def printable(text: str) -> str:
    """Replace the characters of a text that a page cannot show: control characters and halves of surrogates."""
    return _ODD.sub("\ufffd", text)


def wrap_label(label: str, characters: int) -> str:
    """Wrap a label for a plot; only lines beyond MAX_LABEL_LINES are cut off."""
    text = " ".join(printable(label).split())
    lines = wrap(text, max(8, characters), max_lines=MAX_LABEL_LINES, placeholder="…") or [""]
    return f"\u200b{chr(10).join(lines)}" if text.startswith("_") else "\n".join(lines)  # else matplotlib hides it in legends


def fit_label(axes: "Axes", label: str, share: float = TICK_SHARE) -> str:
    """Wrap a label to a share of the width of the figure."""
    from matplotlib import rcParams

    return wrap_label(label, _characters(share * axes.figure.get_figwidth(), rcParams["font.size"]))


def _characters(inches: float, points: float) -> int:
    return int(72 * inches / (CHARACTER_WIDTH_EM * points))


def row_height(labels: Sequence[str]) -> float:
    """The height of a plot with a row for each label."""
    lines = max([wrap_label(label, _characters(TICK_SHARE * WIDTH_INCHES, FONT_POINTS)).count("\n") for label in labels])
    return 0.8 + max(0.25, 0.15 * (lines + 1)) * len(labels)


def arrange_legend(labels: Sequence[str], width: float, points: float, columns: int | None) -> tuple[int, float, list[str]]:
    """Return the columns of a legend below a plot, its height in inches, and its labels in lines.

    Without `columns` there are as many as have room for the longest label, up to four. `width` is in inches.
    """
    if not labels:
        return 1, 0.0, []
    room = _characters(width, points)
    handle = 8  # characters of the line before a label, and of the space behind it
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
    """The best agents, which a plot shows, and a sentence if some are left out."""
    if len(agents) <= most:
        return tuple(agents), ""
    return tuple(agents[:most]), f" The plot has the best {most} of {len(agents)} agents, the table all."


def share_axis(axes: "Axes") -> None:
    """Make the vertical axis one of solved shares, from 0 to 100 %."""
    axes.set_ylim(-0.03, 1.03)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    axes.set_ylabel("Solved")


def count_axis(axes: "Axes") -> None:
    """Make the horizontal axis one of counts: ticks only at whole numbers, even if there is room for just one."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(nbins="auto", steps=[1, 2, 5, 10], integer=True, min_n_ticks=1))


def log_axis(axis: "Axis", low: float, high: float) -> None:
    """Make an axis of `axes` logarithmic from `low` to `high`, with ticks at powers of ten, in digits if they are short."""
    axis.axes.set(**{f"{axis.axis_name}scale": "log", f"{axis.axis_name}lim": (low, high)})
    powers = [10.0**power for power in range(ceil(log10(low)), floor(log10(high)) + 1)]
    ticks = powers[:: -(-len(powers) // MAX_LOG_TICKS)] if powers else [low, high]
    axis.set_ticks(ticks, [tick_text(tick) for tick in ticks])
    axis.axes.minorticks_off()


def tick_text(value: float) -> str:
    """The text of a tick on a logarithmic axis."""
    return f"{value:,.0f}" if 1000 <= value < 1e6 else f"{value:.3g}"
