"""What the games of a store tell of one entry: who it met with which results, its failures, and its rating over the run."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from arena.api.results import BoardInfo
from arena.api.store import Store, StoreError, returns_of, seats_of
from arena.results.tally import ResultCount
from arena_web.match_filter import PLACED
from arena_web.rating_curve import Point, curve_of


class PlayedGame(NamedTuple):
    """A match that is not void, in the order in which they were played."""

    seats: tuple[int, ...]
    returns: tuple[float, ...]
    solved: bool | None


@dataclass(slots=True)
class Meetings(ResultCount):
    """The games of two entries of a board, from the view of one of them."""

    first: int = 0
    """Games in the first seat."""

    def as_dict(self, opponent: str) -> dict[str, Any]:
        """Return them as plain values; `score` counts a draw as a half."""
        return {
            "opponent": opponent,
            "games": self.games,
            "first": self.first,
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "score": self.score,
        }


def entry_page(path: Path, label: str, *, curves: bool = True) -> dict[str, Any]:
    """Return, for every board of the last run on which an entry plays, its meetings and its curve; StoreError for a stranger.

    Without `curves`, which are fitted anew to all games, these are empty.
    """
    with Store.open(path) as store, store.snapshot():
        run = store.last()
        if not any(label in sheet.labels for sheet in run.boards):
            raise StoreError(f"{path} has no entry {label!r} in its last run")
        boards = [
            _board(number, sheet, sheet.labels.index(label), _games(store, number), curves=curves)
            for number, sheet in enumerate(run.boards)
            if label in sheet.labels
        ]
    return {"name": run.name, "label": label, "boards": boards}


def _games(store: Store, board: int) -> list[PlayedGame]:
    question = (
        f"SELECT p.seats, r.returns, r.solved {PLACED} WHERE p.board = ? AND r.termination <> 'void' ORDER BY r.number, p.number"
    )
    return [
        PlayedGame(seats_of(seats), returns_of(returns), None if solved is None else bool(solved))
        for seats, returns, solved in store.query(question, [board])
    ]


def _board(number: int, sheet: BoardInfo, entry: int, games: Sequence[PlayedGame], *, curves: bool) -> dict[str, Any]:
    versus = sheet.kind == "versus"
    return {
        "number": number,
        "title": sheet.title,
        "kind": sheet.kind,
        "meetings": _meetings(sheet, entry, games) if versus else [],
        "curve": _curve(curve_of(sheet, games), entry) if curves else [],
    }


def _meetings(sheet: BoardInfo, entry: int, games: Sequence[PlayedGame]) -> list[dict[str, Any]]:
    """The games against each other one, by the labels; at a table of three or more against each of them."""
    found: dict[int, Meetings] = defaultdict(Meetings)
    for game in games:
        if entry not in game.seats:
            continue
        seat = game.seats.index(entry)
        for other, theirs in zip(game.seats, game.returns, strict=True):
            if other != entry:
                found[other].add(game.returns[seat], theirs)
                found[other].first += seat == 0
    return [found[other].as_dict(sheet.labels[other]) for other in sorted(found, key=lambda other: sheet.labels[other])]


def _curve(points: Sequence[Point], entry: int) -> list[list[float]]:
    """The points of an entry with the ends of the field at each: matches, its value, the least and the largest value."""
    return [
        [point.played, point.values[entry], min(point.values.values()), max(point.values.values())]
        for point in points
        if entry in point.values
    ]
