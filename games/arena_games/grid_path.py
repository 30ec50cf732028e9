"""Path finding on a grid: maps and scenarios in the format of movingai.com (N. Sturtevant, Benchmarks for Grid-Based
Pathfinding, 2012).

A state is (the cell, the goal). Cells are numbered row by row; the map has a border of blocked cells around it.
"""

import random
from collections.abc import Iterator, Sequence
from math import sqrt
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from arena import Puzzle, encoding
from arena.api.errors import abbreviate
from arena.api.games import SpecFile, read_whole

State = tuple[int, int]
Weight = Annotated[float, Field(ge=1, le=1000)]

MAPS = Path(__file__).parent / "maps"
WAYS = ("N", "E", "S", "W", "NE", "SE", "SW", "NW")
_STEPS = ((-1, 0), (0, 1), (1, 0), (0, -1), (-1, 1), (1, 1), (1, -1), (-1, -1))
"""The steps in the order of WAYS, each as (rows down, columns to the right)."""
DIAGONAL = sqrt(2)
FREE = ".GS"
"""The marks of cells that can be entered. Cells with any other mark need a weight."""
MAX_MAP_BYTES = 4 << 20
"""The largest file of a map, in bytes. The largest map of movingai.com has about 3 MB."""
MAX_SCENARIO_BYTES = 16 << 20
"""The largest file of a scenario, in bytes."""
MAX_SHOWN_CELLS = 64
"""The maximum number of rows and columns that a board shows; for a larger map, it shows only the part around the cell."""


class GridPath(Puzzle):
    """Find the cheapest path between two cells of a map, by steps to 4 or 8 neighbours.

    `neighbours` is the number of cells to which a step can lead: 4, or 8 with diagonal steps. `map` is `rooms`, `maze`, `swamp`,
    or a file in the format of movingai.com; `scenario` is a file with pairs of cells for this map. A step costs its length times
    the mean weight of both cells; `weights` maps characters of the map to weights. Cells that are otherwise blocked,
    such as water (`W`), can be entered if their character has a weight. For a diagonal step, both cells beside it must
    be free. Actions are `N`, `NE`, and so on. Text notation: column and row from 0, `3,4 > 10,2`.
    """

    name = "grid-path"
    rules_text = (
        "Go from a cell of a map to a goal cell on a path that costs as little as possible. A step leads to the next cell in "
        "the north (N, up), east (E, right), south (S, down) or west (W, left). If `neighbours` is 8, there are also "
        "diagonal steps: NE, SE, SW and NW. Blocked cells cannot be entered, and a diagonal step needs both cells beside it "
        "to be free. A cell has the weight 1 unless `weights` gives its kind another weight. A step costs its length, which "
        "is 1, or the root of 2 for a diagonal step, times the mean weight of its two cells. A move is a direction, such as "
        "`N` or `NE`. A position is written as the column and the row of your cell and of the goal, counted from 0 at the "
        "top left: `3,4 > 10,2`."
    )
    default_heuristic: ClassVar[str | None] = "octile"
    grid_colors: ClassVar[dict[str, str]] = {"#": "#555555", "~": "#8fb8a8", "A": "#2456c6", "G": "gold"}

    def __init__(
        self,
        *,
        map: Literal["maze", "rooms", "swamp"] | SpecFile = "rooms",  # noqa: A002 - its name in a spec
        neighbours: Literal[4, 8] = 8,
        weights: dict[str, Weight] | None = None,
        scenario: SpecFile | None = None,
    ) -> None:
        file = MAPS / f"{map}.map" if map in ("maze", "rooms", "swamp") else Path(map)
        rows = read_map(file)
        marks = "".join(sorted(set("".join(rows))))
        for mark in weights or ():
            if len(mark) != 1 or mark not in marks:
                raise ValueError(f"weights: expected marks of the map {file.name}, which are {marks}, got {mark!r}")
        worth = {**dict.fromkeys(FREE, 1.0), **(weights or {})}
        self.neighbours = neighbours
        self.height, self.width = len(rows), len(rows[0]) + 2
        border = [0.0] * self.width
        inner = [weight for row in rows for weight in (0.0, *[worth.get(mark, 0.0) for mark in row], 0.0)]
        self.weights = (*border, *inner, *border)
        """The weight of each cell; 0 if it is blocked."""
        self.offsets = tuple([down * self.width + right for down, right in _STEPS])
        self.areas = find_areas(self.weights, self.offsets[:4])
        """For each cell, the number of its connected area, from 1; 0 if the cell is blocked."""
        self._members: dict[int, list[int]] = {}
        for cell, area in enumerate(self.areas):
            if area:
                self._members.setdefault(area, []).append(cell)
        if max([len(members) for members in self._members.values()], default=0) < 2:
            raise ValueError("map: expected two cells with a path between them, got none")
        self._problems: list[State] = []
        if scenario is not None:
            problems = read_scenario(Path(scenario), [file.name, str(self.width - 2), str(self.height)])
            self._problems = [self.parse_state(text) for text in problems]

    def initial(self, rng: random.Random) -> State:
        """Return one of the scenario's pairs of cells; without a scenario, two different cells that are connected."""
        if self._problems:
            return rng.choice(self._problems)
        areas = [members for members in self._members.values() if len(members) > 1]
        start, goal = rng.sample(rng.choices(areas, [len(members) for members in areas])[0], 2)
        return (start, goal)

    def can_step(self, cell: int, way: int) -> bool:
        """Return whether a step leads to a free cell and, if it is diagonal, both cells beside it are free."""
        if self.weights[cell + self.offsets[way]] == 0:
            return False
        return way < 4 or (
            self.weights[cell + self.offsets[way - 4]] > 0 and self.weights[cell + self.offsets[(way - 3) % 4]] > 0
        )

    def actions(self, state: State) -> Sequence[int]:
        """Return the steps to free cells: north, east, south, west, then the diagonal ones from north-east."""
        return [way for way in range(self.neighbours) if self.can_step(state[0], way)]

    def result(self, state: State, action: int) -> State:
        """Take a step."""
        return (state[0] + self.offsets[action], state[1])

    def step_cost(self, state: State, action: int, successor: State) -> float:
        """Return the length of the step times the mean weight of both cells."""
        return (1.0 if action < 4 else DIAGONAL) * (self.weights[state[0]] + self.weights[successor[0]]) / 2

    def is_goal(self, state: State) -> bool:
        """Return whether the goal is reached."""
        return state[0] == state[1]

    def is_terminal(self, state: State) -> bool:
        """Return whether the goal is reached. This puzzle has no dead ends."""
        return state[0] == state[1]

    def action_space(self) -> Sequence[int]:
        """Return all steps."""
        return range(self.neighbours)

    def place(self, cell: int) -> tuple[int, int]:
        """Return the column and the row of a cell, from 0."""
        return cell % self.width - 1, cell // self.width - 1

    def grid(self, state: State) -> list[list[str]]:
        """Return the map: `#` blocked, `~` with a weight above 1, `A` the cell, `G` the goal."""

        def mark(cell: int) -> str:
            if cell in state:
                return "A" if cell == state[0] else "G"
            return "#" if not self.weights[cell] else "~" if self.weights[cell] > 1 else ""

        columns, rows = find_window(self.place(state[0]), (self.width - 2, self.height))
        return [[mark((row + 1) * self.width + column + 1) for column in columns] for row in rows]

    def cells(self, state: State, action: int) -> list[tuple[int, int]]:
        """Return the cell to which a step leads, as row and column of the board."""
        columns, rows = find_window(self.place(state[0]), (self.width - 2, self.height))
        column, row = self.place(state[0] + self.offsets[action])
        return [(row - rows.start, column - columns.start)]

    def format_state(self, state: State) -> str:
        """Return the text notation, such as `3,4 > 10,2`."""
        (x, y), (goal_x, goal_y) = self.place(state[0]), self.place(state[1])
        return f"{x},{y} > {goal_x},{goal_y}"

    def parse_state(self, text: str) -> State:
        """Parse a text such as `3,4 > 10,2`. Raises ValueError for cells that are blocked, or not connected."""
        numbers = text.replace(">", ",").replace(" ", "").split(",")
        if len(numbers) != 4 or text.count(">") != 1 or not all(number.isdecimal() for number in numbers):
            raise ValueError(f"expected the column and row of a cell and of the goal, such as 3,4 > 10,2, got {abbreviate(text)}")
        x, y, goal_x, goal_y = map(int, numbers)
        for column, row in ((x, y), (goal_x, goal_y)):
            if not (column < self.width - 2 and row < self.height and self.areas[(row + 1) * self.width + column + 1]):
                raise ValueError(f"{column},{row} is not a free cell of the map, in {abbreviate(text)}")
        state = ((y + 1) * self.width + x + 1, (goal_y + 1) * self.width + goal_x + 1)
        if self.areas[state[0]] != self.areas[state[1]]:
            raise ValueError(f"unsolvable: there is no path between the cells of {abbreviate(text)}")
        return state

    def format_action(self, state: State, action: int) -> str:
        """Return the text of an action, such as `NE`."""
        return WAYS[action]


@encoding("features", game="grid-path", shape=(4,))
def grid_path_features(game: GridPath, observation: State, seat: int) -> list[float]:
    """Return the column and the row of the cell and of the goal, as shares of the map."""
    return [share for cell in observation for share in (cell % game.width / game.width, cell // game.width / (game.height + 2))]


def read_map(file: Path) -> list[str]:
    """Return the rows of a map in the format of movingai.com. Raises ValueError if the file is not one."""
    try:
        lines = read_whole(file, MAX_MAP_BYTES).decode("ascii").splitlines()
    except ValueError as error:
        raise ValueError(
            f"map: expected one of maze, rooms, swamp, or a file in the format of movingai.com, got {str(file)!r} ({error})"
        ) from None
    head = dict([line.split(maxsplit=1) for line in lines[1:3] if " " in line])
    size = (head.get("height", "0"), head.get("width", "0"))
    rows = lines[4:]
    if lines[:1] != ["type octile"] or lines[3:4] != ["map"] or not all(text.isdecimal() and int(text) for text in size):
        raise ValueError(f"map: {file}: expected the lines `type octile`, `height H`, `width W` and `map`")
    height, width = map(int, size)
    if len(rows) < height or any(len(row) != width for row in rows[:height]):
        raise ValueError(f"map: {file}: expected {height} rows of {width} cells")
    return rows[:height]


def read_scenario(file: Path, expected: Sequence[str]) -> Iterator[str]:
    """Yield the pairs of cells of a scenario. `expected` contains the name, the width and the height of the map. Raises
    ValueError if the file is not a scenario for this map.
    """
    try:
        lines = read_whole(file, MAX_SCENARIO_BYTES).decode().splitlines()
    except ValueError as error:
        raise ValueError(f"scenario: {file}: {error}") from None
    if not lines or not lines[0].startswith("version"):
        raise ValueError(f"scenario: {file}: expected `version 1` in the first line")
    for number, line in enumerate(lines[1:], 2):
        fields = line.split("\t") if "\t" in line else line.split()
        if len(fields) < 8:
            raise ValueError(f"scenario: {file}, line {number}: expected nine fields, got {line!r}")
        found = [Path(fields[1]).name, *fields[2:4]]
        if found != expected:
            wanted, got = [f"{name} with {width} columns and {height} rows" for name, width, height in (expected, found)]
            raise ValueError(f"scenario: {file}, line {number}: expected the map {wanted}, got {got}")
        yield f"{fields[4]},{fields[5]} > {fields[6]},{fields[7]}"


def find_areas(weights: Sequence[float], offsets: Sequence[int]) -> tuple[int, ...]:
    """Return the number of the connected area of each cell, from 1; 0 for a blocked cell. `offsets` are steps to neighbours."""
    areas, number = [0] * len(weights), 0
    for start, weight in enumerate(weights):
        if weight and not areas[start]:
            number += 1
            areas[start], pending = number, [start]
            while pending:
                cell = pending.pop()
                for offset in offsets:
                    if weights[cell + offset] and not areas[cell + offset]:
                        areas[cell + offset] = number
                        pending.append(cell + offset)
    return tuple(areas)


def find_window(place: tuple[int, int], size: tuple[int, int]) -> tuple[range, range]:
    """Return the columns and the rows that a board shows, around a place (column, row) on a map of a size (columns, rows)."""
    starts = [max(0, min(at - MAX_SHOWN_CELLS // 2, end - MAX_SHOWN_CELLS)) for at, end in zip(place, size, strict=True)]
    columns, rows = [range(start, min(end, start + MAX_SHOWN_CELLS)) for start, end in zip(starts, size, strict=True)]
    return columns, rows
