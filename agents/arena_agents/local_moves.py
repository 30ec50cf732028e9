"""The interface between local searches and a puzzle, and the best state that a search has found.

The interface is the same for a puzzle with its own local view and for a puzzle with `neighbors`. Only this module checks which
methods the puzzle has. If the puzzle has `local`, this method returns the view. Otherwise, a view is built from `neighbors` (or
from `mutate`, for one successor at a time) and the heuristic.
"""

import random
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar, cast

from arena import Answer, Game, Puzzle, Search, State, overrides

Step = Any
"""A move of a view, returned by its `propose` or `moves`. It is valid until the next `apply`."""
SAMPLED_MOVES = 100
"""The number of proposals in the sample that replaces the list of moves, for views and puzzles that cannot list all moves."""


class LocalView(Protocol):
    """A complete state that is changed in place. Its cost is 0 at a goal, and never negative."""

    @property
    def cost(self) -> float:
        """The cost of the state."""

    def propose(self, rng: random.Random, /) -> Step:
        """A random move."""

    def delta(self, move: Step, /) -> float:
        """The change in cost that a move makes."""

    def apply(self, move: Step, /) -> Any:
        """Make a move."""

    def state(self) -> State:
        """The current state."""


class Listing(LocalView, Protocol):
    """A view that lists all moves, for steepest ascent."""

    def moves(self) -> Iterable[Step]:
        """Every move."""


class Landscape:
    """Makes views of complete states of a puzzle: the first state, random states, or any given state."""

    def __init__(self, game: Game, position: State, search: Search) -> None:
        self.puzzle = cast(Puzzle, game)
        self._position = position
        self._search = search
        self._viewed = overrides(self.puzzle, "local")
        self._listed = overrides(self.puzzle, "neighbors")
        self._drawn = overrides(self.puzzle, "random_state")

    def start(self) -> State:
        """The start that all local searches of the round share; the position itself if no state can be drawn."""
        return self._search.start() if self._drawn else self._position

    def fresh(self) -> State:
        """A random state for a restart; the position itself if no state can be drawn."""
        return self.puzzle.random_state(self._search.rng) if self._drawn else self._position

    def view(self, state: State) -> LocalView:
        """A view that proposes moves one by one."""
        if self._viewed:
            return cast(LocalView, self.puzzle.local(state))
        return Neighborhood(self.puzzle, self._search, state)

    def listing(self, state: State) -> Listing:
        """A view that lists its moves. If the puzzle cannot list them, the list is a sample of proposals."""
        view = self.view(state)
        if getattr(view, "moves", None) is not None:
            return cast(Listing, view)
        if self._listed:
            return Neighborhood(self.puzzle, self._search, state)
        return Sampled(view, self._search.rng)

    def cost(self, state: State) -> float:
        """The cost of a state, as its view computes it."""
        if self._viewed:
            return cast(LocalView, self.puzzle.local(state)).cost
        return self._search.cost_to_go(state)

    def is_solved(self, view: LocalView) -> bool:
        """Return whether the state of a view is a goal."""
        return view.cost <= 0 and self.puzzle.is_goal(view.state())


class Neighborhood:
    """A view that uses `neighbors` and the heuristic. A move is the successor state itself."""

    __slots__ = ("_evaluate", "_known", "_moves", "_mutate", "_neighbors", "_state", "cost")

    def __init__(self, puzzle: Puzzle, search: Search, state: State) -> None:
        self._neighbors = puzzle.neighbors
        self._mutate = puzzle.mutate if overrides(puzzle, "mutate") else None
        self._evaluate = search.cost_to_go
        self._state = state
        self._moves: Sequence[State] | None = None
        self._known: tuple[State, float] = (state, self._evaluate(state))
        self.cost = self._known[1]

    def moves(self) -> Sequence[State]:
        """The successors, generated once for each state."""
        if self._moves is None:
            self._moves = self._neighbors(self._state)
        return self._moves

    def propose(self, rng: random.Random) -> State:
        """A random successor. If the puzzle has `mutate`, only this successor is generated."""
        return rng.choice(self.moves()) if self._mutate is None else self._mutate(self._state, rng)

    def delta(self, move: State) -> float:
        """The change of cost."""
        self._known = (move, self._evaluate(move))
        return self._known[1] - self.cost

    def apply(self, move: State) -> None:
        """Go to a successor."""
        known, cost = self._known
        self.cost = cost if known is move else self._evaluate(move)
        self._state = move
        self._moves = None

    def state(self) -> State:
        """The state of the view."""
        return self._state


class Sampled:
    """A view that uses a sample of proposals as the list of its moves."""

    def __init__(self, view: LocalView, rng: random.Random) -> None:
        self._view = view
        self._rng = rng
        self.propose = view.propose
        self.delta = view.delta
        self.apply = view.apply
        self.state = view.state

    @property
    def cost(self) -> float:
        """The cost of the state."""
        return self._view.cost

    def moves(self) -> Sequence[Step]:
        """A sample of proposals, which may have duplicates."""
        return [self.propose(self._rng) for _ in range(SAMPLED_MOVES)]


Seen = TypeVar("Seen", bound=LocalView)


class Incumbent:
    """Keeps the cheapest state that was offered (the first, if several are equal), and reports it with the number of moves."""

    def __init__(self, search: Search) -> None:
        self._report = search.report
        self._state: State = None
        self.cost = float("inf")

    def offer(self, cost: float, state: State, steps: int) -> None:
        """Keep a state if it is cheaper than the one so far, and report it."""
        if cost < self.cost:
            self.cost = cost
            self._state = state
            self.report(steps)

    def report(self, steps: int) -> None:
        """Report the kept state with the total number of moves."""
        self._report(self.answer(steps), value=-self.cost)

    def answer(self, steps: int) -> Answer:
        """The cheapest state, with the total number of moves."""
        return Answer(self._state, steps)


class Walk(Generic[Seen]):
    """A search with one current state: its view, the number of its moves, and its incumbent.

    It is a context manager. At its exit, even when the budget runs out, it offers the current state to the incumbent. So a walk
    that never makes its state worse copies the state only at the exit.
    """

    def __init__(self, search: Search, view: Seen) -> None:
        self.view = view
        self.steps = 0
        self._incumbent = Incumbent(search)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.keep()
        self._incumbent.report(self.steps)

    def keep(self) -> None:
        """Offer the current state; it is copied only if it is the cheapest so far."""
        cost = self.view.cost
        if cost < self._incumbent.cost:
            self._incumbent.offer(cost, self.view.state(), self.steps)

    def go_on_from(self, view: Seen) -> None:
        """Offer the current state and continue with another view."""
        self.keep()
        self.view = view

    def answer(self) -> Answer:
        """The cheapest state, with the total number of moves."""
        return self._incumbent.answer(self.steps)
