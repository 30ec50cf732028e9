"""Goofspiel, or the game of pure strategy: seats bid cards in secret for prizes that are also cards (S. M. Ross, 1971)."""

import random
import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Annotated

from pydantic import Field

from arena import CHANCE, Simultaneous, encoding, uniform
from arena.api.errors import abbreviate

Turn = tuple[int, tuple[int, int], str]
"""A prize, the bids of both seats (0 if hidden), and how they compare: `<`, `=` or `>`."""
State = tuple[tuple[Turn, ...], int]
"""The turns so far, and the current prize, which is 0 before it is drawn."""

TURN = re.compile(r"(\d+):(\d+|\?)([<=>])(\d+|\?)")


class Goofspiel(Simultaneous):
    """Prizes from 1 to `cards` are drawn at random. The higher of two secret bids wins the prize; if they are equal, it is
    discarded.

    Also called GOPS. Each seat bids each of its cards from 1 to `cards` once. The seat with the larger sum of prizes gets 1, the
    other -1. With `hidden`, a seat sees which bid wins a turn, but not the other's bid. Actions are cards. Text notation: the
    turns and the current prize, `7:2<5 3:4=4 9`, with ? for a hidden bid, or `-` at the start.
    """

    name = "goofspiel"
    rules_text = (
        "Each of two seats has the cards from 1 to `cards`. A third set of the same cards are the prizes. In each turn, one "
        "of the remaining prizes is drawn at random. Then both seats choose one of their remaining cards at the same time, "
        "as their bids. The higher bid wins the prize; if the bids are equal, no seat gets it. Bids are not used again. "
        "After the last prize, the seat with the larger sum of prizes wins; equal sums are a draw. If `hidden` is true, you "
        "see which bid was higher, but not the card of the other seat. A move is a card. A position is written as the turns "
        "so far, each as the prize, a colon and the bids of the first and of the second seat with <, = or > between them, "
        "followed by the current prize: `7:2<5 3:4=4 9`. A bid that you cannot see is written as ?. Before the first prize, "
        "the position is `-`."
    )
    board = "boards/goofspiel.js"

    def __init__(self, *, cards: Annotated[int, Field(ge=1, le=13)] = 13, hidden: bool = True) -> None:
        self.cards = cards
        self.hidden = hidden
        self._deck = range(1, cards + 1)

    def begin(self, rng: random.Random) -> State:
        """Return the state before the first prize."""
        return ((), 0)

    def movers(self, state: State) -> Sequence[int]:
        """Return both seats; CHANCE when a prize is to be drawn; no seat after the last prize."""
        turns, prize = state
        if prize:
            return (0, 1)
        return (CHANCE,) if len(turns) < self.cards else ()

    def legal(self, state: State, seat: int) -> Sequence[int]:
        """Return the remaining cards of a seat."""
        bids = {bids[seat] for _, bids, _ in state[0]}
        return [card for card in self._deck if card not in bids]

    def joint(self, state: State, actions: Sequence[int]) -> State:
        """Draw a prize, or award it."""
        turns, prize = state
        if not prize:
            return (turns, actions[0])
        first, second = actions
        return ((*turns, (prize, (first, second), _order(first, second))), 0)

    def chance_outcomes(self, state: State) -> Sequence[tuple[int, float]]:
        """Return the prizes that are left, all equally likely."""
        drawn = {prize for prize, _, _ in state[0]}
        return uniform(card for card in self._deck if card not in drawn)

    def standing(self, state: State) -> Sequence[float]:
        """Return 1 for the seat that leads and -1 for the other; 0 for both if the sums are equal."""
        lead = sum(prize * ("<=>".index(order) - 1) for prize, _, order in state[0])
        return (0.0, 0.0) if lead == 0 else (1.0, -1.0) if lead > 0 else (-1.0, 1.0)

    def payoffs(self, state: State) -> Sequence[float]:
        """Return 1 for the winner and -1 for the loser, or 0 for both."""
        return self.standing(state)

    def seen(self, state: State, seat: int) -> State:
        """Return the state without the other's bids."""
        if not self.hidden:
            return state
        turns, prize = state
        return (tuple([(won, (bids[0], 0) if seat == 0 else (0, bids[1]), order) for won, bids, order in turns]), prize)

    def resample(self, observation: State, seat: int, rng: random.Random) -> State:
        """Return a state in which the other seat's bids are drawn uniformly from all bids with the same results."""
        turns, prize = observation
        if not self.hidden:
            return observation
        possible = []  # the bids of the other seat that are consistent with the result of each turn
        for _, bids, order in turns:
            own = bids[seat]
            if order == "=":
                possible.append(range(own, own + 1))
            else:
                possible.append(range(1, own) if (order == ">") == (seat == 0) else range(own + 1, self.cards + 1))
        drawn = zip(turns, draw_bids(tuple(possible), rng), strict=True)
        found = [(won, (bids[0], bid) if seat == 0 else (bid, bids[1]), order) for (won, bids, order), bid in drawn]
        return (tuple(found), prize)

    def action_space(self) -> Sequence[int]:
        """Return all cards."""
        return self._deck

    def render(self, state: State) -> str:
        """Return the prizes, the bids below them, and the sum of each seat."""
        turns, prize = state
        rows: list[list[object]] = [["prize", *(won for won, _, _ in turns), *([prize] if prize else [])]]
        rows += [[f"seat {seat}", *(bids[seat] or "?" for _, bids, _ in turns)] for seat in (0, 1)]
        won = [sum(each for each, _, order in turns if order == sign) for sign in "><"]
        lines = ["".join([str(row[0]).ljust(8), *(str(cell).rjust(4) for cell in row[1:])]) for row in rows]
        return "\n".join([*lines, f"won       {won[0]} : {won[1]}"])

    def format_state(self, state: State) -> str:
        """Return the text notation, such as `7:2<5 3:4=4 9`."""
        turns, prize = state
        texts = [f"{won}:{bids[0] or '?'}{order}{bids[1] or '?'}" for won, bids, order in turns]
        return " ".join(texts + [str(prize)] * (prize > 0)) or "-"

    def parse_state(self, text: str) -> State:
        """Parse a text such as `7:2<5 3:4=4 9`. Raises ValueError for other cards, duplicates or a wrong order."""
        words = [] if text.strip() == "-" else text.split() or [""]
        prize = int(words.pop()) if words and words[-1].isdecimal() else 0
        found = [TURN.fullmatch(word) for word in words]
        if None in found:
            raise ValueError(f"expected turns such as 7:2<5 and a prize from 1 to {self.cards}, or -, got {abbreviate(text)}")
        parts = [match.groups() for match in found if match]
        bids = [(int(first.replace("?", "0")), int(second.replace("?", "0"))) for _, first, _, second in parts]
        turns = tuple([(int(won), pair, order) for (won, _, order, _), pair in zip(parts, bids, strict=True)])
        piles = {"prize": [won for won, _, _ in turns] + [prize] * (prize > 0)}
        piles |= {f"bid of seat {seat}": [pair[seat] for _, pair, _ in turns if pair[seat]] for seat in (0, 1)}
        for pile, cards in piles.items():
            if len(set(cards)) < len(cards) or not set(cards) <= set(self._deck):
                raise ValueError(f"expected each card from 1 to {self.cards} at most once as a {pile}, got {abbreviate(text)}")
        for _, (one, other), order in turns:
            if one and other and order != _order(one, other):
                raise ValueError(f"expected {one}{_order(one, other)}{other}, got {abbreviate(text)}")
        return (turns, prize)


def _order(first: int, second: int) -> str:
    return "<" if first < second else "=" if first == second else ">"


def draw_bids(possible: tuple[range, ...], rng: random.Random) -> list[int]:
    """Return distinct cards, one from each range, drawn uniformly from all choices. Raises ValueError if there is none."""
    ways, used, bids = _ways(possible), 0, []
    for turn, cards in enumerate(possible):
        free = [card for card in cards if not used >> card & 1]
        weights = [ways(turn + 1, used | 1 << card) for card in free]
        bids.append(rng.choices(free, weights)[0])
        used |= 1 << bids[-1]
    return bids


@lru_cache(maxsize=256)
def _ways(possible: tuple[range, ...]) -> Callable[[int, int], int]:
    """Return a cached function that counts the choices from a turn on, given the used cards. Sampling calls it very often."""

    @cache
    def count(turn: int, used: int) -> int:
        if turn == len(possible):
            return 1
        return sum(count(turn + 1, used | 1 << card) for card in possible[turn] if not used >> card & 1)

    return count


@encoding("features", game="goofspiel", shape=lambda game: (6, game.cards))
def goofspiel_features(game: Goofspiel, observation: object, seat: int) -> list[int]:
    """Return, for each card, whether it is the current prize, whether it was won, lost or discarded as a prize, and whether it is
    a known bid of the seat or of the other seat.
    """
    turns, prize = game.settled(observation)
    deck = game.action_space()
    won, lost = ("<", ">") if seat else (">", "<")
    ended = [{each for each, _, order in turns if order == wanted} for wanted in (won, lost, "=")]
    bids = [{bids[one] for _, bids, _ in turns} for one in (seat, 1 - seat)]
    return [int(card in cards) for cards in ({prize}, *ended, *bids) for card in deck]
