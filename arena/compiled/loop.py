"""What every compiled loop has: the edition of its game, a kernel that is loaded, and arrays that grow."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from arena.compiled.drive import Drive
from arena.compiled.edition import Edition
from arena.compiled.memory import Memory, require

if TYPE_CHECKING:
    from arena.compiled.specialiser import Specialiser
    from arena.counting import Meter

HUGE = 1 << 62
LEVELS = 64


def huge(number: float) -> int:
    """Return a whole number, or the largest that a kernel counts to for infinity."""
    return int(min(number, HUGE))


class Loop:
    """The compiled inner loop of a search, for one game, one heuristic, and one agent at a time."""

    kernel: ClassVar[str]
    in_place: ClassVar[bool] = False
    """Whether it can follow states that actions change in place."""
    informed: ClassVar[bool] = True
    """Whether it asks the heuristic."""
    searches: ClassVar[bool] = True
    """Whether it searches: then not games with chance, hidden information or returns beyond -1 and 1."""
    levels = LEVELS
    kept: Any = None
    """The tables that the kernel reads."""
    rules: "Specialiser"
    """The fields that the rules have in the kernel."""
    meter: "Meter"
    """Of the decision that is being made."""

    def __init__(self, edition: Edition, carried: int, memory: tuple[tuple[str, str], ...], drive: Drive) -> None:
        self.edition = edition
        self.carried = carried
        """How many numbers the estimate carries along."""
        self.options: Mapping[str, Any] = {}
        self._drive = drive
        sizes = self.sizes()
        require(8 * sum(sizes.values()), "a compiled search")
        self.memory = Memory(memory, sizes)

    def begin(self, meter: "Meter", options: Mapping[str, Any]) -> None:
        """Serve the decision whose meter this is."""
        self.meter = meter
        self.options = options

    @classmethod
    def constants(cls, edition: Edition) -> dict[str, Any]:
        """Return what the kernel is specialised to; NotCompilable where it cannot play the game."""
        return {}

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arrays for the levels that there is room for."""
        raise NotImplementedError

    def drive(self, registers: Any) -> int:
        """Run the kernel to its end and return its status."""
        return self._drive.run(self.meter, self.memory, self.grow)

    def grow(self) -> None:
        """Make room for twice as many levels."""
        self.levels *= 2
        self.memory.grow(self.sizes())
        self.memory["registers"][5] = self.levels
