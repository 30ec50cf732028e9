"""The players in a match: people and agents. Agents decide under the same conditions as in a match with a referee."""

from collections.abc import Callable, Sequence

from arena import Action, State
from arena.api.match import Match, Player, Seat
from arena.api.search import SharedStart
from arena_isolation.agent_pool import AgentProcesses
from arena_isolation.remote import player_maker
from arena_play import human

Ask = Callable[[int, State, Sequence[Action]], Action]
"""A function that asks the person in a seat for one of the legal actions in a state."""


class HumanPlayer:
    """A person. The function `ask` makes sure that the answers are legal."""

    solver = False
    used_rng = False
    used = ()
    overrun: float | None = None
    engine_use = None
    started: float | None = None
    exchanges = ()
    lack_of_cpu = forgiven = cpu = 0.0
    out_of_cpu = 0

    def __init__(self, number: int, seat: Seat, ask: Ask) -> None:
        self.number = number
        self.seat = seat
        self._ask = ask

    def make_agent(self) -> None:
        """Do nothing, because there is nothing to create for a person."""

    def choose(self, state: State, legal: Sequence[Action]) -> Action:
        """Ask for an action."""
        return self._ask(self.number, state, legal)

    def solve(self, state: State) -> None:
        """Do nothing, because people are never asked for a whole solution."""

    def leave(self) -> None:
        """Do nothing, because a person holds no resources."""


def is_person(seat: Seat) -> bool:
    """Return True if a person plays in the seat."""
    return seat.agent == human.NAME


def shared_start(match: Match) -> SharedStart:
    """Return the start states that the local searches of a match share."""
    return SharedStart(match.game, match.start_stream())


def player_of(match: Match, number: int, played: Sequence[str], hosts: AgentProcesses, ask: Ask) -> Player:
    """Return the player for a seat: a person, or an agent with the isolation that its entry asks for. The agent is not created
    yet.
    """

    def ask_alone(number: int, state: State, legal: Sequence[Action]) -> Action:
        hosts.settle()  # so that no agent thinks during the turn of a person
        return ask(number, state, legal)

    if is_person(match.seats[number]):
        return HumanPlayer(number, match.seats[number], ask_alone)
    return player_maker(hosts)(match, number, shared_start(match), played)
