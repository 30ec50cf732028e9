"""Test MCTS on a tree that is explored completely except for a very rare chance outcome."""

import random
from collections.abc import Sequence

from arena import CHANCE, Game, play

State = tuple[str, ...]


class Seldom(Game):
    """Each action leads to a chance node, and the second outcome has a probability of 1e-12."""

    name = "seldom"
    players = 1
    zero_sum = False

    def initial(self, rng: random.Random) -> State:
        return ()

    def to_move(self, state: State) -> int:
        return CHANCE if state else 0

    def actions(self, state: State) -> Sequence[str]:
        return (("left", "right"), ("often", "seldom"), ())[len(state)]

    def chance_outcomes(self, state: State) -> Sequence[tuple[str, float]]:
        return [("often", 1 - 1e-12), ("seldom", 1e-12)]

    def result(self, state: State, action: str) -> State:
        return (*state, action)

    def returns(self, state: State) -> Sequence[float]:
        return (0.5 if state[0] == "right" else -0.5,)


def test_a_decision_ends_before_its_budget_if_more_simulations_can_change_nothing() -> None:
    """Of a budget of 1,000, the search generates six states: both actions with the outcomes that it draws."""
    record = play(Seldom(), "mcts", limits={"nodes": 1000})
    assert (record.termination, record.returns) == ("normal", (0.5,))
    assert record.decisions[0].nodes == 6
