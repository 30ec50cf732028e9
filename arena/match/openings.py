"""Openings: random plies before the agents play. Openings are redrawn, so that different rounds have different ones."""

import random
import threading
from collections.abc import Callable

from arena.configured import name_of
from arena.errors import GameError
from arena.game import Game, State
from arena.match.chance_streams import Chance, has_chance

MAX_OPENING_DRAWS = 1000
"""The maximum number of times that an opening is drawn again because the game ends within it."""
MAX_REDRAWS = 1000
"""The maximum number of redraws if a round has the opening of an earlier one. If all fail, a new opening is unlikely."""
MAX_ROUND_REDRAWN = 1_000_000
"""Rounds with higher numbers keep their first opening: a redraw needs all earlier openings, and a format may skip rounds."""


def play_opening(game: Game, state: State, plies: int, rng: random.Random) -> State:
    """Return the state after `plies` random decisions. Outcomes of chance between them are also drawn from `rng`.

    Raises GameError if the game ended earlier in every attempt.
    """
    chance = Chance(game, lambda _: rng) if has_chance(game) else None
    for _ in range(MAX_OPENING_DRAWS):
        reached = state
        for _ in range(plies):
            if chance is not None:
                for _, after in chance.settle(reached):
                    reached = after
            if game.is_terminal(reached):
                break
            reached = game.result(reached, rng.choice(game.actions(reached)))
        if not game.is_terminal(reached):
            return reached
    raise GameError(f"every opening of {plies} plies that was drawn ends the game {name_of(game)}; use fewer plies")


class Redraws:
    """Counts how often each round is redrawn until it has an opening that no earlier round has.

    `draw` gets a round and a number of redraws, and returns the text of the resulting opening. If MAX_REDRAWS draws find no new
    opening for a round, later rounds are not redrawn. The methods may be called from any thread.
    """

    def __init__(self, draw: Callable[[int, int], str]) -> None:
        self.exhausted = False
        """Whether no new opening was found for some round."""
        self._draw = draw
        self._numbers: list[int] = []
        self._repeats: list[int] = []
        self._seen: set[str] = set()
        self._lock = threading.Lock()

    def of(self, number: int) -> int:
        """Return the number of times that a round is redrawn; 0 if it keeps its first opening."""
        if number >= MAX_ROUND_REDRAWN:
            return 0
        with self._lock:
            while len(self._numbers) <= number:
                following = len(self._numbers)
                redraws = range(1 if self.exhausted else 1 + MAX_REDRAWS)
                redraw = next((redraw for redraw in redraws if self._is_new(following, redraw)), None)
                if redraw is None:
                    self.exhausted = True
                    self._repeats.append(following)
                self._numbers.append(redraw or 0)
            return self._numbers[number]

    def repeats(self, rounds: int) -> int:
        """Return how many of the first `rounds` rounds still repeat the opening of an earlier round."""
        self.of(rounds - 1)
        return sum(number < rounds for number in self._repeats)

    def _is_new(self, number: int, redraw: int) -> bool:
        try:
            text = self._draw(number, redraw)
        except (Exception, SystemExit):  # a fault of the game is reported when the match is played
            return redraw == 0
        new = text not in self._seen
        self._seen.add(text)
        return new
