"""Random sudoku puzzles with exactly one solution: a full grid, from which givens are taken as long as one remains."""

import random

from arena_games.sudoku_grid import GridGeometry, count_solutions

MOST_SEARCHED = 3
"""Boxes up to this size are filled by search; larger ones by shuffling a pattern, since a search may take for ever."""
NODES = 2_000
"""Grids that a test for a second solution may look at on larger grids; where that does not do, the given stays."""


def random_puzzle(geometry: GridGeometry, givens: int, rng: random.Random) -> int:
    """Return a grid with one solution and `givens` digits, or more where none of the rest can be spared.

    So with few givens it is minimal: without any of its digits it would have several solutions. Only beyond boxes of 3 by 3
    a digit may also stay because it would take too long to tell.
    """
    nodes = None if geometry.box <= MOST_SEARCHED else NODES
    actions = random_solution(geometry, rng)
    rng.shuffle(actions)
    kept = len(actions)
    for action in list(actions):
        if kept <= givens:
            break
        actions.remove(action)
        others = _filled(geometry, actions) & ~_candidate(geometry, action)
        if count_solutions(geometry, others, most=1, nodes=nodes) == 0:
            kept -= 1
        else:
            actions.append(action)
    return _filled(geometry, actions)


def random_solution(geometry: GridGeometry, rng: random.Random) -> list[int]:
    """Return a random full grid as its actions."""
    return _searched(geometry, rng) if geometry.box <= MOST_SEARCHED else _shuffled(geometry, rng)


def _searched(geometry: GridGeometry, rng: random.Random) -> list[int]:
    """Depth first, digits in random order. Not all grids have the same chance, but each has one."""
    unseen: list[tuple[int, tuple[int, ...]]] = [(geometry.blank, ())]
    while True:
        grid, done = unseen.pop()
        if not grid >> geometry.top:
            return list(done)
        actions = list(geometry.most_constrained(grid))
        rng.shuffle(actions)
        unseen += [(grid & geometry.keep[action], (*done, action)) for action in actions]


def _shuffled(geometry: GridGeometry, rng: random.Random) -> list[int]:
    """A pattern that is a solution, its digits, rows and columns shuffled as far as it stays one."""
    box, digits = geometry.box, geometry.digits
    names, rows, columns = rng.sample(range(digits), digits), _lines(box, rng), _lines(box, rng)
    found = []
    for row, old_row in enumerate(rows):
        for column, old_column in enumerate(columns):
            digit = names[(old_row % box * box + old_row // box + old_column) % digits]
            found.append((row * digits + column) * digits + digit)
    return found


def _lines(box: int, rng: random.Random) -> list[int]:
    """Rows or columns, shuffled within bands and the bands among themselves."""
    return [band * box + line for band in rng.sample(range(box), box) for line in rng.sample(range(box), box)]


def _filled(geometry: GridGeometry, actions: list[int]) -> int:
    grid = geometry.blank
    for action in actions:
        grid &= geometry.keep[action]
    return grid


def _candidate(geometry: GridGeometry, action: int) -> int:
    """The bit that says that a digit may stand in a cell."""
    cell, digit = divmod(action, geometry.digits)
    return 1 << cell + geometry.shifts[digit]
