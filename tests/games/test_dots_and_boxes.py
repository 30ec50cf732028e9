"""Test Dots and Boxes against open_spiel, solved boards, and chains counted by hand."""

import random
from functools import cache
from typing import Any

import numpy as np
import pytest

from arena.plugins.registry import Registry
from arena.testing import check_game, check_heuristic
from arena_games.dots_and_boxes import Chains, DotsAndBoxes
from tests.games.game_tree import play_beside, start


def best_lead(game: DotsAndBoxes, state: Any) -> int:
    """Return how many boxes more than the opponent the side to move still gains, by a full search."""

    @cache
    def lead(lines: int) -> int:
        found = []
        for line in game.actions((lines, 0, 0, 0)):
            after = game.result((lines, 0, 0, 0), line)
            gained = after[1].bit_count()
            found.append(gained + lead(after[0]) if gained else -lead(after[0]))
        return max(found, default=0)

    return lead(state[0])


def best_leads(rows: int, columns: int) -> Any:
    """Return the same for every set of lines, by retrograde analysis. Lines are pairs of dots here."""
    pairs = [((r, c), (r, c + 1)) for r in range(rows + 1) for c in range(columns)]
    pairs += [((r, c), (r + 1, c)) for r in range(rows) for c in range(columns + 1)]
    boxes = []
    for r in range(rows):
        for c in range(columns):
            corners = {(r, c), (r, c + 1), (r + 1, c), (r + 1, c + 1)}
            boxes.append(sum(1 << n for n, pair in enumerate(pairs) if corners.issuperset(pair)))
    states = np.arange(1 << len(pairs), dtype=np.int32)
    full = sum(((states & box) == box).astype(np.int8) for box in boxes)
    drawn = np.bitwise_count(states)
    lead = np.full(len(states), -100, np.int8)
    lead[-1] = 0
    for number in reversed(range(len(pairs))):
        now = states[drawn == number]
        for line in range(len(pairs)):
            some = now[now >> line & 1 == 0]
            gained = full[some | 1 << line] - full[some]
            after = lead[some | 1 << line]
            lead[some] = np.maximum(lead[some], np.where(gained > 0, gained + after, -after))
    return lead


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 2), (1, 4), (2, 2), pytest.param(2, 3, marks=pytest.mark.proof)])
def test_values_of_boards_agree_with_retrograde_analysis(rows: int, columns: int) -> None:
    game = DotsAndBoxes(rows=rows, columns=columns)
    assert best_lead(game, start(game)) == best_leads(rows, columns)[0]


def test_the_first_player_wins_two_by_two_and_loses_one_by_one() -> None:
    """E. Berlekamp, J. Conway, R. Guy, Winning Ways, chapter 16. On a single box, the second player draws the fourth side."""
    assert best_leads(2, 2)[0] > 0
    assert best_leads(1, 1)[0] == -1


@pytest.mark.parametrize(("size", "lead"), [(2, 2), pytest.param(3, -3, marks=pytest.mark.proof)])
def test_the_best_move_leads_to_the_value_of_retrograde_analysis(size: int, lead: int) -> None:
    """The first player loses 3x3 by 3 to 6. The test makes one move by the rules in each state."""
    game, known, rng = DotsAndBoxes(rows=size, columns=size), best_leads(size, size), random.Random(1)
    assert known[0] == lead
    for lines in range(1 << game.lines) if size == 2 else [rng.randrange(1 << game.lines) for _ in range(20_000)]:
        found = []
        for line in game.actions((lines, 0, 0, 0)):
            after, first, _, seat = game.result((lines, 0, 0, 0), line)
            found.append(int(first.bit_count() + (known[after] if seat == 0 else -known[after])))
        assert max(found, default=0) == known[lines]


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (1, 4), (4, 3)])
def test_random_matches_agree_with_open_spiel(rows: int, columns: int, pyspiel: Any) -> None:
    spiel = pyspiel.load_game(f"dots_and_boxes(num_rows={rows},num_cols={columns})")
    for seed in range(10):
        play_beside(DotsAndBoxes(rows=rows, columns=columns), spiel, lambda _, line: [line], seed)


@pytest.mark.parametrize(
    ("text", "takeable", "long"),
    [
        ("---/..../--- ... a", 0, [3]),  # a corridor, open at both ends
        ("---/|.../--- ... a", 3, []),  # its first box can be taken, and the others follow
        ("--./..../--- ... a", 0, []),  # two boxes do not make a long chain
        ("---/|..|/--- ... a", 3, []),
    ],
)
def test_chains_agree_with_counts_by_hand(text: str, takeable: int, long: list[int]) -> None:
    game = DotsAndBoxes(rows=1, columns=3)
    assert Chains(game).find_chains(game.parse_state(text)[0]) == (takeable, long)


def test_the_side_in_control_gets_the_long_chain() -> None:
    """The board has one long chain. Every line that a can draw opens the chain, so b takes all three boxes."""
    game = DotsAndBoxes(rows=1, columns=3)
    state = game.parse_state("---/..../--- ... a")
    assert best_lead(game, state) == -3
    assert Chains(game)(state) == pytest.approx(-0.9)
    assert Chains(game)(state, 1) == pytest.approx(0.9)


def test_completing_a_box_gives_another_turn() -> None:
    game = DotsAndBoxes(rows=1, columns=2)
    state = game.parse_state("--/|.|/-- .. b")
    after = game.result(state, game.parse_action(state, "v12"))
    assert game.format_state(after) == "--/|||/-- bb b"
    assert (game.is_terminal(after), list(game.returns(after))) == (True, [-1, 1])
    assert game.render(after) == "+-+-+\n|b|b|\n+-+-+\nb to move"
    assert [game.format_action(start(game), line) for line in game.actions(start(game))] == [
        "h11",
        "h12",
        "h21",
        "h22",
        "v11",
        "v12",
        "v13",
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "lines, owners"),
        ("--/|||/-- ab c", "a or b"),
        ("--/||/-- .. a", "rows such as"),
        ("--/|||/-- ac a", "rows such as"),
        ("|-/.../.. .. a", "- for horizontal"),
        ("--/|||/-- a. a", "an owner for each box"),
        ("--/.../-- a. a", "an owner for each box"),
    ],
)
def test_invalid_position_text_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        DotsAndBoxes(rows=1, columns=2).parse_state(text)


@pytest.mark.parametrize("settings", [{"rows": 2, "columns": 2}, {"rows": 1, "columns": 1}])
def test_the_conformance_checks_pass(settings: dict[str, int], registry: Registry) -> None:
    game = registry.game("dots-and-boxes")(**settings)
    check_game(game, matches=2)
    check_heuristic("chains", game, matches=2)
