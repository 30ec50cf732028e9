"""Who sits at a match: agents, decided for as the referee does it, and people."""

from collections.abc import Callable, Sequence

from arena import Action, State
from arena.api.match import Match, Player, Seat, SharedStart, position_stream
from arena_isolation.agent_process import AgentProcesses
from arena_isolation.remote import player_maker
from arena_play import human

Ask = Callable[[int, State, Sequence[Action]], Action]
"""Asks a person in a seat for one of the legal actions of a state."""


class HumanPlayer:
    """A person. What he answers is legal: `ask` sees to it."""

    solver = False
    used_rng = False
    used = ()
    fallbacks = 0
    overrun: float | None = None
    compiled = False
    started: float | None = None
    exchanges = ()
    lack_of_cpu = cpu = 0.0

    def __init__(self, number: int, seat: Seat, ask: Ask) -> None:
        self.number = number
        self.seat = seat
        self._ask = ask

    def make_agent(self) -> None:
        """Nobody has to be made."""

    def choose(self, state: State, legal: Sequence[Action]) -> Action:
        """Ask for an action."""
        return self._ask(self.number, state, legal)

    def solve(self, state: State) -> None:
        """Nobody asks a person for a whole solution."""

    def leave(self) -> None:
        """Nothing has to be given back."""


def is_person(seat: Seat) -> bool:
    """Whether a person sits there."""
    return seat.agent == human.NAME


def shared_start(match: Match) -> SharedStart:
    """Return where local searches of a match start."""
    return SharedStart(match.game, position_stream(match.position.key, "start"))


def player_of(match: Match, number: int, played: Sequence[str], hosts: AgentProcesses, ask: Ask) -> Player:
    """Return who sits in a seat: a person, or an agent where its entry wants to run, which has yet to be made."""

    def ask_alone(number: int, state: State, legal: Sequence[Action]) -> Action:
        hosts.settle()  # nobody thinks in the turn of a person
        return ask(number, state, legal)

    if is_person(match.seats[number]):
        return HumanPlayer(number, match.seats[number], ask_alone)
    return player_maker(hosts)(match, number, shared_start(match), played)
