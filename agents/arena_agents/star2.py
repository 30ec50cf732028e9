"""Star2, a *-minimax search: an alpha-beta search that also cuts off at chance nodes. It first probes each outcome.

B. W. Ballard, The *-Minimax Search Procedure for Trees Containing Chance Nodes, 1983; T. Hauk, M. Buro, J. Schaeffer,
Rediscovering *-Minimax Search, 2004.
"""

from collections.abc import Sequence
from itertools import accumulate
from math import inf
from typing import ClassVar, NamedTuple

from arena import CHANCE, Action, Agent, Game, Search, State
from arena_agents.deepening import STEP, Depth, Horizon, Plies, Probe, deepen, each, largest_value

OPEN_RETURN = 1e300
"""The bound of returns that is assumed if their range is infinite."""


class Star2(Agent):
    """Plays an action with the same value as expectimax, but generates fewer nodes, in games for two.

    `depth` is the number of decisions that the search looks ahead. At a chance node, it first searches one reply to each outcome,
    which gives a bound for the value of the outcome. If the bounds of all outcomes show that the node cannot matter, it leaves
    the node. No state is generated twice. Of equally good actions, it plays the first.
    """

    name = "star2"
    needs: ClassVar[frozenset[str]] = frozenset({"two-player", "zero-sum"})
    copes: ClassVar[frozenset[str]] = frozenset({"chance"})
    wants_heuristic: ClassVar[bool] = True

    def __init__(self, *, depth: Depth = 2) -> None:
        self.depth = depth

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return the first of the best actions."""
        seat = game.to_move(state)
        largest = largest_value(game)

        def look(depth: Plies, horizon: Horizon) -> Probe:
            tree = _Star2Search(game, search, depth or self.depth, horizon)
            return lambda child, top: tree.value(child, seat, 1, top, largest - STEP)

        return deepen(search, each(game, state, game.actions(state)), self.depth, look, game=game, certain=False)


class _Outcome(NamedTuple):
    """An outcome of chance: bounds of its value, and the value of its first reply as far as it was searched."""

    state: State
    odds: float
    low: float
    high: float
    first: float | None = None


class _Star2Search:
    """Computes values for `seat`, `ply` decisions after the root. Between alpha and beta, they are exact; otherwise, they are
    bounds.
    """

    def __init__(self, game: Game, search: Search, depth: int, horizon: Horizon) -> None:
        self.game = game
        self.depth = depth
        self.horizon = horizon
        self.evaluate = search.evaluate
        self.most = min(largest_value(game), OPEN_RETURN)

    def value(self, state: State, seat: int, ply: int, alpha: float, beta: float, first: float | None = None) -> float:
        """Return the value of a state. `first` is the value of its first reply, if it is already known."""
        leaf = self._leaf(state, seat, ply)
        if leaf is not None:
            return leaf
        game = self.game
        mover = game.to_move(state)
        if mover == CHANCE:
            return self._chance(state, seat, ply, alpha, beta)
        sign = 1.0 if mover == seat else -1.0
        low, high = (alpha, beta) if mover == seat else (-beta, -alpha)
        best = float("-inf")
        for action in game.actions(state):
            if first is None:
                score = self.value(game.result(state, action), mover, ply + 1, max(low, best), high)
            else:
                score, first = sign * first, None
            best = max(best, score)
            if best >= high:
                break
        return sign * best

    def _leaf(self, state: State, seat: int, ply: int) -> float | None:
        """Return the value of a state that needs no search: the end of a game, or a decision at the horizon.

        Return None for other states.
        """
        if self.game.is_terminal(state):
            return self.horizon[self.game.returns(state)[seat]] * (1.0 - ply * STEP)
        if ply >= self.depth and self.game.to_move(state) != CHANCE:
            self.horizon.met = True
            return self.evaluate(state, seat)
        return None

    def _chance(self, state: State, seat: int, ply: int, alpha: float, beta: float) -> float:
        low, high = -self.most, self.most
        probed: list[_Outcome] = []
        for action, odds in self.game.chance_outcomes(state):
            child = self.game.result(state, action)
            if self.most == OPEN_RETURN:  # it would swallow the returns in these sums
                probed.append(self._probe(child, odds, seat, ply, -inf, inf))
                continue
            below, above = low + odds * self.most, high - odds * self.most
            outcome = self._probe(child, odds, seat, ply, (alpha - above) / odds, (beta - below) / odds)
            probed.append(outcome)
            low, high = below + odds * outcome.low, above + odds * outcome.high
            if low >= beta or high <= alpha:
                return low if low >= beta else high
        return self._search_outcomes(probed, seat, ply, alpha, beta)

    def _probe(self, child: State, odds: float, seat: int, ply: int, alpha: float, beta: float) -> _Outcome:
        """Search the first reply to an outcome. Its value is a lower bound for the replying seat."""
        leaf = self._leaf(child, seat, ply)
        if leaf is not None:
            return _Outcome(child, odds, leaf, leaf)
        mover = self.game.to_move(child)
        if mover == CHANCE:
            return _Outcome(child, odds, -self.most, self.most)
        reply = self.game.result(child, self.game.actions(child)[0])
        first = self.value(reply, seat, ply + 1, alpha, beta)
        if mover == seat:
            return _Outcome(child, odds, first if first > alpha else -self.most, self.most, first)
        return _Outcome(child, odds, -self.most, first if first < beta else self.most, first)

    def _search_outcomes(self, outcomes: Sequence[_Outcome], seat: int, ply: int, alpha: float, beta: float) -> float:
        """Return the mean value of the outcomes, or a bound outside the window. Each is searched with its own window."""
        below = accumulate([one.odds * one.low for one in reversed(outcomes)], initial=0.0)
        above = accumulate([one.odds * one.high for one in reversed(outcomes)], initial=0.0)
        rest = list(zip(below, above, strict=True))
        mean = 0.0
        for state, odds, low, high, first in outcomes:
            rest.pop()
            low_rest, high_rest = rest[-1]
            if low == high:
                mean += odds * low
                continue
            least, most = (alpha - mean - high_rest) / odds, (beta - mean - low_rest) / odds
            value = self.value(state, seat, ply, least, most, first)
            mean += odds * value
            if value <= least:
                return mean + high_rest
            if value >= most:
                return mean + low_rest
        return mean
