"""Puts the matches of a bundle into a store, and computes the leaderboards of this store."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from arena.api.results import Leaderboard
from arena.api.store import Run, Store
from arena_bundle.layout import STORE_NAME, Line, write_json


def build_store(place: Path, runs: Sequence[Run], lines: Iterable[Line]) -> int:
    """Write a new store with these runs and matches, and return the number of matches."""
    count = 0
    with Store.open(place, write=True) as store:
        for run in runs:
            store.begin(run)
        for line in lines:
            store.add(line.places[0], line.record)
            count += 1
            if line.places[1:]:
                store.flush()
                number = store.has([line.record.id])[line.record.id].number
                store.place([(number, one) for one in line.places[1:]])
    return count


def print_boards(place: Path) -> tuple[bytes, bytes]:
    """Return the contents of `boards.json` and `boards.txt`: the boards of a store, as `arena leaderboard` prints them."""
    boards = [replace(board, store=STORE_NAME) for board in Leaderboard.load(place)]
    with Store.open(place) as store:
        runs = store.runs()
    document = Leaderboard.document(runs[-1], boards, Run.list_environments(runs))
    return write_json(document), f"{Leaderboard.render(runs[-1], boards)}\n".encode()
