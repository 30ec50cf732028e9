"""The loops of best-first searches of a graph: the whole search, from the start to a goal."""

from typing import Any, ClassVar

from arena.compiled.edition import Edition
from arena.compiled.fields import NotCompilable
from arena.compiled.loop import Loop
from arena.compiled.memory import Memory
from arena.game import Puzzle

OVER = 2
ROWS = 1_024
KEPT = 1 << 18
"""The most states for which there is room between decisions."""


class AStarLoop(Loop):
    """Finds the first goal that is expanded, as `best_first` of the agents does. Option: the `weight` of the heuristic."""

    kernel = "best-first"
    levels = ROWS
    costed: ClassVar[bool] = True

    @classmethod
    def constants(cls, edition: Edition) -> dict[str, Any]:
        """Return what the kernel is specialised to."""
        if not isinstance(edition.game, Puzzle):
            raise NotCompilable("it is no puzzle")
        return {"COSTED": cls.costed, "INFORMED": cls.informed, "STEP_COST": edition.has("step_cost")}

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arrays for the states that there is room for."""
        rows = self.levels
        return {
            "registers": 12, "numbers": 1, "states": rows * self.edition.words, "carried": rows * self.carried, "costs": rows,
            "links": rows * 2, "actions": self.edition.width, "ranks": rows * 4 + 2, "orders": rows * 4 + 2, "table": rows * 2,
        }  # fmt: skip

    def grow(self) -> None:
        """Make room for twice as many states; the kernel fills the larger table anew."""
        super().grow()
        self._emptied()

    def fit(self) -> None:
        """Begin with as much of the table as the last search needed, which is quicker to clear than all there is."""
        while ROWS < self.levels > 2 * self.memory["registers"][4]:
            self.levels //= 2
        self._emptied()

    def _emptied(self) -> None:
        self.memory.clear("table", 2 * self.levels)
        self.memory["registers"][11] = 2 * self.levels - 1

    def __call__(self, start: Any) -> list[Any] | None:
        """Return the actions that lead to a goal; None where the states run out."""
        memory = self.memory
        registers, states = memory["registers"], memory["states"]
        for place, word in enumerate(self.edition.encode(start)):
            states[place] = word
        self.fit()
        registers[0], registers[5], registers[7] = -1, self.levels, -1
        memory["numbers"][0] = self.options.get("weight", 1.0)
        try:
            if self.drive(registers) == OVER:
                return None
            return self._path(start, int(registers[7]))
        finally:
            if self.levels > KEPT:
                self.levels = ROWS
                self.memory = Memory(memory.kinds, self.sizes())

    def _path(self, start: Any, row: int) -> list[Any]:
        links, numbers = self.memory["links"], list[int]()
        while row > 0:
            numbers.append(links[row * 2 + 1])
            row = links[row * 2]
        return self.edition.path(start, numbers[::-1])


class GreedyLoop(AStarLoop):
    """Goes by the heuristic alone."""

    costed = False


class CostLoop(AStarLoop):
    """Goes by the cost alone."""

    informed = False
