"""The cactus plots of a puzzle board: how many positions each agent solves with so many nodes, or so many seconds, each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from arena.report.evidence import EFFORT_UNITS, EffortUnit, Evidence
from arena.report.palette import Palette
from arena.report.plot import MOST_LINES, Plot, count_axis, legend, lines_height, log_axis, room_for, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DRAWN = 150
"""The most points of a line: more cannot be seen."""
COUNTS = 8
"""The most columns of the table."""


def cactus_plots(evidence: Evidence) -> list[Plot]:
    """The cactus plots by nodes and by seconds; none where nothing was solved."""
    return [plot for unit in EFFORT_UNITS if (plot := _plot(evidence, unit)) is not None]


def _plot(evidence: Evidence, unit: EffortUnit) -> Plot | None:
    labels = evidence.sheet.labels
    solved: list[list[float]] = [[] for _ in labels]
    for match in evidence.scored:
        if match.solved:
            solved[match.seats[0]].append(unit.of(match.efforts[0]))
    sorted_efforts = [sorted(efforts) for efforts in solved]
    most = max(map(len, sorted_efforts), default=0)
    if most == 0:
        return None
    kept, note = room_for(evidence.ranked, MOST_LINES)
    counts = _round_counts(most)
    return Plot(
        f"cactus-{unit.name}",
        f"Positions solved, by {unit.name}",
        f"The solved positions of each agent, sorted by their {unit.name}: the line says with how many {unit.name} each it "
        f"solves so many of them (a cactus plot). The further right and the lower, the better.{note}",
        ("Agent", *[f"{count:,} solved" for count in counts]),
        tuple([(labels[entry], *[_at(sorted_efforts[entry], count) for count in counts]) for entry in evidence.ranked]),
        lines_height(len(kept)),
        lambda axes, palette: _draw(axes, palette, unit.name.title(), [(labels[entry], sorted_efforts[entry]) for entry in kept]),
    )


def _at(efforts: Sequence[float], count: int) -> float | None:
    """The effort with which `count` positions are solved; None if they are never so many."""
    return efforts[count - 1] if count <= len(efforts) else None


def _round_counts(most: int) -> list[int]:
    """1, 2, 5, 10 ... below `most`, and `most`, thinned out to COUNTS."""
    counts = [digit * 10**power for power in range(len(str(most))) for digit in (1, 2, 5) if digit * 10**power < most]
    return [*counts[-(COUNTS - 1) :], most]


def _draw(axes: "Axes", palette: Palette, name: str, lines: Sequence[tuple[str, list[float]]]) -> None:
    for number, (label, efforts) in enumerate(lines):
        every = max(1, len(efforts) // DRAWN)
        places = sorted({*range(0, len(efforts), every), *([len(efforts) - 1] if efforts else [])})
        drawn = [efforts[place] for place in places]
        marks = (0, max(1, len(places) // 5))
        axes.plot([place + 1 for place in places], drawn, label=short(label), markevery=marks, **palette.line(number))
    known = [effort for _, efforts in lines for effort in efforts]
    log_axis(axes.yaxis, min(known) / 1.5, max(known) * 1.5)
    axes.set_xlim(left=0)
    axes.set_xlabel("Positions solved")
    axes.set_ylabel(f"{name} each")
    count_axis(axes)
    legend(axes)
