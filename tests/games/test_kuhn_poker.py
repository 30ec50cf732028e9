"""Test Kuhn poker against Kuhn's results, a table of payoffs, and open_spiel."""

import random
from collections import Counter
from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

from arena_games.kuhn_poker import KuhnPoker
from tests.games.game_tree import (
    best_response,
    check_resample,
    check_state,
    exploitability,
    play_beside,
    start,
    states_of,
    uniformly,
    value,
)

# H. W. Kuhn, A simplified two-person poker, 1950.
VALUE = -1 / 18
UNIFORM = 0.4583333333
# The probability of a bet by card and history in Kuhn's equilibria. The jack bluffs with probability alpha.
FAMILY: dict[str, Callable[[float], float]] = {
    "J:": lambda alpha: alpha, "Q:": lambda alpha: 0.0, "K:": lambda alpha: 3 * alpha,
    "J:pb": lambda alpha: 0.0, "Q:pb": lambda alpha: alpha + 1 / 3, "K:pb": lambda alpha: 1.0,
    "J:p": lambda alpha: 1 / 3, "Q:p": lambda alpha: 0.0, "K:p": lambda alpha: 1.0,
    "J:b": lambda alpha: 0.0, "Q:b": lambda alpha: 1 / 3, "K:b": lambda alpha: 1.0,
}  # fmt: skip


def equilibrium(alpha: float) -> Any:
    def policy(observation: tuple[str, str], actions: Any) -> dict[str, float]:
        cards, bets = observation
        bet = FAMILY[f"{cards.replace('?', '')}:{bets}"](alpha)
        return {"pass": 1 - bet, "bet": bet}

    return policy


@pytest.mark.parametrize("alpha", [0.0, 0.2, 1 / 3])
def test_kuhns_equilibria_have_the_known_value_and_no_exploitability(alpha: float) -> None:
    game = KuhnPoker()
    assert value(game, equilibrium(alpha), start(game)) == pytest.approx(VALUE, abs=1e-12)
    assert exploitability(game, equilibrium(alpha)) == pytest.approx(0, abs=1e-12)
    assert best_response(game, equilibrium(alpha), 1, [(1.0, start(game))]) == pytest.approx(-VALUE, abs=1e-12)


def test_the_exploitability_of_uniform_play_agrees_with_published_figures() -> None:
    assert exploitability(KuhnPoker(), uniformly) == pytest.approx(UNIFORM, abs=1e-9)


def test_payoffs_agree_with_a_table_of_all_hands() -> None:
    """The table has six deals and five betting sequences, each with the chips of seat 0."""
    game, expected = KuhnPoker(), Counter[tuple[str, float]]()
    for cards in map("".join, permutations("JQK", 2)):
        higher = 1 if "JQK".index(cards[0]) > "JQK".index(cards[1]) else -1
        for bets, chips in [("pp", higher), ("bp", 1), ("bb", 2 * higher), ("pbp", -1), ("pbb", 2 * higher)]:
            expected[f"{cards}:{bets}", chips] += 1
    ends = [state for state in states_of(game) if game.is_terminal(state)]
    assert Counter((game.format_state(state), game.returns(state)[0]) for state in ends) == expected
    assert all(sum(game.returns(state)) == 0 for state in ends)


def test_every_state_satisfies_the_interface_of_games() -> None:
    """Kuhn's tree has 1 state before the deal, 3 after the first card, and 9 for each of 6 deals."""
    game, rng = KuhnPoker(), random.Random(1)
    states = list(states_of(game))
    assert len(states) == 1 + 3 + 6 * 9
    for state in states:
        check_state(game, state)
        if game.to_move(state) >= 0:
            check_resample(game, state, rng)


def test_a_seat_sees_its_own_card_until_a_showdown() -> None:
    game = KuhnPoker()
    seen = [
        game.format_state(game.observation(game.parse_state(text), 0)) for text in ("J:", "JK:pb", "JK:pbp", "JK:pbb", "JK:pp")
    ]
    assert seen == ["J:", "J?:pb", "J?:pbp", "JK:pbb", "JK:pp"]
    assert game.format_state(game.observation(game.parse_state("J:"), 1)) == "?:"
    assert game.render(game.parse_state("J?:pb")) == "a: J   b: ?\na passes, b bets"


def test_unknown_cards_are_resampled_uniformly() -> None:
    """Two cards are possible. In 3,000 draws, each count is within four standard deviations of 1,500."""
    game, rng = KuhnPoker(), random.Random(5)
    drawn = Counter(game.resample(("?Q", "p"), 1, rng)[0] for _ in range(3000))
    assert set(drawn) == {"JQ", "KQ"}
    assert abs(drawn["JQ"] - 1500) < 4 * 27.4


def test_random_matches_agree_with_open_spiel(pyspiel: Any) -> None:
    game, spiel = KuhnPoker(), pyspiel.load_game("kuhn_poker")
    numbers = {"J": 0, "Q": 1, "K": 2, "pass": 0, "bet": 1}
    for seed in range(100):
        play_beside(game, spiel, lambda _, action: [numbers[action]], seed)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "up to two cards"),
        ("JQ", "a colon"),
        ("JQK:", "up to two cards"),
        ("JA:", "J, Q, K"),
        ("JJ:", "up to two cards"),
        ("J:p", "after both cards"),
        ("JQ:ppb", "the start of pp, bb"),
        ("JQ:x", "the start of pp, bb"),
    ],
)
def test_invalid_state_text_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        KuhnPoker().parse_state(text)
