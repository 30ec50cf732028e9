"""Compares the ways of an agent that claims optimal ones with those of uniform-cost search, from positions near a goal."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from arena.game import Puzzle, State
from arena.heuristic import Evaluation
from arena.match.record import Record
from arena.testing.admissibility import SMALL, TOLERANCE
from arena.testing.distances import Known, near_goal, shortest_way, way_to_goal
from arena.testing.trial import Trial, position_text

NEAR = 1_000
"""States near a goal of which positions are drawn."""
LAST = 20
"""States at the end of a way to a goal of which they are drawn, too, since not all actions can be undone."""
POSITIONS = 3
"""Positions of a match of the check."""
NODES = 20_000
"""Nodes that the agent has for a position; a way that it returns after these does not count."""

Measure = Literal["cost", "length"]


@dataclass(frozen=True, slots=True)
class Optimality:
    """The check that no way of an agent is worse than a cheapest one, or than a shortest one."""

    puzzle: Puzzle
    measure: Measure
    evaluation: Evaluation | None
    """An estimate that leads the search for a goal."""
    solve: Callable[[State], Record]
    """Plays a match of the agent from a position, with NODES nodes."""

    def check(self, trial: Trial, position: State) -> None:
        """Compare at positions near a goal that can be reached from `position`; at none if no goal is found."""
        for state, least in self._positions(trial, position):
            trial.position, trial.actions = position_text(self.puzzle, state), []
            record = trial.call("a small position", self.solve, state)
            found = record.cost if self.measure == "cost" else record.moves
            if found is None or not record.solved or len(record.decisions) != 1 or record.decisions[0].nodes >= NODES:
                continue
            with trial.checking("optimal"):
                trial.expect(
                    found <= least + TOLERANCE,
                    f"it claims a least {self.measure}, which uniform-cost search finds",
                    f"{self.measure} {least:g}",
                    f"{self.measure} {found:g}: {' '.join(record.actions)}",
                )

    def _positions(self, trial: Trial, position: State) -> Iterator[Known]:
        """Yield some positions near a goal, each with the least cost or length of a way from it."""
        way = way_to_goal(self.puzzle, position, SMALL, self.evaluation)
        near = [*way[:LAST], *near_goal(self.puzzle, way[:2], NEAR)]
        states = [state for state in dict.fromkeys([state for state, _ in near]) if not self.puzzle.is_goal(state)]
        cost = self.puzzle.step_cost if self.measure == "cost" else lambda *_: 1.0
        for state in trial.rng.sample(states, min(POSITIONS, len(states))):
            for _, least in shortest_way(self.puzzle, state, SMALL, cost)[-1:]:
                yield state, least
