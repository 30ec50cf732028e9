"""Collects the facts about the solution of a puzzle, after the referee has checked the solution."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from arena import Limits, Puzzle, Record, Spec, overrides
from arena.api.games import HeuristicInfo
from arena.api.results import figures
from arena_play.endings import explain_failure, find_exhausted_limit

MAX_COUNTING_NODES = 100_000
"""The node limit for counting the solutions of a position."""
SOLUTIONS = {0: "none", 1: "one", 2: "several"}


@dataclass(frozen=True, slots=True)
class Solution:
    """The record of a puzzle match, and the facts that follow from it."""

    spec: Spec
    record: Record

    @property
    def puzzle(self) -> Puzzle:
        """The rules of the puzzle."""
        game = self.spec.boards[0].game
        assert isinstance(game, Puzzle)
        return game

    @property
    def limits(self) -> Limits:
        """Return the limits of the agent."""
        return self.spec.boards[0].seats[0].limits

    @property
    def failure(self) -> str | None:
        """Return the reason why the puzzle is not solved; None if it is."""
        return explain_failure(self.record, self.limits)

    def total(self, name: str) -> Any:
        """Return the sum of one figure over all decisions."""
        return sum([getattr(decision, name) for decision in self.record.decisions])

    @property
    def depth(self) -> int | None:
        """Return the depth that the agent reported last."""
        return self.record.decisions[-1].depth if self.record.decisions else None

    def optimality(self) -> tuple[bool | None, str]:
        """Return whether the solution is optimal (True when no solution is cheaper, None when this is not known), and the reason.
        The answer follows from what the agent claims in `Agent.optimal`.
        """
        record, seat = self.record, self.spec.boards[0].seats[0]
        if not record.solved or record.answer is not None or not self.puzzle.path_matters:
            return None, "unknown: only the final state counts"
        if not record.actions:
            return True, "yes: the position was already solved"
        claim = seat.make().optimal
        if claim not in ("cost", "length", "admissible") or find_exhausted_limit(record, self.limits) is not None:
            return None, f"unknown: {seat.label} does not claim to be optimal"
        if claim == "cost":
            return True, f"yes, {seat.label} claims this for every solution"
        if claim == "length" and overrides(self.puzzle, "step_cost"):
            return None, f"unknown: steps differ in cost, and {seat.label} only claims to find the fewest steps"
        if claim == "length":
            return True, f"yes, {seat.label} claims this if all steps cost the same"
        if seat.heuristic is None:
            return True, f"yes, {seat.label} claims this without a heuristic"
        info = HeuristicInfo.of(self.spec.registry.heuristics.get((record.game, seat.heuristic)))
        if info is not None and info.admissible:
            return True, f"yes, {seat.label} claims this with {seat.heuristic}, which claims to be admissible"
        return None, f"unknown: {seat.heuristic} does not claim to be admissible"

    def solutions(self) -> int | None:
        """Return the number of solutions that the position has: 0, 1, or 2 for several; None if the puzzle cannot count them.

        A puzzle counts them with a method `solutions(state, *, nodes)`, which may use up to MAX_COUNTING_NODES nodes.
        """
        count = getattr(self.puzzle, "solutions", None)
        if count is None:
            return None
        try:
            found = count(self.puzzle.parse_state(self.record.position), nodes=MAX_COUNTING_NODES)
        except Exception:  # a fault in the plugin, which does not affect the result
            return None
        return found if found in SOLUTIONS else None

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield all facts except the solution itself. Each is a label and a text."""
        record = self.record
        yield "solved", "yes" if record.solved else f"no: {self.failure}"
        if record.moves is not None:
            yield ("moves" if record.answer is None else "steps"), f"{record.moves:,}"
        if record.cost is not None and record.solved:
            yield "cost", figures.figure(record.cost, 6)
        yield "nodes", f"{self.total('nodes'):,}"
        yield "evaluations", f"{self.total('evaluations'):,}"
        yield "time", figures.duration(self.total("seconds"))
        if self.depth is not None:
            yield "depth", f"{self.depth:,}"
        if record.fallbacks:
            yield "at random", f"{figures.amount(record.fallbacks, 'move')}, because a decision used up its budget"
        if record.solved and self.puzzle.path_matters:
            yield "optimal", self.optimality()[1]
        count = self.solutions()
        if count is not None:
            yield "solutions", SOLUTIONS[count]

    def document(self) -> Mapping[str, Any]:
        """Return the facts as plain values that can be written as JSON."""
        record, seat, board = self.record, self.spec.boards[0].seats[0], self.spec.boards[0]
        return {
            "game": {"name": board.name, **board.parameters},
            "position": record.position,
            "seed": record.seed,
            "agent": seat.label,
            "heuristic": seat.heuristic,
            "limits": {"nodes": self.limits.nodes, "seconds": self.limits.seconds, "moves": self.limits.moves},
            "solved": record.solved,
            "termination": record.termination,
            "reason": self.failure,
            "message": record.message,
            "actions": list(record.actions),
            "answer": record.answer,
            "moves": record.moves,
            "cost": record.cost,
            "nodes": self.total("nodes"),
            "evaluations": self.total("evaluations"),
            "seconds": self.total("seconds"),
            "depth": self.depth,
            "fallbacks": record.fallbacks,
            "optimal": self.optimality()[0],
            "solutions": self.solutions(),
        }
