"""Full-width searches, and the agents that use only them: minimax, type A, lookahead, and expectimax for games with chance.

There is a search in negamax form for games with two seats, one for games with any number of seats, and one for puzzles. C. E.
Shannon, Programming a Computer for Playing Chess, 1950; D. Michie, Game-Playing and Game-Learning Automata, 1966 (chance); C. A.
Luckhardt, K. B. Irani, An Algorithmic Solution of N-Person Games, 1986 (max^n).
"""

import sys
from abc import abstractmethod
from collections.abc import Callable, Sequence
from operator import mul
from typing import ClassVar

from arena import CHANCE, Action, Agent, Game, Hints, Limits, Puzzle, Search, State
from arena.api.games import Ends, gives
from arena_agents.deepening import STEP, Depth, Horizon, Plies, Probe, deepen, each, is_endless

Value = Callable[[State, int, int], float]
"""(state, seat, ply) -> the value of the state for `seat`, `ply` actions after the root."""


def full_width(
    game: Game, search: Search, depth: Plies, horizon: Horizon, is_quiet: Callable[[State], bool] | None = None
) -> Value:
    """Return a function that searches every line to `depth` plies, and farther as long as the state is not quiet
    (`Game.is_quiet`).

    The game says which seat moves in each state, so a seat may have several turns in a row. When chance moves, the value is the
    mean over the outcomes, and no ply is counted.
    """
    actions, result, to_move = game.actions, game.result, game.to_move
    is_terminal, returns, evaluate = game.is_terminal, game.returns, search.evaluate
    deepest = sys.maxsize if depth is None else depth
    infinity = float("inf")

    def value(state: State, seat: int, ply: int) -> float:
        if is_terminal(state):
            return horizon[returns(state)[seat]] * (1.0 - ply * STEP)
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
    """Return a function for the value of a state for a seat, after the best lines of `depth` decisions; chance is not counted.

    In a zero-sum game of two seats, the seats play against each other; in other games, each seat maximises its own returns. In a
    puzzle, the value is the best one after exactly `depth` actions; a line ends at a goal. The heuristic never gets a state in
    which chance moves.
    """
    if isinstance(game, Puzzle):
        return _farthest(game, search, depth, horizon)
    if game.players == 2 and game.zero_sum:
        loop: Value | None = search.compiled("full-width", depth=depth, horizon=horizon)
        return loop or full_width(game, search, depth, horizon, is_settled(game))
    everyone = _for_everyone(game, search, depth, horizon)

    def value(state: State, seat: int, ply: int) -> float:
        values, ends = everyone(state, ply)
        horizon.note_ends(ends.lows[seat], ends.highs[seat])
        return values[seat]

    return value


def is_settled(game: Game) -> Callable[[State], bool] | None:
    """Return a function that says whether a seat, and not chance, moves in an unfinished state; None for games without chance."""
    to_move = game.to_move
    return (lambda state: to_move(state) != CHANCE) if gives(game, "chance_outcomes") else None


def _farthest(puzzle: Puzzle, search: Search, depth: int, horizon: Horizon) -> Value:
    """Return a function for the best value within the remaining plies."""
    actions, result, is_goal, evaluate = puzzle.actions, puzzle.result, puzzle.is_goal, search.evaluate

    def value(state: State, seat: int, ply: int) -> float:
        if is_goal(state):
            return 1.0 - ply * STEP  # higher than in any other state, and higher for an earlier goal
        if ply == depth:
            horizon.met = True
            return evaluate(state)
        return max([value(result(state, action), seat, ply + 1) for action in actions(state)], default=float("-inf"))

    return value


def _for_everyone(
    game: Game, search: Search, depth: int, horizon: Horizon
) -> Callable[[State, int], tuple[Sequence[float], Ends]]:
    """Return a function for the values of a state for all seats, if each seat maximises its own value and chooses the first of
    equal actions; and for the ends of these values if it may choose each of them.
    """
    seats = range(game.players)
    to_move = game.to_move

    def find(state: State, ply: int) -> tuple[Sequence[float], Ends]:
        if game.is_terminal(state):
            values = [horizon[given] * (1.0 - ply * STEP) for given in game.returns(state)]
            return values, Ends(values, values)
        mover = to_move(state)
        if mover == CHANCE:
            outcomes = game.chance_outcomes(state)
            odds, after = [odds for _, odds in outcomes], [find(game.result(state, one), ply) for one, _ in outcomes]
            low = _mean(odds, [ends.lows for _, ends in after])
            high = _mean(odds, [ends.highs for _, ends in after])
            return _mean(odds, [values for values, _ in after]), Ends(low, high)
        if ply == depth:
            horizon.met = True
            values = [search.evaluate(state, seat) for seat in seats]
            return values, Ends(values, values)
        successors = [find(game.result(state, action), ply + 1) for action in game.actions(state)]
        best, _ = max(successors, key=lambda found: found[0][mover])
        return best, Ends.choose(mover, [ends for _, ends in successors])

    return find


def _mean(odds: Sequence[float], after: Sequence[Sequence[float]]) -> list[float]:
    return [sum(map(mul, odds, values)) for values in zip(*after, strict=True)]


class FullWidthSearch(Agent):
    """Plays the first of the best actions found by a full-width search. With a budget, the search deepens ply by ply."""

    depth: Plies
    certain: ClassVar[bool] = True
    """Whether a win or a loss is exact although some lines were cut off."""

    @abstractmethod
    def values(self, game: Game, search: Search, depth: Plies, horizon: Horizon) -> Value:
        """Return a function for the values of states, searched to `depth` plies."""

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return the first of the best actions."""
        seat = game.to_move(state)

        def look(depth: Plies, horizon: Horizon) -> Probe:
            value = self.values(game, search, depth, horizon)
            return lambda child, top: value(child, seat, 1)

        moves = each(game, state, game.actions(state))
        return deepen(search, moves, self.depth, look, game=game, certain=self.certain, first=self.first(game, search, seat))

    def first(self, game: Game, search: Search, seat: int) -> Probe | None:
        """Return a quick probe for an action that is reported before the search; None if the first ply is searched quickly."""
        return None


class Minimax(FullWidthSearch):
    """Plays the best action against the best replies. It searches every line to `depth` plies, or to the end of the game.

    Also called negamax. Of equally good actions, it plays the first. With a budget, it deepens ply by ply.
    """

    name = "minimax"
    engine = "full-width"
    needs: ClassVar[frozenset[str]] = frozenset({"two-player", "zero-sum"})

    def __init__(self, *, depth: Depth | None = None) -> None:
        self.depth = depth

    def values(self, game: Game, search: Search, depth: Plies, horizon: Horizon) -> Value:
        """Return the values after the best replies."""
        loop: Value | None = search.compiled("full-width", depth=depth, horizon=horizon)
        return loop or full_width(game, search, depth, horizon)

    def needs_limit(self, limits: Limits) -> bool | str:
        """Return `lines` if there is neither a depth nor a budget."""
        return "lines" if is_endless(self.depth, limits) else False


class TypeA(FullWidthSearch):
    """Searches every line to `depth` plies, and further while the state is not quiet. The heuristic evaluates the last states.

    C. E. Shannon, Programming a Computer for Playing Chess, 1950.
    """

    name = "type-a"
    engine = "type-a"
    needs: ClassVar[frozenset[str]] = frozenset({"two-player", "zero-sum"})
    wants_heuristic = True

    def __init__(self, *, depth: Depth = 2) -> None:
        self.depth = depth

    def values(self, game: Game, search: Search, depth: Plies, horizon: Horizon) -> Value:
        """Return the values after the best replies, searched beyond the depth as long as a state is not quiet."""
        loop: Value | None = search.compiled("type-a", depth=depth, horizon=horizon)
        return loop or full_width(game, search, depth, horizon, game.is_quiet)

    def first(self, game: Game, search: Search, seat: int) -> Probe | None:
        """Return the heuristic value if the game has threats, because with them even the first line may be long."""
        kind = type(game)
        if kind.threats is Game.threats and kind.is_quiet is Game.is_quiet:
            return None
        value = full_width(game, search, 1, Horizon(game))
        return lambda child, _: value(child, seat, 1)


class Lookahead(Agent):
    """Plays the action with the best value after `depth` plies; ties are broken at random.

    In a puzzle, this is the best value after exactly `depth` actions, or at a goal on the way; the costs of these actions do not
    count. In a game, the plies include the replies of other seats; each seat maximises its own value. When chance moves, the mean
    over the outcomes counts, and no ply is counted.
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
        value = ahead(game, search, min(self.depth, search.limits.depth or self.depth), Horizon(game))
        return search.best(game.actions(state), key=lambda action: value(game.result(state, action), seat, 1))


class Expectimax(FullWidthSearch):
    """Plays the action with the best value after `depth` decisions; chance events between them do not count as plies.

    Also called expectiminimax. It plays games with any number of seats. In a zero-sum game of two, the seats play against each
    other; in other games, each seat maximises its own returns or its score. In a puzzle, the costs of the actions do not count.
    Of equally good actions, it plays the first. With a budget, it deepens ply by ply to `depth`. D. Michie, Game-Playing and
    Game-Learning Automata, 1966.
    """

    name = "expectimax"
    copes: ClassVar[frozenset[str]] = frozenset({"chance"})
    wants_heuristic = True
    certain = False

    def __init__(self, *, depth: Depth = 2) -> None:
        self.depth: int = depth

    def values(self, game: Game, search: Search, depth: Plies, horizon: Horizon) -> Value:
        """Return the values of the best lines, with the mean over outcomes of chance."""
        return ahead(game, search, depth or self.depth, horizon)
