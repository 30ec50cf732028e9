"""Heuristics of checkers that count pieces."""

from arena import heuristic
from arena_games.checkers import Checkers
from arena_games.checkers_board import State


@heuristic("material", game="checkers")
class CheckersMaterial:
    """The difference between the pieces of both sides, divided by their sum; a king counts as a man and a half.

    A. Samuel, Some Studies in Machine Learning Using the Game of Checkers, 1959, values a king in the same way.
    """

    def __init__(self, game: Checkers) -> None:
        """Do nothing, because the heuristic does not depend on the parameters of the game."""

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the value of an unfinished state to `player`."""
        black = sum([1.0 if state[place] == 1 else 1.5 if state[place] == 2 else 0.0 for place in range(32)])
        white = sum([1.0 if state[place] == 3 else 1.5 if state[place] == 4 else 0.0 for place in range(32)])
        value = 0.99 * (black - white) / (black + white)
        return value if player == 0 else -value


@heuristic("advancement", game="checkers")
class CheckersAdvancement:
    """Like `material`, but a man counts more for each row that it has advanced: seven rows count as half a man.

    A. Samuel, Some Studies in Machine Learning Using the Game of Checkers, 1959, counts advancement, too.
    """

    def __init__(self, game: Checkers) -> None:
        """Do nothing, because the heuristic does not depend on the parameters of the game."""

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the value of an unfinished state to `player`."""
        black = sum([1.0 + place // 4 / 14 if state[place] == 1 else 1.5 if state[place] == 2 else 0.0 for place in range(32)])
        white = sum([1.5 - place // 4 / 14 if state[place] == 3 else 1.5 if state[place] == 4 else 0.0 for place in range(32)])
        value = 0.99 * (black - white) / (black + white)
        return value if player == 0 else -value
