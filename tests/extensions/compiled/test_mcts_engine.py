"""Compiled MCTS grows the same tree with the same random numbers."""

import random
from collections.abc import Callable
from typing import Any

import pytest

import arena
from arena import Game
from arena_agents.mcts import MCTS
from arena_games.connect_four import ConnectFour
from arena_games.connect_four_heuristics import OpenLines
from arena_games.tic_tac_toe import OpenLanes, TicTacToe

Twice = Callable[..., Any]


@pytest.mark.parametrize("rollouts", [1, 2, 7, 60, 3_000])
def test_compiled_mcts_grows_the_same_tree(twice: Twice, rollouts: int) -> None:
    """The numbers of rollouts reach beyond the refill of the generator after 624 words, and to proven positions."""
    twice(MCTS(rollouts=rollouts), TicTacToe(), (0, 0), OpenLanes)
    twice(MCTS(rollouts=rollouts), TicTacToe(), (0b001, 0b010), OpenLanes)


def test_a_proven_win_ends_the_search(twice: Twice) -> None:
    game = TicTacToe()
    outcome = twice(MCTS(), game, game.parse_state("xx./oo./..."), OpenLanes)
    assert outcome.found == 3
    assert outcome.nodes < 1_000


def test_compiled_and_plain_searches_end_at_the_same_state_for_every_node_limit(twice: Twice) -> None:
    game = ConnectFour()
    for nodes in [*range(1, 120), 1_000, 4_096, 4_097, 30_000]:
        assert twice(MCTS(), game, (0, 0, 0), OpenLines, {"nodes": nodes}).nodes == nodes


@pytest.mark.parametrize("depth", [1, 3, 10])
def test_simulations_stop_at_the_depth_limit(twice: Twice, depth: int) -> None:
    twice(MCTS(rollouts=400), ConnectFour(), (0, 0, 0), OpenLines, {"depth": depth})


def test_a_tree_that_outgrows_its_arrays_agrees_with_plain_python(twice: Twice) -> None:
    twice(MCTS(rollouts=9_000, exploration=0.7), ConnectFour(), (0, 0, 0), OpenLines)


def test_a_compiled_match_has_the_same_record_as_a_plain_one(same: Callable[..., arena.Record]) -> None:
    """The sequence of random numbers continues from decision to decision."""
    game: Game = ConnectFour()
    same(game, [MCTS(rollouts=50), MCTS(rollouts=30)], heuristics=OpenLines, seed=random.Random(1).randrange(99))
