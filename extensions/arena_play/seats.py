"""The players of a match: people, and agents that decide as under the referee."""

from collections.abc import Callable, Sequence

from arena import Action, State
from arena.api.match import Match, Player, Seat, position_stream
from arena.api.search import SharedStart
from arena_isolation.agent_process import AgentProcesses
from arena_isolation.remote import player_maker
from arena_play import human

Ask = Callable[[int, State, Sequence[Action]], Action]
"""Asks a person in a seat for one of the legal actions of a state."""


class HumanPlayer:
    """A person; `ask` makes sure that the answers are legal."""

    solver = False
    used_rng = False
    used = ()
    fallbacks = 0
    overrun: float | None = None
    engine_use = None
    started: float | None = None
    exchanges = ()
    lack_of_cpu = forgiven = cpu = 0.0

    def __init__(self, number: int, seat: Seat, ask: Ask) -> None:
        self.number = number
        self.seat = seat
        self._ask = ask

    def make_agent(self) -> None:
        """Do nothing: a person needs no construction."""

    def choose(self, state: State, legal: Sequence[Action]) -> Action:
        """Ask for an action."""
        return self._ask(self.number, state, legal)

    def solve(self, state: State) -> None:
        """Do nothing: people are never asked for a whole solution."""

    def leave(self) -> None:
        """Do nothing: a person holds no resources."""


def is_person(seat: Seat) -> bool:
    """Return whether a person has the seat."""
    return seat.agent == human.NAME


def shared_start(match: Match) -> SharedStart:
    """Return the shared start states of the local searches of a match."""
    return SharedStart(match.game, position_stream(match.position.key, "start"))


def player_of(match: Match, number: int, played: Sequence[str], hosts: AgentProcesses, ask: Ask) -> Player:
    """Return the player of a seat: a person, or an agent under the isolation of its entry, not yet constructed."""

    def ask_alone(number: int, state: State, legal: Sequence[Action]) -> Action:
        hosts.settle()  # no agent thinks in the turn of a person
        return ask(number, state, legal)

    if is_person(match.seats[number]):
        return HumanPlayer(number, match.seats[number], ask_alone)
    return player_maker(hosts)(match, number, shared_start(match), played)
