"""The matches of a store, a page of them at a time."""

from pathlib import Path
from typing import Any

from arena.store import Store
from arena.store.rows import returns_of
from arena.store.store import seats_of

PAGE = 50
"""Matches on a page."""

_FROM = "FROM place p JOIN record r ON r.number = p.record"
_COLUMNS = "p.number, p.board, p.round, p.seats, r.id, r.returns, r.solved, r.termination, r.moves, r.cost, r.seat"


def matches(path: Path, *, page: int, board: int | None, agent: int | None, ending: str | None) -> dict[str, Any]:
    """A page of the matches on the boards of the last run, in the order of the schedule, and how many there are.

    `board` and `agent` are numbers in the run's boards; `ending` is a termination, or `failed` for all that are a fault.
    """
    with Store.open(path) as store, store.snapshot():
        run = store.last()
        where, values = _where(board, agent, ending)
        total = next(iter(store.query(f"SELECT count(*) {_FROM} {where}", values)))[0]
        rows = store.query(
            f"SELECT {_COLUMNS} {_FROM} {where} ORDER BY p.number LIMIT {PAGE} OFFSET ?",
            [*values, page * PAGE],
        )
        found = [_match(run.boards, row) for row in rows]
    boards = [{"title": sheet.title, "labels": list(sheet.labels), "kind": sheet.kind} for sheet in run.boards]
    return {
        "name": run.name,
        "boards": boards,
        "total": total,
        "page": page,
        "pages": max(1, -(-total // PAGE)),
        "matches": found,
    }


def _where(board: int | None, agent: int | None, ending: str | None) -> tuple[str, list[Any]]:
    parts: list[str] = []
    values: list[Any] = []
    if board is not None:
        parts.append("p.board = ?")
        values.append(board)
    if agent is not None:
        parts.append("',' || p.seats || ',' LIKE ?")
        values.append(f"%,{agent},%")
    if ending == "failed":
        parts.append("r.termination IN ('illegal-action', 'exception', 'timeout', 'memory', 'crash', 'void')")
    elif ending == "unsolved":
        parts.append("r.solved = 0")
    elif ending:
        parts.append("r.termination = ?")
        values.append(ending)
    return (f"WHERE {' AND '.join(parts)}" if parts else ""), values


def _match(boards: Any, row: tuple[Any, ...]) -> dict[str, Any]:
    number, board, round_, seats, key, returns, solved, termination, moves, cost, seat = row
    sheet = boards[board]
    return {
        "number": number + 1,
        "id": key.hex(),
        "board": sheet.title,
        "round": round_ + 1,
        "labels": [sheet.labels[entry] for entry in seats_of(seats)],
        "returns": list(returns_of(returns)),
        "solved": None if solved is None else bool(solved),
        "termination": termination,
        "moves": moves,
        "cost": cost,
        "seat": seat,
    }
