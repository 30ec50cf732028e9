"""Kalah: sow stones around the board and capture the stones opposite; the player with more of them in the end wins.

The rules are those of G. Irving, J. Donkers, J. Uiterwijk, Solving Kalah, ICGA Journal 23(3), 2000. A state holds the pits of
the first seat and its store, the pits of the second seat and its store, each in the order of sowing, and the seat to move.
"""

import random
from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from arena import Game, encoding, heuristic
from arena.api.errors import abbreviate

State = tuple[int, ...]
Small = Annotated[int, Field(ge=1, le=12)]

WOOD = {str(stones): f"#{243 - 9 * stones:02x}{226 - 11 * stones:02x}{196 - 14 * stones:02x}" for stones in range(1, 13)}
"""The colour of a pit by its number of stones: more stones make it darker."""


class Kalah(Game):
    """Sow the stones of a pit. If the last stone falls into your store, you move again; if it falls into an empty pit of yours,
    it captures the stones opposite.

    Also called mancala. Each side has `pits` pits, with `stones` stones in each pit at the start. The game ends when all pits of
    one side are empty; the other side keeps the remaining stones. Actions are pits of the seat to move, numbered from 1; pit 1 is
    the farthest from its store. Text notation: pits and store of each side, then the seat to move, `4 4 4 4 4 4 (0) / 4 4 4 4 4 4
    (0) a`.
    """

    name = "kalah"
    rules_text = (
        "Two seats, a and b, have `pits` pits each and a store. At the start, each pit has `stones` stones. a begins. A move "
        "takes all stones from a pit of your own and drops them one by one into the next holes: your further pits, your "
        "store, the pits of the other seat, then your first pits again. The store of the other seat is left out. If the last "
        "stone falls into your store, you move again. If it falls into an empty pit of yours and the opposite pit has "
        "stones, this stone and the stones in the opposite pit go to your store. When all pits of one seat are empty, the "
        "stones in the pits of the other seat go to the store of that other seat, and the game ends. The seat with more "
        "stones wins; equal numbers are a draw. A move is the number of a pit, from 1 to `pits`; the highest number is next "
        "to your store. A position is written as the pits of a from 1 on, its store in brackets, the pits and the store of "
        "b, and the seat to move: `4 4 4 4 4 4 (0) / 4 4 4 4 4 4 (0) a`."
    )
    default_heuristic: ClassVar[str | None] = "store-difference"
    grid_colors: ClassVar[dict[str, str]] = WOOD

    def __init__(self, *, pits: Small = 6, stones: Small = 4) -> None:
        self.pits = pits
        self.stones = stones
        self._side = pits + 1
        self._holes = 2 * self._side

    def initial(self, rng: random.Random) -> State:
        """Return the full pits, seat 0 to move."""
        return (*[self.stones] * self.pits, 0) * 2 + (0,)

    def to_move(self, state: State) -> int:
        """Return the seat to move."""
        return state[self._holes]

    def actions(self, state: State) -> Sequence[int]:
        """Return the pits of the seat to move that are not empty."""
        start = state[self._holes] * self._side - 1
        return [pit for pit in range(1, self._side) if state[start + pit] > 0]

    def result(self, state: State, action: int) -> State:
        """Sow the stones of a pit, capture, and sweep the board if one side is empty."""
        seat = state[self._holes]
        holes = list(state)
        start = seat * self._side
        store = start + self.pits
        skipped = self._holes - 1 - seat * self._side  # the store of the other side
        hole = start + action - 1
        stones = holes[hole]
        holes[hole] = 0
        while stones > 0:
            hole = hole + 1 if hole + 1 < self._holes else 0  # faster than a remainder
            if hole != skipped:
                holes[hole] += 1
                stones -= 1
        if start <= hole < store and holes[hole] == 1 and holes[2 * self.pits - hole] > 0:
            holes[store] += holes[2 * self.pits - hole] + 1
            holes[hole] = 0
            holes[2 * self.pits - hole] = 0
        first = sum([holes[pit] for pit in range(self.pits)])
        second = sum([holes[self._side + pit] for pit in range(self.pits)])
        if first == 0 or second == 0:
            for pit in range(self.pits):
                holes[pit] = 0
                holes[self._side + pit] = 0
            holes[self.pits] += first
            holes[self._side + self.pits] += second
        holes[self._holes] = seat if hole == store else 1 - seat
        return tuple(holes)

    def is_terminal(self, state: State) -> bool:
        """Return whether all stones are in the stores."""
        return state[self.pits] + state[self._side + self.pits] == 2 * self.pits * self.stones

    def returns(self, state: State) -> Sequence[float]:
        """Return 1 for the side with more stones and -1 for the other, 0 for both if the numbers are equal."""
        lead = state[self.pits] - state[self._side + self.pits]
        return (0.0, 0.0) if lead == 0 else (1.0, -1.0) if lead > 0 else (-1.0, 1.0)

    def action_space(self) -> Sequence[int]:
        """Return all pits."""
        return range(1, self._side)

    def grid(self, state: State) -> list[list[str]]:
        """Return the second seat's store and pits, and below them the first seat's pits and store."""
        texts = [str(stones) for stones in state[:-1]]
        first, second = texts[: self.pits], texts[self._side : -1]
        return [[f"b: {texts[-1]}", *reversed(second), ""], ["", *first, f"a: {texts[self.pits]}"]]

    def cells(self, state: State, action: int) -> Sequence[tuple[int, int]]:
        """Return the place of the pit in the grid."""
        return [(0, self._side - action)] if self.to_move(state) else [(1, action)]

    def render(self, state: State) -> str:
        """Return both sides, and the seat to move."""
        top, bottom = [" ".join([cell.rjust(5) for cell in row]) for row in self.grid(state)]
        return f"{top}\n{bottom}   {'ab'[state[-1]]} to move"

    def format_state(self, state: State) -> str:
        """Return the text notation, such as `4 4 4 4 4 4 (0) / 4 4 4 4 4 4 (0) a`."""
        sides = [f"{' '.join(map(str, side[:-1]))} ({side[-1]})" for side in (state[: self._side], state[self._side : -1])]
        return f"{' / '.join(sides)} {'ab'[state[-1]]}"

    def parse_state(self, text: str) -> State:
        """Parse pits, stores and the seat to move. Raises ValueError if numbers are missing or stones do not add up."""
        *words, mover = text.replace("(", " ").replace(")", " ").replace("/", " ").split() or [""]
        holes = [int(word) if word.isdecimal() else -1 for word in words]
        total = 2 * self.pits * self.stones
        if len(holes) != self._holes or mover not in ("a", "b") or sum(holes) != total or min(holes) < 0:
            raise ValueError(f"expected {self._holes} numbers that add up to {total}, then a or b, got {abbreviate(text)}")
        sides = [holes[: self.pits], holes[self._side : -1]]
        if any(map(any, sides)) and not all(map(any, sides)):
            raise ValueError(f"expected all stones in the stores if the pits of one side are empty, got {abbreviate(text)}")
        return (*holes, "ab".index(mover))


@heuristic("store-difference", game="kalah")
class StoreDifference:
    """The difference between the stores of `player` and of the opponent, as a share of all stones.

    G. Irving, J. Donkers, J. Uiterwijk, Solving Kalah, 2000, search with the same difference.
    """

    def __init__(self, game: Kalah) -> None:
        self._first = game.pits
        self._second = 2 * game.pits + 1
        self._total = 2 * game.pits * game.stones

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the value of a state to `player`."""
        ahead = 0.9 * (state[self._first] - state[self._second]) / self._total
        return ahead if player == 0 else -ahead


@encoding("features", game="kalah", shape=lambda game: (2 * game.pits + 3,))
def kalah_features(game: Kalah, observation: State, seat: int) -> list[float]:
    """Return the pits and the store of the seat, then those of the opponent, as shares of all stones; and 1 for the turn of the
    seat.
    """
    side = game.pits + 1
    sides = observation[:-1] if seat == 0 else (*observation[side:-1], *observation[:side])
    return [*[stones / (2 * game.pits * game.stones) for stones in sides], float(observation[-1] == seat)]
