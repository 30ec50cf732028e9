"""The attempts of every entry of a puzzle board on every position, gathered from a store."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import inf
from typing import NamedTuple

from arena.match.record import Reason
from arena.schedule.board_info import BoardInfo
from arena.store import Store
from arena.store.rows import NANOSECONDS, seats_of


class Attempt(NamedTuple):
    """One attempt of an entry on a position."""

    solved: bool
    moves: int | None
    cost: float | None
    nodes: int
    seconds: float
    stopped: bool
    """True if a limit ended it unsolved, so that its result with more is unknown."""


Attempts = dict[int, dict[int, Attempt]]
"""By the number of the entry, then by that of the position."""


def attempts_of(store: Store, sheets: Sequence[BoardInfo]) -> dict[int, Attempts]:
    """The attempts on every puzzle board of the last run, by the board's number; void ones are left out."""
    found: dict[int, Attempts] = defaultdict(lambda: defaultdict(dict))
    for board, round_, seats, solved, termination, moves, cost, decisions, nodes, nanoseconds in store.query(_ATTEMPTS):
        sheet, entry, seconds = sheets[board], seats_of(seats)[0], nanoseconds / NANOSECONDS
        cut = not solved and stopped(sheet.limits_of(entry), termination, decisions, nodes, seconds)
        found[board][entry][round_] = Attempt(bool(solved), moves, cost, nodes, seconds, cut)
    return {board: dict(attempts) for board, attempts in found.items()}


def stopped(limits: Mapping[str, float], termination: Reason, decisions: int, nodes: int, seconds: float) -> bool:
    """Tell whether one of the `limits` of a decision, or that of memory, ended an attempt without a solution.

    An agent that moves step by step and runs out of a decision's budget moves all the same; nothing but time and memory ends it.
    """
    if termination in {"timeout", "memory"}:
        return True
    return decisions == 1 and (nodes >= limits.get("nodes", inf) or seconds >= limits.get("seconds", inf))


_ATTEMPTS = """
SELECT p.board, p.round, p.seats, r.solved, r.termination, r.moves, r.cost, r.decisions_0, r.nodes_0, r.nanoseconds_0
FROM place p JOIN record r ON r.number = p.record WHERE r.solved IS NOT NULL AND r.termination <> 'void' ORDER BY p.number
"""
