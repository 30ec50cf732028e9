"""Claims of entries of a puzzle board that their solutions are optimal: what follows from them, and which are refuted."""

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from arena.results import figures
from arena.schedule.board_info import BoardInfo

COST_TOLERANCE = 1e-9
"""The largest difference at which two sums of the same step costs count as equal, relative to the cost if it is above 1."""


class Refutation(NamedTuple):
    """A position that shows that a claim of an entry is wrong."""

    round: int
    cost: float | None
    """The cost of the solution that the entry returned; None if it gave up a position that has a solution."""
    other: int
    """The entry with the cheapest solution."""
    lowest: float | None
    """The cost of the cheapest solution; None if it is unknown."""


class Claims:
    """The claims of the entries of one puzzle board that their solutions are optimal.

    A claim is about the solutions that the entry returns in one decision in which it does not use up a limit, because a search
    that does may have been stopped, and its solution is the last one that it reported. If the search gives up although no limit
    stopped it, it claims that there is no solution. If any entry has a cheaper solution of a position,
    or a solution of a position that was given up, the claim is refuted, and nothing that the entry claims is believed.

    >>> from arena.api.spec import load_spec
    >>> spec = load_spec({"game": "sliding-tiles", "agents": ["uniform-cost", "bfs", "greedy"]})
    >>> claims = Claims(BoardInfo.of(spec.boards[0]))
    >>> claims.add(0, 0, solved=True, cost=7.0, termination="normal", decisions=1, nodes=50, seconds=0.1)
    >>> claims.add(0, 2, solved=True, cost=9.0, termination="normal", decisions=9, nodes=20, seconds=0.1)
    >>> claims.find_optima()
    {0: 7.0}
    >>> claims.add(1, 1, solved=True, cost=6.0, termination="normal", decisions=1, nodes=50, seconds=0.1)
    >>> claims.add(1, 2, solved=True, cost=4.0, termination="normal", decisions=4, nodes=20, seconds=0.1)
    >>> claims.find_refutations()
    {1: Refutation(round=1, cost=6.0, other=2, lowest=4.0)}
    """

    def __init__(self, sheet: BoardInfo) -> None:
        self._sheet = sheet
        self.claiming = {sheet.labels.index(label) for label in sheet.optimal}
        """The entries that claim optimal solutions. Without any, nothing needs to be added."""
        self._complete = {entry for entry in self.claiming if "depth" not in sheet.limits.get(sheet.labels[entry], {})}
        """The entries that search every path unless they run out of nodes or time."""
        self._solved: dict[int, int] = {}
        """The entry that solved a position first, by round."""
        self._lowest: dict[int, tuple[float, int]] = {}
        """The lowest cost of a solution and its entry, by round."""
        self._claimed: defaultdict[int, dict[int, float]] = defaultdict(dict)
        """The costs that an entry claims to be optimal, by round."""
        self._given_up: defaultdict[int, set[int]] = defaultdict(set)
        """The rounds in which an entry searched every path and found no solution."""
        self._refuted: dict[int, Refutation] | None = None

    def add(
        self,
        round_: int,
        entry: int,
        *,
        solved: bool,
        cost: float | None,
        termination: str,
        decisions: int,
        nodes: int,
        seconds: float,
    ) -> None:
        """Add an attempt at the position of a round."""
        if not self.claiming:
            return
        self._refuted = None
        stopped = self._sheet.was_stopped(entry, termination, decisions, nodes, seconds)
        if not solved:
            if termination == "gave-up" and entry in self._complete and not stopped:
                self._given_up[entry].add(round_)
            return
        self._solved.setdefault(round_, entry)
        if cost is None:
            return
        if round_ not in self._lowest or cost < self._lowest[round_][0]:
            self._lowest[round_] = cost, entry
        if entry in self.claiming and decisions <= 1 and not stopped:
            self._claimed[entry][round_] = min(cost, self._claimed[entry].get(round_, cost))

    def find_refutations(self) -> dict[int, Refutation]:
        """Return the first round in which the claim of an entry is refuted, by entry."""
        if self._refuted is None:
            found: dict[int, Refutation] = {}
            for entry in sorted(self.claiming):
                wrong = [
                    Refutation(round_, cost, self._lowest[round_][1], self._lowest[round_][0])
                    for round_, cost in self._claimed[entry].items()
                    if cost > (low := self._lowest[round_][0]) + COST_TOLERANCE * max(1.0, abs(low))
                ]
                for round_ in self._given_up[entry] & self._solved.keys():
                    lowest, other = self._lowest.get(round_, (None, self._solved[round_]))
                    wrong.append(Refutation(round_, None, other, lowest))
                if wrong:
                    found[entry] = min(wrong, key=lambda one: one.round)
            self._refuted = found
        return self._refuted

    def find_optima(self) -> dict[int, float]:
        """Return the optimal cost of each position for which it is known, by round."""
        believed = self.claiming - self.find_refutations().keys()
        return {round_: self._lowest[round_][0] for entry in sorted(believed) for round_ in self._claimed[entry]}

    def describe_refutations(self) -> list[str]:
        """Return a remark for each entry with a refuted claim."""
        labels, remarks = self._sheet.labels, []
        for entry, one in self.find_refutations().items():
            lower = f"{labels[one.other]} found one for {figures.figure(one.lowest)}"
            shown = f"its solution costs {figures.figure(one.cost)}, but {lower}"
            if one.cost is None:
                shown = f"it gave up on the position, but {labels[one.other]} solved it"
            remarks.append(
                f"{labels[entry]} claims that its solutions are optimal. This is false: in round {one.round + 1}, {shown}. "
                f"No optimum is taken from {labels[entry]}."
            )
        return remarks

    def describe_unsolvable(self, positions: Mapping[int, int]) -> list[str]:
        """Return a remark, if there are positions that have no solution. `positions` contains the first round with the same
        position, by round.
        """
        refuted = self.find_refutations()
        proven = {entry: rounds for entry, rounds in sorted(self._given_up.items()) if rounds and entry not in refuted}
        every = set().union(*proven.values())
        if not every:
            return []
        whole = [entry for entry, rounds in proven.items() if rounds == every] or list(proven)
        names = figures.listing([self._sheet.labels[entry] for entry in whole])
        number = len({positions.get(round_, round_) for round_ in every})
        have = "has" if number == 1 else "have"
        return [f"{names} proved that {figures.amount(number, 'position')} {have} no solution."]
