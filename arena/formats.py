"""The formats that come with arena, brought by the same hook as anyone's."""

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from math import perm
from typing import ClassVar

from arena.format import Field, Format, Kind, Outcomes, Pairing
from arena.hookspecs import hookimpl


class RoundRobin(Format):
    """Every group of agents meets every position from all orders of seats.

    With two seats a group is a pair and a round gives it two matches, seats swapped. Rounds are played one after the
    other, so that standings mean something early.
    """

    name = "round-robin"
    kind: ClassVar[Kind] = "versus"

    def fewest(self, players: int) -> int:
        """Return one entry a seat."""
        return players

    def size(self, field: Field) -> int:
        """Return rounds times the orders of all groups."""
        return field.rounds * perm(field.entries, field.players)

    def schedule(self, field: Field, outcomes: Outcomes) -> Iterator[Pairing]:
        """Yield round after round, in it group after group, in it all orders of seats."""
        for number in range(field.rounds):
            for group in combinations(range(field.entries), field.players):
                for seats in permutations(group):
                    yield Pairing(number, seats)


class Benchmark(Format):
    """Every agent meets every position of a puzzle, on its own."""

    name = "benchmark"
    kind: ClassVar[Kind] = "puzzle"

    def fewest(self, players: int) -> int:
        """Return 1."""
        return 1

    def size(self, field: Field) -> int:
        """Return rounds times entries."""
        return field.rounds * field.entries

    def schedule(self, field: Field, outcomes: Outcomes) -> Iterator[Pairing]:
        """Yield position after position, and each for every agent."""
        for number in range(field.rounds):
            for entry in range(field.entries):
                yield Pairing(number, (entry,))


@hookimpl
def arena_formats() -> Sequence[type[Format]]:
    """The built-in formats."""
    return [RoundRobin, Benchmark]
