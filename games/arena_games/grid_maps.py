"""Maps and scenarios in the format of movingai.com: N. Sturtevant, Benchmarks for Grid-Based Pathfinding, 2012. The module also
finds the connected areas of a map, and the part of a map that fits on a board.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from arena.api.games import read_whole

MAX_MAP_BYTES = 4 << 20
"""The largest file of a map, in bytes. The largest map of movingai.com has about 3 MB."""
MAX_SCENARIO_BYTES = 16 << 20
"""The largest file of a scenario, in bytes."""
MAX_SHOWN_CELLS = 64
"""The maximum number of rows and columns that a board shows; for a larger map, it shows only the part around the cell."""


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
    """Yield the pairs of cells of a scenario. `expected` has the name, the width and the height of the map. Raises ValueError if
    the file is not a scenario for this map.
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
