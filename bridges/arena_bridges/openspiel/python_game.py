"""A game of arena as a Python game of open_spiel. Import this module only if open_spiel is installed."""

import random
from collections.abc import Sequence
from typing import Any

import pyspiel

from arena import CHANCE, Action, ArenaError, Game, State
from arena.api.games import Returns, gives

MAX_ACTIONS = 1_024
"""The maximum number of legal actions of a state, for games without `action_space`."""
MAX_OUTCOMES = 100_000
"""The maximum number of outcomes of a chance node."""
MAX_PLAY_ACTIONS = 100_000
"""The maximum number of actions in a play."""


class PlayedState(pyspiel.State):  # type: ignore[misc]  # its type is unknown if open_spiel is not installed
    """A state of a game of arena. The rules belong to the class, because open_spiel copies the attributes of an object."""

    rules: Game
    places: dict[Action, int]
    """The numbers of all actions; empty if a game has no `action_space`."""

    def __init__(self, game: Any) -> None:
        super().__init__(game)
        self.position: State = self.rules.initial(random.Random(0))
        self.played: list[str] = []

    def current_player(self) -> int:
        """Return the seat to move, or open_spiel's constant for chance or the end."""
        if self.rules.is_terminal(self.position):
            return int(pyspiel.PlayerId.TERMINAL)
        seat = self.rules.to_move(self.position)
        return int(pyspiel.PlayerId.CHANCE) if seat == CHANCE else seat

    def _legal(self) -> dict[int, Action]:
        """Return the legal actions. The keys are their numbers, in ascending order."""
        legal = self.rules.actions(self.position)
        if self.places:
            return dict(sorted([(self.places[action], action) for action in legal]))
        if len(legal) > MAX_ACTIONS:
            raise ArenaError(f"{self.rules.name} has {len(legal):,} actions in one state; define its method action_space")
        return dict(enumerate(legal))

    def _legal_actions(self, player: int) -> list[int]:
        return list(self._legal()) if player == self.current_player() else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the indices of the outcomes with their probabilities."""
        return [(place, share) for place, (_, share) in enumerate(self.rules.chance_outcomes(self.position))]

    def _action(self, player: int, number: int) -> Action:
        if player == int(pyspiel.PlayerId.CHANCE):
            return self.rules.chance_outcomes(self.position)[number][0]
        return self._legal()[number]

    def _apply_action(self, number: int) -> None:
        action = self._action(self.current_player(), number)
        self.played.append(self.rules.format_action(self.position, action))
        self.position = self.rules.result(self.position, action)

    def _action_to_string(self, player: int, number: int) -> str:
        return self.rules.format_action(self.position, self._action(player, number))

    def is_terminal(self) -> bool:
        """Return whether the game is over."""
        return bool(self.rules.is_terminal(self.position))

    def returns(self) -> list[float]:
        """Return the result of each seat; 0 before the end."""
        return [float(value) for value in self.rules.returns(self.position)] if self.is_terminal() else [0.0] * self.rules.players

    def __str__(self) -> str:
        return self.rules.render(self.position)


class TextObserver:
    """The observation of a seat as text."""

    def __init__(self, recalls: bool) -> None:
        self.tensor = None
        self.dict: dict[str, Any] = {}
        self._recalls = recalls

    def set_from(self, state: PlayedState, player: int) -> None:
        """Do nothing, because the observation is only a text."""

    def string_from(self, state: PlayedState, player: int) -> str:
        """Return the text of the observation. If nothing is hidden, it is the text of all actions so far, or of
        the state if open_spiel does not ask for perfect recall.
        """
        if gives(state.rules, "observation"):
            return f"{player}: {state.rules.format_state(state.rules.observation(state.position, player))}"
        return f"{player}: {'; '.join(state.played) if self._recalls else state.rules.format_state(state.position)}"


def register_rules(rules: Game, name: str) -> None:
    """Register a game under a name that is not in use."""
    space: Sequence[Action] = rules.action_space() if gives(rules, "action_space") else ()
    kind = _game_type(rules, name)
    low, high = Returns(rules).range
    info = pyspiel.GameInfo(
        num_distinct_actions=len(space) or MAX_ACTIONS,
        max_chance_outcomes=MAX_OUTCOMES if gives(rules, "chance_outcomes") else 0,
        num_players=rules.players,
        min_utility=low,
        max_utility=high,
        utility_sum=0.0 if rules.zero_sum else None,
        max_game_length=MAX_PLAY_ACTIONS,
    )
    state = type("State", (PlayedState,), {"rules": rules, "places": {action: place for place, action in enumerate(space)}})

    class PlayedGame(pyspiel.Game):  # type: ignore[misc]  # as above
        """The rules of a game of arena, for open_spiel."""

        def __init__(self, params: Any = None) -> None:
            super().__init__(kind, info, params or {})

        def new_initial_state(self) -> Any:
            return state(self)

        def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> TextObserver:
            return TextObserver(recalls=bool(iig_obs_type and iig_obs_type.perfect_recall))

    pyspiel.register_game(kind, PlayedGame)


def _game_type(rules: Game, name: str) -> Any:
    words = pyspiel.GameType
    chance, hidden = gives(rules, "chance_outcomes"), gives(rules, "observation")
    return words(
        short_name=name,
        long_name=f"{rules.name} of arena",
        dynamics=words.Dynamics.SEQUENTIAL,
        chance_mode=words.ChanceMode.EXPLICIT_STOCHASTIC if chance else words.ChanceMode.DETERMINISTIC,
        information=words.Information.IMPERFECT_INFORMATION if hidden else words.Information.PERFECT_INFORMATION,
        utility=words.Utility.ZERO_SUM if rules.zero_sum else words.Utility.GENERAL_SUM,
        reward_model=words.RewardModel.TERMINAL,
        max_num_players=rules.players,
        min_num_players=rules.players,
        provides_information_state_string=rules.perfect_recall is not False,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=False,
        provides_factored_observation_string=False,
    )
