"""Facts about a solution that the referee has checked."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from arena import Limits, Puzzle, Record, Spec, overrides
from arena.api.games import info_of
from arena.api.results import figures
from arena_play.endings import explain_failure, find_exhausted_limit

MAX_COUNTING_NODES = 100_000
"""The node limit for counting the solutions of a position."""
SOLUTIONS = {0: "none", 1: "one", 2: "several"}


@dataclass(frozen=True, slots=True)
class Solution:
    """The record of a puzzle, and the facts that follow from it."""

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
        """Limits of the agent."""
        return self.spec.boards[0].seats[0].limits

    @property
    def failure(self) -> str | None:
        """The reason why the puzzle is not solved; None if it is."""
        return explain_failure(self.record, self.limits)

    def total(self, name: str) -> Any:
        """Return the sum of one figure over all decisions."""
        return sum([getattr(decision, name) for decision in self.record.decisions])

    @property
    def depth(self) -> int | None:
        """The depth that the agent reported last."""
        return self.record.decisions[-1].depth if self.record.decisions else None

    def optimality(self) -> tuple[bool | None, str]:
        """Return whether no solution is cheaper, None if not known, and the reason, from the agent's claim `Agent.optimal`."""
        record, seat = self.record, self.spec.boards[0].seats[0]
        if not record.solved or record.answer is not None or not self.puzzle.path_matters:
            return None, "not known: the way does not count"
        if not record.actions:
            return True, "yes: nothing had to be done"
        claim = seat.make().optimal
        if claim not in ("cost", "length", "admissible") or find_exhausted_limit(record, self.limits) is not None:
            return None, f"not known: {seat.label} does not claim it"
        if claim == "cost":
            return True, f"yes, as {seat.label} claims of every solution"
        if claim == "length" and overrides(self.puzzle, "step_cost"):
            return None, f"not known: steps differ in cost, and {seat.label} claims only that no way is shorter"
        if claim == "length":
            return True, f"yes, as {seat.label} claims where all steps cost the same"
        if seat.heuristic is None:
            return True, f"yes, as {seat.label} claims without a heuristic"
        info = info_of(self.spec.registry.heuristics.get((record.game, seat.heuristic)))
        if info is not None and info.admissible:
            return True, f"yes, as {seat.label} claims with {seat.heuristic}, which claims to be admissible"
        return None, f"not known: {seat.heuristic} does not claim to be admissible"

    def solutions(self) -> int | None:
        """Return the number of solutions of the position: 0, 1, or 2 for several; None if the puzzle cannot tell.

        A puzzle can tell by a method `solutions(state, *, nodes)`, within MAX_COUNTING_NODES nodes.
        """
        count = getattr(self.puzzle, "solutions", None)
        if count is None:
            return None
        try:
            found = count(self.puzzle.parse_state(self.record.position), nodes=MAX_COUNTING_NODES)
        except Exception:  # a fault of the plugin, which does not affect the result
            return None
        return found if found in SOLUTIONS else None

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield all facts but the solution itself, each a word and its text."""
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
            yield "at random", f"{record.fallbacks:,} moves, since the budget of a decision ran out"
        if record.solved and self.puzzle.path_matters:
            yield "optimal", self.optimality()[1]
        count = self.solutions()
        if count is not None:
            yield "solutions", SOLUTIONS[count]

    def document(self) -> Mapping[str, Any]:
        """Return the facts as plain values, ready for JSON."""
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
