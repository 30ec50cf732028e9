"""The command `report`: writes a store as a page, or each plot as a file."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from arena import UnknownName
from arena.api.cli import (
    LATEX_FILE,
    PAGE_FILE,
    PLOT_FILES,
    Number,
    check_place,
    load,
    make_folder,
    plugin_option,
    results_alone,
    say,
    write_output,
)
from arena.api.errors import escape_line
from arena.api.results import figures
from arena.api.store import Store
from arena_web.panels import collect_panels
from arena_web.report.carried import carry_matches
from arena_web.report.drawing import USUAL, Layout, plots_of, require, whole
from arena_web.report.evidence import Evidence, choose, findings
from arena_web.report.latex_report import FILE, latex_report
from arena_web.report.page import key_of, page
from arena_web.report.plot import Plot

MAX_TITLE_LENGTH = 60
"""The maximum number of characters of the title of a board in a file name."""


class Inches(click.ParamType[tuple[float, float | None]]):
    """A width, or a width and a height such as 7x4, in inches."""

    name = "WIDTH[xHEIGHT]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, float | None]:
        """Return the width and the height. The height is None if it is not given; each side is between 1 and 40 inches."""
        width, given, height = str(value).partition("x")
        try:
            sides = float(width), float(height) if given else None
        except ValueError:
            sides = 0.0, None
        if not all(side is None or 1 <= side <= 40 for side in sides):
            self.fail(f"expected inches from 1 to 40, as in 3.5 or 7x4, got {value!r}", param, ctx)
        return sides


@click.command()
@click.argument("store")
@click.option(
    "-o", "--output", "out", metavar="FILE|DIR", required=True, help="The file for the page, or the folder for the plots."
)
@click.option("--format", "style", type=click.Choice(["html", "png", "svg", "pdf", "tex"]), default="html", show_default=True)
@click.option(
    "--matches", type=click.IntRange(0, 10**6), default=2000, show_default=True, help="Maximum number of matches on the page."
)
@click.option("--agents", multiple=True, metavar="LABEL", help="For plot files: draw only this agent; may be repeated.")
@click.option("--columns", type=click.IntRange(1, 8), help="For plot files: the number of columns of the legend.")
@click.option("--size", type=Inches(), help="For plot files: the width in inches, such as 3.5, or width and height, such as 7x4.")
@click.option("--font", metavar="FAMILY", help="For plot files: the font, such as serif or 'Times New Roman'.")
@click.option("--font-size", type=Number(4, 30), help="For plot files: the font size, in points.")
@plugin_option
def report(store: str, out: str, style: str, matches: int, plugins: tuple[str, ...], **layout: Any) -> int:
    """Write a report of STORE as one HTML page, or each of its plots as a file, or as LaTeX with its plots."""
    require()
    agents = layout.pop("agents")
    given = {name: value for name, value in layout.items() if value is not None}
    if style == "html" and (agents or given):
        raise click.UsageError("--agents, --columns, --size, --font and --font-size apply only to plot files; add --format pdf")
    if style == "html" and (ending := Path(out).suffix[1:]) in ("png", "svg", "pdf", "tex"):
        raise click.UsageError(f"-o {out}: without --format, a report is an HTML page; write --format {ending} -o FOLDER")
    with results_alone():  # output of plugins must not look like a result on stdout
        if style == "html":
            _write_page(Path(store), Path(out), matches, plugins)
            return 0
        _write_plots(Path(store), Path(out), style, agents, _read_layout(given), plugins)
    return 0


def _read_layout(given: dict[str, Any]) -> Layout:
    """Return the layout that the options describe; raises BadParameter for a font that is not installed."""
    from matplotlib.font_manager import findfont

    width, height = given.pop("size", (USUAL.width, None))
    if "font" in given:
        try:
            findfont(given["font"], fallback_to_default=False)
        except ValueError:
            raise click.BadParameter(f"the font {given['font']!r} is not installed", param_hint="--font") from None
    return Layout(width, height, **given)


def _write_plots(store: Path, folder: Path, style: str, agents: Sequence[str], layout: Layout, plugins: tuple[str, ...]) -> None:
    with Store.open(store) as opened, opened.snapshot():
        found = findings(opened)
        panels = collect_panels(load(plugins), "report", opened, None) if style == "tex" else []
    labels = list(dict.fromkeys([label for evidence in found.boards for label in evidence.sheet.labels]))
    for label in agents:
        if label not in labels:
            raise UnknownName(f"entry of {store}", label, labels)
    suffix, plots = "pdf" if style == "tex" else style, {kind.suffix[1:]: kind for kind in PLOT_FILES}
    files: dict[str, bytes] = {}
    boards: list[tuple[Evidence, list[tuple[str, Plot]]]] = []
    for board in found.boards:
        evidence = choose(board, agents) if agents else board
        boards.append((evidence, []))
        title = re.sub(r"[^a-z0-9]+", "-", evidence.board.title.lower()).strip("-")[:MAX_TITLE_LENGTH]
        for plot in plots_of(evidence):
            name = f"{evidence.number + 1}-{title}-{plot.name}.{suffix}"
            boards[-1][1].append((name, plot))
            files[name] = whole(plot, suffix, layout)
            if plot.left_out:
                out = figures.amount(plot.left_out, "agent")
                say(f"note: {name} leaves out {out} for lack of space; use --agents LABEL to choose others")
    latex = [(FILE, LATEX_FILE)] if style == "tex" else []
    make_folder(folder, [*latex, *[(name, plots[suffix]) for name in files]])
    for name, content in files.items():
        write_output(folder / name, content)
    if style == "tex":
        write_output(folder / FILE, latex_report(found, boards, panels, folder.name).encode("utf-8", "backslashreplace"))
    say(f"{folder}: {f'{FILE} and ' if style == 'tex' else ''}{figures.amount(len(files), 'plot')}")


def _write_page(store: Path, out: Path, matches: int, plugins: tuple[str, ...]) -> None:
    check_place(out, PAGE_FILE)
    registry = load(plugins)
    with Store.open(store) as opened, opened.snapshot():
        found = findings(opened)
        kept = carry_matches(opened, found, matches, registry)
        panels = {key_of(evidence): collect_panels(registry, "board", opened, evidence.number) for evidence in found.boards}
        panels["report"] = collect_panels(registry, "report", opened, None)
    content = page(found, kept, panels)
    write_output(out, content)
    for note in (*kept.notes, *([kept.trouble] if kept.trouble else [])):
        say(f"note: {escape_line(note)}")
    left_out = f" ({kept.left_out:,} more excluded by report.where)" if kept.left_out else ""
    say(f"{out}: {len(kept.listed):,} of {figures.amount(kept.of, 'match')}{left_out}, {len(content) / 1e6:,.1f} MB")
