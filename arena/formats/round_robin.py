"""Round-robin, gauntlet and benchmark: all against all, a few against the rest, and each against a puzzle."""

from collections.abc import Iterator
from itertools import combinations, permutations
from math import perm
from typing import Annotated, ClassVar

from pydantic import Field as Bounds

from arena.format import Field, Format, Kind, Outcomes, Pairing


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


class Gauntlet(Format):
    """Each of the first `challengers` entries meets all but its like, on every position from all orders of seats."""

    name = "gauntlet"
    kind: ClassVar[Kind] = "versus"
    ranked_by = "rating"  # scores against different opponents do not compare

    def __init__(self, *, challengers: Annotated[int, Bounds(ge=1)] = 1) -> None:
        self.challengers = challengers

    def fewest(self, players: int) -> int:
        """Return the challengers and one other for every further seat."""
        return self.challengers + players - 1

    def size(self, field: Field) -> int:
        """Return rounds times the orders of all groups of one challenger and others."""
        others = field.entries - self.challengers
        return field.rounds * self.challengers * field.players * perm(others, field.players - 1) if others > 0 else 0

    def schedule(self, field: Field, outcomes: Outcomes) -> Iterator[Pairing]:
        """Yield round after round, in it challenger after challenger, in it all orders of seats with every group of others."""
        for number in range(field.rounds):
            for challenger in range(self.challengers):
                for others in combinations(range(self.challengers, field.entries), field.players - 1):
                    for seats in permutations((challenger, *others)):
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
