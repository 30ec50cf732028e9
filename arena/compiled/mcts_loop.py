"""The loop of mcts: simulations until the best action is proven, there were enough, or the budget ends."""

import random
from typing import Any, NamedTuple

from arena.compiled.edition import Edition
from arena.compiled.fields import NotCompilable
from arena.compiled.loop import HUGE, Loop
from arena.compiled.twister import WORDS, numbers_of
from arena.counting import GoPlain
from arena.game import Puzzle

ROWS, KEPT = 4_096, 1 << 20
ROW = 7
"""Numbers of a row: the action, the mover, where its choices begin, untried ones, children that are not proven, best, visits."""


class Grown(NamedTuple):
    """A child of the root as the kernel leaves it."""

    action: Any
    visits: int
    total: float
    proven: list[float] | None


class MctsLoop(Loop):
    """Grows a tree as `GameTree.simulate` does, again and again."""

    kernel = "mcts"
    levels = ROWS

    @classmethod
    def constants(cls, edition: Edition) -> dict[str, Any]:
        """Return what the kernel is specialised to."""
        if isinstance(edition.game, Puzzle):
            raise NotCompilable("it is a puzzle")
        return {"PLAYERS": edition.players}

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arrays for the states that there is room for."""
        rows, width, words, players = self.levels, self.edition.width, self.edition.words, self.edition.players
        choices = rows * min(width, 8) + 2 * width
        return {
            "registers": 15, "numbers": 1 + players, "twister": WORDS, "states": rows * words, "rows_of": rows * ROW,
            "totals": rows, "values": rows * (players + 1), "choices": choices, "kids": choices, "path": rows + 2,
            "walk": words, "scratch": width,
        }  # fmt: skip

    def grow(self) -> None:
        """Make room for twice as many states."""
        super().grow()
        self.memory["registers"][14] = len(self.memory["choices"])

    def __call__(self, state: Any, rng: random.Random, squared: float, longest: int, rollouts: int | None) -> None:
        """Grow a tree from a state, with the numbers of a generator, which is left where the plain search would leave it."""
        memory = self.memory
        registers = memory["registers"]
        for place, number in enumerate(self.edition.encode(state)):
            memory["states"][place] = number
        registers[0], registers[4], registers[5], registers[14] = -1, 0, self.levels, len(memory["choices"])
        registers[10], registers[11] = HUGE if rollouts is None else rollouts, min(longest, HUGE)
        memory["numbers"][0] = squared
        try:
            with numbers_of(rng, memory["twister"]):
                self.drive(registers)
        except GoPlain:  # the root has no children then
            memory.clear("rows_of")
            memory.clear("values")
            memory["rows_of"][5] = -1
            raise

    def children(self, state: Any) -> tuple[list[Grown], Grown | None, list[float] | None]:
        """Return the children of the root that are not proven, the best that is, and the value of the root where it is proven."""
        rows = self.memory["rows_of"]
        listed = [self._grown(state, self.memory["kids"][number]) for number in range(rows[4])] if rows[6] or rows[4] else []
        return listed, None if rows[5] < 0 else self._grown(state, rows[5]), self._proven(0)

    def _proven(self, row: int) -> list[float] | None:
        players, values = self.edition.players, self.memory["values"]
        first = row * (players + 1)
        return list(values[first : first + players]) if values[first + players] > 0 else None

    def _grown(self, state: Any, row: int) -> Grown:
        rows = self.memory["rows_of"]
        action = self.edition.action(state, rows[row * ROW])
        return Grown(action, rows[row * ROW + 6], self.memory["totals"][row], self._proven(row))
