"""Runs a registered agent as a judge, and stores the value that it reports for every depth."""

from collections.abc import Callable
from typing import Any, NamedTuple

from arena import Action, Agent, Game, Limits, OutOfBudget, Search, Spec, State
from arena.api.games import Evaluation
from arena.api.match import Seat, Stream
from arena.api.search import GoCompiled, GoPlain, Meter, SharedStart, counting_view, search_engines
from arena_review.api import Review
from arena_setup.match_setup import MatchSetup

NOT_FOUND = object()
"""The result of a decision that ran out of budget."""


class Rung(NamedTuple):
    """The result of one iteration of iterative deepening."""

    depth: int
    """The depth in plies; 0 if the search does not report it."""
    nodes: int
    """The number of nodes up to the end of this iteration."""
    value: float
    """The value for the seat that decides, on the scale from -1 to 1 if the returns of the game have a range."""
    best: str
    exact: bool


class _Listening(Search):
    """A search that stores each report at the end of an iteration; for an agent without iterations, only the last report."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.iterations: list[tuple[int, int, float, Action, bool]] = []
        self.latest: tuple[int, int, float, Action, bool] | None = None

    def report(self, best: Any, **reported: Any) -> None:
        """Store the report."""
        super().report(best, **reported)
        if self.value is not None:
            exact = reported.get("exact")
            self.latest = (self.depth or 0, self.nodes, self.value, best, bool(exact))
            if exact is not None:
                self.iterations.append(self.latest)


def seat_of(review: Review, word: str) -> Seat:
    """Return a seat of the board for an agent with its default heuristic. The agent is a word such as `star2:depth=9`."""
    return spec_of(review, word).boards[0].seats[0]


def spec_of(review: Review, word: str) -> Spec:
    """Return the spec of a match in which one agent, given as a word, plays in every seat."""
    name, parameters = review.setup["name"], {key: value for key, value in review.setup.items() if key != "name"}
    return MatchSetup(name, parameters, plugins=tuple(review.plugins)).load_alike(word)


class Climber:
    """Lets an agent decide in positions of a game. Each time, the agent is new and has a new budget and its own
    random numbers.
    """

    def __init__(self, game: Game, make: Callable[[], Agent], evaluation: Evaluation | None, depth: int | None = None) -> None:
        """`depth` is the limit on the depth of each decision in plies; None means no limit."""
        self._game = game
        self._make = make
        self._evaluation = evaluation
        self._depth = depth
        self._meter = Meter()

    def climb(self, state: State, nodes: int, stream: str, only: Action | None = None) -> list[Rung]:
        """Return the iterations that ended within `nodes`. With `only`, the search considers only this action at its root.

        When the agent never ends an iteration, its last report is the only result.
        """
        view = counting_view(self._game, self._meter)
        if only is not None:
            view.__dict__["actions"] = lambda here: (only,) if here == state else self._game.actions(here)
        _, search = self._decide("choose", view, state, nodes, stream)
        found = search.iterations or ([] if search.latest is None else [search.latest])
        text = self._game.format_action
        return [Rung(depth, used, value, text(state, best), exact) for depth, used, value, best, exact in found]

    def solve(self, state: State, nodes: int) -> Any:
        """Return the solution of a solver; None when it gives up, and NOT_FOUND when the budget ran out."""
        return self._decide("solve", counting_view(self._game, self._meter), state, nodes, "")[0]

    def _decide(self, method: str, view: Game, state: State, nodes: int, stream: str) -> tuple[Any, _Listening]:
        """Call an agent in the same way as the referee. When a compiled loop begins or ends during the decision, call the agent
        once more.
        """

        def find_loop(search: Search, loop: str, options: dict[str, Any]) -> Any:
            found = (engine.find_loop(search, loop, options) for engine in search_engines())
            return next((one for one in found if one is not None), None)

        rng = Stream(stream)
        start = SharedStart(self._game, rng)
        search = _Listening(view, self._evaluation, Limits(nodes=nodes, depth=self._depth), self._meter, rng, start, find_loop)
        self._meter.begin(nodes, None)
        answer, again = NOT_FOUND, None
        try:
            answer = getattr(self._make(), method)(view, state, search)
        except OutOfBudget:
            pass
        except (GoPlain, GoCompiled) as stopped:
            again = stopped
        if search.served is not None:
            search.served.finish()
            if again is not None:
                search.served.undo(str(again) if isinstance(again, GoPlain) else None)
        return (answer, search) if again is None else self._decide(method, view, state, nodes, stream)
