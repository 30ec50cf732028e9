"""Runs a kernel in slices, so that limits of nodes hold exactly, limits of time to a few milliseconds, and Ctrl-C at once."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

from arena.compiled.loader import FAULT
from arena.counting import GoPlain, Meter

PAUSED, GROW = 0, 3
FIRST = 4_096
"""Nodes of the first slice."""
SHORT, LONG = 0.001, 0.02
"""Seconds of a slice, with a limit of time and without."""


class Drive:
    """Calls one kernel. Registers 0 to 3 of each are its status, the nodes, the evaluations, and the nodes at which it stops."""

    def __init__(self, call: Callable[..., int], fields: tuple[Any, ...]) -> None:
        self._call = call
        self.fields = fields
        """What the kernel takes first."""
        self._slice = FIRST

    def once(self, memory: Any) -> int:
        """Call a kernel that needs no slices, and return its status."""
        return self._call(*self.fields, *memory.arguments)

    def run(self, meter: Meter, memory: Any, grow: Callable[[], None]) -> int:
        """Go on until the kernel is done, and return its status. OutOfBudget at a limit; GoPlain where it cannot go on."""
        registers = memory["registers"]
        registers[1], registers[2] = meter.nodes, meter.evaluations
        seconds = SHORT if meter.timed else LONG
        while True:
            registers[3] = min(meter.most, registers[1] + self._slice)
            began = perf_counter()
            status = self._call(*self.fields, *memory.arguments)
            meter.nodes, meter.evaluations = registers[1], registers[2]
            if status == FAULT:
                raise GoPlain("a number or an index did not fit")
            if status == GROW:
                grow()
                continue
            if status != PAUSED:
                return status
            meter.reached()
            spent = perf_counter() - began
            if spent < seconds / 2:
                self._slice *= 2
            elif spent > seconds:
                self._slice = max(FIRST, self._slice // 2)
