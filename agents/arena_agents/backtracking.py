"""Backtracking for constraint satisfaction problems: one variable at a time gets a value that no constraint forbids."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal, cast

from arena import Action, Agent, Answer, Game, Hints, Puzzle, Search, State


class Backtracking(Agent):
    """Gives values to the variables of a constraint problem, one after another, and takes back the last value at a dead end.

    Also called backtracking search, MRV, minimum remaining values, most-constrained variable, fail-first or forward checking.
    `order` selects the next variable: `most-constrained` takes the one with the fewest values left (MRV), the first of several,
    and `first` the first one that has no value. With `forward_checking`, a state is a dead end as soon as any variable has no
    value left; without it, only if the selected variable has none. With the order `most-constrained`, both find the same dead
    ends. It gives up if there is no solution. S. Russell, P. Norvig, Artificial Intelligence, a Modern Approach, figure 6.5
    (BACKTRACKING-SEARCH) and section 6.3; R. Haralick, G. Elliott, Increasing Tree Search Efficiency for Constraint Satisfaction
    Problems, 1980 (forward checking).
    """

    name = "backtracking"
    needs: ClassVar[frozenset[str]] = frozenset({"solution-only", "constraint"})
    hints = Hints(uses_heuristic=False)

    def __init__(
        self, *, order: Literal["most-constrained", "first"] = "most-constrained", forward_checking: bool = True
    ) -> None:
        self.order = order
        self.forward_checking = forward_checking

    def solve(self, game: Game, state: State, search: Search) -> Answer | None:
        """Return the first solution that is found, with the number of values tried; None if there is none."""
        puzzle = cast(Puzzle, game)
        if puzzle.is_goal(state):
            return Answer(state, 0)
        steps = 0
        open_values: list[tuple[State, Iterator[Action]]] = [(state, iter(self._select(puzzle.variables(state))))]
        while open_values:
            here, values = open_values[-1]
            value = next(values, None)
            if value is None:
                open_values.pop()
                continue
            steps += 1
            successor = puzzle.result(here, value)
            if puzzle.is_goal(successor):
                return Answer(successor, steps)
            open_values.append((successor, iter(self._select(puzzle.variables(successor)))))
        return None

    def _select(self, variables: Sequence[Sequence[Action]]) -> Sequence[Action]:
        """Return the values of the next variable; none at a dead end."""
        if self.forward_checking and not all(variables):
            return ()
        return min(variables, key=len, default=()) if self.order == "most-constrained" else variables[0] if variables else ()
