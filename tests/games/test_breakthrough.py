"""Test Breakthrough against open_spiel, and its heuristics against counts by hand."""

from typing import Any

import pytest

from arena.plugins.registry import Registry
from arena.testing import check_game, check_heuristic
from arena_games.breakthrough import Advancement, Breakthrough, Material
from tests.games.game_tree import levels, play_beside, start


def spiel_text(game: Breakthrough, action: int, *, capture: bool) -> str:
    """Return open_spiel's text of an action. Its board is upside down, because the side at the top begins."""
    names = [game.name_square(square) for square in (action % game.squares, game.targets[action])]
    return "".join([f"{name[0]}{game.rows + 1 - int(name[1:])}" for name in names]) + "*" * capture


@pytest.mark.parametrize(("rows", "columns"), [(8, 8), (6, 5), (6, 2)])
def test_random_matches_agree_with_open_spiel(rows: int, columns: int, pyspiel: Any) -> None:
    spiel = pyspiel.load_game(f"breakthrough(rows={rows},columns={columns})")
    game = Breakthrough(rows=rows, columns=columns)

    def mark(theirs: Any, action: int) -> list[int]:
        texts = {theirs.action_to_string(one): one for one in theirs.legal_actions()}
        plain, taking = [spiel_text(game, action, capture=capture) for capture in (False, True)]
        return [texts[plain] if plain in texts else texts[taking]]

    for seed in range(3):
        play_beside(game, spiel, mark, seed)


def test_the_first_two_plies_have_the_numbers_counted_by_hand() -> None:
    """Each side has 22 steps: three for each of eight pieces, less one at each edge. Captures need four plies."""
    assert [sum(level.values()) for level in levels(Breakthrough(), 2)] == [1, 22, 22 * 22]


def test_a_piece_steps_forward_and_captures_only_diagonally() -> None:
    game = Breakthrough(rows=5, columns=3)
    state = game.parse_state("b../.../bb./.w./... w")
    assert [game.format_action(state, action) for action in game.actions(state)] == ["b2xa3", "b2-c3"]
    after = game.result(state, game.parse_action(state, "b2xa3"))
    assert game.format_state(after) == "b../.../wb./.../... b"
    assert game.render(after).splitlines()[-2:] == ["   a b c", "black to move"]
    # By hand: white has gone 2 rows, black 0 and 2, and a piece counts 6 besides, on a scale of 2 * 3 * (25 // 4 + 6) = 72.
    assert Advancement(game)(after) == pytest.approx((4 + 6 - 0 - 4 - 12) / 72)
    assert Material(game)(after, 1) == pytest.approx(0.99 / 3)


@pytest.mark.parametrize(
    ("text", "winner"),
    [("w../.../b../.../... b", 0), ("b../.../w../.../.b. w", 1), ("b../.../.../.../... w", 1), ("w../.../.../.../... b", 0)],
)
def test_the_last_row_or_the_last_piece_wins(text: str, winner: int) -> None:
    game = Breakthrough(rows=5, columns=3)
    state = game.parse_state(text)
    assert game.is_terminal(state)
    assert list(game.actions(state)) == []
    assert game.returns(state)[winner] == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("bbb/.../.../.../www", "w or b to move"),
        ("bbb/.../.../www w", "5 rows of 3"),
        ("bbx/.../.../.../www w", "5 rows of 3"),
        ("bww/.../.../.../... w", "one in the last row"),
        ("w../.../.../.../b.. w", "the side to move, w, has already won"),
        ("bbb/bbb/b../.../w.. w", "at most 6 pieces"),
    ],
)
def test_invalid_position_text_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Breakthrough(rows=5, columns=3).parse_state(text)


def test_the_conformance_checks_pass(registry: Registry) -> None:
    game = registry.game("breakthrough")(rows=5, columns=3)
    assert game.format_state(start(game)) == "bbb/bbb/.../www/www w"
    check_game(game, matches=2)
    for name in ("advancement", "material"):
        check_heuristic(name, game, matches=2)
