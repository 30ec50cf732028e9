"""Test searches of two-player games: node counts and values known from elsewhere, over all positions of tic-tac-toe."""

import random
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import pytest

from arena import Agent, Game, Limits, play
from arena_agents.alpha_beta import AlphaBeta, TypeAPlus
from arena_agents.full_width import Lookahead, Minimax, TypeA
from arena_games.connect_four import ConnectFour
from arena_games.connect_four_heuristics import OpenLines
from arena_games.tic_tac_toe import TicTacToe

Decide = Callable[..., Any]
STEP = 1e-6


@pytest.fixture(scope="module")
def perfect() -> Callable[[Any], float]:
    """Return a function for the exact value of a position for the player to move. A win in n plies is worth 1 - n * 1e-6."""
    game = TicTacToe()
    known: dict[Any, tuple[int, int]] = {}

    def outcome(state: Any) -> tuple[int, int]:
        """Return the result for the player to move and the plies to the end, with early wins and late losses preferred."""
        if state not in known:
            if game.is_terminal(state):
                known[state] = (0, 0) if not any(game.returns(state)) else (-1, 0)  # the opponent has just made the line
            else:
                replies = [outcome(game.result(state, action)) for action in game.actions(state)]
                known[state] = max(((-result, plies + 1) for result, plies in replies), key=lambda r: (r[0], -r[0] * r[1]))
        return known[state]

    return lambda state: outcome(state)[0] * (1 - outcome(state)[1] * STEP)


def value_after(perfect: Callable[[Any], float], game: Game, state: Any, action: Any) -> float:
    """Return the exact value of an action for the player who chooses it."""
    value = perfect(game.result(state, action))
    if value == 0:
        return 0.0
    plies = round((1 - abs(value)) / STEP) + 1
    return -1 * (1 if value > 0 else -1) * (1 - plies * STEP)


def test_minimax_visits_each_node_of_the_game_tree_once(decide: Decide) -> None:
    """The game tree of tic-tac-toe has 549,945 nodes below the empty board, and perfect play is a draw."""
    decided = decide(Minimax(), TicTacToe(), (0, 0))
    assert decided.nodes == 549_945
    assert decided.value == 0


@pytest.mark.parametrize("agent", [Minimax, AlphaBeta])
def test_perfect_agents_find_the_value_of_a_position(
    agent: type[Agent], decide: Decide, open_positions: list[Any], perfect: Callable[[Any], float]
) -> None:
    """The test uses every fourth reachable position of tic-tac-toe; for Minimax, only positions with at most six empty cells."""
    game = TicTacToe()
    for state in open_positions[::4]:
        if agent is Minimax and len(game.actions(state)) > 6:
            continue
        decided = decide(agent(), game, state)
        assert decided.value == pytest.approx(perfect(state), abs=1e-12)
        assert value_after(perfect, game, state, decided.action) == pytest.approx(perfect(state), abs=1e-12)


def test_deepening_stops_when_the_value_is_exact(
    decide: Decide, open_positions: list[Any], perfect: Callable[[Any], float]
) -> None:
    """With a budget that never runs out and no depth limit, a decision ends with the exact value and an optimal action."""
    game = TicTacToe()
    for state in open_positions[::5]:
        decided = decide(AlphaBeta(), game, state, limits={"nodes": 10**9})
        assert decided.value == pytest.approx(perfect(state), abs=1e-12)
        assert value_after(perfect, game, state, decided.action) == pytest.approx(perfect(state), abs=1e-12)


@pytest.fixture(scope="module")
def naive_type_a() -> Callable[[Any], tuple[float, int]]:
    """Return a second implementation of Type A at depth 2, for tic-tac-toe on strings. It gives the value and the nodes."""
    lanes = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]

    def look(cells: str, ply: int) -> tuple[float, int]:
        mover = "x" if cells.count("x") == cells.count("o") else "o"
        counts = ["".join(sorted(cells[cell] for cell in lane)) for lane in lanes]
        if "xxx" in counts or "ooo" in counts:
            return -(1 - ply * STEP), 0
        if "." not in cells:
            return 0.0, 0
        if ply >= 2 and ".xx" not in counts and ".oo" not in counts:
            h = 3 * counts.count(".xx") + counts.count("..x") - 3 * counts.count(".oo") - counts.count("..o")
            return max(-0.99, min(0.99, (h if mover == "x" else -h) / 10)), 0
        best, nodes = -9.0, 0
        for cell in range(9):
            if cells[cell] == ".":
                value, below = look(cells[:cell] + mover + cells[cell + 1 :], ply + 1)
                best, nodes = max(best, -value), nodes + 1 + below
        return best, nodes

    return lambda text: look(text.replace("/", ""), 0)


@pytest.mark.parametrize("step", [10, pytest.param(1, marks=pytest.mark.proof)])
def test_type_a_plus_finds_type_a_values_with_fewer_nodes(
    step: int, decide: Decide, open_positions: list[Any], naive_type_a: Callable[[Any], tuple[float, int]]
) -> None:
    """Type A generates 956,751 nodes over the 4,520 positions. Type A Plus generates less than a fifth, and never more on any."""
    game = TicTacToe()
    assert len(open_positions) == 4520
    total = plus_total = 0
    for number, state in enumerate(open_positions[::step]):
        plain, plus = decide(TypeA(), game, state), decide(TypeAPlus(), game, state)
        assert plus.value == pytest.approx(plain.value, abs=1e-12)
        assert plus.nodes <= plain.nodes
        total += plain.nodes
        plus_total += plus.nodes
        if number % 2 == 0:
            assert (plain.value, plain.nodes) == pytest.approx(naive_type_a(game.format_state(state)))
    assert step > 1 or total == 956_751
    assert plus_total < total / 5


def test_type_a_plus_plays_an_action_that_is_best_for_type_a(decide: Decide, open_positions: list[Any]) -> None:
    """The value of each action is computed by Type A from the next position, at depth 1."""
    game = TicTacToe()
    for state in open_positions[::40]:
        seat = game.to_move(state)
        values = {}
        for action in game.actions(state):
            child = game.result(state, action)
            if game.is_terminal(child):
                values[action] = game.returns(child)[seat] * (1 - STEP)
            else:
                below = decide(TypeA(depth=1), game, child).value
                values[action] = -(below + STEP if below < -0.99 else below - STEP if below > 0.99 else below)
        plus = decide(TypeAPlus(), game, state)
        assert values[plus.action] == pytest.approx(max(values.values()), abs=1e-9)


class TwoTurns(Game):
    """The seats take numbers from either end of a row. A 3 gives the same seat another turn. The larger sum wins."""

    name = "two-turns"

    def __init__(self, *, row: Sequence[int] = (1, 3, 2, 2, 3, 1, 3)) -> None:
        self.row = tuple(row)

    def initial(self, rng: random.Random) -> Any:
        return (self.row, 0, 0, 0)

    def to_move(self, state: Any) -> int:
        seat: int = state[1]
        return seat

    def actions(self, state: Any) -> Sequence[str]:
        return ["left", "right"][: len(state[0])]

    def result(self, state: Any, action: str) -> Any:
        row, seat, first, second = state
        taken = row[0] if action == "left" else row[-1]
        rest = row[1:] if action == "left" else row[:-1]
        after = seat if taken == 3 else 1 - seat
        return (rest, after, first + taken * (seat == 0), second + taken * (seat == 1))

    def returns(self, state: Any) -> Sequence[float]:
        difference = state[2] - state[3]
        return (1.0, -1.0) if difference > 0 else (-1.0, 1.0) if difference < 0 else (0.0, 0.0)


def best_by_brute_force(game: Game, state: Any, seat: int) -> float:
    """Return the value for one seat by brute force, without negating values between plies."""
    if game.is_terminal(state):
        return game.returns(state)[seat]
    values = [best_by_brute_force(game, game.result(state, action), seat) for action in game.actions(state)]
    return max(values) if game.to_move(state) == seat else min(values)


@pytest.mark.parametrize("agent", [Minimax, AlphaBeta, TypeA, TypeAPlus, Lookahead])
def test_a_seat_may_move_several_times_in_a_row(agent: Callable[..., Agent], decide: Decide) -> None:
    """Values must follow `to_move` and not the parity of the depth. The rows are random; brute force finds the true values."""
    rng = random.Random(11)
    for _ in range(60):
        game = TwoTurns(row=[rng.randint(1, 3) for _ in range(rng.randint(1, 9))])
        state = game.initial(rng)
        made = agent(depth=20) if agent is not Minimax else agent()
        action = decide(made, game, state).action
        assert best_by_brute_force(game, game.result(state, action), 0) == best_by_brute_force(game, state, 0)


def test_type_a_extends_the_search_while_a_state_is_not_quiet(decide: Decide) -> None:
    """At depth 1, the empty board needs its 9 successors. A fork is a threat, so it is searched to the win three plies later."""
    game = TicTacToe()
    assert decide(TypeA(depth=1), game, (0, 0)).nodes == 9
    forced = decide(TypeA(depth=1), game, game.parse_state("xo./.x./..o"))
    assert forced.value == pytest.approx(1 - 3 * STEP)


@pytest.mark.parametrize("nodes", [7, 2_000])
def test_no_move_is_random_if_a_budget_ends_in_the_lines_of_the_first_action(nodes: int) -> None:
    """Threats last long in connect four, and type A goes on as long as there are any. If the budget ends before the first action
    has a value, the agent plays the first one whose successor has the highest heuristic value, as `greedy` does.
    """
    game = ConnectFour()
    state = game.initial(random.Random(0))
    for column in (4, 2, 7, 2, 3, 1):
        state = game.result(state, column)
    values = [OpenLines(game)(game.result(state, action), 0) for action in game.actions(state)]
    best = game.actions(state)[values.index(max(values))]
    for seed in range(10):
        limits = {"nodes": nodes, "moves": 1}
        record = play(game, [TypeA(), "random"], seed=seed, limits=limits, position=game.format_state(state))
        assert (record.fallbacks, record.actions) == (0, (str(best),))


class Crowd(Game):
    """Three seats take 1 or 2 from a heap in turn. The seat that takes the last one wins 1, and the others lose 0.5 each."""

    name = "crowd"
    players = 3

    def initial(self, rng: random.Random) -> Any:
        return (7, 0)

    def to_move(self, state: Any) -> int:
        seat: int = state[1]
        return seat

    def actions(self, state: Any) -> Sequence[int]:
        return [take for take in (1, 2) if take <= state[0]]

    def result(self, state: Any, action: int) -> Any:
        return (state[0] - action, (state[1] + 1) % 3)

    def returns(self, state: Any) -> Sequence[float]:
        winner = (state[1] - 1) % 3
        return [1.0 if seat == winner else -0.5 for seat in range(3)]


def test_lookahead_plays_three_player_games(decide: Decide) -> None:
    """If 1 or 2 are left, the best action is to take them all."""
    for heap in (1, 2):
        assert decide(Lookahead(depth=5), Crowd(), (heap, 1)).action == heap


def test_lookahead_includes_replies(decide: Decide) -> None:
    """At depth 2, Lookahead must see that o has to block cell 3."""
    game = TicTacToe()
    state = game.parse_state("xx./.o./...")
    assert game.to_move(state) == 1
    assert all(decide(Lookahead(depth=2), game, state, seed=f"{n}").action == 3 for n in range(20))


class WithoutThreats(TicTacToe):
    """Tic-tac-toe without the optional method `threats` and without a heuristic."""

    name = "untold"
    default_heuristic: ClassVar[str | None] = None

    def threats(self, state: Any, seat: int) -> Sequence[int]:
        return ()


@pytest.mark.parametrize("agent", [AlphaBeta, TypeAPlus])
def test_values_are_exact_without_the_optional_methods_of_a_game(
    agent: Callable[..., Agent], decide: Decide, open_positions: list[Any], perfect: Callable[[Any], float]
) -> None:
    game = WithoutThreats()
    for state in open_positions[::25]:
        made = agent() if agent is AlphaBeta else agent(depth=9)
        assert decide(made, game, state).value == pytest.approx(perfect(state), abs=1e-12)


@pytest.mark.parametrize("agent", ["minimax", "alpha-beta", "type-a", "type-a-plus"])
def test_an_exhausted_node_budget_ends_with_the_best_action_so_far(agent: str) -> None:
    """No decision exceeds the budget. Agents that deepen from one ply always report an action in time."""
    record = play("tic-tac-toe", [agent, agent], limits=Limits(nodes=40))
    assert record.termination == "normal"
    assert max(decision.nodes for decision in record.decisions) == 40
    if agent in ("minimax", "alpha-beta"):
        assert record.fallbacks == 0


def test_a_depth_limit_bounds_every_search() -> None:
    """The depth limit holds with and without a node budget."""
    for limits in ({"depth": 2}, {"depth": 2, "nodes": 10_000}):
        record = play("tic-tac-toe", ["minimax", "alpha-beta"], limits=limits)
        assert record.decisions[0].depth == 2
        assert record.decisions[0].nodes <= 9 + 72 + 9


def test_perfect_agents_never_lose() -> None:
    """Alpha-beta loses none of twenty games against random play, and draws against Type A."""
    for seed in range(10):
        assert play("tic-tac-toe", ["alpha-beta", "random"], seed=seed).returns[0] >= 0
        assert play("tic-tac-toe", ["random", "alpha-beta"], seed=seed).returns[1] >= 0
    assert play("tic-tac-toe", ["type-a", "alpha-beta"]).returns == (0, 0)
