"""What every entry of a puzzle board made of every position, gathered from a store."""

from collections import defaultdict
from typing import NamedTuple

from arena.store import Store
from arena.store.rows import NANO
from arena.store.store import seats_of


class Attempt(NamedTuple):
    """What one entry made of one position."""

    solved: bool
    moves: int | None
    cost: float | None
    nodes: int
    seconds: float


Attempts = dict[int, dict[int, Attempt]]
"""By the number of the entry, then by that of the position."""


def attempts_of(store: Store) -> dict[int, Attempts]:
    """The attempts on every puzzle board of the last run, by the board's number; void ones are left out."""
    found: dict[int, Attempts] = defaultdict(lambda: defaultdict(dict))
    for board, round_, seats, solved, moves, cost, nodes, nanoseconds in store.query(_ATTEMPTS):
        attempt = Attempt(bool(solved), moves, cost, nodes, nanoseconds / NANO)
        found[board][seats_of(seats)[0]][round_] = attempt
    return {board: dict(attempts) for board, attempts in found.items()}


_ATTEMPTS = """
SELECT p.board, p.round, p.seats, r.solved, r.moves, r.cost, r.nodes_0, r.nanoseconds_0
FROM place p JOIN record r ON r.number = p.record WHERE r.solved IS NOT NULL AND r.termination <> 'void' ORDER BY p.number
"""
