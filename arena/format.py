"""Tournament formats: the schedule of a board as a pure function of the field and the results so far, and the board's ranking."""

import random
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import getattr_static, isfunction, signature
from typing import Any, ClassVar, Literal, NamedTuple

from arena.columns import Column
from arena.configured import Configured, name_of
from arena.identity import Stream, canonical
from arena.secret import Seed

Kind = Literal["versus", "puzzle", "score"]
"""The kinds of boards: agents against each other, agents against a puzzle, and agents that collect a score each on its own."""
RankedBy = Literal["score", "rating", "returns"]
DEFAULT_ROUNDS = 10
"""The rounds of a board if neither the spec nor the format gives another number."""


@dataclass(frozen=True, slots=True)
class Field:
    """The entries of one board, as a format sees them."""

    entries: int
    """The number of entries, which are numbered from 0 in the order of the spec."""
    players: int
    """The number of seats of the game."""
    rounds: int
    """The number of positions; in a Swiss tournament the number of rounds."""
    keys: tuple[str, ...] = ()
    """The identity of each entry, wherever it stands in the spec."""
    seed: Seed = 0
    """The seed of the spec."""
    drawn: bool = True
    """True if positions are drawn, so that there is no end of them; False if `rounds` of them are given."""

    def lots(self, purpose: str) -> random.Random:
        """Return the generator from which a format draws lots for a `purpose`: a text such as the name of the format.

        It is the same for the same entries, in any order, and the same seed.
        """
        return Stream(canonical([self.seed, purpose, sorted(self.keys)]))


class Pairing(NamedTuple):
    """One match to play."""

    round: int
    """The number of its position, from 0."""
    seats: tuple[int, ...]
    """The number of the entry in each seat."""


def result_points(got: float, other: float) -> float:
    """Return the points for a return of `got` against one of `other`: 1 for more, a half for as much, else 0."""
    return 1.0 if got > other else 0.5 if got == other else 0.0


class Outcomes:
    """The results of a board so far, by pairing; kept for formats that follow them, or rank a board by them."""

    def __init__(self) -> None:
        self._returns: dict[Pairing, tuple[float, ...] | None] = {}
        self._play_hashes: dict[Pairing, int] = {}

    def add(self, pairing: Pairing, returns: tuple[float, ...] | None, play_hash: int | None = None) -> None:
        """Note the `returns` of every seat of a `pairing`; None if the match was void.

        `play_hash` is a hash of what was played if no seat used random numbers, so that it would be played like this again.
        """
        self._returns[pairing] = returns
        if play_hash is not None:
            self._play_hashes[pairing] = play_hash

    def play_hash(self, pairing: Pairing) -> int | None:
        """Return a hash of what was played in a `pairing`; None if a seat used random numbers or if it is unknown."""
        return self._play_hashes.get(pairing)

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
    """The place of an entry by its format: what it is ranked by, and the values of the format's own columns."""

    merit: tuple[float, ...]
    """Entries are ranked by the first number, the largest first, equals by the next; those equal in all share a rank."""
    values: Mapping[str, float | str | None] = field(default_factory=dict)
    """By the keys of `Format.columns`; None, or no key, if there is none."""


class Format(Configured, ABC):
    """A way to schedule the matches of a board, and to rank it. Options come from the spec as keyword arguments of `__init__`."""

    name: ClassVar[str]
    """The key in the registry: small letters, digits and dashes."""
    kind: ClassVar[Kind]
    """`versus` for agents against each other, `puzzle` for agents on their own: against a puzzle, or for a score."""
    follows_results: ClassVar[bool] = False
    """True if the schedule depends on the results so far. Then `outcomes` holds those of all pairings before a None."""
    columns: ClassVar[Sequence[Column]] = ()
    """The columns that boards of this format have beside the usual ones; `ranking` gives their values."""
    ranked_by: ClassVar[RankedBy] = "score"
    """The order of a versus board if there is no `ranking`: by `score`, or by `rating` if scores do not compare.

    If the spec says `rank: returns`, or the game is not zero-sum, the mean return takes the place of both."""
    sequential_test: Mapping[str, Any] | None = None
    """The test of a board of two entries: `elo0`, `elo1`, `alpha`, `beta` and `model` of an SPRT; None if there is none."""

    def default_rounds(self, entries: int) -> int:
        """Return the number of rounds for so many `entries` if a spec says nothing."""
        return DEFAULT_ROUNDS

    def refusal(self, field: Field) -> str | None:
        """Return why a board with this `field` cannot be played in this format; None if it can."""
        return None

    def announcement(self) -> str | None:
        """Return a note for the user before the first match; None if there is nothing to say."""
        return None

    def status(self, outcomes: Outcomes) -> str | None:
        """Return the state of a board with these `outcomes` in a few words; None if counts say it all.

        It is asked for when all matches so far have a result.
        """
        return None

    def expected_size(self, outcomes: Outcomes) -> int | None:
        """Return the number of matches that a board with these `outcomes` is expected to have at its end; None for `size`.

        It is asked for when `status` is, for the time that is left.
        """
        return None

    def ranking(self, entries: int, outcomes: Outcomes) -> Sequence[Placing]:
        """Return the placing of every entry, by its number; optional. `entries` is how many there are.

        `outcomes` holds the results so far, which may be those of an unfinished board. TypeError for formats without this method,
        whose boards are ranked as `ranked_by` says.
        """
        raise TypeError(f"{name_of(self)} has no ranking")

    @abstractmethod
    def fewest(self, players: int) -> int:
        """Return the least number of entries of a board whose game has `players` seats."""

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
    except TypeError:  # a method of that name that is something else
        return False
    return True


def own_columns(format_: Format | type[Format]) -> tuple[Column, ...]:
    """The columns that a format declares; none if its `columns` are something else."""
    given = getattr_static(format_ if isinstance(format_, type) else type(format_), "columns", ())
    fits = isinstance(given, (list, tuple)) and all(isinstance(column, Column) for column in given)
    return tuple(given) if fits else ()
