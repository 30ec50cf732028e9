"""Test searches with a heuristic or step cost that is negative, infinite or not a number."""

import inspect
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from math import inf, nan
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import arena
from arena import Agent, Puzzle
from arena.api.errors import abbreviate
from arena.api.games import check_step_cost
from arena.errors import GameError
from arena_agents.alpha_beta import AlphaBeta
from arena_agents.best_first import AStar, BestFirst, BreadthFirst, UniformCost
from arena_agents.depth_first import DepthFirst, IdaStar, IterativeDeepening
from arena_agents.full_width import Lookahead, Minimax, TypeA
from arena_agents.mcts import MCTS
from arena_agents.simple import Greedy, Random as RandomAgent


class Walk(Puzzle):
    """Walk from 0 to 6 by steps of 1 or 2. The shortest path has three steps."""

    name = "walk"

    def __init__(self, step: float = 1.0) -> None:
        self.step = step

    def initial(self, rng: Random) -> Any:
        return (0,)

    def actions(self, state: Any) -> Sequence[int]:
        return [add for add in (1, 2) if state[0] + add <= 6]

    def result(self, state: Any, action: int) -> Any:
        return (state[0] + action,)

    def is_goal(self, state: Any) -> bool:
        return bool(state[0] == 6)


class CostlyWalk(Walk):
    name = "costly-walk"

    def step_cost(self, state: Any, action: int, successor: Any) -> float:
        return self.step if state == (2,) else 1.0


def estimate(value: Callable[[int], float], puzzle: str = "walk") -> Any:
    @arena.heuristic("tried", game=puzzle)
    def tried(game: Walk, state: Any, player: int = 0) -> float:
        return value(state[0])

    return tried


INFORMED = [AStar(), AStar(weight=2), BestFirst(), IdaStar(), IdaStar(weight=2), Greedy(), Lookahead(depth=2)]
SOLVERS = [*INFORMED[:5], UniformCost(), BreadthFirst(), DepthFirst(), IterativeDeepening()]


def name(agent: Any) -> str | None:
    return f"{agent.name}-{getattr(agent, 'weight', '')}" if isinstance(agent, Agent) else None


@pytest.mark.parametrize("agent", INFORMED, ids=name)
def test_a_negative_estimate_counts_as_0(agent: Agent) -> None:
    """Otherwise the bound of IDA* would fall for ever. The path is the same as with an estimate of 0."""
    negative = arena.play(Walk(), [agent], heuristics=estimate(lambda _: -5.0))
    zero = arena.play(Walk(), [agent], heuristics=estimate(lambda _: 0.0))
    assert negative.solved
    assert (negative.actions, negative.cost) == (zero.actions, zero.cost)


@pytest.mark.parametrize("agent", INFORMED[:5], ids=name)
def test_an_infinite_estimate_is_a_dead_end(agent: Agent) -> None:
    """No path may pass through 4, so the path passes through 3 and 5 and has four steps."""
    record = arena.play(Walk(), [agent], heuristics=estimate(lambda place: inf if place == 4 else 0.0))
    assert record.solved
    assert len(record.actions) == 4


@pytest.mark.parametrize("agent", INFORMED, ids=name)
def test_a_nan_estimate_is_refused(agent: Agent) -> None:
    """The message names the state and the value."""
    record = arena.play(Walk(), [agent], heuristics=estimate(lambda place: nan if place == 2 else 1.0))
    assert not record.solved
    assert "the heuristic tried returned nan at (2,)" in (record.message or "")


@pytest.mark.parametrize("cost", [-5.0, nan, inf])
@pytest.mark.parametrize("agent", SOLVERS, ids=name)
def test_an_invalid_step_cost_is_refused(agent: Agent, cost: float) -> None:
    record = arena.play(CostlyWalk(cost), [agent], heuristics=estimate(lambda _: 0.0, "costly-walk"))
    assert not record.solved
    assert f"step_cost returned {cost} at (2,) for the action" in (record.message or "")


@pytest.mark.parametrize("agent", INFORMED, ids=name)
@pytest.mark.parametrize("given", ["9", None])
def test_an_estimate_of_the_wrong_type_is_refused(agent: Agent, given: Any) -> None:
    """The message names the state and the value, with quotes if it is text."""
    record = arena.play(Walk(), [agent], heuristics=estimate(lambda _: given))
    assert not record.solved
    assert f"walk: the heuristic tried returned {given!r} at (" in (record.message or "")
    assert "expected a number, or infinity for a dead end" in (record.message or "")


TOO_LARGE = [10**400, -(10**400), Fraction(10**400), Decimal("sNaN")]
"""Numbers that no float can have."""


@pytest.mark.parametrize("agent", INFORMED, ids=name)
@pytest.mark.parametrize("given", TOO_LARGE, ids=["whole", "negative", "fraction", "no number"])
def test_an_estimate_that_is_too_large_for_a_float_is_refused(agent: Agent, given: Any) -> None:
    record = arena.play(Walk(), [agent], heuristics=estimate(lambda _: given))
    assert not record.solved
    assert "walk: the heuristic tried returned " in (record.message or "")
    assert "expected a number, or infinity for a dead end" in (record.message or "")
    assert len(record.message or "") < 400


@pytest.mark.parametrize("agent", INFORMED, ids=name)
@pytest.mark.parametrize("kind", [Fraction, Decimal, np.float32, np.int64, int])
def test_an_estimate_may_be_a_number_of_any_type(agent: Agent, kind: Any) -> None:
    """The record is the same as with floats."""
    made = arena.play(Walk(), [agent], heuristics=estimate(lambda _: kind(3)))
    plain = arena.play(Walk(), [agent], heuristics=estimate(lambda _: 3.0))
    assert (made.termination, made.actions, made.cost) == (plain.termination, plain.actions, plain.cost)
    assert [one.nodes for one in made.decisions] == [one.nodes for one in plain.decisions]


@pytest.mark.parametrize("cost", [10**400, 1e301, Fraction(10**400), inf, nan, "1"])
def test_a_step_cost_that_is_too_large_is_refused(cost: Any) -> None:
    with pytest.raises(GameError, match=r"step_cost returned .* expected a number from 0 to 1e\+300"):
        check_step_cost(Walk(), (0,), 1, cost)
    assert check_step_cost(Walk(), (0,), 1, Fraction(1, 2)) == 0.5  # type: ignore[arg-type]


SEARCHES = [Minimax(depth=2), AlphaBeta(depth=2), Lookahead(depth=1), MCTS(rollouts=0), Greedy()]


@pytest.mark.parametrize("agent", SEARCHES, ids=name)
@pytest.mark.parametrize("given", [nan, inf, -inf, np.float32(inf), "9", None, 10**400, Decimal("sNaN")])
def test_an_invalid_heuristic_value_of_a_game_is_refused(agent: Agent, given: Any) -> None:
    """The agent loses by an exception, as in a puzzle with nan. Infinity would be better than a win."""

    @arena.heuristic("tried", game="tic-tac-toe")
    def tried(game: Any, state: Any, player: int = 0) -> Any:
        return given

    record = arena.play("tic-tac-toe", [agent, RandomAgent()], heuristics=[tried, None], limits={"nodes": 200, "depth": 3})
    assert (record.termination, record.seat, record.returns) == ("exception", 0, (-1.0, 1.0))
    assert f"tic-tac-toe: the heuristic tried returned {abbreviate(given)} at " in (record.message or "")
    assert "expected a finite number" in (record.message or "")


class Tried:
    """A heuristic that is a class."""

    def __init__(self, game: Walk) -> None:
        pass

    def __call__(self, state: Any, player: int = 0) -> float:
        return nan


def test_a_wrong_number_is_located_in_the_code_of_the_author() -> None:
    """The search and the check of its numbers are arena's own, so no line of them helps the author."""
    file, (steps, calls) = Path(__file__).name, [first_line(one) for one in (CostlyWalk.step_cost, Tried.__call__)]
    declared = arena.heuristic("tried", game="walk")(Tried)
    for agent in INFORMED[:5]:
        record = arena.play(Walk(), [agent], heuristics=declared)
        assert (record.message or "").endswith(f" infinity for a dead end ({file}:{calls})")
        assert "the heuristic tried returned nan" in (record.message or "")
    for agent in SOLVERS:
        record = arena.play(CostlyWalk(-5.0), [agent], heuristics=estimate(lambda _: 0.0, "costly-walk"))
        assert (record.message or "").endswith(f"expected a number from 0 to 1e+300 ({file}:{steps})")

    @arena.heuristic("text", game="tic-tac-toe")
    def text(game: Any, state: Any, player: int = 0) -> Any:
        return "7"

    for search in SEARCHES:
        record = arena.play("tic-tac-toe", [search, RandomAgent()], heuristics=[text, None], limits={"nodes": 200, "depth": 3})
        assert "the heuristic text returned '7' at " in (record.message or "")
        assert (record.message or "").endswith(f"a finite number ({file}:{first_line(text)})")


def first_line(function: Any) -> int:
    return inspect.getsourcelines(function)[1]


@pytest.mark.parametrize("agent", [*SEARCHES, TypeA(depth=1), AlphaBeta(depth=1, order="heuristic")], ids=name)
@pytest.mark.parametrize("given", [1.0, -1, 7, 0.9900001, Fraction(3, 2), np.float32(-1)])
def test_an_estimate_of_a_game_never_counts_as_a_win(agent: Agent, given: Any) -> None:
    """Only returns prove wins and losses. A search would stop at an estimate of 1, and a board would show a proven win."""
    info = arena.heuristic("tried", game="tic-tac-toe")
    record = arena.play(
        "tic-tac-toe",
        [agent, RandomAgent()],
        heuristics=[info(lambda game, state, player=0: given), None],
        limits={"nodes": 200, "depth": 3},
    )
    assert (record.termination, record.seat, record.returns) == ("exception", 0, (-1.0, 1.0))
    assert f"tic-tac-toe: the heuristic tried returned {abbreviate(given)} at " in (record.message or "")
    assert "expected a number from -0.99 to 0.99" in (record.message or "")


@pytest.mark.parametrize("agent", SEARCHES, ids=name)
@pytest.mark.parametrize("given", [0.99, -0.99, 0.99 / 51 * 51])
def test_the_bounds_of_the_range_are_allowed_even_after_rounding(agent: Agent, given: float) -> None:
    info = arena.heuristic("tried", game="tic-tac-toe")
    allowed = info(lambda game, state, player=0: given)
    record = arena.play("tic-tac-toe", [agent, RandomAgent()], heuristics=[allowed, None], limits={"nodes": 200, "depth": 3})
    assert record.termination == "normal"
    assert not any(one.exact and abs(one.value or 0) == abs(given) for one in record.decisions)
