"""What a tournament format is: who meets whom on which position, as a pure function of the field."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from arena.configured import Configured

Kind = Literal["versus", "puzzle"]


@dataclass(frozen=True, slots=True)
class Field:
    """The entries of one board, as a format sees them."""

    entries: int
    """How many entries there are; they are numbered from 0 in the order of the spec."""
    players: int
    """How many seats the game has."""
    rounds: int
    """How many positions are met."""


class Pairing(NamedTuple):
    """One match to play: the number of its position, and the entry in each seat."""

    round: int
    seats: tuple[int, ...]


class Format(Configured, ABC):
    """A way to schedule the matches of a board. Options come from the spec as keyword arguments of `__init__`."""

    name: ClassVar[str]
    """The key in the registry: small letters, digits and dashes."""
    kind: ClassVar[Kind]
    """Whether it is for agents against each other or for agents against a puzzle."""

    @abstractmethod
    def fewest(self, players: int) -> int:
        """Return how many entries a board needs at least when the game has `players` seats."""

    @abstractmethod
    def size(self, field: Field) -> int:
        """Return the number of matches of the schedule."""

    @abstractmethod
    def schedule(self, field: Field) -> Iterator[Pairing]:
        """Yield every match once, always in the same order."""
