"""Test searches of games with chance: Expectimax against a naive one, Star2 against Expectimax, Lookahead and Greedy."""

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from arena import CHANCE, Agent, Game, Limits
from arena.counting import Meter, counting_view
from arena.heuristics import bind
from arena.identity import Stream
from arena.search import Search, SharedStart
from arena_agents.full_width import Expectimax, Lookahead, Minimax
from arena_agents.simple import Greedy
from arena_agents.star2 import Star2
from arena_games.backgammon import Backgammon
from arena_games.pig import Pig, Race
from arena_games.tic_tac_toe import TicTacToe
from arena_games.twenty_forty_eight import Snake, TwentyFortyEight
from tests.conftest import Decided

STEP = 2.0**-44
"""The discount per ply. It only decides between equal returns."""
HEURISTICS: Mapping[str, Any] = {"pig": Race, "2048": Snake}


class Chances(Game):
    """A random tree of six plies. At each node, chance or one of the seats has two or three branches."""

    name = "chances"
    min_return = -4.0
    max_return = 4.0

    def __init__(self, *, seed: int = 0, seats: int = 2) -> None:
        self.seed = seed
        self.players = seats
        self.zero_sum = seats == 2

    def _drawn(self, state: Any) -> random.Random:
        return random.Random(f"{self.seed} {state}")

    def initial(self, rng: random.Random) -> Any:
        return ()

    def to_move(self, state: Any) -> int:
        return self._drawn(state).choice([CHANCE, *range(self.players)]) if state else 0

    def actions(self, state: Any) -> Sequence[int]:
        return range(self._drawn(state).choice([2, 3])) if len(state) < 6 else ()

    def chance_outcomes(self, state: Any) -> Sequence[tuple[int, float]]:
        weights = [self._drawn((state, outcome)).random() + 0.01 for outcome in self.actions(state)]
        return [(outcome, weight / sum(weights)) for outcome, weight in zip(self.actions(state), weights, strict=True)]

    def result(self, state: Any, action: int) -> Any:
        return (*state, action)

    def returns(self, state: Any) -> Sequence[float]:
        got = [self._drawn((state, seat)).uniform(-4, 4) for seat in range(self.players)]
        return (got[0], -got[0]) if self.players == 2 else got


@pytest.fixture(scope="module")
def decide() -> Any:
    """Return a function that asks an agent for a decision as the referee does, with a heuristic for Pig and 2048."""

    def decide(agent: Agent, game: Game, state: Any, limits: Mapping[str, Any] | None = None, seed: str = "seat") -> Decided:
        bounds, meter = Limits(**(limits or {})), Meter()
        meter.begin(bounds.nodes, bounds.seconds)
        view = counting_view(game, meter)
        kind = HEURISTICS.get(game.name)
        evaluation = None if kind is None else bind(kind, game)
        search = Search(view, evaluation, bounds, meter, Stream(seed), SharedStart(game, Stream("start")))
        action = agent.choose(view, state, search)
        return Decided(action, search.value, meter.nodes, meter.evaluations, search.depth)

    return decide


def expected_returns(game: Game, state: Any, decisions: int, deep: int = 0) -> Sequence[float]:
    """Return the value for each seat, scaled to -1 to 1, of a full search. States beyond the number of decisions count as 0."""
    if game.is_terminal(state):
        return [value / game.max_return * (1 - deep * STEP) for value in game.returns(state)]
    if game.to_move(state) == CHANCE:
        after = [
            (odds, expected_returns(game, game.result(state, one), decisions, deep)) for one, odds in game.chance_outcomes(state)
        ]
        return [sum(odds * values[seat] for odds, values in after) for seat in range(game.players)]
    if deep == decisions:
        return [0.0] * game.players
    mover = game.to_move(state)
    after_each = [expected_returns(game, game.result(state, action), decisions, deep + 1) for action in game.actions(state)]
    return max(after_each, key=lambda values: values[mover])


def draw_positions(game: Game, count: int, plies: int = 60) -> Iterator[Any]:
    """Yield positions from random play in which a seat has to decide."""
    rng = random.Random(count)
    while count:
        state = game.initial(rng)
        for _ in range(rng.randint(0, plies)):
            following = game.result(state, rng.choice(game.actions(state)))
            state = state if game.is_terminal(following) else following
        if game.to_move(state) != CHANCE:
            count -= 1
            yield state


@pytest.mark.parametrize("depth", [1, 2, 3, 6])
@pytest.mark.parametrize("seats", [1, 2, 3])
def test_expectimax_finds_the_value_of_a_full_search(seats: int, depth: int, decide: Any) -> None:
    """The trees have one seat, two opponents or three seats. A seat or chance may move twice in a row."""
    for seed in range(6):
        game = Chances(seed=seed, seats=seats)
        decided = decide(Expectimax(depth=depth), game, ())
        best = [expected_returns(game, game.result((), action), depth, 1)[0] for action in game.actions(())]
        assert decided.value == pytest.approx(max(best), abs=1e-12)
        assert best[decided.action] == pytest.approx(max(best), abs=1e-12)


@pytest.mark.parametrize(
    ("game", "depth", "count"),
    [(Pig(target=20), 3, 60), (Pig(target=30), 4, 8), (Backgammon(), 1, 5)]
    + [(Chances(seed=seed), depth, 1) for seed in range(12) for depth in (2, 6)],
    ids=lambda given: getattr(given, "name", str(given)),
)
def test_star2_agrees_with_expectimax_with_no_more_nodes(game: Game, depth: int, count: int, decide: Any) -> None:
    """Star2 chooses the same action and value as Expectimax on each position, and never generates more nodes."""
    for state in draw_positions(game, count) if count > 1 else [()]:
        full, pruned = (decide(agent, game, state) for agent in (Expectimax(depth=depth), Star2(depth=depth)))
        assert (pruned.action, pruned.value) == (full.action, pytest.approx(full.value, abs=1e-12))
        assert pruned.nodes <= full.nodes
        assert pruned.evaluations <= full.evaluations


def test_star2_generates_fewer_nodes_than_expectimax(decide: Any) -> None:
    """On the positions together, Star2 saves a tenth of the nodes of Pig at depth 4 and a quarter of the nodes of random
    trees at depth 6.
    """
    pig = list(draw_positions(Pig(target=20), 12))
    trees = [Chances(seed=seed) for seed in range(12)]

    def nodes(kind: Any) -> tuple[int, int]:
        return (
            sum(decide(kind(depth=4), Pig(target=20), state).nodes for state in pig),
            sum(decide(kind(depth=6), tree, ()).nodes for tree in trees),
        )

    full, pruned = nodes(Expectimax), nodes(Star2)
    assert pruned[0] < 0.9 * full[0]
    assert pruned[1] < 0.75 * full[1]


def test_expectimax_equals_minimax_on_a_game_without_chance(decide: Any, open_positions: list[Any]) -> None:
    """On tic-tac-toe, Expectimax finds the same action and value with the same nodes as Minimax, and Star2 finds the same
    value.
    """
    for state in open_positions[::97]:
        expected = decide(Minimax(depth=3), TicTacToe(), state)
        assert decide(Expectimax(depth=3), TicTacToe(), state)[:3] == expected[:3]
        assert decide(Star2(depth=3), TicTacToe(), state).value == expected.value


def test_lookahead_and_greedy_choose_as_expectimax_does(decide: Any) -> None:
    """Lookahead plays the action of Expectimax at the same depth with the same nodes. Greedy plays the action of depth 1."""
    game = Pig(target=20)
    for state in draw_positions(game, 40):
        for depth in (1, 2, 3):
            full = decide(Expectimax(depth=depth), game, state)
            ahead = decide(Lookahead(depth=depth), game, state)
            assert (ahead.action, ahead.nodes) == (full.action, full.nodes)
        assert decide(Greedy(), game, state).action == decide(Expectimax(depth=1), game, state).action


def test_greedy_skips_averaging_if_the_heuristic_ignores_chance(decide: Any) -> None:
    """The pip count of backgammon does not depend on the 21 throws, so Greedy finds the same action with a fifth of the nodes."""
    game, spent, full = Backgammon(), 0, 0
    for state in draw_positions(game, 12):
        averaged, decided = decide(Expectimax(depth=1), game, state), decide(Greedy(), game, state)
        assert decided.action == averaged.action
        spent, full = spent + decided.nodes, full + averaged.nodes
    assert spent < full / 5


def test_expectimax_searches_a_score_without_an_upper_bound(decide: Any) -> None:
    """In 2048, the value is at least the current score. With a large budget, iterative deepening reaches the depth limit."""
    game = TwentyFortyEight(rows=2, columns=2)
    for state in draw_positions(game, 5, plies=10):
        full = decide(Expectimax(depth=2), game, state)
        assert full.value >= state[1]
        deepened = decide(Expectimax(depth=2), game, state, limits={"nodes": 10**6})
        assert (deepened.action, deepened.value, deepened.depth) == (full.action, full.value, 2)


@pytest.mark.parametrize("agent", [Expectimax(depth=3), Star2(depth=3)], ids=lambda agent: agent.name)
def test_a_node_budget_deepens_up_to_the_depth_of_the_agent(agent: Any, decide: Any) -> None:
    """With a large budget, the decision equals the decision without a budget. A search of depth 1 needs fewer than 20 nodes."""
    game = Pig(target=20)
    state = game.parse_state("9:7 +3 a")
    assert decide(agent, game, state, limits={"nodes": 10**6})[:2] == decide(agent, game, state)[:2]
    assert decide(type(agent)(depth=1), game, state).nodes < 20
