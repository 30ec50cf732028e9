"""The rules of a game for compiled searches: written once more, over whole numbers, in plain Python.

All numbers have signed 64 bits, indices are never negative, and loops go over `range` or are `while`. A state is a tuple of
`words` numbers, an action is a number. The attributes that the methods read are numbers, or tables of numbers.

The extension `arena_compiled` compiles and runs these rules. The parts that plain code needs are here, so plain code works
without the extension.
"""

import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from zlib import crc32

from arena.errors import Interrupted, describe, import_extension
from arena.game import Game, State

if TYPE_CHECKING:
    from arena_compiled.random_play import Playout, playouts

__all__ = [
    "Estimate", "Grid", "NoEstimate", "NotCompilable", "Playout", "Rules", "Words", "playouts", "rules_of", "slot_of", "words_of",
]  # fmt: skip

Words = tuple[int, ...]
"""A state, or the numbers that an estimate carries along: a fixed number of whole numbers."""
METHODS = (
    "to_move", "actions", "result", "is_terminal", "returns", "is_goal", "step_cost", "threats", "is_quiet", "chance_outcomes",
)  # fmt: skip
"""The rules of a game, as far as a search asks for them."""
HASH_BITS = 31
FACTOR = 0x9E3779B97F4A7C15
"""2^64 divided by the golden ratio, made odd. D. E. Knuth, The Art of Computer Programming 3, 6.4."""
_LOW = (1 << 64) - 1


class Rules:
    """The rules of a game or puzzle over whole numbers.

    A subclass gives `words`, `width`, `encode` and `action`, which run uncompiled, and the other methods that its game has. These
    are compiled, and must agree with the methods of the game.
    """

    words: int
    """The length of a state."""
    width: int
    """The most actions that a state can have."""
    players: int = 2
    """The number of seats."""
    scratch: Sequence[str] = ()
    """Scratch attributes, arrays of 64 bits ("q"), into which methods write. No result may depend on their old contents."""
    tree: bool = False
    """Whether no state can be reached in two ways from any one start. If so, searches need not remember visited states."""

    def encode(self, state: Any) -> Words:
        """Return the numbers of a state of the game."""
        raise NotImplementedError

    def action(self, state: Any, number: int) -> Any:
        """Return the action of the game that a number stands for in a state of the game."""
        return number

    if TYPE_CHECKING:  # optional, and without a default: the methods that a class defines decide how much can be compiled

        def to_move(self, state: Words) -> int:
            """Return the seat to move."""

        def actions(self, state: Words) -> Iterable[int]:
            """Yield the actions, in the order of the game."""

        def result(self, state: Words, action: int) -> Words:
            """Return the state after an action."""

        def is_terminal(self, state: Words) -> bool:
            """Return whether play is over."""

        def returns(self, state: Words) -> Sequence[float]:
            """Return the result of each seat at the end."""

        def threats(self, state: Words, seat: int) -> Iterator[int]:
            """Yield the actions that would win at once if it were the turn of `seat`."""

        def is_goal(self, state: Words) -> bool:
            """Return whether a state solves the puzzle."""

        def chance(self, state: Words, number: float) -> int:
            """Return the outcome of chance for a random number from 0 to 1, in a state in which `to_move` is CHANCE (-1).

            It is the first of the game's `chance_outcomes` whose cumulated probability is above the number, else the last.
            Compiled code only plays games with chance at random, including the playouts of mcts; all other searches of them run
            plain.
            """

        def step_cost(self, state: Words, action: int, successor: Words) -> float:
            """Return the cost of a step, if the puzzle gives one."""

        def reverse(self, state: Words, action: int) -> int:
            """Return the action that leads back to `state` after `action`, so that a search need not generate the state that it
            came from.
            """


class Grid(Rules):
    """Rules of states with many words, which are changed in place: subclasses give `apply` instead of `result`.

    Every method gets a state as an array of `words` numbers. Only searches that follow actions run compiled over it: bfs, dfs
    and iterative-deepening.
    """

    if TYPE_CHECKING:

        def apply(self, state: Any, action: int) -> None:
            """Change a state, an array, to the one after an action."""


class Estimate:
    """A heuristic over whole numbers.

    Of a puzzle it carries `words` numbers from state to state: `first` computes them, `after` those of a successor, `value` the
    estimated cost. Of a game it gives `evaluate` instead.
    """

    words: int = 0
    """How many numbers it carries along."""

    if TYPE_CHECKING:

        def first(self, state: Words) -> Words:
            """Return the carried numbers at the first state."""

        def after(self, carried: Words, state: Words, action: int, successor: Words) -> Words:
            """Return the carried numbers after an action."""

        def value(self, carried: Words) -> float:
            """Return the estimated cost to go."""

        def evaluate(self, state: Words, player: int) -> float:
            """Return the value of an unfinished state to `player`."""


class NotCompilable(Exception):
    """Code or values that cannot be compiled; the message gives the place and the reason."""

    broken: bool = False
    """Whether the author's own compiled rules raise the error."""
    lines: Sequence[int] = ()
    """The line numbers in the module at which the compiler failed, the innermost first, if nothing else is known."""


class NoEstimate(NotCompilable):
    """A heuristic without an estimate for a game, which is not a mistake of its author."""


def rules_of(game: Game) -> Rules | None:
    """Return the rules that `compiled()` of a game gives; None if it gives none.

    NotCompilable if `compiled` is inherited and a subclass has since changed the rules.
    """
    giver = next((kind for kind in type(game).__mro__ if "compiled" in vars(kind)), None)
    if giver is None or not inspect.isfunction(vars(giver)["compiled"]):
        return None
    if len(inspect.signature(vars(giver)["compiled"]).parameters) != 1:
        return None
    newer = type(game).__mro__[: type(game).__mro__.index(giver)]
    changed = [method for kind in newer for method in METHODS if method in vars(kind)]
    if changed:
        raise NotCompilable(f"{type(game).__name__} changes {changed[0]} of the {giver.__name__} that gives compiled")
    try:
        rules = game.compiled()  # type: ignore[attr-defined]
    except Interrupted:
        raise
    except Exception as error:
        refused = NotCompilable(f"compiled raised {describe(error)}")
        refused.broken = True
        raise refused from error
    if rules is None:
        raise NotCompilable("this board does not fit into whole numbers of 64 bits")
    return rules if isinstance(rules, Rules) else None


def words_of(game: Game) -> Callable[[State], Words]:
    """Return a function that turns a state into whole numbers: of the compiled rules, the game's own, or one derived from its
    text.
    """
    try:
        rules = rules_of(game)
    except NotCompilable:
        rules = None
    if rules is not None:
        return rules.encode

    def words(state: State) -> Words:
        if type(state) is tuple and all(type(word) is int for word in state):
            return state
        return (crc32(game.format_state(state).encode()),)

    return words


def slot_of(words: Words, slots: int) -> int:
    """Return a slot index for `words` below `slots`, of which there are at most 2^31; `mixed` of `negamax.kernel` computes the
    same.
    """
    number = 0
    for word in words:
        number = (number ^ word) * FACTOR & _LOW
        number ^= number >> 32
    return (number >> 64 - HASH_BITS) * slots >> HASH_BITS


def __getattr__(name: str) -> Any:
    """Import random play on first use, because games import this module at every start."""
    if name in ("Playout", "playouts"):
        return getattr(import_extension("arena_compiled.random_play", f"arena.compiled.{name}"), name)
    if name == "Board":  # plugins that still derive from this class must load
        warnings.warn(
            "arena.compiled.Board is gone: local searches run plain, over local() of a puzzle", DeprecationWarning, stacklevel=2
        )
        return object
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
