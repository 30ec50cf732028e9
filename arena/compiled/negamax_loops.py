"""The loops of searches for two seats in negamax form: the value of one state below the root."""

from collections.abc import Mapping
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, ClassVar

from arena.compiled.edition import Edition
from arena.compiled.fields import NotCompilable
from arena.compiled.loop import HUGE, Loop
from arena.compiled.table_rows import TableRows, row_length
from arena.game import Game, Puzzle

if TYPE_CHECKING:
    from arena.counting import Meter

FRAME = 11
"""Numbers of a frame: the seat, the mover, the place and the count of its actions, and what tables and sorting need."""


class FullWidthLoop(Loop):
    """Looks at every line, as `full_width` of the agents does. Options: `depth` in plies or None, and the `horizon` to be met."""

    kernel = "negamax"
    pruned: ClassVar[bool] = False
    forced: ClassVar[bool] = False
    quiet: ClassVar[bool] = False
    table: ClassVar[bool] = False
    sized: ClassVar[bool] = False
    ordered: ClassVar[bool] = False
    """Whether the actions that are not forced come in the order of the heuristic of what they lead to."""
    coarse: ClassVar[bool] = False
    """Whether only better, equal and worse are told apart there."""

    @classmethod
    def constants(cls, edition: Edition) -> dict[str, Any]:
        """Return what the kernel is specialised to."""
        if isinstance(edition.game, Puzzle) or edition.players != 2:
            raise NotCompilable("it is no game for two")
        if cls.quiet and type(edition.game).is_quiet is not Game.is_quiet:
            raise NotCompilable("it says itself what is quiet")
        return {
            "PRUNED": cls.pruned, "FORCED": cls.forced, "QUIET": cls.quiet, "THREATS": edition.has("threats"),
            "TABLE": cls.table, "SIZED": cls.sized, "SORTED": cls.ordered, "COARSE": cls.coarse,
            "WORDS": edition.words, "ROW": row_length(edition.words), "FRAME": FRAME if cls.table or cls.ordered else 4,
        }  # fmt: skip

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arrays for the levels that there is room for; a table is lent by the decision."""
        levels, width = self.levels, self.edition.width
        ordered = levels * width if self.ordered else 1
        return {
            "registers": 10, "numbers": 3, "states": levels * self.edition.words, "actions": levels * width,
            "frames": levels * FRAME, "windows": levels * 5, "scratch": 2 * width, "ranks": ordered, "worths": ordered,
            "successors": ordered * self.edition.words, "slots": 1, "rows": 1, "bounds": 1, "limits": 1,
        }  # fmt: skip

    def __call__(self, state: Any, seat: int, ply: int, alpha: float = 0.0, beta: float = 0.0) -> float:
        """Return the value of a state to `seat`, `ply` actions after the root, exact between alpha and beta."""
        memory = self.memory
        registers, numbers, states = memory["registers"], memory["numbers"], memory["states"]
        for place, word in enumerate(self.edition.encode(state)):
            states[place] = word
        depth = self.options["depth"]
        registers[0], registers[4], registers[5], registers[7] = -1, 0, self.levels, 0
        registers[6] = HUGE if depth is None else depth
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


class TypeAPlusLoop(FullWidthLoop):
    """Leaves out the lines that cannot matter, goes on beyond the depth, and looks at what improves the heuristic first."""

    pruned = True
    quiet = True
    ordered = True
    coarse = True


class OrderedLoop(FullWidthLoop):
    """Alpha-beta, in the order of the heuristic."""

    pruned = True
    ordered = True


class TableLoop(AlphaBetaLoop):
    """Remembers what it has learnt of states. Option: the `table` of the decision, which it goes on with."""

    table = True

    def begin(self, meter: "Meter", options: Mapping[str, Any]) -> None:
        """Serve a decision, with its table: the time that it takes to copy one is not the agent's."""
        super().begin(meter, options)
        table = options["table"]
        if table.rows is None:
            began, used = perf_counter(), process_time()
            table.rows = TableRows(table, self.edition)
            meter.pause(perf_counter() - began, process_time() - used)
        self.memory.lend(table.rows.arrays)


class OrderedTableLoop(TableLoop):
    """The same in the order of the heuristic."""

    ordered = True


class SizedTableLoop(TableLoop):
    """Has a table of a fixed size."""

    sized = True


class OrderedSizedTableLoop(SizedTableLoop):
    """The same in the order of the heuristic."""

    ordered = True
