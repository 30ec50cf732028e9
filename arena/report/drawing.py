"""All plots of a board, and how matplotlib draws them: as SVG in the colours of a page, or as a file of its own."""

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from arena.errors import ArenaError
from arena.report.budget_plots import budget_plots
from arena.report.cactus import cactus_plots
from arena.report.convergence import convergence_plot
from arena.report.cross import cross_plot
from arena.report.difficulty import difficulty_plot
from arena.report.evidence import Evidence
from arena.report.palette import PAGE, PAPER, VARIABLES, Palette
from arena.report.plot import Plot, printable
from arena.report.ratings import ratings_plot
from arena.report.scatter import scatter_plot
from arena.report.spread import spread_plots

WIDTH = 4.0
"""Of every plot, in inches: it fits a column of a paper, and a phone."""
FORMATS = ("png", "svg", "pdf")
"""File formats of a plot."""
_TIMELESS = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}


def require() -> None:
    """Raise ArenaError, which says what to install, if matplotlib or Jinja2 is missing."""
    for name, what in (("matplotlib.figure", "plots need matplotlib"), ("jinja2", "pages need Jinja2")):
        try:
            import_module(name)
        except ImportError as error:
            why = "cannot be imported" if find_spec(name.partition(".")[0]) else "is not installed"
            raise ArenaError(f"{what}, which {why} ({error}); try: pip install 'gamearena[report]'") from error


def plots_of(evidence: Evidence) -> list[Plot]:
    """The plots that a board has something to show in, in the order in which they are shown."""
    if evidence.sheet.kind == "versus":
        found = [ratings_plot(evidence.board), cross_plot(evidence.board), convergence_plot(evidence)]
    elif evidence.sheet.kind == "score":
        found = [convergence_plot(evidence)]
    else:
        found = [difficulty_plot(evidence), *budget_plots(evidence), *cactus_plots(evidence), _best_two(evidence)]
        found.append(convergence_plot(evidence))
    return [plot for plot in [*found, *spread_plots(evidence)] if plot is not None]


def _best_two(evidence: Evidence) -> Plot | None:
    """The nodes of the best two entries, position by position."""
    best = evidence.ranked[:2]
    return None if len(best) < 2 else scatter_plot(evidence, best[0], best[1])


def inline(plot: Plot, key: str) -> str:
    """A plot as an `<svg>` for a page: its colours are CSS variables, its text is text, its ids begin with `key`."""
    text = _drawn(plot, "svg", PAGE).decode()
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text[text.index("<svg") :], count=1, flags=re.DOTALL)
    text = re.sub(r"\s*<defs>\s*<style.*?</style>\s*</defs>", "", text, count=1, flags=re.DOTALL)  # it would be the page's
    text = re.sub(r"<[^>]*>", lambda tag: _of_page(tag[0], key), text)
    head, _, rest = text.partition(">")
    head = re.sub(r' (width|height)="[^"]*"', "", head)
    names = f'class="drawing" role="img" aria-labelledby="{key}-title" aria-describedby="{key}-desc"'
    title, desc = escape(plot.title), escape(printable(plot.text))
    return f'{head} {names}><title id="{key}-title">{title}</title><desc id="{key}-desc">{desc}</desc>{rest}'


def _of_page(tag: str, key: str) -> str:
    """A tag of an SVG with ids that begin with `key`, and with the page's colours and font. Text is left as it is."""
    tag = re.sub(r'( id="| xlink:href="#|url\(#)', rf"\g<1>{key}-", tag)
    tag = re.sub(r"font-family: [^;\"]*; | transform=\"rotate\(-0 [^\"]*\"", "", tag)
    return re.sub("|".join(VARIABLES), lambda colour: VARIABLES[colour[0]], tag)


def whole(plot: Plot, style: str) -> bytes:
    """A plot as a file of its own, in one of FORMATS, dark on white."""
    return _drawn(plot, style, PAPER)


def _drawn(plot: Plot, style: str, palette: Palette) -> bytes:
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    out = io.BytesIO()
    with _silence(), rc_context(_settings(palette)):
        figure = Figure(figsize=(WIDTH, plot.height), layout="constrained")
        plot.draw(figure.add_subplot(), palette)
        if style != "svg":
            figure.set_facecolor("white")
        figure.savefig(out, format=style, metadata=_TIMELESS.get(style), dpi=300, transparent=style == "svg")
    return out.getvalue()


@contextmanager
def _silence() -> Iterator[None]:
    """No word about glyphs that a font lacks: on a page the browser finds them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _settings(palette: Palette) -> dict[str, Any]:
    return {
        "axes.axisbelow": True,
        "axes.edgecolor": palette.grid,
        "axes.facecolor": "none",
        "axes.grid": True,
        "axes.labelcolor": palette.muted,
        "axes.labelsize": 8.5,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.unicode_minus": False,
        "font.family": "DejaVu Sans",
        "font.size": 8.5,
        "grid.color": palette.grid,
        "grid.linewidth": 0.6,
        "legend.fontsize": 8.5,
        "legend.frameon": False,
        "legend.labelcolor": palette.ink,
        "lines.linewidth": 1.5,
        "lines.markersize": 5,
        "pdf.fonttype": 42,
        "svg.fonttype": "none",
        "svg.hashsalt": "gamearena",
        "text.color": palette.ink,
        "text.parse_math": False,
        "xtick.color": palette.grid,
        "xtick.labelcolor": palette.muted,
        "ytick.color": palette.grid,
        "ytick.labelcolor": palette.ink,
    }
