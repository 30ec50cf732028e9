"""No search: what compiled rules say of states, for a comparison with the same rules uncompiled."""

from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

from arena import Puzzle, State
from arena_compiled.edition import Edition
from arena_compiled.loop import FOUND, Loop

ROWS = 64
"""States that are looked at in one go."""


class Said(NamedTuple):
    """All that rules and an estimate say of some states: whole numbers and floats."""

    words: list[int]
    reals: list[float]


class ProbeLoop(Loop):
    """Looks at states and at every step from them."""

    kernel = "probe"
    levels = ROWS

    @classmethod
    def constants(cls, edition: Edition) -> dict[str, Any]:
        """Return what the kernel is specialised to."""
        puzzle = isinstance(edition.game, Puzzle)
        optional = {name.upper(): edition.has(name) for name in ("threats", "reverse", "step_cost")}
        return {"PUZZLE": puzzle, "PLAYERS": edition.players, "WORDS": edition.words, **optional}

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arrays."""
        room = ROWS * self._count_most()
        return {
            "registers": 8, "states": ROWS * self.edition.words, "words": room, "reals": room, "scratch": self.edition.width,
            "walk": self.edition.words,
        }  # fmt: skip

    def _count_most(self) -> int:
        """The most numbers that are said of one state."""
        edition = self.edition
        return 4 + edition.players * (edition.width + 2) + edition.width * (edition.words + 3)

    def __call__(self, states: Sequence[State]) -> Said | None:
        """Return what the compiled rules say of at most ROWS states; None where there is no room for it."""
        self._put(self.memory.arrays, states)
        return self._said(self.memory.arrays, self._drive.once(self.memory))

    def uncompiled(self, space: dict[str, Any], states: Sequence[State]) -> Said | None:
        """Return what the same module says as plain Python; `space` is that of `rehearsal.space_of`."""
        arrays = {name: array(one.typecode, bytes(len(one) * one.itemsize)) for name, one in self.memory.arrays.items()}
        self._put(arrays, states)
        return self._said(arrays, space["run"](space["rules"], space["estimate"], *arrays.values()))

    def _put(self, arrays: Any, states: Sequence[State]) -> None:
        words = [word for state in states for word in self.edition.encode(state)]
        arrays["states"][: len(words)] = array("q", words)
        registers = arrays["registers"]
        registers[4], registers[5], registers[6], registers[7] = (
            len(states),
            len(arrays["words"]),
            len(arrays["reals"]),
            self._count_most(),
        )

    def _said(self, arrays: Any, status: int) -> Said | None:
        if status != FOUND:
            return None
        registers = arrays["registers"]
        return Said(arrays["words"][: registers[5]].tolist(), arrays["reals"][: registers[6]].tolist())
