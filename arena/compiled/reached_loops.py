"""The loops of searches without a heuristic: breadth first, and depth first with all states or those of the path."""

from array import array
from typing import Any, ClassVar

from arena.compiled.edition import Edition
from arena.compiled.fields import NotCompilable
from arena.compiled.loop import Loop, huge
from arena.compiled.memory import Memory
from arena.game import Puzzle

OVER = 2
ROWS = 64
KEPT = 1 << 19
"""The most words of states for which there is room between decisions."""


class ReachedLoop(Loop):
    """Keeps states in rows, with a table of them where a state can be reached in two ways."""

    levels = ROWS
    in_place = True
    informed = False
    visited: ClassVar[bool] = True

    @classmethod
    def constants(cls, edition: Edition) -> dict[str, Any]:
        """Return what the kernel is specialised to."""
        if not isinstance(edition.game, Puzzle):
            raise NotCompilable("it is no puzzle")
        return {"GRID": edition.in_place, "REMEMBERED": not edition.tree, "VISITED": cls.visited and not edition.tree}

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arrays for the states that there is room for."""
        rows = self.levels
        return {"registers": 12, "states": (rows + 1) * self.edition.words, "table": 1 if self.edition.tree else rows * 2}

    def grow(self) -> None:
        """Make room for twice as many states; the kernel fills the larger table anew."""
        super().grow()
        self._emptied()

    def _emptied(self) -> None:
        self.memory.clear("table")
        self.memory["registers"][11] = 2 * self.levels - 1

    def _run(self, start: Any, most: float) -> int:
        """Search from a state within `most` actions, and return the status of the kernel."""
        registers = self.memory["registers"]
        self.memory["states"][: self.edition.words] = array("q", self.edition.encode(start))
        self._emptied()
        registers[0], registers[4], registers[5], registers[6], registers[7] = -1, 0, self.levels, huge(most), 0
        return self.drive(registers)

    def _released(self) -> None:
        """Give back memory that only few searches need."""
        if self.levels * self.edition.words > KEPT:
            self.levels = ROWS
            self.memory = Memory(self.memory.kinds, self.sizes())


class BreadthFirstLoop(ReachedLoop):
    """Finds a goal in the fewest actions, as bfs does."""

    kernel = "breadth-first"

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arrays for the states that there is room for."""
        return {**super().sizes(), "links": self.levels * 2 + 2, "actions": self.edition.width}

    def __call__(self, start: Any, most: float) -> list[Any] | None:
        """Return the actions to the first goal within `most` actions; None without one."""
        try:
            if self._run(start, most) == OVER:
                return None
            links, row, numbers = self.memory["links"], self.memory["registers"][7], list[int]()
            while row:
                numbers.append(links[row * 2 + 1])
                row = links[row * 2]
            return self.edition.path(start, numbers[::-1])
        finally:
            self._released()


class DepthFirstLoop(ReachedLoop):
    """Searches as `depth_first` of the agents does with `visited`."""

    kernel = "depth-first"

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arrays for the states that there is room for."""
        rows = self.levels
        return {
            **super().sizes(), "actions": (rows + 1) * self.edition.width, "places": (rows + 1) * 2, "taken": rows + 1,
            "path": rows + 1, "depths": rows + 1,
        }  # fmt: skip

    def __call__(self, start: Any, deepest: float) -> tuple[list[Any] | None, bool]:
        """Return the actions to the first goal within `deepest`, None without one, and whether a path was cut off there."""
        try:
            status, registers = self._run(start, deepest), self.memory["registers"]
            if status == OVER:
                return None, bool(registers[7])
            return self.edition.path(start, list(self.memory["taken"][: registers[4] + 1])), bool(registers[7])
        finally:
            self._released()


class PathLoop(DepthFirstLoop):
    """The same without: it remembers the path at hand."""

    visited = False
