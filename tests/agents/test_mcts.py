"""Test Monte Carlo tree search: forced wins and blocks, proven values against brute force, games for three, budgets."""

import random
from collections.abc import Callable, Sequence
from math import log, sqrt
from typing import Any

import pytest

from arena import Game, Puzzle, SpecError, play, run
from arena.counting import Meter, counting_view
from arena.identity import Stream
from arena.limits import Limits
from arena.search import Search, SharedStart
from arena.testing import check_agent
from arena_agents.mcts import DEFAULT_ROLLOUTS, MCTS, GameTree
from arena_games.connect_four import ConnectFour
from arena_games.n_queens import NQueens
from arena_games.tic_tac_toe import TicTacToe

Decide = Callable[..., Any]
STEP = 1e-6


def best_returns(game: Game, state: Any) -> Sequence[float]:
    """Return the returns of all seats if each seat maximizes its own. Of equal actions, the first is played."""
    if game.is_terminal(state):
        return game.returns(state)
    mover = game.to_move(state)
    return max((best_returns(game, game.result(state, a)) for a in game.actions(state)), key=lambda r: r[mover])


def test_a_winning_action_is_always_taken(decide: Decide, open_positions: list[Any]) -> None:
    """The test uses each tic-tac-toe position with a winning action. Nine simulations are enough to try every action."""
    game = TicTacToe()
    winning = [state for state in open_positions if game.threats(state, game.to_move(state))]
    assert len(winning) > 1000
    for state in winning:
        decided = decide(MCTS(rollouts=9), game, state)
        assert decided.action in game.threats(state, game.to_move(state))
        if len(game.actions(state)) > 1:
            assert decided.value == pytest.approx(1 - STEP)


def test_a_single_threat_is_blocked(decide: Decide, open_positions: list[Any]) -> None:
    """In each position, the opponent threatens to win in exactly one cell and a block avoids the loss."""
    game = TicTacToe()
    threatened = [
        (state, threats[0])
        for state in open_positions
        if not game.threats(state, game.to_move(state))
        and len(threats := game.threats(state, 1 - game.to_move(state))) == 1
        and best_returns(game, state)[game.to_move(state)] >= 0
    ]
    assert len(threatened) > 500
    for state, block in threatened[::3]:
        assert decide(MCTS(rollouts=200), game, state).action == block


def test_a_fully_explored_tree_has_the_exact_value(decide: Decide, open_positions: list[Any]) -> None:
    """With at most five empty cells, the search ends by itself, with the exact value and an optimal action."""
    game = TicTacToe()
    for state in [state for state in open_positions if len(game.actions(state)) in (2, 3, 4, 5)][::9]:
        seat = game.to_move(state)
        exact = best_returns(game, state)[seat]
        decided = decide(MCTS(rollouts=10**9), game, state)
        assert decided.value == pytest.approx(exact, abs=1e-5)
        assert best_returns(game, game.result(state, decided.action))[seat] == exact


def test_a_lost_position_is_proven_to_be_lost(decide: Decide) -> None:
    """Three threats cannot all be blocked, so every action loses in two plies."""
    game = TicTacToe()
    state = game.parse_state("x.x/..o/xo.")
    assert set(game.threats(state, 0)) == {2, 4, 5}
    assert decide(MCTS(), game, state).value == pytest.approx(-(1 - 2 * STEP), abs=1e-12)


def test_mcts_never_loses_to_random_play() -> None:
    """It loses none of forty games of tic-tac-toe and wins most of them. It wins all four games of Connect Four."""
    results = []
    for seed in range(20):
        results.append(play("tic-tac-toe", [MCTS(rollouts=500), "random"], seed=seed).returns[0])
        results.append(play("tic-tac-toe", ["random", MCTS(rollouts=500)], seed=seed).returns[1])
    assert min(results) >= 0
    assert sum(results) >= 30
    for seed in range(2):
        assert play("connect-four", [MCTS(rollouts=200), "random"], seed=seed).returns == (1, -1)
        assert play("connect-four", ["random", MCTS(rollouts=200)], seed=seed).returns == (-1, 1)


def test_more_simulations_win_more_games() -> None:
    """In twelve games of Connect Four on 5x5, 100 simulations win more often than they lose against 4 simulations."""
    score = 0.0
    for seed in range(6):
        score += play(ConnectFour(rows=5, columns=5), [MCTS(rollouts=100), MCTS(rollouts=4)], seed=seed).returns[0]
        score += play(ConnectFour(rows=5, columns=5), [MCTS(rollouts=4), MCTS(rollouts=100)], seed=seed).returns[1]
    assert score >= 6


class Heap(Game):
    """Any number of seats take 1 to 3 from a heap in turn. The seat that takes the last one wins; the other returns differ."""

    name = "heap"
    zero_sum = False

    def __init__(self, *, seats: int = 3) -> None:
        self.players = seats

    def initial(self, rng: random.Random) -> Any:
        return (9, 0)

    def to_move(self, state: Any) -> int:
        seat: int = state[1]
        return seat

    def actions(self, state: Any) -> Sequence[int]:
        return [take for take in (1, 2, 3) if take <= state[0]]

    def result(self, state: Any, action: int) -> Any:
        return (state[0] - action, (state[1] + 1) % self.players)

    def returns(self, state: Any) -> Sequence[float]:
        winner = (state[1] - 1) % self.players
        last = [1.0, *[-0.1 * k for k in range(1, self.players)]]
        return [last[(winner - seat) % self.players] for seat in range(self.players)]


@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("heap", [2, 4, 5, 6, 7, 8, 9])
def test_each_seat_maximizes_its_own_returns(seats: int, heap: int, decide: Decide) -> None:
    """All returns differ, so the best play is unique. Brute force finds it, and the search proves it for every seat."""
    game = Heap(seats=seats)
    for seat in range(seats):
        decided = decide(MCTS(rollouts=10**6), game, (heap, seat))
        exact = best_returns(game, (heap, seat))[seat]
        assert decided.value == pytest.approx(exact, abs=1e-4)
        assert best_returns(game, game.result((heap, seat), decided.action))[seat] == exact


class TwoTurns(Game):
    """The seats take numbers from either end of a row. A 3 gives the same seat another turn. The larger sum wins."""

    name = "two-turns"

    def __init__(self, *, row: Sequence[int] = (1, 3, 2)) -> None:
        self.row = tuple(row)

    def initial(self, rng: random.Random) -> Any:
        return (self.row, 0, 0)

    def to_move(self, state: Any) -> int:
        seat: int = state[1]
        return seat

    def actions(self, state: Any) -> Sequence[str]:
        return ["left", "right"][: len(state[0])]

    def result(self, state: Any, action: str) -> Any:
        row, seat, lead = state
        taken, rest = (row[0], row[1:]) if action == "left" else (row[-1], row[:-1])
        return (rest, seat if taken == 3 else 1 - seat, lead + (taken if seat == 0 else -taken))

    def returns(self, state: Any) -> Sequence[float]:
        sign = (state[2] > 0) - (state[2] < 0)
        return (float(sign), float(-sign))


def test_a_seat_may_move_several_times_in_a_row(decide: Decide) -> None:
    """Returns must be credited to the seat that moved and not to alternate plies. Brute force finds the true values."""
    rng = random.Random(5)
    for _ in range(40):
        game = TwoTurns(row=[rng.randint(1, 3) for _ in range(rng.randint(2, 8))])
        state = game.initial(rng)
        action = decide(MCTS(rollouts=10**6), game, state).action
        assert best_returns(game, game.result(state, action))[0] == best_returns(game, state)[0]


class Offer(Game):
    """The first seat may take a safe 0.2. Otherwise, the second seat may end the game as in `ends`, or continue for 40 plies.

    The continuation has many branches, and the first seat wins each of them.
    """

    name = "offer"

    def __init__(self, *, ends: Sequence[Sequence[float]]) -> None:
        self.ends = ends
        self.players = len(ends[0])

    def initial(self, rng: random.Random) -> Any:
        return ()

    def to_move(self, state: Any) -> int:
        return len(state) % 2

    def actions(self, state: Any) -> Sequence[str]:
        if not state:
            return ("safe", "offer")
        if state == ("offer",):
            return [*map(str, range(len(self.ends))), "on"][: len(self.ends) + (self.players == 2)]
        return () if state[:2] != ("offer", "on") or len(state) == 40 else "abcdef"

    def result(self, state: Any, action: str) -> Any:
        return (*state, action)

    def returns(self, state: Any) -> Sequence[float]:
        if state == ("safe",):
            return (0.2, -0.2, 0.0)[: self.players]
        return (1.0, -1.0) if state[1] == "on" else self.ends[int(state[1])]


def test_a_proven_reply_counts_even_if_it_is_not_simulated_again(decide: Decide) -> None:
    """The reply worth -0.5 is proven at once. Later simulations of the other reply must not raise the value of the offer."""
    game = Offer(ends=[(-0.5, 0.5)])
    for seed in range(20):
        decided = decide(MCTS(rollouts=200), game, (), seed=f"{seed}")
        assert (decided.action, decided.value) == ("safe", pytest.approx(0.2, abs=1e-5))


def test_an_indifferent_seat_plays_either_reply(decide: Decide) -> None:
    """Both replies are worth 0 to the second seat, and 0.5 or -0.5 to the first. Action and value assume the same reply."""
    game = Offer(ends=[(0.5, 0.0, -0.5), (-0.5, 0.0, 0.5)])
    found = {decide(MCTS(), game, (), seed=f"{seed}")[:2] for seed in range(20)}
    assert {(action, round(value, 4)) for action, value in found} == {("safe", 0.2), ("offer", 0.5)}


class Endless(Game):
    """A game for two seats that never ends."""

    name = "endless"

    def initial(self, rng: random.Random) -> Any:
        return 0

    def to_move(self, state: Any) -> int:
        return int(state % 2)

    def actions(self, state: Any) -> Sequence[int]:
        return (1, 2)

    def result(self, state: Any, action: int) -> Any:
        self.deepest = max(getattr(self, "deepest", 0), state + 1)
        return state + 1

    def is_terminal(self, state: Any) -> bool:
        return False

    def returns(self, state: Any) -> Sequence[float]:
        raise AssertionError("it does not end")


def test_games_without_an_end_are_cut_off(decide: Decide) -> None:
    """A simulation is cut off at a maximum length. With a depth limit, no state beyond it is generated."""
    assert decide(MCTS(rollouts=3), Endless(), 0).action in (1, 2)
    decided = decide(MCTS(rollouts=10**9), Endless(), 0, limits={"depth": 6})
    assert decided.action in (1, 2)
    assert decided.nodes <= 6 * 2**6
    game = TicTacToe()
    assert decide(MCTS(rollouts=10**9), game, (0, 0), limits={"depth": 2}).nodes <= 9 * 2 + 72


@pytest.mark.parametrize("limits", [{}, {"moves": 30}])
def test_rollouts_are_cut_off_at_1000_decisions_and_not_at_the_move_limit(decide: Decide, limits: Any) -> None:
    """By hand, for two actions: two simulations from states after one decision, and one from a state after two decisions."""
    game = Endless()
    game.default_moves = 30
    assert decide(MCTS(rollouts=3), game, 0, limits=limits).nodes == 1000 + 1000 + 999
    assert decide(MCTS(rollouts=3), game, 0, limits={**limits, "depth": 40}).nodes == 40 + 40 + 39


def test_a_depth_limit_of_one_is_a_greedy_choice(decide: Decide, open_positions: list[Any]) -> None:
    """With depth 1, each successor is evaluated once by the heuristic, unless an action wins."""
    game = TicTacToe()
    for state in open_positions[::50]:
        if len(game.actions(state)) > 1:
            decided = decide(MCTS(), game, state, limits={"depth": 1})
            seat = game.to_move(state)
            if game.threats(state, seat):
                assert decided.value == pytest.approx(1 - STEP)
            else:
                assert decided.nodes == len(game.actions(state))


def test_one_simulation_plays_a_game_to_its_end(decide: Decide) -> None:
    """From the empty board, a simulation generates between 5 and 9 states. The default is 1,000 simulations."""
    for seed in range(50):
        assert 5 <= decide(MCTS(rollouts=1), TicTacToe(), (0, 0), seed=f"{seed}").nodes <= 9
    by_default, by_number = decide(MCTS(), TicTacToe(), (0, 0)), decide(MCTS(rollouts=DEFAULT_ROLLOUTS), TicTacToe(), (0, 0))
    assert DEFAULT_ROLLOUTS == 1000
    assert by_default == by_number


def test_a_single_legal_action_is_played_without_a_search(decide: Decide) -> None:
    """The position has one empty cell."""
    game = TicTacToe()
    decided = decide(MCTS(), game, game.parse_state("xox/xo./oxo"))
    assert (decided.action, decided.nodes) == (6, 0)


@pytest.mark.parametrize("nodes", [1, 2, 17, 400])
def test_an_exhausted_node_budget_ends_with_a_reported_action(nodes: int) -> None:
    """No decision exceeds its budget. One node is enough to report an action, so the referee never draws one at random."""
    record = play("connect-four", ["mcts", "mcts"], limits={"nodes": nodes, "moves": 8})
    assert record.fallbacks == 0
    assert all(decision.nodes <= nodes for decision in record.decisions)
    assert record.decisions[0].nodes == nodes


@pytest.mark.usefixtures("long_margin")
def test_a_time_budget_is_used_up() -> None:
    """Without a limit of simulations, a decision takes the whole time budget."""
    record = play("connect-four", ["mcts", "random"], limits={"seconds": 0.05, "moves": 2})
    assert record.termination == "move-limit"
    assert record.decisions[0].seconds >= 0.05


@pytest.fixture
def tree() -> Callable[[Game, float], GameTree]:
    def make(game: Game, exploration: float) -> GameTree:
        meter = Meter()
        view = counting_view(game, meter)
        search = Search(view, None, Limits(), meter, Stream("seat"), SharedStart(game, Stream("start")))
        return GameTree(view, game.initial(random.Random(1)), search, exploration)

    return make


def test_visits_of_children_add_up_to_the_visits_of_their_parent(tree: Callable[[Game, float], GameTree]) -> None:
    """A node other than the root has one visit more, from the simulation that created it. Totals never exceed visits."""
    grown = tree(ConnectFour(), 1.4)
    for _ in range(2000):
        grown.simulate()
    unseen = [grown._root]
    assert grown._root.visits == 2000
    seen = 0
    while unseen:
        node = unseen.pop()
        seen += 1
        assert abs(node.total) <= node.visits
        if node.best is None and node.children:
            made = 0 if node is grown._root else 1
            assert sum(child.visits for child in node.children) == node.visits - made
        unseen += node.children
    assert seen > 1000


def test_the_next_child_is_the_one_with_the_highest_upper_confidence_bound(tree: Callable[[Game, float], GameTree]) -> None:
    """The bound is UCB1, computed before every simulation: the mean return of the mover plus c sqrt(ln N / n)."""
    c = 0.7
    grown = tree(ConnectFour(), c)
    root = grown._root
    for _ in range(7):
        grown.simulate()
    for _ in range(500):
        bounds = [child.total / child.visits + c * sqrt(log(root.visits) / child.visits) for child in root.children]
        before = [child.visits for child in root.children]
        grown.simulate()
        assert root.best is None
        chosen = [child.visits - visits for child, visits in zip(root.children, before, strict=True)].index(1)
        assert bounds[chosen] == pytest.approx(max(bounds))


class Corridor(Puzzle):
    """A walk along a line from 0 to 4. A step to the left of 0 is a dead end."""

    name = "corridor"

    def initial(self, rng: random.Random) -> Any:
        return 0

    def actions(self, state: Any) -> Sequence[int]:
        return (-1, 1) if state >= 0 else ()

    def result(self, state: Any, action: int) -> Any:
        return state + action

    def is_goal(self, state: Any) -> bool:
        return bool(state == 4)


def test_mcts_solves_puzzles() -> None:
    """The search avoids the dead end of the corridor, and places 8 queens one by one."""
    assert play(Corridor(), ["mcts"]).solved
    assert play(NQueens(), ["mcts"]).solved


@pytest.mark.parametrize("game", [TicTacToe(), ConnectFour(), Heap(), Corridor(), NQueens(n=5)], ids=lambda game: game.name)
def test_the_search_passes_the_agent_check(game: Game) -> None:
    """The check covers legal actions, equal seeds, and a budget of one node."""
    assert check_agent(MCTS(rollouts=50), game, matches=3)


@pytest.mark.parametrize("options", [{"rollouts": 0}, {"exploration": -1}])
def test_options_out_of_range_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(SpecError):
        run({"game": "tic-tac-toe", "agents": ["random", {"agent": "mcts", **options}]})
