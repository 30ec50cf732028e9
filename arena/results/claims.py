"""Checks claims that solutions are optimal. A cheaper solution of the same position by another entry refutes such a claim.

An entry with this claim searches every path. If it gives up although no limit stopped it, it has proven that there is no
solution.
"""

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
        self.complete = {sheet.labels.index(label) for label in sheet.optimal if "depth" not in sheet.limits.get(label, {})}
        """The entries that search every path unless they run out of nodes or time."""
        self._solutions: dict[int, list[SolutionCost]] = defaultdict(list)
        self._solved: set[int] = set()
        self._given_up: dict[int, set[int]] = defaultdict(set)
        """For each entry in `complete`, the rounds in which it searched every path and found no solution."""

    def add(self, number: int, pairing: Pairing, record: Record) -> None:
        """Count one record; `number` is its place in the schedule."""
        entry, used = pairing.seats[0], record.decisions
        nodes, seconds = sum([one.nodes for one in used]), sum([one.seconds for one in used])
        if self.complete and (record.solved or record.termination == "gave-up"):
            self._note(pairing.round, entry, bool(record.solved), len(used), nodes, seconds)
        if self.entries and record.solved and record.cost is not None:
            bound = self._bound(entry, record.termination, len(used), nodes, seconds)
            self._solutions[pairing.round].append(SolutionCost(number, entry, record.id, record.cost, bound))

    def read(self, store: Store, board: int) -> None:
        """Read the solutions of each position for which an entry with a claim has not found the cheapest one."""
        if self.complete:
            for round_, seats, solved, decisions, nodes, nanoseconds in store.query(_SEARCHED, (board,)):
                self._note(round_, seats_of(seats)[0], bool(solved), decisions, nodes, nanoseconds / NANOSECONDS)
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

    def _note(self, round_: int, entry: int, solved: bool, decisions: int, nodes: int, seconds: float) -> None:
        if solved:
            self._solved.add(round_)
        elif entry in self.complete and not self.sheet.was_stopped(entry, "gave-up", decisions, nodes, seconds):
            self._given_up[entry].add(round_)

    def describe_unsolvable(self) -> list[str]:
        """Return a remark on the positions that have no solution, as searches of every path have proven, if there are any."""
        proven = {entry: found for entry, rounds in sorted(self._given_up.items()) if (found := rounds - self._solved)}
        every = set().union(*proven.values())
        if not every:
            return []
        whole = [entry for entry, rounds in proven.items() if rounds == every] or list(proven)
        names = " and ".join([self.sheet.labels[entry] for entry in whole])
        have = "has" if len(every) == 1 else "have"
        return [f"{names} proved that {figures.amount(len(every), 'position')} {have} no solution."]

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


_SEARCHED = """
SELECT p.round, p.seats, r.solved, r.decisions_0, r.nodes_0, r.nanoseconds_0
FROM place p JOIN record r ON r.number = p.record WHERE p.board = ? AND (r.solved = 1 OR r.termination = 'gave-up')
"""
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
