"""Test Leduc hold'em against published figures, a count of chips bet by bet, and open_spiel."""

import random
from itertools import permutations
from typing import Any

import pytest

from arena_games.leduc_poker import LeducPoker
from tests.games.game_tree import check_resample, check_state, exploitability, play_beside, states_of, uniformly

# The exploitability of uniform play (NashConv / 2), computed by open_spiel.
UNIFORM = 2.373611
# A round has nine betting sequences. Five of them end in calls, and the second round follows.
WAYS = ["cc", "crf", "crc", "crrf", "crrc", "rf", "rc", "rrf", "rrc"]


def count_chips(cards: tuple[str, ...], first: str, second: str) -> float:
    """Return the chips that seat 0 wins, counted bet by bet."""
    chips, folded = [1, 1], None
    for bets, size in ((first, 2), (second, 4)):
        for turn, letter in enumerate(bets):
            seat, to_call = turn % 2, max(chips) - chips[turn % 2]
            if letter == "f":
                folded = seat
            else:
                chips[seat] += to_call + (size if letter == "r" else 0)
    if folded is not None:
        return chips[1] if folded == 1 else -chips[0]
    ranks = {"J": 1, "Q": 2, "K": 3}
    own, other = [ranks[card[0]] + 10 * (card[0] == cards[2][0]) for card in cards[:2]]
    return 0 if own == other else chips[1] if own > other else -chips[0]


def test_payoffs_agree_with_a_count_of_the_chips() -> None:
    """All betting sequences of both rounds are played for every possible deal."""
    game, seen, most = LeducPoker(), 0, 0.0
    deals = list(permutations(["J1", "J2", "Q1", "Q2", "K1", "K2"], 3))
    for cards in deals:
        for first in WAYS:
            for second in WAYS if first[-1] == "c" else [""]:
                state = (cards if second else cards[:2], first, second)
                assert game.is_terminal(state)
                assert list(game.returns(state)) == [count_chips(*state), -count_chips(*state)]
                seen, most = seen + 1, max(most, game.returns(state)[0])
    assert seen == 120 * (4 + 5 * 9)
    assert most == game.max_return == 13


def test_every_state_satisfies_the_interface_of_games() -> None:
    """A round has 6 open states, 5 that end in calls and 4 that end in folds. There are 30 deals, and 4 public cards for each."""
    game, rng = LeducPoker(), random.Random(2)
    states = list(states_of(game))
    assert len(states) == 1 + 6 + 30 * 15 + 30 * 5 * 4 * 15
    assert {game.is_terminal(state) for state in states} == {True, False}
    for state in states[::3]:
        check_state(game, state)
        if not game.is_terminal(state):
            check_resample(game, state, rng)


def test_the_exploitability_of_uniform_play_agrees_with_published_figures() -> None:
    assert exploitability(LeducPoker(), uniformly) == pytest.approx(UNIFORM, abs=1e-6)


def test_a_seat_sees_its_own_card_and_the_public_one_until_a_showdown() -> None:
    game = LeducPoker()
    texts = ["J1K2:rc/", "J1K2Q1:rc/c", "J1K2Q1:rc/rf", "J1K2Q1:rc/cc"]
    seen = [game.format_state(game.observation(game.parse_state(text), 1)) for text in texts]
    assert seen == ["??K2:rc/", "??K2Q1:rc/c", "??K2Q1:rc/rf", "J1K2Q1:rc/cc"]
    assert game.render(game.parse_state("J1??Q2:rc/c")) == "a: J1   3 in\nb: ??   3 in\npublic: Q2\na raises, b calls\na calls"


def test_random_matches_agree_with_open_spiel(pyspiel: Any) -> None:
    game, spiel = LeducPoker(), pyspiel.load_game("leduc_poker")
    numbers = {"J1": 0, "J2": 1, "Q1": 2, "Q2": 3, "K1": 4, "K2": 5, "fold": 0, "call": 1, "raise": 2}
    for seed in range(300):
        play_beside(game, spiel, lambda _, action: [numbers[action]], seed)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "up to three cards"),
        ("J1Q2:rc", "both rounds"),
        ("J1Q2K1K2:rc/", "up to three cards"),
        ("J1A2:/", "up to three cards"),
        ("J1J1:/", "up to three cards"),
        ("J1:c/", "after both cards"),
        ("J1Q2:rc/c", "then a public card"),
        ("J1Q2K1:r/", "then a public card"),
        ("J1Q2:rrr/", "a first round"),
        ("J1Q2:cf/", "a first round"),
    ],
)
def test_invalid_state_text_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        LeducPoker().parse_state(text)
