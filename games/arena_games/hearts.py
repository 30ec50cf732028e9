"""Hearts for four players, without passing cards."""

import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from arena import CHANCE, Game, encoding, uniform
from arena.api.errors import abbreviate

RANKS, SUIT_LETTERS = "23456789TJQKA", "CDHS"
CARDS = [rank + suit for rank in RANKS for suit in SUIT_LETTERS]
"""The cards, in the order of their numbers. The number of a card is four times its rank plus its suit."""
NUMBERS = {text: card for card, text in enumerate(CARDS)}
ALL = (1 << 52) - 1
SUITS = [sum(1 << card for card in range(suit, 52, 4)) for suit in range(4)]
"""The cards of each suit, as bits."""
HEARTS = SUITS[2]
POINTS = [13 if text == "QS" else int(text[1] == "H") for text in CARDS]
PENALTY = sum(1 << card for card, points in enumerate(POINTS) if points)
"""The cards with points, as bits."""
MOON = sum(POINTS)


class State(NamedTuple):
    """A state of a game of hearts, during the deal or during play."""

    hands: tuple[int, ...]
    """The cards of each seat as bits. A hidden hand is minus the number of its cards."""
    played: tuple[int, ...]
    """The cards in the order in which they were played."""
    leader: int
    """The seat that leads the trick; -1 during the deal."""
    points: tuple[int, ...]
    """The points that each seat has taken."""


class Hearts(Game):
    """A game of thirteen tricks. Every heart in a trick costs the seat that takes the trick a point, and the queen of spades
    costs thirteen.

    The seat with the two of clubs leads the first trick with it. Seats must follow suit. If they have a choice, they may not play
    points in the first trick, and may not lead hearts before a point has been taken. The return of a seat is 26 minus its points.
    But if one seat takes all points, its return is 26, and the others get 0. Chance deals the cards one by one. Actions are
    cards, such as `QS`. Text notation: the hands, the first leader and the played cards, `2C AS|?13|?13|?13 / 0: KC`, or `/ -`
    during the deal.
    """

    name = "hearts"
    rules_text = (
        "Four seats, numbered from 0 to 3, get thirteen cards each. A card is a rank (2 to 9, T, J, Q, K, A, from low to "
        "high) and a suit (C, D, H or S): QS is the queen of spades. You see only your own cards. In each of thirteen "
        "tricks, every seat plays one card, in the order of their numbers; after seat 3 comes seat 0. The seat with the two "
        "of clubs begins the first trick with this card. The others must play a card of the suit that was led if they have "
        "one. The highest card of this suit takes the trick, and its seat leads the next one. Each heart in a trick costs "
        "the seat that takes it one point, and the queen of spades costs thirteen. In the first trick, a seat that cannot "
        "follow suit may not play a heart or the queen of spades, unless it has no other cards. Hearts may not be led before "
        "a seat has taken a point, except from a hand with only hearts. The result of a seat is 26 minus its points. But if "
        "one seat takes all 26 points, its result is 26, and the result of the others is 0. A move is a card, such as `QS`. "
        "A position is written as the four hands, joined by |, with ?13 for thirteen hidden cards and - for an empty hand; "
        "then a slash, the seat that led the first trick, a colon and the cards that were played so far."
    )
    board = "boards/hearts.js"
    players = 4
    zero_sum = False
    min_return = 0.0
    max_return = float(MOON)

    def initial(self, rng: random.Random) -> State:
        """Return the state before the deal."""
        return State((0,) * 4, (), -1, (0,) * 4)

    def to_move(self, state: State) -> int:
        """Return the seat that plays the next card, or CHANCE during the deal."""
        return CHANCE if state.leader < 0 else (state.leader + len(state.played)) % 4

    def actions(self, state: State) -> Sequence[int]:
        """Return the legal cards, or the cards that can be dealt."""
        if state.leader < 0:
            return cards_in(ALL & ~sum(hand for hand in state.hands if hand > 0))
        hand, trick = state.hands[self.to_move(state)], state.played[len(state.played) // 4 * 4 :]
        if trick:
            fine = hand & SUITS[trick[0] % 4] or (hand & ~PENALTY if len(state.played) < 4 else hand)
        elif state.played:
            fine = hand if any(state.points) else hand & ~HEARTS
        else:
            fine = 1 << NUMBERS["2C"]
        return cards_in(fine or hand)

    def chance_outcomes(self, state: State) -> Sequence[tuple[int, float]]:
        """Return the undealt cards, all equally likely."""
        return uniform(self.actions(state))

    def result(self, state: State, action: int) -> State:
        """Deal a card to the next seat, or play one."""
        hands, played, leader, points = state
        if leader < 0:
            dealt = sum(map(_size, hands))
            hands = _add(hands, dealt % 4, 1 << action)
            holder = next((owner for owner, hand in enumerate(hands) if hand > 0 and hand >> NUMBERS["2C"] & 1), 0)
            return State(hands, played, holder if dealt == 51 else -1, points)
        seat = self.to_move(state)
        played = (*played, action)
        hands = _add(hands, seat, -1 << action if hands[seat] > 0 else 1)
        if len(played) % 4:
            return State(hands, played, leader, points)
        winner = (leader + _highest(played[-4:])) % 4
        return State(hands, played, winner, _add(points, winner, sum(POINTS[card] for card in played[-4:])))

    def is_terminal(self, state: State) -> bool:
        """Return whether all tricks are played."""
        return len(state.played) == 52

    def returns(self, state: State) -> Sequence[float]:
        """Return 26 minus the points; if one seat took all points, 26 for this seat and 0 for the others."""
        return [float(each if MOON in state.points else MOON - each) for each in state.points]

    def standing(self, state: State) -> Sequence[float]:
        """Return the same as `returns`, for the points so far."""
        return self.returns(state)

    def observation(self, state: State, seat: int) -> State:
        """Return the state with the hands of the others hidden."""
        return state._replace(hands=tuple([hand if owner == seat else -_size(hand) for owner, hand in enumerate(state.hands)]))

    def resample(self, observation: State, seat: int, rng: random.Random) -> State:
        """Return a state in which the hands of the others are consistent with their play.

        Cards that few seats can hold are dealt first, at random, and the deal is repeated until every card fits. So some deals
        are more likely than others.
        """
        hands = observation.hands
        seen = sum(1 << card for card in observation.played) | sum(hand for hand in hands if hand > 0)
        lacking = _lacking(tricks_of(observation))
        stock = 4  # index 4 holds the undealt cards
        holders = {
            card: [owner for owner in range(4) if hands[owner] < 0 and not lacking[owner] >> card & 1] + [stock]
            for card in cards_in(ALL & ~seen)
        }
        room = [max(0, -hand) for hand in hands]
        room.append(len(holders) - sum(room))
        while (dealt := _deal(holders, room, rng)) is None:
            pass
        return observation._replace(hands=tuple([hand if hand > 0 else dealt[owner] for owner, hand in enumerate(hands)]))

    def action_space(self) -> Sequence[int]:
        """Return all cards."""
        return range(52)

    def render(self, state: State) -> str:
        """Return a line per hand with the points, then the trick."""
        lines = [
            f"seat {seat}: {points:2} points   {_hand_text(hand)}"
            for seat, (hand, points) in enumerate(zip(state.hands, state.points, strict=True))
        ]
        leader, trick = tricks_of(state)[-1]
        return "\n".join([*lines, "the deal" if leader < 0 else f"seat {leader} led: {_texts(trick) or '-'}"])

    def format_action(self, state: State, action: int) -> str:
        """Return the card, such as `QS`."""
        return CARDS[action]

    def format_state(self, state: State) -> str:
        """Return the text notation, such as `2C AS|?13|?13|?13 / 0: KC`."""
        leader, _ = tricks_of(state)[0]
        played = "-" if leader < 0 else f"{leader}: {_texts(state.played)}".strip()
        return f"{'|'.join(map(_hand_text, state.hands))} / {played}"

    def parse_state(self, text: str) -> State:
        """Parse a text such as `2C AS|?13|?13|?13 / 0: KC`. Raises ValueError if the deal or the play is impossible."""
        hands_text, slash, played_text = text.partition("/")
        hands = tuple(map(_parse_hand, hands_text.split("|")))
        leader_text, colon, cards_text = played_text.strip().partition(":")
        deal = leader_text == "-" and not colon
        if not slash or len(hands) != 4 or not (deal or (colon and leader_text in ("0", "1", "2", "3"))):
            raise ValueError(
                f"expected four hands joined by |, then / - or / SEAT: and the cards that were played, got {abbreviate(text)}"
            )
        played = tuple(map(_parse_card, cards_text.split()))
        known = [*played, *(card for hand in hands for card in cards_in(max(hand, 0)))]
        if len(set(known)) < len(known):
            raise ValueError(f"expected each card once, got {abbreviate(text)}")
        leader, points = (-1, (0,) * 4) if deal else _score(int(leader_text), played)
        state = State(hands, played, leader, points)
        if tuple(map(_size, hands)) != _sizes(state):
            raise ValueError(f"expected hands of {', '.join(map(str, _sizes(state)))} cards, got {abbreviate(text)}")
        if played and CARDS[played[0]] != "2C":
            raise ValueError(f"expected the two of clubs to be played first, got {abbreviate(text)}")
        return state


def cards_in(bits: int) -> list[int]:
    """Return the cards of a set of bits, the lowest first."""
    found = []
    while bits:
        found.append((bits & -bits).bit_length() - 1)
        bits &= bits - 1
    return found


def tricks_of(state: State) -> list[tuple[int, tuple[int, ...]]]:
    """Return the leader and the cards of each trick, including the current one, even if it is empty."""
    leader, found = state.leader, []
    for start in range(len(state.played) // 4 * 4, -1, -4):  # back from the current leader
        trick = state.played[start : start + 4]
        leader = (leader - _highest(trick)) % 4 if len(trick) == 4 else leader
        found.append((leader, trick))
    return found[::-1]


def _lacking(tricks: Iterable[tuple[int, tuple[int, ...]]]) -> list[int]:
    """Return the cards that each seat cannot hold, because it would have had to play one of them."""
    lacking, broken, first = [0] * 4, False, True
    for leader, trick in tricks:
        for place, card in enumerate(trick):
            suit = SUITS[trick[0] % 4]
            if place == 0:
                forced = ALL & ~HEARTS if HEARTS >> card & 1 and not broken else 0
            else:
                forced = 0 if suit >> card & 1 else suit | (ALL & ~PENALTY if first and PENALTY >> card & 1 else 0)
            lacking[(leader + place) % 4] |= forced
        broken, first = broken or any(PENALTY >> card & 1 for card in trick), False
    return lacking


def _deal(holders: dict[int, list[int]], room: Sequence[int], rng: random.Random) -> list[int] | None:
    """Return hands with the given numbers of cards, and give each card to a seat that can hold it; None if this attempt fails."""
    left, hands = list(room), [0] * len(room)
    cards = list(holders)
    rng.shuffle(cards)
    for card in sorted(cards, key=lambda card: len(holders[card])):
        owners = holders[card]
        weights = [left[owner] for owner in owners]
        if not any(weights):
            return None
        owner = rng.choices(owners, weights)[0]
        left[owner] -= 1
        hands[owner] |= 1 << card
    return hands


def _score(leader: int, played: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    """Return the leader after the complete tricks, and the points, for a given first leader."""
    points: tuple[int, ...] = (0,) * 4
    for start in range(0, len(played) - 3, 4):
        trick = played[start : start + 4]
        leader = (leader + _highest(trick)) % 4
        points = _add(points, leader, sum(POINTS[card] for card in trick))
    return leader, points


def _sizes(state: State) -> tuple[int, ...]:
    """Return the number of cards that each seat must have."""
    if state.leader < 0:
        dealt = min(sum(map(_size, state.hands)), 51)
        return tuple([(dealt + 3 - seat) // 4 for seat in range(4)])
    tricks, cards = divmod(len(state.played), 4)
    return tuple([13 - tricks - ((seat - state.leader) % 4 < cards) for seat in range(4)])


def _highest(trick: Sequence[int]) -> int:
    """Return the index of the card that wins a trick."""
    return max(range(4), key=lambda place: (trick[place] % 4 == trick[0] % 4, trick[place]))


def _add(numbers: tuple[int, ...], place: int, more: int) -> tuple[int, ...]:
    return (*numbers[:place], numbers[place] + more, *numbers[place + 1 :])


def _size(hand: int) -> int:
    return hand.bit_count() if hand > 0 else -hand


def _texts(cards: Iterable[int]) -> str:
    return " ".join([CARDS[card] for card in cards])


def _hand_text(hand: int) -> str:
    if hand < 0:
        return f"?{-hand}"
    return _texts(sorted(cards_in(hand), key=lambda card: (card % 4, card))) or "-"


def _parse_hand(text: str) -> int:
    word = text.strip()
    if word.startswith("?") and word[1:].isdecimal():
        return -int(word[1:])
    return sum(1 << card for card in {_parse_card(each) for each in word.split() if each != "-"})


def _parse_card(text: str) -> int:
    if text not in NUMBERS:
        ranks, suits = ", ".join(RANKS), ", ".join(SUIT_LETTERS)
        raise ValueError(f"expected cards such as QS, with ranks {ranks} and suits {suits}, got {abbreviate(text)}")
    return NUMBERS[text]


@encoding("features", game="hearts", shape=(9 * 52 + 4,))
def hearts_features(game: Hearts, observation: State, seat: int) -> list[float]:
    """Return the seat's own hand, the cards of each seat in the current trick and before it, and the shares of the points.

    The seats are in the order of turns, beginning with `seat`.
    """
    hand = max(0, observation.hands[seat])
    trick, before = [0] * 4, [0] * 4
    *past, last = tricks_of(observation)
    for tricks, cards in ((past, before), ([last], trick)):
        for leader, played in tricks:
            for place, card in enumerate(played):
                cards[(leader + place - seat) % 4] |= 1 << card
    points = [observation.points[(seat + place) % 4] / MOON for place in range(4)]
    return [float(cards >> card & 1) for cards in (hand, *trick, *before) for card in range(52)] + points
