"""The tables of a store, the SQL that reads and writes them, and the hashes of their rows.

`record` holds the data for leaderboards and is read as a whole; `detail` holds the rest, which is read match by match. `place`
lists the matches on the boards of the last run, in the order of its schedule. A new schedule replaces this list, but the records
stay. Ids of records are in a unique index on an ordinary table, because a table that is clustered by a random key takes three
times as long to fill. The amounts for the first two seats are in `record` itself, and for further seats in `effort`.

A damaged row never counts as a result. `digest` is the hash of a whole record or run, and is checked when it is read, and before
boards are computed. `checksum` covers a place. Neither protects against deliberate changes of the file, because the hash can be
changed too.
"""

import marshal
import sqlite3
from collections.abc import Iterable, Sequence, Set as AbstractSet
from contextlib import closing, suppress
from functools import cache
from hashlib import blake2b
from pkgutil import resolve_name
from typing import Any, NamedTuple
from zlib import crc32

from arena.errors import cut, escape_line
from arena.lazy import find_entry_points
from arena.version import hint_at_distribution

APPLICATION = 0x41524E41
"""The application id in the header of the file, which reads ARNA."""
VERSION = 3
"""The version of these tables, which is also in the header."""

TABLES = """
CREATE TABLE run (
    number INTEGER PRIMARY KEY, started TEXT NOT NULL, ended TEXT, name TEXT NOT NULL, hash TEXT NOT NULL, seed INTEGER NOT NULL,
    spec TEXT NOT NULL, boards TEXT NOT NULL, plugins TEXT NOT NULL, versions TEXT NOT NULL,
    secret TEXT, commitment TEXT, revealed TEXT, digest BLOB
);
CREATE TABLE record (
    number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, returns TEXT NOT NULL, solved INTEGER, termination TEXT NOT NULL,
    seat INTEGER, moves INTEGER, cost REAL, fallbacks INTEGER NOT NULL, drew TEXT NOT NULL, play INTEGER NOT NULL,
    decisions_0 INTEGER NOT NULL, nodes_0 INTEGER NOT NULL, nanoseconds_0 INTEGER NOT NULL,
    decisions_1 INTEGER NOT NULL, nodes_1 INTEGER NOT NULL, nanoseconds_1 INTEGER NOT NULL,
    digest BLOB, adjusted TEXT
);
CREATE TABLE detail (
    record INTEGER PRIMARY KEY, game TEXT NOT NULL, position TEXT NOT NULL, labels TEXT NOT NULL, seed INTEGER NOT NULL,
    actions TEXT NOT NULL, answer TEXT, message TEXT, traceback TEXT, decisions TEXT NOT NULL, timing TEXT, spent TEXT
);
CREATE TABLE effort (
    record INTEGER NOT NULL, seat INTEGER NOT NULL, decisions INTEGER NOT NULL, nodes INTEGER NOT NULL,
    nanoseconds INTEGER NOT NULL, PRIMARY KEY (record, seat)
) WITHOUT ROWID;
CREATE TABLE place (
    number INTEGER PRIMARY KEY, record INTEGER NOT NULL, board INTEGER NOT NULL, round INTEGER NOT NULL, seats TEXT NOT NULL,
    checksum INTEGER
);
CREATE INDEX place_of_record ON place (record);
"""

SPENDING = """
CREATE TABLE IF NOT EXISTS spending (
    payer BLOB PRIMARY KEY, process TEXT, requests INTEGER NOT NULL, in_progress INTEGER NOT NULL, known REAL NOT NULL,
    unknown REAL NOT NULL, reserved REAL NOT NULL
) WITHOUT ROWID
"""
"""The ledger of money, for agents with a price. Every process of a run has a row with a random key; `process` is set until the
next run. `known` is the sum of all known costs. For requests without a known cost, `unknown` contains the largest possible
cost, and `reserved` has it for requests in progress. The agents themselves create this table and write it.
"""

COLUMNS = {
    "record": "number, id, returns, solved, termination, seat, moves, cost, fallbacks, drew, play, "
    "decisions_0, nodes_0, nanoseconds_0, decisions_1, nodes_1, nanoseconds_1",
    "effort": "record, seat, decisions, nodes, nanoseconds",
    "place": "number, record, board, round, seats",
}
"""The columns of some tables, without hashes and `adjusted`, in the order in which rows are written."""
_NUMBERS = "decisions_0, nodes_0, nanoseconds_0, decisions_1, nodes_1, nanoseconds_1"
TYPES = {
    "record": {
        "id": "'blob'",
        **dict.fromkeys(["returns", "termination", "drew"], "'text'"),
        **dict.fromkeys(["fallbacks", "play", *_NUMBERS.split(", ")], "'integer'"),
        **dict.fromkeys(["solved", "seat", "moves"], "'integer', 'null'"),
        "cost": "'real', 'null'",
    },
    "effort": dict.fromkeys(COLUMNS["effort"].split(", "), "'integer'"),
    "place": {**dict.fromkeys(["record", "board", "round"], "'integer'"), "seats": "'text'"},
}
"""The types of the cells that arena writes, by table and column. SQLite stores values of any type in any column."""


def placeholders(count: int) -> str:
    """Return `count` question marks, separated by commas."""
    return ", ".join("?" * count)


DATED_AS_BEFORE = """
UPDATE run SET (started, ended) = (SELECT b.started, coalesce(b.ended, run.ended) FROM run b
    WHERE b.number < run.number ORDER BY b.number DESC LIMIT 1)
WHERE number = (SELECT max(number) FROM run) AND number > (SELECT min(number) FROM run)
"""

ADD_RECORD = f"INSERT INTO record ({COLUMNS['record']}, digest, adjusted) VALUES ({placeholders(19)})"
ADD_DETAIL = (
    "INSERT INTO detail (record, game, position, labels, seed, actions, answer, message, traceback, decisions, timing, spent) "
    f"VALUES ({placeholders(12)})"
)
ADD_EFFORT = f"INSERT INTO effort ({COLUMNS['effort']}) VALUES ({placeholders(5)})"
ADD_PLACE = f"INSERT OR REPLACE INTO place ({COLUMNS['place']}, checksum) VALUES ({placeholders(6)})"
ON_BOARDS = "FROM place p JOIN record r ON r.number = p.record JOIN detail d ON d.record = p.record"
ANYWHERE = (
    "FROM record r JOIN detail d ON d.record = r.number "
    "LEFT JOIN place p ON p.number = (SELECT min(number) FROM place WHERE record = r.number)"
)

ALIKE_MATCHES = f"""
SELECT p.board, p.seats, d.position, r.returns, r.termination, r.fallbacks > 0, count(*), min(p.round)
{ON_BOARDS} WHERE r.termination <> 'void' GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY min(p.number)
"""


def digest(cells: Sequence[Any]) -> bytes:
    """Return a hash of the cells of a record or a run: blake2b with 128 bits, of the tuple as Python writes it in ASCII."""
    return blake2b(ascii(tuple(cells)).encode(), digest_size=16).digest()


def checksum(*cells: Any) -> int:
    """Return the checksum of the cells of a place: CRC-32, of the tuple in version 2 of Python's marshal format.

    Of the formats that distinguish 1, 1.0 and "1", this is the quickest; speed matters, because boards check all places.
    """
    return crc32(marshal.dumps(cells, 2))


MATCH_HASH = "hash_match(r.play, r.returns, r.termination, r.seat, r.id)"
"""The SQL for the hash of a match, from `record r`. Every connection to a store knows the function."""

Object = tuple[Any, Any, Any, Any]
"""A row of `sqlite_master`: type, name, name of the table, and SQL. In a damaged file, each can be of any type."""
MAX_DAMAGED_CHARACTERS = 2
"""The most characters of an object in which damage, unlike a stranger, changes it."""


class Fit(NamedTuple):
    """Whether the schema of a file is that of a store."""

    words: str = ""
    """The first difference; empty if there is none."""
    is_damage: bool = False
    """True if all differences are single characters, or one missing object, so that this was a store."""


def fit_schema(objects: Iterable[Object]) -> Fit:
    """Compare the schema of a file with the tables and indices that arena and its extensions make.

    SQLite runs other SQL in a schema, such as a view, a trigger or a generated column, when a table is read.
    """
    found = {_shorten(one) for one in objects}
    core = list_objects(TABLES)
    known = {*core, *list_objects(TABLES + SPENDING)}
    if not found <= known:
        known |= list_extension_objects()
    missing, foreign = set(core) - found, found - known
    if not missing and not foreign:
        return Fit()
    is_damage = bool(foreign) and len(missing) <= len(foreign)
    texts = [repr(one) for one in known - found]
    for here in map(repr, foreign):
        alike = [sum(map(str.__ne__, here, there)) for there in texts if len(here) == len(there)]
        is_damage = is_damage and min(alike, default=len(here)) <= MAX_DAMAGED_CHARACTERS
    kind, name, *_ = min(foreign or missing, key=lambda one: (one[0] in ("table", "index"), str(one)))
    called = escape_line(cut(f"{kind} {name}"))
    if not foreign:
        return Fit(f"it has no {called}", len(missing) == 1)  # a damaged number of rows hides the last one
    changed = is_damage or (kind, name) in {one[:2] for one in known}
    if changed:
        return Fit(f"its {called} differs from the one that arena makes", is_damage)
    hint = f" ({hint_at_distribution('ladder')})" if str(name).startswith("ladder_") else ""
    return Fit(f"arena makes no {called}{hint}", is_damage)


@cache
def list_objects(script: str) -> AbstractSet[Object]:
    """Return the rows that the SQL of some tables adds to `sqlite_master`."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(script)
        return frozenset([_shorten(row) for row in connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master")])


@cache
def list_extension_objects() -> AbstractSet[Object]:
    """Return the rows of the tables that the commands of extensions add to stores."""
    found: set[Object] = set()
    for point in find_entry_points("arena.commands"):
        with suppress(Exception):  # the tables of a broken extension remain unknown
            for command in getattr(point.load(), "COMMANDS", ()):
                found |= list_objects(resolve_name(command.tables)) if command.tables else set()
    return found


def _shorten(row: Object) -> Object:
    kind, name, table, sql = [cell.decode("utf-8", "replace") if isinstance(cell, bytes) else cell for cell in row]
    return kind, name, table, sql if sql is None else " ".join(str(sql).split())
