"""The judges `exact` and `search` for games that are not zero-sum for two.

There, actions that are equal for the player to move may differ for another seat. A rule for such ties, such as "the first of the
best actions", would let the order of the actions decide. So each value is an interval, and there is a verdict only if its loss is
the same however the players break ties.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from arena import CHANCE, Action, Agent, Game, Search, State
from arena.api.games import Ends, Returns
from arena_review.api import BEST, Decision, Review, Verdict
from arena_review.deepening import Climber, seat_of
from arena_review.game_judges import ALIKE, DEEPEST, EXACT_TOLERANCE, INEXACT_TOLERANCE, Scale, grade_loss


class Iteration(NamedTuple):
    """The result of one iteration: for each action, the ends of its value for the seat that decides."""

    nodes: int
    lows: Sequence[float]
    highs: Sequence[float]
    exact: bool
    """Whether every line was searched to the end of the game."""


class EndsSearch(Agent):
    """Deepens ply by ply, and keeps each iteration. A line that is cut off has the value of the heuristic.

    Without a heuristic, and after as many moves as a match may have, it has the result that the move limit gives there. A value
    in the middle of the range would say more than is known: a draw need not lie in the middle.
    """

    name = "ends"

    def __init__(self, moves: int | None = None) -> None:
        """`moves` is the move limit of a match; None if it is unknown."""
        self.iterations: list[Iteration] = []
        self.moves = moves

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Search until the budget runs out, or until no line is cut off."""
        self.iterations, seats, returns = [], range(game.players), Returns(game)
        cut_off = to_limit = False

        def find(state: State, plies: int) -> Ends:
            nonlocal cut_off
            if game.is_terminal(state):
                values = [returns.scale(value) for value in game.returns(state)]
                return Ends(values, values)
            mover = game.to_move(state)
            if mover == CHANCE:
                outcomes = [(odds, find(game.result(state, one), plies)) for one, odds in game.chance_outcomes(state)]
                return Ends(*[[sum([odds * ends[side][seat] for odds, ends in outcomes]) for seat in seats] for side in (0, 1)])
            if plies == 0:
                cut_off = True
                if to_limit or game.default_heuristic is None:
                    values = [returns.scale(value) for value in returns.standing(state)]
                else:
                    values = [search.evaluate(state, seat) for seat in seats]
                return Ends(values, values)
            return Ends.choose(mover, [find(game.result(state, action), plies - 1) for action in game.actions(state)])

        actions, mover = game.actions(state), game.to_move(state)
        for depth in range(DEEPEST if self.moves is None else max(1, min(DEEPEST, self.moves))):
            cut_off, to_limit = False, self.moves is not None and depth + 1 >= self.moves
            found = [find(game.result(state, action), depth) for action in actions]
            lows, highs = [low[mover] for low, _ in found], [high[mover] for _, high in found]
            self.iterations.append(Iteration(search.nodes, lows, highs, not cut_off))
            if not cut_off:
                break
        return actions[0]


class TiedJudge:
    """The common part of both judges. They ask the same questions, so each position is searched only once."""

    name: ClassVar[str]
    tolerance: ClassVar[float]

    def __init__(self, review: Review) -> None:
        self.game = review.game
        self.nodes = review.nodes * review.effort
        self.effort = 2 * self.nodes
        self.key = f"ends of ties to {review.moves} moves"
        self.word: str | None = None
        self._review = review
        self._scale, self._returns = Scale(review.game), Returns(review.game)

    def questions(self, decision: Decision) -> Sequence[str]:
        """Return the position."""
        return [decision.text]

    def answer(self, question: str) -> list[Iteration]:
        """Return the iterations that the budget allows."""
        agent = EndsSearch(self._review.moves)
        evaluation = seat_of(self._review, "expectimax").evaluation
        Climber(self.game, lambda: agent, evaluation).climb(self.game.parse_state(question), self.effort, question)
        return agent.iterations

    def judge(self, decision: Decision, found: Iteration) -> Verdict:
        """Return the verdict of an iteration. Its grade is None if the loss depends on how the players break ties."""
        actions = list(self.game.actions(decision.state))
        place = actions.index(decision.action)
        low, high = found.lows[place], found.highs[place]
        others = [one for one in range(len(actions)) if one != place]
        rival = max(others, key=lambda one: found.lows[one])
        least, most = found.lows[rival] - high, max([found.highs[one] for one in others]) - low
        if max(0.0, most) - max(0.0, least) > Returns.VALUE_TOLERANCE * max(1.0, abs(low)):
            return Verdict(self.name, None, None, None, None, None, found.exact)
        loss = max(0.0, least)
        grade = grade_loss(self._scale.size_of(loss, low + loss), self.tolerance)
        best, value = [round(self._returns.unscale(one), 6) for one in (low + loss, low)]
        if grade == BEST:
            best = value = max(best, value)
        known = high - low <= Returns.VALUE_TOLERANCE * max(
            1.0, abs(low)
        )  # an action may be best although its value depends on ties
        named = decision.action_text if loss == 0.0 else self.game.format_action(decision.state, actions[rival])
        loss, exact = round(best - value, 6), self.name == "exact"
        return Verdict(self.name, named, best if known else None, value if known else None, loss, grade, exact)


class TiedExactJudge(TiedJudge):
    """Judges a decision if each of its actions is searched to the end of the game."""

    name = "exact"
    tolerance = EXACT_TOLERANCE

    def verdict(self, decision: Decision, answers: Mapping[str, Any]) -> Verdict | None:
        """Return the verdict; None unless the search has reached the end of the game."""
        found = [Iteration(*one) for one in answers[decision.text]]
        return self.judge(decision, found[-1]) if found and found[-1].exact else None


class TiedSearchJudge(TiedJudge):
    """Judges by the deepest iteration within the budget, and again by the deepest one within half of the budget."""

    name = "search"
    tolerance = INEXACT_TOLERANCE

    def verdict(self, decision: Decision, answers: Mapping[str, Any]) -> Verdict | None:
        """Return the verdict if its grade is the same with half the budget; otherwise None. Equal values of a heuristic are no
        reason why there can be no verdict, so the end of the game is needed for a verdict without a grade. Without a heuristic,
        there is no verdict if the search has found no difference between the actions.
        """
        found = [Iteration(*one) for one in answers[decision.text]]
        half = [one for one in found if one.nodes <= self.nodes]
        if not half or (self.game.default_heuristic is None and any(map(_cannot_tell, (half[-1], found[-1])))):
            return None
        before, verdict = self.judge(decision, half[-1]), self.judge(decision, found[-1])
        return verdict if verdict.grade == before.grade and (verdict.grade or verdict.exact) else None


def _cannot_tell(found: Iteration) -> bool:
    values = [*found.lows, *found.highs]
    return not found.exact and max(values) - min(values) <= ALIKE
