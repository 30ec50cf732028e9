"""Kuhn poker, with three cards and one bet (H. W. Kuhn, A simplified two-person poker, 1950)."""

import random
from collections.abc import Sequence

from arena import CHANCE, Action, Disguise, Game, encoding, uniform
from arena.api.errors import abbreviate
from arena_games.disguises import COLOURS, draw_names, make_disguise

State = tuple[str, str]
"""The dealt cards, seat 0 first, with ? for an unknown card; and the first letters of the actions."""

DECK = "JQK"
DEALS = {dealt: uniform(card for card in DECK if card != dealt) for dealt in ("", "?", *DECK)}
"""The outcomes of the deal. The key is the card that was dealt before."""
CHOICES = ("pass", "bet")
SHOWDOWN = {"pp": 1.0, "bb": 2.0, "pbb": 2.0}
"""The action sequences that end in a showdown, and the chips that the higher card wins."""
FOLDED = {"bp": (1.0, -1.0), "pbp": (-1.0, 1.0)}
"""The action sequences that end because a seat passes after a bet, with the returns of both seats."""


class KuhnPoker(Game):
    """Each seat antes a chip and gets one of three cards. A bet is one chip; a seat that passes after a bet loses.

    Text notation: the cards and the first letters of the actions, `JK:pb`. Cards that a seat may not see are written as `?`.
    """

    name = "kuhn-poker"
    rules_text = (
        "A deck has three cards: J, Q and K; K is the highest. Each of two seats pays one chip into the pot and gets one card, "
        "which only that seat sees. Seat 1 acts first. A seat may `pass`, or `bet` one more chip. After a bet the other seat "
        "either passes and loses the pot, or bets one chip as well. After two passes, or two bets, the higher card wins the "
        "pot. The result is the number of chips that a seat wins or loses. A position is written as the cards of both seats, "
        "with ? for a card that you cannot see, then a colon and the first letters of the actions so far: `J?:pb`."
    )
    min_return = -2.0
    max_return = 2.0
    board = "boards/poker.js"

    def initial(self, rng: random.Random) -> State:
        """Return the state before the deal."""
        return ("", "")

    def to_move(self, state: State) -> int:
        """Return CHANCE until both seats have a card, then the seats alternately."""
        return CHANCE if len(state[0]) < 2 else len(state[1]) % 2

    def actions(self, state: State) -> Sequence[Action]:
        """Return the remaining cards, then `pass` and `bet`; none at the end."""
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
        """Return a state in which unknown cards are drawn from the cards that the seat does not hold."""
        cards, bets = observation
        while "?" in cards:
            cards = cards.replace("?", rng.choice([card for card in DECK if card not in cards]), 1)
        return (cards, bets)

    def disguise(self, rng: random.Random) -> Disguise:
        """Return a story about gems in two boxes."""
        low, middle, high = rng.sample(COLOURS, 3)
        one, two, done = draw_names(rng, 3)
        rules = (
            f"There are three gems: {low}, {middle} and {high}. The {high} gem is worth more than the {middle} gem, which is "
            f"worth more than the {low} gem. Each of two players puts one coin on the table and gets one gem at random, which "
            f"only that player sees: the gem of player 1 lies in the box {one}, the gem of player 2 in the box {two}. The third "
            "gem is put away. Player 1 acts first. A player may `wait`, or `add` one more coin. After `add`, the other player "
            "either waits and loses the coins on the table, or adds one coin as well. After two `wait` in a row at the start, "
            "or two `add`, the player with the gem that is worth more takes the coins. The result is the number of coins that a "
            "player gains or loses. A move is `wait` or `add`. A position lists the gem in each box, hidden if you cannot see "
            f"it, and under {done} the moves so far."
        )
        symbols = {"J": low, "Q": middle, "K": high, "?": "hidden", "pass": "wait", "bet": "add"}

        def signs(state: State) -> dict[str, Sequence[str]]:
            cards, bets = state
            return {"1": cards[:1], "2": cards[1:], "": [CHOICES["pb".index(letter)] for letter in bets]}

        return make_disguise(symbols, {"1": one, "2": two, "": done}, rules, signs)

    def action_space(self) -> Sequence[Action]:
        """Return `pass` and `bet`."""
        return CHOICES

    def render(self, state: State) -> str:
        """Return the cards, and the actions in words."""
        cards, bets = state
        done = [f"{'ab'[turn % 2]} {'bets' if letter == 'b' else 'passes'}" for turn, letter in enumerate(bets)]
        return f"a: {cards[:1] or '-'}   b: {cards[1:] or '-'}\n{', '.join(done) or 'nothing done yet'}"

    def format_state(self, state: State) -> str:
        """Return the text notation, such as `JK:pb`."""
        return ":".join(state)

    def parse_state(self, text: str) -> State:
        """Parse a text such as `JK:pb`. Raises ValueError for unknown cards, a card dealt twice, or impossible actions."""
        cards, colon, bets = text.strip().partition(":")
        known = cards.replace("?", "")
        if not colon or len(cards) > 2 or set(known) - set(DECK) or len(set(known)) < len(known):
            raise ValueError(
                "expected up to two cards of J, Q, K and ?, a colon and first letters of actions, as in JK:pb, "
                f"got {abbreviate(text)}"
            )
        ends = [*SHOWDOWN, *FOLDED]
        if not any(end.startswith(bets) for end in ends) or (bets and len(cards) < 2):
            raise ValueError(f"expected the start of {', '.join(ends)} after both cards, got {abbreviate(text)}")
        return (cards, bets)


@encoding("features", game="kuhn-poker", shape=(2 * 3 + 3 * 2 + 1,))
def kuhn_poker_features(game: KuhnPoker, observation: State, seat: int) -> list[int]:
    """Return the seat's own card, the other's card if it is shown, whether each of three actions is pass or bet, and the seat."""
    cards, bets = observation
    hands = [int(card == cards[owner : owner + 1]) for owner in (seat, 1 - seat) for card in DECK]
    done = [int(action == bets[turn : turn + 1]) for turn in range(3) for action in "pb"]
    return [*hands, *done, seat]
