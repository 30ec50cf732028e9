"""Counts records one by one in Python, to be compared with the tallies that SQL computes."""

from collections.abc import Iterable

from arena.errors import Unavailable
from arena.format import Pairing
from arena.match.record import FAULTS, Record, find_loser, play_hash_of
from arena.results.tally import Facts, Tally


def count_one_by_one(tally: Tally, matches: Iterable[tuple[int, Pairing, Record]]) -> None:
    """Add all matches of a board to its tally. Each has its number in the schedule."""
    plays = set()
    for number, pairing, record in matches:
        seats = pairing.seats
        tally.count(Facts.of(seats, record))
        if record.termination == "void":
            tally.unavailable += (record.message or "").startswith(Unavailable.MARK)
            if tally.outcomes is not None and tally.has_conclusion:
                tally.outcomes.add(pairing, None)
            continue
        nodes, seconds = (sum(getattr(one, name) for one in record.decisions) for name in ("nodes", "seconds"))
        if record.solved is not None:
            tally.claims.add(
                pairing.round,
                seats[0],
                solved=record.solved,
                cost=record.cost,
                termination=record.termination,
                decisions=len(record.decisions),
                nodes=nodes,
                seconds=seconds,
            )
            tally.attempts[seats[0]].add(
                pairing.round, solved=record.solved, moves=record.moves, cost=record.cost, nodes=nodes, seconds=seconds
            )
        loser, play = find_loser(record.termination, record.seat), play_hash_of(record)
        if tally.outcomes is not None:
            tally.outcomes.add(pairing, record.returns, None if any(record.drew) else play, loser=loser)
        if len(seats) == 1:
            tally.lone.add_position(pairing.round, hash(record.position))
        plays.add((seats, play))
        tally.add_game(pairing.round, seats, record.returns, play, any(record.drew), record.adjusted, loser)
        drawn = [one.seat for one in record.decisions if one.fallback]
        tally.add_fallbacks(seats, record.fallbacks, drawn, record.drew if record.fallbacks else ())
        for one in record.decisions:
            tally.add_effort(seats[one.seat], 1, one.nodes, one.seconds)
            for name, amount in (one.spent or {}).items():
                tally.counts[seats[one.seat]].spent[name] += amount
        tally.add_timing(seats, record.timing)
        if record.seat is not None and record.termination in FAULTS:
            tally.add_failure(seats[record.seat], record.termination, number, record.id, record.message)
    tally.distinct = len(plays)
