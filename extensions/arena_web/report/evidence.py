"""The data of a report: the leaderboards of a store and all matches behind them, read in one transaction."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from arena.api.errors import StoreError
from arena.api.match import Reason, find_loser
from arena.api.results import BoardInfo, Leaderboard, tallies_of
from arena.api.store import Run, Store
from arena_records.budgets import reports_nodes


class Effort(NamedTuple):
    """The resources that a seat used in one match."""

    decisions: int
    nodes: int
    seconds: float


class MatchSummary(NamedTuple):
    """A few numbers about a match. This is a named tuple, because a store may have a million matches."""

    place: int
    """The number of the match in the schedule."""
    round: int
    """The number of the round. In a puzzle, each round is one position."""
    seats: tuple[int, ...]
    """The entry in each seat."""
    returns: tuple[float, ...]
    termination: Reason
    seat: int | None
    solved: bool | None
    moves: int | None
    cost: float | None
    effort: Effort
    """The resources that the first seat used. A puzzle has no other seat."""
    play_hash: int
    used_rng: bool
    """Whether any seat used random numbers."""

    @property
    def positions(self) -> int:
        """The number of positions to show. A puzzle that ends with an answer has only two: the first position and the answer.
        Such a match is recognised by its missing cost.
        """
        return 2 if self.solved is not None and self.cost is None else 1 + (self.moves or 0)

    @property
    def loser(self) -> int | None:
        """The seat that lost by a fault; None if no seat did."""
        return find_loser(self.termination, self.seat)

    @property
    def void(self) -> bool:
        """True if the match does not count for the score."""
        return self.termination == "void"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One board: its leaderboard, and its matches in the order of the schedule."""

    number: int
    sheet: BoardInfo
    board: Leaderboard
    matches: tuple[MatchSummary, ...]

    @property
    def ranked(self) -> tuple[int, ...]:
        """The entries, from the best to the worst."""
        return tuple([self.sheet.labels.index(row["agent"]) for row in self.board.rows])

    @property
    def scored(self) -> Iterator[MatchSummary]:
        """Yield the matches that are not void."""
        return (match for match in self.matches if not match.void)

    def list_searching(self) -> set[int]:
        """Return the entries that report nodes, see `reports_nodes`."""
        nodes: dict[int, list[int]] = defaultdict(list)
        for match in self.scored:
            nodes[match.seats[0]].append(match.effort.nodes)
        return {entry for entry, each in nodes.items() if reports_nodes(each)}


def choose(evidence: Evidence, names: Collection[str]) -> Evidence:
    """Return the board with only the rows of some entries. The rows are still computed from all matches."""
    board = evidence.board
    places = [place for place, row in enumerate(board.rows) if row["agent"] in names]
    cross = None if board.cross is None else tuple([tuple([board.cross[one][other] for other in places]) for one in places])
    return replace(evidence, board=replace(board, rows=tuple([board.rows[place] for place in places]), cross=cross))


def among(evidence: Evidence, names: Collection[str]) -> Evidence:
    """Return the board restricted to some entries: their rows, and the matches between them."""
    matches = [match for match in evidence.matches if all(evidence.sheet.labels[entry] in names for entry in match.seats)]
    return replace(choose(evidence, names), matches=tuple(matches))


@dataclass(frozen=True, slots=True)
class Findings:
    """The last run of a store and its boards."""

    store: str
    run: Run
    boards: tuple[Evidence, ...]
    environments: tuple[Mapping[str, str], ...]
    """The distinct versions of Python, arena and other software with which the runs of the store were played."""


def findings(store: Store) -> Findings:
    """Return the data of the last run of a store, even while it is in progress; call this function within one `snapshot`.

    Raises StoreError without a run, or without matches on its boards.
    """
    run = Leaderboard.last_run(store)
    tallies = tallies_of(store, run.boards)
    seated: dict[str, tuple[int, ...]] = {}  # all matches of a pairing share one object
    matches: dict[int, list[MatchSummary]] = defaultdict(list)
    for number, place, round_, seats, returns, termination, seat, solved, moves, cost, *used in store.query(_MATCHES):
        matches[number].append(
            MatchSummary(
                place,
                round_,
                seated.get(seats) or seated.setdefault(seats, Store.seats_of(seats)),
                Store.returns_of(returns),
                termination,
                seat,
                None if solved is None else bool(solved),
                moves,
                cost,
                Effort(used[0], used[1], used[2] / Store.NANOSECONDS),
                used[3] or 0,
                "1" in (used[4] or ""),
            )
        )
    if not matches:
        raise StoreError(f"{store.path} contains no matches of its last run; play some with `arena run` first")
    shown = Leaderboard.of_run(store, run, tallies, str(store.path))
    boards = [Evidence(number, board.sheet, board, tuple(matches.get(number, ()))) for number, board in enumerate(shown)]
    return Findings(str(store.path), run, tuple(boards), tuple(Run.list_environments(store.runs())))


def read(path: str | Path) -> Findings:
    """Return the data of the store at a path; raises StoreError if it does not exist or is empty."""
    with Store.open(path) as store, store.snapshot():
        return findings(store)


_MATCHES = f"""
SELECT p.board, p.number, p.round, p.seats, r.returns, r.termination, r.seat, r.solved, r.moves, r.cost,
       r.decisions_0, r.nodes_0, r.nanoseconds_0, {Store.MATCH_HASH}, r.drew
FROM place p JOIN record r ON r.number = p.record ORDER BY p.number
"""  # noqa: S608 - the hash is SQL of the store
