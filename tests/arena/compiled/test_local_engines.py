"""Compiled local searches walk as the plain ones do: the same moves, reports, counts, limits and random numbers."""

import random
import re
from array import array
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import arena
from arena import Agent, Puzzle
from arena.compiled import Board, board_loops, seam
from arena.compiled.board_edition import walks
from arena.compiled.fields import NotCompilable
from arena.identity import Stream
from arena_agents.annealing import Annealing
from arena_agents.beam import Beam
from arena_agents.hill_climb import HillClimb
from arena_agents.min_conflicts import MinConflicts
from arena_games.n_queens import NQueens
from arena_games.n_queens_rules import GreedyStart
from arena_games.sudoku import Sudoku

Twice = Callable[..., Any]
Same = Callable[..., arena.Record]

AGENTS = [
    MinConflicts(), MinConflicts(patience=5, restarts=30), Annealing(steps=3_000), Annealing(start=0.4, end=0.4, steps=2_000),
    HillClimb(sideways=20, restarts=3), HillClimb(choice="first", restarts=8),
    Beam(), Beam(width=2, sideways=9),
]  # fmt: skip


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
@pytest.mark.filterwarnings("ignore:. queens have no solution")
def test_every_node_limit_ends_at_the_same_move(twice: Twice, agent: Agent) -> None:
    """With solutions and without; also restarts, and limits that fall between a proposal and its look."""
    for n in (1, 2, 3, 8, 30):
        game = NQueens(n=n)
        for nodes in (*range(1, 24), 71, 400, 3_000):
            outcome = twice(agent, game, (), None, {"nodes": nodes})
            assert outcome.nodes <= nodes


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_a_match_is_the_same_record(same: Same, agent: Agent) -> None:
    for seed in range(2):
        record = same(NQueens(n=12), agent, seed=seed, limits={"nodes": 20_000})
        assert record.solved or agent.name in ("hill-climb", "beam")


@pytest.mark.parametrize("start", ["random", "greedy"])
def test_ten_thousand_queens(same: Same, start: Any) -> None:
    """Over the refill of the generator, and with a start that is drawn compiled."""
    record = same(NQueens(n=10_000, start=start), MinConflicts(), seed=4)
    assert record.solved
    rows = [int(row) for row in str(record.answer).split()]
    assert len({*rows}) == len({row + n for n, row in enumerate(rows)}) == len({row - n for n, row in enumerate(rows)}) == 10_000


@pytest.mark.parametrize("n", [1, 2, 7, 40, 700])
@pytest.mark.filterwarnings("ignore:. queens have no solution")
def test_greedy_rows_are_drawn_with_the_same_numbers(compiling: None, n: int) -> None:
    """The compiled board against the very method as plain Python; a stream is awake afterwards, as if it had been drawn from."""
    game = NQueens(n=n, start="greedy")
    one, other = Stream("a"), Stream("a")
    board = GreedyStart(n)
    board.draw(other)
    assert list(game.random_state(one)) == list(board.rows)
    assert one.getstate() == other.getstate()
    assert {pair.engine: pair.reason for pair in seam._pairs.values()} == {"draw": None}


class Balance(Puzzle):
    """Put weights on two scales so that they weigh the same: its board draws in every way that a board can draw."""

    name = "balance"
    path_matters = False
    board_kind: Any = None

    def __init__(self) -> None:
        self.weights = [3 * n * n % 17 + n for n in range(20)]

    def initial(self, rng: Any) -> Any:
        return (0,) * 20

    def actions(self, state: Any) -> Sequence[int]:
        return range(20)

    def result(self, state: Any, action: int) -> Any:
        return (*state[:action], 1 - state[action], *state[action + 1 :])

    def is_goal(self, state: Any) -> bool:
        return Scales(self.weights, state).cost <= 0 and bool(state[0])

    def random_state(self, rng: random.Random) -> Any:
        return tuple(rng.choices((0, 1), k=20))

    def local(self, state: Any) -> Any:
        return Scales(self.weights, state)

    def compiled_local(self, state: Any) -> Board:
        return CompiledScales(self.weights, state)


class Scales:
    """The plain view: how far the scales are apart, in halves."""

    def __init__(self, weights: list[int], sides: Sequence[int]) -> None:
        self.weights = weights
        self.sides = list(sides)
        self.lean = sum(weight * (1 - 2 * side) for weight, side in zip(weights, sides, strict=True))

    @property
    def cost(self) -> float:
        return abs(self.lean) // 2 / 2

    def moves(self) -> Sequence[int]:
        return range(20)

    def propose(self, rng: random.Random) -> int:
        kind = rng.getrandbits(40) % 3
        return rng.choice((1, 4, 9, 16)) if kind == 0 else rng.randrange(20) if kind == 1 else rng.randrange(5, 9)

    def after(self, move: int) -> int:
        return self.lean - 2 * self.weights[move] * (1 - 2 * self.sides[move])

    def delta(self, move: int) -> float:
        return abs(self.after(move)) // 2 / 2 - self.cost

    def apply(self, move: int) -> None:
        self.lean = self.after(move)
        self.sides[move] = 1 - self.sides[move]

    def state(self) -> tuple[int, ...]:
        return tuple(self.sides)


SQUARES = (1, 4, 9, 16)


class CompiledScales(Board):
    """The same over arrays; lists become arrays, and the cost is a float."""

    width = 20
    cost: Any
    lean: Any

    def __init__(self, weights: list[int], sides: Sequence[int]) -> None:
        self.weights = weights[:]
        self.sides = list(sides)
        self.lean = array("q", [0])
        self.cost = [0.0]

    def state(self) -> tuple[int, ...]:
        return tuple(self.sides)

    def begin(self) -> None:
        for n in range(len(self.sides)):
            self.lean[0] += self.weights[n] * (1 - 2 * self.sides[n])
        self.cost[0] = abs(self.lean[0]) // 2 / 2

    def moves(self) -> Any:
        yield from range(20)

    def propose(self, rng: Any) -> int:
        kind = rng.getrandbits(40) % 3
        if kind == 0:
            return rng.choice(SQUARES)  # type: ignore[no-any-return]
        return rng.randrange(20) if kind == 1 else rng.randrange(5, 9)  # type: ignore[no-any-return]

    def after(self, move: int) -> int:
        return int(self.lean[0]) - 2 * self.weights[move] * (1 - 2 * self.sides[move])

    def delta(self, move: int) -> float:
        return abs(self.after(move)) // 2 / 2 - float(self.cost[0])

    def apply(self, move: int) -> None:
        self.cost[0] += self.delta(move)
        self.lean[0] = self.after(move)
        self.sides[move] = 1 - self.sides[move]


@pytest.mark.parametrize("agent", [Annealing(start=9.0, steps=900), HillClimb(restarts=4)], ids=lambda agent: agent.name)
def test_boards_of_any_author(twice: Twice, agent: Agent) -> None:
    """A cost in halves, a cost of 0 that is no goal yet, and every method of the generator."""
    game = Balance()
    for nodes in (*range(1, 12), 5_000):
        twice(agent, game, game.initial(None), None, {"nodes": nodes})


class Faulty(Balance):
    """Its board is changed by each test."""

    def compiled_local(self, state: Any) -> Board:
        return self.board_kind(self.weights, state)  # type: ignore[no-any-return]


def _other_draw(self: Any, rng: Any) -> int:
    return rng.randrange(20)  # type: ignore[no-any-return]


def _wrong_delta(self: Any, move: int) -> Any:
    return abs(self.after(move)) // 2 / 2 - self.cost[0] + float(move == 7)


def _beyond(self: Any, rng: Any) -> int:
    return self.sides[0 - 1] + rng.randrange(20)  # type: ignore[no-any-return]


def _shuffled(self: Any, rng: Any) -> int:
    return rng.shuffle(self.sides)  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("method", "function", "reason"),
    [
        ("propose", _other_draw, "delta|the next random number"),
        ("delta", _wrong_delta, "delta: the board gives"),
        ("propose", _beyond, "the index -1 of a table of 20"),
        ("propose", _shuffled, "expected random, getrandbits, randrange, or choice from a table, of rng"),
        ("apply", None, "has no apply"),
    ],
)
def test_a_board_that_differs_is_not_used(compiling: None, method: str, function: Any, reason: str) -> None:
    """The search runs plain, and says why."""
    game = Faulty()
    game.board_kind = type("CompiledScales", (CompiledScales,), {method: function})
    record = arena.play(game, MinConflicts(), seed=1, limits={"nodes": 300})
    assert record.timing is None
    [pair] = [pair for pair in seam._pairs.values() if pair.engine == "min-conflicts"]
    assert re.search(reason, str(pair.reason))


def test_too_many_moves_are_not_listed() -> None:
    """A list of the moves of 10,000 queens would take 800 MB."""
    with pytest.raises(NotCompilable, match="it has 99,990,000 moves in a state, more than 67,108,864"):
        seam.ready(NQueens(n=10_000), None, "hill-climb", compiling=False)


class Turned(NQueens):
    """Changes the view that `compiled_local` of its base stands for."""

    def local(self, state: Any) -> Any:
        return super().local(state[::-1])


def test_an_inherited_board_does_not_count_where_the_view_has_changed() -> None:
    assert walks(NQueens())
    assert not walks(Turned())
    assert not walks(Sudoku())


def test_a_decision_that_is_made_again_has_its_own_seconds(same: Same, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten boards of 56 moves are too many here: the beam goes on plain, with the same record. Loading code took longer."""
    monkeypatch.setattr(board_loops, "MOST", 100)
    record = same(NQueens(n=8), Beam(), seed=3)
    assert record.decisions[0].seconds > 0
    assert {pair.reason for pair in seam._pairs.values() if pair.engine == "beam"} == {"its boards have too many moves"}
