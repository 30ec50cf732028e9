"""Test liar's dice against published figures, a count of faces, and open_spiel."""

import random
from collections import Counter
from itertools import product
from typing import Any

import pytest

from arena_games.liars_dice import LiarsDice
from tests.games.game_tree import (
    check_resample,
    check_state,
    exploitability,
    play_beside,
    random_match,
    start,
    states_of,
    uniformly,
)

# The exploitability (NashConv / 2) of uniform play with one die of four sides, computed by open_spiel.
UNIFORM = 0.655060


def test_the_exploitability_of_uniform_play_agrees_with_published_figures() -> None:
    assert exploitability(LiarsDice(sides=4), uniformly) == pytest.approx(UNIFORM, abs=1e-6)


def test_every_result_agrees_with_a_count_of_the_faces() -> None:
    """The bidder wins if at least as many dice show the face or the highest face, which is wild. The dice have three sides."""
    game, ends = LiarsDice(sides=3), 0
    for state in states_of(game):
        if game.is_terminal(state):
            dice, said = state
            wanted, face = map(int, said[-2].split("x"))
            shown = [int(die) for die in "".join(dice)]
            held = len([die for die in shown if die in (face, 3)]) >= wanted
            bidder = (len(said) - 2) % 2
            assert game.returns(state)[bidder] == (1 if held else -1)
            assert sum(game.returns(state)) == 0
            ends += 1
    assert ends == 9 * (2**6 - 1)  # every nonempty set of bids, in ascending order


@pytest.mark.parametrize(("dice", "sides"), [(1, 6), (2, 3), (3, 4)])
def test_probabilities_of_rolls_agree_with_an_enumeration(dice: int, sides: int) -> None:
    game = LiarsDice(dice=dice, sides=sides)
    thrown = Counter("".join(sorted(roll)) for roll in product("123456789"[:sides], repeat=dice))
    expected = {roll: ways / sides**dice for roll, ways in thrown.items()}
    assert dict(game.chance_outcomes(start(game))) == pytest.approx(expected)


@pytest.mark.parametrize("parameters", [{}, {"dice": 2}, {"dice": 3, "sides": 4}, {"sides": 2}])
def test_random_matches_satisfy_the_interface_of_games_and_agree_with_open_spiel(
    parameters: dict[str, int], pyspiel: Any
) -> None:
    game, rng = LiarsDice(**parameters), random.Random(3)
    spiel = pyspiel.load_game("liars_dice", {"numdice": game.dice, "dice_sides": game.sides})
    space = list(game.action_space())

    def mark(theirs: Any, action: str) -> list[int]:
        return [space.index(action)] if action in space else [int(face) - 1 for face in action]

    for seed in range(40):
        play_beside(game, spiel, mark, seed)
        for state, _ in random_match(game, seed):
            check_state(game, state)
            if game.to_move(state) >= 0:
                check_resample(game, state, rng)


def test_a_seat_sees_its_own_dice_until_a_call_of_liar() -> None:
    game = LiarsDice(dice=3)
    texts = ["136:", "136 225:", "136 225: 1x2 2x5", "136 225: 1x2 liar"]
    seen = [[game.format_state(game.observation(game.parse_state(text), seat)) for text in texts] for seat in (0, 1)]
    assert seen[0] == ["136:", "136 ???:", "136 ???: 1x2 2x5", "136 225: 1x2 liar"]
    assert seen[1] == ["???:", "??? 225:", "??? 225: 1x2 2x5", "136 225: 1x2 liar"]
    assert game.render(game.parse_state("136 ???: 1x2 2x5")) == "a: 1 3 6\nb: ? ? ?\na 1x2, b 2x5"


def test_unknown_dice_are_resampled_with_their_probabilities() -> None:
    """Rolls of two dice of three sides have probability 1/9 or 2/9. 4,500 samples are within four standard deviations."""
    game, rng = LiarsDice(dice=2, sides=3), random.Random(4)
    drawn = Counter(game.resample((("12", "??"), ("1x1",)), 0, rng)[0][1] for _ in range(4500))
    for roll, probability in game.chance_outcomes(start(game)):
        assert abs(drawn[roll] - 4500 * probability) < 4 * (4500 * probability * (1 - probability)) ** 0.5


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "expected 2 dice of 6 sides"),
        ("12 34", "a colon"),
        ("12 34 56:", "for each seat"),
        ("21 34:", "ascending"),
        ("17 34:", "6 sides"),
        ("12: 1x1", "for each seat"),
        ("12 34: liar", "a bid such as 1x2 after the throw, got 'liar'"),
        ("12 34: 2x3 2x2", "liar or a bid above 2x3 after 2x3, got '2x2'"),
        ("12 34: 5x1", "got '5x1'"),
        ("12 34: 2x3 liar 2x4", "nothing after liar"),
    ],
)
def test_invalid_state_text_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        LiarsDice(dice=2).parse_state(text)
