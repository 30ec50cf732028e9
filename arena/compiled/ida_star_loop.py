"""The loop of ida-star: one iteration under a bound."""

from typing import Any

from arena.compiled.loop import Loop, huge

SLOTS = 16384
OVER = 2


class IdaStarLoop(Loop):
    """Searches all paths of an estimated cost of at most a bound, as `_within` of the agent does."""

    kernel = "ida-star"

    @classmethod
    def constants(cls, edition: Any) -> dict[str, Any]:
        """Return what the kernel is specialised to."""
        return {"REVERSE": edition.has("reverse"), "STEP_COST": edition.has("step_cost")}

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arrays for the levels that there is room for."""
        levels, words, carried, width = self.levels, self.edition.words, self.carried, self.edition.width
        return {
            "registers": 8, "numbers": 4, "states": levels * words, "carried": levels * carried, "actions": levels * width,
            "places": levels * 2, "taken": levels, "backward": levels, "costs": levels, "slots": SLOTS,
        }  # fmt: skip

    def __call__(self, start: Any, bound: float, deepest: float) -> tuple[list[Any] | None, float]:
        """Return the actions to the first goal, None without one, and the least estimated cost of what was cut off."""
        memory = self.memory
        registers, numbers, states = memory["registers"], memory["numbers"], memory["states"]
        for place, word in enumerate(self.edition.encode(start)):
            states[place] = word
        memory.clear("slots")
        registers[0], registers[4], registers[5], registers[6] = -1, 0, self.levels, huge(deepest)
        numbers[0], numbers[1], numbers[2] = bound, float("inf"), self.options["weight"]
        if self.drive(registers) == OVER:
            return None, numbers[1]
        return self.edition.path(start, list(memory["taken"][: registers[4] + 1])), numbers[1]
