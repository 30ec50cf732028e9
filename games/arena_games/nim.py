"""Nim. C. Bouton, Nim, a Game with a Complete Mathematical Theory, Annals of Mathematics 3, 1901.

A state holds the sizes of the heaps, and the seat to move.
"""

import random
from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from arena import Disguise, Game, encoding, heuristic
from arena.api.errors import abbreviate
from arena_games.disguises import draw_names, make_disguise

State = tuple[int, ...]
Heap = Annotated[int, Field(ge=0, le=1000)]


class Nim(Game):
    """Take any number of sticks from one heap; the player who takes the last stick of all wins, or loses if `misere` is true.

    `heaps` lists the number of sticks in each heap at the start. The action `3:2` takes two sticks from the third heap. Text
    notation: the heaps, then the seat to move, `1 3 5 7 a`.
    """

    name = "nim"
    rules_text = (
        "There are heaps of sticks. Two seats, a and b, take turns; a begins. A move takes one or more sticks from one heap. "
        "The seat that takes the last stick of all wins, or loses if `misere` is true. The move `3:2` takes two sticks from the "
        "third heap. A position is written as the sizes of the heaps in order, and the seat to move: `1 3 5 7 a`."
    )
    default_heuristic: ClassVar[str | None] = "nim-sum"
    board = "boards/nim.js"

    def __init__(
        self, *, heaps: Annotated[tuple[Heap, ...], Field(min_length=1, max_length=20)] = (1, 3, 5, 7), misere: bool = False
    ) -> None:
        self.heaps = tuple(heaps)
        self.misere = misere
        if not sum(self.heaps):
            raise ValueError("heaps: expected at least one stick, got none")
        self._step = max(self.heaps) + 1
        """An action is the index of the heap, multiplied by this number, plus the number of sticks."""

    def initial(self, rng: random.Random) -> State:
        """Return the full heaps, seat 0 to move."""
        return (*self.heaps, 0)

    def to_move(self, state: State) -> int:
        """Return the seat to move."""
        return state[-1]

    def actions(self, state: State) -> Sequence[int]:
        """Return all numbers of sticks from all heaps, heap by heap."""
        return [heap * self._step + taken for heap in range(len(self.heaps)) for taken in range(1, state[heap] + 1)]

    def result(self, state: State, action: int) -> State:
        """Take sticks from a heap."""
        taken_from, taken = divmod(action, self._step)
        heaps = tuple([state[heap] - taken if heap == taken_from else state[heap] for heap in range(len(self.heaps))])
        return (*heaps, 1 - state[-1])

    def is_terminal(self, state: State) -> bool:
        """Return whether all heaps are empty."""
        return sum(state) == state[-1]

    def returns(self, state: State) -> Sequence[float]:
        """Return 1 for the winner and -1 for the loser. The seat to move is the one that has not taken the last stick."""
        return (1.0, -1.0) if (state[-1] == 0) == self.misere else (-1.0, 1.0)

    def disguise(self, rng: random.Random) -> Disguise:
        """Return a story about lamps that are turned down."""
        lamps = dict(zip(map(str, range(1, len(self.heaps) + 1)), draw_names(rng, len(self.heaps)), strict=True))
        order = sorted(lamps.values())
        moves = {f"{lamp}:{steps}": f"{name} {steps}" for lamp, name in lamps.items() for steps in range(1, self._step)}
        rules = (
            f"The lamps {', '.join(order)} each have a brightness, a whole number. Two players take turns. A move turns one lamp "
            "down by one or more steps, and never below brightness 0. When all lamps have brightness 0, the player who moved "
            f"last {'loses' if self.misere else 'wins'}. The move `{order[0]} 2` turns {order[0]} down by two steps. A position "
            "lists the lamps, each with its brightness."
        )
        return make_disguise(
            {}, lamps | moves, rules, lambda state: {lamp: [str(size)] for lamp, size in zip(lamps, state[:-1], strict=True)}
        )

    def action_space(self) -> Sequence[int]:
        """Return all actions that are legal at the start."""
        return self.actions(self.initial(random.Random(0)))

    def render(self, state: State) -> str:
        """Return a line for each heap, and the seat to move."""
        heaps = [f"{number} {'|' * heap}".rstrip() for number, heap in enumerate(state[:-1], 1)]
        return "\n".join([*heaps, f"{'ab'[state[-1]]} to move"])

    def format_state(self, state: State) -> str:
        """Return the text notation, such as `1 3 5 7 a`."""
        return f"{' '.join(map(str, state[:-1]))} {'ab'[state[-1]]}"

    def parse_state(self, text: str) -> State:
        """Parse a text such as `1 3 5 7 a`. Raises ValueError for another number of heaps, or larger heaps than at the start."""
        *words, mover = text.split() or [""]
        if mover not in ("a", "b") or len(words) != len(self.heaps) or not all(word.isdecimal() for word in words):
            raise ValueError(f"expected {len(self.heaps)} numbers and a or b for the seat to move, got {abbreviate(text)}")
        heaps = tuple(map(int, words))
        for number, (heap, full) in enumerate(zip(heaps, self.heaps, strict=True), 1):
            if heap > full:
                raise ValueError(f"expected at most {full} sticks in heap {number}, got {heap} in {abbreviate(text)}")
        return (*heaps, "ab".index(mover))

    def format_action(self, state: State, action: int) -> str:
        """Return the text of an action, such as `3:2` for two sticks from the third heap."""
        return f"{action // self._step + 1}:{action % self._step}"


@heuristic("nim-sum", game="nim")
class NimSum:
    """The value is 0.9 for the side that wins by Bouton's theory, and -0.9 for the other side.

    The seat to move loses if the exclusive or of all heap sizes is 0. There is one exception: in misère play, if no heap has two
    or more sticks, the seat to move loses if the number of heaps is odd. C. Bouton, Nim, A Game with a Complete Mathematical
    Theory, 1901.
    """

    def __init__(self, game: Nim) -> None:
        self._heaps = len(game.heaps)
        self._misere = game.misere

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the value of a state to `player`."""
        total = 0
        largest = 0
        for heap in range(self._heaps):
            total ^= state[heap]
            largest = max(largest, state[heap])
        wins = total != 0
        if self._misere and largest < 2:
            wins = not wins
        return 0.9 if wins == (state[-1] == player) else -0.9


@encoding("features", game="nim", shape=lambda game: (len(game.heaps) + 1,))
def nim_features(game: Nim, observation: State, seat: int) -> list[float]:
    """Return each heap as a share of its size at the start, and 1 if the seat is to move."""
    shares = [heap / full if full else 0.0 for heap, full in zip(observation[:-1], game.heaps, strict=True)]
    return [*shares, float(observation[-1] == seat)]
