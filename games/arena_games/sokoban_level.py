"""Levels of sokoban in XSB format, and the texts of positions (XSB) and pushes (LURD).

Cell (row, column) inside the walls has the number `row * wide + column`; sets of cells are the bits with these numbers. There is
a spare number behind each row, so that no step leads from one row into the next.
"""

from collections.abc import Iterator
from pathlib import Path

from arena.api.errors import abbreviate
from arena.api.games import read_whole

LOST = 10_000
"""Stands for the number of pushes if no pushes lead to the goal."""
WAYS = "lurd"
MAX_FILE_BYTES = 4 << 20
"""The largest file of levels, in bytes."""
MAX_SIDE_CELLS = 64
"""The maximum number of rows and columns of a level, including its walls."""


class Level:
    """The cells, the boxes and the man of a level at its start. Raises ValueError if the file has no such level."""

    def __init__(self, file: Path, number: int) -> None:
        self.place, rows = _read_rows(file, number)
        """The name of the level in messages."""
        marks = {(row, column): mark for row, line in enumerate(rows) for column, mark in enumerate(line)}
        inside = _find_inside(marks, self.place)
        top, left = min(row for row, _ in inside), min(column for _, column in inside)
        self.height, self.width = max(row for row, _ in inside) - top + 1, max(column for _, column in inside) - left + 1
        self.wide = self.width + 1
        self.offsets = (-1, -self.wide, 1, self.wide)
        """The changes of a cell by the steps in WAYS."""
        numbers = {(row, column): (row - top) * self.wide + column - left for row, column in inside}
        self.places = tuple(sorted(numbers.values()))
        """The cells inside the walls, row by row."""
        self.floor, self.goals, self.boxes = [
            sum(1 << number for cell, number in numbers.items() if kind is None or marks[cell] in kind)
            for kind in (None, ".*+", "$*")
        ]
        self.man = next(number for cell, number in numbers.items() if marks[cell] in "@+")
        if self.boxes.bit_count() != self.goals.bit_count() or not self.boxes:
            counts = f"{self.boxes.bit_count()} and {self.goals.bit_count()}"
            raise ValueError(f"{self.place}: expected as many boxes as goals, got {counts}")

    def push_distances(self) -> Iterator[list[int]]:
        """Yield, for each goal, the fewest pushes that bring a single box there from every cell; LOST if no pushes do."""
        for goal in self.places:
            if self.goals >> goal & 1:
                found, level = [LOST] * (self.places[-1] + 1), [goal]
                found[goal] = 0
                for cell in level:
                    for step in self.offsets:
                        before, man = cell - step, cell - 2 * step
                        if is_set(self.floor, before) and is_set(self.floor, man) and found[before] == LOST:
                            found[before] = found[cell] + 1
                            level.append(before)
                yield found

    def can_match(self) -> bool:
        """Return whether each box can be pushed to a different goal, as if no other box were there."""
        pushes = list(self.push_distances())
        owners: dict[int, int] = {}
        goals: dict[int, int] = {}
        for box in [cell for cell in self.places if self.boxes >> cell & 1]:
            found: dict[int, int] = {}
            """The goals that were reached, each with the box that would move there."""
            waiting = [box]
            for current in waiting:
                for goal in [goal for goal, row in enumerate(pushes) if row[current] < LOST and goal not in found]:
                    found[goal] = current
                    if goal in owners:
                        waiting.append(owners[goal])
            free = next((goal for goal in found if goal not in owners), None)
            if free is None:
                return False
            while free is not None:  # each box on the way to the free goal moves on by one goal
                mover = found[free]
                owners[free] = mover
                goals[mover], free = free, goals.get(mover)
        return True

    def write(self, boxes: int, man: int) -> str:
        """Return the rows of XSB joined by `|`, such as `#####|#@$.#|#####`; `-` is an empty cell."""
        rows = [["#"] * (self.width + 2) for _ in range(self.height + 2)]
        for cell in self.places:
            mark = "-.$*@+"[(self.goals >> cell & 1) + 2 * (boxes >> cell & 1) + 4 * (cell == man)]
            rows[cell // self.wide + 1][cell % self.wide + 1] = mark
        return "|".join(["".join(row) for row in rows])

    def read(self, text: str) -> tuple[int, int]:
        """Return the boxes and the man. Raises ValueError for other walls or goals, or a wrong number of boxes."""
        marks = text.strip().translate(str.maketrans("_ ", "--"))
        empty = self.write(0, -1)
        if marks.translate(str.maketrans("$*@+", "-.-.")) != empty:
            raise ValueError(f"expected the walls and goals of {empty}, got {abbreviate(text)}")
        found = [(row - 1) * self.wide + column - 1 for row, line in enumerate(marks.split("|")) for column in range(len(line))]
        signs = dict(zip(found, marks.replace("|", ""), strict=True))
        boxes = sum(1 << cell for cell, sign in signs.items() if sign in "$*")
        men = [cell for cell, sign in signs.items() if sign in "@+"]
        count = self.boxes.bit_count()
        if boxes.bit_count() != count or len(men) != 1:
            raise ValueError(f"expected {count} boxes and one man, got {boxes.bit_count()} and {len(men)} in {abbreviate(text)}")
        return boxes, men[0]

    def read_push(self, boxes: int, man: int, text: str) -> tuple[int, int]:
        """Return the cell and the way of the push in a text such as `dlU`. Any walk may precede the push, and no walk need follow
        it. Raises ValueError if the walk is impossible, or there is no push.
        """
        walk, letter = text.strip().rstrip(WAYS)[:-1], text.strip().rstrip(WAYS)[-1:]
        for step in walk:
            man += self.offsets[WAYS.find(step)]
            if step not in WAYS or not is_set(self.floor & ~boxes, man):
                raise ValueError(
                    f"expected a walk over free cells in the lowercase letters {', '.join(WAYS)}, got {abbreviate(step)} in "
                    f"{abbreviate(text)}"
                )
        if not letter or letter not in WAYS.upper():
            raise ValueError(f"expected one capital letter of {WAYS.upper()} for the push, got {abbreviate(text)}")
        way = WAYS.index(letter.lower())
        return man + self.offsets[way], way

    def find_walk(self, boxes: int, start: int, end: int) -> str:
        """Return a shortest walk of the man over free cells, in letters of WAYS."""
        walks = {start: ""}
        for cell in (waiting := [start]):
            for letter, offset in zip(WAYS, self.offsets, strict=True):
                if cell + offset not in walks and is_set(self.floor & ~boxes, cell + offset):
                    walks[cell + offset] = walks[cell] + letter
                    waiting.append(cell + offset)
        return walks[end]


def is_set(bits: int, cell: int) -> bool:
    """Return whether a set of cells contains a cell."""
    return cell >= 0 and bits >> cell & 1 == 1


def _read_rows(file: Path, level: int) -> tuple[str, list[str]]:
    """Return a name for messages and the rows of a level. Raises ValueError if the file has no such level."""
    try:
        lines = read_whole(file, MAX_FILE_BYTES).decode().splitlines()
    except ValueError as error:
        raise ValueError(f"file: expected a file with levels in XSB format, got {str(file)!r} ({error})") from None
    levels: list[list[str]] = [[]]
    for line in lines:
        if "#" in line and not line.strip("#@+$*. -_"):
            levels[-1].append(line)
        elif levels[-1]:
            levels.append([])
    levels = [rows for rows in levels if rows]
    if level > len(levels):
        raise ValueError(f"level: {file.name} has {len(levels)} levels, got {level}")
    return f"level {level} of {file.name}", levels[level - 1]


def _find_inside(marks: dict[tuple[int, int], str], place: str) -> set[tuple[int, int]]:
    """Return the cells inside the walls. Raises ValueError for a level without a man or with a gap in its walls."""
    men = [cell for cell, mark in marks.items() if mark in "@+"]
    if len(men) != 1:
        raise ValueError(f"{place}: expected one man, @ or +, got {len(men)}")
    inside, waiting = set(men), men
    while waiting:
        row, column = waiting.pop()
        for cell in ((row, column - 1), (row - 1, column), (row, column + 1), (row + 1, column)):
            if cell not in marks or max(cell) >= MAX_SIDE_CELLS:
                raise ValueError(f"{place}: expected walls around the man, and at most {MAX_SIDE_CELLS} rows and columns")
            if marks[cell] != "#" and cell not in inside:
                inside.add(cell)
                waiting.append(cell)
    outside = [cell for cell, mark in marks.items() if mark in "$*." and cell not in inside]
    if outside:
        raise ValueError(f"{place}: the man cannot reach {marks[outside[0]]} in row {outside[0][0] + 1}")
    return inside
