"""Compare searches on random trees with the true values of the actions by brute force.

The trees have ranges of returns other than -1 to 1, seats that move several times in a row, and chance.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from math import inf
from random import Random
from typing import Any

import pytest

import arena
from arena import CHANCE, Agent, Game
from arena.returns import Returns
from arena_agents.alpha_beta import AlphaBeta, TypeAPlus
from arena_agents.full_width import Expectimax, Lookahead, Minimax, TypeA
from arena_agents.mcts import MCTS
from arena_agents.star2 import Star2
from tests.conftest import Decide

DEPTH = 5
RANGES: dict[str, tuple[float, float, Callable[[Random], float]]] = {
    "usual": (-1.0, 1.0, lambda rng: rng.choice((-1.0, 0.0, 1.0))),
    "graded": (-1.0, 1.0, lambda rng: rng.choice((-1.0, -0.995, -0.5, 0.0, 0.5, 0.995, 1.0))),
    "three": (-3.0, 3.0, lambda rng: float(rng.randint(-3, 3))),
    "lopsided": (-1.0, 3.0, lambda rng: rng.randint(-4, 4) / 4),
    "close to the largest": (-3.0, 3.0, lambda rng: rng.choice((-3.0, -2.99, 2.99, 3.0))),
    "large": (-1e6, 1e6, lambda rng: float(rng.choice((-1, 1)) * (10**6 - rng.randint(0, 3)))),
    "small": (-1e-6, 1e-6, lambda rng: rng.randint(-3, 3) * 1e-7),
    "open": (-1e4, inf, lambda rng: float(rng.randint(-5000, 5000))),
}
"""The smallest and the largest return, and a function that draws the return of the first seat."""


class Leaf:
    """The end of a line."""

    def __init__(self, worth: float) -> None:
        self.worth = worth


class Inner:
    """A node with the seat that moves, or CHANCE, and a child for each action."""

    def __init__(self, mover: int, after: Sequence["Inner | Leaf"]) -> None:
        self.mover = mover
        self.after = after


class Tree(Game):
    """A game on a tree. A state is the path from the root, as a tuple of the indices of actions."""

    name = "tree"
    players = 2

    def __init__(self, root: Inner, least: float, most: float) -> None:
        self.root = root
        self.min_return, self.max_return = least, most

    def at(self, state: Any) -> Any:
        node: Any = self.root
        for place in state:
            node = node.after[place]
        return node

    def initial(self, rng: Random) -> Any:
        return ()

    def to_move(self, state: Any) -> int:
        return int(self.at(state).mover)

    def actions(self, state: Any) -> Sequence[int]:
        return range(len(self.at(state).after))

    def result(self, state: Any, action: int) -> Any:
        return (*state, action)

    def is_terminal(self, state: Any) -> bool:
        return isinstance(self.at(state), Leaf)

    def returns(self, state: Any) -> Sequence[float]:
        worth = self.at(state).worth
        return (worth, -worth)


class ChanceTree(Tree):
    name = "chance-tree"

    def chance_outcomes(self, state: Any) -> Sequence[tuple[int, float]]:
        number = len(self.at(state).after)
        return [(place, 1 / number) for place in range(number)]


def grow(rng: Random, draw: Callable[[Random], float], depth: int, *, chance: bool, root: bool = False) -> Inner | Leaf:
    """Return a random tree with at most `depth` decisions on a line. Chance has 2 or 4 outcomes, so the odds are exact."""
    if not root and (depth == 0 or rng.random() < 0.25):
        return Leaf(draw(rng))
    if chance and not root and rng.random() < 0.3:
        return Inner(CHANCE, [grow(rng, draw, depth, chance=False, root=depth > 0) for _ in range(rng.choice((2, 4)))])
    after = [grow(rng, draw, depth - 1, chance=chance) for _ in range(rng.randint(2, 3))]
    return Inner(rng.randrange(2), after)


def true_value(node: Inner | Leaf) -> Fraction:
    """Return the exact value for the first seat."""
    if isinstance(node, Leaf):
        return Fraction(node.worth)
    values = [true_value(child) for child in node.after]
    if node.mover == CHANCE:
        return sum(values, Fraction()) / len(values)
    return max(values) if node.mover == 0 else min(values)


def trees(kind: str, *, chance: bool, number: int = 60) -> Iterator[tuple[Tree, list[Fraction]]]:
    """Yield games with the true values of the actions at the root, for the seat that moves there."""
    least, most, draw = RANGES[kind]
    rng = Random(kind)
    for _ in range(number):
        root = grow(rng, draw, DEPTH, chance=chance, root=True)
        assert isinstance(root, Inner)
        sign = 1 if root.mover == 0 else -1
        game = (ChanceTree if chance else Tree)(root, least, most)
        yield game, [sign * true_value(child) for child in root.after]


NONE: dict[str, int] = {}
MANY = {"nodes": 1_000_000}
SEARCHES: list[tuple[Agent, dict[str, int]]] = [
    (Minimax(), NONE),
    (Minimax(), MANY),
    (AlphaBeta(), NONE),
    (AlphaBeta(), MANY),
    (AlphaBeta(order="heuristic"), NONE),
    (AlphaBeta(depth=DEPTH, table=True), NONE),
    (AlphaBeta(table=True), MANY),
    (AlphaBeta(table=True, order="heuristic"), MANY),
    (AlphaBeta(depth=DEPTH, table="64kB"), MANY),
    (TypeA(depth=DEPTH), NONE),
    (TypeA(depth=DEPTH), MANY),
    (TypeAPlus(depth=DEPTH), NONE),
    (TypeAPlus(depth=DEPTH), MANY),
    (Lookahead(depth=DEPTH), NONE),
    (MCTS(rollouts=5_000), NONE),
]
CHANCE_SEARCHES: list[tuple[Agent, dict[str, int]]] = [
    (Expectimax(depth=DEPTH), NONE),
    (Expectimax(depth=DEPTH), MANY),
    (Star2(depth=DEPTH), NONE),
    (Star2(depth=DEPTH), MANY),
    (Lookahead(depth=DEPTH), NONE),
]


def name_search(given: Any) -> str | None:
    if not isinstance(given, Agent):
        return "budget" if given is MANY else ""
    options = [str(getattr(given, option)) for option in ("table", "order") if getattr(given, option, False)]
    return "-".join([given.name, *options])


@pytest.mark.parametrize("kind", RANGES)
@pytest.mark.parametrize(("agent", "limits"), SEARCHES, ids=name_search)
def test_the_chosen_action_has_the_best_true_value(agent: Agent, limits: dict[str, int], kind: str, decide: Decide) -> None:
    for game, values in trees(kind, chance=False):
        chosen = decide(agent, game, (), limits=limits).action
        assert values[chosen] == max(values)


@pytest.mark.parametrize("kind", RANGES)
@pytest.mark.parametrize(("agent", "limits"), CHANCE_SEARCHES, ids=name_search)
def test_the_chosen_action_has_the_best_expected_value(agent: Agent, limits: dict[str, int], kind: str, decide: Decide) -> None:
    for game, values in trees(kind, chance=True):
        chosen = decide(agent, game, (), limits=limits).action
        assert float(values[chosen]) == pytest.approx(float(max(values)), rel=1e-12)


BUDGETS = [{"nodes": nodes} for nodes in (1, 2, 5, 10, 20, 50, 200)]
PROOFS = [
    *[
        (agent, False)
        for agent in (Minimax(), AlphaBeta(), AlphaBeta(table=True), TypeA(depth=DEPTH), TypeAPlus(depth=DEPTH), MCTS())
    ],
    *[(agent, True) for agent in (Expectimax(depth=DEPTH), Star2(depth=DEPTH), MCTS())],
]


@pytest.mark.parametrize("kind", RANGES)
@pytest.mark.parametrize(("agent", "chance"), PROOFS, ids=name_search)
def test_a_value_reported_as_exact_is_the_true_value(agent: Agent, chance: bool, kind: str) -> None:
    """The budgets end most searches early. The game has no heuristic, so all estimates are 0."""
    proven = 0
    for game, values in trees(kind, chance=chance, number=30):
        for limits in (*BUDGETS, {"nodes": 2_000, "depth": 2}):
            decision = arena.play(game, [agent, agent], limits=limits).decisions[0]
            if decision.exact:
                proven += 1
                assert decision.value is not None
                assert Returns(game).unscale(decision.value) == pytest.approx(float(max(values)), abs=1e-5 * -game.min_return)
    assert proven


class Alone(Tree):
    """The first seat always moves, and the second one always gets 0."""

    zero_sum = False

    def to_move(self, state: Any) -> int:
        return 0

    def returns(self, state: Any) -> Sequence[float]:
        return (self.at(state).worth, 0.0)


def draw_nearly_equal(rng: Random, size: float = 1.0) -> float:
    """Draw one of 1, 0.75, 0.3 and 0, or a number a little below it, and multiply it by 1 or -1 and by `size`. Several of the
    differences are the next float or the discount of a few plies.
    """
    worth = rng.choice((1.0, 0.75, 0.3, 0.0))
    for _ in range(rng.choice((0, 0, 1))):
        worth -= worth * rng.choice((2.0**-53, 2.0**-44, 3 * 2.0**-44, 1e-13, 1e-12, 1e-10, 1e-6))
    return rng.choice((1, -1)) * size * worth


NEARLY = [*[(agent, ChanceTree if chance else Tree) for agent, chance in PROOFS], (Expectimax(depth=DEPTH), Alone)]


@pytest.mark.parametrize("most", [1.0, 3.0, 1.7, inf])
@pytest.mark.parametrize(("agent", "kind"), NEARLY, ids=name_search)
def test_an_action_reported_as_exact_is_the_best_of_nearly_equal_ones(agent: Agent, kind: type[Tree], most: float) -> None:
    rng, claims, withheld = Random(most), 0, 0
    for _ in range(40):
        size = 1.0 if most == inf else most
        depth = 2 if kind is Alone else DEPTH
        root = grow(rng, partial(draw_nearly_equal, size=size), depth, chance=kind is ChanceTree, root=True)
        assert isinstance(root, Inner)
        game = kind(root, -size, most)
        sign = 1 if root.mover == 0 or kind is Alone else -1
        values = [best_of(child) if kind is Alone else sign * true_value(child) for child in root.after]
        for limits in (NONE, {"nodes": 20}, {"depth": 2}, {"nodes": 2_000, "depth": 3}, MANY):
            record = arena.play(game, [agent, agent], limits=limits)
            decision = record.decisions[0]
            claims += decision.exact
            withheld += limits is MANY and not decision.exact
            assert not decision.exact or values[int(record.actions[0])] == max(values)
    assert claims
    assert withheld


def best_of(node: Inner | Leaf) -> Fraction:
    """Return the highest return of the first seat below a node."""
    return Fraction(node.worth) if isinstance(node, Leaf) else max(map(best_of, node.after))


def test_a_search_is_not_exact_if_there_are_more_returns_than_it_remembers() -> None:
    """The root has a child for each of 2,000 or 3,000 different returns, and the other seat gets the negative ones."""
    for number, exact in ((2_000, True), (3_000, False)):
        game = Tree(Inner(0, [Leaf(place / 5_000) for place in range(number)]), -1.0, 1.0)
        for agent in (Minimax(), AlphaBeta(), MCTS(rollouts=10_000)):
            assert arena.play(game, [agent, agent]).decisions[0].exact is exact


@pytest.mark.parametrize(("agent", "limits"), [one for one in SEARCHES if one[0].name != "lookahead"], ids=name_search)
def test_a_search_of_the_whole_tree_is_exact(agent: Agent, limits: dict[str, int]) -> None:
    for game, _ in trees("usual", chance=False):
        decision = arena.play(game, [agent, agent], limits=limits).decisions[0]
        assert decision.exact


def test_a_mean_of_rollouts_does_not_prove_a_win() -> None:
    """Five rollouts of an unfinished game of Othello prove nothing, even if all of them are won."""
    firsts = [
        arena.play("othello", [MCTS(rollouts=5), "random"], seed=seed, limits={"moves": 1}).decisions[0] for seed in range(60)
    ]
    assert any(first.value == 1.0 for first in firsts)
    assert not any(first.exact for first in firsts)


def test_a_state_at_the_depth_limit_does_not_prove_a_value() -> None:
    """Without a heuristic, each state at depth 1 has the value 0, although each line is won."""
    won = Inner(0, [Leaf(1.0), Leaf(1.0)])
    game = Tree(Inner(0, [Inner(1, [won, won]), Inner(1, [won, won])]), -1.0, 1.0)
    agents: list[Agent] = [MCTS(), Minimax(), AlphaBeta(), TypeA(depth=3), TypeAPlus(depth=3)]
    for agent in agents:
        assert [arena.play(game, [agent, agent], limits={"depth": depth}).decisions[0].exact for depth in (1, 2, 3)] == [
            False, False, True
        ]  # fmt: skip


def test_the_larger_of_two_final_returns_is_chosen(decide: Decide) -> None:
    game = Tree(Inner(0, [Leaf(1.0), Leaf(3.0)]), -3.0, 3.0)
    deeper = Tree(Inner(0, [Inner(1, [Inner(0, [Leaf(1.0)]), Inner(0, [Leaf(3.0)])]), Leaf(2.0)]), -3.0, 3.0)
    for agent, limits in SEARCHES:
        assert decide(agent, game, (), limits=limits).action == 1
        assert decide(agent, deeper, (), limits=limits).action == 1


def test_the_number_of_plies_decides_between_equal_returns(decide: Decide) -> None:
    """An early win and a late loss are preferred. A larger return later is better than a smaller one at once."""
    early = Tree(Inner(0, [Inner(0, [Leaf(2.0)]), Leaf(2.0)]), -3.0, 3.0)
    late = Tree(Inner(0, [Leaf(-2.0), Inner(0, [Leaf(-2.0)])]), -3.0, 3.0)
    larger = Tree(Inner(0, [Leaf(2.0), Inner(0, [Leaf(2.0 + 1e-9)])]), -3.0, 3.0)
    for agent, limits in SEARCHES[:-1]:
        for game in (early, late, larger):
            assert decide(agent, game, (), limits=limits).action == 1
