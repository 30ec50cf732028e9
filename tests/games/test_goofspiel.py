"""Test Goofspiel against open_spiel, and resampled bids against an enumeration of all bids."""

import random
from collections import Counter
from itertools import permutations
from typing import Any

import pytest

from arena import CHANCE
from arena.traits import Traits
from arena_games.goofspiel import Goofspiel
from tests.games.game_tree import check_resample, check_state, exploitability, random_match, states_of, uniformly


@pytest.mark.parametrize(("cards", "matches"), [(13, 25), (5, 40), (4, 40)])
def test_random_matches_agree_with_open_spiel(pyspiel: Any, cards: int, matches: int) -> None:
    """open_spiel plays the last cards by itself, because each seat has only one left."""
    rules = f"goofspiel(num_cards={cards},imp_info=true,returns_type=win_loss,points_order=random)"
    game, spiel = Goofspiel(cards=cards), pyspiel.load_game(f"turn_based_simultaneous_game(game={rules})")
    ends = Counter[float]()
    for seed in range(matches):
        theirs = spiel.new_initial_state()
        for state, action in random_match(game, seed):
            if theirs.is_terminal():
                assert len(game.actions(state)) == (action is not None)
                continue
            assert game.to_move(state) == theirs.current_player()
            assert [card - 1 for card in game.actions(state)] == theirs.legal_actions()
            theirs.apply_action(action - 1)
        assert list(game.returns(state)) == theirs.returns()
        ends[game.returns(state)[0]] += 1
    assert {1.0, -1.0} <= set(ends)


def test_every_state_satisfies_the_interface_of_games() -> None:
    """Three cards have 3! orders of prizes and 3! orders of bids for each seat."""
    game, rng = Goofspiel(cards=3), random.Random(4)
    states = list(states_of(game))
    assert len([state for state in states if game.is_terminal(state)]) == 6**3
    for state in states:
        check_state(game, state)
        if not game.is_terminal(state) and game.to_move(state) != CHANCE:
            check_resample(game, state, rng)
            assert "null" not in game.format_state(game.resample(game.observation(state, 1), 1, rng))
    assert set(Traits.of(game)) == {"two-player", "zero-sum", "chance", "hidden-information", "resample", "simultaneous"}


def test_a_seat_sees_its_own_bids_and_the_winners() -> None:
    game = Goofspiel()
    state = game.parse_state("7:2<5 3:4=4 9:12>1 10")
    seen = [game.format_state(game.observation(state, seat)) for seat in (0, 1)]
    assert seen == ["7:2<? 3:4=? 9:12>? 10", "7:?<5 3:?=4 9:?>1 10"]
    assert game.observation(game.result(state, 6), 1) == game.observation(game.result(state, 8), 1)
    assert Goofspiel(hidden=False).observation(state, 1) == state
    assert game.render(game.observation(state, 1)).splitlines() == [
        "prize      7   3   9  10",
        "seat 0     ?   ?   ?",
        "seat 1     5   4   1",
        "won       9 : 7",
    ]


def test_bids_of_the_opponent_are_resampled_uniformly() -> None:
    """All possible bids of seat 1 are enumerated. Pearson's test (99.9 %) checks that they are drawn uniformly."""
    game, rng = Goofspiel(cards=6), random.Random(8)
    turns = game.observation(game.parse_state("1:2<6 5:5>1 3:4=4 6:3<5"), 0)
    fitting = [
        bids
        for bids in permutations(range(1, 7), 4)
        if bids[0] > 2 and bids[1] < 5 and bids[2] == 4 and bids[3] > 3 and 4 in bids
    ]
    counts = Counter(tuple(bids[1] for _, bids, _ in game.resample(turns, 0, rng)[0]) for _ in range(40 * len(fitting)))
    assert set(counts) == set(fitting)
    assert len(fitting) == 10  # 3, then 1 or 2, then 5 or 6; 5 or 6, then 1 to 3, then the other of both
    assert sum((count - 40) ** 2 / 40 for count in counts.values()) < 27.9  # 9 degrees of freedom


def test_uniform_play_is_exploitable_with_two_cards_but_not_with_one() -> None:
    """With two cards, bidding the 2 for the prize of 2 wins half of all matches against uniform play and draws the others."""
    assert exploitability(Goofspiel(cards=1), uniformly) == 0
    assert exploitability(Goofspiel(cards=2), uniformly) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "expected turns such as 7:2<5"),
        ("7:2", "expected turns such as 7:2<5"),
        ("7 7:2<5", "expected turns such as 7:2<5"),
        ("14", "at most once as a prize"),
        ("3:1<2 3", "at most once as a prize"),
        ("3:1<2 4:1<3", "at most once as a bid of seat 0"),
        ("3:1<20", "at most once as a bid of seat 1"),
        ("3:1>2", "expected 1<2"),
    ],
)
def test_invalid_state_text_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Goofspiel().parse_state(text)
