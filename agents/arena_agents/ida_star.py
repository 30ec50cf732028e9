"""A* with the memory of one path: depth first under a bound on the cost, again and again, while the bound grows.

R. Korf, Depth-First Iterative-Deepening: An Optimal Admissible Tree Search, 1985.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar, cast

from arena import Action, Agent, Game, Limits, Path, Puzzle, Search, State
from arena_agents.best_first import Weight
from arena_agents.reached import step_costs

INFINITY = float("inf")
ROUNDING = 1 + 1e-12
"""Bounds are taken as that much larger, or sums that differ by their rounding alone would cost an iteration each."""


class IdaStar(Agent):
    """Finds what a-star finds, with a weight or without, and remembers no more than the path at hand.

    That is a cheapest solution where the heuristic never overestimates. A `weight` above 1 multiplies the heuristic and
    gives up optimality for speed: a solution then costs at most `weight` times the cheapest. Gives up when all paths have
    been seen; paths do not meet themselves, so that happens, but where many paths lead to the same states it can take very
    long. Whole step costs suit it: every iteration raises the bound to the least cost that was cut off, and among costs
    that are all different that adds few states at a time.
    """

    name = "ida-star"
    needs: ClassVar[frozenset[str]] = frozenset({"single-player"})
    wants_heuristic = True
    proposed: ClassVar[Mapping[str, int]] = {"path": 4, "solution-only": 1}
    engine = "ida-star"

    def __init__(self, *, weight: Weight = 1.0) -> None:
        self.weight = weight
        self.optimal = "admissible" if weight == 1 else None

    def solve(self, game: Game, state: State, search: Search) -> Path | None:
        """Return a way to a goal of at most `weight` times the lowest cost; None where there is none."""
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
        """Return True without a depth and without a budget."""
        return limits.depth is None and not limits.budget


def _within(
    puzzle: Puzzle, start: State, estimate: Callable[[State], float], bound: float, deepest: float
) -> tuple[list[Action] | None, float]:
    """Search all paths of an estimated cost of at most `bound`, and of at most `deepest` actions.

    Return the actions to the first goal, None without one, and the least estimated cost of what was cut off.
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
