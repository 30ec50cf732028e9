"""Searches that remember only one path: depth-first, iterative deepening, and iterative deepening A*."""

from collections.abc import Callable, Iterator
from typing import Annotated, ClassVar, cast

from pydantic import Field

from arena import Action, Agent, Game, Hints, Limits, Path, Puzzle, Search, State
from arena_agents.best_first import Weight, clear_without_memory, is_unbounded, step_costs, to_path

UNLIMITED = float("inf")
Depth = Annotated[int, Field(ge=1)]


class DepthFirst(Agent):
    """Finds a solution, not necessarily a short one. It follows the first action as long as possible, and goes back from dead
    ends.

    Also called depth-first search. With `visited`, it never visits a state twice. Without `visited`, it only avoids the states on
    the current path. The search still always ends, but it may visit the same state on every possible path. `depth` and
    `search.limits.depth` limit the number of actions of a solution. With such a limit, a visited state is searched again if it is
    reached with fewer actions, so that no solution within the depth is missed. It gives up if no paths are left.

    In puzzles without dead ends, such as sliding tiles, solutions are very long, and `limits.moves` may be too small for them. R.
    Tarjan, Depth-First Search and Linear Graph Algorithms, 1972.
    """

    name = "dfs"
    hints = Hints(proposed={"single-player": 3}, uses_heuristic=False)
    needs: ClassVar[frozenset[str]] = frozenset({"single-player"})

    def __init__(self, *, visited: bool = True, depth: Depth | None = None) -> None:
        self.visited = visited
        self.depth = depth
        self.engine = "dfs" if visited else "iterative-deepening"

    def solve(self, game: Game, state: State, search: Search) -> Path | None:
        """Return the path to the first goal that is found; None if there is none within the depth."""
        deepest = min(self.depth or UNLIMITED, search.limits.depth or UNLIMITED)
        return depth_first(cast(Puzzle, game), state, deepest, search, visited=self.visited)[0]

    def needs_limit(self, limits: Limits) -> bool:
        """Return True if there is neither a depth nor a budget nor a memory limit."""
        return self.depth is None and limits.depth is None and is_unbounded(limits)


class IterativeDeepening(Agent):
    """Finds a solution with the fewest actions, no matter what they cost, and remembers only one path.

    Also called IDDFS, iterative deepening search or iterative deepening depth-first search. It searches depth-first to one
    action, to two, and so on, up to `search.limits.depth`, until it finds a goal or no path can be continued. Paths do not visit
    a state twice, so it always ends; but if many paths lead to the same states, it searches these repeatedly. D. Slate, L. Atkin,
    CHESS 4.5, 1977; R. Korf, Depth-First Iterative-Deepening, 1985.
    """

    name = "iterative-deepening"
    engine = "iterative-deepening"
    hints = Hints(uses_heuristic=False)
    needs: ClassVar[frozenset[str]] = frozenset({"single-player"})
    optimal = "length"

    def solve(self, game: Game, state: State, search: Search) -> Path | None:
        """Return a shortest path to a goal; None if there is none."""
        for depth in search.depths():
            found, cut = depth_first(cast(Puzzle, game), state, depth, search, visited=False)
            if found is not None or not cut:
                return found
        return None

    def needs_limit(self, limits: Limits) -> bool:
        """Return True if there is neither a depth nor a budget."""
        return limits.depth is None and not limits.budget


def depth_first(puzzle: Puzzle, start: State, deepest: float, search: Search, *, visited: bool) -> tuple[Path | None, bool]:
    """Return the path to the first goal within `deepest` actions, or None, and whether a path was cut off there.

    With `visited`, the search remembers all expanded states, otherwise only the states of the current path.
    """
    if puzzle.is_goal(start):
        return Path(()), False
    loop = search.compiled("dfs" if visited else "iterative-deepening")
    if loop is not None:
        found, cut = loop(start, deepest)
        return to_path(found), cut
    met: dict[State, int] = {start: 0}
    with clear_without_memory(met):
        found, cut = _descend(puzzle, start, deepest, met, visited)
        return to_path(found), cut


def _descend(
    puzzle: Puzzle, state: State, deepest: float, met: dict[State, int], visited: bool
) -> tuple[list[Action] | None, bool]:
    """Return the actions to the first goal, or None, and whether a path was cut off at `deepest` actions.

    `met` contains the number of actions to each state of the current path, or with `visited`, to each expanded state.
    """
    actions, result, is_goal = puzzle.actions, puzzle.result, puzzle.is_goal
    once = deepest == UNLIMITED
    pending = iter(actions(state))
    above: list[tuple[State, Iterator[Action]]] = []
    trail: list[Action] = []
    cut = False
    while True:
        depth = len(trail) + 1
        for action in pending:
            successor = result(state, action)
            if successor in met and (once or met[successor] <= depth):
                continue
            if is_goal(successor):
                return [*trail, action], cut
            if depth >= deepest:
                cut = True
                continue
            met[successor] = depth
            above.append((state, pending))
            trail.append(action)
            state, pending = successor, iter(actions(successor))
            break
        else:
            if not above:
                return None, cut
            if not visited:
                del met[state]
            trail.pop()
            state, pending = above.pop()


INFINITY = float("inf")
ROUNDING = 1 + 1e-12
"""Bounds are multiplied by this factor. Otherwise, each rounding error in a sum could cost an iteration."""


class IdaStar(Agent):
    """Finds a cheapest solution if the heuristic never overestimates, as a-star does, but stores only the current path.

    Also called IDA* or iterative deepening A*. A `weight` above 1 multiplies the heuristic and trades optimality for speed: a
    solution then costs at most `weight` times the cheapest, and its cost may differ from that of a-star's solution with
    the same weight. It gives up after searching all paths. Paths do not visit a state twice, so it always ends; but if
    many paths lead to the same states, this can take very long. It works best with integer step costs: each iteration
    raises the bound to the lowest cost that was cut off. If all costs differ, an iteration adds only a few states. R.
    Korf, Depth-First Iterative-Deepening, 1985.
    """

    name = "ida-star"
    needs: ClassVar[frozenset[str]] = frozenset({"single-player"})
    wants_heuristic = True
    hints = Hints(proposed={"path": 4, "solution-only": 1})
    engine = "ida-star"

    def __init__(self, *, weight: Weight = 1.0) -> None:
        self.weight = weight
        self.optimal = "admissible" if weight == 1 else None

    def solve(self, game: Game, state: State, search: Search) -> Path | None:
        """Return a path to a goal that costs at most `weight` times the lowest cost; None if there is none."""
        puzzle = cast(Puzzle, game)
        if puzzle.is_goal(state):
            return Path(())
        weight, cost_to_go = self.weight, search.cost_to_go
        estimate = cost_to_go if weight == 1 else lambda successor: weight * cost_to_go(successor)
        deepest = search.limits.depth or INFINITY
        bound = estimate(state)
        while bound < INFINITY:
            loop = search.compiled("ida-star", weight=weight)
            if loop is None:
                found, bound = _within(puzzle, state, estimate, bound * ROUNDING, deepest)
            else:
                found, bound = loop(state, bound * ROUNDING, deepest)
            if found is not None:
                return Path(found)
        return None

    def needs_limit(self, limits: Limits) -> bool:
        """Return True if there is neither a depth nor a budget."""
        return limits.depth is None and not limits.budget


def _within(
    puzzle: Puzzle, start: State, estimate: Callable[[State], float], bound: float, deepest: float
) -> tuple[list[Action] | None, float]:
    """Search all paths with an estimated cost of at most `bound` and at most `deepest` actions.

    Return the actions to the first goal, or None, and the lowest estimated cost that was cut off.
    """
    actions, result, is_goal, step_cost = puzzle.actions, puzzle.result, puzzle.is_goal, step_costs(puzzle)
    state, g, pending = start, 0.0, iter(actions(start))
    above: list[tuple[State, float, Iterator[Action]]] = []
    line, trail = {start}, list[Action]()
    beyond = INFINITY
    while True:
        for action in pending:
            successor = result(state, action)
            if successor in line:
                continue
            cost = g + 1 if step_cost is None else g + step_cost(state, action, successor)
            f = cost + estimate(successor)
            if f <= bound:
                if is_goal(successor):
                    return [*trail, action], f
                if len(trail) + 1 < deepest:
                    above.append((state, g, pending))
                    trail.append(action)
                    line.add(successor)
                    state, g, pending = successor, cost, iter(actions(successor))
                    break
            elif f < beyond:
                beyond = f
        else:
            if not above:
                return None, beyond
            line.remove(state)
            trail.pop()
            state, g, pending = above.pop()
