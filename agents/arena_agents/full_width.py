"""Full-width searches and the agents that are one: minimax, type A and lookahead, and expectimax with chance.

A search of a game for two is in negamax form; there is one for any number of seats, and one for a puzzle.
C. E. Shannon, Programming a Computer for Playing Chess, 1950; D. Michie, Game-Playing and Game-Learning Automata, 1966 (chance);
C. A. Luckhardt, K. B. Irani, An Algorithmic Solution of N-Person Games, 1986 (max^n).
"""

import sys
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar

from arena import CHANCE, Action, Agent, Game, Hints, Limits, Puzzle, Search, State
from arena.api.games import gives
from arena_agents.deepening import PROVEN, STEP, Depth, Horizon, Plies, Probe, deepen, each, is_endless, scaled_returns

Value = Callable[[State, int, int], float]
"""(state, seat, ply) -> the value of the state to `seat`, `ply` actions after the root."""


def full_width(
    game: Game, search: Search, depth: Plies, horizon: Horizon, is_quiet: Callable[[State], bool] | None = None
) -> Value:
    """Return a function that searches every line to `depth` plies, and beyond it while the state is not quiet.

    The game gives the mover of every state, so a seat may have several turns in a row. If chance moves, the value is the mean
    over the outcomes, and no ply is counted.
    """
    actions, result, to_move = game.actions, game.result, game.to_move
    is_terminal, returns, evaluate = game.is_terminal, scaled_returns(game), search.evaluate
    deepest = sys.maxsize if depth is None else depth
    infinity = float("inf")

    def value(state: State, seat: int, ply: int) -> float:
        if is_terminal(state):
            return returns(state)[seat] * (1.0 - ply * STEP)
        if ply >= deepest and (is_quiet is None or is_quiet(state)):
            horizon.met = True
            return evaluate(state, seat)
        mover = to_move(state)
        if mover == CHANCE:
            return sum([odds * value(result(state, outcome), seat, ply) for outcome, odds in game.chance_outcomes(state)])
        best = -infinity
        ply += 1
        for action in actions(state):
            score = value(result(state, action), mover, ply)
            best = max(best, score)
        return best if mover == seat else -best

    return value


def ahead(game: Game, search: Search, depth: int, horizon: Horizon) -> Value:
    """Return a function for the value of a state to a seat by the best lines to `depth` decisions, not counting chance.

    In a zero-sum game of two seats each plays against the other, else each seat maximises its own returns. In a puzzle it is the
    best value after exactly `depth` actions; a line ends at a goal. The heuristic never gets a state in which chance moves.
    """
    if isinstance(game, Puzzle):
        return _farthest(game, search, depth, horizon)
    if game.players == 2 and game.zero_sum:
        loop: Value | None = search.compiled("full-width", depth=depth, horizon=horizon)
        return loop or full_width(game, search, depth, horizon, is_settled(game))
    everyone = _for_everyone(game, search, depth, horizon)
    return lambda state, seat, ply: everyone(state, ply)[seat]


def is_settled(game: Game) -> Callable[[State], bool] | None:
    """Return a predicate for unfinished states in which chance does not move; None if it never does."""
    to_move = game.to_move
    return (lambda state: to_move(state) != CHANCE) if gives(game, "chance_outcomes") else None


def _farthest(puzzle: Puzzle, search: Search, depth: int, horizon: Horizon) -> Value:
    """Return a function for the best value within the remaining plies."""
    actions, result, is_goal, evaluate = puzzle.actions, puzzle.result, puzzle.is_goal, search.evaluate

    def value(state: State, seat: int, ply: int) -> float:
        if is_goal(state):
            return 1.0 - ply * STEP  # more than any other state, and more for an earlier goal
        if ply == depth:
            horizon.met = True
            return evaluate(state)
        return max([value(result(state, action), seat, ply + 1) for action in actions(state)], default=float("-inf"))

    return value


def _for_everyone(game: Game, search: Search, depth: int, horizon: Horizon) -> Callable[[State, int], Sequence[float]]:
    """Return a function for the values to all seats when each plays for its own."""
    seats = range(game.players)
    returns, to_move = scaled_returns(game), game.to_move

    def values(state: State, ply: int) -> Sequence[float]:
        if game.is_terminal(state):
            return [worth * (1.0 - ply * STEP) for worth in returns(state)]
        mover = to_move(state)
        if mover == CHANCE:
            after = [(odds, values(game.result(state, outcome), ply)) for outcome, odds in game.chance_outcomes(state)]
            return [sum([odds * found[seat] for odds, found in after]) for seat in seats]
        if ply == depth:
            horizon.met = True
            return [search.evaluate(state, seat) for seat in seats]
        successors = [values(game.result(state, action), ply + 1) for action in game.actions(state)]
        return max(successors, key=lambda found: found[mover])

    return values


class FullWidthSearch(Agent):
    """Plays the first of the best actions by a full-width search, which deepens under a budget."""

    depth: Plies
    proven: ClassVar[float] = PROVEN
    """Values beyond this are exact."""

    @abstractmethod
    def values(self, game: Game, search: Search, depth: Plies, horizon: Horizon) -> Value:
        """Return a function for the values of states, searched to `depth` plies."""

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return the first of the best actions."""
        seat = game.to_move(state)

        def look(depth: Plies, horizon: Horizon) -> Probe:
            value = self.values(game, search, depth, horizon)
            return lambda child, top: value(child, seat, 1)

        return deepen(search, each(game, state, game.actions(state)), self.depth, look, proven=self.proven)


class Minimax(FullWidthSearch):
    """Plays the best action against the best replies, looking at every line to `depth` plies or to the end.

    Of equal actions it plays the first. Under a budget it deepens ply by ply.
    """

    name = "minimax"
    engine = "full-width"
    needs: ClassVar[frozenset[str]] = frozenset({"two-player", "zero-sum"})

    def __init__(self, *, depth: Depth | None = None) -> None:
        self.depth = depth

    def values(self, game: Game, search: Search, depth: Plies, horizon: Horizon) -> Value:
        """Return values by the best replies."""
        loop: Value | None = search.compiled("full-width", depth=depth, horizon=horizon)
        return loop or full_width(game, search, depth, horizon)

    def needs_limit(self, limits: Limits) -> bool:
        """Return True without a depth and without a budget."""
        return is_endless(self.depth, limits)


class TypeA(FullWidthSearch):
    """Looks at every line to `depth` plies, and beyond while a state is not quiet, and evaluates where it stops.

    C. E. Shannon, Programming a Computer for Playing Chess, 1950.
    """

    name = "type-a"
    engine = "type-a"
    needs: ClassVar[frozenset[str]] = frozenset({"two-player", "zero-sum"})
    wants_heuristic = True

    def __init__(self, *, depth: Depth = 2) -> None:
        self.depth = depth

    def values(self, game: Game, search: Search, depth: Plies, horizon: Horizon) -> Value:
        """Return values by the best replies, beyond the depth while a state is not quiet."""
        loop: Value | None = search.compiled("type-a", depth=depth, horizon=horizon)
        return loop or full_width(game, search, depth, horizon, game.is_quiet)


class Lookahead(Agent):
    """Plays the action with the best value `depth` plies on; ties are broken at random.

    In a puzzle that is the best value at the end of exactly `depth` actions; a line ends at a goal. In a game it includes the
    replies: each seat maximises its own value. If chance moves, the mean counts, and no ply is counted.
    """

    name = "lookahead"
    engine = "full-width"
    copes: ClassVar[frozenset[str]] = frozenset({"chance"})
    wants_heuristic: ClassVar[bool] = True
    hints = Hints(reference="games")

    def __init__(self, *, depth: Depth = 2) -> None:
        self.depth = depth

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return an action that leads to the best value."""
        seat = game.to_move(state)
        value = ahead(game, search, min(self.depth, search.limits.depth or self.depth), Horizon())
        return search.best(game.actions(state), key=lambda action: value(game.result(state, action), seat, 1))


class Expectimax(FullWidthSearch):
    """Plays the action with the best value `depth` decisions on; what chance does in between counts for no ply.

    It plays games with any number of seats: two in a zero-sum game play against each other, else each seat maximises its own
    returns, and a single seat its score. Of equal actions it plays the first. Under a budget it deepens to `depth`, ply by ply.
    D. Michie, Game-Playing and Game-Learning Automata, 1966.
    """

    name = "expectimax"
    copes: ClassVar[frozenset[str]] = frozenset({"chance"})
    proven = float("inf")

    def __init__(self, *, depth: Depth = 2) -> None:
        self.depth: int = depth

    def values(self, game: Game, search: Search, depth: Plies, horizon: Horizon) -> Value:
        """Return values by the best lines, with the mean if chance moves."""
        return ahead(game, search, depth or self.depth, horizon)
