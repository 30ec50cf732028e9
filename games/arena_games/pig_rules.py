"""Pig over whole numbers, for compiled random play."""

from collections.abc import Iterator, Sequence
from itertools import accumulate

from arena import CHANCE
from arena.compiled import Rules, Words

ROLL, HOLD = 0, 1


class RaceRules(Rules):
    """A state is that of the game. An action is ROLL or HOLD, an outcome the face of the die."""

    words = 5
    width = 2

    def __init__(self, target: int, outcomes: Sequence[tuple[int, float]], choices: Sequence[str]) -> None:
        self.target = target
        self.reached = tuple(accumulate([probability for _, probability in outcomes]))
        self.choices = choices

    def encode(self, state: tuple[int, bool, int, int, int]) -> Words:
        """Return the numbers of a state of the game."""
        seat, rolling, gathered, first, second = state
        return seat, int(rolling), gathered, first, second

    def action(self, state: tuple[int, bool, int, int, int], number: int) -> str | int:
        """Return a face while the die is in the air, else `roll` or `hold`."""
        return number if state[1] else self.choices[number]

    def to_move(self, state: Words) -> int:
        """Return the seat whose turn it is, CHANCE while the die is in the air."""
        return CHANCE if state[1] == 1 else state[0]

    def chance(self, state: Words, number: float) -> int:
        """Return the face that a number stands for."""
        face = 1
        while face < len(self.reached) and number >= self.reached[face - 1]:
            face += 1
        return face

    def actions(self, state: Words) -> Iterator[int]:
        """Yield both."""
        yield ROLL
        yield HOLD

    def result(self, state: Words, action: int) -> Words:
        """Throw the die, gather its face or lose the turn, or add what is gathered to the score."""
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
        """Tell whether a seat has the target."""
        return state[3] >= self.target or state[4] >= self.target

    def returns(self, state: Words) -> tuple[float, float]:
        """Return 1 for the seat with the target and -1 for the other."""
        return (1.0, -1.0) if state[3] >= self.target else (-1.0, 1.0)
