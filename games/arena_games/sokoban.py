"""Sokoban: H. Imabayashi, 1982, published by Thinking Rabbit. A man pushes boxes onto goals, one box at a time, and never pulls.

A state is (the boxes as bits, the first cell that the man can reach). States that differ only in a walk are equal. The module
`sokoban_level` numbers the cells; the spare bit behind each row is always 0.
"""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from arena import Puzzle, encoding
from arena.api.errors import abbreviate
from arena.api.games import SpecFile
from arena_games.sokoban_level import WAYS, Level, is_set

State = tuple[int, int]

LEVELS = Path(__file__).parent / "levels" / "sokoban.xsb"


class Sokoban(Puzzle):
    """Push all boxes onto goals. Each push costs 1, and walks cost nothing, as is usual for Sokoban solvers.

    An action is a push with the walks before and after it in LURD notation, `dlUr`: small letters walk, the capital pushes. After
    the action, the man waits on the first cell, row by row, that he can reach. `level` is the number of a level in `file`, a file
    in XSB format; with `shuffle`, the boxes start on the goals, and this many random pulls follow. Text notation: rows of XSB
    joined by `|`.
    """

    name = "sokoban"
    rules_text = (
        "A man walks on the free cells of a level, up, down, left and right. He can push a box to the next cell if that cell "
        "has no wall and no box. He pushes one box at a time and never pulls. The goal is that every box stands on a goal "
        "cell, with as few pushes as possible. Walks cost nothing. A move is one push with the walk before it: small letters "
        "are steps of the walk (l left, u up, r right, d down), and the capital letter is the push, such as `dlU`. After a "
        "push, the man goes to the first cell that he can reach, counted row by row from the top; the letters of this walk "
        "may follow the push. A position is written as the rows of the level from the top, joined by |. Its marks are # for "
        "a wall or a cell outside the walls, - for an empty cell, . for a goal, $ for a box, * for a box on a goal, @ for "
        "the man and + for the man on a goal: `#####|#@$.#|#####`."
    )
    default_heuristic: ClassVar[str | None] = "matching"
    grid_colors: ClassVar[dict[str, str]] = {
        "#": "#6b6f78",
        "$": "#c8843c",
        "*": "#4f9a54",
        ".": "#f2d68a",
        "@": "#2456c6",
        "+": "#2456c6",
    }

    def __init__(
        self,
        *,
        level: Annotated[int, Field(ge=1, le=100_000)] = 1,
        file: SpecFile | None = None,
        shuffle: Annotated[int, Field(ge=1, le=10_000)] | None = None,
    ) -> None:
        self.xsb = found = Level(LEVELS if file is None else Path(file), level)
        self.height, self.width, self.wide = found.height, found.width, found.wide
        self.places, self.floor, self.goals, self.offsets = found.places, found.floor, found.goals, found.offsets
        self.upper = self.floor & (1 << (self.height - 1) * self.wide) - 1
        self.shuffle = shuffle
        self.boxes = found.boxes.bit_count()
        self.start = self.settle(found.boxes, found.man)
        if not found.can_match():
            raise ValueError(f"{found.place} is unsolvable: the boxes cannot all reach different goals")

    def initial(self, rng: random.Random) -> State:
        """Return the level's start; with `shuffle`, the state after random pulls from the goals."""
        for _ in range(100 if self.shuffle else 0):
            boxes, man = self.goals, rng.choice([cell for cell in self.places if not self.goals >> cell & 1] or self.places)
            for _ in range(self.shuffle or 0):
                reached = self.reach(boxes, man)
                free = [cell for cell in self.places if reached >> cell & 1]
                pulls = [
                    (cell, step) for cell in free for step in self.offsets if cell + step in free and is_set(boxes, cell - step)
                ]
                if not pulls:
                    break
                cell, step = rng.choice(pulls)
                boxes, man = boxes ^ (1 << cell | 1 << cell - step), cell + step
            if boxes != self.goals:
                return self.settle(boxes, man)
        return self.start

    def reach(self, boxes: int, man: int) -> int:
        """Return the cells that the man can reach, by a flood fill that steps in all directions at once."""
        free = self.floor & ~boxes
        reached = 1 << man
        before = 0
        while reached != before:
            before = reached
            reached |= (reached << 1 | reached >> 1 | (reached & self.upper) << self.wide | reached >> self.wide) & free
        return reached

    def settle(self, boxes: int, man: int) -> State:
        """Return the state in which the man is on the first cell that he can reach."""
        reached = self.reach(boxes, man)
        return (boxes, (reached & -reached).bit_length() - 1)

    def pushes(self, boxes: int, man: int) -> tuple[int, int, int, int]:
        """Return the boxes that can be pushed to the left, up, to the right and down."""
        free, reached = self.floor & ~boxes, self.reach(boxes, man)
        return (
            boxes & reached >> 1 & free << 1,
            boxes & reached >> self.wide & (free & self.upper) << self.wide,
            boxes & reached << 1 & free >> 1,
            boxes & (reached & self.upper) << self.wide & free >> self.wide,
        )

    def actions(self, state: State) -> Sequence[int]:
        """Return the pushes as `4 * cell of the box + way`, box by box; the ways are left, up, right and down."""
        pushes = self.pushes(state[0], state[1])
        some = pushes[0] | pushes[1] | pushes[2] | pushes[3]
        return [4 * cell + way for cell in self.places if some >> cell & 1 for way in range(4) if pushes[way] >> cell & 1]

    def result(self, state: State, action: int) -> State:
        """Push a box."""
        cell = action // 4
        return self.settle(state[0] ^ (1 << cell | 1 << cell + self.offsets[action % 4]), cell)

    def is_goal(self, state: State) -> bool:
        """Return whether all boxes are on goals."""
        return state[0] == self.goals

    def is_terminal(self, state: State) -> bool:
        """Return whether all boxes are on goals, or none can be pushed."""
        pushes = self.pushes(state[0], state[1])
        return state[0] == self.goals or pushes[0] | pushes[1] | pushes[2] | pushes[3] == 0

    def action_space(self) -> Sequence[int]:
        """Return every push from a cell inside the walls to another one."""
        return [4 * cell + way for cell in self.places for way in range(4) if is_set(self.floor, cell + self.offsets[way])]

    def grid(self, state: State) -> list[list[str]]:
        """Return the marks of XSB: `#` wall, `$` box, `.` goal, `*` box on a goal, `@` and `+` the man."""
        return [[mark.strip("-") for mark in row] for row in self.format_state(state).split("|")]

    def render(self, state: State) -> str:
        """Return the rows of XSB, with a space for an empty cell."""
        return self.format_state(state).replace("|", "\n").replace("-", " ")

    def cells(self, state: State, action: int) -> list[tuple[int, int]]:
        """Return the cell to which a push leads, as row and column of the board."""
        row, column = divmod(action // 4 + self.offsets[action % 4], self.wide)
        return [(row + 1, column + 1)]

    def format_state(self, state: State) -> str:
        """Return the rows of XSB joined by `|`, such as `#####|#@$.#|#####`; `-` is an empty cell."""
        return self.xsb.write(state[0], state[1])

    def parse_state(self, text: str) -> State:
        """Parse rows of XSB joined by `|`. Raises ValueError for other walls or goals, or a wrong number of boxes."""
        boxes, man = self.xsb.read(text)
        return self.settle(boxes, man)

    def format_action(self, state: State, action: int) -> str:
        """Return the push with the shortest walks before and after it, such as `dlUr`."""
        cell, way = divmod(action, 4)
        boxes, man = self.result(state, action)
        before = self.xsb.find_walk(state[0], state[1], cell - self.offsets[way])
        return before + WAYS[way].upper() + self.xsb.find_walk(boxes, cell, man)

    def parse_action(self, state: State, text: str) -> int:
        """Return the push that a text such as `dlU` names. Any walk may precede the push, and no walk need follow it."""
        cell, way = self.xsb.read_push(state[0], state[1], text)
        if 4 * cell + way not in self.actions(state):
            raise ValueError(f"no box can be pushed that way, got {abbreviate(text)}")
        return 4 * cell + way


@encoding("planes", game="sokoban", shape=lambda game: (4, game.height, game.width))
def sokoban_planes(game: Sokoban, observation: State, seat: int) -> list[int]:
    """Return the floor, the goals, the boxes, and the cells that the man can reach."""
    planes = (game.floor, game.goals, observation[0], game.reach(*observation))
    return [
        plane >> row * game.wide + column & 1 for plane in planes for row in range(game.height) for column in range(game.width)
    ]
