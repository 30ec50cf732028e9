"""The loop of ida-star: one iteration under a bound."""

from typing import Any

from arena.compiled.loop import Loop, huge

SLOTS = 16384
OVER = 2
FRAME = ("PLACE", "LAST", "BACK", "SLOT", "COST", "CARRIED")
"""The columns of a row after the words of its state, by the names in the kernel: the next action and the end of them, the
action that leads back, where the state counts as seen, its cost, and from there on what the estimate carries along."""
MOST = 1 << 40
"""Levels, as many as no memory has."""


class IdaStarLoop(Loop):
    """Searches all paths of an estimated cost of at most a bound, as `_within` of the agent does."""

    kernel = "ida-star"

    @classmethod
    def constants(cls, edition: Any) -> dict[str, Any]:
        """Return what the kernel is specialised to."""
        places = {name: edition.words + number for number, name in enumerate(FRAME)}
        return {"REVERSE": edition.has("reverse"), "STEP_COST": edition.has("step_cost"), **places}

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arrays for the levels that there is room for; costs lie in the rows."""
        return {"registers": 8, "numbers": 3, "rows": self.levels * self._row, "costs": 1, "slots": SLOTS}

    @property
    def _row(self) -> int:
        """The numbers of a row."""
        return self.edition.words + len(FRAME) - 1 + self.carried + self.edition.width

    def __call__(self, start: Any, bound: float, deepest: float) -> tuple[list[Any] | None, float]:
        """Return the actions to the first goal, None without one, and the least estimated cost of what was cut off."""
        memory, row = self.memory, self._row
        registers, numbers, rows = memory["registers"], memory["numbers"], memory["rows"]
        memory.lend({"costs": rows})
        for place, word in enumerate(self.edition.encode(start)):
            rows[place] = word
        memory.clear("slots")
        registers[0], registers[4], registers[5] = -1, 0, (self.levels - 1) * row
        registers[6], registers[7] = min(huge(deepest), MOST) * row, row
        numbers[0], numbers[1], numbers[2] = bound, float("inf"), self.options["weight"]
        if self.drive(registers) == OVER:
            return None, numbers[1]
        taken = [rows[rows[place] - 1] for place in range(self.edition.words, registers[4] + row, row)]
        return self.edition.path(start, taken), numbers[1]

    def grow(self) -> None:
        """Make room for twice as many levels."""
        super().grow()
        self.memory["registers"][5] = (self.levels - 1) * self._row
