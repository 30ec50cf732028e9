"""The matches of a store: one page of them at a time, and the neighbours of a match."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arena.api.results import BoardInfo
from arena.api.store import Store
from arena_web.match_filter import PLACED, MatchFilter

MATCHES_PER_PAGE = 50
"""The number of matches on a page."""
MAX_RELATED = 40
"""The maximum number of related matches of a round."""

_COLUMNS = "p.number, p.board, p.round, p.seats, r.id, r.returns, r.solved, r.termination, r.moves, r.cost, r.seat"


def matches(path: Path, wanted: MatchFilter, page: int = 0) -> dict[str, Any]:
    """Return a page of the matches on the boards of the last run, in the reverse order of the schedule, and the total number of
    matches.
    """
    with Store.open(path) as store, store.snapshot():
        run = store.last()
        where, values = wanted.where(store, run.boards)
        total = next(iter(store.query(f"SELECT count(*) {PLACED} {where}", values)))[0]
        rows = store.query(
            f"SELECT {_COLUMNS} {PLACED} {where} ORDER BY p.number DESC LIMIT {MATCHES_PER_PAGE} OFFSET ?",
            [*values, page * MATCHES_PER_PAGE],
        )
        found = [_match(run.boards, row) for row in rows]
    boards = [{"title": sheet.title, "labels": list(sheet.labels), "kind": sheet.kind} for sheet in run.boards]
    return {
        "name": run.name,
        "boards": boards,
        "total": total,
        "page": page,
        "pages": max(1, -(-total // MATCHES_PER_PAGE)),
        "matches": found,
    }


def around(path: Path, key: str, wanted: MatchFilter) -> dict[str, Any]:
    """Return the neighbours of a match: the ids of the `newer` and the `older` match under a filter, and the `related` matches.

    Matches are related if they are games of the same round between the same entries in other seats, or, for a puzzle, attempts of
    other entries at the same position. The result is empty if the match is not on a board of the last run.
    """
    with Store.open(path) as store, store.snapshot():
        run = store.last()
        _, place = store.record(key)
        if place is None:
            return {"newer": None, "older": None, "related": [], "number": None, "board": None}
        where, values = wanted.where(store, run.boards)

        def nearest(relation: str, order: str) -> str | None:
            question = f"SELECT r.id {PLACED} {where} AND p.number {relation} ? ORDER BY p.number {order} LIMIT 1"
            return next((found.hex() for (found,) in store.query(question, [*values, place.number])), None)

        same = [place.board, place.pairing.round, place.number]
        question = f"SELECT {_COLUMNS} {PLACED} WHERE p.board = ? AND p.round = ? AND p.number <> ? ORDER BY p.number"
        entries = sorted(place.pairing.seats)
        rows = [row for row in store.query(question, same) if len(entries) == 1 or sorted(Store.seats_of(row[3])) == entries]
        return {
            "newer": nearest(">", "ASC"),
            "older": nearest("<", "DESC"),
            "related": [_match(run.boards, row) for row in rows[:MAX_RELATED]],
            "number": place.number + 1,
            "board": place.board,
        }


def _match(boards: Sequence[BoardInfo], row: tuple[Any, ...]) -> dict[str, Any]:
    number, board, round_, seats, key, returns, solved, termination, moves, cost, seat = row
    sheet = boards[board]
    return {
        "number": number + 1,
        "id": key.hex(),
        "board": sheet.title,
        "round": round_ + 1,
        "labels": [sheet.labels[entry] for entry in Store.seats_of(seats)],
        "returns": list(Store.returns_of(returns)),
        "solved": None if solved is None else bool(solved),
        "termination": termination,
        "moves": moves,
        "cost": cost,
        "seat": seat,
    }
