"""The key `report` of a spec: the matches that its boards show, and columns that formulas define.

The columns are computed whenever a board is shown, so they need no second run. If `where` leaves out matches, boards are computed
from the others, as if the run had only these.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from arena import ArenaError, Record, Registry
from arena.api.cli import say
from arena.api.games import own_columns, ranks
from arena.api.results import (
    BoardColumn,
    BoardInfo,
    Comparison,
    Measured,
    RepeatedMatches,
    RoundValues,
    Tally,
    Way,
    claims_of,
    describe_ways,
    read_ways,
    timed_way,
)
from arena.api.run import Scheduled
from arena.api.spec import Rules, SpecReader
from arena.api.store import Run, Store
from arena.stats import clustered_mean, range_of
from arena_records.formula import Formula, FormulaFault
from arena_records.report import KEPT, Report
from arena_records.tidy import ALIASES, OWN, Matches, TidyTable, read_claims, seat_names, tidy_columns

MAX_COLUMNS = 20
"""The most columns that a spec may define."""
COLUMN_NAME = re.compile(r"[a-z][a-z0-9_]{0,29}")
Rounds = dict[int, list[float]]
"""The sum and the number of the values in each round."""


def list_taken(registry: Registry) -> set[str]:
    """Return the names that boards and formulas already use, apart from the columns of data frames."""
    taken = {*BoardColumn.TAKEN, *ALIASES, *OWN, KEPT}
    taken |= {part.column.key for part in registry.parts["column"].values()}
    return taken | {column.key for kind in registry.formats.values() for column in own_columns(kind)}


def read_report(reading: SpecReader, rules: Sequence[Rules]) -> None:
    """Check the key `report` of a spec, after its games have been read, and add the columns to those from plugins. Faults are
    added to `reading.faults`.
    """
    given = reading.values["report"]
    kinds = {"puzzle" if one.puzzle else "score" if one.alone else "versus" for one in rules}
    seats = max([one.game.players for one in rules], default=2)
    numbers = {*tidy_columns(kinds, seats, numbers=True), *(ALIASES if "puzzle" in kinds else ())}
    texts = tidy_columns(kinds, seats, numbers=False)
    columns: Mapping[str, str] = given.get("columns") or {}
    if given.get("where") is not None:
        known = numbers | OWN.keys() if "versus" not in kinds else numbers
        _check_formula(reading, ("report", "where"), given["where"], known, texts)
        _check_format(reading)
    if len(columns) > MAX_COLUMNS:
        message = f"expected at most {MAX_COLUMNS} columns, got {len(columns)}; compute further columns in a data frame"
        reading.faults.add(("report", "columns"), message)
    taken = list_taken(reading.registry) | {*tidy_columns(("puzzle", "score", "versus"), seats)}
    for name, text in columns.items():
        path = ("report", "columns", name)
        _check_formula(reading, path, text, numbers | OWN.keys(), texts)
        if not COLUMN_NAME.fullmatch(name) or name.endswith(("_low", "_high")):
            message = "expected a name of at most 30 lowercase letters, digits and _, which does not end in _low or _high"
            reading.faults.add(path, f"{message}, got {name!r}", key=True)
        elif name in taken:
            reading.faults.add(path, "boards or data frames already have a column with this name; choose another one", key=True)
    parts = reading.registry.parts["column"]  # without cells, because `apply_report` computes them whenever a board is shown
    if given.get("where") is not None:
        parts[KEPT] = BoardColumn(KEPT, "Kept", "share", "The share of the matches that `report` keeps.", cells=())
    for name, text in columns.items():
        heading = name.replace("_", " ").capitalize()
        part = BoardColumn(name.replace("_", "-"), heading, description=f"The mean of {text}.", cells=())
        parts[part.name] = part


def _check_formula(
    reading: SpecReader, path: tuple[str, ...], text: str, numbers: Collection[str], texts: Collection[str]
) -> None:
    try:
        Formula(text, numbers, texts)
    except FormulaFault as fault:
        own = path[-1] == "where" and any(name in str(fault) for name in OWN)
        hint = (
            "; names with own_ work only in columns, because a game is kept either for all of its agents or for none"
            if own
            else ""
        )
        reading.faults.add(path, f"{fault}{hint}")


def _check_format(reading: SpecReader) -> None:
    """Report a fault if the format of a spec needs the results of all matches."""
    given = reading.values.get("format")
    name = given.get("name") if isinstance(given, dict) else given
    kind = reading.registry.formats.get(str(name))
    if kind is not None and (kind.follows_results or ranks(kind)):
        message = f"the format {name} needs all its matches, so none can be left out; remove report.where"
        reading.faults.add(("report", "where"), message, key=True)


def apply_report(values: Mapping[str, Any], boards: Sequence[BoardInfo], matches: Matches) -> tuple[Sequence[BoardInfo], Matches]:
    """Return boards with the cells of the columns of `report`, and a function that reads the matches which `report` keeps.

    `left_out` of a board is the number of matches that are left out. Void matches are always kept, because boards count them
    separately.
    """
    shown, left_out = _apply(values, boards, matches)

    def read_kept() -> Iterable[tuple[Record, Scheduled | None]]:
        return ((record, place) for record, place in matches() if place is None or place.number not in left_out)

    return shown, read_kept if left_out else matches


def apply_to_store(store: Store, run: Run) -> Run:
    """Return the last run of a store with the columns of `report`. From then on, matches that `report` leaves out are skipped."""
    boards, left_out = _apply(run.spec["values"]["report"], run.boards, lambda: store.records(boards=True))
    if left_out:
        # SQLite looks for a table among the temporary ones first, so all queries of this connection read only kept matches
        kept = "SELECT * FROM main.place WHERE number NOT IN (SELECT value FROM json_each(?))"
        list(store.query("PRAGMA query_only = OFF"))  # the file itself is open for reading only
        list(store.query(f"CREATE TEMP TABLE place AS {kept}", [json.dumps(list(left_out))]))
        list(store.query("PRAGMA query_only = ON"))
    return replace(run, boards=boards)


def measures_of(run: Run) -> dict[str, Comparison]:
    """Return the columns of `report` as measures for `arena compare --by`; the keys are their names. Like all measures, they
    read all matches, including matches that `where` leaves out.
    """
    report = Report.read(run.spec["values"].get("report"))

    def measure(name: str, formula: Formula) -> Comparison:
        def read(store: Store) -> Iterator[Measured]:
            table = TidyTable(run.boards, 0, claims_of(store, run.boards), report)
            timed = read_timed_entries(store) if _uses_seconds(formula) else []
            for record, place in store.records(boards=True):
                if place is None or record.termination == "void":
                    continue
                row = table.plain_row(record, place)
                for seat, entry in enumerate(place.pairing.seats):
                    value = formula.compute(table.numbers(row, record, place, seat))
                    if value is not None and _is_timed(formula, place, seat, timed):
                        yield Measured(place.board, place.pairing.round, entry, value, place.pairing.seats)

        return Comparison(name.replace("_", "-"), f"The value of {formula.text}.", read)

    return {name: measure(name, formula) for name, formula in report.columns.items()}


def read_timed_entries(store: Store) -> list[set[int]]:
    """Return, for each board of the last run, the entries whose times can be compared, because their decisions ran the same way.

    A note names the others. Raises ArenaError if the times of no two entries can be compared.
    """
    boards = store.last().boards
    ways = read_ways(store, boards)
    timed = list(map(_timed_entries, ways))
    for board, found in zip(boards, ways, strict=True):
        reason = describe_ways(dict(zip(board.labels, found, strict=True)))
        if reason is not None and max(map(len, timed)) < 2:
            raise ArenaError(reason)
        if reason is not None:
            say(f"note: {board.title}: {reason}")
    return timed


def _timed_entries(ways: Sequence[Way]) -> set[int]:
    return {entry for entry, way in enumerate(ways) if way == timed_way(ways)}


def _uses_seconds(formula: Formula) -> bool:
    return any(name == "own_seconds" or name.split("_")[0] == "seconds" for name in formula.names)


def _is_timed(formula: Formula, place: Scheduled, seat: int, timed: Sequence[set[int]]) -> bool:
    """Return whether a formula for the agent of a seat uses only times that can be compared. `timed` contains the entries
    with such times, by board.
    """
    if not _uses_seconds(formula):
        return True
    seats = place.pairing.seats
    used = {entry for name, entry in zip(seat_names(len(seats)), seats, strict=True) if f"seconds_{name}" in formula.names}
    used |= {seats[seat]} if "own_seconds" in formula.names else set()
    used |= {*seats} if "seconds" in formula.names else set()
    return used <= timed[place.board]


def _apply(values: Mapping[str, Any], boards: Sequence[BoardInfo], matches: Matches) -> tuple[list[BoardInfo], Mapping[int, int]]:
    """Return boards with the cells of the columns of `report`, and the matches that it leaves out: the keys are the numbers of
    these matches, and the values are the numbers of their boards.
    """
    report = Report.read(values)
    formulas = [*report.columns.values(), *([] if report.where is None else [report.where])]
    matters = any("optimal" in one.names for one in formulas)
    table = TidyTable(boards, 0, read_claims(boards, matches if matters else list), report)
    timed: list[set[int]] = []
    if any(map(_uses_seconds, report.columns.values())):
        tallies = [Tally(board) for board in boards]
        for record, place in matches():
            if place is not None:
                tallies[place.board].add_timing(place.pairing.seats, record.timing)
        timed = [_timed_entries([count.way for count in tally.counts]) for tally in tallies]
    counts: Counts = defaultdict(lambda: defaultdict(lambda: [0.0, 0.0]))
    computed: dict[tuple[int, str, int], list[Measured]] = defaultdict(list)
    repeated = RepeatedMatches(boards)
    left_out: dict[int, int] = {}
    played: Counter[int] = Counter()

    for record, place in matches():
        if place is None or record.termination == "void":
            continue
        played[place.board] += 1
        row = table.plain_row(record, place)
        keeps = report.keeps(table.numbers(row, record, place, 0))
        if keeps:
            repeated.add(record, place)
        else:
            left_out[place.number] = place.board
        for seat, entry in enumerate(place.pairing.seats):
            if report.where is not None:
                sums = counts[place.board, KEPT, entry][place.pairing.round]
                sums[0] += keeps
                sums[1] += 1
            for name, formula in report.columns.items() if keeps else ():
                value = formula.compute(table.numbers(row, record, place, seat))
                if value is not None and _is_timed(formula, place, seat, timed):
                    computed[place.board, name, entry].append(
                        Measured(place.board, place.pairing.round, entry, value, place.pairing.seats)
                    )
    absent = Counter(left_out.values())
    means: dict[tuple[int, str, int], RoundValues] = {}
    seen: dict[str, set[float]] = defaultdict(set)
    for (number, name, entry), measured in computed.items():
        mean = means[number, name, entry] = RoundValues(entry, repeated.find(number))
        for one in measured:
            mean.add(one.round, one.value, one.seats)
            seen[name].add(one.value)
    ranges = {name: (0.0, 1.0) if formula.is_condition else range_of(seen[name]) for name, formula in report.columns.items()}
    shown = [
        _fill(board, number, report, ranges, counts, means, absent[number], played[number]) for number, board in enumerate(boards)
    ]
    return shown, left_out


Counts = dict[tuple[int, str, int], Rounds]
"""The values of each column of each entry: by the number of the board, the key of the column, and the number of the entry."""


def _fill(
    board: BoardInfo,
    number: int,
    report: Report,
    ranges: Mapping[str, tuple[float, float]],
    counts: Counts,
    means: Mapping[tuple[int, str, int], RoundValues],
    left_out: int,
    played: int,
) -> BoardInfo:
    """Return a board with the cells of the columns of `report`, and a remark if `where` selects its matches."""
    filled = []
    for one in board.plugin_columns:
        key = one.column.key
        if key not in report.columns and (key != KEPT or report.where is None):
            filled.append(one)
            continue
        rounds = [counts.get((number, key, entry), {}) for entry in range(len(board.labels))]
        if key == KEPT:  # a fact about this run and not an estimate, so it has no bounds
            cells = [
                clustered_mean([sum([kept for kept, _ in of.values()])], [int(sum([n for _, n in of.values()]))]) for of in rounds
            ]
        else:
            none = RoundValues(0, {})
            cells = [means.get((number, key, entry), none).mean(ranges[key]) for entry in range(len(board.labels))]
        remark = _describe(board, str(report.where and report.where.text), rounds, left_out, played) if key == KEPT else ""
        filled.append(replace(one, cells=tuple(cells), remarks=(remark,) if remark else ()))
    return replace(board, left_out=left_out, plugin_columns=tuple(filled))


def _describe(board: BoardInfo, where: str, rounds: Sequence[Rounds], left_out: int, played: int) -> str:
    """Return a remark on the matches that `where` leaves out, which says what this means for comparisons."""
    matches = "games" if board.kind == "versus" else "attempts"
    if not left_out:
        return f"report.where ({where}) keeps all {matches}."
    if board.kind == "versus":
        why = (
            "Whether a game counts depends on how it went, so ratings and scores cannot be compared with ratings and scores "
            "from all games."
        )
    elif len({frozenset([number for number, (kept, _) in of.items() if kept]) for of in rounds if of}) > 1:
        why = (
            "Different positions are left out for different agents, so their rows cannot be compared with each other or with "
            "rows for all attempts."
        )
    else:
        why = (
            "The same positions are left out for all agents, so their rows can be compared with each other, but not "
            "with rows for all attempts."
        )
    return f"report.where ({where}) leaves out {left_out:,} of {played:,} {matches}. {why}"
