"""An agent with its view of the game, a meter for its nodes, its limits and its random stream. Each call makes one decision.

The referee uses this class for agents in its own process, and `arena_isolation.agent_host` uses it for agents in other processes,
so that an agent has the same conditions everywhere.
"""

import random
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from arena.agent import Agent
from arena.clock import perf_counter
from arena.counting import GoCompiled, GoPlain, Meter, counting_view
from arena.errors import Interrupted, OutOfBudget, Unavailable, author_traceback, describe
from arena.game import Action, Game, State
from arena.heuristics import Evaluation
from arena.identity import Stream
from arena.limits import Limits
from arena.match.record import EXPANDED
from arena.search import Search, SharedStart
from arena.search_engines import find_loop

RECURSION_LIMIT = 10_000
"""The recursion limit during a decision, so that searches can follow long lines. A C function that calls a Python function needs
up to 0.8 kB of the C stack, and the stack of a thread has 8 MB.
"""
RECURSION_ADVICE = "set a limit of depth or nodes, because the lines of play are too long to search to the end of the game"
_KINDS = {MemoryError: "memory", Unavailable: "unavailable"}


class EngineUse(NamedTuple):
    """The decisions of a seat with and without the compiled loop of a search engine: the number and the seconds of each kind."""

    compiled: int = 0
    compiled_seconds: float = 0.0
    plain: int = 0
    plain_seconds: float = 0.0
    unsettled: int = 0
    """The decisions of which not the spec and the options decided how they ran, but the code that was available at that time."""
    reason: str | None = None
    """Why the agent got no loop, if it requested one."""

    def add(self, seconds: float, *, compiled: bool, settled: bool = True, reason: str | None = None) -> "EngineUse":
        """Return these counts with one more decision."""
        unsettled = self.unsettled + (not settled)
        if compiled:
            done = self.compiled_seconds + seconds
            return self._replace(compiled=self.compiled + 1, compiled_seconds=done, unsettled=unsettled)
        done = self.plain_seconds + seconds
        return self._replace(plain=self.plain + 1, plain_seconds=done, unsettled=unsettled, reason=reason)


class AgentRaised(Exception):
    """An agent raised an exception. `kind` is `exception`, `memory` or `unavailable`."""

    def __init__(self, error: BaseException) -> None:
        self.kind = next((kind for raised, kind in _KINDS.items() if isinstance(error, raised)), "exception")
        message = str(error) if isinstance(error, Unavailable) else describe(error, folders=False)
        self.message = Limits.clip_text(f"{message}; {RECURSION_ADVICE}" if isinstance(error, RecursionError) else message)
        self.traceback = Limits.clip_text(author_traceback(error))


class Decider:
    """One agent in one match."""

    __slots__ = (
        "_budget",
        "_evaluation",
        "_limits",
        "_make",
        "_view",
        "agent",
        "engine_use",
        "exchanges",
        "meter",
        "ran_compiled",
        "rng",
        "settled",
        "start",
        "used",
    )

    used: tuple[int, int, float, int | None, float | None, Mapping[str, float] | None, bool, bool]
    """The amounts for the last decision: nodes, evaluations, seconds, depth, value, other amounts, whether the value is proven,
    and whether the budget ran out before the agent had reported anything. Then an agent that chooses gets a random action.
    """

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
        self.meter = meter = Meter()
        self._view = counting_view(game, meter)
        self.start = start
        """The start for local searches. It may be set until the first decision."""
        self.rng = rng
        self.engine_use: EngineUse | None = None
        """Its decisions with and without the loop of a search engine; None if it has not requested a loop."""
        self.ran_compiled: bool | None = None
        """Whether the last decision ran such a loop; None if the agent did not request one."""
        self.settled = True
        """Whether the spec and the options alone decided this."""
        self._make = make
        self.used = (0, 0, 0.0, None, None, None, False, False)
        self.exchanges: tuple[str, ...] = ()
        """Texts that the agent has added to the transcript of the match, as JSON."""

    @property
    def used_rng(self) -> bool:
        """Whether the agent has used its random stream, or a random start."""
        return not isinstance(self.rng, Stream) or self.start.is_random

    def make_agent(self) -> None:
        """Create the agent. Raises AgentRaised if this fails."""
        try:
            self.agent = self._make()
        except Interrupted:
            raise
        except BaseException as error:  # SystemExit and KeyboardInterrupt from an agent are faults of the agent
            raise AgentRaised(error) from error

    def choose(self, state: State, legal: Sequence[Action]) -> Any:
        """Ask the agent for an action, and do not check it. Raises AgentRaised if the agent raises an exception."""
        return self._decide(self.agent.choose, state, legal)

    def solve(self, state: State) -> Any:
        """Ask the agent for a solution; None if it gave up or exceeded its budget without a report."""
        return self._decide(self.agent.solve, state, ())

    def _decide(self, method: Callable[..., Any], state: State, legal: Sequence[Action], limits: Limits | None = None) -> Any:
        meter, limits = self.meter, limits or self._limits
        search = Search(self._view, self._evaluation, limits, meter, self.rng, self.start, find_loop)
        recursion = sys.getrecursionlimit()
        if recursion < RECURSION_LIMIT:
            sys.setrecursionlimit(RECURSION_LIMIT)
        began = perf_counter()  # before the clock of the meter, so that a decision that ran out of time took the whole of it
        if self._budget:
            meter.begin(limits.nodes, limits.seconds, limits.cpu_seconds)
        else:
            meter.nodes = meter.evaluations = meter.expanded = 0
        self.ran_compiled = None
        stopped = None
        try:
            choice = method(self._view, state, search)
        except BaseException as error:  # as in `make_agent`
            stopped = error
        seconds = perf_counter() - began
        if recursion < RECURSION_LIMIT:
            sys.setrecursionlimit(recursion)
        served = search.served
        if served is not None:
            served.finish()
            if type(stopped) is GoPlain or type(stopped) is GoCompiled:
                served.undo(str(stopped) if type(stopped) is GoPlain else None)
                meter.paused = 0.0  # no waiting time carries over from the abandoned decision
                return self._decide(method, state, legal, limits)
        if meter.paused:
            seconds, meter.paused = seconds - meter.paused, 0.0
        if served is not None:
            self.ran_compiled, self.settled = served.ran, served.settled
            self.engine_use = (self.engine_use or EngineUse()).add(
                seconds, compiled=served.ran, settled=served.settled, reason=served.failure
            )
        _, value, depth, _, exact = search._last  # noqa: SLF001 - saves two calls per decision
        spent = search.spent
        searched = meter.expanded or (meter.evaluations and not meter.nodes)  # an infinite estimate of the start ends a search
        if searched and not legal:  # a solver; agents that choose have no compiled loop that counts
            spent = {EXPANDED: meter.expanded, **(spent or {})}
        self.used = (meter.nodes, meter.evaluations, seconds, depth, value, spent, exact is True and value is not None, False)
        if search.exchanges:
            self.exchanges += search.exchanges
        if stopped is None:
            return choice
        if isinstance(stopped, OutOfBudget) and limits.patient and legal and meter.exhausted and not search.reported:
            # The agent cannot report in steps. It decides once more, without the default limits.
            unlimited = replace(limits, nodes=None, seconds=None, cpu_seconds=None, patient=False)
            return self._decide(method, state, legal, unlimited)
        return self._after(stopped, search, legal)

    def _after(self, stopped: BaseException, search: Search, legal: Sequence[Action]) -> Any:
        """Return the answer after the agent was stopped. If the budget ran out, it is the last report or a random action."""
        if isinstance(stopped, Interrupted):
            raise stopped
        if not (isinstance(stopped, OutOfBudget) and self.meter.exhausted):
            raise AgentRaised(stopped) from stopped
        if search.reported:
            return search.best_action
        self.used = (*self.used[:-1], True)
        return self.rng.choice(legal) if legal else None
