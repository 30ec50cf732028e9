"""The money that a run may spend on models, and the ledger of the money that it has spent.

The ledger is a table in the store (`Store.SPENDING`). A run without a store has it in a temporary file. Before a request is sent,
its largest possible cost is written to the ledger, and the real cost replaces it after the answer. So the ledger also counts
requests whose answer was lost, for example because the run was interrupted.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Condition

from arena import BackendGone, Unavailable

ENVIRONMENT = "ARENA_MODEL_BUDGET"
"""The environment variable that names the file with the ledger. All processes of a run inherit it."""
POLL_SECONDS = 0.05
"""The time between two checks of a file that other processes may change."""
WAIT_SECONDS = 0.2
"""The time between two checks whether a budget has enough money. The end of a request in the same process ends this wait."""
LOCK_SECONDS = 60.0
"""The timeout for the lock of the file."""
_SPENT = "SELECT total(known), total(unknown), total(reserved) FROM spending"
_RESERVE = """
INSERT INTO spending VALUES (?, ?, 1, 1, 0, 0, ?) ON CONFLICT (payer) DO UPDATE
SET requests = requests + 1, in_progress = in_progress + 1, reserved = reserved + excluded.reserved
"""
_SETTLE = """
UPDATE spending SET known = known + ?, unknown = unknown + ?, reserved = CASE in_progress WHEN 1 THEN 0 ELSE reserved - ? END,
in_progress = in_progress - 1 WHERE payer = ?
"""


class Budget:
    """The money that a run may spend, from the point of view of one process. It is thread-safe.

    A request reserves its largest possible cost until its real cost is known. `limit` is None if a run only notes its costs.
    """

    def __init__(self, place: Path, limit: float | None = None) -> None:
        self.limit = limit
        self.reached: str | None = None
        """The reason why this process sends no more requests; None while there is money."""
        self._place = place
        self._payer = os.urandom(16)
        self._process = _name_process(os.getpid())
        self._changed = Condition()

    @property
    def spent(self) -> float:
        """The money that the ledger counts. A request in progress or without a known cost counts in full."""
        with change_file(self._place) as opened:
            return float(sum(opened.execute(_SPENT).fetchone()))

    def begin(self, recorded: float = 0.0) -> None:
        """Begin a run: no request of an earlier run is in progress any more.

        `recorded` is the money in the records of the store. If the ledger has less, for example because other machines played
        some matches, the difference is added to the ledger.
        """
        from arena.api.store import Store

        with change_file(self._place) as opened:
            opened.execute(Store.SPENDING)
            opened.execute("UPDATE spending SET process = NULL")
            missing = recorded - sum(opened.execute(_SPENT).fetchone())
            if missing > recorded * 1e-9:
                opened.execute("INSERT INTO spending VALUES (?, NULL, 0, 0, ?, 0, 0)", (os.urandom(16), missing))

    def reserve(self, most: float) -> float:
        """Reserve an amount, and return it.

        If the budget would suffice without the reservations of requests in progress, wait for their real costs. Raises
        BackendGone if the budget is too small.
        """
        while True:
            with self._changed, change_file(self._place) as opened:
                known, unknown, reserved = opened.execute(_SPENT).fetchone()
                if self.reached is None and (self.limit is None or known + unknown + reserved + most <= self.limit):
                    opened.execute(_RESERVE, (self._payer, self._process, most))
                    return most
                rows = opened.execute("SELECT process FROM spending WHERE in_progress > 0 AND process IS NOT NULL")
                if self.limit is not None and not any(process == _name_process(int(process.split()[0])) for (process,) in rows):
                    lost = unknown + reserved
                    largest = (
                        f" ({lost:.3g} of this is the largest possible cost of requests whose cost is unknown)" if lost else ""
                    )
                    self.reached = self.reached or (
                        f"max_cost: {known + lost:.6g} of {self.limit:.6g} is spent{largest}, and the next request may cost "
                        f"{most:.3g}; set a larger max_cost to play the remaining matches"
                    )
            if self.reached is not None:
                raise BackendGone(self.reached)
            with self._changed:
                self._changed.wait(WAIT_SECONDS)

    def settle(self, reservation: float, cost: float | None) -> None:
        """Replace a reservation by the real cost. If `cost` is None, keep the whole amount, because the backend may bill it."""
        known, unknown = (0.0, reservation) if cost is None else (cost, 0.0)
        with self._changed:
            with change_file(self._place) as opened:
                opened.execute(_SETTLE, (known, unknown, reservation, self._payer))
            self._changed.notify_all()


def _name_process(number: int) -> str:
    """Return the id of a process with its start, because the system uses ids again. Empty if there is no such process."""
    import psutil

    try:
        return f"{number} {psutil.Process(number).create_time()}"
    except psutil.Error:
        return ""


@contextmanager
def change_file(place: Path) -> Iterator[sqlite3.Connection]:
    """Open a file that several processes share, for one change. Raises Unavailable if it cannot be changed."""
    try:
        uri = f"{place.absolute().as_uri()}?mode=rw"  # a file that was moved away is not created again
        with closing(sqlite3.connect(uri, uri=True, timeout=LOCK_SECONDS, isolation_level=None)) as opened:
            opened.execute("PRAGMA synchronous = NORMAL")
            opened.execute("BEGIN IMMEDIATE")
            yield opened
            opened.execute("COMMIT")
    except sqlite3.Error as error:
        raise Unavailable(f"{place}, the file with the costs of requests to models, cannot be written: {error}") from error


_open: dict[int, Budget] = {}
"""The budget of the current run. The key is the id of the process."""
_folders: dict[tuple[int, str], TemporaryDirectory[str]] = {}
"""The folders of shared files. A key has the id of the process that created the folder, and the variable with the file's path."""


def share_file(variable: str, *, wanted: bool) -> Path | None:
    """Remove the shared file of the previous run. If a file is `wanted`, return the path of a new one, which all processes of the
    run find by an environment variable.
    """
    os.environ.pop(variable, None)
    if (before := _folders.pop((os.getpid(), variable), None)) is not None:
        before.cleanup()
    if not wanted:
        return None
    _folders[os.getpid(), variable] = made = TemporaryDirectory(prefix="arena-models-")
    place = Path(made.name) / "shared.db"
    place.touch()
    os.environ[variable] = str(place)
    return place


def open_budget(limit: float | None, store: Path | None, recorded: float = 0.0) -> Budget:
    """Open the budget of a run, with its ledger in the store. It replaces the budget of the previous run."""
    place = share_file(ENVIRONMENT, wanted=store is None)
    if store is not None:
        place = store.absolute()
        os.environ[ENVIRONMENT] = str(place)
    assert place is not None
    _open.clear()
    _open[os.getpid()] = budget = Budget(place, limit)
    budget.begin(recorded)
    return budget


def close_budget() -> None:
    """Forget the budget of the previous run."""
    share_file(ENVIRONMENT, wanted=False)
    _open.clear()


def find_budget(limit: float | None) -> Budget | None:
    """Return the budget of the run, or None if the run notes no costs.

    Raises BackendGone if there is a limit, but this process does not find the ledger, for example because it is on another
    machine.
    """
    budget = _open.get(os.getpid())
    if budget is None and (place := os.environ.get(ENVIRONMENT)) is not None and Path(place).is_file():
        budget = _find_shared(os.getpid(), place, limit)
    if limit is not None and (budget is None or budget.limit != limit):
        raise BackendGone("max_cost counts only requests from processes on the machine that starts the run")
    return budget


@cache
def _find_shared(_process: int, place: str, limit: float | None) -> Budget:
    return Budget(Path(place), limit)
