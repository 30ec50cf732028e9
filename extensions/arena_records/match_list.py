"""Lists the matches of a store, filtered by agent, opponent and result, and sorted by a figure, the largest first.

The list is read from tables of sums, so a list of a million matches takes seconds.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from arena import UnknownName
from arena.api.errors import StoreError
from arena.api.match import FAULTS, Reason
from arena.api.results import BoardInfo, result_points
from arena.api.store import NANOSECONDS, Store, returns_of, seats_of

RESULTS = ("win", "draw", "loss", "void", "fault")
"""The results to filter by. For a puzzle, a win is a solution and a loss is an attempt without one."""
Outcome = Literal["win", "draw", "loss"]
_OUTCOMES: Mapping[float, Outcome] = {1.0: "win", 0.5: "draw", 0.0: "loss"}
_WORDS = {"win": "solved", "loss": "unsolved"}
ORDERS = {"nodes": "nodes", "length": "r.moves", "time": "nanoseconds"}
"""The sort keys of matches and their columns."""


@dataclass(frozen=True, slots=True)
class MatchChoice:
    """The filter and the order of matches; None means any."""

    agent: str | None = None
    """The label of an entry that plays, and whose result counts; by default the result of the first seat counts."""
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
    """Its place in the schedule, from 1."""
    id: str
    board: str
    round: int
    """From 1."""
    seats: tuple[str, ...]
    """The labels of the entries."""
    result: str
    """`win`, `draw` or `loss` of the agent asked for, else of the first seat; `solved` or `unsolved`; `void`."""
    moves: int | None
    """None for a solution without counted steps."""
    nodes: int
    """The sum over all seats, as for the seconds."""
    seconds: float
    termination: Reason

    def as_dict(self) -> dict[str, Any]:
        """The match as plain values."""
        return {**asdict(self), "seats": list(self.seats)}


def listed(store: Store, choice: MatchChoice) -> Iterator[ListedMatch]:
    """Yield the chosen matches on the boards of the last run of a store.

    Raises UnknownName for a label that no board has, and StoreError for an opponent without an agent or equal to it.
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
        raise StoreError(f"expected another agent against {choice.opponent}, got {choice.agent or 'none'}")


def select_entries(boards: Iterable[tuple[int, BoardInfo]], labels: Sequence[str]) -> tuple[str, list[Any]]:
    """Return the SQL condition that all these entries play a match on one of the boards, and its values."""
    parts: list[str] = []
    values: list[Any] = []
    for number, sheet in boards:
        if all(label in sheet.labels for label in labels):
            parts.append(" AND ".join(["p.board = ?", *["',' || p.seats || ',' LIKE ?"] * len(labels)]))
            values += [number, *[f"%,{sheet.labels.index(label)},%" for label in labels]]
    return f"({' OR '.join(parts)})" if parts else "0", values


def _match(sheets: Sequence[BoardInfo], agent: str | None, row: Sequence[Any]) -> tuple[ListedMatch, bool]:
    """A row as a match, and whether it was lost by a fault: of the agent if one is given, else of any seat."""
    number, key, board, round_, seats, returns, solved, termination, blamed, moves, nodes, nanoseconds = row
    sheet = sheets[board]
    labels = tuple([sheet.labels[entry] for entry in seats_of(seats)])
    seat = 0 if agent is None else labels.index(agent)
    word = outcome(returns_of(returns), seat)
    result = "void" if termination == "void" else word if solved is None else _WORDS[word]
    seconds = nanoseconds / NANOSECONDS
    match = ListedMatch(number + 1, key.hex(), sheet.title, round_ + 1, labels, result, moves, int(nodes), seconds, termination)
    return match, termination in FAULTS and (agent is None or blamed == seat)


def outcome(returns: Sequence[float], seat: int) -> Outcome:
    """Return the result of a match for a seat: against the best of the others, for a puzzle, a win if it was solved."""
    others = (*returns[:seat], *returns[seat + 1 :])
    return _OUTCOMES[result_points(returns[seat], max(others))] if others else ("win" if returns[seat] == 1 else "loss")


# Further seats are summed as floats, and so are sums that are too large for SQLite's whole numbers.
_MATCHES = """
SELECT p.number, r.id, p.board, p.round, p.seats, r.returns, r.solved, r.termination, r.seat, r.moves,
       r.nodes_0 + r.nodes_1 + (SELECT total(nodes) FROM effort WHERE record = r.number) AS nodes,
       r.nanoseconds_0 + r.nanoseconds_1 + (SELECT total(nanoseconds) FROM effort WHERE record = r.number) AS nanoseconds
FROM place p JOIN record r ON r.number = p.record
"""
