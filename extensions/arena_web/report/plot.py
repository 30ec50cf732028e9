"""A plot before it is drawn: its numbers, its words and how to draw it; axes and legends that plots share."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from arena_web.report.palette import Palette

MAX_LINES = 8
"""The most agents that one plot tells apart by colours and markers."""
MAX_ROWS = 30
"""The most agents that one plot has rows for."""
LABEL_CHARACTERS = 20
"""The most characters of a label in a plot."""
MAX_LOG_TICKS = 5
"""The most ticks of a logarithmic axis."""

Cell: TypeAlias = str | int | float | None


@dataclass(frozen=True, slots=True)
class Plot:
    """One plot. `rows` has all the numbers, also those of agents for whom the plot has no room."""

    name: str
    """A word for files and anchors, such as `ratings`."""
    title: str
    text: str
    """A description for those who cannot see it, and the method for those who can."""
    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    height: float
    """In inches, of a plot that is 4 wide."""
    draw: "Callable[[Axes, Palette], None]"


_ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def printable(text: str) -> str:
    """A text in which whatever no page can show, control characters and halves of surrogates, is a replacement character."""
    return _ODD.sub("\ufffd", text)


def short(label: str) -> str:
    """A label as it stands in a plot, on one line; a long one without its middle, since agents differ at either end."""
    text = " ".join(printable(label).split())
    half = LABEL_CHARACTERS // 2
    cut = text if len(text) <= LABEL_CHARACTERS else f"{text[:half]}…{text[half + 1 - LABEL_CHARACTERS :]}"
    return f"\u200b{cut}" if cut.startswith("_") else cut  # else matplotlib would keep it out of a legend


def row_height(rows: int) -> float:
    """The height of a plot with so many rows."""
    return 0.8 + 0.25 * rows


def lines_height(agents: int, least: float = 2.5) -> float:
    """The height of a plot with so many lines and their legend below it, in two columns."""
    return least + 0.16 * ((agents + 1) // 2)


def room_for(agents: Sequence[int], most: int) -> tuple[tuple[int, ...], str]:
    """The agents that a plot shows, the best ones, and a sentence where these are not all."""
    if len(agents) <= most:
        return tuple(agents), ""
    return tuple(agents[:most]), f" The plot has the best {most} of {len(agents)} agents, the table all."


def share_axis(axes: "Axes") -> None:
    """Make the vertical axis one of solved shares, from 0 to 100 %."""
    axes.set_ylim(-0.03, 1.03)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    axes.set_ylabel("Solved")


def count_axis(axes: "Axes") -> None:
    """Make the horizontal axis one of counts: ticks at whole numbers alone, even where there is room for one of them."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(nbins="auto", steps=[1, 2, 5, 10], integer=True, min_n_ticks=1))


def log_axis(axis: "Axis", low: float, high: float) -> None:
    """Make an axis of `axes` logarithmic from `low` to `high`, with ticks at powers of ten, in digits where these are few."""
    axis.axes.set(**{f"{axis.axis_name}scale": "log", f"{axis.axis_name}lim": (low, high)})
    powers = [10.0**power for power in range(ceil(log10(low)), floor(log10(high)) + 1)]
    ticks = powers[:: -(-len(powers) // MAX_LOG_TICKS)] if powers else [low, high]
    axis.set_ticks(ticks, [tick_text(tick) for tick in ticks])
    axis.axes.minorticks_off()


def tick_text(value: float) -> str:
    """The text of a tick on a logarithmic axis."""
    return f"{value:,.0f}" if 1000 <= value < 1e6 else f"{value:.3g}"


def legend(axes: "Axes") -> None:
    """Tell below the axes which line is whose."""
    axes.figure.legend(loc="outside lower center", ncols=2, handlelength=3.2)
