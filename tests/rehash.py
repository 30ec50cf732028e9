"""Computes the hashes of a store again after a test has changed it."""

import sqlite3
from contextlib import closing
from pathlib import Path

from arena.store.rows import RECORD, cells_to_digest
from arena.store.run import RUN
from arena.store.schema import COLUMNS, checksum, digest


def rehash(store: Path) -> None:
    """Compute every checksum and digest of a store again, as an attacker could."""
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.create_function("checksum", -1, checksum, deterministic=True)
        connection.execute(f"UPDATE place SET checksum = checksum({COLUMNS['place']})")
        for number, *cells in connection.execute(f"SELECT number, {RUN} FROM run").fetchall():
            connection.execute("UPDATE run SET digest = ? WHERE number = ?", (digest(cells), number))
        rows = connection.execute(f"SELECT r.number, {RECORD} FROM record r JOIN detail d ON d.record = r.number").fetchall()
        for number, *cells in rows:
            connection.execute("UPDATE record SET digest = ? WHERE number = ?", (digest(cells_to_digest(cells)), number))
