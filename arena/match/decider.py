"""An agent and all that it is given: its view of the game, its meter, its limits, its random stream. One call is one decision.

The referee uses this for agents in its own process, and `arena_isolation.agent_host` for agents in processes of their own, so
that an agent meets the same wherever it runs.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

from arena.agent import Agent
from arena.counting import GoPlain, Meter, counting_view
from arena.errors import Interrupted, OutOfBudget, Unavailable, author_traceback, describe
from arena.game import Action, Game, State
from arena.heuristic import Evaluation
from arena.limits import Limits, clip_text
from arena.search import Search, SharedStart
from arena.search_engines import find_loop
from arena.unmetered import seen

_KINDS = {MemoryError: "memory", Unavailable: "unavailable"}


class AgentRaised(Exception):
    """An agent raised an exception. `kind` is `exception`, `memory` or `unavailable`."""

    def __init__(self, error: BaseException) -> None:
        self.kind = next((kind for raised, kind in _KINDS.items() if isinstance(error, raised)), "exception")
        self.message = clip_text(str(error) if isinstance(error, Unavailable) else describe(error))
        self.traceback = clip_text(author_traceback(error))


class Decider:
    """One agent in one match."""

    __slots__ = (
        "_budget",
        "_evaluation",
        "_limits",
        "_make",
        "_meter",
        "_view",
        "agent",
        "compiled",
        "exchanges",
        "fallback",
        "rng",
        "start",
        "used",
    )

    used: tuple[int, int, float, int | None, float | None, Mapping[str, float] | None, int]
    """Nodes, evaluations, seconds, depth, value, what else was spent, and unmetered states of the last decision."""

    def __init__(
        self,
        game: Game,
        make: Callable[[], Agent],
        evaluation: Evaluation | None,
        limits: Limits,
        rng: random.Random,
        start: SharedStart,
    ) -> None:
        self._limits = limits
        self._budget = limits.budget
        self._evaluation = evaluation
        self._meter = meter = Meter()
        self._view = counting_view(game, meter)
        self.start = start
        """Where local searches begin; may be set until the first decision."""
        self.rng = rng
        self.fallback = False
        """Whether the last decision was drawn at random, since the budget ran out before anything was reported."""
        self.compiled = False
        """Whether the loop of a search engine has run in any of its decisions."""
        self._make = make
        self.used = (0, 0, 0.0, None, None, None, 0)
        self.exchanges: tuple[str, ...] = ()
        """What the agent has added to the transcript of the match, as JSON."""

    def make_agent(self) -> None:
        """Make the agent; AgentRaised if it raises."""
        try:
            self.agent = self._make()
        except Interrupted:
            raise
        except BaseException as error:  # an agent's SystemExit and KeyboardInterrupt are its own faults
            raise AgentRaised(error) from error

    def choose(self, state: State, legal: Sequence[Action]) -> Any:
        """Ask for an action. AgentRaised if the agent raises; what it returns is not looked at."""
        return self._decide(self.agent.choose, state, legal)

    def solve(self, state: State) -> Any:
        """Ask for a solution; None if the agent gave up or ran out of its budget with nothing to show."""
        return self._decide(self.agent.solve, state, ())

    def _decide(self, method: Callable[..., Any], state: State, legal: Sequence[Action]) -> Any:
        meter = self._meter
        search = Search(self._view, self._evaluation, self._limits, meter, self.rng, self.start, find_loop)
        if self._budget:
            meter.begin(self._limits.nodes, self._limits.seconds, self._limits.cpu_seconds)
        else:
            meter.nodes = meter.evaluations = 0
        self.fallback = False
        stopped = None
        seen.states = 0
        began = perf_counter()
        try:
            choice = method(self._view, state, search)
        except BaseException as error:  # as above
            stopped = error
        if stopped is not None and type(stopped) is GoPlain:
            self.compiled = True
            search.served.undo(str(stopped))
            meter.paused = 0.0  # nothing of the decision that was given up is part of the next one
            return self._decide(method, state, legal)
        seconds = perf_counter() - began
        if meter.paused:
            seconds, meter.paused = seconds - meter.paused, 0.0
        if search.served is not None and search.served.ran:
            self.compiled = True
        last = search._last  # noqa: SLF001 - what `depth` and `value` read, without two calls a decision
        self.used = (meter.nodes, meter.evaluations, seconds, last.depth, last.value, search.spent, seen.states)
        if search.exchanges:
            self.exchanges += search.exchanges
        return choice if stopped is None else self._after(stopped, search, legal)

    def _after(self, stopped: BaseException, search: Search, legal: Sequence[Action]) -> Any:
        """What counts after an exception: the last report, or a random action, when the budget ran out."""
        if isinstance(stopped, Interrupted):
            raise stopped
        if not (isinstance(stopped, OutOfBudget) and self._meter.exhausted):
            raise AgentRaised(stopped) from stopped
        if search.reported:
            return search.best_action
        if not legal:
            return None
        self.fallback = True
        return self.rng.choice(legal)
