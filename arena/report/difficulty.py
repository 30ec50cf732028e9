"""The plot of solved shares by the difficulty of a puzzle's positions."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from arena.report.evidence import Evidence, MatchSummary
from arena.report.palette import Palette
from arena.report.plot import MOST_LINES, Plot, legend, lines_height, room_for, share_axis, short
from arena.stats.solved_share import wilson

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS = 6
"""The most groups of positions, about equally many in each."""
FEWEST = 8
"""The fewest positions that a group should have."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A measure of how hard each position is."""

    name: str
    explained: str
    of: Mapping[int, float]
    """By round."""


@dataclass(frozen=True, slots=True)
class Group:
    """Positions that are about equally hard."""

    name: str
    rounds: frozenset[int]


@dataclass(frozen=True, slots=True)
class Share:
    """One agent's solved share of one group, with its 95 % interval."""

    solved: int
    attempts: int

    @property
    def value(self) -> float | None:
        """Solved over attempts; None without any."""
        return self.solved / self.attempts if self.attempts else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's score interval."""
        return wilson(self.solved, self.attempts)


def difficulty_plot(evidence: Evidence) -> Plot | None:
    """The share that each agent solved by how hard the positions are; None where all are equally hard."""
    scale = scale_of(tuple(evidence.scored))
    groups = () if scale is None else groups_of(scale, {match.round for match in evidence.scored})
    if scale is None or len(groups) < 2:
        return None
    shares = shares_of(evidence, groups)
    kept, note = room_for(evidence.ranked, MOST_LINES)
    labels = evidence.sheet.labels
    return Plot(
        "difficulty",
        "Solved by difficulty",
        f"The share of positions that each agent solved, by {scale.explained}. Bars are 95 % intervals.{note}",
        ("Agent", scale.name, "Solved", "Attempts", "Share", "From", "To"),
        tuple(
            [
                (labels[entry], group.name, share.solved, share.attempts, share.value, *share.interval)
                for entry in evidence.ranked
                for group, share in zip(groups, shares[entry], strict=True)
                if share.attempts
            ]
        ),
        lines_height(len(kept)),
        lambda axes, palette: _draw(axes, palette, scale.name, groups, [(labels[entry], shares[entry]) for entry in kept]),
    )


def scale_of(matches: Sequence[MatchSummary]) -> Scale | None:
    """The difficulty of positions: the least cost that anyone found, if these differ, else the nodes that agents needed.

    A position that nobody solved has no cost. None where neither tells positions apart.
    """
    costs: dict[int, float] = {}
    nodes: dict[int, list[int]] = defaultdict(list)
    for match in matches:
        if match.solved and match.cost is not None:
            costs[match.round] = min(match.cost, costs.get(match.round, match.cost))
        nodes[match.round].append(match.efforts[0].nodes)
    if len(set(costs.values())) > 1:
        return Scale("Least cost found", "the least cost of a solution that any agent found", costs)
    medians = {round_: median(found) for round_, found in nodes.items()}
    if len(set(medians.values())) > 1:
        return Scale("Median nodes", "the median of the nodes that all agents used on the position", medians)
    return None


def groups_of(scale: Scale, rounds: set[int]) -> tuple[Group, ...]:
    """The positions in at most BINS groups of about one size, equals together, and those that nobody solved apart."""
    ordered = sorted(scale.of.items(), key=lambda item: (item[1], item[0]))
    groups: list[Group] = []
    start = 0
    bins = max(2, min(BINS, len(ordered) // FEWEST))
    for number in range(1, bins + 1):
        end = max(start, round(number * len(ordered) / bins))
        while 0 < end < len(ordered) and ordered[end][1] == ordered[end - 1][1]:
            end += 1
        if end > start:
            low, high = ordered[start][1], ordered[end - 1][1]
            name = f"{low:,.4g}" if low == high else f"{low:,.4g} to {high:,.4g}"
            groups.append(Group(name, frozenset([round_ for round_, _ in ordered[start:end]])))
        start = end
    unsolved = frozenset(rounds - set(scale.of))
    return (*groups, Group("nobody", unsolved)) if unsolved else tuple(groups)


def shares_of(evidence: Evidence, groups: Sequence[Group]) -> dict[int, tuple[Share, ...]]:
    """Each entry's share of each group."""
    place = {round_: number for number, group in enumerate(groups) for round_ in group.rounds}
    counts = {entry: [[0, 0] for _ in groups] for entry in range(len(evidence.sheet.labels))}
    for match in evidence.scored:
        cell = counts[match.seats[0]][place[match.round]]
        cell[0] += bool(match.solved)
        cell[1] += 1
    return {entry: tuple([Share(*cell) for cell in cells]) for entry, cells in counts.items()}


def _draw(
    axes: "Axes", palette: Palette, name: str, groups: Sequence[Group], lines: Sequence[tuple[str, tuple[Share, ...]]]
) -> None:
    width = 0.5 / max(1, len(lines) - 1)
    for number, (label, shares) in enumerate(lines):
        style = palette.line(number)
        shift = (number - (len(lines) - 1) / 2) * min(width, 0.12)
        known = [(place + shift, share) for place, share in enumerate(shares) if share.attempts]
        for place, share in known:
            axes.plot([place, place], share.interval, color=style["color"], linewidth=1, alpha=0.55)
        axes.plot([place for place, _ in known], [share.value for _, share in known], label=short(label), **style)
    axes.set_xticks(range(len(groups)), [group.name for group in groups])
    axes.set_xlabel(name)
    share_axis(axes)
    legend(axes)
