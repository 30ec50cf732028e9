"""Leduc hold'em: six cards, two rounds of bets (F. Southey and others, Bayes' bluff: opponent modelling in poker, 2005)."""

import random
from collections.abc import Sequence

from arena import CHANCE, Action, Game, encoding, uniform
from arena.api.errors import abbreviate

State = tuple[tuple[str, ...], str, str]
"""The dealt cards, first the seats' cards and then the public card, with ?? for an unknown one; and the first letters of the
actions in each round."""

DECK = ("J1", "J2", "Q1", "Q2", "K1", "K2")
RANKS = "JQK"
UNKNOWN = "??"
FIRST, RAISED, RAISED_TWICE = ("call", "raise"), ("fold", "call", "raise"), ("fold", "call")
CHOICES = {"": FIRST, "c": FIRST, "r": RAISED, "cr": RAISED, "rr": RAISED_TWICE, "crr": RAISED_TWICE}
"""The legal actions; the keys are the actions of the current round so far. There are at most two raises."""
CALLED = frozenset(["cc", "rc", "crc", "rrc", "crrc"])
"""The actions of a round that ends without a fold."""
ANTE = 1.0
RAISES = (2.0, 4.0)
"""The chips of a raise in each of the two rounds."""
MAX_ROUND_ACTIONS = 4
"""The maximum number of actions in a betting round."""


class LeducPoker(Game):
    """Each seat antes a chip and gets a card. After a betting round, a public card is dealt, and a second round follows.

    A pair with the public card wins, otherwise the higher rank; with equal ranks, the pot is shared. Text notation: the cards and
    the first letters of the actions of both rounds, `J1Q2K1:crc/r`. Cards that a seat may not see are written as `??`.
    """

    name = "leduc-poker"
    rules_text = (
        "A deck has the cards J1, J2, Q1, Q2, K1 and K2; K is the highest rank. Each of two seats pays one chip into the "
        "pot and gets one card, which only that seat sees. In a betting round, seat 1 acts first. A seat may `call`, which "
        "pays as much as the other seat has paid, or `raise` by 2 more chips; after a raise, it may also `fold` and lose. "
        "A round has at most two raises. After the first round, a card is put face up, and a second round with raises of "
        "4 chips follows. Then a seat whose card has the rank of the open card wins the pot; otherwise the higher rank "
        "wins, and equal ranks share it. The result is the number of chips that a seat wins or loses. A position is "
        "written as the cards of seat 1, of seat 2 and the open card, a colon, and the first letters of what both seats "
        "did, with / between the rounds: `J1Q2K1:crc/r`. A card that you cannot see is written as ??."
    )
    min_return = -13.0
    max_return = 13.0
    board = "boards/poker.js"

    def initial(self, rng: random.Random) -> State:
        """Return the state before the deal."""
        return ((), "", "")

    def to_move(self, state: State) -> int:
        """Return CHANCE when a card is to be dealt, otherwise the seats alternately; seat 0 begins both rounds."""
        cards, first, second = state
        if _is_deal(cards, first):
            return CHANCE
        return len(second if len(cards) == 3 else first) % 2

    def actions(self, state: State) -> Sequence[Action]:
        """Return the remaining cards, or the legal actions of the seat to move; none at the end."""
        cards, first, second = state
        if _is_deal(cards, first):
            return [card for card in DECK if card not in cards]
        return CHOICES.get(second if len(cards) == 3 else first, ())

    def chance_outcomes(self, state: State) -> Sequence[tuple[Action, float]]:
        """Return the cards that are left, all equally likely."""
        return uniform(self.actions(state))

    def result(self, state: State, action: Action) -> State:
        """Deal a card, or play the action of a seat."""
        cards, first, second = state
        if _is_deal(cards, first):
            return ((*cards, action), first, second)
        return (cards, first, second + action[0]) if len(cards) == 3 else (cards, first + action[0], second)

    def is_terminal(self, state: State) -> bool:
        """Return whether a seat has folded, or the second round is over."""
        _, first, second = state
        return second in CALLED or second[-1:] == "f" or first[-1:] == "f"

    def returns(self, state: State) -> Sequence[float]:
        """Return the chips that each seat has won or lost, which is the stake of the loser."""
        cards, first, second = state
        chips = put_in(first, second)
        if (second or first)[-1] == "f":
            winner = len(second or first) % 2
        else:
            hands = [(card[0] == cards[2][0], RANKS.index(card[0])) for card in cards[:2]]
            if hands[0] == hands[1]:
                return (0.0, 0.0)
            winner = 0 if hands[0] > hands[1] else 1
        won = chips[1 - winner]
        return (-won, won) if winner else (won, -won)

    def observation(self, state: State, seat: int) -> State:
        """Return the state without the other seat's card, which only a showdown reveals."""
        cards, first, second = state
        if second in CALLED:
            return state
        return (tuple([UNKNOWN if owner == 1 - seat else card for owner, card in enumerate(cards)]), first, second)

    def resample(self, observation: State, seat: int, rng: random.Random) -> State:
        """Return a state in which unknown cards are drawn from the cards that the seat does not see."""
        cards, first, second = observation
        left = rng.sample([card for card in DECK if card not in cards], cards.count(UNKNOWN))
        return (tuple([left.pop() if card == UNKNOWN else card for card in cards]), first, second)

    def action_space(self) -> Sequence[Action]:
        """Return `fold`, `call` and `raise`."""
        return RAISED

    def render(self, state: State) -> str:
        """Return the cards, the chips in the pot, and the actions in words."""
        cards, first, second = state
        names = [*cards, "-", "-", "-"]
        chips = put_in(first, second)
        lines = [f"{name}: {card}   {chip:g} in" for name, card, chip in zip("ab", names, chips, strict=False)]
        words = {"c": "calls", "r": "raises", "f": "folds"}
        done = [", ".join([f"{'ab'[turn % 2]} {words[letter]}" for turn, letter in enumerate(bets)]) for bets in (first, second)]
        return "\n".join([*lines, f"public: {names[2]}", *[line or "-" for line in done]])

    def format_state(self, state: State) -> str:
        """Return the text notation, such as `J1Q2K1:crc/r`."""
        cards, first, second = state
        return f"{''.join(cards)}:{first}/{second}"

    def parse_state(self, text: str) -> State:
        """Parse a text such as `J1Q2K1:crc/r`. Raises ValueError for unknown or repeated cards, or impossible actions."""
        dealt, colon, bets = text.strip().partition(":")
        first, slash, second = bets.partition("/")
        cards = tuple([dealt[start : start + 2] for start in range(0, len(dealt), 2)])
        known = [card for card in cards if card != UNKNOWN]
        if not colon or not slash or len(cards) > 3 or set(known) - set(DECK) or len(set(known)) < len(known):
            raise ValueError(f"expected up to three cards, a colon, and both rounds, as in J1Q2K1:crc/r, got {abbreviate(text)}")
        dealt_before = 0 if not first else 2 if not second else 3
        if not (_is_round(first) and _is_round(second)) or len(cards) < dealt_before or (len(cards) == 3 and first not in CALLED):
            raise ValueError(
                f"expected a first round after both cards, then a public card, then a second round, got {abbreviate(text)}"
            )
        return (cards, first, second)


def _is_deal(cards: tuple[str, ...], first: str) -> bool:
    """Return whether a card is dealt next: one for each seat, and the public card after a first round without a fold."""
    return len(cards) < 2 or (len(cards) == 2 and first in CALLED)


def put_in(first: str, second: str) -> tuple[float, float]:
    """Return the stakes of both seats, given the actions of both rounds."""
    chips = [ANTE, ANTE]
    for bets, size in zip((first, second), RAISES, strict=True):
        for turn, letter in enumerate(bets):
            if letter != "f":
                chips[turn % 2] = max(chips) + (size if letter == "r" else 0)
    return (chips[0], chips[1])


def _is_round(bets: str) -> bool:
    return bets in CHOICES or bets in CALLED or (bets[-1:] == "f" and "fold" in CHOICES.get(bets[:-1], ()))


@encoding("features", game="leduc-poker", shape=(3 * 3 + 2 * MAX_ROUND_ACTIONS * 3 + 1,))
def leduc_poker_features(game: LeducPoker, observation: State, seat: int) -> list[int]:
    """Return the ranks of the seat's own card, of the public card and of the other seat's card if it is shown; the actions of
    both rounds; and the seat.
    """
    cards, *rounds = observation
    ranks = [card[0] for card in (*cards, *["?"] * (3 - len(cards)))]
    hands = [int(rank == ranks[place]) for place in (seat, 2, 1 - seat) for rank in RANKS]
    done = [int(action == bets[turn : turn + 1]) for bets in rounds for turn in range(MAX_ROUND_ACTIONS) for action in "fcr"]
    return [*hands, *done, seat]
