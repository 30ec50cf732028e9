"""Test Nim against Bouton's theory, a full search, and open_spiel."""

from typing import Any

import pytest

from arena.plugins.registry import Registry
from arena.testing import check_game, check_heuristic
from arena_games.nim import Nim, NimSum
from tests.games.game_tree import play_beside, start, states_of


def mover_wins(game: Nim, state: Any, known: dict[Any, bool]) -> bool:
    if game.is_terminal(state):
        return game.returns(state)[game.to_move(state)] > 0
    if state not in known:
        known[state] = any(not mover_wins(game, game.result(state, action), known) for action in game.actions(state))
    return known[state]


@pytest.mark.parametrize("misere", [False, True])
def test_the_nim_sum_predicts_the_winner_of_every_state(misere: bool) -> None:
    """All states of heaps of 2, 3 and 4 are searched. The seat to move loses 1 2 3 in normal and misère play."""
    game = Nim(heaps=(2, 3, 4), misere=misere)
    value, known = NimSum(game), dict[Any, bool]()
    for state in set(states_of(game)):
        if not game.is_terminal(state):
            assert (value(state, state[-1]) > 0) == mover_wins(game, state, known)
            assert value(state, 0) == -value(state, 1)
    assert not mover_wins(game, game.parse_state("1 2 3 a"), known)


@pytest.mark.parametrize("misere", [False, True])
@pytest.mark.parametrize("heaps", [(1, 3, 5, 7), (2, 9)])
def test_random_matches_agree_with_open_spiel(heaps: tuple[int, ...], misere: bool, pyspiel: Any) -> None:
    sizes = ";".join(map(str, heaps))
    spiel, game = pyspiel.load_game(f"nim(pile_sizes={sizes},is_misere={misere})"), Nim(heaps=heaps, misere=misere)

    def mark(_: Any, action: int) -> list[int]:
        heap, taken = divmod(action, max(heaps) + 1)
        return [(taken - 1) * len(heaps) + heap]

    for seed in range(5):
        play_beside(game, spiel, mark, seed)


def test_notation_lists_the_heaps_and_the_seat() -> None:
    game = Nim(heaps=(1, 3))
    state = game.parse_state("1 2 b")
    assert [game.format_action(state, action) for action in game.actions(state)] == ["1:1", "2:1", "2:2"]
    assert game.format_state(game.result(state, game.parse_action(state, "2:2"))) == "1 0 a"
    for text, reason in (("1 2", "a or b"), ("1 4 a", "at most 3 sticks in heap 2"), ("1 a", "2 numbers"), ("", "2 numbers")):
        with pytest.raises(ValueError, match=reason):
            game.parse_state(text)
    with pytest.raises(ValueError, match="at least one stick"):
        Nim(heaps=(0, 0))


def test_the_conformance_checks_pass(registry: Registry) -> None:
    game = registry.game("nim")(heaps=(1, 2, 0, 3), misere=True)
    assert start(game) == (1, 2, 0, 3, 0)
    check_game(game, matches=3)
    check_heuristic("nim-sum", game, matches=3)
