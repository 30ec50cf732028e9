"""Computes the tallies (counts for leaderboards) of the boards in a store. The database adds up the counts.

Memory grows by 40 bytes with each attempt at a puzzle, by a few bytes with each pair of games, and more with the distinct
pairs without random numbers, with the results if the format has its own ranking, and with the rankings from games with three or
more seats (see `arena.results.pairs`).
"""

import json
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from arena.errors import Unavailable, escape_line
from arena.format import Pairing
from arena.match.record import FAULTS, UNREPEATABLE_ENDINGS, find_loser
from arena.results.claims import Claims
from arena.results.tally import Facts, Tally, Way
from arena.schedule.board_info import BoardInfo
from arena.store import Store
from arena.store.rows import NANOSECONDS, decisions_of, returns_of, seats_of, spending_decisions
from arena.store.run import CodeKey, Run


def tallies_of(store: Store, sheets: Sequence[BoardInfo]) -> list[Tally]:
    """Return the tallies of the boards of the last run."""
    tallies = [Tally(sheet) for sheet in sheets]
    for board, seats, returns, termination, seat, solved, matches, moves, *sums in store.query(_FACTS):
        entries = seats_of(seats)
        known = None if solved is None else bool(solved)
        facts = Facts(entries, returns_of(returns), termination, seat, known, matches, int(moves), *sums[:4])
        tallies[board].count(facts)
        if termination != "void":
            for entry, used in zip(entries, (sums[4:7], sums[7:]), strict=False):
                tallies[board].add_effort(entry, used[0], int(used[1]), used[2] / NANOSECONDS)
    for board, seats, seat, decisions, nodes, nanoseconds in store.query(_EFFORT):
        tallies[board].add_effort(seats_of(seats)[seat], decisions, int(nodes), nanoseconds / NANOSECONDS)
    for board, seats, seat, kind, number, key, message in store.query(_FAILURES, sorted(FAULTS)):
        tallies[board].add_failure(seats_of(seats)[seat], kind, number, key.hex(), message)
    _add_details(store, tallies)
    for rows in store.chunks(_GAMES):
        for board, round_, seats, returns, termination, seat, used_rng, played, adjusted in rows:
            corrected, loser = None if adjusted is None else returns_of(adjusted), find_loser(termination, seat)
            tallies[board].add_game(round_, seats_of(seats), returns_of(returns), played, "1" in used_rng, corrected, loser)
            if (outcomes := tallies[board].outcomes) is not None:
                repeatable = None if "1" in used_rng else played
                outcomes.add(Pairing(round_, seats_of(seats)), returns_of(returns), repeatable, loser=loser)
    if any(tally.has_conclusion for tally in tallies):
        for board, round_, seats in store.query(_VOID):
            if (outcomes := tallies[board].outcomes) is not None and tallies[board].has_conclusion:
                outcomes.add(Pairing(round_, seats_of(seats)), None)
    _add_attempts(store, tallies)
    for tally, claims in zip(tallies, claims_of(store, sheets), strict=True):
        tally.claims = claims
    for board, distinct in store.query(_DISTINCT):
        tallies[board].distinct = distinct
    return tallies


def claims_of(store: Store, sheets: Sequence[BoardInfo]) -> list[Claims]:
    """Return the claims of the entries on each board of the last run that their solutions are optimal."""
    found = [Claims(sheet) for sheet in sheets]
    for number, claims in enumerate(found):
        for round_, seats, solved, cost, termination, decisions, nodes, nanoseconds in (
            store.query(_SEARCHED, (number,)) if claims.claiming else ()
        ):
            claims.add(
                round_,
                seats_of(seats)[0],
                solved=bool(solved),
                cost=cost,
                termination=termination,
                decisions=decisions,
                nodes=nodes,
                seconds=nanoseconds / NANOSECONDS,
            )
    return found


class MixedPlugins(NamedTuple):
    """The plugins of which more than one version has played the matches of a board."""

    names: Collection[str]
    counted: bool = True
    """Whether only matches that the board counts were compared. Otherwise it is unknown which run played a match, and the names
    stand for all matches in the store."""

    def describe(self) -> str:
        """Return a remark for the board. There must be a name."""
        have = "Matches of this board were played with" if self.counted else "The store has matches of"
        return f"{have} more than one version of {escape_line(', '.join(self.names))}."


def find_mixed_plugins(store: Store, sheets: Sequence[BoardInfo]) -> list[MixedPlugins]:
    """Return, for each board of the last run, the plugins of which more than one version has played its matches.

    A program, a file that an option names, and the code of an entry are found by their names in the settings of the entries. If
    a store lacks these settings, every entry counts as a user of the code.
    """
    runs = store.runs()
    mixed = Run.list_mixed_plugins(runs)
    firsts = Run.list_first_records(runs) if mixed else None
    if firsts is None:
        return [MixedPlugins(mixed, counted=False)] * len(sheets)
    found: dict[tuple[int, CodeKey], set[str]] = {}
    for run, (first, after) in zip(runs, pairwise([*firsts, _MAX_NUMBER]), strict=True):
        code = {part: text for part, text in run.code().items() if part[0] in mixed}
        for board, seats in store.query(_PLAYED_BETWEEN, (first, after)):
            entries = seats_of(seats)
            for part, text in code.items():
                if _uses(sheets[board], entries, part):
                    found.setdefault((board, part), set()).add(text)
    several = {(board, part[0]) for (board, part), texts in found.items() if len(texts) > 1}
    return [MixedPlugins([name for name in mixed if (board, name) in several]) for board in range(len(sheets))]


def _uses(sheet: BoardInfo, entries: Sequence[int], part: CodeKey) -> bool:
    """Return whether matches of these entries use a part of a plugin, a program or a file. For its key, see `Part.key`."""
    name, (kind, _, rest) = part[0], part[1].partition(" ")
    if kind == "game":
        return bool(rest == sheet.game["name"])
    if kind == "format":
        return rest == sheet.format
    if len(sheet.settings) < len(sheet.labels):  # an old store, or the options of changed entries were deleted
        return True
    settings = [sheet.settings[entry] for entry in entries]
    if kind == "agent":
        return any(one["agent"] == rest.partition(" ")[0] for one in settings)
    if kind == "heuristic":
        return rest in [f"{sheet.game['name']} {one['heuristic']['name']}" for one in settings if one["heuristic"] is not None]
    words = [word.rpartition("/")[2] for word in _list_texts([sheet.parameters, *[one["options"] for one in settings]])]
    return any(name == word or name.endswith(f" {word}") for word in words)


def _list_texts(value: Any) -> list[str]:
    """Return all texts in a value, however deep."""
    if isinstance(value, dict):
        value = list(value.values())
    return [text for one in value for text in _list_texts(one)] if isinstance(value, list) else [value] * isinstance(value, str)


def _add_attempts(store: Store, tallies: Sequence[Tally]) -> None:
    for rows in store.chunks(_ATTEMPTS):
        for board, round_, seats, solved, moves, cost, nodes, nanoseconds in rows:
            tallies[board].attempts[seats_of(seats)[0]].add(
                round_, solved=bool(solved), moves=moves, cost=cost, nodes=nodes, seconds=nanoseconds / NANOSECONDS
            )
    for board, round_, position in store.query(_POSITIONS):
        tallies[board].lone.add_position(round_, hash(position))


def read_ways(store: Store, sheets: Sequence[BoardInfo]) -> list[list[Way]]:
    """Return how the decisions of each entry ran, for every board of the last run. Times are compared only between equal ways."""
    tallies = [Tally(sheet) for sheet in sheets]
    _add_timings(store, tallies)
    return [[count.way for count in tally.counts] for tally in tallies]


def _add_timings(store: Store, tallies: Sequence[Tally]) -> None:
    for rows in store.chunks(_TIMINGS):
        for board, seats, timing in rows:
            tallies[board].add_timing(seats_of(seats), json.loads(timing))


def _add_details(store: Store, tallies: Sequence[Tally]) -> None:
    for rows in store.chunks(_FALLBACKS):
        for board, seats, used_rng, fallbacks, decisions in rows:
            drawn = [one.seat for one in decisions_of(decisions) if one.fallback]
            tallies[board].add_fallbacks(seats_of(seats), fallbacks, drawn, [mark == "1" for mark in used_rng])
    for board, matches in store.query(_UNAVAILABLE, [f"{Unavailable.MARK}%"]):
        tallies[board].unavailable = matches
    _add_timings(store, tallies)
    for rows in store.chunks(_SPENT):
        for board, seats, decisions, spent in rows:
            for decision in spending_decisions(decisions, spent):
                for name, amount in (decision.spent or {}).items():
                    tallies[board].counts[seats_of(seats)[decision.seat]].spent[name] += amount


_MAX_NUMBER = 2**63 - 1
"""The largest integer of SQLite."""

# Sums that may not fit into SQLite's integers are computed as floats.
_FACTS = """
SELECT p.board, p.seats, r.returns, r.termination, r.seat, r.solved, count(*), total(r.moves), count(r.moves),
       coalesce(sum(r.cost), 0.0), count(r.cost), sum(r.fallbacks), sum(r.decisions_0), total(r.nodes_0), total(r.nanoseconds_0),
       sum(r.decisions_1), total(r.nodes_1), total(r.nanoseconds_1)
FROM place p JOIN record r ON r.number = p.record GROUP BY 1, 2, 3, 4, 5, 6
"""
_GAMES = f"""
SELECT p.board, p.round, p.seats, r.returns, r.termination, r.seat, r.drew, {Store.MATCH_HASH}, r.adjusted
FROM place p JOIN record r ON r.number = p.record WHERE r.termination <> 'void'
"""  # noqa: S608 - the hash is SQL of the store
_PLAYED_BETWEEN = """
SELECT DISTINCT p.board, p.seats FROM place p JOIN record r ON r.number = p.record
WHERE r.termination <> 'void' AND p.record >= ? AND p.record < ?
"""
_VOID = """
SELECT p.board, p.round, p.seats FROM place p JOIN record r ON r.number = p.record WHERE r.termination = 'void'
"""
_ATTEMPTS = """
SELECT p.board, p.round, p.seats, r.solved, r.moves, r.cost, r.nodes_0, r.nanoseconds_0
FROM place p JOIN record r ON r.number = p.record WHERE r.solved IS NOT NULL AND r.termination <> 'void'
"""
_POSITIONS = """
SELECT one.board, one.round, d.position
FROM (SELECT p.board, p.round, min(p.record) AS record FROM place p JOIN record r ON r.number = p.record
      WHERE r.termination <> 'void' AND instr(p.seats, ',') = 0 GROUP BY 1, 2) one
JOIN detail d ON d.record = one.record
"""
_EFFORT = """
SELECT p.board, p.seats, e.seat, sum(e.decisions), total(e.nodes), total(e.nanoseconds)
FROM place p JOIN effort e ON e.record = p.record JOIN record r ON r.number = p.record
WHERE r.termination <> 'void' GROUP BY 1, 2, 3
"""
_TIMINGS = """
SELECT p.board, p.seats, d.timing FROM detail d JOIN record r ON r.number = d.record JOIN place p ON p.record = d.record
WHERE d.timing IS NOT NULL AND r.termination <> 'void'
"""
_FALLBACKS = """
SELECT p.board, p.seats, r.drew, r.fallbacks, d.decisions
FROM place p JOIN record r ON r.number = p.record JOIN detail d ON d.record = r.number
WHERE r.fallbacks > 0 AND r.termination <> 'void'
"""
_SPENT = """
SELECT p.board, p.seats, d.decisions, d.spent
FROM detail d JOIN record r ON r.number = d.record JOIN place p ON p.record = d.record
WHERE d.spent IS NOT NULL AND r.termination <> 'void' ORDER BY p.number
"""
_SEARCHED = """
SELECT p.round, p.seats, r.solved, r.cost, r.termination, r.decisions_0, r.nodes_0, r.nanoseconds_0
FROM place p JOIN record r ON r.number = p.record WHERE p.board = ? AND (r.solved = 1 OR r.termination = 'gave-up')
"""
_UNAVAILABLE = "SELECT p.board, count(*) FROM detail d JOIN place p ON p.record = d.record WHERE d.message LIKE ? GROUP BY 1"
_FAILURES = f"""
SELECT p.board, p.seats, r.seat, r.termination, min(p.number), r.id, d.message
FROM record r JOIN place p ON p.record = r.number JOIN detail d ON d.record = r.number
WHERE r.seat IS NOT NULL AND r.termination IN ({",".join("?" * len(FAULTS))}) GROUP BY 1, 2, 3, 4
"""  # noqa: S608 - only question marks are inserted
_DISTINCT = f"""
SELECT board, count(*) FROM (
    SELECT DISTINCT p.board AS board, p.seats, r.play, r.returns, r.termination, r.seat,
                    CASE WHEN r.termination IN ({", ".join(map(repr, sorted(UNREPEATABLE_ENDINGS)))}) THEN r.id END
    FROM place p JOIN record r ON r.number = p.record WHERE r.termination <> 'void'
) GROUP BY board
"""  # noqa: S608 - only constants are inserted
"""The number of matches that are not repeats; see `hash_match`, which would take longer as a function in SQL."""
