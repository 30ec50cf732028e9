"""The filter for the matches of a store: by board, agent, opponent, result, ending and length."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator

from arena.api.games import read_digits
from arena.api.match import FAULTS
from arena.api.results import BoardInfo, put_last
from arena.api.store import Store
from arena_records.match_list import outcome, select_entries

PLACED = "FROM place p JOIN record r ON r.number = p.record"
"""The FROM clause for all matches on the boards of the last run. Every query in this module contains it."""
FAILED = ", ".join([f"'{reason}'" for reason in (*sorted(FAULTS), "void")])


LOSER = f"CASE WHEN r.termination IN ({', '.join([repr(reason) for reason in sorted(FAULTS)])}) THEN r.seat ELSE -1 END"
"""The seat that lost by a fault, or -1, in SQL."""


def whole_number(text: Any) -> Any:
    """Parse a whole number of up to nine digits from an address; None for any other text."""
    if not isinstance(text, str):
        return text
    return read_digits(text, 9)


Number = Annotated[int | None, BeforeValidator(whole_number)]


class MatchFilter(BaseModel, frozen=True):
    """Conditions on matches, which are also query parameters. None or an empty text means no condition. Entries are named by
    their labels.
    """

    board: Number = None
    agent: str = ""
    opponent: str = ""
    """The label of another player of the match; without `agent` it has no effect."""
    result: str = ""
    """`win`, `draw` or `loss` of `agent`, or, without `agent`, of the first seat."""
    ending: str = ""
    """A termination; `failed` stands for every termination that is a fault, and `unsolved` for puzzles that were not solved."""
    shortest: Number = None
    longest: Number = None
    """`shortest` is the minimum number of moves of a match, and `longest` is the maximum."""

    def where(self, store: Store, boards: Sequence[BoardInfo]) -> tuple[str, list[Any]]:
        """Return the condition in SQL, beginning with WHERE, and its values. For `result`, the store is read."""
        parts: list[str] = ["1"]
        values: list[Any] = []
        names = [label for label in (self.agent, self.opponent if self.agent else "") if label]
        if names or self.board is not None:  # each board numbers its entries separately
            asked = [(number, sheet) for number, sheet in enumerate(boards) if self.board in (None, number)]
            part, given = select_entries(asked, names)
            parts.append(part)
            values += given
        if self.ending == "failed":
            parts.append(f"r.termination IN ({FAILED})")
        elif self.ending == "unsolved":
            parts.append("r.solved = 0")
        elif self.ending:
            parts.append("r.termination = ?")
            values.append(self.ending)
        for condition, bound in (("r.moves >= ?", self.shortest), ("r.moves <= ?", self.longest)):
            if bound is not None:
                parts.append(condition)
                values.append(bound)
        if self.result:
            found = self._by_result(store, boards, " AND ".join(parts), values)
            parts.append(f"r.termination <> 'void' AND {found[0]}")
            values += found[1]
        return f"WHERE {' AND '.join(parts)}", values

    def _by_result(self, store: Store, boards: Sequence[BoardInfo], where: str, values: Sequence[Any]) -> tuple[str, list[Any]]:
        """Return the condition for a result. The condition lists all matching returns, losers and seats in the store. There are a
        few thousand at most.
        """
        columns = f"r.returns, {LOSER}{', p.board, p.seats' if self.agent else ''}"
        found: list[Any] = []
        for row in store.query(f"SELECT DISTINCT {columns} {PLACED} WHERE {where}", values):
            returns, loser, *place = row
            seat = Store.seats_of(place[1]).index(boards[place[0]].labels.index(self.agent)) if place else 0
            if outcome(put_last(Store.returns_of(returns), loser), seat) == self.result:
                found += row
        width = 4 if self.agent else 2
        rows_ = ", ".join([f"({', '.join('?' * width)})"] * (len(found) // width))
        return (f"({columns}) IN (VALUES {rows_})" if found else "0"), found


class MatchPage(MatchFilter, frozen=True):
    """A page of the matches that pass a filter."""

    page: Number = None
