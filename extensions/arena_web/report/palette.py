"""The colours of plots. They can be distinguished by colour-blind people, and each colour comes with a marker, so that readers do
not depend on the colour alone.

M. Okabe and K. Ito, Color Universal Design, 2008; their yellow is left out, because it cannot be seen on white.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Dash: TypeAlias = str | tuple[int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of a plot."""

    ink: str = "#1b2026"
    """The colour of text and of emphasis."""
    muted: str = "#5a6570"
    grid: str = "#d8dde2"
    blue: str = "#0072b2"
    vermillion: str = "#d55e00"
    green: str = "#009e73"
    purple: str = "#cc79a7"
    orange: str = "#e69f00"
    sky: str = "#56b4e9"

    def line(self, number: int) -> dict[str, Any]:
        """Return the style of the line of an agent: its colour, marker and dash."""
        colours = (self.blue, self.vermillion, self.green, self.purple, self.orange, self.sky, self.ink, self.muted)
        round_, place = divmod(number, len(colours))
        fill = {} if round_ % 2 == 0 else {"markerfacecolor": "none"}  # after eight agents, markers are hollow
        dash = DASHES[(place + round_) % len(DASHES)]
        return {"color": colours[place], "marker": MARKERS[place], "linestyle": dash, **fill}


MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES: Sequence[Dash] = ("-", (0, (6, 2)), (0, (1, 1)), (0, (6, 2, 1, 2)))
PAPER = Palette()
"""The palette for files: dark on white."""
PAGE = Palette("#01a0f1", "#01a0f2", "#01a0f3", "#01a0f4", "#01a0f5", "#01a0f6", "#01a0f7", "#01a0f8", "#01a0f9")
"""Placeholder colours, which a page replaces by its CSS variables."""
VARIABLES = {getattr(PAGE, name): f"var(--plot-{name})" for name in Palette.__slots__}
