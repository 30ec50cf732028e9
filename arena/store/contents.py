"""The contents of a store: its runs and its records. Each of them is checked against its hash when it is read."""

import shlex
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from arena.errors import StoreDamaged, StoreError
from arena.format import Pairing
from arena.match.record import Record
from arena.schedule.schedule import Scheduled
from arena.secret import Seed, split_secret
from arena.store import schema
from arena.store.database import ROWS_PER_READ, Database
from arena.store.rows import RECORD, cells_to_digest, record_of, returns_of, seats_of
from arena.store.run import RUN, Run, run_of_row
from arena.store.schema import digest, placeholders

UNREADABLE = (ValueError, TypeError, KeyError, IndexError)
"""Exceptions that a damaged row may cause. Errors from JSON are ValueErrors."""


class Kept(NamedTuple):
    """The facts about a stored match that the schedule needs."""

    number: int
    returns: tuple[float, ...] | None
    """The returns; None if the match is void."""
    play_hash: int | None = None
    """A hash of the moves if no seat used random numbers, so that a replay would have the same moves; otherwise None."""
    adjusted: tuple[float, ...] | None = None
    """The returns after a correction for the luck of chance, if known."""


_COLUMNS = f"SELECT {RECORD}, digest, p.number, p.board, p.round, p.seats"


class StoreContents(Database):
    """The runs and records of a store.

    If it is `strict`, damaged data raises StoreDamaged; otherwise the damage is noted in `suspects`.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, *, strict: bool) -> None:
        super().__init__(path, connection)
        self.suspects: list[str] = []
        """Descriptions of data that does not match its hash, if the store is not `strict`."""
        self._strict = strict
        self._known: dict[Seed, bool] | None = None

    def runs(self) -> list[Run]:
        """Return all runs, the last one at the end."""
        rows = self._all(f"SELECT started, ended, revealed, {RUN}, digest FROM run ORDER BY number")
        for started, _, _, *cells, kept in rows:
            self._hold(f"the run of {started}", cells, kept)
        try:
            return [run_of_row(row[:-1]) for row in rows]
        except UNREADABLE as error:
            raise self._damaged("a run") from error

    def last(self) -> Run:
        """Return the last run. Raises StoreError if there is none."""
        runs = self.runs()
        if not runs:
            raise StoreError(f"{self.path} holds no run yet")
        return runs[-1]

    def __len__(self) -> int:
        """Return the number of records, including records that are on no board."""
        return int(self._one("SELECT count(*) FROM record"))

    def has(self, ids: Sequence[str]) -> dict[str, Kept]:
        """Return the facts about the matches with these `ids` that are in the store, by id."""
        found: dict[str, Kept] = {}
        rows = self._with_ids("SELECT id, number, returns, termination, drew, play, adjusted FROM record WHERE id", ids)
        for key, number, returns, termination, used_rng, played, adjusted in rows:
            play_hash = None if "1" in used_rng else played
            corrected = None if adjusted is None else returns_of(adjusted)
            found[key.hex()] = Kept(number, None if termination == "void" else returns_of(returns), play_hash, corrected)
        return found

    def record(self, key: str) -> tuple[Record, Scheduled | None]:
        """Return the record with an id that begins with `key`, and its place. Raises StoreError unless exactly one fits."""
        text = key.lower()
        if not text or len(text) > 32 or set(text) - set("0123456789abcdef"):
            raise StoreError(f"expected the id of a match, 32 hexadecimal digits or the first of them, got {key!r}")
        low, high = bytes.fromhex(text.ljust(32, "0")), bytes.fromhex(text.ljust(32, "f"))
        rows = self._all(f"{_COLUMNS} {schema.ANYWHERE} WHERE r.id BETWEEN ? AND ? LIMIT 2", (low, high))
        if not rows:
            raise StoreError(f"{self.path} holds no match {key}")
        if len(rows) > 1:
            raise StoreError(f"{self.path} holds several matches with ids that begin with {key}; give more digits")
        return self._found(rows[0])

    def found(self, ids: Sequence[str]) -> dict[str, tuple[Record, Scheduled | None]]:
        """Return the records with these `ids` that are in the store, with their places."""
        found: dict[str, tuple[Record, Scheduled | None]] = {}
        for row in self._with_ids(f"{_COLUMNS} {schema.ANYWHERE} WHERE r.id", ids):
            record, place = self._found(row)
            found[record.id] = (record, place)
        return found

    def _with_ids(self, question: str, ids: Sequence[str]) -> Iterator[Sequence[Any]]:
        for start in range(0, len(ids), ROWS_PER_READ):
            keys = [bytes.fromhex(one) for one in ids[start : start + ROWS_PER_READ]]
            yield from self._all(f"{question} IN ({placeholders(len(keys))})", keys)

    def records(self, *, boards: bool = False, sound: bool = False) -> Iterator[tuple[Record, Scheduled | None]]:
        """Yield every record with its place, a few at a time, in the order in which they were written.

        With `boards`, only records in the schedule of the last run are yielded, in its order. With `sound`, damaged records of a
        store that is not strict are left out.
        """
        order = f"{schema.ON_BOARDS} ORDER BY p.number" if boards else f"{schema.ANYWHERE} ORDER BY r.number"
        if sound and not self._strict:
            self.suspects += self.damaged()
        for row in self.query(f"{_COLUMNS} {order}"):
            try:
                record, place = self._found(row)
            except StoreDamaged:  # the row is unreadable, and the store is not strict
                if self._strict or f"match {row[0].hex()}" not in self.suspects:
                    raise
                continue
            if sound and place is not None and f"place {place.number}" in self.suspects:
                place = None
            if not (sound and (f"match {record.id}" in self.suspects or (boards and place is None))):
                yield record, place

    def void(self) -> Iterator[Record]:
        """Yield the void records on the boards of the last run, in the order of the schedule."""
        for row in self.query(f"{_COLUMNS} {schema.ON_BOARDS} WHERE r.termination = 'void' ORDER BY p.number"):
            yield self._found(row)[0]

    def unmetered(self) -> Iterator[tuple[int, tuple[int, ...], int, int]]:
        """Yield board, entries, seat and number of uncounted states, added up over the matches on the boards of the last run."""
        if self._one("SELECT count(*) FROM sqlite_master WHERE name = 'unmetered'"):
            for board, seats, seat, states in self.query(schema.PAST_VIEWS):
                yield board, seats_of(seats), seat, int(states)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Inside the block, read the store as it is now, even if a process adds records. Raises StoreDamaged for damaged data."""
        with self._guard, self._telling():
            self._connection.execute("BEGIN")
            try:
                if self._strict:
                    self.verify()
                yield
            finally:
                self._connection.execute("COMMIT")

    def verify(self) -> None:
        """Check every row that boards and schedules use against its checksum. Raises StoreDamaged if one does not match."""
        if damaged := [*self.suspects, *self.damaged()]:
            raise self._damaged(", ".join(damaged[:3]) + (f" and {len(damaged) - 3:,} more" if len(damaged) > 3 else ""))

    def damaged(self) -> Iterator[str]:
        """Yield damaged parts: the file first, then rows with wrong checksums or missing counterparts, such as `place 7`."""
        yield from [f"the file ({row[0]})" for row in self._all("PRAGMA quick_check(3)") if row[0] != "ok"]
        for table, columns in schema.SUMMED_COLUMNS.items():
            found = f"checksum({columns})"
            if table == "record":
                found = f"CASE WHEN adjusted IS NULL THEN {found} ELSE checksum({columns}, adjusted) END"
            name = schema.ROW_NAMES[table]
            yield from [row[0] for row in self._all(f"SELECT {name} FROM {table} WHERE checksum IS NOT {found}")]
        for half in schema.UNMATCHED:
            yield from [row[0] for row in self._all(half)]

    def _found(self, row: Sequence[Any]) -> tuple[Record, Scheduled | None]:
        *cells, kept, number, board, round_, seats = row
        self._hold(f"match {cells[0].hex()}", cells_to_digest(cells), kept)
        try:
            record = record_of(cells)
        except UNREADABLE as error:
            raise self._damaged(f"match {cells[0].hex()}") from error
        if isinstance(record.seed, int) and record.seed < 0:
            digits, revealed = list(self._secrets().items())[-1 - record.seed]
            record = record._replace(seed=digits if revealed else None)
        return record, None if number is None else Scheduled(number, board, Pairing(round_, seats_of(seats)))

    def _secrets(self) -> Mapping[Seed, bool]:
        if self._known is None:
            self._known = {}
            for run in self.runs():
                for _, digits in () if run.secret is None else split_secret(run.secret):
                    self._known[digits] = run.revealed is not None or self._known.get(digits, False)
        return self._known

    def _hold(self, what: str, cells: Sequence[Any], kept: bytes) -> None:
        if kept != digest(cells):
            if self._strict:
                raise self._damaged(what)
            self.suspects.append(what)

    def _damaged(self, what: str) -> StoreDamaged:
        name = shlex.quote(str(self.path))
        return StoreDamaged(
            f"{self.path} is damaged: {what} is not as it was written; `arena check {name}` lists what is damaged, "
            f"`arena export --sound {name}` writes the rest"
        )
