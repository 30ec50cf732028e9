"""Test that alpha-beta with a table finds the values of alpha-beta without one, with fewer nodes."""

import random
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import pytest

from arena import Game, play
from arena.testing import check_agent
from arena_agents.alpha_beta import AlphaBeta
from arena_agents.full_width import Minimax
from arena_games.connect_four import ConnectFour
from arena_games.othello import Othello
from arena_games.tic_tac_toe import TicTacToe

Decide = Callable[..., Any]
STEP = 1e-6
"""The discount per ply of a win or loss."""
TIE = 2.0**-44
"""The discount per ply of other returns."""


def test_a_table_does_not_change_any_value_of_tic_tac_toe(decide: Decide, open_positions: list[Any]) -> None:
    """The test uses every fifth position. The table never needs more nodes, and saves a tenth of the nodes in total."""
    game = TicTacToe()
    total = remembered = 0
    for state in open_positions[::5]:
        plain, table = decide(AlphaBeta(), game, state), decide(AlphaBeta(table=True), game, state)
        assert table.value == pytest.approx(plain.value, abs=1e-12)
        assert table.nodes <= plain.nodes
        total += plain.nodes
        remembered += table.nodes
    assert remembered < 0.9 * total


def test_deepening_with_a_table_finds_the_exact_value(decide: Decide, open_positions: list[Any]) -> None:
    """The budget never runs out. The action has the exact value, and deepening without a table needs more nodes."""
    game = TicTacToe()
    total = remembered = 0
    for state in open_positions[::30]:
        perfect = decide(AlphaBeta(), game, state).value
        plain = decide(AlphaBeta(), game, state, limits={"nodes": 10**9})
        table = decide(AlphaBeta(table=True), game, state, limits={"nodes": 10**9})
        assert table.value == pytest.approx(perfect, abs=1e-12)
        child = game.result(state, table.action)
        if not game.is_terminal(child):
            below = decide(AlphaBeta(), game, child).value
            assert -below + (STEP if below > 0 else -STEP if below < 0 else 0) == pytest.approx(perfect, abs=1e-12)
        total += plain.nodes
        remembered += table.nodes
    assert remembered < total


@pytest.mark.parametrize(("game", "plies", "depths"), [
    (ConnectFour(), 12, (1, 2, 3, 4)),
    (TicTacToe(rows=4, columns=4, in_a_row=3), 4, (2, 3)),
    (Othello(), 10, (2, 3, 4)),
], ids=lambda value: getattr(value, "name", None))  # fmt: skip
def test_values_to_a_depth_agree_with_minimax(game: Game, plies: int, depths: Sequence[int], decide: Decide) -> None:
    """Positions come from random play, with a heuristic at the horizon. Minimax has neither a window nor a table."""
    rng = random.Random(8)
    for _ in range(3):
        state = game.initial(rng)
        for _ in range(rng.randrange(plies)):
            state = game.result(state, rng.choice(game.actions(state)))
        if game.is_terminal(state):
            continue
        for depth in depths:
            full = decide(Minimax(depth=depth), game, state)
            table = decide(AlphaBeta(depth=depth, table=True), game, state)
            assert table.value == pytest.approx(full.value, abs=1e-12)


class Web(Game):
    """A random acyclic graph in which a state is reached after different numbers of moves and seats may move twice in a row.

    If a state has no action, the first seat gets -1, -0.5, 0, 0.5 or 1.
    """

    name = "web"
    default_heuristic: ClassVar[str | None] = None

    def __init__(self, *, seed: int = 0) -> None:
        rng = random.Random(seed)
        size = rng.randint(6, 16)
        self.seats = [rng.randrange(2) for _ in range(size)]
        self.ways = [
            tuple(sorted(rng.sample(range(state + 1, size), min(size - state - 1, rng.randint(0 if state > 3 else 1, 4)))))
            for state in range(size)
        ]
        self.ends = [rng.choice((-1.0, -0.5, 0.0, 0.5, 1.0)) for _ in range(size)]

    def initial(self, rng: random.Random) -> Any:
        return 0

    def to_move(self, state: Any) -> int:
        seat: int = self.seats[state]
        return seat

    def actions(self, state: Any) -> Sequence[int]:
        ways: Sequence[int] = self.ways[state]
        return ways

    def result(self, state: Any, action: int) -> Any:
        return action

    def returns(self, state: Any) -> Sequence[float]:
        return (self.ends[state], -self.ends[state])


def brute_force(game: Game, state: Any, ply: int) -> float:
    """Return the value for the first seat by brute force. An earlier end decides between equal returns."""
    if game.is_terminal(state):
        worth = game.returns(state)[0]
        return worth * (1 - ply * (STEP if abs(worth) == 1 else TIE))
    values = [brute_force(game, game.result(state, action), ply + 1) for action in game.actions(state)]
    return max(values) if game.to_move(state) == 0 else min(values)


@pytest.mark.parametrize("limits", [{}, {"nodes": 10**9}], ids=["once", "deepening"])
def test_a_state_met_at_another_ply_keeps_its_distance_to_the_end(limits: dict[str, Any], decide: Decide) -> None:
    """In a hundred random graphs, values with their distances and the chosen action agree with brute force."""
    for seed in range(100):
        game = Web(seed=seed)
        sign = 1 if game.to_move(0) == 0 else -1
        exact = sign * brute_force(game, 0, 0)
        decided = decide(AlphaBeta(table=True), game, 0, limits=limits)
        assert decided.value == pytest.approx(exact, abs=1e-12)
        assert sign * brute_force(game, decided.action, 1) == pytest.approx(exact, abs=1e-12)


class LongWeb(Web):
    """A longer random graph, in which a ply skips at most three states. Most lines end in one of the last six states."""

    name = "long-web"

    def __init__(self, *, seed: int = 0) -> None:
        rng = random.Random(seed)
        size = rng.randint(14, 24)
        self.seats = [rng.randrange(2) for _ in range(size)]
        following = [range(state + 1, min(size, state + 5)) for state in range(size)]
        self.ways = [
            tuple(sorted(rng.sample(near, min(len(near), rng.randint(int(state < size - 6), 3)))))
            for state, near in enumerate(following)
        ]
        self.ends = [rng.choice((-1.0, -0.5, 0.0, 0.5, 1.0)) for _ in range(size)]


@pytest.mark.parametrize(("depth", "limits"), [(40, {}), (None, {"nodes": 10**9})], ids=["depth", "budget"])
def test_a_state_before_remembered_states_is_as_uncertain_as_they_are(
    depth: int | None, limits: dict[str, Any], decide: Decide
) -> None:
    """If all its successors have values from the horizon, so does the state, although this iteration finds them in the table.
    Otherwise, deeper iterations would take over its value, and miss brute force in some of these graphs.
    """
    for seed in range(150):
        game = LongWeb(seed=seed)
        exact = brute_force(game, 0, 0) * (1 if game.to_move(0) == 0 else -1)
        assert decide(AlphaBeta(depth=depth, table=True), game, 0, limits=limits).value == pytest.approx(exact, abs=1e-12)


def test_the_announced_distance_to_the_end_falls_with_each_ply(decide: Decide, open_positions: list[Any]) -> None:
    """Both sides play on from a won or lost position. The distance is part of the value."""
    game = TicTacToe()
    for start in open_positions[::40]:
        state, values = start, []
        while not game.is_terminal(state):
            decided = decide(AlphaBeta(table=True), game, state)
            values.append(decided.value)
            state = game.result(state, decided.action)
        if values[0] == 0:
            assert values == [0.0] * len(values)
        else:
            assert [round((1 - abs(value)) / STEP) for value in values] == list(range(len(values), 0, -1))


class Lanes(Game):
    """The first choice is a lane, and forced moves follow. The second lane wins for the first seat, and the first lane loses."""

    name = "lanes"

    def initial(self, rng: random.Random) -> Any:
        return (0, 0)

    def to_move(self, state: Any) -> int:
        return int(state[1] % 2)

    def actions(self, state: Any) -> Sequence[int]:
        if state == (0, 0):
            return (1, 2)
        return () if state[1] == 12 else (state[0],)

    def result(self, state: Any, action: int) -> Any:
        return (action, state[1] + 1)

    def returns(self, state: Any) -> Sequence[float]:
        return (-1.0, 1.0) if state[0] == 1 else (1.0, -1.0)


@pytest.mark.parametrize("agent", [AlphaBeta(), AlphaBeta(table=True), Minimax()], ids=["plain", "table", "minimax"])
def test_deepening_continues_while_states_are_beyond_the_horizon(agent: Any, decide: Decide) -> None:
    """Two iterations with equal values and node counts do not end the search. Only an exact value does."""
    decided = decide(agent, Lanes(), (0, 0), limits={"nodes": 10_000})
    assert decided.action == 2
    assert decided.value == pytest.approx(1 - 12 * STEP)


def test_a_table_saves_most_nodes_of_a_deep_search(decide: Decide) -> None:
    """Seven plies of Connect Four from the empty board need less than a third of the nodes."""
    game = ConnectFour()
    empty = game.initial(random.Random(0))
    plain, table = decide(AlphaBeta(depth=7), game, empty), decide(AlphaBeta(depth=7, table=True), game, empty)
    assert table.value == pytest.approx(plain.value, abs=1e-12)
    assert table.nodes < plain.nodes / 3


@pytest.mark.parametrize("limits", [{"nodes": 300}, {"nodes": 300, "depth": 3}, {"depth": 3}])
def test_a_search_with_a_table_respects_its_limits(limits: dict[str, int]) -> None:
    """The limits are those of nodes and depth. No move is replaced by a random one."""
    record = play("connect-four", [AlphaBeta(table=True), AlphaBeta(table=True)], limits={**limits, "moves": 10})
    assert record.fallbacks == 0
    for decision in record.decisions:
        assert decision.nodes <= limits.get("nodes", 10**9)
        assert decision.depth is not None
        assert decision.depth <= limits.get("depth", 10**9)


def test_the_search_passes_the_agent_check() -> None:
    """The check plays each two-player game."""
    assert check_agent(AlphaBeta(table=True, depth=2), matches=1)
