"""The command report: a store as a page, or as a file for each plot."""

import re
from pathlib import Path

import click

from arena.api.cli import load, plugin_option, results_alone, say
from arena.api.spec import escape_line
from arena.api.store import Store
from arena_web.panels import collect_panels
from arena_web.report.carried import carry_matches
from arena_web.report.drawing import plots_of, require, whole
from arena_web.report.evidence import findings, read
from arena_web.report.output_files import check_place, folder_for, write_output
from arena_web.report.page import key_of, page

MAX_TITLE_LENGTH = 60
"""Characters of a board's title in the name of a file."""


@click.command()
@click.argument("store")
@click.option("-o", "--output", "out", metavar="FILE|DIR", required=True, help="The page, or the folder for the plots.")
@click.option("--format", "style", type=click.Choice(["html", "png", "svg", "pdf"]), default="html", show_default=True)
@click.option("--matches", type=click.IntRange(0, 10**6), default=2000, show_default=True, help="How many the page carries.")
@plugin_option
def report(store: str, out: str, style: str, matches: int, plugins: tuple[str, ...]) -> int:
    """Write what STORE holds as one page to look at, or each of its plots as a file."""
    require()
    with results_alone():  # whatever a plugin prints, there is no result on stdout
        if style == "html":
            _write_page(Path(store), Path(out), matches, plugins)
        else:
            _write_plots(Path(store), Path(out), style)
    return 0


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


def _write_plots(store: Path, out: Path, style: str) -> None:
    found = read(store)
    folder_for(out)
    files: dict[str, bytes] = {}
    for evidence in found.boards:
        title = re.sub(r"[^a-z0-9]+", "-", evidence.board.title.lower()).strip("-")[:MAX_TITLE_LENGTH]
        files |= {f"{evidence.number + 1}-{title}-{plot.name}.{style}": whole(plot, style) for plot in plots_of(evidence)}
    for name, content in files.items():
        write_output(out / name, content)
    say(f"{out}: {len(files)} plots")
