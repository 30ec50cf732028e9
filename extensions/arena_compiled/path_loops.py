"""Loops for path searches: ida-star, best first, and searches without a heuristic."""

from typing import Any, ClassVar

from arena import Puzzle
from arena.compiled import NotCompilable
from arena_compiled.edition import Edition
from arena_compiled.loop import OVER, Loop, clip_count
from arena_compiled.memory import Memory

SEEN_SLOTS = 16384
PATH_COLUMNS = ("PLACE", "LAST", "BACK", "SLOT", "COST", "CARRIED")
"""The columns of a row after the words of its state, with the names that the kernel uses: the next action and the end of the
actions, the action that leads back, the slot in which the state is marked as seen, the cost, and then the data that the estimate
keeps along with a state.
"""
MAX_LEVELS = 1 << 40
"""A number of levels that is larger than any memory can hold."""


class IdaStarLoop(Loop):
    """Searches all paths up to a bound on the estimated cost, like the function `_within` of the agent `ida-star`."""

    kernel = "ida-star"
    expansions = 8

    @classmethod
    def constants(cls, edition: Any) -> dict[str, Any]:
        """Return the constants that are filled into the kernel."""
        places = {name: edition.words + number for number, name in enumerate(PATH_COLUMNS)}
        return {"REVERSE": edition.has("reverse"), "STEP_COST": edition.has("step_cost"), **places}

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arrays for the current capacity, which is a number of levels. Costs are stored in
        the rows.
        """
        return {"registers": 9, "numbers": 3, "rows": self.levels * self._row, "costs": 1, "slots": SEEN_SLOTS}

    @property
    def _row(self) -> int:
        """Return the length of a row."""
        return self.edition.words + len(PATH_COLUMNS) - 1 + self.carried + self.edition.width

    def __call__(self, start: Any, bound: float, deepest: float) -> tuple[list[Any] | None, float]:
        """Return the actions to the first goal (None if there is none), and the least estimated cost beyond the bound."""
        memory, row = self.memory, self._row
        registers, numbers, rows = memory["registers"], memory["numbers"], memory["rows"]
        memory.lend({"costs": rows})
        for place, word in enumerate(self.encode(start)):
            rows[place] = word
        memory.clear("slots")
        registers[0], registers[4], registers[5] = -1, 0, (self.levels - 1) * row
        registers[6], registers[7] = min(clip_count(deepest), MAX_LEVELS) * row, row
        numbers[0], numbers[1], numbers[2] = bound, float("inf"), self.options["weight"]
        if self.drive(registers) == OVER:
            return None, numbers[1]
        taken = [rows[rows[place] - 1] for place in range(self.edition.words, registers[4] + row, row)]
        return self.edition.path(start, taken), numbers[1]

    def grow(self) -> None:
        """Double the capacity, which is a number of levels."""
        super().grow()
        self.memory["registers"][5] = (self.levels - 1) * self._row


def _walk_back(links: Any, row: int) -> list[int]:
    """Return the actions that lead to a row. `links` has, for each row, the previous row and the action that leads from there."""
    numbers = []
    while row > 0:
        numbers.append(links[row * 2 + 1])
        row = links[row * 2]
    return numbers[::-1]


FIRST_STATES = 1_024
MAX_KEPT_STATES = 1 << 18
"""The maximum capacity, in states, that is kept between decisions."""


class AStarLoop(Loop):
    """Searches until a goal is expanded, like the function `best_first` in `arena_agents`. Option: the `weight` of the
    heuristic.
    """

    kernel = "best-first"
    expansions = 12
    levels = FIRST_STATES
    costed: ClassVar[bool] = True

    @classmethod
    def constants(cls, edition: Edition) -> dict[str, Any]:
        """Return the constants that are filled into the kernel."""
        if not isinstance(edition.game, Puzzle):
            raise NotCompilable("it is not a puzzle")
        return {"COSTED": cls.costed, "INFORMED": cls.informed, "STEP_COST": edition.has("step_cost")}

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arrays for the current capacity, which is a number of states."""
        rows = self.levels
        return {
            "registers": 13, "numbers": 1, "states": rows * self.edition.words, "carried": rows * self.carried, "costs": rows,
            "links": rows * 2, "actions": self.edition.width, "ranks": rows * 4 + 2, "orders": rows * 4 + 2, "table": rows * 2,
        }  # fmt: skip

    def grow(self) -> None:
        """Double the capacity in states. The kernel refills the larger table."""
        super().grow()
        self._empty_table()

    def fit(self) -> None:
        """Begin with a table as large as the last search needed, because a smaller table is cleared faster."""
        while FIRST_STATES < self.levels > 2 * self.memory["registers"][4]:
            self.levels //= 2
        self._empty_table()

    def _empty_table(self) -> None:
        self.memory.clear("table", 2 * self.levels)
        self.memory["registers"][11] = 2 * self.levels - 1

    def __call__(self, start: Any) -> list[Any] | None:
        """Return the actions that lead to a goal; None if no states are left."""
        memory = self.memory
        registers, states = memory["registers"], memory["states"]
        for place, word in enumerate(self.encode(start)):
            states[place] = word
        self.fit()
        registers[0], registers[5], registers[7] = -1, self.levels, -1
        memory["numbers"][0] = self.options.get("weight", 1.0)
        try:
            if self.drive(registers) == OVER:
                return None
            return self.edition.path(start, _walk_back(memory["links"], int(registers[7])))
        finally:
            if self.levels > MAX_KEPT_STATES:
                self.levels = FIRST_STATES
                self.memory = Memory(memory.kinds, self.sizes())


class GreedyLoop(AStarLoop):
    """Like AStarLoop, but uses only the heuristic."""

    costed = False


class CostLoop(AStarLoop):
    """Like AStarLoop, but uses only the cost."""

    informed = False


FIRST_REACHED_STATES = 64
MAX_KEPT_WORDS = 1 << 19
"""The maximum capacity, in words of states, that is kept between decisions."""


class ReachedLoop(Loop):
    """Keeps states in rows and, if a state can be reached in two ways, also in a table."""

    expansions = 12
    levels = FIRST_REACHED_STATES
    in_place = True
    informed = False
    visited: ClassVar[bool] = True

    @classmethod
    def constants(cls, edition: Edition) -> dict[str, Any]:
        """Return the constants that are filled into the kernel."""
        if not isinstance(edition.game, Puzzle):
            raise NotCompilable("it is not a puzzle")
        return {"GRID": edition.in_place, "REMEMBERED": not edition.tree, "VISITED": cls.visited and not edition.tree}

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arrays for the current capacity, which is a number of states."""
        rows = self.levels
        return {"registers": 13, "states": (rows + 1) * self.edition.words, "table": 1 if self.edition.tree else rows * 2}

    def grow(self) -> None:
        """Double the capacity in states. The kernel refills the larger table."""
        super().grow()
        self._empty_table()

    def _empty_table(self) -> None:
        self.memory.clear("table")
        self.memory["registers"][11] = 2 * self.levels - 1

    def _run(self, start: Any, most: float) -> int:
        """Search from a state within `most` actions, and return the status of the kernel."""
        registers = self.memory["registers"]
        self.memory["states"][: self.edition.words] = self.encode(start)
        self._empty_table()
        registers[0], registers[4], registers[5], registers[6], registers[7] = -1, 0, self.levels, clip_count(most), 0
        return self.drive(registers)

    def _release(self) -> None:
        """Release memory that only a few searches need."""
        if self.levels * self.edition.words > MAX_KEPT_WORDS:
            self.levels = FIRST_REACHED_STATES
            self.memory = Memory(self.memory.kinds, self.sizes())


class BreadthFirstLoop(ReachedLoop):
    """Finds a goal with the fewest actions, like the agent `bfs`."""

    kernel = "breadth-first"

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arrays for the current capacity, which is a number of states."""
        return {**super().sizes(), "links": self.levels * 2 + 2, "actions": self.edition.width}

    def __call__(self, start: Any, most: float) -> list[Any] | None:
        """Return the actions to the first goal within `most` actions; None if there is none."""
        try:
            if self._run(start, most) == OVER:
                return None
            return self.edition.path(start, _walk_back(self.memory["links"], self.memory["registers"][7]))
        finally:
            self._release()


class DepthFirstLoop(ReachedLoop):
    """Searches like the function `depth_first` in `arena_agents` with `visited`."""

    kernel = "depth-first"

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arrays for the current capacity, which is a number of states."""
        rows = self.levels
        return {
            **super().sizes(), "actions": (rows + 1) * self.edition.width, "places": (rows + 1) * 2, "taken": rows + 1,
            "path": rows + 1, "depths": rows + 1,
        }  # fmt: skip

    def __call__(self, start: Any, deepest: float) -> tuple[list[Any] | None, bool]:
        """Return the actions to the first goal within `deepest` actions (None if there is none), and whether a path was cut off
        at this depth.
        """
        try:
            status, registers = self._run(start, deepest), self.memory["registers"]
            if status == OVER:
                return None, bool(registers[7])
            return self.edition.path(start, list(self.memory["taken"][: registers[4] + 1])), bool(registers[7])
        finally:
            self._release()


class PathLoop(DepthFirstLoop):
    """Depth-first search that remembers only the states on the current path; its attribute `visited` is false."""

    visited = False
