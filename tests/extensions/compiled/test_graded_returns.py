"""Compiled searches on random trees with graded returns agree with plain searches and with the true values."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pytest

from arena import Agent, Game
from arena_agents.alpha_beta import AlphaBeta, TypeAPlus
from arena_agents.full_width import Lookahead, Minimax, TypeA
from arena_agents.mcts import MCTS
from tests.agents.test_true_values import DEPTH, RANGES, Inner, Leaf, draw_nearly_equal, grow, true_value

Twice = Callable[..., Any]


class Numbered(Game):
    """A tree in tables. A state is the number of a node, and its successors have consecutive numbers."""

    name = "numbered-tree"
    players = 2

    def __init__(self, root: Inner) -> None:
        nodes: list[Inner | Leaf] = [root]
        first, count, mover, worth = list[int](), list[int](), list[int](), list[float]()
        for node in nodes:
            first.append(len(nodes))
            after = [] if isinstance(node, Leaf) else node.after
            count.append(len(after))
            mover.append(0 if isinstance(node, Leaf) else node.mover)
            worth.append(node.worth if isinstance(node, Leaf) else 0.0)
            nodes += after
        self.first, self.count, self.mover, self.worth = tuple(first), tuple(count), tuple(mover), tuple(worth)

    def initial(self, rng: Random) -> Any:
        return (0,)

    def to_move(self, state: Any) -> int:
        return int(self.mover[state[0]])

    def actions(self, state: Any) -> Sequence[int]:
        return range(self.count[state[0]])

    def result(self, state: Any, action: int) -> Any:
        return (self.first[state[0]] + action,)

    def is_terminal(self, state: Any) -> bool:
        return bool(self.count[state[0]] == 0)

    def returns(self, state: Any) -> Sequence[float]:
        return (self.worth[state[0]], -self.worth[state[0]])


SEARCHES = [
    Minimax(),
    AlphaBeta(),
    AlphaBeta(depth=DEPTH, table=True),
    AlphaBeta(depth=DEPTH, table="64kB"),
    AlphaBeta(depth=DEPTH, order="heuristic"),
    TypeA(depth=DEPTH),
    TypeAPlus(depth=DEPTH),
    Lookahead(depth=DEPTH),
    MCTS(rollouts=5_000),
]


@pytest.mark.parametrize("limits", [{}, {"nodes": 1_000_000}], ids=["", "budget"])
@pytest.mark.parametrize("agent", SEARCHES, ids=lambda one: f"{one.name}-{getattr(one, 'table', '')}-{getattr(one, 'order', '')}")
def test_compiled_searches_find_the_true_value(twice: Twice, agent: Agent, limits: dict[str, int]) -> None:
    """The returns range from -1 to 1. Games with other ranges run plain."""
    for kind in ("usual", "graded"):
        rng = Random(kind)
        for _ in range(20):
            root = grow(rng, RANGES[kind][2], DEPTH, chance=False, root=True)
            assert isinstance(root, Inner)
            sign = 1 if root.mover == 0 else -1
            values = [sign * true_value(child) for child in root.after]
            assert values[twice(agent, Numbered(root), (0,), limits=limits).found] == max(values)


@pytest.mark.parametrize("limits", [{}, {"nodes": 1_000_000}], ids=["", "budget"])
@pytest.mark.parametrize("agent", SEARCHES, ids=lambda one: f"{one.name}-{getattr(one, 'table', '')}-{getattr(one, 'order', '')}")
def test_compiled_searches_find_the_best_of_nearly_equal_returns_if_they_report_exactness(
    twice: Twice, agent: Agent, limits: dict[str, int]
) -> None:
    rng, exact = Random(7), list[bool]()
    for _ in range(30):
        root = grow(rng, draw_nearly_equal, DEPTH, chance=False, root=True)
        assert isinstance(root, Inner)
        sign = 1 if root.mover == 0 else -1
        values = [sign * true_value(child) for child in root.after]
        outcome = twice(agent, Numbered(root), (0,), limits=limits)
        exact.append(bool(outcome.report and outcome.report.exact))
        assert not exact[-1] or values[outcome.found] == max(values)
    assert agent.name == "lookahead" or {*exact} == {True, False}


def test_compiled_searches_remember_as_many_returns_as_uncompiled_ones(twice: Twice) -> None:
    """A search remembers 4,096 returns of both seats. The values at the root are `place / 5_000`."""
    for number, known in ((2_000, True), (3_000, False)):
        game = Numbered(Inner(0, [Inner(0, [Leaf(place / 5_000)]) for place in range(number)]))
        for agent in (AlphaBeta(depth=2, table=True), MCTS(rollouts=20_000)):
            assert bool(twice(agent, game, (0,)).report.exact) is known
