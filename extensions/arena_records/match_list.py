"""Lists the matches of a store. They can be filtered by agent, opponent and result, and sorted by a figure, the largest first.

The list is made from columns with sums and not from whole records, so listing a million matches takes only seconds.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from arena import UnknownName
from arena.api.errors import StoreError
from arena.api.match import FAULTS, Reason
from arena.api.results import BoardInfo, result_points
from arena.api.store import Store

RESULTS = ("win", "draw", "loss", "void", "fault")
"""The results by which matches can be filtered. For a puzzle, a win is a solution and a loss is an attempt without one."""
Outcome = Literal["win", "draw", "loss"]
_OUTCOMES: Mapping[float, Outcome] = {1.0: "win", 0.5: "draw", 0.0: "loss"}
_WORDS = {"win": "solved", "loss": "unsolved"}
ORDERS = {"nodes": "nodes", "length": "r.moves", "time": "nanoseconds", "number": "p.number"}
"""The sort keys for matches, and their columns."""


@dataclass(frozen=True, slots=True)
class MatchChoice:
    """The filter and the order of a list of matches; None means no condition."""

    agent: str | None = None
    """The label of an entry that plays. Results are those of this entry or, without an agent, of the first seat.
    """
    opponent: str | None = None
    """The label of the opponent of `agent`."""
    result: str | None = None
    """One of RESULTS."""
    by: str | None = None
    """One of ORDERS; the default is the order of the schedule."""


@dataclass(frozen=True, slots=True)
class ListedMatch:
    """A match in one line."""

    number: int
    """The place of the match in the schedule, counted from 1."""
    id: str
    board: str
    round: int
    """The number of the round, counted from 1."""
    seats: tuple[str, ...]
    """The labels of the entries that play."""
    result: str
    """`win`, `draw` or `loss` of the requested agent or, without one, of the first seat; `solved` or `unsolved`; `void`.
    """
    moves: int | None
    """The number of moves; None for a solution without counted steps."""
    nodes: int
    """The sum of the nodes of all seats. The next field is the sum of their seconds."""
    seconds: float
    termination: Reason

    def as_dict(self) -> dict[str, Any]:
        """Return the match as plain values."""
        return {**asdict(self), "seats": list(self.seats)}


def listed(store: Store, choice: MatchChoice) -> Iterator[ListedMatch]:
    """Yield the matches that fit the filter, from the boards of the last run of a store.

    Raises UnknownName for a label that is not on any board, and StoreError if an opponent is given without an agent, or if both
    are the same.
    """
    sheets = store.last().boards
    _check(store, sheets, choice)
    labels = [label for label in (choice.agent, choice.opponent) if label is not None]
    where, values = select_entries(enumerate(sheets), labels)
    order = "p.number" if choice.by is None else f"{ORDERS[choice.by]} DESC, p.number"
    for row in store.query(f"{_MATCHES} WHERE {where} ORDER BY {order}", values):
        match, blamed = _match(sheets, choice.agent, row)
        if choice.result == "fault":
            fits = blamed
        else:
            fits = choice.result is None or match.result in (choice.result, _WORDS.get(choice.result))
        if fits:
            yield match


def _check(store: Store, sheets: Sequence[BoardInfo], choice: MatchChoice) -> None:
    known = list(dict.fromkeys([label for sheet in sheets for label in sheet.labels]))
    for label in (choice.agent, choice.opponent):
        if label is not None and label not in known:
            raise UnknownName(f"entry of {store.path}", label, known)
    if choice.opponent is not None and choice.agent in (None, choice.opponent):
        raise StoreError(f"expected an agent that is not the opponent {choice.opponent}, got {choice.agent or 'none'}")


def select_entries(boards: Iterable[tuple[int, BoardInfo]], labels: Sequence[str]) -> tuple[str, list[Any]]:
    """Return an SQL condition for matches in which all these entries play, and the values of its parameters."""
    parts: list[str] = []
    values: list[Any] = []
    for number, sheet in boards:
        if all(label in sheet.labels for label in labels):
            parts.append(" AND ".join(["p.board = ?", *["',' || p.seats || ',' LIKE ?"] * len(labels)]))
            values += [number, *[f"%,{sheet.labels.index(label)},%" for label in labels]]
    return f"({' OR '.join(parts)})" if parts else "0", values


def _match(sheets: Sequence[BoardInfo], agent: str | None, row: Sequence[Any]) -> tuple[ListedMatch, bool]:
    """Return a row as a match, and whether the match was lost by a fault, either of the agent or, without an agent,
    of any seat.
    """
    number, key, board, round_, seats, returns, solved, termination, blamed, moves, nodes, nanoseconds = row
    sheet = sheets[board]
    labels = tuple([sheet.labels[entry] for entry in Store.seats_of(seats)])
    seat = 0 if agent is None else labels.index(agent)
    word = outcome(Store.results_of(returns, termination, blamed), seat)
    result = "void" if termination == "void" else word if solved is None else _WORDS.get(word, word)
    seconds = nanoseconds / Store.NANOSECONDS
    match = ListedMatch(number + 1, key.hex(), sheet.title, round_ + 1, labels, result, moves, int(nodes), seconds, termination)
    return match, termination in FAULTS and (agent is None or blamed == seat)


def outcome(results: Sequence[float], seat: int) -> Outcome:
    """Return the result of a match for a seat, compared with the best of the other seats. A puzzle is a win if it was solved."""
    others = (*results[:seat], *results[seat + 1 :])
    return _OUTCOMES[result_points(results[seat], max(others))] if others else ("win" if results[seat] == 1 else "loss")


# `total` sums the seats after the second one as floats, so a sum that is too large for an integer of SQLite is not an error.
_MATCHES = """
SELECT p.number, r.id, p.board, p.round, p.seats, r.returns, r.solved, r.termination, r.seat, r.moves,
       r.nodes_0 + r.nodes_1 + (SELECT total(nodes) FROM effort WHERE record = r.number) AS nodes,
       r.nanoseconds_0 + r.nanoseconds_1 + (SELECT total(nanoseconds) FROM effort WHERE record = r.number) AS nanoseconds
FROM place p JOIN record r ON r.number = p.record
"""
