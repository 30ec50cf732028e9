"""The tables of a store.

`record` holds what tables are made of and is read whole; `detail` the rest, read match by match. `place` says what is on the
boards of the last run, in the order of its schedule: it is made anew for another schedule, the records stay. Keys of records
are in a unique index of an ordinary table, since a table that is clustered by a random key takes three times as long to fill.
What the first two seats have used is in `record` itself, of further seats in `effort`.
"""

APPLICATION = 0x41524E41
"""The application id in the header of the file: ARNA."""
VERSION = 1
"""The version of these tables, in the header too."""

TABLES = """
CREATE TABLE run (
    number INTEGER PRIMARY KEY, started TEXT NOT NULL, ended TEXT, name TEXT NOT NULL, hash TEXT NOT NULL, seed INTEGER NOT NULL,
    spec TEXT NOT NULL, boards TEXT NOT NULL, plugins TEXT NOT NULL, versions TEXT NOT NULL
);
CREATE TABLE record (
    number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, returns TEXT NOT NULL, solved INTEGER, termination TEXT NOT NULL,
    seat INTEGER, moves INTEGER, cost REAL, fallbacks INTEGER NOT NULL, drew TEXT NOT NULL, play INTEGER NOT NULL,
    decisions_0 INTEGER NOT NULL, nodes_0 INTEGER NOT NULL, nanoseconds_0 INTEGER NOT NULL,
    decisions_1 INTEGER NOT NULL, nodes_1 INTEGER NOT NULL, nanoseconds_1 INTEGER NOT NULL
);
CREATE TABLE detail (
    record INTEGER PRIMARY KEY, game TEXT NOT NULL, position TEXT NOT NULL, labels TEXT NOT NULL, seed INTEGER NOT NULL,
    actions TEXT NOT NULL, answer TEXT, message TEXT, traceback TEXT, decisions TEXT NOT NULL, timing TEXT
);
CREATE TABLE effort (
    record INTEGER NOT NULL, seat INTEGER NOT NULL, decisions INTEGER NOT NULL, nodes INTEGER NOT NULL,
    nanoseconds INTEGER NOT NULL, PRIMARY KEY (record, seat)
) WITHOUT ROWID;
CREATE TABLE place (
    number INTEGER PRIMARY KEY, record INTEGER NOT NULL, board INTEGER NOT NULL, round INTEGER NOT NULL, seats TEXT NOT NULL
);
CREATE INDEX place_of_record ON place (record);
"""
