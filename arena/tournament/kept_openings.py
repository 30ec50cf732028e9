"""Rounds of a store whose openings repeat earlier ones, from a time when arena did not draw them anew: they keep them."""

from dataclasses import replace
from itertools import permutations
from pathlib import Path

from arena.format import Pairing
from arena.schedule.schedule import Scheduled, identity_of
from arena.spec import Spec
from arena.store import Store

FURTHER = 100
"""Rounds beyond those of the spec that a format may have, such as the replays of a knockout."""


def with_kept_openings(spec: Spec, path: Path | None) -> Spec:
    """Return a spec under which the rounds that have been played in the store at `path` keep their positions and ids.

    That is the spec itself but for a store in which rounds repeat the opening of an earlier one.
    """
    if path is None or not any(board.positions.plies for board in spec.boards) or not path.is_file() or not path.stat().st_size:
        return spec
    with Store.open(path) as store:
        kept = max([_kept(spec, number, store) for number in range(len(spec.boards))])
    return _repeating(spec, kept) if kept else spec


def _kept(spec: Spec, number: int, store: Store) -> int:
    """The number of rounds of a board up to the last that was played with an opening which it would not have now.

    Where a run has gone on with such a store, its number holds: behind it rounds may be played that count on it.
    """
    board = spec.boards[number]
    if not board.positions.plies:
        return 0
    noted = sorted({(run.spec["values"].get("openings") or {}).get("repeats", 0) for run in store.runs()} - {0})
    most = min(board.field.rounds + FURTHER, len(store))  # every round has a match at least
    if board.positions.texts is not None:
        most = min(most, len(board.positions.texts))
    if noted:
        most = min(most, noted[-1])
    before = _repeating(spec, most)
    tables = list(permutations(range(board.field.entries), board.field.players))
    for round_ in reversed(board.positions.redraws.redrawn(most)):
        ids = [identity_of(before, Scheduled(0, number, Pairing(round_, seats))) for seats in tables]
        if store.has(ids):
            return next((rounds for rounds in noted if rounds > round_), round_ + 1)
    return 0


def _repeating(spec: Spec, rounds: int) -> Spec:
    """The spec with the first `rounds` as they are drawn; its document says so too, for workers and for who reads the store."""
    boards = [replace(board, positions=replace(board.positions, repeats=rounds)) for board in spec.boards]
    openings = {**spec.document.values.get("openings", {}), "repeats": rounds}
    document = replace(spec.document, values={**spec.document.values, "openings": openings})
    return replace(spec, boards=tuple(boards), document=document)
