"""The engines of games for two find what the plain searches find: values, counts, reports, random numbers and limits."""

import random
from collections.abc import Callable
from typing import Any

import pytest

import arena
from arena import Game
from arena_agents.alpha_beta import AlphaBeta
from arena_agents.lookahead import Lookahead
from arena_agents.minimax import Minimax
from arena_agents.type_a import TypeA
from arena_games.connect_four import ConnectFour
from arena_games.connect_four_heuristics import Centre, OpenLines
from arena_games.tic_tac_toe import OpenLanes, TicTacToe

Twice = Callable[..., Any]


def walked(game: Game, seed: int, plies: int) -> Any:
    """A state after so many random plies, one that is not over."""
    rng = random.Random(seed)
    while True:
        state = game.initial(rng)
        for _ in range(plies):
            if not game.is_terminal(state):
                state = game.result(state, rng.choice(game.actions(state)))
        if not game.is_terminal(state):
            return state


BOARDS: list[tuple[Game, Any]] = [
    (TicTacToe(), OpenLanes),
    (TicTacToe(rows=4, columns=5, in_a_row=4), OpenLanes),
    (ConnectFour(), OpenLines),
    (ConnectFour(rows=4, columns=5, in_a_row=3), Centre),
]
AGENTS = [AlphaBeta(depth=4), Minimax(depth=2), Lookahead(depth=2), TypeA(depth=2)]


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
@pytest.mark.parametrize(("game", "heuristic"), BOARDS, ids=lambda board: getattr(board, "name", None))
def test_every_board_and_agent(twice: Twice, agent: Any, game: Game, heuristic: Any) -> None:
    """One module serves the boards of all sizes of a game."""
    for seed in range(3):
        twice(agent, game, walked(game, seed, 4 + 2 * seed), heuristic, {"nodes": 4_000} if isinstance(agent, TypeA) else None)
    twice(agent, game, walked(game, 9, 3), heuristic, {"nodes": 400})


def test_the_whole_tree_of_tic_tac_toe(twice: Twice) -> None:
    """549,945 states follow the first, 5,478 of them different; perfect play draws."""
    outcome = twice(Minimax(), TicTacToe(), (0, 0))
    assert outcome.nodes == 549_945
    assert outcome.report.value == 0


def test_every_node_limit_ends_at_the_same_state(twice: Twice) -> None:
    game = ConnectFour()
    state = walked(game, 3, 12)
    for nodes in [*range(1, 150), 500, 1_700, 5_000]:
        twice(AlphaBeta(), game, state, OpenLines, {"nodes": nodes})


@pytest.mark.parametrize("depth", [1, 2, 6])
def test_a_limit_of_depth(twice: Twice, depth: int) -> None:
    game = ConnectFour()
    twice(AlphaBeta(), game, walked(game, 5, 8), OpenLines, {"depth": depth})


def test_a_match_is_the_same_record(same: Callable[..., arena.Record]) -> None:
    game = ConnectFour()
    same(game, [AlphaBeta(depth=5), Lookahead(depth=2)], heuristics=OpenLines)
    same(game, [TypeA(depth=2), Minimax(depth=3)], heuristics=OpenLines, limits={"nodes": 200, "moves": 12})
