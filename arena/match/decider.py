"""An agent with its view of the game, its meter, its limits and its random stream. One call is one decision.

The referee uses this for agents in its own process, and `arena_isolation.agent_host` for agents in processes of their own, so
that an agent meets the same conditions everywhere.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any, NamedTuple

from arena.agent import Agent
from arena.counting import GoCompiled, GoPlain, Meter, counting_view
from arena.errors import Interrupted, OutOfBudget, Unavailable, author_traceback, describe
from arena.game import Action, Game, State
from arena.heuristics import Evaluation
from arena.identity import is_used
from arena.limits import Limits, clip_text
from arena.search import Search, SharedStart
from arena.search_engines import find_loop
from arena.unmetered import seen

_KINDS = {MemoryError: "memory", Unavailable: "unavailable"}


class EngineUse(NamedTuple):
    """The number of decisions of a seat with the loop of a search engine and without, and their seconds."""

    compiled: int = 0
    compiled_seconds: float = 0.0
    plain: int = 0
    plain_seconds: float = 0.0
    reason: str | None = None
    """Why there is no loop, if one was requested."""

    def add(self, seconds: float, *, compiled: bool, reason: str | None = None) -> "EngineUse":
        """Return the same with one more decision."""
        if compiled:
            return self._replace(compiled=self.compiled + 1, compiled_seconds=self.compiled_seconds + seconds)
        return self._replace(plain=self.plain + 1, plain_seconds=self.plain_seconds + seconds, reason=reason)


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
        "engine_use",
        "exchanges",
        "fallback",
        "ran_compiled",
        "rng",
        "start",
        "used",
    )

    used: tuple[int, int, float, int | None, float | None, Mapping[str, float] | None, int]
    """Nodes, evaluations, seconds, depth, value, other amounts, and unmetered states of the last decision."""

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
        """The start of local searches; may be set until the first decision."""
        self.rng = rng
        self.fallback = False
        """Whether the last decision was a random action, because the budget ran out before any report."""
        self.engine_use: EngineUse | None = None
        """Its decisions with the loop of a search engine and without; None if it has requested none."""
        self.ran_compiled: bool | None = None
        """Whether such a loop ran in the last decision; None if it requested none."""
        self._make = make
        self.used = (0, 0, 0.0, None, None, None, 0)
        self.exchanges: tuple[str, ...] = ()
        """Texts that the agent has added to the transcript of the match, as JSON."""

    @property
    def drew(self) -> bool:
        """Return whether the random numbers of the seat were used."""
        return is_used(self.rng)

    def make_agent(self) -> None:
        """Make the agent; AgentRaised if it raises."""
        try:
            self.agent = self._make()
        except Interrupted:
            raise
        except BaseException as error:  # an agent's SystemExit and KeyboardInterrupt are its own faults
            raise AgentRaised(error) from error

    def choose(self, state: State, legal: Sequence[Action]) -> Any:
        """Ask for an action. AgentRaised if the agent raises; its answer is not checked."""
        return self._decide(self.agent.choose, state, legal)

    def solve(self, state: State) -> Any:
        """Ask for a solution; None if the agent gave up or exceeded its budget without a report."""
        return self._decide(self.agent.solve, state, ())

    def _decide(self, method: Callable[..., Any], state: State, legal: Sequence[Action]) -> Any:
        meter = self._meter
        search = Search(self._view, self._evaluation, self._limits, meter, self.rng, self.start, find_loop)
        if self._budget:
            meter.begin(self._limits.nodes, self._limits.seconds, self._limits.cpu_seconds)
        else:
            meter.nodes = meter.evaluations = 0
        self.fallback, self.ran_compiled = False, None
        stopped = None
        seen.states = 0
        began = perf_counter()
        try:
            choice = method(self._view, state, search)
        except BaseException as error:  # as above
            stopped = error
        seconds = perf_counter() - began
        served = search.served
        if served is not None:
            served.finish()
            if type(stopped) is GoPlain or type(stopped) is GoCompiled:
                served.undo(str(stopped) if type(stopped) is GoPlain else None)
                meter.paused = 0.0  # nothing of the abandoned decision is part of the next one
                return self._decide(method, state, legal)
        if meter.paused:
            seconds, meter.paused = seconds - meter.paused, 0.0
        if served is not None:
            self.ran_compiled = served.ran
            self.engine_use = (self.engine_use or EngineUse()).add(seconds, compiled=served.ran, reason=served.failure)
        last = search._last  # noqa: SLF001 - what `depth` and `value` read, without two calls a decision
        self.used = (meter.nodes, meter.evaluations, seconds, last.depth, last.value, search.spent, seen.states)
        if search.exchanges:
            self.exchanges += search.exchanges
        return choice if stopped is None else self._after(stopped, search, legal)

    def _after(self, stopped: BaseException, search: Search, legal: Sequence[Action]) -> Any:
        """Return the answer after an exception: the last report, or a random action, if the budget ran out."""
        if isinstance(stopped, Interrupted):
            raise stopped
        if not (isinstance(stopped, OutOfBudget) and self._meter.exhausted):
            raise AgentRaised(stopped) from stopped
        if search.reported:
            return search.best_action
        self.fallback = True
        return self.rng.choice(legal) if legal else None
