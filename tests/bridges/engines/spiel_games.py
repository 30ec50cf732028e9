"""Go and chess by the rules of open_spiel, as games for engines."""

import random
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from arena import Game, hookimpl
from arena.dialects import Dialect


class State:
    """What was played, and open_spiel's own state, which nobody changes."""

    def __init__(self, history: tuple[int, ...], spiel: Any) -> None:
        self.history = history
        self.spiel = spiel

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self.history == other.history

    def __hash__(self) -> int:
        return hash(self.history)


class Spiel(Game):
    """A game of open_spiel of two seats without chance, whose actions and positions are texts of numbers."""

    name = "spiel"

    def __init__(self, *, game: str = "go(board_size=9,komi=7.5)") -> None:
        self.game = game

    def initial(self, rng: random.Random) -> State:
        return State((), _loaded(self.game).new_initial_state())

    def to_move(self, state: State) -> int:
        return max(0, int(state.spiel.current_player()))

    def actions(self, state: State) -> Sequence[int]:
        return [] if state.spiel.is_terminal() else list(state.spiel.legal_actions())

    def result(self, state: State, action: int) -> State:
        return State((*state.history, action), state.spiel.child(action))

    def returns(self, state: State) -> Sequence[float]:
        return list(state.spiel.returns())

    def format_state(self, state: State) -> str:
        return " ".join(map(str, state.history)) or "-"

    def parse_state(self, text: str) -> State:
        state = self.initial(random.Random(0))
        for action in text.split() if text != "-" else ():
            state = self.result(state, int(action))
        return state

    def dialects(self) -> Mapping[str, Dialect]:
        from arena_bridges.openspiel.dialects import dialects_of

        return dialects_of(_loaded(self.game))


@cache
def _loaded(game: str) -> Any:
    import pyspiel

    return pyspiel.load_game(game)


@hookimpl
def arena_games() -> list[type[Game]]:
    return [Spiel]
