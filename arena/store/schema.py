"""The tables of a store.

`record` holds what tables are made of and is read whole; `detail` the rest, read match by match. `place` says what is on the
boards of the last run, in the order of its schedule: it is made anew for another schedule, the records stay. Keys of records
are in a unique index of an ordinary table, since a table that is clustered by a random key takes three times as long to fill.
What the first two seats have used is in `record` itself, of further seats in `effort`.

Nothing is believed that does not fit its hash: `digest` is of a whole record or run, and checked when that is read; `checksum`
is of a row, and checked before boards are made of many. Rows that were written by version 1 have neither.
"""

APPLICATION = 0x41524E41
"""The application id in the header of the file: ARNA."""
VERSION = 2
"""The version of these tables, in the header too."""

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
    checksum INTEGER, digest BLOB, adjusted TEXT
);
CREATE TABLE detail (
    record INTEGER PRIMARY KEY, game TEXT NOT NULL, position TEXT NOT NULL, labels TEXT NOT NULL, seed INTEGER NOT NULL,
    actions TEXT NOT NULL, answer TEXT, message TEXT, traceback TEXT, decisions TEXT NOT NULL, timing TEXT, spent TEXT
);
CREATE TABLE effort (
    record INTEGER NOT NULL, seat INTEGER NOT NULL, decisions INTEGER NOT NULL, nodes INTEGER NOT NULL,
    nanoseconds INTEGER NOT NULL, checksum INTEGER, PRIMARY KEY (record, seat)
) WITHOUT ROWID;
CREATE TABLE place (
    number INTEGER PRIMARY KEY, record INTEGER NOT NULL, board INTEGER NOT NULL, round INTEGER NOT NULL, seats TEXT NOT NULL,
    checksum INTEGER
);
CREATE INDEX place_of_record ON place (record);
"""

UPGRADE = """
ALTER TABLE run ADD COLUMN secret TEXT; ALTER TABLE run ADD COLUMN commitment TEXT; ALTER TABLE run ADD COLUMN revealed TEXT;
ALTER TABLE run ADD COLUMN digest BLOB;
ALTER TABLE record ADD COLUMN checksum INTEGER; ALTER TABLE record ADD COLUMN digest BLOB;
ALTER TABLE record ADD COLUMN adjusted TEXT;
ALTER TABLE detail ADD COLUMN spent TEXT;
ALTER TABLE effort ADD COLUMN checksum INTEGER;
ALTER TABLE place ADD COLUMN checksum INTEGER;
"""
"""What makes tables of version 1 such as these."""

UNMETERED = """
CREATE TABLE IF NOT EXISTS unmetered (
    record INTEGER NOT NULL, seat INTEGER NOT NULL, states INTEGER NOT NULL, PRIMARY KEY (record, seat)
) WITHOUT ROWID
"""
"""A table that is there once a seat has generated states past its view: their sums, which `decisions` of the detail have, too."""

CHECKED = {
    "record": "number, id, returns, solved, termination, seat, moves, cost, fallbacks, drew, play, "
    "decisions_0, nodes_0, nanoseconds_0, decisions_1, nodes_1, nanoseconds_1",
    "effort": "record, seat, decisions, nodes, nanoseconds",
    "place": "number, record, board, round, seats",
}
"""The columns of a table that a row's checksum is of, in the order in which rows are written."""
