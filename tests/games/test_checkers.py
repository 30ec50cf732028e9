"""Test checkers against published perft counts and the rule book of the American Checker Federation."""

import random

import pytest

from arena.plugins.registry import Registry
from arena.testing import check_game, check_heuristic
from arena_games.checkers import Checkers
from arena_games.checkers_board import SEAT, State

PERFT = [1, 7, 49, 302, 1469, 7361, 36768, 179740, 845931]
"""Sequences of n turns from the start. A turn may have several jumps. A. Bik, Computing deep perft and divide numbers for
checkers, 2012.
"""


def count_sequences(game: Checkers, state: State, turns: int) -> int:
    """Return the number of sequences of turns. Further jumps of a piece belong to the same turn."""
    if turns == 0:
        return 1
    count = 0
    for action in game.actions(state):
        after = game.result(state, action)
        count += count_sequences(game, after, turns - (after[SEAT] != state[SEAT]))
    return count


@pytest.mark.parametrize("turns", [4, pytest.param(8, marks=pytest.mark.proof)])
def test_perft_counts_agree_with_published_ones(turns: int) -> None:
    game = Checkers()
    start = game.initial(random.Random(0))
    assert [count_sequences(game, start, n) for n in range(turns + 1)] == PERFT[: turns + 1]


def list_moves(text: str) -> list[str]:
    game = Checkers()
    state = game.parse_state(text)
    return [game.format_action(state, action) for action in game.actions(state)]


def test_pieces_move_and_jump_as_the_rules_say() -> None:
    """Men move forward and kings both ways. Jumps are forced, may go on, and end when a man is crowned."""
    assert list_moves("B:B15:W32 0") == ["15-18", "15-19"]
    assert list_moves("W:B1:W18 0") == ["18-14", "18-15"]
    assert list_moves("B:BK15:W32 0") == ["15-10", "15-11", "15-18", "15-19"]
    assert list_moves("B:B15,1:W19,32 0") == ["15x24"]  # the man on 1 must wait
    game = Checkers()
    state = game.parse_state("B:B11,5:W15,23,32 0")
    (jump,) = game.actions(state)
    state = game.result(state, jump)
    assert game.format_state(state) == "B:B5,18:W23,32 0 x18"
    assert game.to_move(state) == 0
    (jump,) = game.actions(state)
    state = game.result(state, jump)
    assert game.format_state(state) == "W:B5,27:W32 0"
    assert [game.format_action(state, action) for action in game.actions(state)] == ["32x23"]
    crowned = game.parse_state("B:B22:W25,26,17 0")
    state = game.result(crowned, game.actions(crowned)[0])
    assert game.format_state(state) == "W:BK29:W17,26 0"  # a new king does not go on over 26
    assert game.grid(state)[7][0] == "B"


def test_a_side_without_a_move_loses_and_quiet_plies_draw() -> None:
    game = Checkers(quiet=2)
    state = game.parse_state("W:B1:W 0")
    assert game.is_terminal(state)
    assert game.returns(state) == (1.0, -1.0)
    stuck = game.parse_state("B:B12:W16,19 0")
    assert game.is_terminal(stuck)
    assert game.returns(stuck) == (-1.0, 1.0)
    state = game.parse_state("B:BK1:WK32 1")
    state = game.result(state, game.actions(state)[0])
    assert game.is_terminal(state)
    assert (game.returns(state), list(game.actions(state))) == ((0.0, 0.0), [])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the side to move"),
        ("B:B1:B2 0", "the side to move"),
        ("B:W5:B2:W7 0", "the side to move"),
        ("B:B33:W1 0", "squares from 1 to 32"),
        ("B:B1,1:W2 0", "different squares"),
        ("B:B30:W20 0", "is a king"),
        ("B:B5:W20 81", "at most 80 quiet"),
        ("B:B5:W20 0 x5", "cannot jump"),
        (f"B:B{','.join(map(str, range(1, 14)))}:W20 0", "at most 12"),
    ],
)
def test_invalid_position_text_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Checkers().parse_state(text)


def test_pdn_positions_are_parsed() -> None:
    """The example of the PDN standard has white first. Some programs end a position with a full stop."""
    game = Checkers()
    state = game.parse_state("B:W18,24,27,28,K10,K15:B12,16,20,K22,K25,K29.")
    assert game.format_state(state) == "B:B12,16,20,K22,K25,K29:WK10,K15,18,24,27,28 0"
    assert game.parse_state(game.format_state(state)) == state


def test_the_conformance_checks_pass(registry: Registry) -> None:
    game = registry.game("checkers")(quiet=20)
    check_game(game, matches=1)
    for name in ("material", "advancement"):
        check_heuristic(name, game, matches=1)
