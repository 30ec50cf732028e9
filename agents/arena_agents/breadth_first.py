"""Breadth-first search: all states one action away, then all that are two away, and so on."""

from typing import ClassVar, cast

from arena import Agent, Game, Limits, Path, Puzzle, Search, State
from arena_agents.reached import Reached, emptied_without_memory, path_to, unbounded, way


class BreadthFirst(Agent):
    """Finds a solution of the fewest actions, whatever they cost.

    Gives up when no state is left, or none within `search.limits.depth`. It remembers every state that it has met, so memory
    is what it runs out of; a node budget ends it before that. E. F. Moore, The Shortest Path Through a Maze, 1959.
    """

    name = "bfs"
    engine = "bfs"
    uses_heuristic = False
    needs: ClassVar[frozenset[str]] = frozenset({"single-player"})
    optimal = "length"
    reference = True

    def solve(self, game: Game, state: State, search: Search) -> Path | None:
        """Return a shortest way to a goal; None where there is none."""
        puzzle = cast(Puzzle, game)
        if puzzle.is_goal(state):
            return Path(())
        loop = search.compiled("bfs")
        if loop is not None:
            return way(loop(state, search.limits.depth or float("inf")))
        reached: Reached = {state: (None, None)}
        layer = [state]
        depth = 0
        with emptied_without_memory(reached, layer):
            while layer and depth != search.limits.depth:
                goals = _advance(puzzle, reached, layer)
                if goals:
                    return path_to(goals[0], reached)
                depth += 1
        return None

    def needs_limit(self, limits: Limits) -> bool:
        """Return True without a depth, a budget and a limit of memory."""
        return limits.depth is None and unbounded(limits)


def _advance(puzzle: Puzzle, reached: Reached, layer: list[State]) -> list[State]:
    """Replace `layer` by the states that are one action farther; return the first goal among them, which ends the search."""
    actions, result, is_goal = puzzle.actions, puzzle.result, puzzle.is_goal
    farther: list[State] = []
    for state in layer:
        for action in actions(state):
            successor = result(state, action)
            if successor not in reached:
                reached[successor] = (state, action)
                if is_goal(successor):
                    return [successor]
                farther.append(successor)
    layer[:] = farther
    return []
