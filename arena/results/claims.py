"""Checks claims that solutions are optimal. A cheaper solution of the same position by another entry refutes such a claim."""

from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

from arena.format import Pairing
from arena.match.record import Reason, Record
from arena.results import figures
from arena.schedule.board_info import BoardInfo
from arena.store import Store
from arena.store.rows import NANOSECONDS, seats_of

RELATIVE_COST_TOLERANCE = 1e-9
"""The largest relative difference at which two sums of the same step costs count as equal."""


@dataclass(frozen=True, slots=True)
class Refutation:
    """The refuted claim of an entry: how many of its solutions are not optimal, and the first of them in the schedule."""

    agent: str
    count: int
    """The number of solutions for which another entry has a cheaper one."""
    first: str
    """The id of the match with the first of these solutions."""
    cost: float
    other: str
    """The entry with the cheapest solution of the same position, and the cost of that solution."""
    least: float

    def describe(self) -> str:
        """Return a remark for the board that describes the refutation."""
        cost, least = figures.figure(self.cost), figures.figure(self.least)
        times = "once" if self.count == 1 else f"{self.count:,} times"
        return (
            f"! : {self.agent} claims optimal solutions, but another agent found a cheaper one, {times}; "
            f"first in match {self.first}: its solution costs {cost}, but one from {self.other} costs {least}."
        )


class SolutionCost(NamedTuple):
    """A solution of a position, with its cost."""

    number: int
    """The place of its match in the schedule."""
    entry: int
    key: str
    """The id of its match."""
    cost: float
    bound: bool
    """Whether a claim of optimal solutions covers it: the agent returned it in one decision, and no limit stopped the search."""


class Claims:
    """The solutions on a board, grouped by position. They are kept only if an entry claims that its solutions are optimal."""

    def __init__(self, sheet: BoardInfo) -> None:
        self.sheet = sheet
        self.entries = {sheet.labels.index(label) for label in sheet.optimal if len(sheet.labels) > 1}
        """The entries that claim that their solutions are optimal."""
        self._solutions: dict[int, list[SolutionCost]] = defaultdict(list)

    def add(self, number: int, pairing: Pairing, record: Record) -> None:
        """Count one record; `number` is its place in the schedule."""
        if self.entries and record.solved and record.cost is not None:
            entry, used = pairing.seats[0], record.decisions
            nodes, seconds = sum([one.nodes for one in used]), sum([one.seconds for one in used])
            bound = self._bound(entry, record.termination, len(used), nodes, seconds)
            self._solutions[pairing.round].append(SolutionCost(number, entry, record.id, record.cost, bound))

    def read(self, store: Store, board: int) -> None:
        """Read the solutions of each position for which an entry with a claim has not found the cheapest one."""
        if not self.entries:
            return
        marks = ",".join("?" * len(self.entries))
        rows = store.query(_SOLUTIONS.format(marks), (board, *map(str, sorted(self.entries))))
        for round_, number, key, seats, cost, termination, decisions, nodes, nanoseconds in rows:
            entry = seats_of(seats)[0]
            bound = self._bound(entry, termination, decisions, nodes, nanoseconds / NANOSECONDS)
            self._solutions[round_].append(SolutionCost(number, entry, key.hex(), cost, bound))

    def _bound(self, entry: int, termination: Reason, decisions: int, nodes: int, seconds: float) -> bool:
        return (
            entry in self.entries and decisions == 1 and not self.sheet.was_stopped(entry, termination, decisions, nodes, seconds)
        )

    def refuted(self) -> tuple[Refutation, ...]:
        """The claims that are refuted by solutions on this board, in the order of the schedule."""
        found: dict[int, list[tuple[SolutionCost, SolutionCost]]] = defaultdict(list)
        for solutions in self._solutions.values():
            best = min(solutions, key=lambda solution: (solution.cost, solution.number))
            for one in solutions:
                if one.bound and one.cost > best.cost + RELATIVE_COST_TOLERANCE * max(1.0, abs(best.cost)):
                    found[one.entry].append((one, best))
        first = {entry: min(pairs) for entry, pairs in found.items()}
        labels = self.sheet.labels
        return tuple(
            [
                Refutation(labels[entry], len(found[entry]), one.key, one.cost, labels[best.entry], best.cost)
                for entry, (one, best) in sorted(first.items(), key=lambda item: item[1])
            ]
        )


_SOLUTIONS = """
WITH solution AS MATERIALIZED (
    SELECT p.round, p.number, r.id, p.seats, r.cost, r.termination, r.decisions_0, r.nodes_0, r.nanoseconds_0
    FROM place p JOIN record r ON r.number = p.record WHERE p.board = ? AND r.solved = 1 AND r.cost IS NOT NULL
), least AS (SELECT round, min(cost) AS cost FROM solution GROUP BY round)
SELECT * FROM solution WHERE round IN (
    SELECT s.round FROM solution s JOIN least l ON l.round = s.round WHERE s.seats IN ({}) AND s.cost > l.cost
)
"""
"""The solutions of each position for which an entry with a claim does not have the cheapest one."""
