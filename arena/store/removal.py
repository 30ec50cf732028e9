"""Deletes matches from a store, and what its runs say of the code that played them."""

import json
import sqlite3
from collections.abc import Collection

from arena.schedule.fingerprint import Fingerprint
from arena.store.digest import digest
from arena.store.run import RUN, CodeKey, code_key


def matches_of(connection: sqlite3.Connection, labels: Collection[str]) -> list[str]:
    """The texts of the column `labels` in which one of some labels stands."""
    texts = [text for (text,) in connection.execute("SELECT DISTINCT labels FROM detail")]
    return [text for text in texts if not set(labels).isdisjoint(json.loads(text))]


def remove_matches(connection: sqlite3.Connection, labels: Collection[str]) -> int:
    """Delete the matches in which one of some labels sits, with all that belongs to them; return how many they were."""
    gone = 0
    for text in matches_of(connection, labels):
        gone += connection.execute(
            "DELETE FROM record WHERE number IN (SELECT record FROM detail WHERE labels = ?)", (text,)
        ).rowcount
        connection.execute("DELETE FROM detail WHERE labels = ?", (text,))
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table in there & {"effort", "place", "unmetered"}:
        connection.execute(f"DELETE FROM {table} WHERE record NOT IN (SELECT number FROM record)")  # noqa: S608 - our own names
    return gone


def remove_records(connection: sqlite3.Connection, numbers: Collection[int]) -> None:
    """Delete records by their numbers, with all that belongs to them."""
    for table, column in (("record", "number"), ("detail", "record"), ("effort", "record"), ("place", "record")):
        connection.executemany(f"DELETE FROM {table} WHERE {column} = ?", [(number,) for number in numbers])  # noqa: S608 - our own names


def remove_code(connection: sqlite3.Connection, code: Collection[CodeKey]) -> None:
    """Delete the hashes of some parts of plugins from all runs: nothing is left that was played with them."""
    for number, *cells in connection.execute(f"SELECT number, {RUN} FROM run").fetchall():  # noqa: S608 - our own names
        plugins = {}
        for source, (version, hashes) in json.loads(cells[_PLUGINS]).items():
            found = Fingerprint.of(version, hashes)
            left = {part: one for part, one in found.hashes.items() if code_key(source, part) not in code}
            if left:
                plugins[source] = [version, Fingerprint(version, left).text]
        cells[_PLUGINS] = json.dumps(plugins)
        connection.execute("UPDATE run SET plugins = ?, digest = ? WHERE number = ?", (cells[_PLUGINS], digest(cells), number))


_PLUGINS = RUN.split(", ").index("plugins")
