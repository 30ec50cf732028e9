"""The page of `arena compare --across`: its text and tables, and plots over all domains. A domain is a board with puzzles."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import isfinite
from typing import TYPE_CHECKING, Any

from arena.api.results import figures
from arena.stats import SIGNIFICANCE_LEVEL
from arena_web.report.comparison_page import MAX_SCATTER_PLOTS, POLICY, read_part
from arena_web.report.evidence import Findings
from arena_web.report.html_tables import Table
from arena_web.report.page import drawing, environment, origin, stacks_of, style
from arena_web.report.palette import Palette
from arena_web.report.plot import MAX_LINES, Plot, fit_label, log_axis, row_height

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Points = dict[str, list[tuple[int, float, float]]]
"""For each domain, the numbers of the rounds that two entries both solved, with the nodes of each entry."""


def domains_page(found: Findings, names: Sequence[str], text: str, document: Mapping[str, Any], domains: Sequence[str]) -> bytes:
    """Return the whole page in UTF-8. `text` contains blocks of sentences and HTML tables; `domains` names the boards."""
    parts: list[Table | str] = []
    heading, *blocks = text.split("\n\n")
    said = heading
    for block in blocks:
        if part := read_part(said.removesuffix(":"), block):
            parts.append(part)
        said = block
    plots: list[Plot | None] = [
        effects_plot(pair, f"effects-{number}") for number, pair in enumerate(document["pairs"][:MAX_SCATTER_PLOTS], 1)
    ]
    for number, (one, other) in enumerate(list(combinations(names, 2))[:MAX_SCATTER_PLOTS], 1):
        plots.append(ratio_plot(one, other, _points(found, one, other, domains), f"ratio-{number}"))
    title = figures.listing(names) if len(names) == 2 else f"{len(names)} entries compared"
    page = (
        environment()
        .get_template("domains.html")
        .render(
            policy=POLICY,
            style=style(),
            drawing=drawing,
            run=found.run,
            title=title,
            summary=heading,
            parts=parts,
            stacks=stacks_of([plot for plot in plots if plot is not None]),
            origin=origin(found),
        )
    )
    return page.encode("utf-8", "backslashreplace")


def _points(found: Findings, one: str, other: str, domains: Sequence[str]) -> Points:
    points: Points = {}
    for evidence, domain in zip(found.boards, domains, strict=True):
        labels = evidence.sheet.labels
        if evidence.sheet.kind != "puzzle" or one not in labels or other not in labels:
            continue
        met: dict[int, dict[int, int]] = {labels.index(one): {}, labels.index(other): {}}
        if not met.keys() <= evidence.list_searching():
            continue
        for match in evidence.scored:
            if match.solved and match.seats[0] in met:
                met[match.seats[0]][match.round] = match.effort.nodes
        mine, theirs = met.values()
        both = sorted(mine.keys() & theirs.keys())
        if both:
            points[domain] = [(number + 1, mine[number], theirs[number]) for number in both]
    return points


def ratio_plot(one: str, other: str, points: Points, name: str) -> Plot | None:
    """Return a plot with a point for each round that both entries solved; None if there are no such rounds. A point shows
    the nodes of `one` and the ratio of the nodes of both entries. Each domain has a colour and a marker.
    """
    if not points:
        return None
    shown = list(points)[:MAX_LINES]
    fewer = sum(mine < theirs for group in points.values() for _, mine, theirs in group)
    count = sum(map(len, points.values()))
    text = (
        f"Each point is a round that both solved: the horizontal axis has the nodes of {one}, the vertical axis the nodes of "
        f"{other} divided by them. {one} needed fewer on {fewer:,} of {figures.amount(count, 'round')}, above the line."
    )
    return Plot(
        name,
        f"Generated nodes of {other} divided by those of {one}",
        text,
        ("Domain", "Round", f"Generated nodes of {one}", f"Generated nodes of {other}"),
        tuple([(domain, *point) for domain, group in points.items() for point in group]),
        3.4,
        lambda axes, palette: _draw_ratios(axes, palette, (one, other), [points[domain] for domain in shown]),
        tuple(shown),
    )


def _draw_ratios(
    axes: "Axes", palette: Palette, labels: tuple[str, str], groups: Sequence[list[tuple[int, float, float]]]
) -> None:
    groups = [[(number, max(1, mine), max(1, theirs)) for number, mine, theirs in group] for group in groups]
    ratios = [theirs / mine for group in groups for _, mine, theirs in group]
    nodes = [mine for group in groups for _, mine, _ in group]
    for number, group in enumerate(groups):
        look = {**palette.line(number), "linestyle": "none", "alpha": 0.75}
        axes.plot([mine for _, mine, _ in group], [theirs / mine for _, mine, theirs in group], **look)
    axes.axhline(1, color=palette.muted, linewidth=1)
    log_axis(axes.xaxis, min(nodes) / 1.5, max(nodes) * 1.5)
    log_axis(axes.yaxis, min(*ratios, 0.5) / 1.2, max(*ratios, 2.0) * 1.2)
    axes.set_xlabel(fit_label(axes, f"Generated nodes of {labels[0]}", 0.85))
    axes.set_ylabel(fit_label(axes, f"{labels[1]} / {labels[0]}", 0.85))


def effects_plot(pair: Mapping[str, Any], name: str) -> Plot:
    """Return a plot of the effect in each domain with its interval, and below them the overall result if there is one."""
    rows = [(effect["domain"], effect["value"], effect["low"], effect["high"]) for effect in pair["domains"]]
    if (overall := pair["overall"]) is not None:
        rows.append(("all domains", overall["value"], overall["low"], overall["high"]))
    what = "The ratio" if pair["ratio"] else "The difference of the shares of rounds" if "by_sign" in pair else "The difference"
    by = f" by {pair['by']}" if pair["by"] else ""  # the heading of the page says it otherwise
    corrected = overall is not None and overall["chance"] < SIGNIFICANCE_LEVEL
    lines = f"Lines are 95 % intervals{', for all domains the corrected interval' if corrected else ''}."
    return Plot(
        name,
        f"{pair['one']} and {pair['other']} by domain",
        f"{what}{by}, of {pair['one']} to {pair['other']}. {lines}",
        ("Domain", "Ratio" if pair["ratio"] else "Difference", "From", "To"),
        tuple(rows),
        row_height([row[0] for row in rows]),
        lambda axes, palette: _draw_effects(axes, palette, rows, ratio=pair["ratio"]),
    )


def _draw_effects(
    axes: "Axes", palette: Palette, rows: Sequence[tuple[str, float, float | None, float | None]], *, ratio: bool
) -> None:
    for place, (domain, value, low, high) in enumerate(rows):
        colour = palette.vermillion if domain == "all domains" else palette.blue
        if low is not None and high is not None:
            axes.plot([low, high], [place, place], color=colour, linewidth=2.2, solid_capstyle="butt")
        axes.plot([value], [place], "o", color=colour, markersize=6)
    axes.axvline(1 if ratio else 0, color=palette.muted, linewidth=0.8)
    axes.set_yticks(range(len(rows)), [fit_label(axes, row[0]) for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    if ratio:
        ends = [end for row in rows for end in row[1:] if end is not None and isfinite(end)]
        log_axis(axes.xaxis, min(*ends, 0.9) / 1.1, max(*ends, 1.1) * 1.1)
    axes.set_xlabel("Ratio" if ratio else "Difference")
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
