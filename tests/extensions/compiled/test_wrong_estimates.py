"""Compiled solvers refuse invalid estimates and step costs, and run plain if the compiler fails."""

from math import inf, nan
from typing import Any

import pytest

import arena
from arena import Agent
from arena.compiled import Estimate
from arena_agents.alpha_beta import AlphaBeta
from arena_agents.best_first import AStar, BestFirst, UniformCost
from arena_agents.depth_first import IdaStar
from arena_agents.full_width import Minimax
from arena_agents.mcts import MCTS
from arena_compiled import seam
from tests.agents.test_wrong_costs import CostlyWalk, Walk

SOLVERS = [AStar(), AStar(weight=2), BestFirst(), IdaStar()]


def name(agent: Any) -> str | None:
    return f"{agent.name}-{getattr(agent, 'weight', '')}" if isinstance(agent, Agent) else None


@arena.heuristic("below-0", game="walk")
def below(game: Walk, state: Any, player: int = 0) -> float:
    return -5.0


@arena.heuristic("closed", game="walk")
def closed(game: Walk, state: Any, player: int = 0) -> float:
    return 1e999 if state[0] == 4 else 0.0


@arena.heuristic("blocked", game="walk")
def blocked(game: Walk, state: Any, player: int = 0) -> float:
    return 1e999 if state[0] == 3 or state[0] == 4 else 0.0


@arena.heuristic("nowhere", game="walk")
def nowhere(game: Walk, state: Any, player: int = 0) -> float:
    return (1e999 - 1e999) if state[0] == 2 else 0.0


@arena.heuristic("nothing", game="costly-walk")
def nothing(game: CostlyWalk, state: Any, player: int = 0) -> float:
    return 0.0


@pytest.mark.parametrize("agent", SOLVERS, ids=name)
@pytest.mark.parametrize("heuristic", [below, closed])
def test_compiled_and_plain_searches_agree_on_negative_and_infinite_estimates(twice: Any, agent: Agent, heuristic: Any) -> None:
    assert twice(agent, Walk(), (0,), heuristic).found is not None


@pytest.mark.parametrize("agent", SOLVERS, ids=name)
def test_dead_ends_are_not_expanded(twice: Any, agent: Agent) -> None:
    """No step is longer than 2, so each path leads through one of the two states with infinite estimates."""
    assert twice(agent, Walk(), (0,), blocked).found is None


@pytest.mark.parametrize("agent", SOLVERS, ids=name)
def test_an_estimate_that_is_not_a_number_is_refused(compiling: None, agent: Agent) -> None:
    record = arena.play(Walk(), [agent], heuristics=nowhere)
    assert not record.solved
    assert "the heuristic nowhere returned nan at (2,)" in (record.message or "")


def make_wrong(huge: float, less: float) -> Any:
    """Return a heuristic with the value `10 * huge - 10 * less` at a state, where both products are infinite or 0."""

    @arena.heuristic("wrong", game="tic-tac-toe")
    def wrong(game: Any, state: Any, player: int = 0) -> float:
        return (huge * 10.0 - less * 10.0) if state[0] == 3 and state[1] == 32 else 0.0

    @wrong.compiled  # type: ignore[attr-defined]
    class Wrong(Estimate):
        def __init__(self, game: Any, rules: Any) -> None:
            self.huge, self.less = huge, less

        def evaluate(self, state: Any, player: int) -> float:
            return (self.huge * 10.0 - self.less * 10.0) if state[0] == 3 and state[1] == 32 else 0.0

    return wrong


WRONG = {
    "nan": make_wrong(1e308, 1e308),
    "inf": make_wrong(1e308, 0.0),
    "-inf": make_wrong(0.0, 1e308),
    "1.0": make_wrong(0.1, 0.0),
    "-20.0": make_wrong(0.0, 2.0),
}


SEARCHES = [Minimax(depth=3), AlphaBeta(depth=3), AlphaBeta(depth=4, order="heuristic", table="1MB"), MCTS(rollouts=5000)]


@pytest.mark.parametrize("value", WRONG)
@pytest.mark.parametrize("agent", SEARCHES, ids=name)
def test_a_heuristic_value_of_a_game_that_is_not_finite_is_refused(compiling: None, agent: Agent, value: str) -> None:
    """As in plain searches, the agent loses by an exception. Only states after three moves have this value, so the compiled
    search evaluates them first.
    """
    record = arena.play("tic-tac-toe", [agent, agent], heuristics=WRONG[value], limits={"depth": 3})
    assert record.termination == "exception"
    assert f"tic-tac-toe: the heuristic wrong returned {value} at " in (record.message or "")


@pytest.mark.parametrize("cost", [-5.0, nan, inf])
@pytest.mark.parametrize("agent", [*SOLVERS, UniformCost()], ids=name)
def test_an_invalid_step_cost_is_refused(compiling: None, agent: Agent, cost: float) -> None:
    record = arena.play(CostlyWalk(cost), [agent], heuristics=nothing)
    assert not record.solved
    assert f"step_cost returned {cost} at (2,) for the action" in (record.message or "")


@pytest.mark.parametrize("agent", SOLVERS, ids=name)
def test_a_failed_translation_does_not_affect_the_attempt(compiling: None, agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    """The generated code is invalid Python. The search runs plain."""

    def broken(*_: object) -> None:
        compile("def f(:", "made", "exec")

    plain = arena.play(Walk(), [agent], heuristics=below)
    seam._pairs.clear()
    monkeypatch.setattr(seam, "assemble_engine", broken)
    record = arena.play(Walk(), [agent], heuristics=below)
    assert record.actions == plain.actions
    assert record.solved
