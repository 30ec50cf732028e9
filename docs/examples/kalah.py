"""Kalah: sow stones round the board, capture what lies opposite; who has more of them in the end wins.

The rules are those of G. Irving, J. Donkers and J. Uiterwijk, Solving Kalah, ICGA Journal 23(3), 2000.
"""

import random
from collections.abc import Callable, Sequence
from typing import Annotated

from pydantic import Field

from arena import Game, heuristic, hookimpl

State = tuple[int, ...]
"""The first seat's pits and its store, the second seat's pits and its store, each in the order of sowing; then who moves."""
WOOD = {str(stones): f"#{243 - 9 * stones:02x}{226 - 11 * stones:02x}{196 - 14 * stones:02x}" for stones in range(1, 13)}
"""The colour of a pit by its stones: the more, the darker."""


class Kalah(Game):
    """Sow the stones of a pit: the last one in your store moves again, in an empty pit of yours it captures.

    Actions are the pits of whoever moves, from 1, the farthest from his store. Text notation: pits and store of either side,
    then who moves, `4 4 4 4 4 4 (0) / 4 4 4 4 4 4 (0) a`.
    """

    name = "kalah"
    default_heuristic = "lead"
    grid_colors = WOOD

    def __init__(self, *, pits: Annotated[int, Field(ge=1, le=12)] = 6, stones: Annotated[int, Field(ge=1, le=12)] = 4) -> None:
        self.pits, self.stones = pits, stones
        self._side = pits + 1

    def initial(self, rng: random.Random) -> State:
        return (*[self.stones] * self.pits, 0) * 2 + (0,)

    def to_move(self, state: State) -> int:
        return state[-1]

    def actions(self, state: State) -> Sequence[int]:
        start = state[-1] * self._side
        return () if self.is_terminal(state) else [pit for pit in range(1, self._side) if state[start + pit - 1]]

    def result(self, state: State, action: int) -> State:
        seat, holes = state[-1], list(state[:-1])
        start, store = seat * self._side, seat * self._side + self.pits
        hole = start + action - 1
        stones, holes[hole] = holes[hole], 0
        while stones:
            hole = (hole + 1) % len(holes)
            if hole != (store + self._side) % len(holes):  # never into the other's store
                holes[hole] += 1
                stones -= 1
        opposite = 2 * self.pits - hole
        if start <= hole < store and holes[hole] == 1 and holes[opposite]:
            holes[store] += holes[opposite] + 1
            holes[hole] = holes[opposite] = 0
        return (*self._swept(holes), seat if hole == store else 1 - seat)

    def _swept(self, holes: list[int]) -> list[int]:
        """The holes at the end of a move: where one side has no stones left, the other takes all of its own."""
        first, second = holes[: self.pits], holes[self._side : -1]
        if any(first) and any(second):
            return holes
        empty = [0] * self.pits
        return [*empty, holes[self.pits] + sum(first), *empty, holes[-1] + sum(second)]

    def is_terminal(self, state: State) -> bool:
        return state[self.pits] + state[-2] == 2 * self.pits * self.stones

    def returns(self, state: State) -> Sequence[float]:
        lead = state[self.pits] - state[-2]
        return (0.0, 0.0) if lead == 0 else (1.0, -1.0) if lead > 0 else (-1.0, 1.0)

    def grid(self, state: State) -> list[list[str]]:
        texts = [str(stones) for stones in state[:-1]]
        first, second = texts[: self.pits], texts[self._side : -1]
        top = [f"b: {texts[-1]}", *reversed(second), ""]
        return [top, ["", *first, f"a: {texts[self.pits]}"]]

    def render(self, state: State) -> str:
        top, bottom = [" ".join([cell.rjust(5) for cell in row]) for row in self.grid(state)]
        return f"{top}\n{bottom}   {'ab'[state[-1]]} to move"

    def format_state(self, state: State) -> str:
        first, second = state[: self._side], state[self._side : -1]
        sides = [f"{' '.join(map(str, side[:-1]))} ({side[-1]})" for side in (first, second)]
        return f"{' / '.join(sides)} {'ab'[state[-1]]}"

    def parse_state(self, text: str) -> State:
        *numbers, mover = text.replace("(", " ").replace(")", " ").replace("/", " ").split()
        holes = [int(number) for number in numbers]
        total = 2 * self.pits * self.stones
        if len(holes) != 2 * self._side or mover not in ("a", "b") or sum(holes) != total or min(holes) < 0:
            raise ValueError(f"expected {2 * self._side} numbers that add up to {total}, then a or b, got {text!r}")
        return (*self._swept(holes), "ab".index(mover))


@heuristic("lead", game="kalah")
def lead(game: Kalah, state: State, player: int = 0) -> float:
    """The stones that `player` has gained more than the opponent, as a share of all."""
    ahead = (state[game.pits] - state[-2]) / (2 * game.pits * game.stones)
    return 0.9 * (ahead if player == 0 else -ahead)


@hookimpl
def arena_games() -> list[type[Game]]:
    return [Kalah]


@hookimpl
def arena_heuristics() -> list[Callable[..., float]]:
    return [lead]
