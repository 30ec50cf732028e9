"""Tournament formats: the schedule of a board as a pure function of the field and the results so far, and the board's ranking."""

import random
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import getattr_static, isfunction, signature
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple, TypeVar

from arena.columns import Column
from arena.configured import Configured, name_of
from arena.identity import Stream, canonical
from arena.secret import Seed

if TYPE_CHECKING:
    from arena.results.pairs import PairedGames
    from arena.schedule.board_info import BoardInfo

Kind = Literal["versus", "puzzle", "score"]
"""The kinds of boards: agents against each other, agents against a puzzle, and agents that each collect a score alone."""
RankedBy = Literal["score", "rating", "returns"]
Competitor = TypeVar("Competitor", bound=Hashable)
DEFAULT_ROUNDS = 10
"""The rounds of a board if neither the spec nor the format gives another number."""


@dataclass(frozen=True, slots=True)
class Field:
    """The entries of one board, as a format sees them.

    >>> Field(entries=3, players=2, rounds=10, seed=1).players
    2
    """

    entries: int
    """The number of entries, which are numbered from 0 in the order of the spec."""
    players: int
    """The number of seats of the game."""
    rounds: int
    """The number of positions; in a Swiss tournament the number of rounds."""
    keys: tuple[str, ...] = ()
    """The identity of each entry, whatever its place in the spec."""
    seed: Seed = 0
    """The seed of the spec."""
    drawn: bool = True
    """True if positions are drawn without end; False if the spec gives `rounds` of them."""

    def lots(self, purpose: str) -> random.Random:
        """Return the generator from which a format draws lots for a `purpose`: a text such as the name of the format.

        It depends only on the set of entries, in any order, and on the seed.
        """
        return Stream(canonical([self.seed, purpose, sorted(self.keys)]))


class Pairing(NamedTuple):
    """One match to play, such as `Pairing(round=0, seats=(2, 1))`: entry 2 has the first seat."""

    round: int
    """The number of its position, from 0."""
    seats: tuple[int, ...]
    """The number of the entry in each seat."""


def result_points(got: float, other: float) -> float:
    """Return the points for a return of `got` against one of `other`: 1 for more, a half for as much, else 0."""
    return 1.0 if got > other else 0.5 if got == other else 0.0


class Outcomes:
    """The results of a board so far, by pairing. They are kept for formats that schedule or rank by results.

    >>> outcomes = Outcomes()
    >>> outcomes.add(Pairing(0, (0, 1)), (1.0, -1.0))
    >>> len(outcomes), outcomes.of(Pairing(0, (0, 1)))
    (1, (1.0, -1.0))
    """

    def __init__(self) -> None:
        self._returns: dict[Pairing, tuple[float, ...] | None] = {}
        self._play_hashes: dict[Pairing, int] = {}
        self._adjusted: dict[Pairing, tuple[float, ...]] = {}

    def add(
        self,
        pairing: Pairing,
        returns: tuple[float, ...] | None,
        play_hash: int | None = None,
        adjusted: tuple[float, ...] | None = None,
    ) -> None:
        """Add the `returns` of every seat of a `pairing`; None if the match was void.

        `play_hash` is a hash of the moves if no seat used random numbers, so that a replay would be the same.
        `adjusted` are the returns without the luck of chance, if they are known.
        """
        self._returns[pairing] = returns
        if adjusted is not None:
            self._adjusted[pairing] = adjusted
        if play_hash is not None:
            self._play_hashes[pairing] = play_hash

    def play_hash(self, pairing: Pairing) -> int | None:
        """Return a hash of the moves of a `pairing`; None if a seat used random numbers or if it is unknown."""
        return self._play_hashes.get(pairing)

    def luck(self, pairing: Pairing, seat: int) -> float:
        """Return the luck that a `seat` of a `pairing` had, in units of returns; 0 if it is not known."""
        returns = self._returns[pairing]
        return 0.0 if returns is None or pairing not in self._adjusted else returns[seat] - self._adjusted[pairing][seat]

    def __len__(self) -> int:
        """The number of pairings with a result."""
        return len(self._returns)

    def of(self, pairing: Pairing) -> tuple[float, ...] | None:
        """Return the returns of every seat of a `pairing`; None if the match was void. KeyError for one without a result."""
        return self._returns[pairing]

    def scored(self) -> Iterator[tuple[Pairing, tuple[float, ...]]]:
        """Yield every pairing that has a result and was not void, with the returns of every seat, in no certain order."""
        return ((pairing, returns) for pairing, returns in self._returns.items() if returns is not None)


@dataclass(frozen=True, slots=True)
class Placing:
    """The place of an entry by its format: the numbers that rank it, and the values of the format's own columns.

    >>> Placing((3.0, 5.5), {"buchholz": 5.5}).merit
    (3.0, 5.5)
    """

    merit: tuple[float, ...]
    """Entries are ranked by the first number, the largest first, then by the next. Entries with equal numbers share a rank."""
    values: Mapping[str, float | str | None] = field(default_factory=dict)
    """The values by the keys of `Format.columns`; None, or a missing key, means no value."""


class Tie(NamedTuple, Generic[Competitor]):
    """A meeting of two competitors in a bracket, the upper one first, or a bye of one."""

    one: Competitor
    two: Competitor | None
    points: tuple[float, float] | None
    """The points of each, with all replays; None for a bye, and before anything has been played."""
    winner: Competitor | None
    """The competitor that advances; None before anything has been played."""

    def named(self, names: Mapping[Competitor, str]) -> "Tie[str]":
        """Return the same tie with the `names` of its competitors."""
        winner = None if self.winner is None else names[self.winner]
        return Tie(names[self.one], None if self.two is None else names[self.two], self.points, winner)

    @property
    def bye(self) -> bool:
        """Return whether it is a bye."""
        return self.two is None

    @property
    def by_seed(self) -> bool:
        """Return whether the points were equal, so that the better seed advanced."""
        return self.points is not None and self.points[0] == self.points[1]


class Format(Configured, ABC):
    """A way to schedule the matches of a board, and to rank it. Options come from the spec as keyword arguments of `__init__`.

    >>> from arena_pairings.formats import Swiss
    >>> Swiss().size(Field(entries=5, players=2, rounds=3))
    12
    """

    name: ClassVar[str]
    """The key in the registry: small letters, digits and dashes."""
    kind: ClassVar[Kind]
    """`versus` for agents against each other, `puzzle` for agents on their own: against a puzzle, or for a score."""
    follows_results: ClassVar[bool] = False
    """True if the schedule depends on the results so far. Then `outcomes` holds the results of all pairings before a None."""
    columns: ClassVar[Sequence[Column]] = ()
    """The columns of this format's boards beside the usual ones; `ranking` gives their values."""
    ranked_by: ClassVar[RankedBy] = "score"
    """The order of a versus board if there is no `ranking`: by `score`, or by `rating` if scores cannot be compared.

    If the spec says `rank: returns`, or the game is not zero-sum, the mean return takes the place of both."""
    sequential_test: Mapping[str, Any] | None = None
    """The test of a board of two entries: `elo0`, `elo1`, `alpha`, `beta` and `model` of an SPRT; None if there is none."""

    def default_rounds(self, entries: int) -> int:
        """Return the number of rounds for so many `entries` if a spec gives none."""
        return DEFAULT_ROUNDS

    def refusal(self, field: Field) -> str | None:
        """Return why a board with this `field` cannot be played in this format; None if it can."""
        return None

    def announcement(self) -> str | None:
        """Return a note for the user before the first match; None if there is nothing to say."""
        return None

    def status(self, outcomes: Outcomes) -> str | None:
        """Return the state of a board with these `outcomes` in a few words; None if the counts are enough.

        It is called when all matches so far have a result.
        """
        return None

    def expected_size(self, outcomes: Outcomes) -> int | None:
        """Return the number of matches that a board with these `outcomes` is expected to have at its end; None for `size`.

        It is called together with `status`, to estimate the time that is left.
        """
        return None

    def ranking(self, entries: int, outcomes: Outcomes) -> Sequence[Placing]:
        """Return the placing of every entry, by its number; optional. `entries` is the number of entries.

        `outcomes` holds the results so far, and the board may be unfinished. TypeError for formats without this method;
        `ranked_by` ranks their boards.
        """
        raise TypeError(f"{name_of(self)} has no ranking")

    def bracket(self, entries: int, outcomes: Outcomes) -> Sequence[Sequence[Tie[int]]]:
        """Return the rounds of a bracket so far, the first one first, each from the top down; none if the format has no bracket.

        It is called for formats with a `ranking`, with the number of `entries` and the `outcomes` so far.
        """
        return ()

    def test_state(self, board: "BoardInfo", games: "PairedGames", luck: Mapping[int, float]) -> Any:
        """Return the state of the sequential test of a `board`, a dataclass with `describe(finished=...)`; None without one.

        It is called for formats with a `sequential_test`. `games` are the games so far, and `luck` is the luck of the first entry
        by round.
        """
        return None

    @abstractmethod
    def fewest(self, players: int) -> int:
        """Return the least number of entries of a board for a game of `players` seats."""

    @abstractmethod
    def size(self, field: Field) -> int:
        """Return the number of matches of the schedule of a `field`, the most there can be if it depends on results."""

    @abstractmethod
    def schedule(self, field: Field, outcomes: Outcomes) -> Iterator[Pairing | None]:
        """Yield every match of a `field` once, always in the same order; None if it goes on when all have a result.

        `outcomes` holds the results of all matches before such a None, for formats that follow results.
        """


def ranks(format_: Format | type[Format]) -> bool:
    """Return whether a format has a ranking of its own. This is the one place that decides it."""
    given = getattr_static(format_ if isinstance(format_, type) else type(format_), "ranking", None)
    if given is Format.ranking or not isfunction(given):
        return False
    try:
        signature(given).bind(*[None] * 3)
    except TypeError:  # a method of that name with another meaning
        return False
    return True


def own_columns(format_: Format | type[Format]) -> tuple[Column, ...]:
    """Return the columns that a format declares; none if its `columns` are something else."""
    given = getattr_static(format_ if isinstance(format_, type) else type(format_), "columns", ())
    fits = isinstance(given, (list, tuple)) and all(isinstance(column, Column) for column in given)
    return tuple(given) if fits else ()
