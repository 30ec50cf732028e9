"""Test that searches play for the largest margin in a game of open_spiel with margins."""

from typing import Any

import pytest

import arena
from arena import Agent
from arena.returns import Returns
from arena_agents.alpha_beta import AlphaBeta, TypeAPlus
from arena_agents.full_width import Expectimax, Minimax, TypeA
from arena_agents.mcts import MCTS
from arena_agents.star2 import Star2
from arena_bridges.openspiel.agents import OpenSpielMCTS
from arena_bridges.openspiel.game import OpenSpiel

TEXT = "dots_and_boxes(num_rows=1,num_cols=3,utility_margin=true)"
START = "3 0 6 1 9"
DEPTH = 10
AGENTS: list[Agent] = [
    AlphaBeta(),
    AlphaBeta(depth=DEPTH, table=True),
    Minimax(),
    TypeA(depth=DEPTH),
    TypeAPlus(depth=DEPTH),
    Expectimax(depth=DEPTH),
    Star2(depth=DEPTH),
    MCTS(rollouts=3_000),
    OpenSpielMCTS(simulations=20_000),
]


def margin(state: Any) -> float:
    """Return the value for the first seat by exhaustive search, with open_spiel's own states."""
    if state.is_terminal():
        return float(state.returns()[0])
    values = [margin(state.child(action)) for action in state.legal_actions()]
    return max(values) if state.current_player() == 0 else min(values)


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: f"{agent.name}-{getattr(agent, 'table', '')}")
def test_both_seats_reach_the_value_of_exhaustive_search(spiel: Any, agent: Agent) -> None:
    """The first decision proves the value, and both seats play on to it."""
    state = spiel.load_game(TEXT).new_initial_state()
    for action in START.split():
        state.apply_action(int(action))
    assert margin(state) == -3.0
    game = OpenSpiel(game=TEXT)
    record = arena.play(game, [agent, agent], position=START)
    assert record.returns == (-3.0, 3.0)
    first = record.decisions[0]
    assert first.exact
    assert first.value is not None
    sign = 1 if first.seat == 0 else -1
    assert sign * Returns(game).unscale(first.value) == pytest.approx(-3.0, abs=1e-3)
