"""The view of a game that an agent gets: the rules are the same, but each generated state is counted and limits are enforced.

A node is one generated state, no matter which method generates it. Agents need not call anything for this; see `counting_view`.
"""

from collections.abc import Callable, Sequence
from copy import copy
from functools import cache
from typing import Any

from arena.clock import perf_counter, process_time
from arena.errors import OutOfBudget
from arena.game import Action, Game, Puzzle, State, overrides
from arena.limits import Limits

CLOCK_STRIDE = 16
"""The number of nodes between two readings of the clock."""


class GoPlain(BaseException):
    """The compiled loop of a search engine cannot continue; the message says why. The agent repeats the decision uncompiled."""


class GoCompiled(BaseException):
    """A search engine now has a compiled loop for the decision in progress. The agent repeats the decision with it."""


class Meter:
    """Counts what one decision uses, and ends the decision when a limit is reached.

    `nodes` never exceeds the node limit: the agent does not get the state that would exceed it. If there is a limit of clock time
    or processor time, it is checked every 16 nodes, so the agent may exceed it by 16 nodes. Without a node limit, a count above
    Limits.MAX_COUNT raises ValueError. No agent can generate so many states, but it may report such a number.
    """

    __slots__ = (
        "_cpu_deadline", "_deadline", "_limited", "_most", "announce", "errand", "evaluations", "exhausted", "expanded", "game",
        "nodes", "paused", "stop",
    )  # fmt: skip

    expanded: int
    """For how many states of a puzzle the agent has asked for the actions."""
    game: Game | None
    """The game of the states that this meter counts."""

    def __init__(self) -> None:
        self.game = None
        self.errand: Callable[[], object] | None = None
        """A function to call at the next node of the decision in progress. Another thread sets it and then sets `stop` to -1."""
        self.announce: Callable[[bool], object] | None = None
        """If another process measures the time: a function that tells that process that a loop is being loaded (True) or that the
        time begins anew (False)."""
        self.paused = 0.0
        """Seconds of this decision that are not charged to the agent."""
        self.begin(None, None)

    def begin(self, nodes: int | None, seconds: float | None, cpu_seconds: float | None = None) -> None:
        """Start a decision with these limits; None means no limit."""
        self.nodes = 0
        self.evaluations = 0
        self.expanded = 0
        self.exhausted = False
        self._limited = nodes is not None
        self._most = Limits.MAX_COUNT if nodes is None else min(nodes, Limits.MAX_COUNT)
        self._deadline = None if seconds is None else perf_counter() + seconds
        self._cpu_deadline = None if cpu_seconds is None else process_time() + cpu_seconds
        self.stop = self._most if seconds is None and cpu_seconds is None else 0

    def count(self, nodes: int) -> None:
        """Add a number of generated states. Raises OutOfBudget if a limit is exceeded, and ValueError above Limits.MAX_COUNT."""
        self.nodes += nodes
        if self.nodes > self.stop:
            self.look()

    @property
    def most(self) -> int:
        """The node limit."""
        return self._most

    @property
    def timed(self) -> bool:
        """Whether there is a limit of clock time or processor time."""
        return self._deadline is not None or self._cpu_deadline is not None

    def reached(self) -> None:
        """Check the limits after a compiled loop has stopped at one of them. Raises OutOfBudget if a limit is reached."""
        if self.nodes >= self._most or self._late or self._spent:
            self.nodes += 1
            self.look()

    def pause(self, seconds: float, cpu_seconds: float) -> None:
        """Extend the deadlines of this decision by `seconds` of clock time and `cpu_seconds` of processor time."""
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
        """Decide whether the decision may continue. It is called when `nodes` exceeds `stop`."""
        if self.errand is not None:
            errand, self.errand = self.errand, None
            errand()
        spent = self._spent
        late = spent or self._late
        if self.nodes > self._most or late:
            nodes, self.nodes = self.nodes, min(self.nodes, self._most)
            if not (self._limited or late):
                raise ValueError(f"expected at most {Limits.MAX_COUNT:,} nodes in a decision, got {nodes:,}")
            self.stop = -1  # if the agent catches the exception, the next node raises it again
            self.exhausted = True
            raise OutOfBudget("cpu_seconds" if spent else "seconds" if late else "nodes")
        self.stop = min(self._most, self.nodes + CLOCK_STRIDE) if self.timed else self._most


def counting_view(game: Game, meter: Meter) -> Game:
    """Return a shallow copy of `game` whose methods that generate states count them on `meter`.

    The copy is an instance of the same class with the same attributes. These methods are replaced on the copy: `result` and,
    if the game has them, `neighbors`, `random_state`, `mutate`, `crossover` and `local`. Calls that the game itself makes are not
    counted, and a state from `parse_state` is not a node. In a puzzle, `actions` and `variables` are replaced, too: a state is
    expanded when the agent asks for its actions, or for the values of its variables.
    """
    meter.game = game
    if _is_its_attributes(type(game)):
        # An ordinary dict, because look-ups are slower in the dicts that CPython shares among the objects of a class
        view: Game = object.__new__(type(game))
        view.__dict__ = dict(game.__dict__)
    else:
        view = copy(game)
    shadows: dict[str, Any] = view.__dict__
    shadows["result"] = _counted_result(game.result, meter)
    for name in _offered(type(game)):
        shadows[name] = _OPTIONAL[name](getattr(game, name), meter)
    if "actions" in shadows:
        shadows["is_terminal"] = game.is_terminal  # which may ask for actions itself
    return view


def _counted_actions(list_actions: Callable[[State], Sequence[Action]], meter: Meter) -> Callable[[State], Sequence[Action]]:
    """Return `actions` of a puzzle, which counts every call as an expanded state; or its `variables`."""

    def actions(state: State) -> Sequence[Action]:
        meter.expanded += 1
        return list_actions(state)

    return actions


@cache
def _is_its_attributes(kind: type[Game]) -> bool:
    return not (hasattr(kind, "__copy__") or any(vars(base).get("__slots__") for base in kind.__mro__))


@cache
def _offered(kind: type[Game]) -> tuple[str, ...]:
    own = [name for name in _OPTIONAL if name != "actions" and overrides(kind, name)]
    return (*own, "actions") if issubclass(kind, Puzzle) else tuple(own)


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
    "actions": _counted_actions,
    "variables": _counted_actions,
    "local": lambda generate, meter: lambda state: _CountedLocal(generate(state), meter),
}
