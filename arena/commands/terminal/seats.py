"""Who sits at a match: agents, decided for as the referee does it, and people."""

from collections.abc import Callable, Sequence

from arena.commands.terminal import human
from arena.game import Action, State
from arena.identity import position_stream
from arena.isolation.agent_process import AgentProcesses
from arena.isolation.remote import player_maker
from arena.match.match import Match, Seat
from arena.match.player import MatchState, Player
from arena.search import SharedStart

Ask = Callable[[int, State, Sequence[Action]], Action]
"""Asks a person in a seat for one of the legal actions of a state."""


class HumanPlayer:
    """A person. What he answers is legal: `ask` sees to it."""

    solver = False
    used_rng = False

    def __init__(self, number: int, seat: Seat, ask: Ask) -> None:
        self.number = number
        self.seat = seat
        self._ask = ask

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


def start_of(match: Match) -> SharedStart:
    """Where local searches of a match start."""
    return SharedStart(match.game, position_stream(match.position.key, "start"))


def agent_player(match: Match, number: int, log: MatchState, hosts: AgentProcesses) -> Player:
    """An agent in a seat, where its entry wants to run. A Fault where it cannot be made."""
    return player_maker(hosts)(match, number, start_of(match), log)


def seated(match: Match, log: MatchState, hosts: AgentProcesses, ask: Ask) -> list[Player]:
    """Everyone who sits at a match, made anew. A Fault where an agent cannot be made."""
    return [
        HumanPlayer(number, seat, ask) if is_person(seat) else agent_player(match, number, log, hosts)
        for number, seat in enumerate(match.seats)
    ]
