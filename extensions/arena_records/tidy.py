"""Makes tidy rows of matches: one value in each column, for data frames, CSV, and the formulas of the key `report`."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from arena import Record
from arena.api.match import EXPANDED
from arena.api.results import BoardInfo, Claims, claims_of, name_domains
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
    TidyColumn("domain", "", "the title of the leaderboard, with a number if several have the same title", is_number=False),
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
        "the lowest cost for this position, if an agent whose solutions are optimal has solved it in this run; otherwise empty",
    ),
    TidyColumn("termination", "", "the way in which the match ended", is_number=False),
    TidyColumn("at_fault", "", "the agent that lost by a fault or gave up", is_number=False),
    TidyColumn("message", "", "the message about this fault", is_number=False),
    TidyColumn(
        "fallbacks", "", "the number of random actions that arena played because a limit ended a decision without a result"
    ),
    TidyColumn("nodes", "", "the number of generated states, summed over all seats"),
    TidyColumn("expanded", "puzzle", "the number of states that a solver expanded; empty for other agents"),
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


def read_claims(boards: Sequence[BoardInfo], matches: Matches) -> list[Claims]:
    """Return the claims on each board that solutions are optimal, from the records of matches."""
    found = [Claims(board) for board in boards]
    for record, place in matches() if any(board.optimal for board in boards) else ():
        if place is not None and record.solved is not None and record.termination != "void":
            found[place.board].add(
                place.pairing.round,
                place.pairing.seats[0],
                solved=record.solved,
                cost=record.cost,
                termination=record.termination,
                decisions=len(record.decisions),
                nodes=sum([one.nodes for one in record.decisions]),
                seconds=sum([one.seconds for one in record.decisions]),
            )
    return found


class TidyTable:
    """The tidy rows of the matches on some boards, with the columns of the key `report`."""

    def __init__(self, boards: Sequence[BoardInfo], seats: int, claims: Sequence[Claims], report: Report) -> None:
        self._boards, self._seats, self._report = boards, seats, report
        self._optima = [one.find_optima() for one in claims]
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
            optimal = self._optima[place.board].get(round_)
            if cost is not None and optimal is not None and not subtract(cost, optimal):
                optimal = cost  # equal but for rounding, so that `cost - optimal` is 0
            expanded = [one.spent[EXPANDED] for one in record.decisions if one.spent and EXPANDED in one.spent]
            solution = {"solved": record.solved, "path_cost": cost, "optimal": optimal}
            return {**row, "agent": record.labels[0], **solution, "expanded": sum(expanded) if expanded else None}
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
    table = TidyTable(run.boards, seats, claims_of(store, run.boards), Report.read(run.spec["values"].get("report")))
    columns = table.columns()
    yield columns
    for record, place in store.records(boards=True):
        if place is not None:
            row = table.row(record, place)
            yield [row.get(column) for column in columns]
