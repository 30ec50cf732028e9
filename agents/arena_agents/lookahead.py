"""Looking a fixed number of plies ahead, in puzzles and in games alike."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from arena import Action, Agent, Game, Puzzle, Search, State
from arena_agents.deepening import STEP, Depth, Horizon
from arena_agents.full_width import full_width


class Lookahead(Agent):
    """Plays the action with the best value `depth` plies on; ties are broken at random.

    In a puzzle that is the best value at the end of exactly `depth` actions; a line that meets a goal ends there. In a
    game the replies are included: everybody plays for the best value of his own.
    """

    name = "lookahead"
    engine = "full-width"
    wants_heuristic: ClassVar[bool] = True
    reference = "games"

    def __init__(self, *, depth: Depth = 2) -> None:
        self.depth = depth

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return an action that leads to the best value."""
        seat = game.to_move(state)
        depth = min(self.depth, search.limits.depth or self.depth)
        if isinstance(game, Puzzle):
            value = _farthest(game, search, depth)
        elif game.players == 2 and game.zero_sum:
            horizon = Horizon()
            loop = search.compiled("full-width", depth=depth, horizon=horizon)
            negamax = full_width(game, search, depth, horizon) if loop is None else loop
            value = lambda child: negamax(child, seat, 1)  # noqa: E731
        else:
            everyone = _for_everyone(game, search, depth)
            value = lambda child: everyone(child, 1)[seat]  # noqa: E731
        return search.best(game.actions(state), key=lambda action: value(game.result(state, action)))


def _farthest(puzzle: Puzzle, search: Search, depth: int) -> Callable[[State], float]:
    """Return a function for the best value that can be reached with the plies that are left after the first."""
    actions, result, is_goal, evaluate = puzzle.actions, puzzle.result, puzzle.is_goal, search.evaluate

    def value(state: State, ply: int = 1) -> float:
        if is_goal(state):
            return 1.0 - ply * STEP  # more than any state that is no goal, the sooner the more
        if ply == depth:
            return evaluate(state)
        return max([value(result(state, action), ply + 1) for action in actions(state)], default=float("-inf"))

    return value


def _for_everyone(game: Game, search: Search, depth: int) -> Callable[[State, int], Sequence[float]]:
    """Return a function for the values to all seats when each plays for its own (Luckhardt, Irani, max^n, 1986)."""
    seats = range(game.players)

    def values(state: State, ply: int) -> Sequence[float]:
        if game.is_terminal(state):
            return [worth * (1.0 - ply * STEP) for worth in game.returns(state)]
        if ply == depth:
            return [search.evaluate(state, seat) for seat in seats]
        mover = game.to_move(state)
        successors = [values(game.result(state, action), ply + 1) for action in game.actions(state)]
        return max(successors, key=lambda found: found[mover])

    return values
