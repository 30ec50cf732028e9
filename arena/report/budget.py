"""What a budget of nodes or of seconds would have bought in a puzzle."""

from collections.abc import Callable, Sequence
from math import floor, log10
from typing import TYPE_CHECKING

from arena.report.evidence import Effort, Evidence
from arena.report.lines import legend, share_axis
from arena.report.palette import Palette
from arena.report.plot import MOST_LINES, Plot, room_for, short
from arena.stats.budget import Step, share_at, solved_by_budget

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DRAWN = 150
"""How many steps of a line are drawn: more than that cannot be seen."""


def budget_plots(evidence: Evidence) -> list[Plot]:
    """The solved share against the nodes and against the seconds of an attempt; none where nothing was solved."""
    nodes = _plot(evidence, "nodes", "Nodes", 1.0, lambda effort: effort.nodes)
    seconds = _plot(evidence, "seconds", "Seconds", 1e-6, lambda effort: effort.seconds)
    return [plot for plot in (nodes, seconds) if plot is not None]


def _plot(evidence: Evidence, unit: str, heading: str, least: float, spent: Callable[[Effort], float]) -> Plot | None:
    """`least` is where less is drawn, since the axis is logarithmic."""
    used: dict[int, list[float | None]] = {entry: [] for entry in range(len(evidence.sheet.labels))}
    for match in evidence.scored:
        used[match.seats[0]].append(max(least, spent(match.efforts[0])) if match.solved else None)
    steps = {entry: solved_by_budget(costs) for entry, costs in used.items()}
    budgets = _round_budgets([step.budget for found in steps.values() for step in found])
    if not budgets:
        return None
    kept, note = room_for(evidence.ranked, MOST_LINES)
    labels = evidence.sheet.labels
    return Plot(
        f"budget-{unit}",
        f"Solved by budget of {unit}",
        f"The share of positions that each agent solved with at most so many {unit} an attempt.{note}",
        ("Agent", *[f"{budget:g}" for budget in budgets]),
        tuple([(labels[entry], *[share_at(steps[entry], budget) for budget in budgets]) for entry in evidence.ranked]),
        2.5 + 0.16 * ((len(kept) + 1) // 2),
        lambda axes, palette: _draw(axes, palette, heading, budgets, [(labels[entry], steps[entry]) for entry in kept]),
    )


def _round_budgets(budgets: Sequence[float]) -> tuple[float, ...]:
    """Powers of ten around all budgets at which a share grows."""
    if not budgets:
        return ()
    low, high = floor(log10(min(budgets))), floor(log10(max(budgets))) + 1
    return tuple([float(f"1e{power}") for power in range(low, high + 1)])


def _draw(
    axes: "Axes", palette: Palette, name: str, budgets: Sequence[float], lines: Sequence[tuple[str, tuple[Step, ...]]]
) -> None:
    for number, (label, steps) in enumerate(lines):
        drawn = steps[:: max(1, len(steps) // DRAWN)] + steps[-1:]
        places = [budgets[0], *[step.budget for step in drawn], budgets[-1]]
        shares = [0.0, *[step.share for step in drawn], steps[-1].share if steps else 0.0]
        style = palette.line(number)
        axes.plot(places, shares, label=short(label), drawstyle="steps-post", markevery=(1, max(1, len(places) // 5)), **style)
    axes.set_xscale("log")
    axes.set_xticks(budgets, [f"{budget:,g}" if 1e-4 <= budget < 1e6 else f"{budget:.0e}" for budget in budgets])
    axes.set_xlim(budgets[0], budgets[-1])
    axes.set_xlabel(name)
    axes.minorticks_off()
    share_axis(axes, "Solved")
    legend(axes)
