"""The best state that a local search has met so far, which is what it answers with and what it reports."""

from types import TracebackType
from typing import Generic, Self, TypeVar

from arena import Answer, Search, State
from arena_agents.local_moves import LocalView

Seen = TypeVar("Seen", bound=LocalView)


class Incumbent:
    """Keeps the cheapest state offered, the first of equals, and reports it with the number of moves made."""

    def __init__(self, search: Search) -> None:
        self._report = search.report
        self._state: State = None
        self.cost = float("inf")

    def offer(self, cost: float, state: State, steps: int) -> None:
        """Keep a state if it is cheaper, and report it."""
        if cost < self.cost:
            self.cost = cost
            self._state = state
            self.report(steps)

    def report(self, steps: int) -> None:
        """Report what is kept, after so many moves in all."""
        self._report(self.answer(steps), value=-self.cost)

    def answer(self, steps: int) -> Answer:
        """The cheapest state, after so many moves in all."""
        return Answer(self._state, steps)


class Walk(Generic[Seen]):
    """A search that stands at one state at a time: where it is, how many moves it has made, and its incumbent.

    Used as a context: on leaving it, also when the budget runs out, the state where it stands is offered. So a walk that
    never goes uphill need not copy its state before.
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

    @property
    def lowest(self) -> float:
        """The cost of what was kept."""
        return self._incumbent.cost

    def keep(self) -> None:
        """Offer the state where the walk stands; it is copied only if it is the cheapest so far."""
        cost = self.view.cost
        if cost < self._incumbent.cost:
            self._incumbent.offer(cost, self.view.state(), self.steps)

    def go_on_from(self, view: Seen) -> None:
        """Keep what there is and stand elsewhere."""
        self.keep()
        self.view = view

    def answer(self) -> Answer:
        """The cheapest state that was kept, with all moves made."""
        return self._incumbent.answer(self.steps)
