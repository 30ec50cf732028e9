"""The data about one entry of a store: its results against each opponent, and its rating over the run."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from arena.api.errors import StoreError
from arena.api.match import find_loser
from arena.api.results import BoardInfo, ResultCount, put_last
from arena.api.store import Store
from arena_records.match_list import select_entries
from arena_web.match_filter import PLACED
from arena_web.rating_curve import curve_of


class PlayedGame(NamedTuple):
    """A match that is not void."""

    round: int
    seats: tuple[int, ...]
    returns: tuple[float, ...]
    loser: int | None
    """The seat that lost by a fault; None if no seat did."""
    solved: bool | None
    play_hash: int
    used_rng: bool


@dataclass(slots=True)
class Meetings(ResultCount):
    """The games between two entries of a board, from the point of view of one of them."""

    first: int = 0
    """The number of games in which the entry played in the first seat."""

    def as_dict(self, opponent: str) -> dict[str, Any]:
        """Return the results of the games as plain values. In `score`, a draw counts one half."""
        return {
            "opponent": opponent,
            "games": self.games,
            "first": self.first,
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "score": self.score,
        }


def entry_page(path: Path, label: str) -> dict[str, Any]:
    """Return the results of an entry against its opponents on each of its boards in the last run; raises StoreError if the
    entry is on no board.
    """
    with Store.open(path) as store, store.snapshot():
        boards = [
            {
                "number": number,
                "title": sheet.title,
                "kind": sheet.kind,
                "meetings": _meetings(sheet, sheet.labels.index(label), _games(store, number, sheet, label))
                if sheet.kind == "versus"
                else [],
            }
            for number, sheet in _boards_of(store, label)
        ]
        return {"name": store.last().name, "label": label, "boards": boards}


def rating_curves(store: Store, label: str) -> list[dict[str, Any]] | None:
    """Return the rating of an entry over the run, for each of its boards.

    At each point, a curve has the number of matches so far, the value of the entry, and the lowest and the highest value of all
    entries. The result is None if no board has at least two points.
    """
    boards = []
    for number, sheet in _boards_of(store, label):
        entry = sheet.labels.index(label)
        points = [
            [point.played, point.values[entry], min(point.values.values()), max(point.values.values())]
            for point in curve_of(sheet, _games(store, number, sheet))
            if entry in point.values
        ]
        if len(points) > 1:
            boards.append({"title": sheet.title, "kind": sheet.kind, "points": points})
    return boards or None


def _boards_of(store: Store, label: str) -> list[tuple[int, BoardInfo]]:
    found = [(number, sheet) for number, sheet in enumerate(store.last().boards) if label in sheet.labels]
    if not found:
        raise StoreError(f"{store.path} has no entry {label!r} in its last run")
    return found


def _games(store: Store, board: int, sheet: BoardInfo, *labels: str) -> list[PlayedGame]:
    """Return the games of a board, or only those in which the entries with some labels play."""
    condition, values = select_entries([(board, sheet)], labels)
    where = f"{condition} AND r.termination <> 'void' ORDER BY p.number"
    columns = f"p.round, p.seats, r.returns, r.termination, r.seat, r.solved, {Store.MATCH_HASH}, r.drew"
    question = f"SELECT {columns} {PLACED} WHERE {where}"
    return [
        PlayedGame(
            round_,
            Store.seats_of(seats),
            Store.returns_of(returns),
            find_loser(termination, seat),
            None if solved is None else bool(solved),
            played,
            "1" in drew,
        )
        for round_, seats, returns, termination, seat, solved, played, drew in store.query(question, values)
    ]


def _meetings(sheet: BoardInfo, entry: int, games: Sequence[PlayedGame]) -> list[dict[str, Any]]:
    """Return the results of an entry's `games` against each opponent, by label. A game with three or more players counts against
    each of the other players.
    """
    found: dict[int, Meetings] = defaultdict(Meetings)
    for game in games:
        seat, results = game.seats.index(entry), put_last(game.returns, game.loser)
        for other, theirs in zip(game.seats, results, strict=True):
            if other != entry:
                found[other].add(results[seat], [theirs])
                found[other].first += seat == 0
    return [found[other].as_dict(sheet.labels[other]) for other in sorted(found, key=lambda other: sheet.labels[other])]
