"""The plots of a puzzle board: the solved share and the quality by budget, the cactus plot, and the scatter plot of two entries.
All but the last exist for nodes and for seconds; the last counts nodes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor, inf, log10
from typing import TYPE_CHECKING, Literal, NamedTuple

from arena.api.results import MIN_SECONDS, figures
from arena_records.budgets import BudgetStep, quality_by_budget, share_at
from arena_web.report.evidence import Effort, Evidence, MatchSummary
from arena_web.report.palette import Palette
from arena_web.report.plot import (
    MAX_LINES,
    Plot,
    count_axis,
    fit_label,
    log_axis,
    room_for,
    share_axis,
    tick_text,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Unit = Literal["nodes", "seconds"]
UNITS: tuple[Unit, ...] = ("nodes", "seconds")
Quality = Callable[[MatchSummary], float]
"""The quality of the solution of a match, from 0 to 1."""
LEAST = {"nodes": 1.0, "seconds": MIN_SECONDS}
"""The smallest amount that the logarithmic axis of a unit shows."""
SCALES = {"nodes": "Generated nodes", "seconds": "Seconds"}
"""The labels of the axes."""
TITLES = {"nodes": "nodes", "seconds": "time"}
MAX_LINE_POINTS = 150
"""The maximum number of points of a line; further points would not be visible."""
MAX_CACTUS_COLUMNS = 8
"""The maximum number of columns in the table behind a cactus plot."""
MAX_SCATTER_POINTS = 1_000
"""The maximum number of points in a scatter plot; more points are hard to distinguish and make a page slow."""


@dataclass(frozen=True, slots=True)
class _Line:
    """The solved share, or the mean quality, of one agent by budget, as far as it is known."""

    steps: tuple[BudgetStep, ...]
    end: float
    """The smallest number of nodes, or seconds, after which a limit stopped an attempt. It is not known whether such an attempt
    would succeed with a larger budget.
    """

    def at(self, budget: float) -> float | None:
        return share_at(self.steps, budget) if budget <= self.end else None


def _list_shown(evidence: Evidence, unit: Unit) -> list[int]:
    """Return the entries of a plot, from the best to the worst: those that report nodes, or those whose times can be compared."""
    if unit == "nodes":
        searching = evidence.list_searching()
        return [entry for entry in evidence.ranked if entry in searching]
    timed = {row["agent"] for row in evidence.board.rows if row["seconds_per_attempt"] is not None}
    return [entry for entry in evidence.ranked if evidence.sheet.labels[entry] in timed]


def _describe_idle(evidence: Evidence, unit: Unit) -> str:
    """Return a sentence about the entries without a line by nodes, after a space; an empty string if there are none."""
    shown = _list_shown(evidence, "nodes")
    idle = [evidence.sheet.labels[entry] for entry in evidence.ranked if entry not in shown]
    if unit == "seconds" or not idle:
        return ""
    verbs = ("reports", "is") if len(idle) == 1 else ("report", "are")
    return f" {figures.listing(idle)} {verbs[0]} no nodes and {verbs[1]} left out."


def _amount_of(effort: Effort, unit: Unit) -> float:
    return effort.nodes if unit == "nodes" else effort.seconds


def budget_plot(evidence: Evidence, unit: Unit = "nodes") -> Plot | None:
    """Return the plot of the solved share against the nodes or the seconds of an attempt; None if nothing was solved."""
    text = f"The share of attempts that each agent solves with at most this many {unit}."
    return _plot_by_budget(evidence, unit, "budget", "Solved", text, lambda match: 1.0)


def quality_plot(evidence: Evidence, unit: Unit = "nodes") -> Plot | None:
    """Return the plot of the mean quality of solutions against the nodes or the seconds of an attempt.

    The quality of a solution is the lowest cost of any solution of its round, divided by its own cost, and 0 for an attempt that
    has none: the score of the satisficing track of the International Planning Competition. The result is None if all solutions of
    each round cost the same, as the solved share shows the same then, and if they have no costs.
    """
    costs = [(match.round, match.cost) for match in evidence.scored if match.solved and match.cost is not None]
    best = dict(sorted(costs, reverse=True))
    if all(cost == best[round_] for round_, cost in costs):
        return None
    text = (
        f"The mean quality of the solutions that each agent finds with at most this many {unit} per attempt. The quality of a "
        "solution is the lowest cost that an agent of this page found in the round, divided by its own cost. An attempt "
        "without a solution counts as 0."
    )
    return _plot_by_budget(
        evidence, unit, "quality", "Quality", text, lambda match: best[match.round] / match.cost if match.cost else 1.0
    )


def _plot_by_budget(evidence: Evidence, unit: Unit, name: str, title: str, text: str, quality: Quality) -> Plot | None:
    lines, shown = _budget_lines(evidence, unit, quality), _list_shown(evidence, unit)
    drawn = [lines[entry] for entry in shown]
    budgets = _round_budgets([step.budget for line in drawn for step in line.steps], max([line.end for line in drawn], default=0))
    if not budgets:
        return None
    kept, note = room_for(shown, MAX_LINES)
    note = f"{_describe_idle(evidence, unit)}{note}"
    labels = evidence.sheet.labels
    if any(line.end < budgets[-1] for line in drawn):
        note = f" A line ends at the {unit} at which a limit stopped an attempt; beyond this, its values are unknown.{note}"
    return Plot(
        f"{name}-{unit}",
        f"{title} by budget of {TITLES[unit]}",
        f"{text}{note}",
        ("Agent", *[f"{budget:.10g}" for budget in budgets]),
        tuple([(labels[entry], *[lines[entry].at(budget) for budget in budgets]) for entry in shown]),
        2.5,
        lambda axes, palette: _draw_budget(axes, palette, budgets, [lines[entry] for entry in kept], unit, title),
        tuple([labels[entry] for entry in kept]),
        len(shown) - len(kept),
    )


def _budget_lines(evidence: Evidence, unit: Unit, quality: Quality) -> list[_Line]:
    """Return the line of every entry, in the order of the sheet."""
    labels = evidence.sheet.labels
    attempts: list[list[tuple[float, float] | None]] = [[] for _ in labels]
    ends = [inf for _ in labels]
    for match in evidence.scored:
        entry, amount = match.seats[0], max(LEAST[unit], _amount_of(match.effort, unit))
        attempts[entry].append((amount, quality(match)) if match.solved else None)
        if not match.solved and evidence.sheet.was_stopped(entry, match.termination, *match.effort):
            ends[entry] = min(ends[entry], amount)
    return [_Line(quality_by_budget(found), end) for found, end in zip(attempts, ends, strict=True)]


def _round_budgets(budgets: Sequence[float], most: float) -> tuple[float, ...]:
    """Return powers of ten that enclose all budgets at which a share grows. A power above `most` (the largest budget for which
    shares are known) is replaced by `most`.

    The result is empty when no known share grows.
    """
    if not budgets:
        return ()
    low, high = floor(log10(min(budgets))), floor(log10(max(budgets))) + 1
    powers = [float(f"1e{power}") for power in range(low, high + 1)]
    if powers[-1] <= most:
        return tuple(powers)
    below = [power for power in powers if power < most]
    return (*below, most) if below else ()


def _draw_budget(
    axes: "Axes", palette: Palette, budgets: Sequence[float], lines: Sequence[_Line], unit: Unit, label: str
) -> None:
    for number, line in enumerate(lines):
        steps = [step for step in line.steps if step.budget <= line.end]
        drawn = steps[:: max(1, len(steps) // MAX_LINE_POINTS)] + steps[-1:]
        places = [budgets[0], *[step.budget for step in drawn], max(budgets[0], min(line.end, budgets[-1]))]
        shares = [0.0, *[step.share for step in drawn], steps[-1].share if steps else 0.0]
        style = palette.line(number)
        axes.plot(places, shares, drawstyle="steps-post", markevery=(1, max(1, len(places) // 5)), **style)
    axes.set_xscale("log")
    near = budgets[-1] / 4  # otherwise the labels of a power of ten and of the last budget could overlap
    axes.set_xticks(budgets, [tick_text(budget) if budget <= near or budget == budgets[-1] else "" for budget in budgets])
    axes.set_xlim(budgets[0], budgets[-1])
    axes.set_xlabel(SCALES[unit])
    axes.minorticks_off()
    share_axis(axes, label)


def cactus_plot(evidence: Evidence, unit: Unit = "nodes") -> Plot | None:
    """Return the cactus plot, which shows how many attempts each agent solves if it may use a given number of nodes or seconds
    per attempt; None if nothing was solved.
    """
    labels, shown = evidence.sheet.labels, _list_shown(evidence, unit)
    solved: list[list[float]] = [[] for _ in labels]
    for match in evidence.scored:
        if match.solved:
            solved[match.seats[0]].append(_amount_of(match.effort, unit))
    for amounts in solved:
        amounts.sort()
    most = max([len(solved[entry]) for entry in shown], default=0)
    if most == 0:
        return None
    kept, note = room_for(shown, MAX_LINES)
    counts = [digit * 10**power for power in range(len(str(most))) for digit in (1, 2, 5) if digit * 10**power < most]
    counts = [*counts[-(MAX_CACTUS_COLUMNS - 1) :], most]
    return Plot(
        f"cactus-{unit}",
        f"Attempts solved, by {TITLES[unit]}",
        f"The solved attempts of each agent, sorted by their {unit}: the line shows how many of them need at "
        f"most this many {unit} each (a cactus plot). Further right and lower is better.{_describe_idle(evidence, unit)}{note}",
        ("Agent", *[f"{count:,} solved" for count in counts]),
        tuple(
            [
                (labels[entry], *[solved[entry][count - 1] if count <= len(solved[entry]) else None for count in counts])
                for entry in shown
            ]
        ),
        2.5,
        lambda axes, palette: _draw_cactus(axes, palette, [solved[entry] for entry in kept], unit),
        tuple([labels[entry] for entry in kept]),
        len(shown) - len(kept),
    )


def _draw_cactus(axes: "Axes", palette: Palette, lines: Sequence[list[float]], unit: Unit) -> None:
    for number, efforts in enumerate(lines):
        every = max(1, len(efforts) // MAX_LINE_POINTS)
        places = sorted({*range(0, len(efforts), every), *([len(efforts) - 1] if efforts else [])})
        drawn = [max(LEAST[unit], efforts[place]) for place in places]
        marks = (0, max(1, len(places) // 5))
        axes.plot([place + 1 for place in places], drawn, markevery=marks, **palette.line(number))
    known = [max(LEAST[unit], effort) for efforts in lines for effort in efforts]
    log_axis(axes.yaxis, min(known) / 1.5, max(known) * 1.5)
    axes.set_xlim(left=0)
    axes.set_xlabel("Attempts solved")
    axes.set_ylabel(f"{SCALES[unit]} each")
    count_axis(axes)


class ScatterPoint(NamedTuple):
    """The nodes that two entries used on one position; None for an entry that has not solved it."""

    round: int
    one: int | None
    other: int | None


def scatter_plot(evidence: Evidence, one: int, other: int, name: str = "scatter") -> Plot | None:
    """Return a plot of the nodes that two entries, given by number, used on each position that at least one of them solved; None
    if there is no such position, or if one of the entries reports no nodes.
    """
    if not {one, other} <= evidence.list_searching():
        return None
    met: dict[int, dict[int, int | None]] = {one: {}, other: {}}
    for match in evidence.scored:
        if match.seats[0] in met:
            met[match.seats[0]][match.round] = match.effort.nodes if match.solved else None
    both = sorted(met[one].keys() & met[other].keys())
    points = [ScatterPoint(round_, met[one][round_], met[other][round_]) for round_ in both]
    points = [point for point in points if point.one is not None or point.other is not None]
    if not points:
        return None
    labels = evidence.sheet.labels[one], evidence.sheet.labels[other]
    kept = points[:: -(-len(points) // MAX_SCATTER_POINTS)]
    note = f" The plot and its numbers have {len(kept):,} of {len(points):,} rounds." if len(kept) < len(points) else ""
    return Plot(
        name,
        f"{labels[0]} and {labels[1]}, position by position",
        f"{_describe_points(points, labels)}{note}",
        ("Round", f"Generated nodes of {labels[0]}", f"Generated nodes of {labels[1]}"),
        tuple([(point.round + 1, point.one, point.other) for point in kept]),
        4.0,
        lambda axes, palette: _draw_scatter(axes, palette, labels, kept),
    )


def _describe_points(points: Sequence[ScatterPoint], labels: tuple[str, str]) -> str:
    """Describe in words how many points lie on either side of the diagonal and at the edges."""
    one, other = labels
    pairs = [(point.one, point.other) for point in points if point.one is not None and point.other is not None]
    fewer = [sum(a < b for a, b in pairs), sum(b < a for a, b in pairs)]
    alone = [sum(point.other is None for point in points), sum(point.one is None for point in points)]
    text = (
        f"Each point is a round: the horizontal axis has the nodes of {one}, the vertical axis the nodes of {other}. "
        f"Of the {figures.amount(len(pairs), 'round')} that both solved, {one} needed fewer nodes on {fewer[0]:,} "
        f"(above the line) and {other} on {fewer[1]:,} (below it); on {len(pairs) - sum(fewer):,}, both needed equally many "
        "(on the line)."
    )
    if any(alone):
        text += (
            f" Triangles at the edge are rounds that only one of them solved: {alone[0]:,} by {one} (top), {alone[1]:,} by "
            f"{other} (right)."
        )
    return text


def _draw_scatter(axes: "Axes", palette: Palette, labels: tuple[str, str], points: Sequence[ScatterPoint]) -> None:
    known = [max(1, nodes) for point in points for nodes in (point.one, point.other) if nodes is not None]
    low, high = min(known) / 1.5, max(known) * 1.5
    edge = high * (high / low) ** 0.06
    axes.plot([low, high], [low, high], color=palette.muted, linewidth=1)
    groups = (
        ("o", palette.blue, [point for point in points if point.one is not None and point.other is not None]),
        ("^", palette.vermillion, [point for point in points if point.other is None]),
        (">", palette.green, [point for point in points if point.one is None]),
    )
    for marker, colour, group in groups:
        across = [edge if point.one is None else max(1, point.one) for point in group]
        up = [edge if point.other is None else max(1, point.other) for point in group]
        axes.scatter(across, up, s=14, marker=marker, color=colour, alpha=0.7, linewidths=0)
    for axis in (axes.xaxis, axes.yaxis):
        log_axis(axis, low, edge * (high / low) ** 0.03)
    axes.set_aspect("equal")
    axes.set_xlabel(fit_label(axes, f"Generated nodes of {labels[0]}", 0.85))
    axes.set_ylabel(fit_label(axes, f"Generated nodes of {labels[1]}", 0.85))
