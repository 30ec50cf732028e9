"""The results of a tournament: its spec and its matches."""

import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from arena.errors import ArenaError, expect, expect_count
from arena.format import Pairing
from arena.match.record import Record
from arena.results import figures
from arena.secret import Seed
from arena.spec import Spec
from arena.store import Store, TemporaryStore


class PlayedMatch(NamedTuple):
    """A match of a tournament that has been played."""

    number: int
    """Its place in the schedule."""
    board: int
    """The index of its board in the spec."""
    pairing: Pairing
    record: Record


class Results:
    """A tournament that has been played: its spec and its store. A temporary store lasts as long as this object.

    >>> results = arena.run({"game": "tic-tac-toe", "agents": ["minimax", "alpha-beta"], "rounds": 1})
    >>> results.records[0].returns
    (0.0, 0.0)
    """

    _temporary: TemporaryStore | None = None
    _played: tuple[PlayedMatch, ...] | None = None

    def __init__(self, spec: Spec, store: Path | TemporaryStore) -> None:
        self.spec = spec
        self.store = store if isinstance(store, Path) else None
        """The file that holds the matches; None if the store is temporary."""
        if isinstance(store, TemporaryStore):
            self._temporary = store
            weakref.finalize(self, store.close)

    @contextmanager
    def open_store(self) -> Iterator[Store]:
        """Open the store for reading, in a context manager."""
        if self._temporary is None:
            assert self.store is not None
            with Store.open(self.store) as store:
                yield store
        else:
            try:
                yield self._temporary
            finally:
                self._temporary.leave_view()

    @property
    def name(self) -> str:
        """The name of the tournament."""
        return self.spec.name

    @property
    def seed(self) -> Seed | None:
        """The seed of all its random numbers; None while it is secret."""
        if self.spec.record_seed is not None:
            return self.spec.record_seed
        with self.open_store() as store:
            return store.last().seed

    @property
    def commitment(self) -> str | None:
        """The hash of a seed that is or was secret; None for other seeds."""
        return self.spec.commitment

    @property
    def played(self) -> tuple[PlayedMatch, ...]:
        """Return every match, in the order of the schedule. Each call reads a file again, but a temporary store only once."""
        if self._played is not None:
            return self._played
        with self.open_store() as store:
            played = tuple(read_played(store))
        if self._temporary is not None:
            self._played = played
        return played

    @property
    def records(self) -> tuple[Record, ...]:
        """Return the records without their places."""
        return tuple(played.record for played in self.played)

    def of(self, board: int) -> list[PlayedMatch]:
        """Return the matches of one `board`, given by its index in the spec."""
        number = expect_count("board", board)
        return [played for played in self.played if played.board == number]

    def to_dataframe(self) -> Any:
        """Return the matches as a `pandas.DataFrame` with one row per match, in the order of the schedule; rounds count from 0.

        For a game, a row has the labels of the seats (`first`, `second`), the `winner`, which is empty for a draw, and the
        returns, nodes and seconds of each seat. For a puzzle, it has `agent`, `solved`, `path_cost` and `optimal`. The columns
        of the key `report` of the spec follow. Raises ArenaError if pandas is missing.
        """
        return import_module("arena_records.analysis").make_match_frame(self)

    def leaderboard(self, board: int | str | None = None) -> Any:
        """Return the rows of a `board`, given by its index or title, or of all boards, as a `pandas.DataFrame`.

        `rating_shown` is False for ratings that a table hides as `?`. Raises ArenaError if pandas is missing.
        """
        return import_module("arena_records.analysis").make_frame(self, board)

    def ratings(self, board: int | str | None = None) -> Any:
        """Return the ratings of a `board` with their 95 % intervals as a `pandas.DataFrame`; see `leaderboard`."""
        analysis = import_module("arena_records.analysis")
        return analysis.make_frame(self, board, analysis.RATING_COLUMNS)

    def compare(self, one: str, other: str, board: int | str | None = None) -> Any:
        """Compare the entries `one` and `other` on a `board`, as `arena compare` does. Fields are named as in its JSON."""
        return import_module("arena_records.analysis").compare(self, one, other, board)

    def plot(self, board: int | str | None = None, *, agents: Sequence[str] | None = None, ax: Any = None) -> Any:
        """Draw ratings, solved shares or mean returns of a `board` with intervals. Return the matplotlib axes (`ax`, if given).

        `agents` are the labels to draw; the default is all.
        """
        return import_module("arena_records.analysis").plot(self, board, agents, ax)

    def __repr__(self) -> str:
        with self.open_store() as store:
            number, boards = next(store.query("SELECT count(*) FROM place"))[0], [one.title for one in store.last().boards]
        where = "" if self.store is None else f", in {self.store}"
        return f"<Results of {self.name!r}: {figures.amount(number, 'match')} at {', '.join(boards)}{where}>"

    def _repr_html_(self) -> str:
        return str(import_module("arena_records.analysis").notebook_html(self))

    @property
    def void(self) -> list[Record]:
        """Return the void matches, which are not scored because the game or arena itself failed."""
        return [record for record in self.records if record.termination == "void"]


class StoredResults(Results):
    """The results in a store that was opened by its path, without the spec and the code that produced them."""

    def __init__(self, path: Path) -> None:
        with Store.open(path) as store:
            run = store.last()
        self._name, self._seed, self._commitment = run.name, run.seed, run.commitment
        self.store = path

    @property
    def name(self) -> str:
        """The name of the tournament."""
        return self._name

    @property
    def seed(self) -> int | str | None:
        """The seed of all random numbers; None while the seed is secret."""
        return self._seed

    @property
    def commitment(self) -> str | None:
        """The hash of the seed if it is or was secret; otherwise None."""
        return self._commitment

    @property
    def spec(self) -> Spec:  # type: ignore[override]
        """Raise ArenaError, because a store that is opened by its path loads no code."""
        raise ArenaError(f"{self.store}: the results of open_store have no spec; call arena.run(spec, store=...) to get one")


def open_store(path: str | PathLike[str]) -> StoredResults:
    """Open the store of a tournament at `path`, to read its records and to make data frames, comparisons and plots.

    No plugin is loaded.

    Raises StoreError if the file is not a store, or has no run, and TypeError if `path` is not a path.

    >>> import tempfile
    >>> import arena
    >>> cup = {"game": "pig", "agents": ["random", "hold-at"], "rounds": 2}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = arena.run(cup, store=f"{folder}/cup.db")
    ...     len(open_store(f"{folder}/cup.db").records)
    4
    """
    expect("path", path, (str, PathLike), "the path of a store")
    return StoredResults(Path(path))


def read_played(store: Store) -> Iterator[PlayedMatch]:
    """Yield the matches of a store that are on the boards of its last run, in the order of the schedule."""
    boards = store.last().boards
    for record, place in store.records(boards=True):
        if place is not None:
            yield PlayedMatch(*place, record._replace(parameters=boards[place.board].parameters))
