"""Openings: random plies before the agents play, and how rounds get different openings."""

import random
import threading
from collections.abc import Callable

from arena.configured import name_of
from arena.errors import GameError
from arena.game import Game, State
from arena.match.chance_streams import Chance, has_chance

MAX_OPENING_DRAWS = 1000
"""How often an opening is drawn again because the game ended too early."""
MAX_REDRAWS = 1000
"""How often a round is drawn again because an earlier one has its opening. If none is new, all likely ones have been found."""
MAX_ROUND_REDRAWN = 1_000_000
"""Rounds from this number on keep their first draw. A format may number positions freely, and all earlier ones would have to be
drawn."""


def play_opening(game: Game, state: State, plies: int, rng: random.Random) -> State:
    """Return the state after this many random `plies`, each a decision; chance between them is also drawn from `rng`.

    GameError if the game seems always to end before that.
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
    raise GameError(f"no opening of {plies} plies leaves {name_of(game)} unfinished; ask for fewer")


class Redraws:
    """The number of times that each round is drawn anew, until its opening is one that no earlier round has.

    `draw` returns the text of the opening of a round at a given redraw, and the numbers follow from it alone. If MAX_REDRAWS find
    nothing new for a round, no later round is redrawn. Any thread may ask.
    """

    def __init__(self, draw: Callable[[int, int], str]) -> None:
        self.exhausted = False
        """True once a round has found no new opening."""
        self._draw = draw
        self._numbers: list[int] = []
        self._repeats: list[int] = []
        self._seen: set[str] = set()
        self._lock = threading.Lock()

    def of(self, number: int) -> int:
        """Return how often a round is drawn anew: 0 if its first draw stands."""
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
        """Return how many of the first `rounds` have the opening of an earlier one all the same."""
        self.of(rounds - 1)
        return sum(number < rounds for number in self._repeats)

    def _is_new(self, number: int, redraw: int) -> bool:
        try:
            text = self._draw(number, redraw)
        except (Exception, SystemExit):  # the game's own fault, which is reported when the match is played
            return redraw == 0
        new = text not in self._seen
        self._seen.add(text)
        return new
