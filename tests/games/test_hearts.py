"""Test Hearts against open_spiel, and resampled hands against an enumeration of all deals."""

import random
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest

from arena import CHANCE
from arena.traits import Traits
from arena_games.hearts import CARDS, Hearts, State, cards_in, tricks_of
from tests.games.game_tree import check_resample, check_state, play_beside, random_match

GAME = Hearts()


def load_hearts(pyspiel: Any) -> tuple[Any, Any]:
    """Return open_spiel's Hearts, and a wrapper whose first chance action chooses not to pass cards."""
    spiel = pyspiel.load_game("hearts(pass_cards=false)")

    class Unpassed:
        def new_initial_state(self) -> Any:
            state = spiel.new_initial_state()
            state.apply_action(0)
            return state

    return spiel, Unpassed()


def test_random_matches_agree_with_open_spiel(pyspiel: Any) -> None:
    """The test compares the seat, the legal cards and the returns at each decision."""
    _, unpassed = load_hearts(pyspiel)
    for seed in range(100):  # some have hands without clubs, for which the first trick has rules of its own
        play_beside(GAME, unpassed, lambda _, card: [card], seed)


def test_shooting_the_moon_is_scored_as_in_open_spiel(pyspiel: Any) -> None:
    """Seat 0 is dealt the highest cards and always plays its highest one."""
    _, unpassed = load_hearts(pyspiel)
    state, theirs = GAME.initial(random.Random()), unpassed.new_initial_state()
    while not GAME.is_terminal(state):
        cards = GAME.actions(state)
        assert list(cards) == theirs.legal_actions()
        strong = GAME.to_move(state) == 0 or (GAME.to_move(state) == CHANCE and sum(map(int.bit_count, state.hands)) % 4 == 0)
        card = max(cards) if strong else min(cards)
        state = GAME.result(state, card)
        theirs.apply_action(card)
    assert list(GAME.returns(state)) == theirs.returns() == [26, 0, 0, 0]


def test_every_state_satisfies_the_interface_of_games() -> None:
    rng = random.Random(3)
    for seed in range(3):
        for state, action in random_match(GAME, seed):
            check_state(GAME, state)
            if action is not None and GAME.to_move(state) != CHANCE:
                check_resample(GAME, state, rng)
                assert is_consistent(GAME.resample(GAME.observation(state, 2), 2, rng))
    assert set(Traits.of(GAME)) == {"multi-player", "chance", "hidden-information", "resample"}


def is_consistent(state: State) -> bool:
    """Return whether each seat held the cards that it played and played only legal ones, by a replay of the deal."""
    hands = list(state.hands)
    order = [((leader + place) % 4, card) for leader, trick in tricks_of(state) for place, card in enumerate(trick)]
    for owner, card in order:
        hands[owner] |= 1 << card
    again = State(tuple(hands), (), tricks_of(state)[0][0], (0,) * 4)
    for owner, card in order:
        if GAME.to_move(again) != owner or card not in GAME.actions(again):
            return False
        again = GAME.result(again, card)
    return again == state


def deal_all(cards: list[int], sizes: list[int]) -> Iterator[list[int]]:
    """Yield every deal of the cards to hands of these sizes."""
    if not sizes:
        yield []
        return
    for hand in combinations(cards, sizes[0]):
        for rest in deal_all([card for card in cards if card not in hand], sizes[1:]):
            yield [sum(1 << card for card in hand), *rest]


@pytest.mark.parametrize(("seed", "left"), [(1, 8), (2, 8), (3, 10)])
def test_resampled_hands_are_exactly_the_consistent_ones(seed: int, left: int) -> None:
    """Near the end of a match, all deals of the hidden cards are tried. A deal is consistent if each played card was legal."""
    state = next(state for state, _ in random_match(GAME, seed) if len(state.played) == 52 - left)
    seat, rng = GAME.to_move(state), random.Random(seed)
    seen = GAME.observation(state, seat)
    others = [owner for owner in range(4) if owner != seat]
    unseen = [card for owner in others for card in cards_in(state.hands[owner])]
    possible = set()
    for hands in deal_all(unseen, [state.hands[owner].bit_count() for owner in others]):
        held = dict(zip(others, hands, strict=True)) | {seat: state.hands[seat]}
        guess = state._replace(hands=tuple([held[owner] for owner in range(4)]))
        if is_consistent(guess):
            possible.add(guess)
    assert {GAME.resample(seen, seat, rng) for _ in range(30 * len(possible))} == possible
    assert state in possible


def test_a_seat_sees_its_hand_and_the_played_cards() -> None:
    state = next(state for state, _ in random_match(GAME, 5) if len(state.played) == 47)
    hidden = GAME.format_state(GAME.observation(state, 1)).partition(" / ")[0].split("|")
    assert [text.startswith("?") for text in hidden] == [True, False, True, True]
    assert hidden[1].split() == sorted((CARDS[card] for card in cards_in(state.hands[1])), key=lambda text: "CDHS".index(text[1]))
    assert GAME.render(GAME.observation(state, 1)).splitlines()[-1].startswith(f"seat {state.leader} led: ")
    assert GAME.returns(state._replace(points=(0, 20, 6, 0))) == [26, 6, 20, 26]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "four hands joined by |"),
        ("-|-|- / -", "four hands joined by |"),
        ("-|-|-|- / 7:", "four hands joined by |"),
        ("1C|-|-|- / -", "expected cards such as QS"),
        ("2C|2C|-|- / -", "each card once"),
        ("-|2C|-|- / -", "expected hands of 1, 0, 0, 0 cards"),
        ("?13|?13|?13|?13 / 0: 2C", "expected hands of 12, 13, 13, 13 cards"),
        ("?12|?13|?13|?13 / 0: 3C", "two of clubs"),
    ],
)
def test_invalid_state_text_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        GAME.parse_state(text)
