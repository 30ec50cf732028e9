"""What plots share: axes of shares and of counts, and the legend of lines."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def share_axis(axes: "Axes", name: str) -> None:
    """Make the vertical axis one of shares, from 0 to 100 %."""
    axes.set_ylim(-0.03, 1.03)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    axes.set_ylabel(name)


def count_axis(axes: "Axes") -> None:
    """Make the horizontal axis one of counts: ticks at whole numbers alone, even where there is room for one of them."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(nbins="auto", steps=[1, 2, 5, 10], integer=True, min_n_ticks=1))


def legend(axes: "Axes") -> None:
    """Tell below the axes which line is whose."""
    axes.figure.legend(loc="outside lower center", ncols=2, handlelength=3.2)
