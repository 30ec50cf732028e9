"""The judge `regret`: the cost of an action with an optimal continuation, minus the optimal cost."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from arena import Game, Path, Puzzle, Record, Registry, State
from arena.api.cli import load
from arena.api.games import HeuristicInfo, Returns, bind
from arena.api.match import Differs, Step, legal_action
from arena.api.results import figures
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


def find_overestimate(puzzle: Puzzle, name: str, registry: Registry, records: Iterable[Record]) -> str | None:
    """Return where the default heuristic of a puzzle exceeds the cost of a stored solution, in words; None if it never does.

    A heuristic that does not claim to be admissible is not looked at, because the judge does not use it.
    """
    target = registry.heuristics.get((name, puzzle.default_heuristic or ""))
    info = HeuristicInfo.of(target)
    if target is None or info is None or not info.admissible or not puzzle.path_matters:
        return None
    evaluate, estimates = bind(target, puzzle), dict[State, float]()
    for record in records:
        if not record.solved or not record.actions:
            continue
        try:
            steps = list(Step.follow(puzzle, record))
        except Differs:
            continue  # the review says which matches it leaves out
        rest = 0.0
        for before, step in reversed(list(pairwise(steps))):
            rest += puzzle.step_cost(before.state, legal_action(puzzle, before.state, step.action or ""), step.state)
            if before.state not in estimates:
                estimates[before.state] = evaluate(before.state)
            if subtract(estimates[before.state], rest) > 0:
                estimate, cost = figures.figure(estimates[before.state]), figures.figure(rest)
                return f"estimates {estimate} at {puzzle.format_state(before.state)}, where match {record.id[:10]} needed {cost}"
    return None


class RegretJudge:
    """Solves a position and its successor optimally, with A* if the default heuristic claims to be admissible and no stored
    solution contradicts it.

    In a puzzle whose path does not count, only an action that makes the puzzle unsolvable loses something.
    """

    def __init__(self, review: Review) -> None:
        assert isinstance(review.game, Puzzle)
        self.puzzle = review.game
        self.effort = max(MIN_NODES, 2 * review.effort * review.nodes)
        self.word: str | None = "dfs"
        self.certainty = ", so its judgements are certain"
        """The end of the sentence that describes the judge."""
        if self.puzzle.path_matters:
            name = self.puzzle.default_heuristic
            info = HeuristicInfo.of(load(review.plugins).heuristics.get((review.setup["name"], name))) if name else None
            trusted = info is not None and info.admissible and review.overestimate is None
            self.word = "a-star" if trusted else "uniform-cost"
            if trusted:
                self.certainty = f". A* finds this cost if the heuristic {name} never overestimates, as it claims"
            elif review.overestimate is not None:
                self.certainty += (
                    f". It does not use the heuristic {name}, which claims to be admissible but {review.overestimate}"
                )
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
        limit = INACCURACY_SHARE * optimal * (1 + Returns.VALUE_TOLERANCE)
        grade = BEST if loss == 0.0 else INACCURACY if loss <= limit else MISTAKE
        return Verdict("regret", best, optimal, cost, loss, grade, exact=True)
