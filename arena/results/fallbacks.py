"""Counts the random fallbacks of each entry. A *fallback* is a random action that replaces a decision without a result. A record
only says how many fallbacks the match had, not which seats had them.

A fallback requires a limit of nodes or seconds, a draw from the random stream of the seat, and a decision that used up the limit
without a report. If this does not settle which seats the fallbacks belong to, their numbers stay unknown.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from arena.match.record import Decision
from arena.schedule.board_info import BoardInfo
from arena.store import Store
from arena.store.rows import decisions_of, seats_of

Budget = Mapping[str, float]
"""The limits of a decision, with the keys `nodes` and `seconds`; empty without limits."""


class FallbackCounts(NamedTuple):
    """The number of fallbacks of a match, by entry."""

    known: Mapping[int, int]
    """The number of fallbacks of each entry that had some."""
    unclear: tuple[int, ...] = ()
    """The entries that may have had the fallbacks, if it is unknown how many each of them had; `known` is then empty."""


def fallback_counts(
    sheet: BoardInfo, seats: Sequence[int], fallbacks: int, used_rng: Sequence[bool], decisions: Iterable[Decision]
) -> FallbackCounts:
    """Return the entries that had the `fallbacks` of a match. `seats` are the entries; `used_rng` says which used random numbers.

    If only one seat can have fallbacks, all of them belong to it, and `decisions` are not read. Otherwise, the fallbacks of each
    seat are its decisions that ended at the limit in `budgets` without a report, if these add up to `fallbacks`.
    """
    budgets = _budgets(sheet, seats)
    possible = _able(budgets, used_rng)
    if len(possible) > 1:
        found = dict.fromkeys(possible, 0)
        for decision in decisions:
            if decision.seat in found and _cut_short(decision, budgets[decision.seat]):
                found[decision.seat] += 1
        fell = tuple([seat for seat, count in found.items() if count])
        if len(fell) > 1 and sum(found.values()) == fallbacks:
            return FallbackCounts({seats[seat]: found[seat] for seat in fell})
        possible = fell or possible
    if len(possible) == 1:
        return FallbackCounts({seats[possible[0]]: fallbacks})
    return FallbackCounts({}, tuple([seats[seat] for seat in possible]))


def stored_fallbacks(store: Store, sheets: Sequence[BoardInfo]) -> Iterator[tuple[int, FallbackCounts]]:
    """Yield the fallbacks of each match of the last run, with the index of its board. Void matches are left out.

    Decisions are read only for matches in which more than one seat can have fallbacks.
    """
    several = set()
    for board, seats, used_rng, fallbacks in store.query(_SUMS):
        sheet, entries, used = sheets[board], seats_of(seats), _used(used_rng)
        if len(_able(_budgets(sheet, entries), used)) > 1:
            several.add((board, seats, used_rng))
        else:
            yield board, fallback_counts(sheet, entries, fallbacks, used, ())
    for rows in store.chunks(_DECISIONS) if several else ():
        for board, seats, used_rng, fallbacks, decisions in rows:
            if (board, seats, used_rng) in several:
                entries = seats_of(seats)
                yield board, fallback_counts(sheets[board], entries, fallbacks, _used(used_rng), decisions_of(decisions))


def _used(marks: str) -> list[bool]:
    return [mark == "1" for mark in marks]


def _budgets(sheet: BoardInfo, seats: Sequence[int]) -> list[Budget]:
    return [sheet.limits_of(entry) for entry in seats]


def _able(budgets: Sequence[Budget], used_rng: Sequence[bool]) -> tuple[int, ...]:
    """Return the seats that have a budget and used random numbers. Old stores have no budgets; there, random numbers suffice."""
    used = [seat for seat, flag in enumerate(used_rng) if flag]
    return tuple([seat for seat in used if {"nodes", "seconds"} & budgets[seat].keys()] or used)


def _cut_short(decision: Decision, budget: Budget) -> bool:
    """Return whether a decision ended at a limit, as far as its limits are known, and without a reported depth or value."""
    if decision.depth is not None or decision.value is not None:
        return False
    nodes, seconds = budget.get("nodes"), budget.get("seconds")
    if nodes is None and seconds is None:
        return True
    return (nodes is not None and decision.nodes >= nodes) or (seconds is not None and decision.seconds >= seconds)


_SUMS = """
SELECT p.board, p.seats, r.drew, sum(r.fallbacks) FROM place p JOIN record r ON r.number = p.record
WHERE r.fallbacks > 0 AND r.termination <> 'void' GROUP BY 1, 2, 3
"""
_DECISIONS = """
SELECT p.board, p.seats, r.drew, r.fallbacks, d.decisions
FROM place p JOIN record r ON r.number = p.record JOIN detail d ON d.record = r.number
WHERE r.fallbacks > 0 AND r.termination <> 'void'
"""
