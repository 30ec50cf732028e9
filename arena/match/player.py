"""A seat while a match is played: an agent in this process, or one in a process of its own, behind one interface."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from arena.errors import GameError, Interrupted, shown
from arena.game import Action, State
from arena.identity import drawn, seat_stream
from arena.limits import MARGIN
from arena.match.decider import AgentRaised, Decider
from arena.match.match import Match, Seat
from arena.match.record import Reason
from arena.search import SharedStart


class Ending(NamedTuple):
    """How a match ended, and on whose account."""

    reason: Reason
    seat: int | None = None
    message: str | None = None
    traceback: str | None = None


class Forfeit(Exception):
    """A seat did what loses the match."""

    def __init__(self, ending: Ending) -> None:
        self.ending = ending


@dataclass(slots=True)
class MatchState:
    """What has been played so far."""

    actions: list[str]
    decisions: list[tuple[Any, ...]]
    """The fields of each Decision, made into one when the match is over."""
    cost: float = 0
    steps: int | None = None
    answer: str | None = None
    fallbacks: int = 0
    returns: tuple[float, ...] = ()
    solved: bool = False
    players: "list[Player]" = field(default_factory=list)
    timing: dict[str, Any] | None = None


class Unreadable:
    """Something that an agent in another process returned and that is no action or solution, by its text; it equals nothing."""

    def __init__(self, text: str, fault: Forfeit | None = None) -> None:
        self.text = text
        self.fault = fault
        """What it is to be judged as, None where it is merely no action."""


class Player(Protocol):
    """Who sits in a seat."""

    number: int
    seat: Seat

    @property
    def solver(self) -> bool:
        """Whether it solves a puzzle in one go."""

    @property
    def used_rng(self) -> bool:
        """Whether its random stream was used."""

    def choose(self, state: State, legal: Sequence[Action]) -> Action:
        """Ask for an action and return it if it is legal; a Fault otherwise."""

    def solve(self, state: State) -> Any:
        """Ask for a solution; None where the agent gave up."""

    def leave(self) -> None:
        """Leave the seat when the match is over."""


class LocalPlayer:
    """An agent in this process."""

    __slots__ = ("_decider", "_log", "_note", "_rng", "_seconds", "number", "seat")

    def __init__(self, match: Match, number: int, start: SharedStart, log: MatchState) -> None:
        self.number = number
        self.seat = seat = match.seats[number]
        self._seconds = seat.limits.seconds
        self._log = log
        self._note = log.decisions.append
        self._rng = seat_stream(match.id, number)
        log.players.append(self)
        try:
            self._decider = Decider(match.game, seat.make, seat.evaluation, seat.limits, self._rng, start)
        except AgentRaised as failed:
            raise failure(self.number, failed) from failed

    @property
    def solver(self) -> bool:
        """Whether it solves a puzzle in one go."""
        return self.seat.solver

    @property
    def used_rng(self) -> bool:
        """Whether its random stream was used."""
        return drawn(self._rng)

    def choose(self, state: State, legal: Sequence[Action]) -> Action:
        """Ask for an action and return it if it is legal; a Fault otherwise."""
        decider = self._decider
        try:
            choice = decider.choose(state, legal)
        except AgentRaised as failed:
            self._note((self.number, *decider.used))
            raise failure(self.number, failed) from failed
        self._note((self.number, *decider.used))
        if decider.fallback:
            self._log.fallbacks += 1
        if self._seconds is not None:
            in_time(self.number, decider.used[2], self._seconds, self._log)
        return checked(self.number, choice, legal)

    def solve(self, state: State) -> Any:
        """Ask for a solution; None where the agent gave up or ran out of its budget with nothing to show."""
        decider = self._decider
        try:
            found = decider.solve(state)
        except AgentRaised as failed:
            self._note((self.number, *decider.used))
            raise failure(self.number, failed) from failed
        self._note((self.number, *decider.used))
        if self._seconds is not None:
            in_time(self.number, decider.used[2], self._seconds, self._log)
        return found

    def leave(self) -> None:
        """Nothing has to be given back."""


def in_time(seat: int, spent: float, limit: float, log: MatchState) -> None:
    """A Fault where a decision took longer than its limit and the margin; by how much goes to the record's timing."""
    if spent > limit + MARGIN:
        log.timing = {"overrun": round(spent - limit, 6)}
        raise Forfeit(Ending("timeout", seat, f"a decision took longer than its limit of {limit:g} s"))


def checked(seat: int, choice: Any, legal: Sequence[Action]) -> Action:
    """Return the legal action that equals `choice`: the game's own object, never the agent's. A Fault without one."""
    try:
        return chosen(choice, legal)
    except AgentRaised as failed:
        raise failure(seat, failed) from failed
    except ValueError:
        if type(choice) is Unreadable and choice.fault is not None:
            raise choice.fault from None
        expected = "an action" if choice is None else f"one of {short(list(legal))}"
        message = f"expected {expected}, got {short(choice)}"
        raise Forfeit(Ending("illegal-action", seat, message)) from None


def chosen(choice: Any, legal: Sequence[Action]) -> Action:
    """Return the legal action that equals `choice`: the game's own object, never the agent's.

    ValueError where there is none; Failed where the comparison raises, which an agent's author has written; GameError where
    the legal actions are no sequence.
    """
    try:
        return legal[legal.index(choice)]
    except (Interrupted, ValueError):
        raise
    except BaseException as error:
        if not isinstance(legal, Sequence):
            raise GameError(f"actions gave {short(legal)}; expected a sequence") from error
        raise AgentRaised(error) from error


def failure(seat: int, failed: AgentRaised) -> Forfeit:
    """The fault of a seat whose agent raised an exception."""
    kind: Reason = "memory" if failed.kind == "memory" else "exception"
    return Forfeit(Ending(kind, seat, failed.message, failed.traceback))


def short(value: object) -> str:
    """A value as a message shows it, cut where it is long."""
    return value.text if type(value) is Unreadable else shown(value)
