"""Claims of optimal solutions that a match refutes: another entry has a cheaper solution of the same position."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from arena.format import Pairing
from arena.match.record import Reason, Record
from arena.results import figures
from arena.schedule.board_info import BoardInfo
from arena.store import Store
from arena.store.rows import NANOSECONDS, seats_of

RELATIVE_COST_TOLERANCE = 1e-9
"""The largest relative difference between two sums of the same step costs."""


@dataclass(frozen=True, slots=True)
class Refutation:
    """The solutions of an entry that refute its claim, and the first of them in the schedule."""

    agent: str
    count: int
    """The number of solutions for which another entry has a cheaper one."""
    first: str
    """The id of its match."""
    cost: float
    other: str
    """The entry with the cheapest solution of the same position, and its cost."""
    least: float

    def describe(self) -> str:
        """Return the refutation as a remark on the board."""
        cost, least = figures.figure(self.cost), figures.figure(self.least)
        times = "once" if self.count == 1 else f"{self.count:,} times"
        return (
            f"! : {self.agent} claims optimal solutions, but a cheaper one is known, {times}; "
            f"first its solution cost {cost} and that of {self.other} {least}, in match {self.first}."
        )


class SolutionCost(NamedTuple):
    """A solution of a position that has a cost."""

    number: int
    """The place of its match in the schedule."""
    entry: int
    key: str
    """The id of its match."""
    cost: float
    bound: bool
    """True if a claim of optimal solutions covers it: it was returned immediately, before a limit."""


class Claims:
    """The solutions of a board, gathered by position if an entry claims that its solutions are optimal."""

    def __init__(self, sheet: BoardInfo) -> None:
        self.sheet = sheet
        self.entries = {sheet.labels.index(label) for label in sheet.optimal if len(sheet.labels) > 1}
        """The entries that claim optimal solutions."""
        self._solutions: dict[int, list[SolutionCost]] = defaultdict(list)

    def add(self, number: int, pairing: Pairing, record: Record) -> None:
        """Count one record; `number` is its place in the schedule."""
        if self.entries and record.solved and record.cost is not None:
            entry, used = pairing.seats[0], record.decisions
            nodes, seconds = sum([one.nodes for one in used]), sum([one.seconds for one in used])
            bound = self._bound(entry, record.termination, len(used), nodes, seconds)
            self._solutions[pairing.round].append(SolutionCost(number, entry, record.id, record.cost, bound))

    def read(self, store: Store, board: int) -> None:
        """Read the solutions of the positions for which an entry with a claim has not found the cheapest."""
        if not self.entries:
            return
        marks = ",".join("?" * len(self.entries))
        rows = store.query(_SOLUTIONS.format(marks), (board, *map(str, sorted(self.entries))))
        for round_, number, key, seats, cost, termination, decisions, nodes, nanoseconds in rows:
            entry = seats_of(seats)[0]
            bound = self._bound(entry, termination, decisions, nodes, nanoseconds / NANOSECONDS)
            self._solutions[round_].append(SolutionCost(number, entry, key.hex(), cost, bound))

    def _bound(self, entry: int, termination: Reason, decisions: int, nodes: int, seconds: float) -> bool:
        limits = self.sheet.limits_of(entry)
        return entry in self.entries and decisions == 1 and not stopped(limits, termination, decisions, nodes, seconds)

    def refuted(self) -> tuple[Refutation, ...]:
        """The claims that solutions on this board refute, in the order of the schedule."""
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


def stopped(limits: Mapping[str, float], termination: Reason, decisions: int, nodes: int, seconds: float) -> bool:
    """Return whether one of the `limits` of a decision, or the memory limit, ended an attempt without a solution.

    An agent that moves step by step still moves if a decision exceeds its budget; only time and memory can end it.
    """
    if termination in {"timeout", "memory"}:
        return True
    return decisions == 1 and (nodes >= limits.get("nodes", inf) or seconds >= limits.get("seconds", inf))


_SOLUTIONS = """
WITH solution AS MATERIALIZED (
    SELECT p.round, p.number, r.id, p.seats, r.cost, r.termination, r.decisions_0, r.nodes_0, r.nanoseconds_0
    FROM place p JOIN record r ON r.number = p.record WHERE p.board = ? AND r.solved = 1 AND r.cost IS NOT NULL
), least AS (SELECT round, min(cost) AS cost FROM solution GROUP BY round)
SELECT * FROM solution WHERE round IN (
    SELECT s.round FROM solution s JOIN least l ON l.round = s.round WHERE s.seats IN ({}) AND s.cost > l.cost
)
"""
"""The solutions of the positions for which an entry with a claim does not have the cheapest one."""
