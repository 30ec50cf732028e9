"""Compiled genetic search breeds the same generations: the same reports, counts, limits and random numbers."""

import random
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import arena
from arena.compiled import Board, genetic_loop, seam
from arena_agents.genetic import Genetic
from arena_games.n_queens import NQueens
from tests.arena.compiled.test_local_engines import Balance, CompiledScales, Scales

Twice = Callable[..., Any]
Same = Callable[..., arena.Record]

AGENTS = [
    Genetic(), Genetic(selection="tournament"), Genetic(population=2, generations=40), Genetic(population=7, mutation=1),
    Genetic(population=7, mutation=0, generations=30), Genetic(generations=0),
]  # fmt: skip


@pytest.mark.parametrize("agent", AGENTS, ids=range(len(AGENTS)))
@pytest.mark.filterwarnings("ignore:. queens have no solution")
def test_every_node_limit_ends_at_the_same_child(twice: Twice, agent: Genetic) -> None:
    """In the first population, between two children, and between a child and its mutation; alike members, and no solution."""
    for n in (1, 3, 20):
        game = NQueens(n=n)
        for nodes in (1, *range(48, 66), 2_000):
            assert twice(agent, game, (), None, {"nodes": nodes}).nodes <= nodes


@pytest.mark.parametrize("selection", ["roulette", "tournament"])
def test_a_match_is_the_same_record(same: Same, selection: Any) -> None:
    """The rows that solve it attack each other nowhere; boards of 300 columns are tuples, not bytes."""
    record = same(NQueens(n=8), Genetic(selection=selection, mutation=0.8), seed=5)
    assert record.solved
    rows = [int(row) for row in str(record.answer).split()]
    assert len({*rows}) == len({row + n for n, row in enumerate(rows)}) == len({row - n for n, row in enumerate(rows)}) == 8
    assert not same(NQueens(n=300), Genetic(selection=selection, population=20), seed=1, limits={"nodes": 900}).solved


class Weighed(Balance):
    """Put weights on two scales, by breeding: costs in halves."""

    board_kind: Any = None

    def compiled_local(self, state: Any) -> Board:
        return self.board_kind(self.weights, state)  # type: ignore[no-any-return]

    def crossover(self, a: Any, b: Any, rng: random.Random) -> Any:
        return tuple([one if rng.random() < 0.5 else other for one, other in zip(a, b, strict=True)])

    def mutate(self, state: Any, rng: random.Random) -> Any:
        return self.result(state, rng.choice((1, 4, 9, 16)))


MUTABLE = (1, 4, 9, 16)


class WeighedBoard(CompiledScales):
    """The same over arrays."""

    more = 0.0

    def encode(self, state: Any) -> Any:
        return state

    def decode(self, numbers: Sequence[int]) -> Any:
        return tuple(numbers)

    def cost_of(self, state: Sequence[int]) -> float:
        lean = 0
        for n in range(20):
            lean += self.weights[n] * (1 - 2 * state[n])
        return abs(lean) // 2 / 2 + self.more

    def crossover(self, a: Sequence[int], b: Sequence[int], child: list[int], rng: Any) -> None:
        for n in range(20):
            if rng.random() < 0.5:
                child[n] = a[n]
            else:
                child[n] = b[n]

    def mutate(self, state: list[int], rng: Any) -> None:
        side = rng.choice(MUTABLE)
        state[side] = 1 - state[side]


def weighed(**methods: Any) -> Weighed:
    """The puzzle with a board of which some methods are others; None for none."""
    game = Weighed()
    game.board_kind = type("OtherBoard", (WeighedBoard,), methods)
    return game


@pytest.mark.parametrize("selection", ["roulette", "tournament"])
def test_boards_of_any_author(twice: Twice, selection: Any) -> None:
    """Costs in halves, a cost of 0 that is no goal yet, and a choice from a table."""
    game = weighed()
    for nodes in (*range(18, 40), 5_000):
        twice(Genetic(population=20, selection=selection), game, game.initial(None), None, {"nodes": nodes})


def _dearer(self: Any, state: Any) -> float:
    self.lean[0] += 1
    return float(self.lean[0])


def _first_half(self: Any, a: Any, b: Any, child: Any, rng: Any) -> None:
    for n in range(20):
        child[n] = a[n]


def _idle(self: Any, state: Any, rng: Any) -> None:
    rng.random()


def _beyond(self: Any, state: Any, rng: Any) -> None:
    state[rng.randrange(20) + 20] = 1


@pytest.mark.parametrize(
    ("method", "function", "reason"),
    [
        ("cost_of", _dearer, "cost_of: the board gives"),
        ("crossover", _first_half, "crossover: the board gives"),
        ("mutate", _idle, "mutate: the board gives"),
        ("mutate", _beyond, "of a table of 20"),
        ("decode", None, "has no decode"),
    ],
)
def test_a_board_that_differs_is_not_used(compiling: None, method: str, function: Any, reason: str) -> None:
    """The search runs plain, and says why."""
    record = arena.play(weighed(**{method: function}), Genetic(), seed=1, limits={"nodes": 300})
    assert record.timing is None
    [pair] = [pair for pair in seam._pairs.values() if pair.engine == "genetic"]
    assert re.search(reason, str(pair.reason))


class Shifted(NQueens):
    """Mutates otherwise than the board of its base does."""

    def mutate(self, state: Any, rng: random.Random) -> Any:
        return state[1:] + state[:1]


def test_an_inherited_board_does_not_count_where_the_mutation_has_changed(compiling: None) -> None:
    assert arena.play(Shifted(n=8), Genetic(generations=9), seed=1).timing is None
    assert {pair.reason for pair in seam._pairs.values()} == {"Shifted changes mutate of the NQueens that gives compiled_local"}


def test_a_population_that_is_too_large_is_bred_plain(same: Same, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two generations of 50 boards of 8 columns have 800 numbers."""
    monkeypatch.setattr(genetic_loop, "MOST", 799)
    same(NQueens(n=8), Genetic(generations=20), seed=3)
    assert {pair.reason for pair in seam._pairs.values()} == {"its population is too large, or of states that differ in length"}


class HeavyScales(Scales):
    """The plain view of them."""

    @property
    def cost(self) -> float:
        return super().cost + 2.0**53


class Heavy(Weighed):
    """Costs so large that a float does not tell them from their neighbours."""

    def local(self, state: Any) -> Any:
        return HeavyScales(self.weights, state)

    def compiled_local(self, state: Any) -> Board:
        board = WeighedBoard(self.weights, state)
        board.more = 2.0**53
        return board


def test_costs_beyond_a_float_are_compared_plain(same: Same) -> None:
    """The whole decision is made again."""
    assert same(Heavy(), Genetic(generations=3, mutation=1), seed=3).decisions[0].nodes == 49 + 3 * 100
    assert {pair.reason for pair in seam._pairs.values()} == {"a number or an index did not fit"}
