"""The data of a report: the leaderboards of a store and every match behind them, read in one go."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from arena.api.errors import StoreError
from arena.api.match import Reason
from arena.api.results import BoardInfo, Leaderboard, of_tallies, tallies_of
from arena.api.store import NANOSECONDS, Run, Store, list_environments, returns_of, seats_of


class Effort(NamedTuple):
    """Resources that a seat used in one match."""

    decisions: int
    nodes: int
    seconds: float


class MatchSummary(NamedTuple):
    """A match in a few numbers. It is a named tuple because a store may have a million."""

    place: int
    """Its number in the schedule."""
    round: int
    """In a puzzle, one round is one position."""
    seats: tuple[int, ...]
    """The entry in each seat."""
    returns: tuple[float, ...]
    termination: Reason
    seat: int | None
    solved: bool | None
    moves: int | None
    cost: float | None
    effort: Effort
    """The resources of the first seat, which is the only one in a puzzle."""

    @property
    def positions(self) -> int:
        """The number of positions to show; an answer, the only ending of a puzzle without a cost, comes at once."""
        return 2 if self.solved is not None and self.cost is None else 1 + (self.moves or 0)

    @property
    def void(self) -> bool:
        """True if the match is not scored."""
        return self.termination == "void"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One board: its leaderboard, and its matches in the order in which they were played."""

    number: int
    sheet: BoardInfo
    board: Leaderboard
    matches: tuple[MatchSummary, ...]

    @property
    def ranked(self) -> tuple[int, ...]:
        """The entries, the best first."""
        return tuple([self.sheet.labels.index(row["agent"]) for row in self.board.rows])

    @property
    def scored(self) -> Iterator[MatchSummary]:
        """The matches that are not void."""
        return (match for match in self.matches if not match.void)


def choose(evidence: Evidence, names: Collection[str]) -> Evidence:
    """The board with the rows of some of its entries, still computed from all matches."""
    board = evidence.board
    places = [place for place, row in enumerate(board.rows) if row["agent"] in names]
    cross = None if board.cross is None else tuple([tuple([board.cross[one][other] for other in places]) for one in places])
    return replace(evidence, board=replace(board, rows=tuple([board.rows[place] for place in places]), cross=cross))


def among(evidence: Evidence, names: Collection[str]) -> Evidence:
    """The board restricted to some of its entries: their rows and the matches between them."""
    matches = [match for match in evidence.matches if all(evidence.sheet.labels[entry] in names for entry in match.seats)]
    return replace(choose(evidence, names), matches=tuple(matches))


@dataclass(frozen=True, slots=True)
class Findings:
    """The last run of a store and its boards."""

    store: str
    run: Run
    boards: tuple[Evidence, ...]
    environments: tuple[Mapping[str, str], ...]
    """The distinct versions with which the runs of the store were played."""


def findings(store: Store) -> Findings:
    """The data of a store's last run, even while it is in progress; call it within one `snapshot`.

    Raises StoreError if there is no run, or no match on its boards.
    """
    run = store.last()
    tallies = tallies_of(store, run.boards)
    seated: dict[str, tuple[int, ...]] = {}  # one object for all matches of a pairing
    matches: dict[int, list[MatchSummary]] = defaultdict(list)
    for number, place, round_, seats, returns, termination, seat, solved, moves, cost, *used in store.query(_MATCHES):
        matches[number].append(
            MatchSummary(
                place,
                round_,
                seated.get(seats) or seated.setdefault(seats, seats_of(seats)),
                returns_of(returns),
                termination,
                seat,
                None if solved is None else bool(solved),
                moves,
                cost,
                Effort(used[0], used[1], used[2] / NANOSECONDS),
            )
        )
    if not matches:
        raise StoreError(f"{store.path} holds no match of its last run; play some with `arena run` first")
    shown = of_tallies(tallies, finished=run.ended is not None, store=str(store.path))
    boards = [Evidence(number, board.sheet, board, tuple(matches.get(number, ()))) for number, board in enumerate(shown)]
    return Findings(str(store.path), run, tuple(boards), tuple(list_environments(store.runs())))


def read(path: str | Path) -> Findings:
    """The data of the store at a path; raises StoreError if it does not exist or is empty."""
    with Store.open(path) as store, store.snapshot():
        return findings(store)


_MATCHES = """
SELECT p.board, p.number, p.round, p.seats, r.returns, r.termination, r.seat, r.solved, r.moves, r.cost,
       r.decisions_0, r.nodes_0, r.nanoseconds_0
FROM place p JOIN record r ON r.number = p.record ORDER BY r.number, p.number
"""
