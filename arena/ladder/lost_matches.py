"""The matches that an agent of a ladder has lost by its own faults, with all that is known of each: for its author alone."""

from pathlib import Path
from typing import Any

from arena.store import Store
from arena.store.rows import seats_of
from arena.web.match_filter import PLACED, MatchFilter

LATEST = 10
"""Matches that are told of."""


def lost_by_faults(path: Path, label: str) -> list[dict[str, Any]]:
    """Return the latest matches that an entry has lost by faults, the last one first; none where it has not played."""
    with Store.open(path) as store, store.snapshot():
        runs = store.runs()
        boards = runs[-1].boards if runs else ()
        where, values = MatchFilter(agent=label, ending="failed").where(store, boards)
        columns = "r.id, p.board, p.seats, r.seat, r.termination, d.message, d.traceback"
        question = f"SELECT {columns} {PLACED} JOIN detail d ON d.record = r.number {where} ORDER BY p.number DESC"
        found: list[dict[str, Any]] = []
        for key, board, text, seat, termination, message, traceback in store.query(question, values):
            labels = [boards[board].labels[entry] for entry in seats_of(text)]
            if seat is not None and labels[seat] == label:
                told = {"match": key.hex(), "labels": labels, "termination": termination}
                found.append({**told, "message": message, "traceback": traceback})
            if len(found) == LATEST:
                break
        return found
