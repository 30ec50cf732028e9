"""What is asked of the tables of a store and written into them, in SQL, and the cells of rows that need a checksum."""

from typing import Any

from arena.schedule.schedule import Scheduled
from arena.store.digest import checksum
from arena.store.rows import Rows
from arena.store.schema import CHECKED


def marks(count: int) -> str:
    """Return so many question marks."""
    return ", ".join("?" * count)


DATED_AS_BEFORE = """
UPDATE run SET (started, ended) = (SELECT b.started, coalesce(b.ended, run.ended) FROM run b
    WHERE b.number < run.number ORDER BY b.number DESC LIMIT 1)
WHERE number = (SELECT max(number) FROM run) AND number > (SELECT min(number) FROM run)
"""

ADD_RECORD = f"INSERT INTO record ({CHECKED['record']}, checksum, digest, adjusted) VALUES ({marks(20)})"
ADD_DETAIL = (
    "INSERT INTO detail (record, game, position, labels, seed, actions, answer, message, traceback, decisions, timing, spent) "
    f"VALUES ({marks(12)})"
)
ADD_EFFORT = f"INSERT INTO effort ({CHECKED['effort']}, checksum) VALUES ({marks(6)})"
ADD_PLACE = f"INSERT OR REPLACE INTO place ({CHECKED['place']}, checksum) VALUES ({marks(6)})"
ADD_UNMETERED = "INSERT INTO unmetered (record, seat, states) VALUES (?, ?, ?)"
NAMED = {"record": "'match ' || lower(hex(id))", "effort": "'effort in record ' || record", "place": "'place ' || number"}
"""What to call a row of a table that has a checksum, as expressions of SQL."""
PAST_VIEWS = """
SELECT p.board, p.seats, u.seat, total(u.states) FROM unmetered u JOIN place p ON p.record = u.record
JOIN record r ON r.number = u.record WHERE r.termination <> 'void' GROUP BY 1, 2, 3
"""
ON_BOARDS = "FROM place p JOIN record r ON r.number = p.record JOIN detail d ON d.record = p.record"
ANYWHERE = (
    "FROM record r JOIN detail d ON d.record = r.number "
    "LEFT JOIN place p ON p.number = (SELECT min(number) FROM place WHERE record = r.number)"
)
HALVES = (
    "SELECT 'match ' || lower(hex(id)) FROM record WHERE number NOT IN (SELECT record FROM detail)",
    "SELECT 'detail ' || record FROM detail WHERE record NOT IN (SELECT number FROM record)",
    "SELECT 'place ' || number FROM place WHERE record NOT IN (SELECT number FROM record)",
)
"""Rows that another one belongs to which is not there."""


def place_row(number: int, scheduled: Scheduled) -> tuple[Any, ...]:
    """Return the row of `place` for the record of a number."""
    seats = ",".join(map(str, scheduled.pairing.seats))
    return summed(scheduled.number, number, scheduled.board, scheduled.pairing.round, seats)


def record_row(number: int, rows: Rows) -> tuple[Any, ...]:
    """Return the row of `record`; the checksum is of `adjusted`, too, where that is known."""
    cells = (number, *rows.record)
    sum_ = checksum(*cells) if rows.adjusted is None else checksum(*cells, rows.adjusted)
    return (*cells, sum_, rows.digest, rows.adjusted)


def summed(*cells: Any) -> tuple[Any, ...]:
    """Return some cells, and their checksum behind them."""
    return (*cells, checksum(*cells))
