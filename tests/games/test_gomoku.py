"""Test gomoku: tic-tac-toe's rules with other defaults, and threats against a search."""

from typing import Any

import pytest

from arena.plugins.registry import Registry
from arena.testing import check_game, check_heuristic
from arena_games.gomoku import NEARLY_LOST, NEARLY_WON, Gomoku, Threats
from arena_games.tic_tac_toe import TicTacToe
from tests.games.game_tree import play_beside, random_match


def test_gomoku_inherits_the_rules_of_tic_tac_toe() -> None:
    own = {name for name in vars(Gomoku) if not name.startswith("_")}
    assert own == {"name", "default_heuristic"}
    assert issubclass(Gomoku, TicTacToe)
    assert (Gomoku().rows, Gomoku().columns, Gomoku().in_a_row) == (15, 15, 5)


@pytest.mark.parametrize(("rows", "columns", "in_a_row"), [(15, 15, 5), (6, 5, 4)])
def test_random_matches_agree_with_open_spiel(rows: int, columns: int, in_a_row: int, pyspiel: Any) -> None:
    spiel = pyspiel.load_game(f"mnk(m={columns},n={rows},k={in_a_row})")
    game = Gomoku(rows=rows, columns=columns, in_a_row=in_a_row)
    for seed in range(3):
        play_beside(game, spiel, lambda _, action: [action - 1], seed)


def test_threats_agree_with_a_search() -> None:
    """A search of one ply finds wins and a search of two plies finds losses, in random matches on 5x5."""
    game = Gomoku(rows=5, columns=5, in_a_row=3)
    value, seen = Threats(game), set()
    for seed in range(40):
        for state, action in random_match(game, seed):
            if action is None:
                break
            seat = game.to_move(state)
            after = [game.result(state, one) for one in game.actions(state)]
            won = any(game.returns(one)[seat] > 0 for one in after)
            answers = [[game.result(one, two) for two in game.actions(one)] for one in after]
            lost = not won and all(any(game.returns(two)[seat] < 0 for two in answer) for answer in answers)
            found = value(state, seat)
            assert (found == NEARLY_WON) == won
            assert found != NEARLY_LOST or lost
            assert not lost or found == NEARLY_LOST
            assert value(state, 1 - seat) == -found
            seen.add((won, lost))
    assert len(seen) == 3


def test_the_conformance_checks_pass(registry: Registry) -> None:
    game = registry.game("gomoku")(rows=4, columns=6, in_a_row=4)
    check_game(game, matches=2)
    check_heuristic("threats", game, matches=1)
