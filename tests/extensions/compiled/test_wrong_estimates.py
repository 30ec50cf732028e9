"""Compiled solvers on puzzles whose heuristic or step cost is not a number of at least 0, and a compiler that fails."""

from math import inf, nan
from typing import Any

import pytest

import arena
from arena import Agent
from arena_agents.best_first import AStar, BestFirst, UniformCost
from arena_agents.depth_first import IdaStar
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


@arena.heuristic("nowhere", game="walk")
def nowhere(game: Walk, state: Any, player: int = 0) -> float:
    return (1e999 - 1e999) if state[0] == 2 else 0.0


@arena.heuristic("nothing", game="costly-walk")
def nothing(game: CostlyWalk, state: Any, player: int = 0) -> float:
    return 0.0


@pytest.mark.parametrize("agent", SOLVERS, ids=name)
@pytest.mark.parametrize("heuristic", [below, closed])
def test_estimates_below_0_and_infinite_ones(twice: Any, agent: Agent, heuristic: Any) -> None:
    assert twice(agent, Walk(), (0,), heuristic).found is not None


@pytest.mark.parametrize("agent", SOLVERS, ids=name)
def test_an_estimate_that_is_not_a_number_is_refused(compiling: None, agent: Agent) -> None:
    record = arena.play(Walk(), [agent], heuristics=nowhere)
    assert not record.solved
    assert "the heuristic returned nan at (2,)" in (record.message or "")


@pytest.mark.parametrize("cost", [-5.0, nan, inf])
@pytest.mark.parametrize("agent", [*SOLVERS, UniformCost()], ids=name)
def test_a_wrong_step_cost_is_refused(compiling: None, agent: Agent, cost: float) -> None:
    record = arena.play(CostlyWalk(cost), [agent], heuristics=nothing)
    assert not record.solved
    assert f"step_cost returned {cost} at (2,) for the action" in (record.message or "")


@pytest.mark.parametrize("agent", SOLVERS, ids=name)
def test_a_fault_of_the_translation_costs_no_attempt(compiling: None, agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code that is made is no Python. The search runs plain."""

    def broken(*_: object) -> None:
        compile("def f(:", "made", "exec")

    plain = arena.play(Walk(), [agent], heuristics=below)
    seam._pairs.clear()
    monkeypatch.setattr(seam, "assemble_engine", broken)
    record = arena.play(Walk(), [agent], heuristics=below)
    assert record.actions == plain.actions
    assert record.solved
