"""Makes tidy rows of matches: one value in each column, for data frames, CSV, and the formulas of the key `report`."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from arena import Record
from arena.api.results import BoardInfo
from arena.api.run import Scheduled
from arena.api.store import Store
from arena.stats import subtract
from arena_records.report import Report

_ORDINALS = ("first", "second", "third", "fourth")
Matches = Callable[[], Iterable[tuple[Record, Scheduled | None]]]
"""A function that starts to read the matches of a run with their places."""


class TidyColumn(NamedTuple):
    """A column of data frames and of `arena export --format tidy`."""

    name: str
    """The name of the column. If there is a column for each seat, it is the beginning of these names: empty, or a text that ends
    in `_`.
    """
    boards: str
    """The kinds of boards that have the column, separated by spaces; empty for all."""
    meaning: str
    is_number: bool = True


COLUMNS = (
    TidyColumn("id", "", "the id of the match", is_number=False),
    TidyColumn("board", "", "the title of the leaderboard", is_number=False),
    TidyColumn("domain", "", "the same, with a number if several leaderboards have this title", is_number=False),
    TidyColumn("round", "", "the round, from 0; in a puzzle, each round is one position"),
    TidyColumn("game", "", "the name of the game", is_number=False),
    TidyColumn("position", "", "the first position", is_number=False),
    TidyColumn("agent", "puzzle score", "the label of the agent", is_number=False),
    TidyColumn("", "versus", "the label of the agent in each seat", is_number=False),
    TidyColumn("winner", "versus", "the label of the agent that won; empty for a draw", is_number=False),
    TidyColumn("returns_", "versus", "the return of each seat; in many games 1 for a win, 0 for a draw and -1 for a loss"),
    TidyColumn("returns", "score", "the return"),
    TidyColumn("solved", "puzzle", "1 if the puzzle was solved, otherwise 0"),
    TidyColumn("moves", "", "the length of the match"),
    TidyColumn("path_cost", "puzzle", "the cost of the solution; empty without a solution. In a formula, also `cost`"),
    TidyColumn(
        "optimal",
        "puzzle",
        "the lowest cost for this position, if an agent with optimal solutions has solved it in this run; otherwise empty",
    ),
    TidyColumn("termination", "", "the way in which the match ended", is_number=False),
    TidyColumn("at_fault", "", "the agent that lost by a fault or gave up", is_number=False),
    TidyColumn("message", "", "the message about this fault", is_number=False),
    TidyColumn(
        "fallbacks", "", "the number of random actions that arena played because a limit ended a decision without a result"
    ),
    TidyColumn("nodes", "", "the number of generated states, summed over all seats"),
    TidyColumn("seconds", "", "the total seconds of all decisions, summed over all seats"),
    TidyColumn("compiled", "", "the number of decisions that ran a compiled search"),
    TidyColumn("plain", "", "the number of decisions that requested a compiled search but ran without it"),
    TidyColumn("nodes_", "versus", "the number of generated states of each seat"),
    TidyColumn("seconds_", "versus", "the seconds of each seat"),
)
"""The columns of tidy rows, in order. A row has the columns of its kind of board, and a table has those of all its boards."""
OWN = {
    "own_returns": "the return of the agent in this row",
    "own_nodes": "the number of generated states of the agent in this row",
    "own_seconds": "the seconds of the agent in this row",
}
"""Names that only the formulas of columns may use. In a game, their values differ between the agents of a match."""
ALIASES = {"cost": "path_cost"}
"""Other names that formulas may use for columns."""
RELATIVE_COST_TOLERANCE = 1e-9
"""The largest relative difference at which two sums of the same step costs count as equal."""


def seat_names(seats: int) -> list[str]:
    """Return the names of `seats` seats: `first`, `second`, `third`, `fourth`, `seat_5`, ..."""
    return [_ORDINALS[seat] if seat < len(_ORDINALS) else f"seat_{seat + 1}" for seat in range(seats)]


def tidy_columns(kinds: Collection[str], seats: int, *, numbers: bool | None = None) -> list[str]:
    """Return the columns for matches on boards of these `kinds`, with at most `seats` seats.

    `numbers` selects the columns with numbers, or the columns without.
    """
    found: list[str] = []
    for name, boards, _, is_number in COLUMNS:
        if (not boards or any(kind in boards.split() for kind in kinds)) and numbers in (None, is_number):
            by_seat = boards == "versus" and (not name or name.endswith("_"))
            found += [f"{name}{seat}" for seat in seat_names(seats)] if by_seat else [name]
    return found


def name_domains(titles: Sequence[str]) -> list[str]:
    """Return a different name for each board: its title, with a number if several boards share one.

    >>> name_domains(["nim", "hex", "nim"])
    ['nim 1', 'hex', 'nim 2']
    """
    return [
        title if titles.count(title) == 1 else f"{title} {titles[: number + 1].count(title)}"
        for number, title in enumerate(titles)
    ]


class OptimalCosts:
    """The lowest cost of a solution for each position of puzzle boards, if an entry that claims optimal solutions has found it.

    If another entry has a cheaper solution, the claim is wrong, and the lowest cost is unknown.
    """

    def __init__(self, boards: Sequence[BoardInfo]) -> None:
        self._boards = boards
        self._lowest: dict[tuple[int, int], float] = {}
        self._claimed: dict[tuple[int, int], float] = {}

    def add(
        self, board: int, round_: int, entry: int, cost: float, termination: str, decisions: int, nodes: int, seconds: float
    ) -> None:
        """Add a solution. If its entry claims optimal solutions, the claim counts only for a solution that was returned in one
        decision, without a limit that stopped it.
        """
        place, sheet = (board, round_), self._boards[board]
        self._lowest[place] = min(cost, self._lowest.get(place, cost))
        stopped = decisions != 1 or sheet.was_stopped(entry, termination, decisions, nodes, seconds)
        if sheet.labels[entry] in sheet.optimal and not stopped:
            self._claimed[place] = min(cost, self._claimed.get(place, cost))

    def of(self, board: int, round_: int) -> float | None:
        """Return the lowest cost of a solution for a position; None if it is unknown."""
        lowest, claimed = self._lowest.get((board, round_)), self._claimed.get((board, round_))
        if lowest is None or claimed is None or claimed > lowest + RELATIVE_COST_TOLERANCE * max(1.0, abs(lowest)):
            return None
        return claimed

    @classmethod
    def read(cls, boards: Sequence[BoardInfo], matches: Matches) -> "OptimalCosts":
        """Return the costs from the records of matches."""
        found = cls(boards)
        for record, place in matches() if any(board.optimal for board in boards) else ():
            if place is not None and record.solved and record.cost is not None:
                nodes, seconds = sum([one.nodes for one in record.decisions]), sum([one.seconds for one in record.decisions])
                used = (record.termination, len(record.decisions), nodes, seconds)
                found.add(place.board, place.pairing.round, place.pairing.seats[0], record.cost, *used)
        return found

    @classmethod
    def of_store(cls, boards: Sequence[BoardInfo], store: Store) -> "OptimalCosts":
        """Return the costs from the columns of a store, without reading its records."""
        found = cls(boards)
        for board, round_, seats, cost, termination, decisions, nodes, nanoseconds in store.query(_SOLUTIONS):
            seconds = nanoseconds / Store.NANOSECONDS
            found.add(board, round_, Store.seats_of(seats)[0], cost, termination, decisions, nodes, seconds)
        return found


_SOLUTIONS = """
SELECT p.board, p.round, p.seats, r.cost, r.termination, r.decisions_0, r.nodes_0, r.nanoseconds_0
FROM place p JOIN record r ON r.number = p.record WHERE r.solved = 1 AND r.cost IS NOT NULL
"""


class TidyTable:
    """The tidy rows of the matches on some boards, with the columns of the key `report`."""

    def __init__(self, boards: Sequence[BoardInfo], seats: int, optimal: OptimalCosts, report: Report) -> None:
        self._boards, self._seats, self._optimal, self._report = boards, seats, optimal, report
        self._domains = name_domains([board.title for board in boards])

    def columns(self) -> list[str]:
        """Return the names of the columns. A formula with names that begin with `own_` has a column for each seat of a game."""
        kinds = {board.kind for board in self._boards}
        found = tidy_columns(kinds, self._seats) + ([] if self._report.where is None else ["kept"])
        for name, formula in self._report.columns.items():
            by_seat = bool(formula.names & OWN.keys())
            found += [f"{name}_{seat}" for seat in seat_names(self._seats)] if by_seat and "versus" in kinds else []
            found += [name] if not by_seat or kinds - {"versus"} else []
        return found

    def row(self, record: Record, place: Scheduled) -> dict[str, Any]:
        """Return one match. Columns that its kind of board does not have are missing."""
        row = self.plain_row(record, place)
        if self._report.where is not None:
            row["kept"] = record.termination == "void" or self._report.keeps(row)
        derived: dict[str, Any] = {}
        for name, formula in self._report.columns.items() if record.termination != "void" else ():
            by_seat = self._boards[place.board].kind == "versus" and bool(formula.names & OWN.keys())
            for seat, ending in enumerate(seat_names(len(record.labels)) if by_seat else [""]):
                derived[f"{name}_{ending}" if ending else name] = formula.compute(self.numbers(row, record, place, seat))
        return row | derived

    def numbers(self, row: Mapping[str, Any], record: Record, place: Scheduled, seat: int) -> dict[str, Any]:
        """Return the numbers of a match from the point of view of a seat, for the formula of a column."""
        versus = self._boards[place.board].kind == "versus"
        ending = f"_{seat_names(seat + 1)[seat]}" if versus else ""
        own = {"own_nodes": row[f"nodes{ending}"], "own_seconds": row[f"seconds{ending}"], "own_returns": record.returns[seat]}
        return {**row, **own, **{alias: row.get(name) for alias, name in ALIASES.items()}}

    def plain_row(self, record: Record, place: Scheduled) -> dict[str, Any]:
        """Return one match without the columns of `report`."""
        sheet, round_ = self._boards[place.board], place.pairing.round
        nodes, seconds = [0] * len(record.labels), [0.0] * len(record.labels)
        for decision in record.decisions:
            nodes[decision.seat] += decision.nodes
            seconds[decision.seat] += decision.seconds
        row = {
            "id": record.id,
            "board": sheet.title,
            "domain": self._domains[place.board],
            "round": round_,
            "game": record.game,
            "position": record.position,
            "moves": record.moves,
            "termination": record.termination,
            "at_fault": None if record.seat is None else record.labels[record.seat],
            "message": record.message,
            "fallbacks": record.fallbacks,
            "nodes": sum(nodes),
            "seconds": round(sum(seconds), 9),
            **{way: sum(filter(None, (record.timing or {}).get(way) or ())) for way in ("compiled", "plain")},
        }
        if sheet.kind == "score":
            return {**row, "agent": record.labels[0], "returns": record.returns[0]}
        if sheet.kind != "versus":
            cost = record.cost if record.solved else None
            optimal = self._optimal.of(place.board, round_)
            if cost is not None and optimal is not None and not subtract(cost, optimal):
                optimal = cost  # equal but for rounding, so that `cost - optimal` is 0
            return {**row, "agent": record.labels[0], "solved": record.solved, "path_cost": cost, "optimal": optimal}
        for name, label, got, generated, spent in zip(
            seat_names(len(record.labels)), record.labels, record.returns, nodes, seconds, strict=True
        ):
            row |= {name: label, f"returns_{name}": got, f"nodes_{name}": generated, f"seconds_{name}": round(spent, 9)}
        best = [label for label, got in zip(record.labels, record.results, strict=True) if got == max(record.results)]
        return {**row, "winner": best[0] if len(best) == 1 and record.termination != "void" else None}


def tidy_rows(store: Store) -> Iterator[Sequence[Any]]:
    """Yield the names of the columns, and then a row for each match on the boards of the last run, in the order of
    its schedule.
    """
    run = store.last()
    seats = max([text.count(",") + 1 for (text,) in store.query("SELECT DISTINCT seats FROM place")], default=2)
    optimal = OptimalCosts.of_store(run.boards, store)
    table = TidyTable(run.boards, seats, optimal, Report.read(run.spec["values"].get("report")))
    columns = table.columns()
    yield columns
    for record, place in store.records(boards=True):
        if place is not None:
            row = table.row(record, place)
            yield [row.get(column) for column in columns]
