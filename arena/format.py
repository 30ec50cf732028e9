"""Tournament formats. A format schedules the matches of a board, and may rank the board. A schedule may depend on results."""

import random
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import getattr_static, isfunction, signature
from math import inf
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar

from arena.columns import Column
from arena.configured import Configured, name_of
from arena.identity import Stream, canonical
from arena.secret import Seed

Kind = Literal["versus", "puzzle", "score"]
"""The kinds of boards: agents play against each other, agents solve a puzzle, or each agent plays alone for a score."""
RankedBy = Literal["score", "rating", "returns", "seconds"]
Competitor = TypeVar("Competitor", bound=Hashable)
DEFAULT_ROUNDS = 10
"""The rounds of a board if neither the spec nor the format gives a number."""


@dataclass(frozen=True, slots=True)
class Field:
    """The entries of one board, as a format sees them.

    >>> Field(entries=3, players=2, rounds=10, seed=1).players
    2
    """

    entries: int
    """The number of entries. Entries are numbered from 0, in the order of the spec."""
    players: int
    """The number of seats of the game."""
    rounds: int
    """The number of positions; in a Swiss tournament, the number of rounds."""
    keys: tuple[str, ...] = ()
    """A key for each entry, which does not depend on the place of the entry in the spec."""
    seed: Seed = 0
    """The seed of the spec."""
    drawn: bool = True
    """Whether positions are drawn at random, so that any number can be played. False if the spec lists `rounds` positions."""

    def lots(self, purpose: str) -> random.Random:
        """Return a random generator with which a format draws lots. `purpose` is a text, such as the name of the format.

        The generator depends only on `purpose`, on the seed and on the set of entries. The order of the entries has no effect.
        """
        return Stream(canonical([self.seed, purpose, sorted(self.keys)]))


class Pairing(NamedTuple):
    """One match to play. For example, in `Pairing(round=0, seats=(2, 1))`, entry 2 has the first seat."""

    round: int
    """The index of its position, from 0."""
    seats: tuple[int, ...]
    """The index of the entry in each seat."""


def result_points(got: float, other: float) -> float:
    """Return the points for the return `got` if the opponent got `other`: 1 for a higher return, 0.5 for an equal one, else 0."""
    return 1.0 if got > other else 0.5 if got == other else 0.0


def share_points(results: Sequence[float]) -> list[float]:
    """Return the points of each seat of a match: the seats with the highest result share one point.

    >>> share_points([2.0, -1.0, 2.0, -1.0])
    [0.5, 0.0, 0.5, 0.0]
    """
    best = max(results)
    return [(got == best) / results.count(best) for got in results]


def put_last(returns: Sequence[float], loser: int | None) -> tuple[float, ...]:
    """Return the numbers by which the seats of a match are compared: the returns, but minus infinity for the `loser`.

    A seat that lost by a fault has lost even if its return, the smallest of the game, is as high as that of the other seats.

    >>> put_last((0.0, 0.0), None), put_last((0.0, 0.0), 1)
    ((0.0, 0.0), (0.0, -inf))
    """
    return tuple([-inf if seat == loser else got for seat, got in enumerate(returns)])


class Outcomes:
    """The results of a board so far, by pairing, for formats with a schedule or a ranking that depends on results.

    >>> outcomes = Outcomes()
    >>> outcomes.add(Pairing(0, (0, 1)), (1.0, -1.0))
    >>> outcomes.add(Pairing(0, (1, 0)), (0.0, 0.0), loser=1)
    >>> len(outcomes), outcomes.of(Pairing(0, (0, 1))), outcomes.of(Pairing(0, (1, 0)))
    (2, (1.0, -1.0), (0.0, -inf))
    """

    def __init__(self) -> None:
        self._returns: dict[Pairing, tuple[float, ...] | None] = {}
        self._play_hashes: dict[Pairing, int] = {}
        self._adjusted: dict[Pairing, tuple[float, ...]] = {}
        self._losers: dict[Pairing, int] = {}

    def add(
        self,
        pairing: Pairing,
        returns: tuple[float, ...] | None,
        play_hash: int | None = None,
        adjusted: tuple[float, ...] | None = None,
        loser: int | None = None,
    ) -> None:
        """Add the `returns` of every seat of a `pairing`; None if the match was void.

        `play_hash` is a hash of the moves; it is None if a seat used random numbers, because a replay could then differ.
        `adjusted` are the returns after a correction for the luck of chance, if known. `loser` is the seat that lost by a fault.
        """
        self._returns[pairing] = returns
        if loser is not None:
            self._losers[pairing] = loser
        if adjusted is not None:
            self._adjusted[pairing] = adjusted
        if play_hash is not None:
            self._play_hashes[pairing] = play_hash

    def play_hash(self, pairing: Pairing) -> int | None:
        """Return a hash of the moves of a `pairing`; None if a seat used random numbers or if it is unknown."""
        return self._play_hashes.get(pairing)

    def luck(self, pairing: Pairing, seat: int) -> float:
        """Return the part of the return of a `seat` in a `pairing` that is due to luck; 0 if it is unknown."""
        returns = self._returns[pairing]
        return 0.0 if returns is None or pairing not in self._adjusted else returns[seat] - self._adjusted[pairing][seat]

    def __len__(self) -> int:
        """The number of pairings with a result."""
        return len(self._returns)

    def of(self, pairing: Pairing) -> tuple[float, ...] | None:
        """Return the result of every seat of a `pairing`; None if the match was void. Raises KeyError if there is no result.

        The results are the returns, but minus infinity for a seat that lost by a fault, so that it has lost in every game.
        """
        returns = self._returns[pairing]
        return None if returns is None else put_last(returns, self._losers.get(pairing))

    def pairings(self) -> Iterator[Pairing]:
        """Yield every pairing that has a result, void matches included, in no particular order."""
        return iter(self._returns)

    def scored(self) -> Iterator[tuple[Pairing, tuple[float, ...]]]:
        """Yield every pairing that has a result and was not void, with the results as in `of`, in no particular order."""
        return ((pairing, found) for pairing in self._returns if (found := self.of(pairing)) is not None)


@dataclass(frozen=True, slots=True)
class Placing:
    """What a format computes for an entry: the numbers that rank it, and the values for the columns of the format.

    >>> Placing((3.0, 5.5), {"buchholz": 5.5}).merit
    (3.0, 5.5)
    """

    merit: tuple[float, ...]
    """The numbers that decide the rank. A larger first number ranks higher; if first numbers are equal, the next ones are
    compared. Entries with equal numbers share a rank."""
    values: Mapping[str, float | str | None] = field(default_factory=dict)
    """The values for `Format.columns`, by key. None or a missing key means no value."""


class Tie(NamedTuple, Generic[Competitor]):
    """A meeting of two competitors in a bracket, the upper one first; or a single competitor that has a bye."""

    one: Competitor
    two: Competitor | None
    points: tuple[float, float] | None
    """The points of each competitor, including replays; None for a bye or before the first match."""
    winner: Competitor | None
    """The competitor that advances to the next round; None before the first match."""

    def named(self, names: Mapping[Competitor, str]) -> "Tie[str]":
        """Return this tie with `names` in the place of its competitors."""
        winner = None if self.winner is None else names[self.winner]
        return Tie(names[self.one], None if self.two is None else names[self.two], self.points, winner)

    @property
    def bye(self) -> bool:
        """Return whether it is a bye: the competitor advances without a match."""
        return self.two is None

    @property
    def by_seed(self) -> bool:
        """Return whether the points were equal, so that the competitor with the better seed advanced."""
        return self.points is not None and self.points[0] == self.points[1]


class Format(Configured, ABC):
    """A way to schedule the matches of a board, and to rank it. Its options come from the spec, as keywords of `__init__`.

    >>> from arena_pairings.formats import Swiss
    >>> Swiss().size(Field(entries=5, players=2, rounds=3))
    12
    """

    name: ClassVar[str]
    """Its name in specs: lowercase letters, digits and dashes."""
    kind: ClassVar[Kind]
    """`versus` if agents play against each other; `puzzle` if each agent plays alone, on a puzzle or for a score."""
    follows_results: ClassVar[bool] = False
    """Whether the schedule depends on results. If so, `schedule` waits at each None until `outcomes` contains the results so
    far.
    """
    columns: ClassVar[Sequence[Column]] = ()
    """Columns that boards with this format have in addition to the usual ones. `ranking` returns their values."""
    ranking_criteria: ClassVar[str] = ""
    """What `ranking` ranks the entries by, as boards say after "Ranked by", such as `points, then by wins`.

    If it is empty, boards name the columns of the format whose values are the numbers of `Placing.merit`, or else the format.
    """
    ranked_by: ClassVar[RankedBy] = "score"
    """How a versus board is ranked if the format has no `ranking`: by `score`, or by `rating` if scores cannot be compared.

    If the spec says `rank: returns`, or the game is not zero-sum, the board is ranked by the mean return instead.
    """
    order_version: ClassVar[int] = 1
    """Raise this number if a new version of the format yields the same matches in another order.

    Matches that a store has from the old version then get their places in the new order, and are not played again.
    """
    sequential_test: Mapping[str, Any] | None = None
    """The sequential test (SPRT) of a board with two entries: `elo0`, `elo1`, `alpha`, `beta` and `model`; None without one."""

    def default_rounds(self, entries: int) -> int:
        """Return the default number of rounds for a board with this number of `entries`."""
        return DEFAULT_ROUNDS

    def refusal(self, field: Field) -> str | None:
        """Return why a board with this `field` cannot be played in this format; None if it can."""
        return None

    def announcement(self) -> str | None:
        """Return a note for the user before the first match; None if there is nothing to say."""
        return None

    def status(self, outcomes: Outcomes) -> str | None:
        """Return a few words on the progress of a board with these `outcomes`; None if the number of matches says enough.

        This method is called when all matches so far have a result.
        """
        return None

    def expected_size(self, outcomes: Outcomes) -> int | None:
        """Return the number of matches that a board with these `outcomes` will probably need in all; None to use `size`.

        This method is called together with `status`, to estimate the time that is left.
        """
        return None

    def ranking(self, entries: int, outcomes: Outcomes) -> Sequence[Placing]:
        """Return the placing of every entry, in the order of the indices; optional. `entries` is the number of entries.

        `outcomes` holds the results so far; the board may be unfinished. The default raises TypeError; `ranked_by` then decides.
        """
        raise TypeError(f"{name_of(self)} has no ranking")

    def bracket(self, entries: int, outcomes: Outcomes) -> Sequence[Sequence[Tie[int]]]:
        """Return the rounds of the bracket so far, each with its ties from top to bottom; empty if the format has no bracket.

        This method is called for formats with a `ranking`, with the number of `entries` and the `outcomes` so far.
        """
        return ()

    def test_state(self, board: Any, games: Any, luck: Mapping[int, float]) -> Any:
        """Return the state of the sequential test of a `board`: a dataclass with `describe(finished=...)`. None without a test.

        If the state has an attribute `better`, it decides whether the board can tell the two entries apart: 1 if the first one is
        better, -1 if the second one is, 0 if the test does not decide that.

        It is for formats with a `sequential_test`. `board` is an `arena.api.results.BoardInfo`; `games` are the games so far, as
        `arena.api.results.PairedGames`; `luck` is the luck of the first entry by round.
        """
        return None

    def conclude(self, board: Any, outcomes: Outcomes) -> Any:
        """Return what the format has found out about a `board` (`arena.api.results.BoardInfo`), such as its winner; optional.

        It is a dataclass with `describe(finished=...)`, which returns a sentence below the board. `outcomes` holds the results so
        far, and the object has the options of the board. The default raises TypeError.
        """
        raise TypeError(f"{name_of(self)} has no conclusion")

    @abstractmethod
    def fewest(self, players: int) -> int:
        """Return the smallest number of entries that a board needs for a game with `players` seats."""

    @abstractmethod
    def size(self, field: Field) -> int:
        """Return the number of matches in the schedule for a `field`, or the largest possible number if it depends on results."""

    @abstractmethod
    def schedule(self, field: Field, outcomes: Outcomes) -> Iterator[Pairing | None]:
        """Yield every match of a `field` once, in a fixed order. Yield None to wait for the results of all matches so far.

        For formats with `follows_results`, `outcomes` contains these results after a None.
        """


def concludes(format_: Format | type[Format]) -> bool:
    """Return whether a format has its own conclusion. All code that needs to know this calls this function."""
    return _defines(format_, "conclude")


def ranks(format_: Format | type[Format]) -> bool:
    """Return whether a format has its own ranking. All code that needs to know this calls this function."""
    return _defines(format_, "ranking")


def _defines(format_: Format | type[Format], method: str) -> bool:
    """Return whether a format has a method of two arguments that `Format` only names."""
    given = getattr_static(format_ if isinstance(format_, type) else type(format_), method, None)
    if given is getattr(Format, method) or not isfunction(given):
        return False
    try:
        signature(given).bind(*[None] * 3)
    except TypeError:  # a method that only happens to have this name
        return False
    return True


def own_columns(format_: Format | type[Format]) -> tuple[Column, ...]:
    """Return the columns that a format declares; empty if the class uses the name `columns` for something else."""
    given = getattr_static(format_ if isinstance(format_, type) else type(format_), "columns", ())
    fits = isinstance(given, (list, tuple)) and all(isinstance(column, Column) for column in given)
    return tuple(given) if fits else ()


def own_criteria(format_: Format | type[Format]) -> str:
    """Return the words of a format for what ranks a board; empty if the class uses this name for something else."""
    given = getattr_static(format_ if isinstance(format_, type) else type(format_), "ranking_criteria", "")
    return given if isinstance(given, str) else ""
