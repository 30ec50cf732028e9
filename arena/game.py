"""The rules: a `Game` for two or more seats in turns, a `Puzzle` for one seat and a goal.

A game object holds rules and parameters, never a position: a position is a state, a plain immutable value that is passed in and
returned. This makes searches safe, records replayable and worker processes cheap.
"""

import ast
import random
from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from functools import cache
from inspect import getattr_static, isclass, signature
from typing import TYPE_CHECKING, Any, ClassVar

from arena.configured import Configured, name_of

State = Any
"""A state of a game: hashable and immutable. Authors may annotate with their own types."""
Action = Any
"""An action: hashable and immutable."""

CHANCE = -1
"""The seat that `to_move` returns when chance moves; then `actions` are the outcomes of chance."""


def uniform(outcomes: Iterable[Action]) -> list[tuple[Action, float]]:
    """Return `outcomes` of chance, each with the same probability. ValueError without any.

    >>> uniform(["heads", "tails"])
    [('heads', 0.5), ('tails', 0.5)]
    """
    listed = list(outcomes)
    if not listed:
        raise ValueError("expected at least one outcome, got none")
    return [(outcome, 1.0 / len(listed)) for outcome in listed]


class Game(Configured, ABC):
    """The rules of a game in turns: seats and chance move, and every seat gets an observation of the state.

    A game without `chance_outcomes` and `observation` is deterministic, with perfect information. A subclass
    gives `name` and the abstract methods. Its `__init__` takes the parameters of the game, keyword-only and hinted, straight from
    a spec; it raises ValueError if they do not fit together.

    >>> from arena_games.tic_tac_toe import TicTacToe
    >>> game = TicTacToe()
    >>> state = game.parse_state("xx./oo./...")
    >>> game.to_move(state), game.actions(state)
    (0, (3, 6, 7, 8, 9))
    >>> game.returns(game.result(state, 3))
    (1.0, -1.0)
    """

    name: ClassVar[str]
    """The key in the registry: small letters, digits and dashes."""
    players: int = 2
    """The number of seats."""
    zero_sum: bool = True
    """Whether the returns of all seats add up to 0 at every terminal state."""
    perfect_recall: bool = True
    """Whether an observation contains everything that its seat has seen and done, so that it identifies the information set."""
    min_return: float = -1.0
    """The lowest result of a seat at the end, and the price of a fault: a finite number."""
    max_return: float = 1.0
    """The highest result of a seat at the end; inf if there is no bound."""
    default_moves: int | None = None
    """The move limit of a match if a spec and a caller give none; None for the default of Limits."""
    native: ClassVar[bool] = False
    """Whether its rules run code that may crash the process, such as a library in C++. Such a game is played only in worker
    processes, and no agent is blamed if one of them ends."""
    default_heuristic: ClassVar[str | None] = None
    """The name of the heuristic that agents get if a spec names none."""
    board: ClassVar[str | None]
    """The JavaScript module that draws states in reports and on pages: its path relative to the file of the class, in the same
    package, as in `boards/othello.js`. Without it, states are drawn by `grid`, or shown by `render`. `board`, `grid_colors` and
    `grid` are optional. They have no value here, because it would become the default of a dataclass field of that name."""
    grid_colors: ClassVar[Mapping[str, str]]
    """Colours of cells by the mark that `grid` puts into them, as `#d33`, `#dd3333` or the name of a CSS colour; the text is
    black or white, whichever is readable."""

    @abstractmethod
    def initial(self, rng: random.Random) -> State:
        """Return a starting state; all randomness comes from `rng`."""

    @abstractmethod
    def to_move(self, state: State) -> int:
        """Return the seat to move, from 0; CHANCE when chance moves."""

    @abstractmethod
    def actions(self, state: State) -> Sequence[Action]:
        """Return the legal actions in a fixed order without duplicates; empty if no seat can act."""

    @abstractmethod
    def result(self, state: State, action: Action) -> State:
        """Return the state after a legal `action`; `state` itself does not change."""

    def is_terminal(self, state: State) -> bool:
        """Return whether play is over."""
        return not self.actions(state)

    @abstractmethod
    def returns(self, state: State) -> Sequence[float]:
        """Return the result of each seat at a terminal state, each from `min_return` to `max_return`."""

    if TYPE_CHECKING:  # optional, and without a default: the methods that a class defines decide its traits

        def chance_outcomes(self, state: State) -> Sequence[tuple[Action, float]]:
            """Return the `actions` of a state in which chance moves, in their order, with probabilities that add up to 1."""

        def resample(self, observation: State, seat: int, rng: random.Random) -> State:
            """Return a random state that is consistent with the `observation` of `seat`; randomness comes from `rng`."""

        def action_space(self) -> Sequence[Action]:
            """Return every action that may ever be legal, in a fixed order: for learning, and for bridges."""

        def standing(self, state: State) -> Sequence[float]:
            """Return what each seat has so far: its result at the move limit, or if another seat commits a fault."""

        def dialects(self) -> Mapping[str, Any]:
            """Return how positions and actions are written for engines, keyed by protocol: an `arena.Uci`, an `arena.Gtp`."""

    def chance_stream(self, state: State) -> Hashable:
        """Return the name of the stream from which chance is drawn in `state`: dice are named after the seat that throws."""
        return ""

    def observation(self, state: State, seat: int) -> State:
        """Return `state` as `seat` sees it: a state without the facts that it may not know. By default the whole state."""
        return state

    def threats(self, state: State, seat: int) -> Collection[Action]:
        """Return the actions that would win at once if it were `seat`'s turn; optional."""
        return ()

    def is_quiet(self, state: State) -> bool:
        """Return whether no seat can win with one action; True for games that do not give `threats`."""
        return not any(self.threats(state, seat) for seat in range(self.players))

    def render(self, state: State) -> str:
        """Return the state as readable text of several lines: its `grid` if the game gives one."""
        try:
            rows = self.grid(state)
            width = max([len(mark) for row in rows for mark in row])
            return "\n".join([" ".join([(mark or ".").center(width) for mark in row]).rstrip() for row in rows])
        except Exception:  # there is none, or the author uses the name for something else
            return self.format_state(state)

    if TYPE_CHECKING:

        def grid(self, state: State) -> list[list[str]]:
            """Return the state as rows of cells, to be drawn in reports, on pages and in the terminal; optional.

            Each cell is a text of at most 8 characters, '' if it is empty; rows have one length; at most 4,096 cells.
            """

        def cells(self, state: State, action: Action) -> Sequence[tuple[int, int]]:
            """Return the cells of `grid` that stand for an action, as (row, column): a click on one plays it; optional."""

    def format_state(self, state: State) -> str:
        """Return the one-line text notation of a state. The default is its Python literal."""
        return repr(state)

    def parse_state(self, text: str) -> State:
        """Return the state that `text` stands for; ValueError describes the fault."""
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
            raise ValueError(f"expected a Python literal, got {text!r}") from error

    def format_action(self, state: State, action: Action) -> str:
        """Return the one-line text notation of an action that is legal in `state`."""
        return str(action)

    def parse_action(self, state: State, text: str) -> Action:
        """Return the action of `state` that `text` stands for; ValueError says what was expected."""
        wanted, legal = text.strip(), self.actions(state)
        for action in legal:
            if self.format_action(state, action) == wanted:
                return action
        texts = ", ".join([self.format_action(state, action) for action in legal])
        raise ValueError(f"expected one of {texts or 'no action'}, got {text!r}")


class Puzzle(Game):
    """The rules of a puzzle: one seat, and a goal to reach.

    >>> from arena_games.sliding_tiles import SlidingTiles
    >>> puzzle = SlidingTiles()
    >>> puzzle.is_goal(puzzle.parse_state("1 2 3 / 4 5 6 / 7 8 ."))
    True
    """

    players: int = 1
    """One: the solver."""
    zero_sum: bool = False
    """False: no opponent loses when the solver wins."""
    path_matters: ClassVar[bool] = True
    """Whether the solution is the path to the goal; False if only the final state counts."""

    @abstractmethod
    def is_goal(self, state: State) -> bool:
        """Return whether `state` solves the puzzle."""

    def is_answer(self, position: State, state: State) -> bool:
        """Return whether an Answer with the final `state` solves the puzzle set by `position`; by default whether it is a goal.

        Optional, for puzzles whose goals do not show the start of the search, such as a full sudoku.
        """
        return self.is_goal(state)

    def step_cost(self, state: State, action: Action, successor: State) -> float:
        """Return the cost of one action, which leads to the state `successor`: 0 or more, 1 unless a subclass says otherwise."""
        return 1

    def to_move(self, state: State) -> int:
        """Return 0: a puzzle has one seat."""
        return 0

    def is_terminal(self, state: State) -> bool:
        """Return whether `state` is a goal or a dead end."""
        return self.is_goal(state) or not self.actions(state)

    def returns(self, state: State) -> Sequence[float]:
        """Return (1.0,) at a goal and (0.0,) elsewhere."""
        return (1.0,) if self.is_goal(state) else (0.0,)

    # The complete-state view, for local and genetic search. All four are optional and share the state type.

    def random_state(self, rng: random.Random) -> State:
        """Return a complete state drawn at random; optional."""
        raise _missing(self, "random_state")

    def neighbors(self, state: State) -> Sequence[State]:
        """Return the complete states one change away; optional."""
        raise _missing(self, "neighbors")

    def crossover(self, a: State, b: State, rng: random.Random) -> State:
        """Return a complete state that takes after both states `a` and `b`; optional."""
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
}


def gives(game: Game | type[Game], method: str) -> bool:
    """Return whether the author of `game` gave one of the optional methods of chance and observations.

    A member of that name that is not a `method`, or takes another number of arguments, does not count.
    """
    return _gives(game if isinstance(game, type) else type(game), method)


@cache
def _gives(kind: type[Game], method: str) -> bool:
    return overrides(kind, method) and takes(getattr_static(kind, method), _ARGUMENTS[method])


def takes(given: Any, arguments: int) -> bool:
    """Return whether `given`, a member as stored in its class, is a method that can be called with so many `arguments`."""
    function = given.__func__ if isinstance(given, (staticmethod, classmethod)) else given
    if isclass(function) or not callable(function):
        return False
    try:
        signature(function).bind(*[None] * (arguments + (not isinstance(given, staticmethod))))
    except (TypeError, ValueError):
        return False
    return True


def overrides(game: Game | type[Game], method: str) -> bool:
    """Return whether the author of `game` gave an optional `method`, named by a text. This is the one place that decides it.

    >>> from arena_games.tic_tac_toe import TicTacToe
    >>> overrides(TicTacToe, "threats"), overrides(TicTacToe, "chance_outcomes")
    (True, False)
    """
    given = getattr(game if isinstance(game, type) else type(game), method, None)
    return given is not None and given not in (getattr(Game, method, None), getattr(Puzzle, method, None))


def _missing(game: Game, method: str) -> TypeError:
    return TypeError(f"{name_of(game)} has no {method}: its traits do not promise it")
