"""Returns: their range in a game, the scale on which heuristics and searches value states, and the result of a match; values that
depend on how players choose among equal actions; and the costs of steps in a puzzle.
"""

from collections.abc import Sequence
from math import isfinite
from numbers import Real
from typing import NamedTuple

from arena.configured import name_of
from arena.errors import GameError, abbreviate, blame, cut
from arena.game import Action, Game, Puzzle, State, gives
from arena.limits import read_number

MAX_STEP_COST = 1e300
"""The largest cost of a step, so that the cost of a path is in the range of a float."""
MUST_ADD_UP = "zero_sum is True (the default), so they must add up to 0; if they need not, write zero_sum = False in the class"


def check_step_cost(puzzle: Puzzle, state: State, action: Action, cost: float) -> float:
    """Return the cost of a step. Raises GameError if it is not a number from 0 to MAX_STEP_COST."""
    kind = type(cost)
    if (kind is float or kind is int) and 0 <= cost <= MAX_STEP_COST:
        return cost
    try:
        number = read_number(cost)  # such as a numpy number
        if 0 <= number <= MAX_STEP_COST:
            return number
    except ValueError:
        pass
    raise blame(
        puzzle.step_cost,
        f"{name_of(puzzle)}: step_cost returned {abbreviate(cost)} at {cut(puzzle.format_state(state))} for the action "
        f"{cut(puzzle.format_action(state, action))}; expected a number from 0 to {MAX_STEP_COST:g}",
    )


class Returns:
    """The returns of a game: their range, the scale on which states are valued, and the result of a match.

    Raises GameError if no match can be played with the range: if `min_return` is infinite or above `max_return`.
    """

    __slots__ = ("game", "range")
    FLOOR = "a finite number, because it is the return of a seat that commits a fault"
    ZERO_SUM_TOLERANCE = 1e-9
    """The largest absolute sum of the returns of a zero-sum game that still counts as 0."""
    VALUE_TOLERANCE = 1e-9
    """Up to this difference, two values of a seat are equal; relative if they are above 1. It covers the discounts of later
    results in searches, and the rounding errors of means over chance."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.range = (low, high) = self.find_range(game)
        if not isfinite(low):
            raise GameError(f"{name_of(game)}: min_return must be finite: expected {self.FLOOR}, got {low}")
        if not low <= high:
            raise GameError(f"{name_of(game)}: max_return is below min_return: expected {low:g} or more, got {high}")
        """`min_return` and `max_return` of the game, or their defaults if the author uses the names for something else."""

    @staticmethod
    def find_range(game: Game) -> tuple[float, float]:
        """Return `min_return` and `max_return` of a game, even if no match can be played with them."""
        low, high = game.min_return, game.max_return
        if not (type(low) is type(high) is float):  # a quick check, rarely true
            low = float(low) if isinstance(low, Real) and not isinstance(low, bool) else Game.min_return
            high = float(high) if isinstance(high, Real) and not isinstance(high, bool) else Game.max_return
        return low, high

    def scale(self, value: float) -> float:
        """Map a return to the scale from -1 to 1. If the range is infinite or empty, the return is not changed.

        In a zero-sum game for two, it is divided by the largest absolute value of the range, so that the values of the two seats
        still add up to 0. In other games, `min_return` becomes -1 and `max_return` becomes 1.
        """
        low, high = self.range
        if (low, high) == (-1, 1) or not self._is_closed():
            return value
        if self._is_symmetric():
            return value / max(abs(low), abs(high))
        return 2.0 * (value - low) / (high - low) - 1.0

    def unscale(self, value: float) -> float:
        """Return the return for a `value` on the scale from -1 to 1. This is the inverse of `scale`."""
        low, high = self.range
        if (low, high) == (-1, 1) or not self._is_closed():
            return value
        if self._is_symmetric():
            return value * max(abs(low), abs(high))
        return low + (value + 1.0) * (high - low) / 2.0

    def _is_symmetric(self) -> bool:
        return self.game.zero_sum and self.game.players == 2

    def _is_closed(self) -> bool:
        low, high = self.range
        return isfinite(low) and isfinite(high) and low < high

    def check(self, given: Sequence[float], method: str = "returns") -> tuple[float, ...]:
        """Return the results of all seats that a `method` of the game has `given`.

        Raises GameError if they are not a number for each seat, or if they contradict the game's attributes.
        """
        game = self.game
        try:
            values = tuple(map(read_number, given))
        except (TypeError, ValueError):
            values = ()
        wrong = None
        low, high = self.range
        if len(values) != game.players or not all(map(isfinite, values)):
            wrong = f"{abbreviate(given)}; expected a finite number for each seat"
        elif min(values) < low or max(values) > high:
            wrong = f"{values}; expected values in [{low:g}, {high:g}]"
        elif game.zero_sum and abs(sum(values)) > self.ZERO_SUM_TOLERANCE:
            wrong = f"{values}; {MUST_ADD_UP}"
        if wrong is not None:
            raise blame(getattr(game, method, None), f"{name_of(game)}: {method} returned {wrong}")
        return values

    def standing(self, state: State = None) -> tuple[float, ...]:
        """Return the result of every seat if the match stops in `state`, for example at the move limit.

        It is the `standing` of the game. If the game does not define it, no state is needed: each seat gets 0 if the game is
        zero-sum or if `min_return` <= 0 < `max_return`, and otherwise `min_return`, so that a match without an end is not better
        than one with an end. Raises GameError like `check`.
        """
        game, (low, high) = self.game, self.range
        if gives(game, "standing"):
            return self.check(game.standing(state), "standing")
        return (0.0 if game.zero_sum or low <= 0 < high else low,) * game.players

    def of_loss(self, seat: int | None, state: State = None) -> tuple[float, ...]:
        """Return the results of all seats if one seat loses by a fault: `min_return` for this seat, 0 for the solver of a puzzle.

        In a zero-sum game, the other seats share what is left, so that the sum is 0. In other games, they get their results so
        far in `state`; if these are unknown, 0, or the number nearest to 0 that the game can return.
        """
        game = self.game
        if isinstance(game, Puzzle) or (game.players == 1 and game.zero_sum):
            return (0.0,)
        least, most = self.range
        if game.zero_sum:
            others = [-least / (game.players - 1)] * game.players
        elif state is not None and gives(game, "standing"):
            others = list(self.standing(state))
        else:
            others = [min(max(0.0, least), most)] * game.players
        return tuple([least if number == seat else value for number, value in enumerate(others)])


class Ends(NamedTuple):
    """The lowest and the highest value of a state for each seat, over all ways in which players choose among equal actions.

    In a game that is not zero-sum for two, actions that are equal for the player to move may differ for another seat. So the
    value of a state is only certain for a seat if both ends are equal.
    """

    lows: Sequence[float]
    highs: Sequence[float]

    @staticmethod
    def may_differ(game: Game) -> bool:
        """Return whether actions that are equal for one seat of a game may differ for another seat."""
        return game.players > 1 and not (game.players == 2 and game.zero_sum)

    @classmethod
    def choose(cls, mover: int, successors: Sequence["Ends"]) -> "Ends":
        """Return the ends of a state, given the ends of its successors. The mover may choose any that can be a best one.

        The ends of the seats are found apart, so the interval may be too wide, but never too narrow.
        """
        least = max([lows[mover] for lows, _ in successors])
        bound = least - Returns.VALUE_TOLERANCE * max(1.0, abs(least))
        chosen = [ends for ends in successors if ends[1][mover] >= bound]
        if len(chosen) == 1:
            return chosen[0]
        lows = [min(values) for values in zip(*[lows for lows, _ in chosen], strict=True)]
        lows[mover] = least
        return cls(lows, [max(values) for values in zip(*[highs for _, highs in chosen], strict=True)])
