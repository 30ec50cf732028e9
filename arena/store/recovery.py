"""Recovers the matches of a damaged store: reads the pages of its file without SQL, and keeps each record whose hash is right.

SQLite refuses a whole table for a single wrong byte. But rows can be found without the schema and without the pages that point to
them: the number of its columns tells to which table a row belongs, and its hash tells whether a record is whole. The formats of
the pages and of the write-ahead log are documented at https://sqlite.org/fileformat2.html.
"""

import os
import sqlite3
import struct
from collections import defaultdict
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, takewhile
from math import inf
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, NamedTuple

from arena.clock import monotonic
from arena.errors import StoreError
from arena.schedule.board_info import BoardInfo
from arena.store import schema
from arena.store.database import MAX_CELL_BYTES, Connection, explain_error
from arena.store.rows import COUNTS, PLACE, RECORD, Rows, cells_to_digest, check_place, record_of, record_row, rows_of
from arena.store.run import UNREADABLE, Run, name_run, run_of_row
from arena.store.schema import checksum, digest, placeholders
from arena.store.side_files import check_side_file, open_side_file, path_beside

HEADER_BYTES = 100
"""The bytes of the header of a database file."""
MIN_PAGE_BYTES = 512
PAGE_BYTES = 4096
"""The bytes of a page, unless the header of the file says otherwise. SQLite has used this size since 2016."""
TABLE_LEAF, INDEX_LEAF, INDEX_INTERIOR = 0x0D, 0x0A, 0x02
TABLES = {19: "record", 12: "detail", 14: "run", 6: "place"}
"""Tables by their number of columns."""
INDICES = {5: "effort", 2: "index"}
"""Tables without a rowid, and the two indices, by their number of columns."""
INTEGER_BYTES = (0, 1, 2, 3, 4, 6, 8)
"""Bytes of an integer by its serial type."""
ID_BYTES = 16
MAX_EMPTY_FRAMES = 1000
"""After as many frames without a page number, the rest of a log is not read. It may be a hole of terabytes."""
MAX_JOINED_PAIRS = 10_000
"""At most this many pairs of rows with different numbers are compared, to find out whether they belong to the same match."""
SIZE = "the size of the file"
"""The name of this part if bytes of the file are missing."""
MAX_READ = 8
"""How many times the size of the file is read at most, because overflow pages of a hostile file may belong to many rows."""


class Row(NamedTuple):
    """A row that was found in a page. In rows with an INTEGER PRIMARY KEY, the first value is None."""

    table: str
    number: int
    """The rowid; 0 for a row of an index."""
    values: list[Any]


def parse_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a variable-length integer and the place behind it. Raises IndexError at the end of the data.

    >>> parse_varint(bytes([0x81, 0x00, 7]), 0)
    (128, 2)
    """
    value = 0
    for place in range(at, at + 8):
        value = value << 7 | data[place] & 0x7F
        if data[place] < 0x80:
            return value, place + 1
    return value << 8 | data[at + 8], at + 9


class Pages:
    """The pages of a database file, with the newer ones in its write-ahead log."""

    def __init__(self, data: bytes | mmap, log: bytes | mmap, size: int, reserved: int, until: float = inf) -> None:
        self._data, self._log, self._size = data, log, size
        self._usable = size - reserved
        self._newer = self._find_newer(until)
        self._overflow: set[int] = set()
        """Pages with the rest of a row that began in another page."""
        self._left = MAX_READ * (len(data) + len(log)) + PAGE_BYTES

    def _find_newer(self, until: float) -> dict[int, int]:
        """Return the place of the newest data of each page in the log, as far as the log is read until then."""
        newer: dict[int, int] = {}
        uncommitted: dict[int, int] = {}
        empty = 0
        for at in range(32, len(self._log) - self._size - 23, self._size + 24):
            number = int.from_bytes(self._log[at : at + 4])
            empty = 0 if number else empty + 1
            if empty > MAX_EMPTY_FRAMES or monotonic() > until:
                break
            if number and self._log[at + 8 : at + 16] == self._log[16:24]:  # the salt of this round of the log
                uncommitted[number] = at + 24
                if any(self._log[at + 4 : at + 8]):
                    newer |= uncommitted
                    uncommitted = {}
        return newer

    def page(self, number: int) -> bytes:
        """Return a page; empty if the file has no such page."""
        at = self._newer.get(number)
        return self._data[(number - 1) * self._size : number * self._size] if at is None else self._log[at : at + self._size]

    def _list_free(self) -> set[int]:
        """Return the pages in the list of free pages, which hold deleted rows; none if the list contradicts the header."""
        first = self.page(1)
        trunk, count = int.from_bytes(first[32:36]), int.from_bytes(first[36:40])
        free: set[int] = set()
        while trunk and trunk not in free and len(free) < count:
            page = self.page(trunk)
            length = int.from_bytes(page[4:8])
            leaves = [int.from_bytes(page[at : at + 4]) for at in range(8, min(8 + 4 * length, len(page)), 4)]
            free |= {trunk, *leaves}
            trunk = int.from_bytes(page[:4])
        return free if len(free) == count and not trunk else set()

    def rows(self, until: float = inf) -> Iterator[Row]:
        """Yield the rows in all pages that are in use, damaged or not. Raises TimeoutError at the time `until`.

        Pages whose type is wrong come last. Pages with the rest of a long row are left out: an agent may have written its text.
        """
        last, free, odd = len(self._data) // self._size, self._list_free(), []
        for number in chain(range(1, last + 1), sorted([number for number in self._newer if number > last])):
            if monotonic() > until:
                raise TimeoutError
            if number not in free and not (yield from self._read_page(number, None)):
                odd.append(number)
        for number in odd:
            if monotonic() > until:
                raise TimeoutError
            if number not in self._overflow and not (yield from self._read_page(number, TABLE_LEAF)):
                yield from self._read_page(number, INDEX_LEAF)

    def _read_page(self, number: int, kind: int | None) -> Generator[Row, None, bool]:
        """Yield the rows of a page, and return whether there are any. `kind` replaces the type in the page."""
        page, head, found = self.page(number), 100 if number == 1 else 0, False
        if len(page) < self._size or (kind is None and page[head] not in (TABLE_LEAF, INDEX_LEAF, INDEX_INTERIOR)):
            return False
        cells = [Cell.read(page, kind or page[head], place, self._usable) for place in self._list_places(page, head, kind)]
        for cell in cells:
            with suppress(IndexError, ValueError, OverflowError):
                row = None if cell is None else self._read_row(page, cell)
                if row is not None and (kind is None or row.table in ("record", "detail", "place", "run")):
                    found = True
                    yield row
        return found

    def _list_places(self, page: bytes, head: int, kind: int | None) -> list[int]:
        """Return the places of the cells of a page.

        If its cells and its free blocks do not fill the page, its number of cells may be wrong. Then the places behind them count
        up to the first that cannot be one.
        """
        doubtful, kind = kind is not None, kind or page[head]
        array, content = head + (12 if kind == INDEX_INTERIOR else 8), int.from_bytes(page[head + 5 : head + 7])
        array_end = min(array + 2 * int.from_bytes(page[head + 3 : head + 5]), self._usable - 1)
        array_end -= (array_end - array) % 2
        if doubtful and int.from_bytes(page[array : array + 2]) < array_end:
            return []
        places = list(struct.unpack(f">{(array_end - array) // 2}H", page[array:array_end]))
        if doubtful and not (min(places, default=0) >= array_end and len(set(places)) == len(places)):
            return []
        cells = [Cell.read(page, kind, place, self._usable) for place in places]
        used = page[head + 7] + sum([max(4, cell.end - cell.place) for cell in cells if cell is not None])
        block, blocks = int.from_bytes(page[head + 1 : head + 3]), 0
        while block and blocks < self._usable // 4:
            used, blocks = used + int.from_bytes(page[block + 2 : block + 4]), blocks + 1
            block = int.from_bytes(page[block : block + 2])
        if None in cells or used != self._usable - content:
            more = (int.from_bytes(page[at : at + 2]) for at in range(array_end, self._usable - 1, 2))
            places += takewhile(lambda place: array < place < self._usable, more)
        return places

    def _read_row(self, page: bytes, cell: "Cell") -> Row | None:
        """Return the row of a cell; None if no table of a store has such rows. Raises an error if it cannot be read."""
        data = page[cell.start : cell.start + cell.local]
        length, at = parse_varint(data, 0)
        types = []
        while at < length:
            kind, at = parse_varint(data, at)
            types.append(kind)
        table = (TABLES if cell.in_table else INDICES).get(len(types))
        sizes = [(kind - 12) // 2 if kind > 11 else 8 if kind == 7 else 0 if kind > 7 else INTEGER_BYTES[kind] for kind in types]
        if table is None or at != length or length + sum(sizes) != cell.payload or cell.payload > MAX_CELL_BYTES:
            return None
        following = int.from_bytes(page[cell.start + cell.local : cell.end]) if cell.payload > cell.local else 0
        parts, missing = [data], cell.payload - len(data)
        while missing > 0:
            more = self.page(following) if following else b""
            self._left -= len(more)
            if len(more) < self._size or self._left < 0:
                raise ValueError("the rest of the row is missing")
            self._overflow.add(following)
            parts.append(more[4 : 4 + min(missing, self._usable - 4)])
            following, missing = int.from_bytes(more[:4]), missing - (self._usable - 4)
        data, values = b"".join(parts), []
        for kind, size in zip(types, sizes, strict=True):
            values.append(parse_value(kind, data[length : length + size]))
            length += size
        return Row(table, cell.rowid, values)


def parse_value(kind: int, data: bytes) -> Any:
    """Return the value with a serial type. Bytes of a text that are not UTF-8 become surrogates."""
    if kind > 11:
        return data.decode("utf-8", "surrogateescape") if kind % 2 else data
    if kind in (0, 10, 11):
        return None
    return struct.unpack(">d", data)[0] if kind == 7 else int.from_bytes(data, signed=True) if data else kind - 8


class Cell(NamedTuple):
    """The place of a row in a page, and the part of it that is in this page."""

    place: int
    rowid: int
    in_table: bool
    payload: int
    """Bytes of the row, including bytes in other pages."""
    start: int
    local: int
    """Bytes of the row in this page, from `start`."""
    end: int

    @classmethod
    def read(cls, page: bytes, kind: int, place: int, usable: int) -> "Cell | None":
        """Read the cell at a place; None if there can be none."""
        in_table = kind == TABLE_LEAF
        try:
            payload, at = parse_varint(page, place + 4 * (kind == INDEX_INTERIOR))
            rowid, at = parse_varint(page, at) if in_table else (0, at)
        except IndexError:
            return None
        most = usable - 35 if in_table else (usable - 12) * 64 // 255 - 23
        least = (usable - 12) * 32 // 255 - 23
        fitting = least + (payload - least) % (usable - 4)
        local = payload if payload <= most else fitting if fitting <= most else least
        end = at + local + 4 * (payload > local)
        return cls(place, rowid, in_table, payload, at, local, end) if end <= usable else None


@dataclass
class Recovery:
    """The matches of a damaged store."""

    connection: Connection
    """A temporary store with everything that is as it was written."""
    matches: list[str] = field(default_factory=list)
    """The names of the matches that are lost, such as `match 0123...`; empty if the recovery is not `complete`."""
    parts: list[str] = field(default_factory=list)
    """The names of other parts that are lost, such as `place 3 of match 0123...`; empty if the recovery is not `complete`."""
    header: list[str] = field(default_factory=list)
    """What is wrong with the header of the file, from which its matches can be recovered."""
    complete: bool = True
    """Whether the time sufficed for all pages."""

    @property
    def count(self) -> int:
        """The number of recovered matches."""
        return int(self.connection.execute("SELECT count(*) FROM record").fetchone()[0])

    @property
    def damage(self) -> list[str]:
        """The names of all that is lost."""
        return [*self.matches, *self.parts]


def recover(path: Path, seconds: float = inf) -> Recovery:
    """Recover the matches of a store, as far as they can be found within some seconds.

    Raises StoreError if the file cannot be read, or the temporary store cannot be written.
    """
    until = monotonic() + seconds
    log_path = path_beside(path, "-wal")
    try:
        log = b"" if check_side_file(log_path) is None else _map(open_side_file(log_path, os.O_RDONLY))
        data = _map(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}") from error
    size, reserved = (65536 if data[16:18] == b"\0\1" else int.from_bytes(data[16:18])), int.from_bytes(data[20:21])
    layouts = [(PAGE_BYTES, 0)] if size.bit_count() != 1 or size < MIN_PAGE_BYTES else [(size, reserved), (PAGE_BYTES, 0)]
    try:
        found = [_Salvage(Pages(data, log, *layout, until), until) for layout in dict.fromkeys(layouts)]
    except sqlite3.Error as error:
        raise explain_error(path, error) from error
    best = max(found, key=lambda one: len(one.sound))  # the header of the file may be damaged, too
    recovery = best.recovery()
    recovery.header = describe_header(best.pages.page(1)[:HEADER_BYTES], None if log else len(data))
    if best.incomplete and recovery.header and recovery.header[-1].startswith(SIZE):
        words = "1 match has lost its moves" if best.incomplete == 1 else f"{best.incomplete:,} matches have lost their moves"
        recovery.header[-1] += f", so {words}"
    return recovery


def _map(number: int) -> bytes | mmap:
    """Return the bytes of an open file without reading them into memory, and close it."""
    with open(number, "rb") as file:
        return mmap(number, 0, access=ACCESS_READ) if os.fstat(file.fileno()).st_size else b""


def describe_header(header: bytes, size: int | None) -> list[str]:
    """Return what is wrong with the header of a file, as names of damaged parts. `size` is that of the file, None with a log."""
    if len(header) < HEADER_BYTES:
        return [f"the file, which has only {len(header)} bytes left"]
    page_bytes, pages = int.from_bytes(header[16:18]), int.from_bytes(header[28:32])
    page_bytes = 65536 if page_bytes == 1 else page_bytes
    version, application = int.from_bytes(header[60:64], signed=True), int.from_bytes(header[68:72])
    if not header.startswith(b"SQLite format 3\0") or application != schema.APPLICATION or page_bytes.bit_count() != 1:
        return ["the header of the file"]
    found = []
    if version != schema.VERSION:
        found.append(f"the version in its header ({version}; this arena writes {schema.VERSION}), unless another arena wrote it")
    if size is not None and size != page_bytes * pages:
        found.append(f"{SIZE} ({size:,} bytes; its header says {page_bytes * pages:,})")
    return found


class _Salvage:
    """Collects the rows of some pages, and copies the unchanged rows to a temporary store."""

    def __init__(self, pages: Pages, until: float) -> None:
        self.connection = sqlite3.connect("", isolation_level=None, check_same_thread=False, factory=Connection)
        self.connection.executescript(_STAGE)
        self.sound: dict[int, str] = {}
        """The ids of the recovered matches, by number."""
        self.pages = pages
        self.incomplete = 0
        """The number of records of which only the row with the result is left, and not the row with the moves."""
        self._complete = True
        self._names: dict[int, str] = {}
        """Names of records that may be damaged, by number."""
        self._ids: dict[int, bytes] = {}
        """Ids in the index of ids."""
        self._parts: list[str] = []
        self._places: dict[int, Any] = {}
        """The number of the record of each place, whether its row is damaged or not."""
        self._sound_places: set[int] = set()
        self._effort: dict[int, list[tuple[int, ...]]] = defaultdict(list)
        self._runs: dict[int, tuple[Any, ...]] = {}
        try:
            for row in pages.rows(until):
                self._take(row)
        except TimeoutError:
            self._complete = False
        self._keep_records()

    def _take(self, row: Row) -> None:
        """Keep a row, or note that it is damaged."""
        values, number = row.values, row.number
        if row.table in ("record", "detail"):
            key = values[1]
            if row.table == "record" and isinstance(key, bytes) and len(key) == ID_BYTES:
                self._names[number] = f"match {key.hex()}"
            self._names.setdefault(number, f"{row.table} {number}")
            with suppress(UnicodeEncodeError):  # a text with bytes that are not UTF-8
                marks = placeholders(len(values))
                self.connection.execute(f"INSERT INTO found_{row.table} VALUES ({marks})", (number, *values[1:]))
        elif row.table == "place":
            if checksum(number, *values[1:5]) == values[5]:
                self.connection.execute("INSERT OR REPLACE INTO place VALUES (?, ?, ?, ?, ?, ?)", (number, *values[1:]))
                self._sound_places.add(number)
                self._names.setdefault(values[1], f"record {values[1]}")
            self._places.setdefault(number, values[1])
        elif row.table == "effort":
            self._effort[values[0]].append(tuple(values[1:]))
        elif row.table == "run":
            self._runs.setdefault(number, (number, *values[1:]))
        elif isinstance(values[0], bytes) and len(values[0]) == ID_BYTES:
            self._ids[values[1]] = values[0]
        elif isinstance(values[0], int):
            self._places.setdefault(values[1], values[0])

    def _keep_records(self) -> None:
        """Move each record whose hash is right, with its other rows, to the tables of the store."""
        question = f"SELECT r.*, {RECORD} FROM found_record r JOIN found_detail d ON d.record = r.number ORDER BY r.number"
        for row in self.connection.execute(question):
            number, found, cells = row[0], row[:19], list(row[19:])
            for key in dict.fromkeys([cells[0], self._ids.get(number)]):
                cells[0] = key
                if number not in self.sound and isinstance(key, bytes):
                    with suppress(*UNREADABLE):
                        counts, cells[COUNTS] = cells[COUNTS], [0] * 7
                        rows = rows_of(record_of(cells), cells[4])  # with the counts that its decisions give
                        cells[COUNTS] = counts
                        if found[17] in (rows.digest, digest(cells_to_digest(cells))):
                            self._keep(number, found, rows)
        self._join_apart()
        for number, record in self._places.items():
            if number not in self._sound_places:
                self._parts.append(f"place {number} of {self._name(record)}")
        self.connection.execute("DELETE FROM place WHERE record NOT IN (SELECT number FROM record)")
        alone = "SELECT number FROM found_record WHERE number NOT IN (SELECT record FROM found_detail)"
        self.incomplete = len({number for (number,) in self.connection.execute(alone)} - {*self.sound})
        runs, damaged = list[Run](), list[str]()
        for _, row in sorted(self._runs.items()):
            try:
                runs.append(_read_run(row))
            except ValueError as error:
                damaged.append(str(error))
        if not damaged:  # the last run explains the boards, and all runs the secret seeds
            self.connection.executemany(f"INSERT INTO run VALUES ({placeholders(14)})", self._runs.values())
        self._parts += damaged
        if self.sound and not self._runs:
            self._parts.append("the run")
        self._drop_places(runs[-1].boards if runs and not damaged else None)
        self.connection.executescript("DROP TABLE found_record; DROP TABLE found_detail")

    def _drop_places(self, boards: Sequence[BoardInfo] | None) -> None:
        """Delete the places that no match on these boards can have, although their checksums are right."""
        places = self.connection.execute(f"SELECT p.number, p.record, {PLACE} FROM place p JOIN record r ON r.number = p.record")
        sizes = dict(self.connection.execute(_USUAL_SIZES))
        for number, record, *cells in places.fetchall():
            with suppress(*UNREADABLE):
                check_place(boards, number, *cells, sizes=sizes)
                continue
            self.connection.execute("DELETE FROM place WHERE number = ?", (number,))
            self._parts.append(f"place {number} of {self._name(record)}")

    def _join_apart(self) -> None:
        """Recover matches whose two rows have different numbers because one number is damaged. The hash covers both rows."""
        question = (
            f"SELECT r.number, d.record, r.digest, {RECORD} FROM found_record r JOIN found_detail d "
            "WHERE r.number NOT IN (SELECT record FROM found_detail) AND d.record NOT IN (SELECT number FROM found_record) "
            f"LIMIT {MAX_JOINED_PAIRS}"
        )
        placed = set(self._places.values())
        for one, other, kept, *cells in self.connection.execute(question):
            number = other if other in placed else one
            if kept == digest(cells_to_digest(cells)) and not {one, other} & {*self.sound}:
                with suppress(*UNREADABLE):
                    self._keep(number, (), rows_of(record_of(cells), cells[4]))
                    for wrong in {one, other} - {number}:
                        self._names.pop(wrong, None)
                        if self._ids.get(wrong) == cells[0]:
                            del self._ids[wrong]

    def _keep(self, number: int, found: Sequence[Any], rows: Rows) -> None:
        key, row = rows.record[0].hex(), record_row(number, rows)
        name = f"match {key}"
        if row != tuple(found):
            self._parts.append(f"the row of {name}")
        self.connection.execute(schema.ADD_RECORD, row)
        self.connection.execute(schema.ADD_DETAIL, (number, *rows.detail))
        self.connection.executemany(schema.ADD_EFFORT, [(number, *one) for one in rows.effort])
        if sorted(self._effort[number]) != [*map(tuple, rows.effort)]:
            self._parts.append(f"the counts of {name}")
        self.sound[number] = key

    def _name(self, number: Any) -> str:
        """Return the name of a record, with its id if that is known."""
        if number in self.sound:
            return f"match {self.sound[number]}"
        if (key := self._ids.get(number)) is not None:
            return f"match {key.hex()}"
        return self._names.get(number, f"record {number}")

    def recovery(self) -> Recovery:
        """Return the temporary store, and what is lost. If the time was up, nothing is named: pages not yet read are not lost."""
        if not self._complete:
            return Recovery(self.connection, complete=False)
        known = set(self.sound.values())
        lost = {number: self._name(number) for number in {*self._names, *self._ids} - {*self.sound}}
        matches = [name for _, name in sorted(lost.items()) if name.removeprefix("match ") not in known]
        return Recovery(self.connection, matches, self._parts, complete=self._complete)


def _read_run(cells: Sequence[Any]) -> Run:
    """Return a run from its row. Raises ValueError with its name if it is not as it was written."""
    _, started, ended, *covered, revealed, kept = cells
    if kept != digest(covered):
        raise ValueError(name_run(started))
    try:
        "".join(text for text in (started, ended, revealed) if isinstance(text, str)).encode()  # the hash does not cover these
        return run_of_row((started, ended, revealed, *covered))
    except UNREADABLE as error:
        raise ValueError(name_run(started, error)) from error


_USUAL_SIZES = """
SELECT p.board, length(p.seats) - length(replace(p.seats, ',', '')) + 1 FROM place p JOIN record r ON r.number = p.record
WHERE r.termination <> 'void' GROUP BY 1, 2 ORDER BY count(*), 2 DESC
"""
"""The numbers of seats of the matches of each board, the most frequent one last."""
_STAGE = f"""
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN; {schema.TABLES}
CREATE TABLE found_record AS SELECT * FROM record; CREATE TABLE found_detail AS SELECT * FROM detail;
CREATE INDEX found_detail_of ON found_detail (record);
"""
