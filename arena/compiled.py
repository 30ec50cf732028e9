"""The rules of a game for compiled searches: a second version of the rules, in Python code that uses only whole numbers.

All numbers are signed 64-bit integers. Indices are never negative. Loops are `while` loops, or `for` loops over `range`. A state
is a tuple of `Rules.words` numbers, and an action is one number. Methods may read only attributes that are numbers, or tables of
numbers.

The extension `arena_compiled` compiles and runs these rules. Uncompiled code also needs this module, but not the extension.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any
from zlib import crc32

from arena.errors import Interrupted, describe
from arena.game import Game, State

__all__ = [
    "Estimate", "Grid", "NoEstimate", "NotCompilable", "Playout", "Rules", "Words", "playouts", "rules_of", "slot_of", "words_of",
]  # fmt: skip

# the two are imported on first use, from an extension, so their types are not known here
Playout: type[Any]
playouts: Callable[..., list[Any]]

Words = tuple[int, ...]
"""A tuple with a fixed number of whole numbers: a state, or the numbers that an estimate passes along from state to state."""
METHODS = (
    "to_move", "actions", "result", "is_terminal", "returns", "is_goal", "step_cost", "threats", "is_quiet", "chance_outcomes",
)  # fmt: skip
"""The names of the methods that a search may call. These methods contain the rules of a game."""
HASH_BITS = 31
FACTOR = 0x9E3779B97F4A7C15
"""2^64 divided by the golden ratio, rounded to an odd number (D. E. Knuth, The Art of Computer Programming 3, 6.4)."""
_LOW = (1 << 64) - 1


class Rules:
    """The rules of a game or puzzle, written with whole numbers.

    A subclass defines `words`, `width`, `encode` and `action`, which are not compiled. It also defines the other methods that its
    game has. These are compiled, and must give the same results as the methods of the game.
    """

    words: int
    """The number of numbers in a state."""
    width: int
    """The largest number of actions that a state can have."""
    players: int = 2
    """The number of seats."""
    scratch: Sequence[str] = ()
    """Names of attributes for working memory: arrays of 64-bit numbers ("q"). Results must not depend on earlier contents."""
    tree: bool = False
    """Whether only one sequence of actions leads from a start to each state. If so, searches need not remember visited states."""

    def encode(self, state: Any) -> Words:
        """Return a state of the game as numbers."""
        raise NotImplementedError

    def action(self, state: Any, number: int) -> Any:
        """Return the action of the game that `number` stands for in the given state of the game."""
        return number

    if TYPE_CHECKING:  # optional: the methods that a class defines decide how much can be compiled, so these have no default

        def to_move(self, state: Words) -> int:
            """Return the seat to move."""

        def actions(self, state: Words) -> Iterable[int]:
            """Yield the actions, in the same order as the game."""

        def result(self, state: Words, action: int) -> Words:
            """Return the state after an action."""

        def is_terminal(self, state: Words) -> bool:
            """Return whether the game is over."""

        def returns(self, state: Words) -> Sequence[float]:
            """Return the result of each seat at the end of the game."""

        def threats(self, state: Words, seat: int) -> Iterator[int]:
            """Yield the actions that would win at once if it were the turn of `seat`."""

        def is_goal(self, state: Words) -> bool:
            """Return whether a state is a solution of the puzzle."""

        def chance(self, state: Words, number: float) -> int:
            """Return the outcome of chance for a random number from 0 to 1, in a state in which `to_move` returns CHANCE (-1).

            This is the first of the game's `chance_outcomes` with a cumulative probability above the number, or else the last
            one. For games with chance, only random play (also in mcts) is compiled, and other searches run uncompiled.
            """

        def step_cost(self, state: Words, action: int, successor: Words) -> float:
            """Return the cost of a step, if the steps of the puzzle have costs."""

        def reverse(self, state: Words, action: int) -> int:
            """Return the action that undoes `action` and leads back to `state`, so that searches do not go straight back."""


class Grid(Rules):
    """Rules for states with many numbers, in arrays that actions change in place. A subclass defines `apply` instead of `result`.

    Every method gets a state as an array of `words` numbers. With these rules, only bfs, dfs, iterative-deepening and random play
    in games with chance run compiled: other loops do not support changes in place.
    """

    if TYPE_CHECKING:

        def apply(self, state: Any, action: int) -> None:
            """Change a state, given as an array, into the state after an action."""


class Estimate:
    """A heuristic for compiled searches, written with whole numbers.

    For a puzzle, `first` computes `words` numbers for the first state, `after` updates these numbers for a successor, and `value`
    turns them into the estimated cost. For a game, define `evaluate` instead.
    """

    words: int = 0
    """The number of whole numbers that pass from state to state."""

    if TYPE_CHECKING:

        def first(self, state: Words) -> Words:
            """Return the numbers for the first state."""

        def after(self, carried: Words, state: Words, action: int, successor: Words) -> Words:
            """Return the numbers for `successor`, the state after an action; `carried` are the numbers for `state`."""

        def value(self, carried: Words) -> float:
            """Return the estimated cost to the goal."""

        def evaluate(self, state: Words, player: int) -> float:
            """Return the value of an unfinished state for `player`."""


class NotCompilable(Exception):
    """Code or values that cannot be compiled. The message says where and why."""

    broken: bool = False
    """Whether the rules themselves raised the error, so that their author must correct them."""
    lines: Sequence[int] = ()
    """The lines of the module at which the compiler failed, the innermost first, if only line numbers are known."""


class NoEstimate(NotCompilable):
    """A heuristic that defines no estimate for a game. This is not a mistake by its author."""


def rules_of(game: Game) -> Rules | None:
    """Return the rules that the method `compiled` of a game returns; None if the game has no such method.

    Raises NotCompilable if a subclass inherits `compiled` but has changed the rules.
    """
    giver = next((kind for kind in type(game).__mro__ if "compiled" in vars(kind)), None)
    if giver is None or not inspect.isfunction(vars(giver)["compiled"]):
        return None
    if len(inspect.signature(vars(giver)["compiled"]).parameters) != 1:
        return None
    newer = type(game).__mro__[: type(game).__mro__.index(giver)]
    changed = [method for kind in newer for method in METHODS if method in vars(kind)]
    if changed:
        raise NotCompilable(f"{type(game).__name__} overrides {changed[0]} of {giver.__name__}, but not compiled()")
    try:
        rules = game.compiled()  # type: ignore[attr-defined]
    except Interrupted:
        raise
    except Exception as error:
        refused = NotCompilable(f"compiled() raised {describe(error)}")
        refused.broken = True
        raise refused from error
    if rules is None:
        raise NotCompilable("the states of this board do not fit into 64-bit integers")
    return rules if isinstance(rules, Rules) else None


def words_of(game: Game) -> Callable[[State], Words]:
    """Return a function that turns a state into whole numbers: with the compiled rules, or else from the state or its text."""
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
    """Return an index below `slots`, which is at most 2^31, for `words`. `mixed` in `negamax.kernel` computes the same."""
    number = 0
    for word in words:
        number = (number ^ word) * FACTOR & _LOW
        number ^= number >> 32
    return (number >> 64 - HASH_BITS) * slots >> HASH_BITS


def __getattr__(name: str) -> Any:
    """Import random play on first use, because games import this module at every start."""
    if name in ("Playout", "playouts"):
        return getattr(import_module("arena_compiled.random_play"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
