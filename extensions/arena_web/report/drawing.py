"""All plots of a board. matplotlib draws them as SVG in the colours of a page, or as separate files."""

import io
import re
import warnings
from dataclasses import dataclass
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from arena import ArenaError
from arena.api.cli import install_command
from arena_web.report.cross import cross_plot
from arena_web.report.evidence import Evidence
from arena_web.report.frontier import frontier_plots
from arena_web.report.palette import PAGE, PAPER, VARIABLES, Palette
from arena_web.report.plot import FONT_POINTS, WIDTH_INCHES, Plot, arrange_legend, printable
from arena_web.report.puzzle_plots import UNITS, budget_plot, cactus_plot, quality_plot, scatter_plot
from arena_web.report.ratings import convergence_plot, ratings_plot

FORMATS = ("png", "svg", "pdf")
"""The file formats of plots."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The size of plots, in inches; the size of their font, in points; and the number of columns of legends."""

    width: float = WIDTH_INCHES
    height: float | None = None
    """None gives each plot its natural height."""
    font: str = "DejaVu Sans"
    font_size: float = FONT_POINTS
    columns: int | None = None
    """None uses as many columns as fit."""


USUAL = Layout()
_TIMELESS = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}


def require() -> None:
    """Raise ArenaError if matplotlib or Jinja2 is missing. The message gives the command that installs them."""
    for name, what in (("matplotlib.figure", "plots need matplotlib"), ("jinja2", "pages need Jinja2")):
        try:
            import_module(name)
        except ImportError as error:
            why = "cannot be imported" if find_spec(name.partition(".")[0]) else "is not installed"
            raise ArenaError(f"{what}, which {why} ({error}); try: {install_command('report')}") from error


def plots_of(evidence: Evidence) -> list[Plot]:
    """Return the plots of a board that are not empty, in the order of the page."""
    if evidence.sheet.kind == "versus":
        found = [ratings_plot(evidence.board), cross_plot(evidence.board), *frontier_plots(evidence.board)]
    elif evidence.sheet.kind == "score":
        found = []
    else:
        best_two = evidence.ranked[:2]
        scatter = scatter_plot(evidence, *best_two) if len(best_two) == 2 else None
        kinds = budget_plot, quality_plot, cactus_plot
        found = [*[draw(evidence, unit) for unit in UNITS for draw in kinds], scatter]
    return [plot for plot in (*found, convergence_plot(evidence)) if plot is not None]


def inline(plot: Plot, key: str) -> str:
    """Return a plot as an `<svg>` element for a page. The colours are CSS variables, labels are text and not shapes, and ids
    begin with `key`.
    """
    text = _draw(plot, "svg", PAGE, USUAL).decode()
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text[text.index("<svg") :], count=1, flags=re.DOTALL)
    text = re.sub(r"\s*<defs>\s*<style.*?</style>\s*</defs>", "", text, count=1, flags=re.DOTALL)  # it would style the whole page

    def fit_tag(found: re.Match[str]) -> str:
        """Change a tag so that its ids begin with `key` and it uses the colours and the font of the page. Text is
        left as it is.
        """
        tag = re.sub(r'( id="| xlink:href="#|url\(#)', rf"\g<1>{key}-", found[0])
        tag = re.sub(r"font-family: [^;\"]*; | transform=\"rotate\(-0 [^\"]*\"", "", tag)
        return re.sub("|".join(VARIABLES), lambda colour: VARIABLES[colour[0]], tag)

    text = re.sub(r"<[^>]*>", fit_tag, text)
    head, _, rest = text.partition(">")
    head = re.sub(r' (width|height)="[^"]*"', "", head)
    names = f'class="drawing" role="img" aria-labelledby="{key}-title" aria-describedby="{key}-desc"'
    title, desc = escape(plot.title), escape(printable(plot.text))
    return f'{head} {names}><title id="{key}-title">{title}</title><desc id="{key}-desc">{desc}</desc>{rest}'


def whole(plot: Plot, style: str, layout: Layout = USUAL) -> bytes:
    """Return a plot as the content of a separate file in one of FORMATS, dark on white."""
    return _draw(plot, style, PAPER, layout)


def _draw(plot: Plot, style: str, palette: Palette, layout: Layout) -> bytes:
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    out = io.BytesIO()
    with warnings.catch_warnings(), rc_context(_settings(palette, layout)):
        warnings.simplefilter("ignore")  # warnings about missing glyphs, which the browser takes from other fonts
        columns, legend_height, labels = arrange_legend(plot.lines, layout.width, layout.font_size, layout.columns)
        height = layout.height or plot.area_height * max(1.0, layout.font_size / FONT_POINTS) + legend_height
        figure = Figure(figsize=(layout.width, height), layout="constrained")
        axes = figure.add_subplot()
        plot.draw(axes, palette)
        if labels:
            figure.legend(axes.get_lines(), labels, loc="outside lower center", ncols=columns, handlelength=3.2)
        if style != "svg":
            figure.set_facecolor("white")
        figure.savefig(out, format=style, metadata=_TIMELESS.get(style), dpi=300, transparent=style == "svg")
    return out.getvalue()


def _settings(palette: Palette, layout: Layout) -> dict[str, Any]:
    return {
        "axes.axisbelow": True,
        "axes.edgecolor": palette.grid,
        "axes.facecolor": "none",
        "axes.grid": True,
        "axes.labelcolor": palette.muted,
        "axes.labelsize": layout.font_size,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.unicode_minus": False,
        "font.family": [layout.font, "DejaVu Sans"],
        "font.size": layout.font_size,
        "grid.color": palette.grid,
        "grid.linewidth": 0.6,
        "legend.fontsize": layout.font_size,
        "legend.frameon": False,
        "legend.labelcolor": palette.ink,
        "lines.linewidth": 1.5,
        "lines.markersize": 5,
        "pdf.fonttype": 42,
        "svg.fonttype": "none",
        "svg.hashsalt": "arena",
        "text.color": palette.ink,
        "text.parse_math": False,
        "xtick.color": palette.grid,
        "xtick.labelcolor": palette.muted,
        "ytick.color": palette.grid,
        "ytick.labelcolor": palette.ink,
    }
