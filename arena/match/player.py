"""The player of a seat during a match: an agent in this process or in another one, with the same interface."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from arena.errors import GameError, Interrupted, Unavailable, abbreviate
from arena.game import Action, State, gives
from arena.identity import seat_stream
from arena.limits import Limits
from arena.match.decider import AgentRaised, Decider, EngineUse
from arena.match.match import Match, Seat
from arena.match.record import Reason
from arena.search import SharedStart


class Ending(NamedTuple):
    """How a match ended, and which seat caused this."""

    reason: Reason
    seat: int | None = None
    message: str | None = None
    traceback: str | None = None


class Forfeit(Exception):
    """A seat did something that loses the match."""

    def __init__(self, reason: Reason, seat: int, message: str | None, traceback: str | None = None) -> None:
        self.ending = Ending(reason, seat, None if message is None else Limits.clip_text(message), traceback)

    @staticmethod
    def of_failure(seat: int, kind: str, message: str | None, traceback: str | None, *, waits: bool) -> "Forfeit | Unavailable":
        """Return the forfeit of a seat after its agent failed. `kind` is `exception`, `memory` or `unavailable`."""
        if kind == "unavailable":
            if waits:
                return Unavailable(message)
            return Forfeit(
                "exception", seat, f"the agent is unavailable, but its entry does not say `waits: true`: {message}", traceback
            )
        return Forfeit("memory" if kind == "memory" else "exception", seat, message, traceback)


class Unreadable:
    """An answer from an agent in another process that is neither an action nor a solution. It is not equal to anything."""

    def __init__(self, text: str, forfeit: Exception | None = None) -> None:
        self.text = Limits.clip_text(text)
        self.forfeit = forfeit
        """The exception that the referee raises for this answer; None for an ordinary illegal action."""


Used = tuple[int, int, float, int | None, float | None, Mapping[str, float] | None, bool, bool] | tuple[()]
"""The amounts for a decision: nodes, evaluations, seconds, depth, value, other amounts, whether the value is proven, and whether
the budget ran out before the agent had reported anything; empty if unknown.
"""


class Player(Protocol):
    """The player of a seat. After each decision, its attributes hold the amounts that the record needs."""

    number: int
    seat: Seat
    overrun: float | None
    """Seconds by which a decision exceeded its time limit, if the match was lost for this reason."""
    started: float | None
    """Seconds that its process took to get ready for the match; None if it has no process of its own."""

    @property
    def lack_of_cpu(self) -> float:
        """Seconds for which decisions with a time limit were ready to run but had no processor."""

    @property
    def forgiven(self) -> float:
        """Seconds that decisions were allowed beyond their limit, because they had to wait for a processor."""

    @property
    def cpu(self) -> float:
        """The processor time in seconds that decisions with a time limit used."""

    @property
    def out_of_cpu(self) -> int:
        """The number of decisions that used up their processor time although they were shorter on the clock: several threads or
        processes used it.
        """

    @property
    def used(self) -> Used:
        """The amounts that the last decision used."""

    @property
    def solver(self) -> bool:
        """Whether the agent solves a puzzle in one call."""

    @property
    def used_rng(self) -> bool:
        """Whether its random stream was used."""

    @property
    def engine_use(self) -> EngineUse | None:
        """Its decisions with and without the loop of a search engine; None if its agent has not requested a loop."""

    @property
    def exchanges(self) -> Sequence[str]:
        """Texts that its agent has added to the transcript of the match, as JSON."""

    def make_agent(self) -> None:
        """Create the agent of the match. Raises Forfeit if this fails."""

    def choose(self, state: State, legal: Sequence[Action]) -> Action:
        """Ask for an action and return it. Raises Forfeit if it is not legal."""

    def solve(self, state: State) -> Any:
        """Ask for a solution; None if the agent gave up."""

    def leave(self) -> None:
        """Leave the seat after the match."""


class PlayerPool(Protocol):
    """Creates players for the matches of one thread, and reuses their processes from match to match."""

    started: int
    """The number of processes that have been started. Each of them has loaded the code that was on the disk at that time."""

    def player(self, match: Match, number: int, start: SharedStart, played: Sequence[str]) -> Player:
        """Return the player of a seat. The player reads the actions so far from `played`, a list that grows during the match."""

    def close(self) -> None:
        """Stop all processes of the pool."""


class LocalPlayer(Decider):
    """An agent in this process. It loses the match after an exception, an illegal action or an exceeded limit."""

    __slots__ = ("_seconds", "number", "overrun", "seat", "started")

    lack_of_cpu = forgiven = cpu = 0.0  # unknown for one of several agents in a process
    out_of_cpu = 0

    def __init__(self, match: Match, number: int, start: SharedStart, played: Sequence[str]) -> None:
        seat = match.seats[number]
        super().__init__(match.game, seat.make, seat.evaluation, seat.limits, seat_stream(match.id, number), start)
        self.number = number
        self.seat = seat
        self.overrun: float | None = None
        self.started: float | None = None
        self._seconds = seat.limits.seconds

    @property
    def solver(self) -> bool:
        """Whether the agent solves a puzzle in one call."""
        return self.seat.solver

    def make_agent(self) -> None:
        """Create the agent. Raises Forfeit if it raises an exception."""
        try:
            Decider.make_agent(self)
        except AgentRaised as raised:
            raise failure(self.number, raised, waits=self.seat.waits) from raised

    def choose(self, state: State, legal: Sequence[Action]) -> Action:
        """Ask for an action and return it. Raises Forfeit if it is not legal."""
        choice = None
        try:
            choice = self._decide(self.agent.choose, state, legal)
            if self._seconds is not None:
                self._check_time(self._seconds)
            return find_legal(choice, legal)  # the same as `check_action`, but without a call
        except (AgentRaised, ValueError) as error:
            raise _forfeit(self.number, choice, legal, error, waits=self.seat.waits) from error

    def solve(self, state: State) -> Any:
        """Ask for a solution; None if the agent gave up or exceeded its budget without a report."""
        try:
            found = self._decide(self.agent.solve, state, ())
        except AgentRaised as raised:
            raise failure(self.number, raised, waits=self.seat.waits) from raised
        if self._seconds is not None:
            self._check_time(self._seconds)
        return found

    def _check_time(self, limit: float) -> None:
        if self.used[2] > limit + Limits.MARGIN_SECONDS:
            self.overrun = self.used[2] - limit
            raise Forfeit("timeout", self.number, f"a decision took longer than its limit of {limit:g} s")

    def leave(self) -> None:
        """Do nothing, because a local player has no process to release."""


class ObservingPlayer(LocalPlayer):
    """An agent in this process, for a game with hidden information: it gets the observation of its seat."""

    __slots__ = ("_observation",)

    def __init__(self, match: Match, number: int, start: SharedStart, played: Sequence[str]) -> None:
        super().__init__(match, number, start, played)
        self._observation = match.game.observation

    def choose(self, state: State, legal: Sequence[Action]) -> Action:
        """Ask for an action and return it. Raises Forfeit if it is not legal in `state`."""
        return super().choose(self._observation(state, self.number), legal)

    def solve(self, state: State) -> Any:
        """Ask for a solution; None if the agent gave up or exceeded its budget without a report."""
        return super().solve(self._observation(state, self.number))


def local_player(match: Match, number: int, start: SharedStart, played: Sequence[str]) -> LocalPlayer:
    """Return the player of a seat for an agent in this process."""
    kind = ObservingPlayer if gives(match.game, "observation") else LocalPlayer
    return kind(match, number, start, played)


def check_action(seat: int, choice: Any, legal: Sequence[Action]) -> Action:
    """Return the legal action that equals `choice`, as the game's own object. Raises Forfeit if there is none."""
    try:
        return find_legal(choice, legal)
    except (AgentRaised, ValueError) as error:
        raise _forfeit(seat, choice, legal, error) from error


def _forfeit(seat: int, choice: Any, legal: Sequence[Action], error: Exception, *, waits: bool = False) -> Exception:
    if isinstance(error, AgentRaised):
        return failure(seat, error, waits=waits)
    if type(choice) is Unreadable and choice.forfeit is not None:
        return choice.forfeit
    expected = "an action" if choice is None else f"one of {short(list(legal))}"
    return Forfeit("illegal-action", seat, f"expected {expected}, got {short(choice)}")


def find_legal(choice: Any, legal: Sequence[Action]) -> Action:
    """Return the legal action that equals `choice`. The result is the game's own object, never the agent's.

    Raises ValueError if there is none, and AgentRaised if the comparison raises, because the agent's author may have written it.
    Raises GameError if the legal actions are not a sequence.
    """
    try:
        return legal[legal.index(choice)]
    except (Interrupted, ValueError):
        raise
    except BaseException as error:
        if not isinstance(legal, Sequence):
            raise GameError(f"actions returned {short(legal)}; expected a sequence") from error
        raise AgentRaised(error) from error


def failure(seat: int, failed: AgentRaised, *, waits: bool = False) -> Forfeit | Unavailable:
    """Return the forfeit of a seat after a failure of its agent. Raises Unavailable if the agent `waits` for a backend that
    is down.
    """
    return Forfeit.of_failure(seat, failed.kind, failed.message, failed.traceback, waits=waits)


def short(value: object) -> str:
    """Return a value as messages show it, cut if it is long."""
    return value.text if type(value) is Unreadable else abbreviate(value)
