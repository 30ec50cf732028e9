"""The results of a tournament: its spec and its matches."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from arena.errors import ArenaError
from arena.format import Pairing
from arena.match.record import Record
from arena.secret import Seed, newest_digits
from arena.spec import Spec
from arena.store import Store


class PlayedMatch(NamedTuple):
    """A match of a tournament that has been played."""

    number: int
    """Its place in the schedule."""
    board: int
    """The number of its board in the spec."""
    pairing: Pairing
    record: Record


class Results:
    """A tournament that has been played: its spec and its matches, in memory or in a store."""

    def __init__(self, spec: Spec, played: Sequence[PlayedMatch] = (), store: Path | None = None) -> None:
        self.spec = spec
        self._played = tuple(played)
        self.store = store
        """The file that holds the matches; None if they are in memory."""

    @property
    def name(self) -> str:
        """What the tournament is called."""
        return self.spec.name

    @property
    def seed(self) -> Seed | None:
        """What everything random in it followed from; None while that is a secret."""
        if self.spec.record_seed is not None:
            return self.spec.record_seed
        if self.store is None:
            return newest_digits(self.spec.seed)
        with Store.open(self.store) as store:
            return store.last().seed

    @property
    def commitment(self) -> str | None:
        """The hash of a seed that is or was secret; None of another one."""
        return self.spec.commitment

    @property
    def played(self) -> tuple[PlayedMatch, ...]:
        """Every match, in the order of the schedule. From a store they are read anew at every call."""
        return self._played if self.store is None else tuple(read_played(self.store))

    @property
    def records(self) -> tuple[Record, ...]:
        """The records alone."""
        return tuple(played.record for played in self.played)

    def of(self, board: int) -> list[PlayedMatch]:
        """The matches of one `board`, by its number in the spec."""
        return [played for played in self.played if played.board == board]

    def to_dataframe(self) -> Any:
        """The matches as a `pandas.DataFrame`, one a row: a column a value, in the order of the schedule, rounds from 0.

        A game has the labels of its seats (`first`, `second`), the `winner`, which a draw has none of, and the returns, nodes and
        seconds of each seat; a puzzle its `agent`, `solved` and `cost`. ArenaError if pandas is missing.
        """
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise ArenaError(f"a data frame needs pandas ({error}); try: pip install pandas") from error
        from arena.results.export import tidy_columns, tidy_row  # needs tabulate

        boards = self.spec.boards
        rows = [
            tidy_row(boards[played.board].title, boards[played.board].kind, played.pairing.round, played.record)
            for played in self.played
        ]
        columns = tidy_columns({board.kind for board in boards}, max([board.game.players for board in boards]))
        return DataFrame(rows, columns=columns)

    def __repr__(self) -> str:
        boards = ", ".join([board.title for board in self.spec.boards])
        number = len(self._played)
        if self.store is not None:
            with Store.open(self.store) as store:
                number = next(store.query("SELECT count(*) FROM place"))[0]
        where = "" if self.store is None else f", in {self.store}"
        return f"<Results of {self.name!r}: {number:,} matches at {boards}{where}>"

    def _repr_html_(self) -> str:
        """The boards as tables, which notebooks show."""
        from arena.results.leaderboard import leaderboards  # a run that shows no table needs none of it
        from arena.results.tables import notebook_html

        return notebook_html(self.name, leaderboards(self))

    @property
    def void(self) -> list[Record]:
        """Matches that the framework or a game spoiled; they are not scored."""
        return [record for record in self.records if record.termination == "void"]


def read_played(store: Path) -> Iterator[PlayedMatch]:
    """Yield the matches of a store that are on the boards of its last run, in the order of the schedule."""
    with Store.open(store) as opened:
        for record, place in opened.records(boards=True):
            if place is not None:
                yield PlayedMatch(*place, record)
