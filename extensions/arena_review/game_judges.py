"""The judges `exact` and `search`. Both use the same search of a position, which deepens iteratively."""

from collections.abc import Mapping, Sequence
from math import inf, isfinite
from typing import Any

from arena import Game, Puzzle
from arena.api.games import Returns, Traits, gives
from arena_review.api import BEST, DECISIVE, INACCURACY, MISTAKE, Decision, Review, Verdict
from arena_review.deepening import Climber, Rung, seat_of

TABLE_SIZE = "1MB"
"""The size of the transposition table of a search. Clearing a larger table takes more time than it saves."""
DEEPEST = 100
"""The depth, in decisions, at which searches with chance stop."""
WHOLE = inf
"""The depth that stands for a value that no deeper search changes."""
EXACT_TOLERANCE = 0.0005
"""Up to this loss, on the scale from -1 to 1, an exact judge counts an action as best. So a later win is as good as an earlier
one.
"""
MIN_WIN = 0.98
"""Reported values above this may be wins, which have a discount for each ply."""
INEXACT_TOLERANCE = 0.05
"""Up to this loss, an inexact judge counts an action as best. The values of such a judge depend on the heuristic."""
MISTAKE_LOSS = 0.2
"""The loss at which an inaccuracy becomes a mistake, on the scale from -1 to 1."""
DECISIVE_LOSS = 0.6
"""The loss at which a mistake becomes decisive when the exact result is not known."""
SAMPLING = "mcts"
"""The agent that judges games that have no heuristic."""
ALIKE = 1e-6
"""Up to this difference, a search that uses no heuristic has found no difference between two values. It covers the discounts of
later wins.
"""
ACTION = "\t"
"""Separates a position from the only action that the search may choose there."""


def refuse_game(game: Game) -> str | None:
    """Return the reason why a search cannot judge a game; None if it can."""
    traits = Traits.of(game)
    if isinstance(game, Puzzle):
        return "it is a puzzle"
    return next((f"it has {trait}" for trait in ("simultaneous", "hidden-information") if trait in traits), None)


def grade_loss(loss: float, tolerance: float) -> str:
    """Return the grade for a loss on the scale from -1 to 1. Rounding errors do not change it."""
    if loss <= tolerance + Returns.VALUE_TOLERANCE:
        return BEST
    loss += Returns.VALUE_TOLERANCE
    return INACCURACY if loss < MISTAKE_LOSS else MISTAKE if loss < DECISIVE_LOSS else DECISIVE


class Scale:
    """The scale from -1 to 1 for the values of a game, and the conversion back to returns."""

    def __init__(self, game: Game) -> None:
        self._returns = Returns(game)
        low, high = self._returns.range
        self.closed = isfinite(low) and isfinite(high) and low < high

    def returns_of(self, value: float) -> float:
        """Convert a value to a return, without the discount for later wins."""
        return round(self._returns.unscale(self.undiscount(value)), 6)

    def undiscount(self, value: float) -> float:
        """Return a value without the discount for later wins."""
        return round(value, 3 if abs(value) > MIN_WIN or not self.closed else 9)

    def size_of(self, loss: float, value: float) -> float:
        """Convert a difference of values to this scale. If the returns have no bounds, the result is relative to `value`."""
        return loss if self.closed else loss / max(1.0, abs(value))


class GameJudge:
    """The common part of `exact` and `search`. A position that comes before one decision and after another one is searched only
    once.

    In games with chance or with one seat, the value of the successor does not give the value of the action. There, the position
    is searched again with the played action as the only legal action. `tied_judges` contains the judges for all other games.
    """

    name = ""

    def __init__(self, review: Review) -> None:
        self.game = game = review.game
        traits = Traits.of(game)
        self.pair = game.players == 2 and game.zero_sum
        self.turns = self.pair and "chance" not in traits
        self._scale = Scale(game)
        if self.turns and Returns(game).range == (-1, 1):
            word = f"alpha-beta:table={TABLE_SIZE}"
        else:
            word = f"{'star2' if self.pair else 'expectimax'}:depth={DEEPEST}"
        self.word: str | None = word
        self.nodes = review.nodes * review.effort
        self.effort = 2 * self.nodes
        has_standing, self._zero = gives(game, "standing"), Returns(game).scale(0.0)
        self._by_standing = game.default_heuristic is None and (has_standing or self._zero != 0.0)
        """Whether lines that are cut off have the result that the move limit gives, because no heuristic values them."""
        self.key = f"deepening {word}{' by standing' if self._by_standing else ''}"
        self._review = review
        self._climber: Climber | None = None

    def questions(self, decision: Decision) -> Sequence[str]:
        """Return the position, and either its successor or the position with the played action."""
        if self.game.is_terminal(decision.after):
            return [decision.text]
        if self.turns:
            return [decision.text, self.game.format_state(decision.after)]
        return [decision.text, f"{decision.text}{ACTION}{decision.action_text}"]

    def answer(self, question: str) -> list[Rung]:
        """For every depth that the budget allows, return the value of the position for the seat to move, and a best action."""
        text, _, action = question.partition(ACTION)
        state = self.game.parse_state(text)
        only = self.game.parse_action(state, action) if action else None
        return self.climber().climb(state, self.effort, question, only)

    def climber(self) -> Climber:
        """Return the search that this process uses."""
        if self._climber is None:
            seat = seat_of(self._review, self.word or "")
            evaluation, depth = seat.evaluation, None
            returns = Returns(self.game)
            if self.word == SAMPLING:  # rollouts end at the move limit, with the result that the referee gives there
                depth = self._review.moves
            if self._by_standing:
                evaluation = lambda state, player=0: returns.scale(returns.standing(state)[player])  # noqa: E731
            self._climber = Climber(self.game, seat.make, evaluation, depth)
        return self._climber

    def rungs(self, decision: Decision, answers: Mapping[str, Any]) -> tuple[list[Rung], list[Rung]]:
        """Return the iterations for the best action and for the played action, both with values for the seat that decided."""
        first, *rest = self.questions(decision)
        best = [Rung(*rung) for rung in answers[first]]
        if not rest:
            played = Returns(self.game).scale(self.game.returns(decision.after)[decision.seat])
            return best, [Rung(0, 0, played, decision.action_text, True)]
        sign = 1 if not self.turns or self.game.to_move(decision.after) == decision.seat else -1
        lower = int(self.turns)  # a successor is one ply nearer to the horizon
        listed = [Rung(*rung) for rung in answers[rest[0]]]
        return best, [rung._replace(depth=rung.depth and rung.depth + lower, value=sign * rung.value) for rung in listed]

    def judged(self, decision: Decision, top: Rung, played: Rung, grade: str, *, exact: bool) -> Verdict:
        """Return a verdict, converted to the returns of the game."""
        best, value = self._scale.returns_of(top.value), self._scale.returns_of(played.value)
        if grade == BEST:
            best = value = max(best, value)
        return Verdict(self.name, top.best, best, value, round(max(0.0, best - value), 6), grade, exact)

    def loss(self, decision: Decision, top: Rung, played: Rung) -> float:
        """Return the loss on the scale from -1 to 1; 0 if the judge itself chooses the same action."""
        if top.best == decision.action_text:
            return 0.0
        best, value = self._scale.undiscount(top.value), self._scale.undiscount(played.value)
        return max(0.0, self._scale.size_of(best - value, best))


class ExactJudge(GameJudge):
    """Judges a decision if both its position and its successor are searched to the end of the game."""

    name = "exact"

    def verdict(self, decision: Decision, answers: Mapping[str, Any]) -> Verdict | None:
        """Return the verdict; None unless both searches have reached the end of the game."""
        best, played = self.rungs(decision, answers)
        if not (best and played and best[-1].exact and played[-1].exact):
            return None
        loss = self.loss(decision, best[-1], played[-1])
        grade = grade_loss(loss, EXACT_TOLERANCE)
        if self.turns and grade != BEST:  # then the values are results, not averages of results
            worse = _sign(played[-1].value) < _sign(best[-1].value)
            grade = DECISIVE if worse else MISTAKE if grade == DECISIVE else grade
        return self.judged(decision, best[-1], played[-1], grade, exact=True)


class SearchJudge(GameJudge):
    """Judges by the deepest iterations within the budget, and again by the deepest ones within half of the budget. Each time, the
    best and the played action are searched to the same depth.
    """

    name = "search"

    def __init__(self, review: Review) -> None:
        super().__init__(review)
        if self.turns and self.game.default_heuristic is None:
            self.word, self.key = SAMPLING, f"deepening {SAMPLING} to {review.moves} moves"

    def answer(self, question: str) -> list[Rung]:
        """Return the iterations.

        For an agent without iterative deepening, return its results with half the budget and with all of it.
        """
        if self.word != SAMPLING:
            return super().answer(question)
        game, state = self.game, self.game.parse_state(question)
        seat = game.to_move(state)
        first: str | None = None
        while not game.is_terminal(state) and len(actions := game.actions(state)) == 1:  # no decision, so the agent reports none
            first = first or game.format_action(state, actions[0])
            state = game.result(state, actions[0])
        if game.is_terminal(state):
            return [Rung(0, 0, Returns(game).scale(game.returns(state)[seat]), first or "", exact=True)]
        sign = 1 if game.to_move(state) == seat else -1
        found = [rung for nodes in (self.nodes, self.effort) for rung in self.climber().climb(state, nodes, question)]
        return [rung._replace(value=sign * rung.value, best=first or rung.best) for rung in found]

    def verdict(self, decision: Decision, answers: Mapping[str, Any]) -> Verdict | None:
        """Return the verdict if its grade is the same with half the budget; otherwise None.

        In a game without a heuristic, a search may find the same value for every action, because it sees no end of the game or
        because all random play ends alike. Then there is no verdict.
        """
        best, played = self.rungs(decision, answers)
        grades, found = [], None
        for nodes in (self.nodes, self.effort):
            found = _match([rung for rung in best if rung.nodes <= nodes], [rung for rung in played if rung.nodes <= nodes])
            if found is None or self._cannot_tell(*found):
                return None
            grades.append(grade_loss(self.loss(decision, *found), INEXACT_TOLERANCE))
        if found is None or grades[0] != grades[1]:
            return None
        return self.judged(decision, *found, grades[1], exact=False)

    def _cannot_tell(self, top: Rung, played: Rung) -> bool:
        """Return whether the search of a game without a heuristic has found no difference between actions.

        Rollouts give slightly different values even to equal actions, unless all of them end alike. Other searches give the
        return 0 to every action if they see no end of the game.
        """
        if self.game.default_heuristic is not None or top.exact:
            return False
        return abs(top.value - played.value) <= ALIKE and (self.word == SAMPLING or abs(top.value - self._zero) <= ALIKE)


def _match(best: Sequence[Rung], played: Sequence[Rung]) -> tuple[Rung, Rung] | None:
    """Return the deepest iterations of the same depth. An exact value is valid at every greater depth as well."""
    if not (best and played):
        return None
    depth = min([WHOLE if side[-1].exact else side[-1].depth for side in (best, played)])
    found = [[rung for rung in side if rung.depth <= depth] for side in (best, played)]
    return (found[0][-1], found[1][-1]) if found[0] and found[1] else None


def _sign(value: float) -> int:
    return 0 if abs(value) <= EXACT_TOLERANCE else 1 if value > 0 else -1
