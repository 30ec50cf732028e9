"""Liar's dice for two: each seat sees only its own dice, and both bid on all dice until one calls the other a liar."""

import random
from collections.abc import Sequence
from itertools import combinations_with_replacement
from math import factorial, prod
from typing import Annotated

from pydantic import Field

from arena import CHANCE, Action, Game, encoding
from arena.api.errors import abbreviate

State = tuple[tuple[str, ...], tuple[str, ...]]
"""The dice of each seat after its throw, in ascending order, with ? for unknown ones; and all bids and calls."""

LIAR = "liar"


class LiarsDice(Game):
    """Seats alternately bid how many dice of both seats show a face. Each bid must be higher than the last, in number or, with
    the same number, in face. The bids end when a seat calls `liar`.

    Also called dudo, perudo or bluff. Each seat has `dice` dice with `sides` faces each. The bid holds if at least this number of
    dice show its face; the highest face counts as any face. The seat that is wrong loses. Text notation: the dice of both seats,
    a colon, and the bids and calls, `136 ???: 1x2 2x5 liar`.
    """

    name = "liars-dice"
    rules_text = (
        "Each of two seats rolls `dice` dice with faces from 1 to `sides`, and sees only its own. Seats take turns; seat "
        "1 begins. A bid such as `2x5` says that at least two dice of both seats together show a 5. Each bid must name "
        "more dice than the last bid, or the same number of dice and a higher face. Instead of a bid, a seat may say "
        "`liar`, which ends the game: then all dice are shown. The highest face counts as any face. If at least as many "
        "dice as bid show the face, the seat that said `liar` loses; otherwise the seat that made the bid loses. A "
        "position is written as the dice of both seats, with ? for those that you cannot see, a colon, and what was said "
        "so far: `136 ???: 1x2 2x5`."
    )
    board = "boards/liars_dice.js"

    def __init__(self, *, dice: Annotated[int, Field(ge=1, le=6)] = 1, sides: Annotated[int, Field(ge=2, le=9)] = 6) -> None:
        self.dice = dice
        self.sides = sides
        bids = [f"{count}x{face}" for count in range(1, 2 * dice + 1) for face in range(1, sides + 1)]
        self._higher = {"": tuple(bids), LIAR: ()} | {bid: (*bids[rank:], LIAR) for rank, bid in enumerate(bids, 1)}
        self._faces = "".join(map(str, range(1, sides + 1)))
        rolls = ["".join(roll) for roll in combinations_with_replacement(self._faces, dice)]
        orders = [factorial(dice) // prod([factorial(roll.count(face)) for face in self._faces]) for roll in rolls]
        self._rolls = [(roll, ways / sides**dice) for roll, ways in zip(rolls, orders, strict=True)]

    def initial(self, rng: random.Random) -> State:
        """Return the state before the first throw."""
        return ((), ())

    def to_move(self, state: State) -> int:
        """Return CHANCE until both seats have thrown, then the seats alternately."""
        return CHANCE if len(state[0]) < 2 else len(state[1]) % 2

    def actions(self, state: State) -> Sequence[Action]:
        """Return the rolls of a seat, or the bids that are higher than the last one, and `liar` if there is a bid."""
        dice, said = state
        if len(dice) < 2:
            return [roll for roll, _ in self._rolls]
        return self._higher[said[-1] if said else ""]

    def chance_outcomes(self, state: State) -> Sequence[tuple[str, float]]:
        """Return the rolls of a seat, each with its probability."""
        return self._rolls

    def result(self, state: State, action: Action) -> State:
        """Throw the dice of a seat, or make a bid or call."""
        dice, said = state
        return ((*dice, action), said) if len(dice) < 2 else (dice, (*said, action))

    def is_terminal(self, state: State) -> bool:
        """Return whether a seat has called `liar`."""
        return state[1][-1:] == (LIAR,)

    def returns(self, state: State) -> Sequence[float]:
        """Return 1 for the seat that was right and -1 for the other."""
        dice, said = state
        count, face = said[-2].split("x")
        shown = sum([roll.count(face) + (roll.count(self._faces[-1]) if face != self._faces[-1] else 0) for roll in dice])
        bidder = len(said) % 2
        return (1.0, -1.0) if (bidder == 0) == (shown >= int(count)) else (-1.0, 1.0)

    def observation(self, state: State, seat: int) -> State:
        """Return the state without the other seat's dice, which are shown only at the end."""
        dice, said = state
        if said[-1:] == (LIAR,):
            return state
        return (tuple([roll if owner == seat else "?" * self.dice for owner, roll in enumerate(dice)]), said)

    def resample(self, observation: State, seat: int, rng: random.Random) -> State:
        """Return a state with the unknown dice thrown again."""
        dice, said = observation
        thrown = ["".join(sorted(rng.choices(self._faces, k=self.dice))) if roll[0] == "?" else roll for roll in dice]
        return (tuple(thrown), said)

    def action_space(self) -> Sequence[Action]:
        """Return every bid from the lowest, and `liar`."""
        return (*self._higher[""], LIAR)

    def render(self, state: State) -> str:
        """Return the dice of both seats, and the bids and calls."""
        dice, said = state
        hands = [f"{name}: {' '.join(roll) or '-'}" for name, roll in zip("ab", (*dice, "", ""), strict=False)]
        return "\n".join(
            [*hands, ", ".join([f"{'ab'[turn % 2]} {word}" for turn, word in enumerate(said)]) or "nothing said yet"]
        )

    def format_state(self, state: State) -> str:
        """Return the text notation, such as `136 ???: 1x2 2x5 liar`."""
        dice, said = state
        return f"{' '.join(dice)}: {' '.join(said)}".strip()

    def parse_state(self, text: str) -> State:
        """Parse a text such as `136 ???: 1x2 2x5 liar`. Raises ValueError for other dice, or for bids that do not rise."""
        thrown, colon, words = text.partition(":")
        dice, said = tuple(thrown.split()), tuple(words.split())
        known = {roll for roll, _ in self._rolls} | {"?" * self.dice}
        if not colon or len(dice) > 2 or set(dice) - known or (said and len(dice) < 2):
            raise ValueError(
                f"expected {self.dice} dice of {self.sides} sides for each seat, ascending, a colon, then bids, "
                f"got {abbreviate(text)}"
            )
        for before, word in zip(("", *said), said, strict=False):
            if word not in self._higher[before]:
                expected = "nothing" if before == LIAR else f"liar or a bid above {before}" if before else "a bid such as 1x2"
                raise ValueError(
                    f"expected {expected} after {before or 'the throw'}, got {abbreviate(word)} in {abbreviate(text)}"
                )
        return (dice, said)


@encoding("features", game="liars-dice", shape=lambda game: (2 * game.sides + 4 * game.dice * game.sides + 2,))
def liars_dice_features(game: LiarsDice, observation: State, seat: int) -> list[float]:
    """Return the seat's own dice, the other's dice if they are shown, the bids of both, whether `liar` was said, and the seat."""
    dice, said = observation
    faces = [str(face) for face in range(1, game.sides + 1)]
    throws = [*dice, "", ""]
    thrown = [throws[owner].count(face) / game.dice for owner in (seat, 1 - seat) for face in faces]
    bids = game.action_space()[:-1]
    bid = [float(bid in said[owner::2]) for owner in (seat, 1 - seat) for bid in bids]
    return [*thrown, *bid, float(said[-1:] == (LIAR,)), float(seat)]
