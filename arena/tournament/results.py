"""The results of a tournament: its spec and its matches."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from arena.format import Pairing
from arena.match.record import Record
from arena.secret import Seed, newest
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
        """The file that holds the matches; None where they are in memory."""

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
            return newest(self.spec.seed)
        with Store.open(self.store) as store:
            return store.last().seed

    @property
    def commitment(self) -> str | None:
        """The hash of a seed that is or was secret; None of another one."""
        return self.spec.commitment

    @property
    def played(self) -> tuple[PlayedMatch, ...]:
        """Every match, in the order of the schedule. From a store they are read anew at every call."""
        return self._played if self.store is None else tuple(stored(self.store))

    @property
    def records(self) -> tuple[Record, ...]:
        """The records alone."""
        return tuple(played.record for played in self.played)

    def of(self, board: int) -> list[PlayedMatch]:
        """The matches of one `board`, by its number in the spec."""
        return [played for played in self.played if played.board == board]

    @property
    def void(self) -> list[Record]:
        """Matches that the framework or a game spoiled; they are not scored."""
        return [record for record in self.records if record.termination == "void"]


def stored(store: Path) -> Iterator[PlayedMatch]:
    """Yield the matches of a store that are on the boards of its last run, in the order of the schedule."""
    with Store.open(store) as opened:
        for record, place in opened.records(boards=True):
            if place is not None:
                yield PlayedMatch(*place, record)
