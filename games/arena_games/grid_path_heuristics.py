"""Lower bounds on the cost of a path on a map: distances without obstacles, and landmarks."""

from heapq import heappop, heappush
from math import inf
from typing import Annotated

from pydantic import Field

from arena import heuristic
from arena_games.grid_path import DIAGONAL, GridPath, State


def path_costs(game: GridPath, start: int) -> list[float]:
    """Return the cost of a cheapest path from a cell to every cell, by Dijkstra's algorithm; infinity if there is none."""
    costs = [inf] * len(game.weights)
    costs[start] = 0.0
    pending = [(0.0, start)]
    while pending:
        cost, cell = heappop(pending)
        if cost > costs[cell]:
            continue
        for way in game.actions((cell, cell)):
            after = game.result((cell, cell), way)
            total = cost + game.step_cost((cell, cell), way, after)
            if total < costs[after[0]]:
                costs[after[0]] = total
                heappush(pending, (total, after[0]))
    return costs


@heuristic("manhattan", game="grid-path", admissible=True, consistent=True)
class GridManhattan:
    """The number of columns plus the number of rows between the cell and the goal. With 8 neighbours, the sum is divided by root
    2, so it never overestimates. P. Yap, Grid-Based Path-Finding, 2002, uses the sum for 4 neighbours.
    """

    def __init__(self, game: GridPath) -> None:
        self._width = game.width
        self._scale = 1.0 if game.neighbours == 4 else 1 / DIAGONAL

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the estimated cost to the goal."""
        cell, goal = state[0], state[1]
        width = self._width
        return (abs(cell % width - goal % width) + abs(cell // width - goal // width)) * self._scale


@heuristic("octile", game="grid-path", admissible=True, consistent=True)
class Octile:
    """The length of a cheapest path on a map without obstacles, on which diagonal steps are always allowed. P. Yap, Grid-Based
    Path-Finding, 2002, calls maps with 8 neighbours octiles.
    """

    def __init__(self, game: GridPath) -> None:
        self._width = game.width

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the estimated cost to the goal."""
        cell, goal = state[0], state[1]
        across = abs(cell % self._width - goal % self._width)
        down = abs(cell // self._width - goal // self._width)
        return max(across, down) + (DIAGONAL - 1) * min(across, down)


@heuristic("euclidean", game="grid-path", admissible=True, consistent=True)
class Euclidean:
    """The length of the straight line to the goal. J. Pearl, Heuristics, 1984, begins with this heuristic for road maps."""

    def __init__(self, game: GridPath) -> None:
        self._width = game.width

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the estimated cost to the goal."""
        cell, goal = state[0], state[1]
        across = cell % self._width - goal % self._width
        down = cell // self._width - goal // self._width
        return float((across * across + down * down) ** 0.5)


@heuristic("differential", game="grid-path", admissible=True, consistent=True)
class Differential:
    """The largest difference, over all landmarks, between the cost from a landmark to the cell and the cost to the goal.

    `landmarks` is the number of landmarks. A landmark is a cell from which the costs to all other cells are known. Each further
    landmark is a cell that is farthest from the landmarks before it. A. Goldberg, C. Harrelson, Computing the Shortest Path: A*
    Search Meets Graph Theory, 2005; N. Sturtevant and others, Memory-Based Heuristics for Explicit State Spaces, 2009, who gave
    it its name.
    """

    def __init__(self, game: GridPath, *, landmarks: Annotated[int, Field(ge=1, le=64)] = 8) -> None:
        sizes = [game.areas.count(area) for area in range(1, max(game.areas) + 1)]
        area = 1 + sizes.index(max(sizes))  # the largest area; in other areas, the estimate is 0
        cells = [cell for cell, number in enumerate(game.areas) if number == area]
        costs = path_costs(game, cells[0])
        nearest = [inf] * len(costs)
        table: list[float] = []
        for _ in range(landmarks):
            landmark = max(cells, key=costs.__getitem__)
            found = path_costs(game, landmark)
            table += [0.0 if cost == inf else cost for cost in found]
            nearest = [min(pair) for pair in zip(nearest, found, strict=True)]
            costs = nearest
        self._cells = len(costs)
        self._landmarks = landmarks
        self._table = tuple(table)

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the estimated cost to the goal."""
        best = 0.0
        for landmark in range(self._landmarks):
            start = landmark * self._cells
            best = max(best, abs(self._table[start + state[0]] - self._table[start + state[1]]))
        return best
