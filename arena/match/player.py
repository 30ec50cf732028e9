"""A seat while a match is played: an agent in this process, or one in a process of its own, behind one interface."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from arena.errors import GameError, Interrupted, Unavailable, abbreviate
from arena.game import Action, State, gives
from arena.identity import Stream, seat_stream
from arena.limits import Limits
from arena.match.decider import AgentRaised, Decider, EngineUse
from arena.match.match import Match, Seat
from arena.match.record import Reason
from arena.search import SharedStart


class Ending(NamedTuple):
    """How a match ended, and which seat is responsible."""

    reason: Reason
    seat: int | None = None
    message: str | None = None
    traceback: str | None = None


class Forfeit(Exception):
    """A seat did something that loses the match."""

    def __init__(self, ending: Ending) -> None:
        self.ending = ending


class Unreadable:
    """The text of an answer of an agent in another process that is not an action or a solution; it equals nothing."""

    def __init__(self, text: str, forfeit: Forfeit | Unavailable | None = None) -> None:
        self.text = text
        self.forfeit = forfeit
        """How the referee books this fault. None means an ordinary illegal action."""


Used = tuple[int, int, float, int | None, float | None, Mapping[str, float] | None, int] | tuple[()]
"""Nodes, evaluations, seconds, depth, value, other amounts and unmetered states of a decision; empty if unknown."""


class Player(Protocol):
    """The player of a seat. After each decision it holds the amounts for the record."""

    number: int
    seat: Seat
    fallbacks: int
    """The number of actions drawn at random because the budget ran out before any report."""
    overrun: float | None
    """Seconds by which a decision ran over its limit and lost the match."""
    started: float | None
    """Seconds that its process took to get ready for the match; None without a process."""

    @property
    def lack_of_cpu(self) -> float:
        """Seconds for which decisions under a limit of time could have run and had no processor."""

    @property
    def forgiven(self) -> float:
        """Seconds that decisions were granted beyond the limit because they had no processor."""

    @property
    def cpu(self) -> float:
        """Seconds of processor time of decisions with such a limit."""

    @property
    def used(self) -> Used:
        """The amounts that the last decision used."""

    @property
    def solver(self) -> bool:
        """Whether it solves a puzzle in one go."""

    @property
    def used_rng(self) -> bool:
        """Whether its random stream was used."""

    @property
    def engine_use(self) -> EngineUse | None:
        """Its decisions with the loop of a search engine and without; None if it has requested none."""

    @property
    def exchanges(self) -> Sequence[str]:
        """Texts that its agent has added to the transcript of the match, as JSON."""

    def make_agent(self) -> None:
        """Make the agent of the match; a Forfeit if that fails."""

    def choose(self, state: State, legal: Sequence[Action]) -> Action:
        """Ask for an action and return it if it is legal; a Forfeit otherwise."""

    def solve(self, state: State) -> Any:
        """Ask for a solution; None if the agent gave up."""

    def leave(self) -> None:
        """Leave the seat when the match is over."""


class LocalPlayer(Decider):
    """An agent in this process: a decider that loses the match by an exception, an illegal action or an overrun limit."""

    __slots__ = ("_seconds", "fallbacks", "number", "overrun", "seat", "started")

    lack_of_cpu = forgiven = cpu = 0.0  # the share of one agent in a common process is unknown

    def __init__(self, match: Match, number: int, start: SharedStart, played: Sequence[str]) -> None:
        seat = match.seats[number]
        super().__init__(match.game, seat.make, seat.evaluation, seat.limits, seat_stream(match.id, number), start)
        self.number = number
        self.seat = seat
        self.fallbacks = 0
        self.overrun: float | None = None
        self.started: float | None = None
        self._seconds = seat.limits.seconds

    @property
    def solver(self) -> bool:
        """Whether it solves a puzzle in one go."""
        return self.seat.solver

    @property
    def used_rng(self) -> bool:
        """Whether its random stream was used."""
        return not isinstance(self.rng, Stream)

    def make_agent(self) -> None:
        """Make the agent; a Forfeit if it raises."""
        try:
            Decider.make_agent(self)
        except AgentRaised as raised:
            raise failure(self.number, raised, waits=self.seat.waits) from raised

    def choose(self, state: State, legal: Sequence[Action]) -> Action:
        """Ask for an action and return it if it is legal; a Forfeit otherwise."""
        choice = None
        try:
            choice = self._decide(self.agent.choose, state, legal)
            if self.fallback or self._seconds is not None:
                self._check_use()
            return find_legal(choice, legal)  # the same as `check_action`, without a call
        except (AgentRaised, ValueError) as error:
            raise _forfeit(self.number, choice, legal, error, waits=self.seat.waits) from error

    def solve(self, state: State) -> Any:
        """Ask for a solution; None if the agent gave up or exceeded its budget without a report."""
        try:
            found = self._decide(self.agent.solve, state, ())
        except AgentRaised as raised:
            raise failure(self.number, raised, waits=self.seat.waits) from raised
        if self.fallback or self._seconds is not None:
            self._check_use()
        return found

    def _check_use(self) -> None:
        self.fallbacks += self.fallback
        if self._seconds is not None and self.used[2] > self._seconds + Limits.MARGIN_SECONDS:
            self.overrun = self.used[2] - self._seconds
            raise Forfeit(Ending("timeout", self.number, f"a decision took longer than its limit of {self._seconds:g} s"))

    def leave(self) -> None:
        """Do nothing: a local player has no process to give back."""


class ObservingPlayer(LocalPlayer):
    """An agent in this process on a game with hidden information: it gets the observation of its seat."""

    __slots__ = ("_observation",)

    def __init__(self, match: Match, number: int, start: SharedStart, played: Sequence[str]) -> None:
        super().__init__(match, number, start, played)
        self._observation = match.game.observation

    def choose(self, state: State, legal: Sequence[Action]) -> Action:
        """Ask for an action and return it if it is legal in `state`; a Forfeit otherwise."""
        return super().choose(self._observation(state, self.number), legal)

    def solve(self, state: State) -> Any:
        """Ask for a solution; None if the agent gave up or exceeded its budget without a report."""
        return super().solve(self._observation(state, self.number))


def local_player(match: Match, number: int, start: SharedStart, played: Sequence[str]) -> LocalPlayer:
    """Return the player of a seat for an agent in this process."""
    kind = ObservingPlayer if gives(match.game, "observation") else LocalPlayer
    return kind(match, number, start, played)


def check_action(seat: int, choice: Any, legal: Sequence[Action]) -> Action:
    """Return the legal action that equals `choice`: the game's own object, never the agent's. A Forfeit without one."""
    try:
        return find_legal(choice, legal)
    except (AgentRaised, ValueError) as error:
        raise _forfeit(seat, choice, legal, error) from error


def _forfeit(seat: int, choice: Any, legal: Sequence[Action], error: Exception, *, waits: bool = False) -> Forfeit | Unavailable:
    if isinstance(error, AgentRaised):
        return failure(seat, error, waits=waits)
    if type(choice) is Unreadable and choice.forfeit is not None:
        return choice.forfeit
    expected = "an action" if choice is None else f"one of {short(list(legal))}"
    return Forfeit(Ending("illegal-action", seat, f"expected {expected}, got {short(choice)}"))


def find_legal(choice: Any, legal: Sequence[Action]) -> Action:
    """Return the legal action that equals `choice`: the game's own object, never the agent's.

    ValueError if there is none. AgentRaised if the comparison raises, because the agent's author may have written it. GameError
    if the legal actions are not a sequence.
    """
    try:
        return legal[legal.index(choice)]
    except (Interrupted, ValueError):
        raise
    except BaseException as error:
        if not isinstance(legal, Sequence):
            raise GameError(f"actions gave {short(legal)}; expected a sequence") from error
        raise AgentRaised(error) from error


def failure(seat: int, failed: AgentRaised, *, waits: bool = False) -> Forfeit | Unavailable:
    """Return the forfeit of a seat after an exception of its agent; Unavailable if it `waits` for a backend that is down."""
    return fault_of(seat, failed.kind, failed.message, failed.traceback, waits=waits)


def fault_of(seat: int, kind: str, message: str | None, traceback: str | None, *, waits: bool) -> Forfeit | Unavailable:
    """Return the outcome of a match after a failure of a `kind` of its agent: `exception`, `memory` or `unavailable`."""
    if kind == "unavailable":
        if waits:
            return Unavailable(message)
        return Forfeit(Ending("exception", seat, f"unavailable, but not declared by `waits: true`: {message}", traceback))
    return Forfeit(Ending("memory" if kind == "memory" else "exception", seat, message, traceback))


def short(value: object) -> str:
    """A value as a message shows it, cut if it is long."""
    return value.text if type(value) is Unreadable else abbreviate(value)
