"""Small games with hidden cards and random payoffs, and functions that try every pure strategy."""

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from arena import CHANCE, Game


class Dealt(Game):
    """Deal one of two cards to each seat. Then the seats act in turns, openly. The payoffs at the end are drawn from `seed`."""

    name = "dealt"
    min_return = -5.0
    max_return = 5.0

    def __init__(self, *, seed: int = 0, seats: int = 2, zero_sum: bool = True) -> None:
        rng = random.Random(seed)
        self.players = seats
        self.zero_sum = zero_sum
        self.order = [rng.randrange(seats) for _ in range(3)]
        self.odds = rng.uniform(0.1, 0.9)
        self.choices = [rng.randint(1, 2) for _ in self.order]
        self.payoffs: dict[Any, tuple[float, ...]] = {}
        for state in product(product("xy", repeat=seats), product(*[range(n) for n in self.choices])):
            paid = [float(rng.randint(-5, 5)) for _ in range(seats)]
            self.payoffs[state] = (paid[0], -paid[0]) if zero_sum else tuple(paid)

    def initial(self, rng: random.Random) -> Any:
        return ((), ())

    def to_move(self, state: Any) -> int:
        return CHANCE if len(state[0]) < self.players else self.order[len(state[1])]

    def actions(self, state: Any) -> Sequence[Any]:
        if len(state[0]) < self.players:
            return "xy"
        return range(self.choices[len(state[1])]) if len(state[1]) < len(self.order) else ()

    def chance_outcomes(self, state: Any) -> Sequence[tuple[Any, float]]:
        return [("x", self.odds), ("y", 1 - self.odds)]

    def result(self, state: Any, action: Any) -> Any:
        cards, acted = state
        return ((*cards, action), acted) if len(cards) < self.players else (cards, (*acted, action))

    def returns(self, state: Any) -> Sequence[float]:
        return self.payoffs[state]

    def observation(self, state: Any, seat: int) -> Any:
        return (tuple([card if owner == seat else "?" for owner, card in enumerate(state[0])]), state[1])


Behaviour = Mapping[tuple[int, Any], Sequence[float]]


def observations(game: Dealt) -> list[tuple[int, Any]]:
    """Return every observation at which a seat acts, with the seat."""
    found: dict[tuple[int, Any], None] = {}
    for ply, seat in enumerate(game.order):
        for cards in product("xy", repeat=game.players):
            for acted in product(*[range(n) for n in game.choices[:ply]]):
                found[seat, game.observation((cards, acted), seat)] = None
    return list(found)


def draw_policy(game: Dealt, rng: random.Random) -> Behaviour:
    """Draw a random policy for all seats, in which each action has a probability of at least 1/12."""
    policy = {}
    for seat, observation in observations(game):
        weights = [rng.choice([0.0, rng.random()]) + 0.1 for _ in range(game.choices[len(observation[1])])]
        policy[seat, observation] = [weight / sum(weights) for weight in weights]
    return policy


def mean_payoffs(game: Dealt, policy: Behaviour) -> list[float]:
    """Return the mean payoff of each seat over all deals and actions."""
    total = [0.0] * game.players
    for (cards, acted), payoffs in game.payoffs.items():
        weight = 1.0
        for card in cards:
            weight *= game.odds if card == "x" else 1 - game.odds
        for ply, (seat, action) in enumerate(zip(game.order, acted, strict=True)):
            weight *= policy[seat, game.observation((cards, acted[:ply]), seat)][action]
        total = [so_far + weight * value for so_far, value in zip(total, payoffs, strict=True)]
    return total


def pure_strategies(game: Dealt, policy: Behaviour, seat: int) -> Iterator[Behaviour]:
    """Yield the policy with one seat's strategy replaced by each of its pure strategies."""
    own = [key for key in observations(game) if key[0] == seat]
    for chosen in product(*[range(game.choices[len(observation[1])]) for _, observation in own]):
        given = {
            key: [float(place == choice) for place in range(game.choices[len(key[1][1])])]
            for key, choice in zip(own, chosen, strict=True)
        }
        yield {**policy, **given}
