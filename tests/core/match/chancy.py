"""A plugin with two small games, one with hidden cards (Kuhn 1950) and one with a die for each seat, and an agent for both."""

import random
from typing import Any

from arena import CHANCE, Agent, Game, Search, heuristic, hookimpl, uniform

ENDS = ("pp", "bp", "bb", "pbp", "pbb")


class TwoCards(Game):
    """Kuhn's poker: a state is the cards that are dealt and the letters of the actions; a card that is not seen is `?`."""

    name = "two-cards"
    min_return, max_return = -2.0, 2.0

    def initial(self, rng: random.Random) -> Any:
        return ("", "")

    def to_move(self, state: Any) -> int:
        return CHANCE if len(state[0]) < 2 else len(state[1]) % 2

    def chance_outcomes(self, state: Any) -> Any:
        return uniform(card for card in "JQK" if card not in state[0])

    def actions(self, state: Any) -> Any:
        if len(state[0]) < 2:
            return [card for card, _ in self.chance_outcomes(state)]
        return [] if state[1] in ENDS else ["pass", "bet"]

    def result(self, state: Any, action: Any) -> Any:
        cards, played = state
        return (cards + action, played) if len(cards) < 2 else (cards, played + action[0])

    def returns(self, state: Any) -> Any:
        cards, played = state
        first = "JQK".index(cards[0]) > "JQK".index(cards[1])
        if played in ("bp", "pbp"):
            first = played == "bp"
        stake = 2.0 if played in ("bb", "pbb") else 1.0
        return (stake, -stake) if first else (-stake, stake)

    def observation(self, state: Any, seat: int) -> Any:
        return ("".join(card if number == seat else "?" for number, card in enumerate(state[0])), state[1])


class Race(Game):
    """Seats throw a die in turns, or stop for good. The larger sum wins when all have stopped, or a sum above the target."""

    name = "race"
    target = 12

    def initial(self, rng: random.Random) -> Any:
        return (0, (0, 0), False)

    def to_move(self, state: Any) -> int:
        return CHANCE if state[2] else state[0]

    def is_terminal(self, state: Any) -> bool:
        return bool(max(state[1]) >= self.target)

    def chance_outcomes(self, state: Any) -> Any:
        return uniform(range(1, 7))

    def chance_stream(self, state: Any) -> Any:
        return state[0]

    def actions(self, state: Any) -> Any:
        return [] if self.is_terminal(state) else range(1, 7) if state[2] else ["throw", "wait"]

    def result(self, state: Any, action: Any) -> Any:
        seat, points, throwing = state
        if action == "throw":
            return (seat, points, True)
        gained = action if throwing else 0
        return (1 - seat, tuple(one + gained * (number == seat) for number, one in enumerate(points)), False)

    def returns(self, state: Any) -> Any:
        return (1.0, -1.0) if state[1][0] >= self.target else (-1.0, 1.0)


@heuristic("lead", game="race")
def lead(game: Any, state: Any, player: int = 0) -> float:
    """Return the lead in points, divided by 20."""
    return float(state[1][player] - state[1][1 - player]) / 20


class Noter(Agent):
    """Plays at random, and notes its states and its search."""

    name = "noter"
    copes = frozenset({"chance", "hidden-information"})
    given: list[Any] = []  # noqa: RUF012 - shared by all matches

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        """Return a random action."""
        self.given.append((game.to_move(state), state))
        return search.rng.choice(game.actions(state))


@hookimpl
def arena_games() -> list[type[Game]]:
    return [TwoCards, Race]


@hookimpl
def arena_agents() -> list[type[Agent]]:
    return [Noter]


@hookimpl
def arena_heuristics() -> list[Any]:
    return [lead]
