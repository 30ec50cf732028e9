"""Test Kalah against published values, moves by hand, and open_spiel."""

from typing import Any

import pytest

from arena import Game
from arena.plugins.registry import Registry
from arena.testing import check_game, check_heuristic
from arena_games.kalah import Kalah, StoreDifference
from tests.games.game_tree import play_beside, random_match, start


def solve(game: Game, state: Any, known: dict[Any, float]) -> float:
    """Return the value of a state for the first seat by minimax."""
    if game.is_terminal(state):
        return game.returns(state)[0]
    if state not in known:
        wins = 1.0 if game.to_move(state) == 0 else -1.0
        best = -wins
        for action in game.actions(state):
            best = max(best * wins, solve(game, game.result(state, action), known) * wins) * wins
            if best == wins:
                break
        known[state] = best
    return known[state]


@pytest.mark.parametrize(("pits", "values"), [(1, "D L W L W D"), (2, "W L L L W W"), (3, "D W W W")])
def test_values_of_kalah_agree_with_a_paper(pits: int, values: str) -> None:
    """Irving, Donkers and Uiterwijk (2000) give a win, draw or loss of the first seat for 1, 2, 3, ... stones in each pit."""
    boards = [Kalah(pits=pits, stones=stones) for stones in range(1, len(values.split()) + 1)]
    assert [{1.0: "W", 0.0: "D", -1.0: "L"}[solve(game, start(game), {})] for game in boards] == values.split()


@pytest.mark.parametrize(("stones", "again"), [(4, 3), (5, 2), (6, 1)])
def test_a_first_move_into_the_store_moves_again(stones: int, again: int) -> None:
    """The store is 7 - p holes away from pit p, so only the pit with that many stones ends in it."""
    game = Kalah(stones=stones)
    after = {action: game.result(start(game), action) for action in game.actions(start(game))}
    assert list(after) == [1, 2, 3, 4, 5, 6]
    assert [action for action, state in after.items() if game.to_move(state) == 0] == [again]


@pytest.mark.parametrize(
    ("before", "action", "after"),
    [
        (
            "1 0 0 0 0 5 (10) / 2 0 0 0 9 0 (21) a",
            "1",
            "0 0 0 0 0 5 (20) / 2 0 0 0 0 0 (21) b",
        ),  # captures nine and the last stone
        ("1 0 0 0 0 5 (10) / 2 0 0 0 0 9 (21) a", "1", "0 1 0 0 0 5 (10) / 2 0 0 0 0 9 (21) b"),  # nothing lies opposite
        ("0 3 0 0 0 9 (10) / 1 1 1 1 1 1 (20) a", "6", "1 4 0 0 0 0 (11) / 2 2 2 2 2 2 (20) b"),  # skips the opponent's store
        ("1 0 0 0 0 0 (20) / 13 0 0 0 0 0 (14) b", "1", "2 1 1 1 1 0 (20) / 0 1 1 1 1 1 (17) a"),  # goes round and captures two
        (
            "0 0 0 0 0 1 (24) / 3 0 0 0 0 0 (20) a",
            "6",
            "0 0 0 0 0 0 (25) / 0 0 0 0 0 0 (23) a",
        ),  # the opponent's stones are swept
    ],
)
def test_sowing_agrees_with_moves_by_hand(before: str, action: str, after: str) -> None:
    """The expected positions come from a real board."""
    game = Kalah()
    state = game.parse_state(before)
    assert game.format_state(game.result(state, game.parse_action(state, action))) == after


def test_random_matches_agree_with_open_spiel(pyspiel: Any) -> None:
    """open_spiel has only the standard board. Its pits are numbered around the board, with a store between the sides."""
    spiel, game = pyspiel.load_game("mancala"), Kalah()
    for seed in range(30):
        play_beside(game, spiel, lambda theirs, pit: [pit + 7 * theirs.current_player()], seed)


def test_the_heuristic_is_the_share_of_stones_in_the_lead() -> None:
    game = Kalah()
    state = game.parse_state("1 0 0 0 0 5 (10) / 2 0 0 0 9 0 (21) a")
    assert StoreDifference(game)(state) == pytest.approx(-0.9 * 11 / 48)
    assert StoreDifference(game)(state, 1) == pytest.approx(0.9 * 11 / 48)


def test_the_grid_shows_the_clickable_pits() -> None:
    game = Kalah(pits=3, stones=2)
    for state, action in random_match(game, 1):
        for one in [] if action is None else game.actions(state):
            ((row, column),) = game.cells(state, one)
            assert game.grid(state)[row][column] == str(state[one - 1 + 4 * game.to_move(state)])


@pytest.mark.parametrize(
    "text", ["", "4 4 4 4 4 4 (0) / 4 4 4 4 4 4 (0)", "4 4 (0) / 4 4 (0) a", "0 0 0 0 0 0 (4) / 9 9 9 9 8 0 (0) a"]
)
def test_invalid_position_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        Kalah().parse_state(text)


@pytest.mark.parametrize("settings", [{}, {"pits": 2, "stones": 3}, {"pits": 1, "stones": 1}])
def test_the_conformance_checks_pass(settings: dict[str, int], registry: Registry) -> None:
    game = registry.game("kalah")(**settings)
    check_game(game, matches=3)
    check_heuristic("store-difference", game, matches=2)
