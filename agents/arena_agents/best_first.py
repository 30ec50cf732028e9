"""Best-first search of a graph, and the agents that are one priority each: uniform-cost, best-first and a-star.

The algorithm is BEST-FIRST-SEARCH of S. Russell, P. Norvig, Artificial Intelligence: A Modern Approach, 4th edition,
figure 3.7; A* is by P. Hart, N. Nilsson, B. Raphael, A Formal Basis for the Heuristic Determination of Minimum Cost
Paths, 1968.
"""

from collections.abc import Callable, Mapping
from heapq import heappop, heappush
from typing import Annotated, ClassVar, cast

from pydantic import Field

from arena import Agent, Game, Limits, Path, Puzzle, Search, State
from arena_agents.reached import Reached, emptied_without_memory, path_to, step_costs, unbounded, way

Weight = Annotated[float, Field(ge=1, allow_inf_nan=False)]
Priority = Callable[[float, State], float]
"""(g, state) -> the priority of a state reached at the cost g; the lowest is expanded first, infinity never."""
Key = tuple[float, float]
"""A priority and minus g: of equal priorities the one with the larger g comes first."""


class UniformCost(Agent):
    """Finds a cheapest solution without a heuristic: always goes on from the state that was cheapest to reach.

    Gives up when no state is left. It remembers every state that it has met, so memory is what it runs out of; a node
    budget ends it before that. E. W. Dijkstra, A Note on Two Problems in Connexion with Graphs, 1959.
    """

    name = "uniform-cost"
    engine = "uniform-cost"
    uses_heuristic = False
    needs: ClassVar[frozenset[str]] = frozenset({"single-player"})
    optimal = "cost"

    def solve(self, game: Game, state: State, search: Search) -> Path | None:
        """Return a cheapest way to a goal; None where there is none."""
        loop = search.compiled("uniform-cost")
        if loop is not None:
            return way(loop(state))
        return best_first(cast(Puzzle, game), state, lambda g, _: g)

    def needs_limit(self, limits: Limits) -> bool:
        """Return True without a budget and without a limit of memory."""
        return unbounded(limits)


class BestFirst(Agent):
    """Finds a solution, seldom the cheapest: always goes on from the state that the heuristic likes best.

    Greedy best-first search. Gives up when no state is left. Memory as with uniform-cost.
    """

    name = "best-first"
    engine = "best-first"
    needs: ClassVar[frozenset[str]] = frozenset({"single-player"})
    wants_heuristic = True
    reference = True

    def solve(self, game: Game, state: State, search: Search) -> Path | None:
        """Return a way to a goal; None where there is none."""
        cost_to_go = search.cost_to_go
        loop = search.compiled("best-first")
        if loop is not None:
            return way(loop(state))
        return best_first(cast(Puzzle, game), state, lambda _, successor: cost_to_go(successor))

    def needs_limit(self, limits: Limits) -> bool:
        """Return True without a budget and without a limit of memory."""
        return unbounded(limits)


class AStar(Agent):
    """Finds a cheapest solution where the heuristic never overestimates; with a weight, sooner, one of at most weight times that.

    It is led by the cost so far plus the heuristic. A `weight` above 1 multiplies the heuristic and gives up optimality for
    speed: a solution then costs at most `weight` times the cheapest (I. Pohl, Heuristic Search Viewed as Path Finding in a
    Graph, 1970), and mostly far less than that. Gives up when no state is left, or none from which the heuristic sees a
    way. Memory as with uniform-cost.
    """

    name = "a-star"
    engine = "a-star"
    needs: ClassVar[frozenset[str]] = frozenset({"single-player"})
    wants_heuristic = True
    reference = True
    proposed: ClassVar[Mapping[str, int]] = {"path": 5, "solution-only": 2}

    def __init__(self, *, weight: Weight = 1.0) -> None:
        self.weight = weight
        self.optimal = "admissible" if weight == 1 else None

    def solve(self, game: Game, state: State, search: Search) -> Path | None:
        """Return a way to a goal of at most `weight` times the lowest cost; None where there is none."""
        weight, cost_to_go = self.weight, search.cost_to_go
        loop = search.compiled("a-star", weight=weight)
        if loop is not None:
            return way(loop(state))
        if weight == 1:
            return best_first(cast(Puzzle, game), state, lambda g, successor: g + cost_to_go(successor))
        return best_first(cast(Puzzle, game), state, lambda g, successor: g + weight * cost_to_go(successor))

    def needs_limit(self, limits: Limits) -> bool:
        """Return True without a budget and without a limit of memory."""
        return unbounded(limits)


def best_first(puzzle: Puzzle, start: State, priority: Priority) -> Path | None:
    """Return the way to the first goal that is expanded; None where the states run out or only infinity is left.

    A cheaper way to a known state replaces the dearer one, whether the state was expanded or not, and the state is then
    expanded (again): so a heuristic that is admissible but not consistent does no harm.
    """
    reached: Reached = {start: (0, None, None)}
    frontier: dict[Key, list[State]] = {(priority(0, start), 0): [start]}
    with emptied_without_memory(reached, frontier):
        goal = _expand(puzzle, reached, frontier, priority)
        return None if goal is None else path_to(goal, reached)


def _expand(puzzle: Puzzle, reached: Reached, frontier: dict[Key, list[State]], priority: Priority) -> State | None:
    """Return the first goal that is expanded.

    The frontier holds states by their key, the last one in comes out first, so the heap holds every key only once.
    """
    actions, result, is_goal, step_cost = puzzle.actions, puzzle.result, puzzle.is_goal, step_costs(puzzle)
    known, waiting = reached.get, frontier.get
    keys = list(frontier)
    while keys:
        key = keys[0]
        states = frontier[key]
        if not states or key[0] == float("inf"):
            del frontier[heappop(keys)]
            continue
        state = states.pop()
        g = -key[1]
        if reached[state][0] < g:
            continue  # a cheaper way has been found since
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
