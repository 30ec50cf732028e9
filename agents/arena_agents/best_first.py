"""Graph searches that remember all states: breadth-first, uniform-cost, best-first and a-star.

The last three use the same algorithm with different priorities: BEST-FIRST-SEARCH in S. Russell, P. Norvig, Artificial
Intelligence: A Modern Approach, 4th edition, figure 3.7.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from heapq import heappop, heappush
from typing import Annotated, Any, ClassVar, cast

from pydantic import Field

from arena import Action, Agent, Game, Hints, Limits, Path, Puzzle, Search, State, overrides
from arena.api.games import check_step_cost

INFINITY = float("inf")
Reached = dict[State, tuple[Any, ...]]
"""For each reached state, a tuple that ends with the state before it and the action between them."""


def path_to(goal: State, reached: Mapping[State, tuple[Any, ...]]) -> Path:
    """Return the path to `goal` from the start, which is the only state without a predecessor."""
    actions: list[Action] = []
    *_, before, action = reached[goal]
    while before is not None:
        actions.append(action)
        *_, before, action = reached[before]
    return Path(reversed(actions))


def to_path(actions: Sequence[Action] | None) -> Path | None:
    """Return actions as a path; None if `actions` is None."""
    return None if actions is None else Path(actions)


def step_costs(puzzle: Puzzle) -> Callable[[State, Action, State], float] | None:
    """Return a function for the cost of a step; None if every step costs 1. The function raises GameError for a wrong cost."""
    if not overrides(puzzle, "step_cost"):
        return None
    step_cost = puzzle.step_cost

    def checked(state: State, action: Action, successor: State) -> float:
        cost = step_cost(state, action, successor)
        return cost if 0 <= cost < INFINITY else check_step_cost(puzzle, state, action, cost)

    return checked


def is_unbounded(limits: Limits) -> bool:
    """Return whether a search that remembers states has neither a budget nor a memory limit."""
    return not limits.budget and limits.memory_mb is None


@contextmanager
def clear_without_memory(*tables: Any) -> Iterator[None]:
    """Clear `tables` when memory runs out inside the block, and raise the error again, because handling it needs memory."""
    try:
        yield
    except MemoryError:
        for table in tables:
            table.clear()
        raise


class GraphSearch(Agent):
    """A search of a puzzle that remembers every state that it reaches."""

    needs: ClassVar[frozenset[str]] = frozenset({"single-player"})

    def needs_limit(self, limits: Limits) -> bool:
        """Return True if there is neither a budget nor a memory limit."""
        return is_unbounded(limits)


class BreadthFirst(GraphSearch):
    """Finds a solution with the fewest actions, no matter what they cost.

    Also called breadth-first search. It gives up if no states are left, or none within `search.limits.depth`. It remembers every
    state, so it runs out of memory unless a node budget ends it first. E. F. Moore, The Shortest Path Through a Maze, 1959.
    """

    name = "bfs"
    engine = "bfs"
    hints = Hints(reference=True, uses_heuristic=False)
    optimal = "length"

    def solve(self, game: Game, state: State, search: Search) -> Path | None:
        """Return a shortest path to a goal; None if there is none."""
        puzzle = cast(Puzzle, game)
        if puzzle.is_goal(state):
            return Path(())
        loop = search.compiled("bfs")
        if loop is not None:
            return to_path(loop(state, search.limits.depth or float("inf")))
        reached: Reached = {state: (None, None)}
        layer = [state]
        depth = 0
        with clear_without_memory(reached, layer):
            while layer and depth != search.limits.depth:
                goals = _advance(puzzle, reached, layer)
                if goals:
                    return path_to(goals[0], reached)
                depth += 1
        return None

    def needs_limit(self, limits: Limits) -> bool:
        """Return True if there is neither a depth nor a budget nor a memory limit."""
        return limits.depth is None and is_unbounded(limits)


def _advance(puzzle: Puzzle, reached: Reached, layer: list[State]) -> list[State]:
    """Replace `layer` by the states that are one action farther away. Return the first goal among them, which ends the search."""
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


Weight = Annotated[float, Field(ge=1, allow_inf_nan=False)]
Priority = Callable[[float, State], float]
"""(g, state) -> the priority of a state that was reached at the cost g. The state with the lowest priority is expanded first; a
state with an infinite priority is never expanded.
"""
Key = tuple[float, float]
"""A priority and minus g. Of two equal priorities, the one with the larger g comes first."""


class UniformCost(GraphSearch):
    """Finds a cheapest solution without a heuristic: it always expands the state that was cheapest to reach.

    Also called UCS, uniform-cost search or Dijkstra's algorithm. It gives up if no state is left. It remembers every state, so it
    runs out of memory unless a node budget ends it first. E. W. Dijkstra, A Note on Two Problems in Connexion with Graphs, 1959.
    """

    name = "uniform-cost"
    engine = "uniform-cost"
    hints = Hints(uses_heuristic=False)
    optimal = "cost"

    def solve(self, game: Game, state: State, search: Search) -> Path | None:
        """Return a cheapest path to a goal; None if there is none."""
        loop = search.compiled("uniform-cost")
        if loop is not None:
            return to_path(loop(state))
        return best_first(cast(Puzzle, game), state, lambda g, _: g)


class BestFirst(GraphSearch):
    """Finds a solution, but seldom the cheapest one. It always expands the state with the best heuristic value.

    Also called greedy best-first search or GBFS. This is greedy best-first search. It gives up when no state is left. It needs as
    much memory as uniform-cost. J. Doran, D. Michie, Experiments with the Graph Traverser Program, 1966.
    """

    name = "best-first"
    engine = "best-first"
    wants_heuristic = True
    hints = Hints(reference=True)

    def solve(self, game: Game, state: State, search: Search) -> Path | None:
        """Return a path to a goal; None if there is none."""
        cost_to_go = search.cost_to_go
        loop = search.compiled("best-first")
        if loop is not None:
            return to_path(loop(state))
        return best_first(cast(Puzzle, game), state, lambda _, successor: cost_to_go(successor))


class AStar(GraphSearch):
    """Finds a cheapest solution if the heuristic never overestimates. With a weight, it is faster but may find a more expensive
    one.

    Also called A* or A* search. It expands the state with the lowest sum of the cost so far and the heuristic: P. Hart, N.
    Nilsson, B. Raphael, A Formal Basis for the Heuristic Determination of Minimum Cost Paths, 1968. A `weight` above 1 multiplies
    the heuristic and trades optimality for speed: a solution then costs at most `weight` times the cheapest (I. Pohl, Heuristic
    Search Viewed as Path Finding in a Graph, 1970), and usually far less. It gives up when no state is left, or if the heuristic
    of all remaining states is infinite. It needs as much memory as uniform-cost.
    """

    name = "a-star"
    engine = "a-star"
    wants_heuristic = True
    hints = Hints(reference=True, proposed={"path": 5, "solution-only": 2})

    def __init__(self, *, weight: Weight = 1.0) -> None:
        self.weight = weight
        self.optimal = "admissible" if weight == 1 else None

    def solve(self, game: Game, state: State, search: Search) -> Path | None:
        """Return a path to a goal that costs at most `weight` times the lowest cost; None if there is none."""
        weight, cost_to_go = self.weight, search.cost_to_go
        loop = search.compiled("a-star", weight=weight)
        if loop is not None:
            return to_path(loop(state))
        if weight == 1:
            return best_first(cast(Puzzle, game), state, lambda g, successor: g + cost_to_go(successor))
        return best_first(cast(Puzzle, game), state, lambda g, successor: g + weight * cost_to_go(successor))


def best_first(puzzle: Puzzle, start: State, priority: Priority) -> Path | None:
    """Return the path to the first goal that is expanded; None when no states are left, or only states with infinite priority.

    If a cheaper path to a known state is found, it replaces the old one. If the state has already been expanded, it is expanded
    again. So an admissible heuristic need not be consistent.
    """
    reached: Reached = {start: (0, None, None)}
    frontier: dict[Key, list[State]] = {(priority(0, start), 0): [start]}
    with clear_without_memory(reached, frontier):
        goal = _expand(puzzle, reached, frontier, priority)
        return None if goal is None else path_to(goal, reached)


def _expand(puzzle: Puzzle, reached: Reached, frontier: dict[Key, list[State]], priority: Priority) -> State | None:
    """Return the first goal that is expanded.

    The frontier has a stack of states for each key, so that the heap holds every key only once.
    """
    actions, result, is_goal, step_cost = puzzle.actions, puzzle.result, puzzle.is_goal, step_costs(puzzle)
    known, waiting = reached.get, frontier.get
    keys = list(frontier)
    while keys:
        key = keys[0]
        states = frontier[key]
        if not states or key[0] == INFINITY:
            del frontier[heappop(keys)]
            continue
        state = states.pop()
        g = -key[1]
        if reached[state][0] < g:
            continue  # a cheaper path was found in the meantime
        if is_goal(state):
            return state
        for action in actions(state):
            successor = result(state, action)
            cost = g + 1 if step_cost is None else g + step_cost(state, action, successor)
            before = known(successor)
            if before is None or cost < before[0]:
                reached[successor] = (cost, state, action)
                key = (priority(cost, successor), -cost)
                equals = waiting(key)
                if equals is None:
                    frontier[key] = [successor]
                    heappush(keys, key)
                else:
                    equals.append(successor)
    return None
