"""Depth-first search, and the same with a depth that grows: the agents dfs and iterative-deepening."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, cast

from pydantic import Field

from arena import Action, Agent, Game, Limits, Path, Puzzle, Search, State
from arena_agents.reached import emptied_without_memory, unbounded, way

UNLIMITED = float("inf")
Depth = Annotated[int, Field(ge=1)]


class DepthFirst(Agent):
    """Finds some solution: follows the first action as long as it can, and steps back from dead ends.

    `visited` keeps it from every state where it has been. Without that it remembers the path at hand alone and only keeps
    off that, so it always ends, but may come to the same state in as many ways as there are. `depth`, and
    `search.limits.depth`, is the most actions that a solution may have; a visited state is then looked at again when it is
    reached with fewer, so that no solution within the depth is missed. Gives up when nothing is left.

    Where there are no dead ends, as on sliding tiles, solutions are very long: mind `limits.moves`.
    """

    name = "dfs"
    uses_heuristic = False
    needs: ClassVar[frozenset[str]] = frozenset({"single-player"})
    proposed: ClassVar[Mapping[str, int]] = {"single-player": 3}

    def __init__(self, *, visited: bool = True, depth: Depth | None = None) -> None:
        self.visited = visited
        self.depth = depth
        self.engine = "dfs" if visited else "iterative-deepening"

    def solve(self, game: Game, state: State, search: Search) -> Path | None:
        """Return the first way to a goal that is found; None where there is none within the depth."""
        deepest = min(self.depth or UNLIMITED, search.limits.depth or UNLIMITED)
        return depth_first(cast(Puzzle, game), state, deepest, search, visited=self.visited)[0]

    def needs_limit(self, limits: Limits) -> bool:
        """Return True without a depth, a budget and a limit of memory."""
        return self.depth is None and limits.depth is None and unbounded(limits)


class IterativeDeepening(Agent):
    """Finds a solution of the fewest actions, whatever they cost, with the memory of one path.

    It searches depth first to one action, to two, and so on, until a goal is met or no path goes on, and within
    `search.limits.depth`. Paths do not meet themselves, so it always ends, but where many paths lead to the same states it
    looks at them again and again. D. Slate, L. Atkin, CHESS 4.5, 1977; R. Korf, Depth-First Iterative-Deepening, 1985.
    """

    name = "iterative-deepening"
    engine = "iterative-deepening"
    uses_heuristic = False
    needs: ClassVar[frozenset[str]] = frozenset({"single-player"})
    optimal = "length"

    def solve(self, game: Game, state: State, search: Search) -> Path | None:
        """Return a shortest way to a goal; None where there is none."""
        for depth in search.depths():
            found, cut = depth_first(cast(Puzzle, game), state, depth, search, visited=False)
            if found is not None or not cut:
                return found
        return None

    def needs_limit(self, limits: Limits) -> bool:
        """Return True without a depth and without a budget."""
        return limits.depth is None and not limits.budget


def depth_first(puzzle: Puzzle, start: State, deepest: float, search: Search, *, visited: bool) -> tuple[Path | None, bool]:
    """Return the way to the first goal within `deepest` actions, None without one, and whether a path was cut off there.

    The memory is that of the path at hand, or with `visited` of all states that were gone on from.
    """
    if puzzle.is_goal(start):
        return Path(()), False
    loop = search.compiled("dfs" if visited else "iterative-deepening")
    if loop is not None:
        found, cut = loop(start, deepest)
        return way(found), cut
    met: dict[State, int] = {start: 0}
    with emptied_without_memory(met):
        found, cut = _descend(puzzle, start, deepest, met, visited)
        return way(found), cut


def _descend(
    puzzle: Puzzle, state: State, deepest: float, met: dict[State, int], visited: bool
) -> tuple[list[Action] | None, bool]:
    """Return the actions to the first goal, None without one, and whether a path was cut off at `deepest` actions.

    `met` tells in how many actions states were reached: those of the path at hand, or with `visited` all.
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
