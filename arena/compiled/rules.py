"""The second edition of a game for compiled searches: its rules over whole numbers, in plain Python.

All numbers have signed 64 bits, indices are never negative, loops go over `range` or are `while`. A state is a tuple of
`words` numbers, an action is a number. The attributes that the methods read are numbers, or tables of numbers.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

Words = tuple[int, ...]
"""A state, or what an estimate carries along: a fixed number of whole numbers."""


class Rules:
    """The rules of a game or puzzle over whole numbers.

    A subclass gives `words`, `width`, `encode` and `action`, which are called as they are, and those of the other methods
    that its game has: they are compiled, and have to agree with the game's own.
    """

    words: int
    """The length of a state."""
    width: int
    """The most actions that a state can have."""
    players: int = 2
    """The number of seats."""
    scratch: Sequence[str] = ()
    """Attributes, arrays of 64 bits ("q"), into which methods write for the moment; nothing may follow from what was there."""
    tree: bool = False
    """Whether no state can be reached in two ways from any one start: searches then need not remember where they have been."""

    def encode(self, state: Any) -> Words:
        """Return the numbers of a state of the game."""
        raise NotImplementedError

    def action(self, state: Any, number: int) -> Any:
        """Return the action of the game that a number stands for in a state of the game."""
        return number

    if TYPE_CHECKING:  # optional, and without a default: what a class gives decides what can be compiled

        def to_move(self, state: Words) -> int:
            """Return the seat whose turn it is."""

        def actions(self, state: Words) -> Iterable[int]:
            """Yield the actions, in the order of the game."""

        def result(self, state: Words, action: int) -> Words:
            """Return the state after an action."""

        def is_terminal(self, state: Words) -> bool:
            """Tell whether play is over."""

        def returns(self, state: Words) -> Sequence[float]:
            """Return what each seat gets at the end."""

        def threats(self, state: Words, seat: int) -> Iterator[int]:
            """Yield the actions that would win at once if it were the turn of `seat`."""

        def is_goal(self, state: Words) -> bool:
            """Tell whether a state solves the puzzle."""

        def chance(self, state: Words, number: float) -> int:
            """Return the outcome that a random number from 0 to 1 stands for where chance moves, `to_move` being CHANCE (-1).

            It is the first of the game's `chance_outcomes` whose cumulated probability is above the number, else the last.
            Games with chance are played at random by compiled code, also by mcts from its leaves on; all else is plain there.
            """

        def step_cost(self, state: Words, action: int, successor: Words) -> float:
            """Return the cost of a step, where the puzzle gives one."""

        def reverse(self, state: Words, action: int) -> int:
            """Return the action that leads back to `state` after `action`: a search need not generate what it comes from."""


class Grid(Rules):
    """Rules of states of many words, which are changed in place: in place of `result` they give `apply`.

    A state is an array of `words` numbers to every method. Searches that follow actions alone run compiled over it: bfs, dfs
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
            """Return what is carried at the first state."""

        def after(self, carried: Words, state: Words, action: int, successor: Words) -> Words:
            """Return what is carried after an action."""

        def value(self, carried: Words) -> float:
            """Return the estimated cost to go."""

        def evaluate(self, state: Words, player: int) -> float:
            """Return the value of an unfinished state to `player`."""


class Board:
    """A complete state in arrays, for local search, with moves as numbers.

    Its attributes are numbers, constant tables, and arrays (of the modules `array` and `numpy`, `bytearray`) that its methods
    may change in place, also those of its parts. `rng` has `random`, `randrange`, `getrandbits` and `choice` from a table.
    `state` is called as it is; the other methods are compiled, and have to agree with the `local` view of the game: the same
    costs, the same proposals with the same random numbers, the same moves in the same order.

    For genetic search it gives `encode`, `decode`, `cost_of`, `crossover` and `mutate`. These are about states in arrays of
    numbers of their own, and agree with `crossover` and `mutate` of the puzzle; `begin` is not called then.
    """

    cost: Any
    """An array of one."""
    width: int = 0
    """The most moves that there are, for searches that list them."""
    long: bool = False
    """Whether a search in plain Python takes longer than compiling it, which is then done before the first one."""

    def state(self) -> Any:
        """Return the state of the puzzle."""
        raise NotImplementedError

    if TYPE_CHECKING:

        def begin(self) -> None:
            """Set up what follows from the state; called once, before anything else. Optional."""

        def propose(self, rng: Any) -> int:
            """Return a move drawn at random."""

        def delta(self, move: int) -> float:
            """Return by how much a move would change the cost."""

        def apply(self, move: int) -> None:
            """Make a move."""

        def moves(self) -> Iterable[int]:
            """Yield every move. Optional."""

        def encode(self, state: Any) -> Sequence[int]:
            """Return the numbers of a state of the puzzle, as many for each; called as it is."""

        def decode(self, numbers: Sequence[int]) -> Any:
            """Return the state of the puzzle with these numbers; called as it is."""

        def cost_of(self, state: Sequence[int]) -> float:
            """Return the cost of a state. Arrays of the board may serve as scratch; nothing may follow from what was there."""

        def crossover(self, a: Sequence[int], b: Sequence[int], child: Any, rng: Any) -> None:
            """Write the child of two states, every number of it."""

        def mutate(self, state: Any, rng: Any) -> None:
            """Change a state at random."""

        def draw(self, rng: Any) -> None:
            """Fill the arrays at random: for the board that `compiled_draw` of a puzzle gives."""
