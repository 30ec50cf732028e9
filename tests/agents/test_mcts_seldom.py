"""A search whose tree is known but for what chance hardly ever does."""

import random
from collections.abc import Sequence

from arena import CHANCE, Game, play

State = tuple[str, ...]


class Seldom(Game):
    """Either action leads to chance, which nearly always does the same."""

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


def test_a_decision_ends_where_its_budget_is_of_no_use() -> None:
    """Both actions, each played on once, and what chance does after each: six states of a thousand that it may see."""
    record = play(Seldom(), "mcts", limits={"nodes": 1000})
    assert (record.termination, record.returns) == ("normal", (0.5,))
    assert record.decisions[0].nodes == 6
