"""Compiled rollouts of MCTS in games with chance give the same tree, counts and random numbers, and obey the same limits."""

import random
from collections.abc import Callable
from typing import Any

import pytest

import arena
from arena import CHANCE, Game
from arena_agents.mcts import MCTS
from arena_compiled.engines import engine_of
from arena_games.backgammon import Backgammon
from arena_games.connect_four import ConnectFour
from arena_games.pig import Pig
from arena_games.twenty_forty_eight import TwentyFortyEight

Twice = Callable[..., Any]
GAMES: dict[str, Game] = {
    "pig": Pig(target=30), "2048": TwentyFortyEight(rows=2, columns=3), "backgammon": Backgammon(),
}  # fmt: skip


def first_decision(game: Game, seed: int = 5) -> Any:
    """Return the first state in which a seat has more than one action."""
    rng = random.Random(seed)
    state = game.initial(rng)
    while game.to_move(state) == CHANCE or len(game.actions(state)) == 1:
        state = game.result(state, rng.choice(game.actions(state)))
    return state


@pytest.mark.parametrize("name", GAMES)
def test_compiled_and_plain_searches_end_at_the_same_state_for_every_node_limit(twice: Twice, name: str) -> None:
    """The limit is reached in the tree, in rollouts, at a throw or at a move. The root may also be proven."""
    game = GAMES[name]
    for nodes in (*range(1, 40), 99, 700, 2_000):
        assert twice(MCTS(), game, first_decision(game), None, {"nodes": nodes}).nodes <= nodes


@pytest.mark.parametrize("rollouts", [1, 2, 30])
def test_compiled_rollouts_give_the_same_simulations(twice: Twice, rollouts: int) -> None:
    """The numbers of rollouts reach beyond the refill of the generator after 624 words. The returns of 2048 have no scale, and
    the returns of pig have one.
    """
    for game in GAMES.values():
        twice(MCTS(rollouts=rollouts), game, first_decision(game))


def test_a_rollout_that_is_cut_off_is_played_by_plain_python(twice: Twice) -> None:
    """Random play never reaches 10,000 within 1,000 turns. Its plies are counted once, and the heuristic is called once for
    each seat.
    """
    game = Pig(target=10_000)
    game.default_moves = 30  # the move limit of a match does not concern rollouts
    outcome = twice(MCTS(rollouts=3), game, first_decision(game))
    assert outcome.nodes > 3_000
    assert outcome.evaluations == 6
    for nodes in (500, 1_500, 2_500):
        assert twice(MCTS(), game, first_decision(game), None, {"nodes": nodes}).nodes == nodes


@pytest.mark.parametrize("name", GAMES)
def test_a_compiled_match_has_the_same_record_as_a_plain_one(same: Callable[..., arena.Record], name: str) -> None:
    game = GAMES[name]
    same(game, [MCTS(rollouts=9), MCTS(rollouts=5)][: game.players], seed=2, limits={"moves": 7})


def test_games_with_chance_use_the_engine_for_rollouts() -> None:
    assert engine_of(MCTS(), Pig()) == "rollouts"
    assert engine_of(MCTS(), ConnectFour()) == engine_of(MCTS()) == "mcts"
