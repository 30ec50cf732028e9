"""Kuhn poker: three cards, one bet (H. W. Kuhn, A simplified two-person poker, 1950)."""

import random
from collections.abc import Sequence

from arena import CHANCE, Action, Game, uniform

State = tuple[str, str]
"""The dealt cards, seat 0 first, with ? for an unknown one; and the first letters of the actions."""

DECK = "JQK"
DEALS = {dealt: uniform(card for card in DECK if card != dealt) for dealt in ("", "?", *DECK)}
"""The outcomes of chance by the previous card."""
CHOICES = ("pass", "bet")
SHOWDOWN = {"pp": 1.0, "bb": 2.0, "pbb": 2.0}
"""The action sequences that end in a showdown, and the chips that the higher card wins."""
FOLDED = {"bp": (1.0, -1.0), "pbp": (-1.0, 1.0)}
"""The action sequences that end with a pass on a bet, and the returns of both seats."""


class KuhnPoker(Game):
    """Each seat antes a chip and gets one of three cards; a bet is a chip, and who passes on it has lost.

    Text notation: the cards and the first letters of the actions, `JK:pb`, cards that a seat may not see are `?`.
    """

    name = "kuhn-poker"
    min_return = -2.0
    max_return = 2.0
    board = "boards/poker.js"

    def initial(self, rng: random.Random) -> State:
        """Return the state before the deal."""
        return ("", "")

    def to_move(self, state: State) -> int:
        """Return CHANCE until both have a card, then the seats in turns."""
        return CHANCE if len(state[0]) < 2 else len(state[1]) % 2

    def actions(self, state: State) -> Sequence[Action]:
        """Return the remaining cards, then `pass` and `bet`; nothing at the end."""
        cards, bets = state
        if len(cards) < 2:
            return [card for card, _ in DEALS[cards]]
        return () if bets in SHOWDOWN or bets in FOLDED else CHOICES

    def chance_outcomes(self, state: State) -> Sequence[tuple[Action, float]]:
        """Return the cards that are left, all equally likely."""
        return DEALS[state[0]]

    def result(self, state: State, action: Action) -> State:
        """Deal a card, or play the action of a seat."""
        cards, bets = state
        return (cards + action, bets) if len(cards) < 2 else (cards, bets + action[0])

    def is_terminal(self, state: State) -> bool:
        """Return whether both have passed or a bet has been answered."""
        return state[1] in SHOWDOWN or state[1] in FOLDED

    def returns(self, state: State) -> Sequence[float]:
        """Return the chips that each seat has won or lost."""
        cards, bets = state
        if bets in FOLDED:
            return FOLDED[bets]
        won = SHOWDOWN[bets]
        return (won, -won) if DECK.index(cards[0]) > DECK.index(cards[1]) else (-won, won)

    def observation(self, state: State, seat: int) -> State:
        """Return the state without the other seat's card, which only a showdown reveals."""
        cards, bets = state
        if bets in SHOWDOWN:
            return state
        return ("".join([card if owner == seat else "?" for owner, card in enumerate(cards)]), bets)

    def resample(self, observation: State, seat: int, rng: random.Random) -> State:
        """Return a state with unknown cards drawn from the ones that the seat does not hold."""
        cards, bets = observation
        while "?" in cards:
            cards = cards.replace("?", rng.choice([card for card in DECK if card not in cards]), 1)
        return (cards, bets)

    def action_space(self) -> Sequence[Action]:
        """Return `pass` and `bet`."""
        return CHOICES

    def render(self, state: State) -> str:
        """Return the cards, and the actions in words."""
        cards, bets = state
        done = [f"{'ab'[turn % 2]} {'bets' if letter == 'b' else 'passes'}" for turn, letter in enumerate(bets)]
        return f"a: {cards[:1] or '-'}   b: {cards[1:] or '-'}\n{', '.join(done) or 'nothing done yet'}"

    def format_state(self, state: State) -> str:
        """Return `JK:pb`."""
        return ":".join(state)

    def parse_state(self, text: str) -> State:
        """Return the state of `JK:pb`; ValueError for unknown cards, a card dealt twice and impossible actions."""
        cards, colon, bets = text.strip().partition(":")
        known = cards.replace("?", "")
        if not colon or len(cards) > 2 or set(known) - set(DECK) or len(set(known)) < len(known):
            raise ValueError(f"expected up to two cards of J, Q, K and ?, a colon and what was done, as in JK:pb, got {text!r}")
        ends = [*SHOWDOWN, *FOLDED]
        if not any(end.startswith(bets) for end in ends) or (bets and len(cards) < 2):
            raise ValueError(f"expected a beginning of {', '.join(ends)} once both have cards, got {text!r}")
        return (cards, bets)
