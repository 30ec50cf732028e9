"""The plots of solved shares by the budget of nodes or of seconds."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, inf, log10
from typing import TYPE_CHECKING

from arena.report.evidence import EFFORT_UNITS, EffortUnit, Evidence
from arena.report.palette import Palette
from arena.report.plot import MOST_LINES, Plot, legend, lines_height, room_for, share_axis, short, tick_text
from arena.results.attempts import stopped
from arena.stats.solved_share import BudgetStep, share_at, solved_by_budget

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DRAWN = 150
"""The most steps of a line that are drawn: more cannot be seen."""


def budget_plots(evidence: Evidence) -> list[Plot]:
    """The solved share against the nodes and against the seconds of an attempt; none where nothing was solved."""
    return [plot for unit in EFFORT_UNITS if (plot := _plot(evidence, unit)) is not None]


@dataclass(frozen=True, slots=True)
class _Line:
    """One agent's solved share by budget, as far as that is known."""

    steps: tuple[BudgetStep, ...]
    end: float
    """The least that an attempt spent which a limit stopped: nobody knows what it would have done with more."""

    def at(self, budget: float) -> float | None:
        return share_at(self.steps, budget) if budget <= self.end else None


def _plot(evidence: Evidence, unit: EffortUnit) -> Plot | None:
    lines = _lines(evidence, unit)
    budgets = _round_budgets([step.budget for line in lines for step in line.steps], max(line.end for line in lines))
    if not budgets:
        return None
    kept, note = room_for(evidence.ranked, MOST_LINES)
    labels = evidence.sheet.labels
    if any(line.end < budgets[-1] for line in lines):
        note = f" A line ends where a limit stopped an attempt: what more would have brought is not known.{note}"
    return Plot(
        f"budget-{unit.name}",
        f"Solved by budget of {unit.name}",
        f"The share of positions that each agent solved with at most so many {unit.name} an attempt.{note}",
        ("Agent", *[f"{budget:.10g}" for budget in budgets]),
        tuple([(labels[entry], *[lines[entry].at(budget) for budget in budgets]) for entry in evidence.ranked]),
        lines_height(len(kept)),
        lambda axes, palette: _draw(axes, palette, unit.name.title(), budgets, [(labels[entry], lines[entry]) for entry in kept]),
    )


def _lines(evidence: Evidence, unit: EffortUnit) -> list[_Line]:
    """The line of every entry, in the order of the sheet."""
    labels = evidence.sheet.labels
    used: list[list[float | None]] = [[] for _ in labels]
    ends = [inf for _ in labels]
    for match in evidence.scored:
        entry, effort = match.seats[0], match.efforts[0]
        amount = unit.of(effort)
        used[entry].append(amount if match.solved else None)
        if not match.solved and stopped(evidence.sheet.limits_of(entry), match.termination, *effort):
            ends[entry] = min(ends[entry], amount)
    return [_Line(solved_by_budget(costs), end) for costs, end in zip(used, ends, strict=True)]


def _round_budgets(budgets: Sequence[float], most: float) -> tuple[float, ...]:
    """Powers of ten around all budgets at which a share grows; `most`, up to which shares are known, instead of any above it.

    Empty where nothing is known to grow.
    """
    if not budgets:
        return ()
    low, high = floor(log10(min(budgets))), floor(log10(max(budgets))) + 1
    powers = [float(f"1e{power}") for power in range(low, high + 1)]
    if powers[-1] <= most:
        return tuple(powers)
    below = [power for power in powers if power < most]
    return (*below, most) if below else ()


def _draw(axes: "Axes", palette: Palette, name: str, budgets: Sequence[float], lines: Sequence[tuple[str, _Line]]) -> None:
    for number, (label, line) in enumerate(lines):
        steps = [step for step in line.steps if step.budget <= line.end]
        drawn = steps[:: max(1, len(steps) // DRAWN)] + steps[-1:]
        places = [budgets[0], *[step.budget for step in drawn], max(budgets[0], min(line.end, budgets[-1]))]
        shares = [0.0, *[step.share for step in drawn], steps[-1].share if steps else 0.0]
        style = palette.line(number)
        axes.plot(places, shares, label=short(label), drawstyle="steps-post", markevery=(1, max(1, len(places) // 5)), **style)
    axes.set_xscale("log")
    axes.set_xticks(budgets, _ticks(budgets))
    axes.set_xlim(budgets[0], budgets[-1])
    axes.set_xlabel(name)
    axes.minorticks_off()
    share_axis(axes)
    legend(axes)


def _ticks(budgets: Sequence[float]) -> list[str]:
    """Labels of the axis; a power of ten near the last budget has none, since one would stand on the other."""
    near = budgets[-1] / 4
    return [tick_text(budget) if budget <= near or budget == budgets[-1] else "" for budget in budgets]
