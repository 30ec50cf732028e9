"""Compiled searches of games for two give the same values, counts, reports and random numbers as plain ones, and obey the same
limits.
"""

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import arena
from arena import Game
from arena_agents.alpha_beta import AlphaBeta
from arena_agents.full_width import Lookahead, Minimax, TypeA
from arena_compiled import seam
from arena_compiled.rehearsal import rehearse
from arena_games.connect_four import ConnectFour
from arena_games.connect_four_heuristics import Centre, OpenLines
from arena_games.othello import Othello, corners_mobility, discs
from arena_games.tic_tac_toe import OpenLanes, TicTacToe

Twice = Callable[..., Any]


def random_state(game: Game, seed: int, plies: int) -> Any:
    """Return a state after some random plies that is not terminal."""
    rng = random.Random(seed)
    while True:
        state = game.initial(rng)
        for _ in range(plies):
            if not game.is_terminal(state):
                state = game.result(state, rng.choice(game.actions(state)))
        if not game.is_terminal(state):
            return state


MARKS, WIDE, STONES, SMALL = (
    (TicTacToe(), OpenLanes),
    (TicTacToe(rows=4, columns=5, in_a_row=4), OpenLanes),
    (ConnectFour(), OpenLines),
    (ConnectFour(rows=4, columns=5, in_a_row=3), Centre),
)
SQUARES, FEW = (Othello(), corners_mobility), (Othello(size=6), discs)
PAIRS = [
    (AlphaBeta(depth=3), SQUARES),
    (Lookahead(depth=2), FEW),
    *[(AlphaBeta(depth=4), board) for board in (MARKS, WIDE, STONES, SMALL)],
    *[(Minimax(depth=2), board) for board in (MARKS, WIDE)],
    *[(Lookahead(depth=2), board) for board in (WIDE,)],
    *[(TypeA(depth=2), board) for board in (STONES,)],
]


@pytest.mark.parametrize(("agent", "board"), PAIRS, ids=lambda one: getattr(one, "name", None))
def test_every_compiled_agent_agrees_with_plain_python_on_boards_of_several_sizes(
    twice: Twice, agent: Any, board: tuple[Game, Any]
) -> None:
    """One module is used for all board sizes of a game."""
    game, heuristic = board
    for seed in range(3):
        twice(
            agent, game, random_state(game, seed, 4 + 2 * seed), heuristic, {"nodes": 4_000} if isinstance(agent, TypeA) else None
        )
    twice(agent, game, random_state(game, 9, 3), heuristic, {"nodes": 400})


def test_the_whole_tree_of_tic_tac_toe_has_the_known_size(twice: Twice) -> None:
    """The start state has 549,945 descendants, 5,478 of them different. Perfect play is a draw."""
    outcome = twice(Minimax(), TicTacToe(), (0, 0))
    assert outcome.nodes == 549_945
    assert outcome.report.value == 0


def test_compiled_and_plain_searches_end_at_the_same_state_for_every_node_limit(twice: Twice) -> None:
    game = ConnectFour()
    state = random_state(game, 3, 12)
    for nodes in [*range(1, 150), 500, 1_700, 5_000]:
        twice(AlphaBeta(), game, state, OpenLines, {"nodes": nodes})


@pytest.mark.parametrize("depth", [1, 2, 6])
def test_compiled_searches_obey_a_depth_limit(twice: Twice, depth: int) -> None:
    game = ConnectFour()
    twice(AlphaBeta(), game, random_state(game, 5, 8), OpenLines, {"depth": depth})


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("size", [4, 8])
def test_boards_that_use_the_sign_bit_of_a_64_bit_number_agree(size: Any) -> None:
    """The last square of Othello on 8x8 is this bit. All states of some random games are computed with the uncompiled rules,
    with numbers limited to 64 bits.
    """
    game = Othello(size=size)
    for seed in range(3):
        edition, rules, estimate, module = seam.assemble_engine(game, partial(corners_mobility, game), "alpha-beta")
        samples, rng, state = [], random.Random(seed), game.initial(random.Random(seed))
        while not game.is_terminal(state):
            samples.append(state)
            state = game.result(state, rng.choice(game.actions(state)))
        for one in [*samples[-12:], state]:
            rehearse(module, edition._replace(samples=(one,)), rules, estimate, partial(corners_mobility, game))


def test_a_compiled_match_has_the_same_record_as_a_plain_one(same: Callable[..., arena.Record]) -> None:
    game = ConnectFour()
    same(game, [AlphaBeta(depth=4), TypeA(depth=1)], heuristics=OpenLines, limits={"nodes": 2_000, "moves": 14})
