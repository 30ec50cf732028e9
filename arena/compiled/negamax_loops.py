"""The loops of searches for two seats in negamax form: the value of one state below the root."""

from typing import Any, ClassVar

from arena.compiled.edition import Edition
from arena.compiled.fields import NotCompilable
from arena.compiled.loop import Loop, huge
from arena.game import Game, Puzzle


class FullWidthLoop(Loop):
    """Looks at every line, as `full_width` of the agents does. Options: `depth` in plies or None, and the `horizon` to be met."""

    kernel = "negamax"
    pruned: ClassVar[bool] = False
    forced: ClassVar[bool] = False
    quiet: ClassVar[bool] = False

    @classmethod
    def constants(cls, edition: Edition) -> dict[str, Any]:
        """Return what the kernel is specialised to."""
        if isinstance(edition.game, Puzzle) or edition.players != 2:
            raise NotCompilable("it is no game for two")
        if cls.quiet and type(edition.game).is_quiet is not Game.is_quiet:
            raise NotCompilable("it says itself what is quiet")
        return {"PRUNED": cls.pruned, "FORCED": cls.forced, "QUIET": cls.quiet, "THREATS": edition.has("threats")}

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arrays for the levels that there is room for."""
        levels, width = self.levels, self.edition.width
        return {
            "registers": 10, "numbers": 3, "states": levels * self.edition.words, "actions": levels * width,
            "frames": levels * 4, "windows": levels * 3, "scratch": 2 * width,
        }  # fmt: skip

    def __call__(self, state: Any, seat: int, ply: int, alpha: float = 0.0, beta: float = 0.0) -> float:
        """Return the value of a state to `seat`, `ply` actions after the root, exact between alpha and beta."""
        memory = self.memory
        registers, numbers, states = memory["registers"], memory["numbers"], memory["states"]
        for place, word in enumerate(self.edition.encode(state)):
            states[place] = word
        depth = self.options["depth"]
        registers[0], registers[4], registers[5], registers[7] = -1, 0, self.levels, 0
        registers[6] = huge(float("inf") if depth is None else depth)
        registers[8], registers[9] = seat, ply
        numbers[0], numbers[1] = alpha, beta
        self.drive(registers)
        if registers[7]:
            self.options["horizon"].met = True
        value: float = numbers[2]
        return value


class QuietLoop(FullWidthLoop):
    """Goes on beyond the depth while a state is not quiet."""

    quiet = True


class AlphaBetaLoop(FullWidthLoop):
    """Leaves out the lines that cannot matter, and looks at wins and blocks first."""

    pruned = True
    forced = True
