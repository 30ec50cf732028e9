"""The game as an agent sees it: the same rules, with every generated state counted and every limit kept.

A node is one state generated, by whatever method; the agent does not have to do anything for it. See `counting_view`.
"""

from collections.abc import Callable, Sequence
from functools import cache
from time import perf_counter, process_time
from typing import Any

from arena.errors import OutOfBudget
from arena.game import Action, Game, State, overrides
from arena.limits import Limits
from arena.unmetered import WATCHED, copy_shallow, note_states, unwatched_copy

CLOCK_STRIDE = 16
"""How many nodes may pass between two looks at the clock."""


class GoPlain(BaseException):
    """The loop of a search engine cannot continue; the message says why. The agent repeats the decision without it."""


class GoCompiled(BaseException):
    """A search engine has a loop for the decision in progress. The agent repeats the decision with it."""


class Meter:
    """Counts what one decision uses, and ends it at its limits.

    `nodes` never exceeds the node limit: the state that would pass it is not handed out. The clock, or the processor time of this
    process, is read every 16 nodes, so a limit of either holds to within 16 nodes. Without a node limit a count above
    Limits.MAX_COUNT is a ValueError: no agent generates as many, but one may claim it.
    """

    __slots__ = (
        "_cpu_deadline", "_deadline", "_limited", "_most", "errand", "evaluations", "exhausted", "game", "nodes", "paused",
        "stop",
    )  # fmt: skip

    game: Game | None
    """The game that this meter counts."""

    def __init__(self) -> None:
        self.game = None
        self.errand: Callable[[], object] | None = None
        """Called at the next node of the decision in progress. Another thread sets it, and then sets `stop` to -1."""
        self.paused = 0.0
        """Seconds of this decision that are not charged to the agent."""
        self.begin(None, None)

    def begin(self, nodes: int | None, seconds: float | None, cpu_seconds: float | None = None) -> None:
        """Start a decision with limits; None is unlimited."""
        self.nodes = 0
        self.evaluations = 0
        self.exhausted = False
        self._limited = nodes is not None
        self._most = Limits.MAX_COUNT if nodes is None else min(nodes, Limits.MAX_COUNT)
        self._deadline = None if seconds is None else perf_counter() + seconds
        self._cpu_deadline = None if cpu_seconds is None else process_time() + cpu_seconds
        self.stop = self._most if seconds is None and cpu_seconds is None else 0

    def count(self, nodes: int) -> None:
        """Count states generated; OutOfBudget if a limit is passed, ValueError beyond Limits.MAX_COUNT without one."""
        self.nodes += nodes
        if self.nodes > self.stop:
            self.look()

    @property
    def most(self) -> int:
        """The node limit."""
        return self._most

    @property
    def timed(self) -> bool:
        """Whether there is a limit of time, by the clock or by the processor."""
        return self._deadline is not None or self._cpu_deadline is not None

    def reached(self) -> None:
        """Report that the next state would exceed a limit, or that time has passed. OutOfBudget if a limit is reached."""
        if self.nodes >= self._most or self._late or self._spent:
            self.nodes += 1
            self.look()

    def pause(self, seconds: float, cpu_seconds: float) -> None:
        """Exclude elapsed `seconds`, and `cpu_seconds` of its process, from the time of this decision."""
        self.paused += seconds
        if self._deadline is not None:
            self._deadline += seconds
        if self._cpu_deadline is not None:
            self._cpu_deadline += cpu_seconds

    @property
    def _late(self) -> bool:
        return self._deadline is not None and perf_counter() >= self._deadline

    @property
    def _spent(self) -> bool:
        return self._cpu_deadline is not None and process_time() >= self._cpu_deadline

    def look(self) -> None:
        """Decide whether the decision may go on; called when `nodes` has passed `stop`."""
        if self.errand is not None:
            errand, self.errand = self.errand, None
            errand()
        spent = self._spent
        late = spent or self._late
        if self.nodes > self._most or late:
            nodes, self.nodes = self.nodes, min(self.nodes, self._most)
            if not (self._limited or late):
                raise ValueError(f"expected at most {Limits.MAX_COUNT:,} nodes in a decision, got {nodes:,}")
            self.stop = -1  # an agent that swallows the exception meets it again at the next node
            self.exhausted = True
            raise OutOfBudget("cpu_seconds" if spent else "seconds" if late else "nodes")
        self.stop = min(self._most, self.nodes + CLOCK_STRIDE) if self.timed else self._most


def counting_view(game: Game, meter: Meter) -> Game:
    """A shallow copy of `game` whose generating methods count on `meter`.

    It is an instance of the same class with the same attributes; only `result`, `parse_state` and those methods that the game has
    of `neighbors`, `random_state`, `mutate`, `crossover` and `local` are shadowed, on the instance. Inside, the game calls its
    own methods, which do not count. A state from `parse_state` is not a node; `arena.unmetered` counts it separately.
    """
    meter.game = game
    view = copy_shallow(game)
    own = unwatched_copy(game) if WATCHED else game
    shadows: dict[str, Any] = view.__dict__
    shadows["result"] = _counted_result(own.result, meter)
    shadows["parse_state"] = note_states(game.parse_state)
    for name in _offered(type(game)):
        shadows[name] = _OPTIONAL[name](getattr(own, name), meter)
    return view


@cache
def _offered(kind: type[Game]) -> tuple[str, ...]:
    return tuple([name for name in _OPTIONAL if overrides(kind, name)])


def _counted_result(generate: Callable[[State, Action], State], meter: Meter) -> Callable[[State, Action], State]:
    def result(state: State, action: Action) -> State:
        meter.nodes = nodes = meter.nodes + 1
        if nodes > meter.stop:
            meter.look()
        return generate(state, action)

    return result


def _counted(generate: Callable[..., State], meter: Meter) -> Callable[..., State]:
    def generate_one(*arguments: Any) -> State:
        meter.count(1)
        return generate(*arguments)

    return generate_one


def _counted_delta(look_at: Callable[[Any], float], meter: Meter) -> Callable[[Any], float]:
    def delta(move: Any) -> float:
        meter.nodes = nodes = meter.nodes + 1
        if nodes > meter.stop:
            meter.look()
        return look_at(move)

    return delta


def _counted_neighbors(generate: Callable[[State], Sequence[State]], meter: Meter) -> Callable[[State], Sequence[State]]:
    def neighbors(state: State) -> Sequence[State]:
        found = list(generate(state))
        meter.count(len(found))
        return found

    return neighbors


class _CountedLocal:
    """A local view whose every `delta` is a node."""

    def __init__(self, view: Any, meter: Meter) -> None:
        self._view = view
        self.delta = _counted_delta(view.delta, meter)
        self.propose = view.propose
        self.apply = view.apply
        self.state = view.state

    @property
    def cost(self) -> float:
        cost: float = self._view.cost
        return cost

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, name)


_OPTIONAL: dict[str, Callable[[Callable[..., Any], Meter], Callable[..., Any]]] = {
    "neighbors": _counted_neighbors,
    "random_state": _counted,
    "mutate": _counted,
    "crossover": _counted,
    "local": lambda generate, meter: lambda state: _CountedLocal(generate(state), meter),
}
