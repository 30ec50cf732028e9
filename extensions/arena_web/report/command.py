"""The command report: a store as a page, or as a file for each plot."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from arena import UnknownName
from arena.api.cli import load, plugin_option, results_alone, say
from arena.api.errors import escape_line
from arena.api.store import Store
from arena_web.panels import collect_panels
from arena_web.report.carried import carry_matches
from arena_web.report.drawing import USUAL, Layout, plots_of, require, whole
from arena_web.report.evidence import choose, findings, read
from arena_web.report.output_files import check_place, folder_for, write_output
from arena_web.report.page import key_of, page

MAX_TITLE_LENGTH = 60
"""The maximum number of characters of a board's title in a file name."""


class Inches(click.ParamType[tuple[float, float | None]]):
    """A width in inches, or a width and a height, as in 7x4."""

    name = "WIDTH[xHEIGHT]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, float | None]:
        """Return the width and the height, which is None if it is not given; sides are from 1 to 40 inches."""
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
@click.option("-o", "--output", "out", metavar="FILE|DIR", required=True, help="The page, or the folder for the plots.")
@click.option("--format", "style", type=click.Choice(["html", "png", "svg", "pdf"]), default="html", show_default=True)
@click.option("--matches", type=click.IntRange(0, 10**6), default=2000, show_default=True, help="How many the page carries.")
@click.option("--agents", multiple=True, metavar="LABEL", help="Of plots as files: those that are drawn. May be repeated.")
@click.option("--columns", type=click.IntRange(1, 8), help="Of plots as files: the columns of the legend.")
@click.option("--size", type=Inches(), help="Of plots as files, in inches: the width, as in 3.5, or both, as in 7x4.")
@click.option("--font", metavar="FAMILY", help="Of plots as files, as in serif or 'Times New Roman'.")
@click.option("--font-size", type=click.FloatRange(4, 30), help="Of plots as files, in points.")
@plugin_option
def report(store: str, out: str, style: str, matches: int, plugins: tuple[str, ...], **layout: Any) -> int:
    """Write what STORE holds as one page to look at, or each of its plots as a file."""
    require()
    agents = layout.pop("agents")
    given = {name: value for name, value in layout.items() if value is not None}
    if style == "html" and (agents or given):
        raise click.UsageError("--agents, --columns, --size, --font and --font-size are of plots as files: add --format pdf")
    with results_alone():  # output of plugins must not look like a result on stdout
        if style == "html":
            _write_page(Path(store), Path(out), matches, plugins)
            return 0
        _write_plots(Path(store), Path(out), style, agents, _read_layout(given))
    return 0


def _read_layout(given: dict[str, Any]) -> Layout:
    """Return the layout of the options that were given; raises BadParameter for a font that is not installed."""
    from matplotlib.font_manager import findfont

    width, height = given.pop("size", (USUAL.width, None))
    if "font" in given:
        try:
            findfont(given["font"], fallback_to_default=False)
        except ValueError:
            raise click.BadParameter(f"no font {given['font']!r} is installed", param_hint="--font") from None
    return Layout(width, height, **given)


def _write_plots(store: Path, folder: Path, style: str, agents: Sequence[str], layout: Layout) -> None:
    found = read(store)
    labels = list(dict.fromkeys([label for evidence in found.boards for label in evidence.sheet.labels]))
    for label in agents:
        if label not in labels:
            raise UnknownName(f"entry of {store}", label, labels)
    folder_for(folder)
    files: dict[str, bytes] = {}
    for evidence in found.boards:
        title = re.sub(r"[^a-z0-9]+", "-", evidence.board.title.lower()).strip("-")[:MAX_TITLE_LENGTH]
        for plot in plots_of(choose(evidence, agents) if agents else evidence):
            name = f"{evidence.number + 1}-{title}-{plot.name}.{style}"
            files[name] = whole(plot, style, layout)
            if plot.left_out:
                say(
                    f"note: {name} leaves out {plot.left_out:,} agents for want of room; --agents LABEL chooses those that it has"
                )
    for name, content in files.items():
        write_output(folder / name, content)
    say(f"{folder}: {len(files)} plots")


def _write_page(store: Path, out: Path, matches: int, plugins: tuple[str, ...]) -> None:
    check_place(out)
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
    say(f"{out}: {len(kept.listed):,} of {kept.of:,} matches, {len(content) / 1e6:,.1f} MB")
