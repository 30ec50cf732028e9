"""The pancake puzzle: sort a stack of pancakes by turning over its top.

H. Dweighter, Problem E2569, American Mathematical Monthly 82, 1975.

A state holds the sizes of the pancakes from the top. If they are burnt, a negative number is a pancake whose burnt side is up.
"""

import random
from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from arena import Puzzle, encoding, heuristic
from arena.api.errors import abbreviate

State = tuple[int, ...]


class Pancake(Puzzle):
    """Turn over the top of a stack of pancakes until the smallest is on top and the largest at the bottom.

    The stack has `n` pancakes. An action is the number of pancakes that are lifted and turned over. With `burnt`, each has a
    burnt side, which must face down at the end. Text notation: the sizes from the top, `3 1 2`; with a minus if the burnt side is
    up, `-3 1 -2`.
    """

    name = "pancake"
    rules_text = (
        "A stack has pancakes of the sizes 1 to `n`. A move lifts some pancakes from the top, turns them over together "
        "and puts them back. The goal is that the smallest pancake is on top and the largest at the bottom, with as few "
        "moves as possible. If `burnt` is true, each pancake has a burnt side, which must face down at the end. A move is "
        "the number of pancakes that are turned over. A position is written as the sizes from the top, with a minus if "
        "the burnt side is up: `3 1 2` or `-3 1 -2`."
    )
    default_heuristic: ClassVar[str | None] = "gap"
    board = "boards/pancake.js"

    def __init__(self, *, n: Annotated[int, Field(ge=1, le=100)] = 10, burnt: bool = False) -> None:
        self.n = n
        self.burnt = burnt
        self.goal = tuple(range(1, n + 1))
        self._fewest = 1 if burnt else 2
        self._turned = -1 if burnt else 1

    def initial(self, rng: random.Random) -> State:
        """Return a stack in random order; each burnt side is up or down with equal probability."""
        sizes = rng.sample(self.goal, self.n)
        return tuple([rng.choice((-size, size)) for size in sizes] if self.burnt else sizes)

    def actions(self, state: State) -> Sequence[int]:
        """Return the numbers of pancakes that can be lifted, beginning with 2, or with 1 if they are burnt."""
        return range(self._fewest, self.n + 1)

    def result(self, state: State, action: int) -> State:
        """Turn over the uppermost pancakes."""
        return tuple([state[action - 1 - place] * self._turned if place < action else state[place] for place in range(self.n)])

    def is_goal(self, state: State) -> bool:
        """Return whether the stack is sorted, and no burnt side is up."""
        return all(state[place] == place + 1 for place in range(self.n))

    def is_terminal(self, state: State) -> bool:
        """Return whether the stack is sorted. This puzzle has no dead ends."""
        return self.is_goal(state)

    def action_space(self) -> Sequence[int]:
        """Return all numbers of pancakes."""
        return range(self._fewest, self.n + 1)

    def render(self, state: State) -> str:
        """Return a line for each pancake with `=` for its size; a `~` marks a burnt side that is up."""
        return "\n".join([f"{('~' if size < 0 else '=') * (2 * abs(size)):^{2 * self.n}}".rstrip() for size in state])

    def format_state(self, state: State) -> str:
        """Return the text notation, such as `3 1 2`."""
        return " ".join(map(str, state))

    def parse_state(self, text: str) -> State:
        """Parse a text such as `3 1 2`. Raises ValueError if the numbers are not the sizes of all pancakes."""
        try:
            state = tuple([int(word) for word in text.split()])
        except ValueError:
            raise ValueError(f"expected the sizes of the pancakes such as 3 1 2, got {abbreviate(text)}") from None
        if sorted(map(abs, state)) != list(self.goal):
            raise ValueError(f"expected each of 1 to {self.n} once, got {abbreviate(text)}")
        if not self.burnt and min(state) < 0:
            raise ValueError(f"expected numbers above 0, because these pancakes have no burnt side, got {abbreviate(text)}")
        return state


@heuristic("gap", game="pancake", admissible=True, consistent=True)
class Gap:
    """The number of gaps: neighbours in the stack that do not belong together. The plate counts as the neighbour of the largest
    pancake.

    An action separates only one pair of neighbours, so it removes at most one gap. M. Helmert, Landmark Heuristics for the
    Pancake Problem, SoCS 2010. If the pancakes are burnt, neighbours also need the right sides up.
    """

    def __init__(self, game: Pancake) -> None:
        self._n = game.n
        self._burnt = game.burnt

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the estimated number of actions to the goal."""
        gaps = 0
        for place in range(self._n):
            below = state[place + 1] if place + 1 < self._n else self._n + 1
            step = below - state[place]
            if step != 1 and (self._burnt or step != -1):
                gaps += 1
        return gaps


@heuristic("top", game="pancake", admissible=True, consistent=True)
class Top(Gap):
    """The number of gaps, plus one if no action removes a gap. Whether one does depends on the pancake on top.

    An action removes a gap if it puts the pancake on top next to a pancake to which it belongs, and if there was a gap above that
    pancake. R. Valenzano, D. S. Yang, An Analysis and Enhancement of the Gap Heuristic for the Pancake Puzzle, SoCS 2017, who
    also look a second action ahead.
    """

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the estimated number of actions to the goal."""
        gaps = 0
        ready = False
        top = state[0]
        for place in range(self._n):
            below = state[place + 1] if place + 1 < self._n else self._n + 1
            step = below - state[place]
            if step != 1 and (self._burnt or step != -1):
                gaps += 1
                beside = below + top if self._burnt else abs(below - top)  # a burnt pancake gets there upside down
                if beside == 1:
                    ready = True
        return gaps if ready or gaps == 0 else gaps + 1


@encoding("features", game="pancake", shape=lambda game: (2, game.n))
def pancake_features(game: Pancake, observation: State, seat: int) -> list[float]:
    """Return the size of each pancake from the top as a share of the largest, followed by a 1 for each burnt side that is up."""
    return [abs(size) / game.n for size in observation] + [float(size < 0) for size in observation]
