"""Pig, a dice game in which greed may cost the points of a turn (J. Scarne, Scarne on Dice, 1945)."""

import random
from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import erf, sqrt
from typing import Annotated, ClassVar

from pydantic import Field

from arena import CHANCE, Action, Game, encoding, heuristic, uniform
from arena.api.errors import abbreviate
from arena.compiled import Rules, Words

State = tuple[int, bool, int, int, int]
"""The seat to move, whether its die is rolling, the points collected in this turn, and both scores."""

CHOICES = ("roll", "hold")
ROLL, HOLD = 0, 1


class Pig(Game):
    """A seat rolls as often as it likes and adds up the faces. A 1 ends its turn without points; `hold` adds the points to its
    score.

    The die has `sides` faces. A seat wins when its score is at least `target` after it holds. Text notation: both scores, the
    points of this turn and the seat, `40:35 +12 a`, followed by `?` while the die is rolling.
    """

    name = "pig"
    rules_text = (
        "Two seats, a and b, take turns; a begins. In its turn, a seat rolls a die with `sides` faces as often as it "
        "likes, and adds up the faces. If it rolls a 1, its turn ends without points. If it chooses to hold, the points "
        "of this turn are added to its score, and its turn ends. The first seat whose score is at least `target` after it "
        "holds wins. The moves are `roll` and `hold`. A position is written as both scores, the points of this turn and "
        "the seat: `40:35 +12 a`."
    )
    default_heuristic: ClassVar[str | None] = "race"
    board = "boards/pig.js"

    def __init__(
        self, *, target: Annotated[int, Field(ge=1, le=10_000)] = 100, sides: Annotated[int, Field(ge=2, le=100)] = 6
    ) -> None:
        self.target = target
        self.sides = sides
        self._faces = tuple(range(1, sides + 1))
        self._outcomes = uniform(self._faces)

    def initial(self, rng: random.Random) -> State:
        """Return two scores of 0, seat 0 to move."""
        return (0, False, 0, 0, 0)

    def to_move(self, state: State) -> int:
        """Return the seat whose turn it is, or CHANCE while the die is rolling."""
        return CHANCE if state[1] else state[0]

    def actions(self, state: State) -> Sequence[Action]:
        """Return `roll` and `hold`, or the faces of the die; none after a win."""
        _, rolling, _, first, second = state
        if rolling:
            return self._faces
        return CHOICES if first < self.target and second < self.target else ()

    def chance_outcomes(self, state: State) -> Sequence[tuple[int, float]]:
        """Return the faces, all equally likely."""
        return self._outcomes

    def chance_stream(self, state: State) -> int:
        """Return the seat that rolls; each seat has its own die."""
        return state[0]

    def result(self, state: State, action: Action) -> State:
        """Throw the die and add its face or lose the turn; or add the points of this turn to the score."""
        seat, rolling, gathered, first, second = state
        if rolling:
            return (seat, False, gathered + action, first, second) if action > 1 else (1 - seat, False, 0, first, second)
        if action == "roll":
            return (seat, True, gathered, first, second)
        return (0, False, 0, first, second + gathered) if seat else (1, False, 0, first + gathered, second)

    def is_terminal(self, state: State) -> bool:
        """Return whether a seat has reached the target."""
        return state[3] >= self.target or state[4] >= self.target

    def returns(self, state: State) -> Sequence[float]:
        """Return 1 for the seat that has reached the target and -1 for the other."""
        return (1.0, -1.0) if state[3] >= self.target else (-1.0, 1.0)

    def compiled(self) -> "RaceRules":
        """Return the rules written with whole numbers, for random play."""
        return RaceRules(self.target, self._outcomes, CHOICES)

    def action_space(self) -> Sequence[Action]:
        """Return `roll` and `hold`."""
        return CHOICES

    def render(self, state: State) -> str:
        """Return both scores, and the points of the turn so far."""
        seat, rolling, gathered, *scores = state
        turns = [
            f"   {gathered} gathered{', rolling' * rolling}" if seat == own and not self.is_terminal(state) else ""
            for own in (0, 1)
        ]
        return "\n".join(
            [f"{name} {score:3d} of {self.target}{turn}" for name, score, turn in zip("ab", scores, turns, strict=True)]
        )

    def format_state(self, state: State) -> str:
        """Return the text notation, such as `40:35 +12 a`."""
        seat, rolling, gathered, first, second = state
        return f"{first}:{second} +{gathered} {'ab'[seat]}{'?' * rolling}"

    def parse_state(self, text: str) -> State:
        """Parse a text such as `40:35 +12 a`. Raises ValueError for other texts. It does not check whether the state can be
        reached.
        """
        try:
            scores, plus, mover = text.split()
            first, second = map(int, scores.split(":"))
            gathered, seat = int(plus.removeprefix("+")), "ab".index(mover[0])
        except (ValueError, IndexError):
            raise ValueError(
                f"expected two scores, the points gathered and the seat, as in 40:35 +12 a, got {abbreviate(text)}"
            ) from None
        if min(first, second, gathered) < 0 or mover[1:] not in ("", "?"):
            raise ValueError(
                f"expected numbers of at least 0, and the seat a or b, optionally followed by ?, got {abbreviate(text)}"
            )
        return (seat, mover[1:] == "?", gathered, first, second)


@heuristic("race", game="pig")
class Race:
    """Estimates which seat wins the race to the target, from the difference of the scores and the points that both seats still
    need.

    The heuristic was written for this project, in the form of Kleinman's estimate for races in backgammon (`pip-count`). The lead
    includes 0.75 for each point of this turn and 6 for having the turn. It is divided by the spread of future turns: the square
    root of the points that both seats still need. The constants were fitted to the exact values of optimal play to 100 with a
    six-sided die and up to 30 points in a turn; the root of the mean squared error is 0.09. For other dice, points are scaled by
    the number of sides.
    """

    def __init__(self, game: Pig) -> None:
        self._target = game.target
        self._unit = sum(range(2, game.sides + 1)) / 20

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the value of a state for `player`, within [-0.99, 0.99]."""
        seat, _, gathered, first, second = state
        own, other = (second, first) if seat else (first, second)
        if own + gathered >= self._target:
            value = 0.99
        else:
            expected = own + 0.75 * gathered
            to_go = 2 * self._target - expected - other
            value = 0.99 * erf((expected - other + 6 * self._unit) / (5.5 * sqrt(self._unit * (to_go + 9 * self._unit))))
        return value if seat == player else -value


class RaceRules(Rules):
    """Pig with whole numbers, for compiled random play.

    A state is the state of the game. An action is ROLL or HOLD, and an outcome is the face of the die.
    """

    words = 5
    width = 2

    def __init__(self, target: int, outcomes: Sequence[tuple[int, float]], choices: Sequence[str]) -> None:
        self.target = target
        self.reached = tuple(accumulate([probability for _, probability in outcomes]))
        self.choices = choices

    def encode(self, state: tuple[int, bool, int, int, int]) -> Words:
        """Return a state of the game as numbers."""
        seat, rolling, gathered, first, second = state
        return seat, int(rolling), gathered, first, second

    def action(self, state: tuple[int, bool, int, int, int], number: int) -> str | int:
        """Return a face while the die is rolling, otherwise `roll` or `hold`."""
        return number if state[1] else self.choices[number]

    def to_move(self, state: Words) -> int:
        """Return the seat whose turn it is, or CHANCE while the die is rolling."""
        return CHANCE if state[1] == 1 else state[0]

    def chance(self, state: Words, number: float) -> int:
        """Return the face for a random number."""
        face = 1
        while face < len(self.reached) and number >= self.reached[face - 1]:
            face += 1
        return face

    def actions(self, state: Words) -> Iterator[int]:
        """Yield `roll` and `hold`."""
        yield ROLL
        yield HOLD

    def result(self, state: Words, action: int) -> Words:
        """Throw the die and add its face or lose the turn; or add the points of this turn to the score."""
        seat, rolling, gathered, first, second = state
        if rolling == 1:
            if action > 1:
                return (seat, 0, gathered + action, first, second)
            return (1 - seat, 0, 0, first, second)
        if action == ROLL:
            return (seat, 1, gathered, first, second)
        if seat == 1:
            return (0, 0, 0, first, second + gathered)
        return (1, 0, 0, first + gathered, second)

    def is_terminal(self, state: Words) -> bool:
        """Return whether a seat has reached the target."""
        return state[3] >= self.target or state[4] >= self.target

    def returns(self, state: Words) -> tuple[float, float]:
        """Return 1 for the seat that has reached the target and -1 for the other."""
        return (1.0, -1.0) if state[3] >= self.target else (-1.0, 1.0)


@encoding("features", game="pig", shape=(4,))
def pig_features(game: Pig, observation: State, seat: int) -> list[float]:
    """Return both scores and the points collected in this turn, as shares of the target, and whether it is the seat's turn."""
    mover, _, gathered, *scores = observation
    shares = [min(1.0, points / game.target) for points in (scores[seat], scores[1 - seat], gathered)]
    return [*shares, float(mover == seat)]
