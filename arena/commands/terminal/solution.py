"""What is known of a solution when the referee has checked it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from arena.agent import Agent
from arena.commands.terminal.endings import exhausted, unsolved
from arena.errors import Interrupted
from arena.game import Puzzle, overrides
from arena.heuristic import info_of
from arena.limits import Limits
from arena.match.record import Record
from arena.spec import Spec

COUNTED = 100_000
"""Nodes that counting the solutions of a position may take."""
SOLUTIONS = {0: "none", 1: "one", 2: "several"}


@dataclass(frozen=True, slots=True)
class Solution:
    """A record of a puzzle with all that can be said about it."""

    spec: Spec
    record: Record

    @property
    def puzzle(self) -> Puzzle:
        """The rules."""
        game = self.spec.boards[0].game
        assert isinstance(game, Puzzle)
        return game

    @property
    def limits(self) -> Limits:
        """What the agent might use."""
        return self.spec.boards[0].seats[0].limits

    @property
    def failure(self) -> str | None:
        """Why it is none; None where the puzzle is solved."""
        return unsolved(self.record, self.limits)

    def total(self, name: str) -> Any:
        """The sum of one figure of all decisions."""
        return sum([getattr(decision, name) for decision in self.record.decisions])

    @property
    def depth(self) -> int | None:
        """The depth that the agent reported last."""
        return self.record.decisions[-1].depth if self.record.decisions else None

    def optimality(self) -> tuple[bool | None, str]:
        """Whether no solution is cheaper, None where that is not known, and why."""
        if not self.record.solved or self.record.answer is not None or not self.puzzle.path_matters:
            return None, "not known: the way does not count"
        if not self.record.actions:
            return True, "yes: nothing had to be done"
        seat = self.spec.boards[0].seats[0]
        claim = claimed(seat.make())
        if claim is None or exhausted(self.record, self.limits) is not None:
            return None, f"not known: {seat.label} does not claim it"
        if claim == "cost":
            return True, f"yes, as {seat.label} claims of every solution"
        if claim == "length":
            same = not overrides(self.puzzle, "step_cost")
            return (
                (True, f"yes, as {seat.label} claims where all steps cost the same") if same else (None, _DEAR.format(seat.label))
            )
        return self._admissible(seat.label, seat.heuristic)

    def _admissible(self, label: str, heuristic: str | None) -> tuple[bool | None, str]:
        if heuristic is None:
            return True, f"yes, as {label} claims without a heuristic"
        info = info_of(self.spec.registry.heuristics.get((self.record.game, heuristic)))
        if info is not None and info.admissible:
            return True, f"yes, as {label} claims with {heuristic}, which claims to be admissible"
        return None, f"not known: {heuristic} does not claim to be admissible"

    def solutions(self) -> int | None:
        """How many solutions the position has: 0, 1, or 2 for several; None where the puzzle cannot tell, or not soon.

        A puzzle can tell by a method `solutions(state, *, nodes)`.
        """
        count = getattr(self.puzzle, "solutions", None)
        if count is None:
            return None
        try:
            found = count(self.puzzle.parse_state(self.record.position), nodes=COUNTED)
        except Interrupted:
            raise
        except Exception:  # its author's, and no part of the result
            return None
        return found if found in SOLUTIONS else None

    def lines(self) -> Iterator[tuple[str, str]]:
        """Everything but the solution itself, as words and what there is to say."""
        record = self.record
        yield "solved", "yes" if record.solved else f"no: {self.failure}"
        if record.moves is not None:
            yield ("moves" if record.answer is None else "steps"), f"{record.moves:,}"
        if record.cost is not None and record.solved:
            yield "cost", f"{record.cost:g}"
        yield "nodes", f"{self.total('nodes'):,}"
        yield "evaluations", f"{self.total('evaluations'):,}"
        yield "time", f"{self.total('seconds'):.3f} s"
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
        """The same as plain values, ready for JSON."""
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


_DEAR = "not known: steps differ in cost, and {} claims only that no way is shorter"


def claimed(agent: Agent) -> str | None:
    """What an agent claims of its solutions: `cost`, `length` or `admissible`; see `Agent.optimal`."""
    claim = agent.optimal
    return claim if claim in ("cost", "length", "admissible") else None
