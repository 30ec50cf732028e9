"""The judge `regret`: the cost of an action with an optimal continuation, minus the optimal cost."""

from collections.abc import Mapping, Sequence
from typing import Any

from arena import Game, Path, Puzzle, State
from arena.api.cli import load
from arena.api.games import HeuristicInfo
from arena.stats import subtract
from arena_review.api import BEST, DECISIVE, INACCURACY, MISTAKE, Decision, Review, Verdict
from arena_review.deepening import NOT_FOUND, Climber, seat_of

MIN_NODES = 1_000_000
"""The smallest budget of a solver. The whole 8-puzzle has 181,440 states."""
INACCURACY_SHARE = 0.1
"""An action that loses at most this share of the optimal cost is an inaccuracy; one that loses more is a mistake."""
UNSOLVABLE = "unsolvable"


def refuse_puzzle(game: Game) -> str | None:
    """Return the reason why the judge does not support a game; None if it does."""
    return None if isinstance(game, Puzzle) else "it is not a puzzle"


class RegretJudge:
    """Solves a position and its successor optimally, with A* if the default heuristic claims to be admissible.

    In a puzzle whose path does not count, only an action that makes the puzzle unsolvable loses something.
    """

    def __init__(self, review: Review) -> None:
        assert isinstance(review.game, Puzzle)
        self.puzzle = review.game
        self.effort = max(MIN_NODES, 2 * review.effort * review.nodes)
        self.word: str | None = "dfs"
        if self.puzzle.path_matters:
            name = self.puzzle.default_heuristic
            info = HeuristicInfo.of(load(review.plugins).heuristics.get((review.setup["name"], name))) if name else None
            self.word = "a-star" if info is not None and info.admissible else "uniform-cost"
        self.key = f"optimal {self.word}"
        self._review = review
        self._known: dict[State, tuple[float, str | None]] = {}
        self._climber: Climber | None = None

    def questions(self, decision: Decision) -> Sequence[str]:
        """Return the position and its successor."""
        return [decision.text, self.puzzle.format_state(decision.after)]

    def answer(self, question: str) -> tuple[float, str | None] | str | None:
        """Return the optimal cost to a goal and an action towards it; UNSOLVABLE without a path to a goal; None when the budget
        ran out.

        The optimal costs of all states on the optimal path are remembered, too.
        """
        puzzle = self.puzzle
        state = puzzle.parse_state(question)
        if state in self._known:
            return self._known[state]
        if self._climber is None:
            seat = seat_of(self._review, self.word or "")
            self._climber = Climber(puzzle, seat.make, seat.evaluation)
        found = self._climber.solve(state, self.effort)
        if found is NOT_FOUND:
            return None
        if not isinstance(found, Path):
            return UNSOLVABLE
        passed: list[tuple[State, float, str]] = []
        total = 0.0
        for action in found.actions:
            passed.append((state, total, puzzle.format_action(state, action)))
            after = puzzle.result(state, action)
            total += puzzle.step_cost(state, action, after) if puzzle.path_matters else 0.0
            state = after
        self._known |= {one: (total - cost, text) for one, cost, text in passed}
        self._known[state] = 0.0, None
        return (total, passed[0][2]) if passed else (0.0, None)

    def verdict(self, decision: Decision, answers: Mapping[str, Any]) -> Verdict | None:
        """Return the verdict with the regret, without a grade if the puzzle was unsolvable before the action. Return None if a
        budget ran out.
        """
        before, after = [answers[question] for question in self.questions(decision)]
        if before == UNSOLVABLE:
            return Verdict("regret", None, None, None, None, None, exact=True)
        if before is None or after is None:
            return None
        optimal, best = before
        if after == UNSOLVABLE:
            return Verdict("regret", best, optimal, None, None, DECISIVE, exact=True)
        step = self.puzzle.step_cost(decision.state, decision.action, decision.after) if self.puzzle.path_matters else 0.0
        cost = after[0] + step
        loss = max(0.0, subtract(cost, optimal))
        grade = BEST if loss == 0.0 else INACCURACY if loss <= INACCURACY_SHARE * optimal else MISTAKE
        return Verdict("regret", best, optimal, cost, loss, grade, exact=True)
