"""The rules of games: a `Game` has one or more seats that take turns; a `Puzzle` has one seat and a goal.

A game object holds rules and parameters, but never a position. A position is a state: an immutable value that methods take and
return. For this reason, searches cannot change a match, records can be replayed, and worker processes need little data.
"""

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import cache
from inspect import isclass, signature
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from arena.configured import Configured, name_of
from arena.errors import abbreviate, expect
from arena.notation import NoNotation, read, write

State = Any
"""A state of a game: hashable and immutable. Authors may use their own types in annotations."""
Action = Any
"""An action: hashable and immutable."""

CHANCE = -1
"""The value that `to_move` returns instead of a seat when chance moves; `actions` then returns the outcomes of chance."""


def uniform(outcomes: Iterable[Action]) -> list[tuple[Action, float]]:
    """Return all `outcomes` with the same probability. Raises ValueError if there are none.

    >>> uniform(["heads", "tails"])
    [('heads', 0.5), ('tails', 0.5)]
    """
    expect("outcomes", outcomes, Iterable, "a collection of outcomes")
    listed = list(outcomes)
    if not listed:
        raise ValueError("outcomes: expected at least one outcome, got none")
    return [(outcome, 1.0 / len(listed)) for outcome in listed]


class Disguise(NamedTuple):
    """The same game told as another story, in other words. A language model that plays it cannot rely on memories of the game.

    >>> disguise = Disguise({"x": "ruby"}, {"1": "kav"}, "Take stones.", lambda state: {"1": "x" * state})
    >>> disguise.write_action("1"), disguise.write_state(2)
    ('kav', 'kav: ruby ruby')
    """

    symbols: Mapping[str, str]
    """Words for the signs of positions, such as marks and cards, and for actions that name no square, such as `pass`."""
    squares: Mapping[str, str]
    """Names for squares, and words for actions. Each key is the text that the game itself uses."""
    rules_text: str
    """The complete rules in the words of the disguise, without the name of the game."""
    signs: Callable[[State], Mapping[str, Sequence[str]]]
    """Returns the signs on each square of an observation."""

    def write_action(self, text: str) -> str:
        """Return the `text` of an action in the words of the disguise."""
        return self.squares.get(text) or self.symbols.get(text, text)

    def write_state(self, observation: State) -> str:
        """Return an `observation` in the words of the disguise, with its squares in the order of their new names."""
        words = {name: [self.symbols.get(sign, sign) for sign in signs] for name, signs in self.signs(observation).items()}
        return "; ".join(sorted([f"{self.squares[name]}: {' '.join(found) or '-'}" for name, found in words.items()]))


class Game(Configured, ABC):
    """The rules of a turn-based game. Seats and chance make the moves, and each seat gets an observation of the state.

    A game that does not define `chance_outcomes` and `observation` is deterministic and has perfect information. A subclass
    defines `name` and the abstract methods. Its `__init__` takes the parameters of the game as keyword-only parameters with type
    hints; their values come from a spec. `__init__` raises ValueError if the values do not fit together.

    >>> from arena_games.tic_tac_toe import TicTacToe
    >>> game = TicTacToe()
    >>> state = game.parse_state("xx./oo./...")
    >>> game.to_move(state), game.actions(state)
    (0, (3, 6, 7, 8, 9))
    >>> game.returns(game.result(state, 3))
    (1.0, -1.0)
    """

    name: ClassVar[str]
    """Its name in specs and on the command line: lowercase letters, digits and dashes."""
    players: int = 2
    """The number of seats."""
    zero_sum: bool = True
    """Whether the returns of all seats add up to 0 at every terminal state."""
    perfect_recall: bool = True
    """Whether an observation contains all that its seat has seen and done so far. If so, it identifies the information set."""
    min_return: float = -1.0
    """The lowest result of a seat at the end of a game; a seat that commits a fault gets it, too. It must be finite: if results
    have no lower bound, choose one, and let `returns` raise lower results to it."""
    max_return: float = 1.0
    """The highest result of a seat at the end of a game; inf without a bound."""
    default_moves: int | None = None
    """The move limit of a match if neither a spec nor a caller sets one; None for the default of `Limits`. A match that ends at
    the limit has the result `standing`. The built-in searches look past the limit: a state does not say how many moves led to
    it."""
    native: ClassVar[bool] = False
    """Whether its rules run code that may crash the process, such as a C++ library. Such a game is played only in worker
    processes, and a crash of such a process is not a fault of an agent."""
    default_heuristic: ClassVar[str | None] = None
    """The name of the heuristic that agents get if a spec does not name one."""
    board: ClassVar[str | None]
    """The JavaScript module that draws states in reports and on web pages: a path relative to the file of the class and in the
    same package, such as `boards/othello.js`. Without a module, the page draws `grid`, or else shows the text of `render`. Like
    `grid_colors` and `grid`, it is optional and has no value here: a dataclass would take that value for the default of a
    field."""
    grid_colors: ClassVar[Mapping[str, str]]
    """The colour of each cell, by the text of the cell in `grid`: `#d33`, `#dd3333` or the name of a CSS colour. The text is
    black or white, whichever is easier to read."""

    @abstractmethod
    def initial(self, rng: random.Random) -> State:
        """Return a start state; all random numbers come from `rng`."""

    @abstractmethod
    def to_move(self, state: State) -> int:
        """Return the seat to move, from 0; CHANCE when chance moves."""

    @abstractmethod
    def actions(self, state: State) -> Sequence[Action]:
        """Return the legal actions in a fixed order without duplicates; empty if no seat can move."""

    @abstractmethod
    def result(self, state: State, action: Action) -> State:
        """Return the state after a legal `action`; `state` itself does not change."""

    def is_terminal(self, state: State) -> bool:
        """Return whether the game is over."""
        return not self.actions(state)

    @abstractmethod
    def returns(self, state: State) -> Sequence[float]:
        """Return the result of each seat at a terminal state; each is between `min_return` and `max_return`."""

    if TYPE_CHECKING:  # optional: the methods that a class defines decide its traits, so these have no default

        @property
        def rules_text(self) -> str:
            """Return the rules in words, as for a language model; by default, the docstring. It may be a class attribute."""

        def disguise(self, rng: random.Random) -> Disguise:
            """Return a disguise drawn by `rng`; optional. Raises ValueError if these parameters allow none."""

        def chance_outcomes(self, state: State) -> Sequence[tuple[Action, float]]:
            """Return the `actions` of a state in which chance moves, in the same order, with probabilities that add up to 1."""

        def resample(self, observation: State, seat: int, rng: random.Random) -> State:
            """Return a random state that is consistent with the `observation` of `seat`; all random numbers come from `rng`."""

        def action_space(self) -> Sequence[Action]:
            """Return every action that can ever be legal, in a fixed order. Learning agents and bridges use it."""

        def standing(self, state: State) -> Sequence[float]:
            """Return the result of each seat so far, for a match that ends at the move limit or by a fault of another seat.

            Each is between `min_return` and `max_return`. If a game does not define this method, a match that ends at the move
            limit pays each seat 0 if the game is zero-sum or if `min_return` <= 0 < `max_return`, and otherwise `min_return`.
            """

        def dialects(self) -> Mapping[str, Any]:
            """Return the notations of positions and actions for engines: an `arena.Uci` or an `arena.Gtp`, by protocol."""

    def chance_stream(self, state: State) -> Hashable:
        """Return the name of the random stream for chance in `state`. For example, each seat may have its own stream of dice."""
        return ""

    def observation(self, state: State, seat: int) -> State:
        """Return `state` as `seat` sees it, without the facts that are hidden from this seat. The default is the whole state."""
        return state

    def threats(self, state: State, seat: int) -> Collection[Action]:
        """Return the actions that would win at once if it were the turn of `seat`; optional."""
        return ()

    def is_quiet(self, state: State) -> bool:
        """Return whether no seat can win with one action; True for games that do not define `threats`."""
        return not any(self.threats(state, seat) for seat in range(self.players))

    def render(self, state: State) -> str:
        """Return the state as readable text of several lines. The default shows `grid`, if the game defines it."""
        try:
            rows = self.grid(state)
            width = max([len(mark) for row in rows for mark in row])
            return "\n".join([" ".join([(mark or ".").center(width) for mark in row]).rstrip() for row in rows])
        except Exception:  # the game has no grid, or its author uses the name for something else
            return self.format_state(state)

    if TYPE_CHECKING:

        def grid(self, state: State) -> list[list[str]]:
            """Return the state as rows of cells, which reports, web pages and the terminal draw; optional.

            Each cell is a text of at most 8 characters, or '' if it is empty. Rows have equal lengths, and at most 4,096 cells.
            """

        def cells(self, state: State, action: Action) -> Sequence[tuple[int, int]]:
            """Return the cells of `grid` for an action, as (row, column); optional. A click on one of them plays the action."""

    def format_state(self, state: State) -> str:
        """Return the text notation of a state, in one line. The default is its Python literal.

        Frozen sets, and dataclasses, named tuples and enumerations from the module of the game, are written as Python writes
        them, too, such as `Place(row=0, mark=Mark.CROSS)`.
        """
        try:
            return write(state, type(self))
        except NoNotation:
            return repr(state)

    def parse_state(self, text: str) -> State:
        """Return the state with the notation `text`. Raises ValueError with a description of the fault."""
        return read(text, type(self))

    def format_action(self, state: State, action: Action) -> str:
        """Return the text notation of an action that is legal in `state`, in one line.

        The default is `str(action)` for text, enumerations and other classes with a `__str__` of their own, else the same
        notation as that of states, in which the members of frozen sets are sorted.
        """
        kind: Any = type(action)
        if kind is int or kind.__str__ is not object.__str__:  # most games number their actions
            return str(action)
        try:
            return write(action, type(self))
        except NoNotation:
            return str(action)

    def parse_action(self, state: State, text: str) -> Action:
        """Return the action of `state` with the notation `text`. Raises ValueError with a description of the expected text."""
        wanted, legal = text.strip(), self.actions(state)
        for action in legal:
            if self.format_action(state, action) == wanted:
                return action
        texts = ", ".join([self.format_action(state, action) for action in legal])
        raise ValueError(f"expected {f'one of {texts}' if texts else 'no action'}, got {abbreviate(text)}")


class Puzzle(Game):
    """The rules of a puzzle: one seat, and a goal to reach.

    >>> from arena_games.sliding_tiles import SlidingTiles
    >>> puzzle = SlidingTiles()
    >>> puzzle.is_goal(puzzle.parse_state("1 2 3 / 4 5 6 / 7 8 ."))
    True
    """

    players: int = 1
    """A puzzle has one seat, for the solver."""
    zero_sum: bool = False
    """False, because no opponent loses if the solver wins."""
    path_matters: ClassVar[bool] = True
    """Whether the solution is the path to the goal; False if only the final state counts."""

    @abstractmethod
    def is_goal(self, state: State) -> bool:
        """Return whether `state` is a solution of the puzzle."""

    def is_answer(self, position: State, state: State) -> bool:
        """Return whether an Answer with this `state` solves the puzzle that starts at `position`; by default, if it is a goal.

        Optional, for puzzles in which a goal does not show how the puzzle started, such as a full sudoku.
        """
        return self.is_goal(state)

    def step_cost(self, state: State, action: Action, successor: State) -> float:
        """Return the cost of an action that leads from `state` to `successor`: a finite number of at least 0; 1 by default.

        A solver that meets another number fails with a GameError.
        """
        return 1

    def to_move(self, state: State) -> int:
        """Return 0, because a puzzle has one seat."""
        return 0

    def is_terminal(self, state: State) -> bool:
        """Return whether `state` is a goal or a dead end."""
        return self.is_goal(state) or not self.actions(state)

    def returns(self, state: State) -> Sequence[float]:
        """Return (1.0,) at a goal and (0.0,) at any other state."""
        return (1.0,) if self.is_goal(state) else (0.0,)

    def variables(self, state: State) -> Sequence[Sequence[Action]]:
        """Return, for each variable of a constraint problem that has no value yet, the actions that give it one; optional.

        Variables and actions come in a fixed order. An action is left out if it contradicts the values so far, so a variable
        without actions is a dead end. `result` must accept these actions, even if `actions` offers only some of them.
        """
        raise _missing(self, "variables")

    # Complete states, for local and genetic search. All these methods are optional and use the same type of state.

    def random_state(self, rng: random.Random) -> State:
        """Return a random complete state; optional."""
        raise _missing(self, "random_state")

    def neighbors(self, state: State) -> Sequence[State]:
        """Return the complete states that differ by one change; optional."""
        raise _missing(self, "neighbors")

    def crossover(self, a: State, b: State, rng: random.Random) -> State:
        """Return a complete state that combines the states `a` and `b`; optional."""
        raise _missing(self, "crossover")

    def mutate(self, state: State, rng: random.Random) -> State:
        """Return a complete state with one random change; optional."""
        raise _missing(self, "mutate")

    def local(self, state: State) -> Any:
        """Return a mutable view of a complete state for local search; optional.

        The view has `cost`, `propose(rng) -> move`, `delta(move) -> change of cost`, `apply(move)` and `state()`.
        """
        raise _missing(self, "local")


_ARGUMENTS = {
    "chance_outcomes": 1,
    "chance_stream": 1,
    "observation": 2,
    "resample": 3,
    "action_space": 0,
    "standing": 1,
    "dialects": 0,
    "grid": 1,
    "cells": 2,
    "needs_limit": 1,
    "refuses": 1,
    "policy": 2,
}
"""The optional methods of games and agents with their numbers of arguments."""


def gives(made: object, method: str) -> bool:
    """Return whether a game or an agent, or such a class, defines an optional method, such as `observation`, `grid` or `policy`.

    A member with the name of the method does not count if it is not a method or takes another number of arguments, because an
    older plugin may use the name for something of its own.

    >>> from arena_games.checkers import Checkers
    >>> gives(Checkers, "grid"), gives(Checkers, "observation")
    (True, False)
    """
    return _gives(made if isinstance(made, type) else type(made), method)


@cache
def _gives(kind: Any, method: str) -> bool:
    return overrides(kind, method) and takes(find_member(kind, method), _ARGUMENTS[method])


def takes(given: Any, arguments: int) -> bool:
    """Return whether `given`, as its class stores it, is a method that can be called with this number of arguments."""
    function = given.__func__ if isinstance(given, (staticmethod, classmethod)) else given
    count = arguments + (not isinstance(given, staticmethod))
    if isclass(function) or not callable(function):
        return False
    code = getattr(function, "__code__", None)
    if code is not None and code.co_argcount == count and not code.co_kwonlyargcount:
        return True  # computing a signature would take much longer
    try:
        signature(function).bind(*[None] * count)
    except (TypeError, ValueError):
        return False
    return True


def find_member(kind: type, name: str) -> Any:
    """Return a member as it is stored in a class or in one of its bases. Descriptors are not called."""
    return next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)


def overrides(game: Game | type[Game], method: str) -> bool:
    """Return whether the author of `game` has defined the optional method `method`. All other code asks this function.

    >>> from arena_games.tic_tac_toe import TicTacToe
    >>> overrides(TicTacToe, "threats"), overrides(TicTacToe, "chance_outcomes")
    (True, False)
    """
    given = getattr(game if isinstance(game, type) else type(game), method, None)
    return given is not None and given not in (getattr(Game, method, None), getattr(Puzzle, method, None))


def _missing(game: Game, method: str) -> TypeError:
    return TypeError(f"{name_of(game)} does not define {method}, which is an optional method")
