"""What a tournament format is: who meets whom on which position, as a pure function of the field and the results so far."""

import random
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from arena.configured import Configured
from arena.identity import Stream, canonical

Kind = Literal["versus", "puzzle"]
ROUNDS = 10
"""Rounds where neither a spec nor a format says anything."""


@dataclass(frozen=True, slots=True)
class Field:
    """The entries of one board, as a format sees them."""

    entries: int
    """How many entries there are; they are numbered from 0 in the order of the spec."""
    players: int
    """How many seats the game has."""
    rounds: int
    """How many positions are met; in a Swiss tournament, how many rounds there are."""
    keys: tuple[str, ...] = ()
    """What identifies each entry, wherever it stands in the spec."""
    seed: int = 0
    """The seed of the spec."""
    drawn: bool = True
    """Whether positions are drawn, so that there are as many as one wants; otherwise `rounds` of them are given."""

    def lots(self, purpose: str) -> random.Random:
        """Return the generator from which a format draws lots for a `purpose`, such as the name of the format and what is drawn.

        It is the same for the same entries, in any order, and the same seed.
        """
        return Stream(canonical([self.seed, purpose, sorted(self.keys)]))


class Pairing(NamedTuple):
    """One match to play."""

    round: int
    """The number of its position, from 0."""
    seats: tuple[int, ...]
    """The number of the entry in each seat."""


class Outcomes:
    """The results of a board so far, by pairing; kept for formats that follow them."""

    def __init__(self) -> None:
        self._returns: dict[Pairing, tuple[float, ...] | None] = {}
        self._play_hashes: dict[Pairing, int] = {}

    def add(self, pairing: Pairing, returns: tuple[float, ...] | None, play_hash: int | None = None) -> None:
        """Note the `returns` of every seat of a `pairing`; None where the match was void.

        `play_hash` is a hash of what was played where no seat used random numbers, so that it would be played like this again.
        """
        self._returns[pairing] = returns
        if play_hash is not None:
            self._play_hashes[pairing] = play_hash

    def play_hash(self, pairing: Pairing) -> int | None:
        """Return a hash of what was played in a `pairing`; None if a seat used random numbers or if it is unknown."""
        return self._play_hashes.get(pairing)

    def __len__(self) -> int:
        """How many pairings have a result."""
        return len(self._returns)

    def of(self, pairing: Pairing) -> tuple[float, ...] | None:
        """Return what every seat of a `pairing` got; None where the match was void. KeyError for one that has no result yet."""
        return self._returns[pairing]


class Format(Configured, ABC):
    """A way to schedule the matches of a board. Options come from the spec as keyword arguments of `__init__`."""

    name: ClassVar[str]
    """The key in the registry: small letters, digits and dashes."""
    kind: ClassVar[Kind]
    """Whether it is for agents against each other or for agents against a puzzle."""
    follows_results: ClassVar[bool] = False
    """Whether the schedule looks at the results so far. Then `outcomes` holds those of all pairings before a None."""

    def default_rounds(self, entries: int) -> int:
        """Return the number of rounds for so many `entries` where a spec says nothing."""
        return ROUNDS

    def refusal(self, field: Field) -> str | None:
        """Return why a board with this `field` cannot be played in this format; None where it can."""
        return None

    def announcement(self) -> str | None:
        """Return what a user should know before the first match; None where there is nothing to say."""
        return None

    def status(self, outcomes: Outcomes) -> str | None:
        """Return how a board with these `outcomes` stands in a few words; None where counts say it all.

        It is asked when all matches so far have a result.
        """
        return None

    @abstractmethod
    def fewest(self, players: int) -> int:
        """Return how many entries a board needs at least when the game has `players` seats."""

    @abstractmethod
    def size(self, field: Field) -> int:
        """Return the number of matches of the schedule of a `field`, the most there can be where it depends on results."""

    @abstractmethod
    def schedule(self, field: Field, outcomes: Outcomes) -> Iterator[Pairing | None]:
        """Yield every match of a `field` once, always in the same order; None where it goes on when all have a result.

        `outcomes` holds the results of all matches before such a None, for formats that follow results.
        """
