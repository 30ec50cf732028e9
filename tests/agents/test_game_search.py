"""Searches of games for two: node counts and values known from outside, over all positions of tic-tac-toe."""

import random
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import pytest

from arena import Agent, Game, Limits, play
from arena_agents.alpha_beta import AlphaBeta, TypeAPlus
from arena_agents.full_width import Lookahead, Minimax, TypeA
from arena_games.tic_tac_toe import TicTacToe

Decide = Callable[..., Any]
STEP = 1e-6


@pytest.fixture(scope="module")
def perfect() -> Callable[[Any], float]:
    """The value of every position to whoever moves, a win in n plies worth 1 - n * 1e-6: a twin with a memory."""
    game = TicTacToe()
    known: dict[Any, tuple[int, int]] = {}

    def outcome(state: Any) -> tuple[int, int]:
        """(result to the mover, plies to the end): sooner wins, later losses."""
        if state not in known:
            if game.is_terminal(state):
                known[state] = (0, 0) if not any(game.returns(state)) else (-1, 0)  # who made the line has just moved
            else:
                replies = [outcome(game.result(state, action)) for action in game.actions(state)]
                known[state] = max(((-result, plies + 1) for result, plies in replies), key=lambda r: (r[0], -r[0] * r[1]))
        return known[state]

    return lambda state: outcome(state)[0] * (1 - outcome(state)[1] * STEP)


def value_after(perfect: Callable[[Any], float], game: Game, state: Any, action: Any) -> float:
    """What an action is worth by the twin, seen from the root."""
    value = perfect(game.result(state, action))
    if value == 0:
        return 0.0
    plies = round((1 - abs(value)) / STEP) + 1
    return -1 * (1 if value > 0 else -1) * (1 - plies * STEP)


def test_minimax_visits_exactly_the_nodes_of_the_game_tree(decide: Decide) -> None:
    """549,945 nodes from the empty board, and perfect play is a draw."""
    decided = decide(Minimax(), TicTacToe(), (0, 0))
    assert decided.nodes == 549_945
    assert decided.value == 0


@pytest.mark.parametrize("agent", [Minimax, AlphaBeta])
def test_perfect_agents_find_the_value_of_a_position(
    agent: type[Agent], decide: Decide, open_positions: list[Any], perfect: Callable[[Any], float]
) -> None:
    """Over every fourth reachable position of tic-tac-toe. Minimax decides only those with six empty cells or fewer."""
    game = TicTacToe()
    for state in open_positions[::4]:
        if agent is Minimax and len(game.actions(state)) > 6:
            continue
        decided = decide(agent(), game, state)
        assert decided.value == pytest.approx(perfect(state), abs=1e-12)
        assert value_after(perfect, game, state, decided.action) == pytest.approx(perfect(state), abs=1e-12)


def test_deepening_stops_by_itself_with_the_right_value(
    decide: Decide, open_positions: list[Any], perfect: Callable[[Any], float]
) -> None:
    """Under a budget that never runs out and with no depth limit, decisions end with the perfect value and action."""
    game = TicTacToe()
    for state in open_positions[::5]:
        decided = decide(AlphaBeta(), game, state, limits={"nodes": 10**9})
        assert decided.value == pytest.approx(perfect(state), abs=1e-12)
        assert value_after(perfect, game, state, decided.action) == pytest.approx(perfect(state), abs=1e-12)


@pytest.fixture(scope="module")
def type_a_twin() -> Callable[[Any], tuple[float, int]]:
    """Type A at depth 2 written out for tic-tac-toe on strings: value to the mover, and nodes."""
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
def test_type_a_and_type_a_plus_over_every_position(
    step: int, decide: Decide, open_positions: list[Any], type_a_twin: Callable[[Any], tuple[float, int]]
) -> None:
    """Equal values in all 4,520 positions, the known total of nodes for Type A, and Plus with less than a fifth, never more."""
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
            assert (plain.value, plain.nodes) == pytest.approx(type_a_twin(game.format_state(state)))
    assert step > 1 or total == 956_751
    assert plus_total < total / 5


def test_type_a_plus_plays_an_action_of_type_a_value(decide: Decide, open_positions: list[Any]) -> None:
    """The action itself, searched on by Type A, is worth what Type A found for its own."""
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
    """Seats take one number each from a row, from either end; a taken 3 gives its taker another turn. More points win."""

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
    """The value to one seat, without any sign that flips."""
    if game.is_terminal(state):
        return game.returns(state)[seat]
    values = [best_by_brute_force(game, game.result(state, action), seat) for action in game.actions(state)]
    return max(values) if game.to_move(state) == seat else min(values)


@pytest.mark.parametrize("agent", [Minimax, AlphaBeta, TypeA, TypeAPlus, Lookahead])
def test_a_seat_may_have_several_turns_running(agent: Callable[..., Agent], decide: Decide) -> None:
    """Values follow `to_move`, not the parity of the depth: on rows drawn at random, against brute force."""
    rng = random.Random(11)
    for _ in range(60):
        game = TwoTurns(row=[rng.randint(1, 3) for _ in range(rng.randint(1, 9))])
        state = game.initial(rng)
        made = agent(depth=20) if agent is not Minimax else agent()
        action = decide(made, game, state).action
        assert best_by_brute_force(game, game.result(state, action), 0) == best_by_brute_force(game, state, 0)


def test_type_a_searches_on_while_a_state_is_not_quiet(decide: Decide) -> None:
    """At depth 1 the empty board needs its 9 successors; a fork is seen through to the win, since threats lead there."""
    game = TicTacToe()
    assert decide(TypeA(depth=1), game, (0, 0)).nodes == 9
    forced = decide(TypeA(depth=1), game, game.parse_state("xo./.x./..o"))
    assert forced.value == pytest.approx(1 - 3 * STEP)


class Crowd(Game):
    """Three seats in turn take 1 or 2 from a heap; who takes the last wins, the others share the loss."""

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


def test_lookahead_plays_games_for_three(decide: Decide) -> None:
    """With 1 or 2 left whoever moves takes the last; looking to the end it does."""
    for heap in (1, 2):
        assert decide(Lookahead(depth=5), Crowd(), (heap, 1)).action == heap


def test_lookahead_includes_replies(decide: Decide) -> None:
    """At depth 1 it may let the opponent win at once, at depth 2 never: o must block at 3."""
    game = TicTacToe()
    state = game.parse_state("xx./.o./...")
    assert game.to_move(state) == 1
    assert all(decide(Lookahead(depth=2), game, state, seed=f"{n}").action == 3 for n in range(20))


class Untold(TicTacToe):
    """Tic-tac-toe that does not tell its threats."""

    name = "untold"
    default_heuristic: ClassVar[str | None] = None

    def threats(self, state: Any, seat: int) -> Sequence[int]:
        return ()


@pytest.mark.parametrize("agent", [AlphaBeta, TypeAPlus])
def test_games_without_threats_are_searched_all_the_same(
    agent: Callable[..., Agent], decide: Decide, open_positions: list[Any], perfect: Callable[[Any], float]
) -> None:
    """Values are perfect where a game leaves the optional methods out."""
    game = Untold()
    for state in open_positions[::25]:
        made = agent() if agent is AlphaBeta else agent(depth=9)
        assert decide(made, game, state).value == pytest.approx(perfect(state), abs=1e-12)


@pytest.mark.parametrize("agent", ["minimax", "alpha-beta", "type-a", "type-a-plus"])
def test_a_node_budget_is_kept_and_the_best_so_far_is_played(agent: str) -> None:
    """No decision generates more states than allowed; who deepens from one ply never has to fall back to chance."""
    record = play("tic-tac-toe", [agent, agent], limits=Limits(nodes=40))
    assert record.termination == "normal"
    assert max(decision.nodes for decision in record.decisions) == 40
    if agent in ("minimax", "alpha-beta"):
        assert record.fallbacks == 0


def test_a_depth_limit_bounds_every_search() -> None:
    """`limits.depth` is obeyed with and without a budget."""
    for limits in ({"depth": 2}, {"depth": 2, "nodes": 10_000}):
        record = play("tic-tac-toe", ["minimax", "alpha-beta"], limits=limits)
        assert record.decisions[0].depth == 2
        assert record.decisions[0].nodes <= 9 + 72 + 9


def test_perfect_agents_never_lose_and_beat_nobody_perfect() -> None:
    """Twenty games against random play without a loss, and a draw between themselves."""
    for seed in range(10):
        assert play("tic-tac-toe", ["alpha-beta", "random"], seed=seed).returns[0] >= 0
        assert play("tic-tac-toe", ["random", "alpha-beta"], seed=seed).returns[1] >= 0
    assert play("tic-tac-toe", ["type-a", "alpha-beta"]).returns == (0, 0)
