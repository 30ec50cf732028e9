"""The base class of every compiled loop. A loop has the edition (the rules to compile) of its game, a kernel (the compiled code)
that runs in time slices, and arrays that grow.
"""

from array import array
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from arena import State
from arena.api.errors import Interrupted, describe
from arena.api.search import GoPlain, Meter
from arena.clock import perf_counter
from arena_compiled.edition import Edition
from arena_compiled.loader import FAULT
from arena_compiled.memory import Memory, require

if TYPE_CHECKING:
    from arena.api.search import Meter

PAUSED, FOUND, OVER, GROW = 0, 1, 2, 3
"""The statuses that a kernel returns, in addition to FAULT."""
FIRST_SLICE_NODES = 4_096
TIMED_SLICE_SECONDS, SLICE_SECONDS = 0.001, 0.02
"""The length of a slice for decisions with a time limit, and without one."""


class Drive:
    """Calls one kernel. Its registers 0 to 3 are the status, the number of nodes, the number of evaluations, and the number of
    nodes at which it stops.
    """

    def __init__(self, call: Callable[..., int], fields: tuple[Any, ...]) -> None:
        self._call = call
        self.fields = fields
        """The first arguments of the kernel."""
        self._slice = FIRST_SLICE_NODES

    def once(self, memory: Any) -> int:
        """Call a kernel that needs no slices, and return its status."""
        return self._call(*self.fields, *memory.arguments)

    def run(self, meter: Meter, memory: Any, grow: Callable[[], None]) -> int:
        """Run the kernel until it is done, and return its status. Raises OutOfBudget at a limit, and GoPlain if the decision has
        to continue uncompiled.
        """
        registers = memory["registers"]
        registers[1], registers[2] = meter.nodes, meter.evaluations
        seconds = TIMED_SLICE_SECONDS if meter.timed else SLICE_SECONDS
        while True:
            registers[3] = min(meter.most, registers[1] + self._slice)
            began = perf_counter()
            status = self._call(*self.fields, *memory.arguments)
            meter.nodes, meter.evaluations = registers[1], registers[2]
            if status == FAULT:
                raise GoPlain("a number or an index was out of range")
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
                self._slice = max(FIRST_SLICE_NODES, self._slice // 2)


MAX_COUNT = 1 << 62
FIRST_LEVELS = 64
MOST_ENDS = 4_097
"""The number of different returns that a search keeps: one more than an uncompiled search remembers."""


def clip_count(number: float) -> int:
    """Return a number as an integer. Infinity becomes the largest count that a kernel can hold."""
    return int(min(number, MAX_COUNT))


class Loop:
    """The compiled inner loop of a search. It belongs to one game and one heuristic, and is used by one agent at a time."""

    kernel: ClassVar[str]
    expansions: ClassVar[int] = 0
    """The register that counts expanded states, in loops for solvers; 0 if the loop does not count them."""
    in_place: ClassVar[bool] = False
    """True if the loop supports states that actions change in place."""
    informed: ClassVar[bool] = True
    """True if the loop uses the heuristic."""
    searches: ClassVar[bool] = True
    """True if the loop searches. Searches do not support games with chance, hidden information or returns beyond -1 and 1."""
    levels = FIRST_LEVELS
    kept: Any = None
    """The tables that the kernel reads."""
    meter: "Meter"
    """The meter of the current decision."""

    def __init__(self, edition: Edition, carried: int, memory: tuple[tuple[str, str], ...], drive: Drive) -> None:
        self.edition = edition
        self.carried = carried
        """The number of values that the estimate keeps along with a state."""
        self.options: Mapping[str, Any] = {}
        self._drive = drive
        sizes = self.sizes()
        require(8 * sum(sizes.values()), "a compiled search")
        self.memory = Memory(memory, sizes)

    def begin(self, meter: "Meter", options: Mapping[str, Any]) -> None:
        """Prepare for a decision with this meter."""
        self.meter = meter
        self.options = options

    @classmethod
    def constants(cls, edition: Edition) -> dict[str, Any]:
        """Return the constants that are filled into the kernel. Raises NotCompilable if the loop does not support the game."""
        return {}

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arrays for the current capacity, which is a number of levels."""
        raise NotImplementedError

    def encode(self, state: State) -> "array[int]":
        """Return a state as numbers. Raises GoPlain if that fails, so that the uncompiled search decides instead."""
        try:
            return array("q", self.edition.encode(state))
        except Interrupted:
            raise
        except OverflowError:
            raise GoPlain("the state does not fit into 64 bits") from None
        except Exception as error:
            raise GoPlain(f"encode raised {describe(error)}") from error

    def read_ends(self) -> list[float]:
        """Return the different returns that a search has met, except -1 and 1."""
        ends = self.memory["ends"]
        return list(ends[1 : 1 + int(ends[0])])

    def drive(self, registers: Any) -> int:
        """Run the kernel to its end and return its status."""
        if self.expansions:
            registers[self.expansions] = self.meter.expanded
        try:
            return self._drive.run(self.meter, self.memory, self.grow)
        finally:
            if self.expansions:
                self.meter.expanded = int(registers[self.expansions])

    def grow(self) -> None:
        """Double the capacity, which is a number of levels."""
        self.levels *= 2
        self.memory.grow(self.sizes())
        self.memory["registers"][5] = self.levels
