"""Round-robin, gauntlet and benchmark: all against all, a few against the rest, and each against a puzzle."""

from collections.abc import Iterator
from itertools import combinations, permutations
from math import comb, factorial
from typing import Annotated, ClassVar, Literal

from pydantic import Field as Bounds

from arena.format import Field, Format, Kind, Outcomes, Pairing

Orders = Literal["all", "rotations"]
"""The orders of seats in which a group meets a position: all of them, or one a seat, each the last one turned by a seat."""


def seatings(group: tuple[int, ...], orders: Orders) -> Iterator[tuple[int, ...]]:
    """Yield the orders of seats of a group; everyone has every seat equally often."""
    if orders == "all":
        yield from permutations(group)
    else:
        for turn in range(len(group)):
            yield group[turn:] + group[:turn]


def _number(players: int, orders: Orders) -> int:
    """Return the number of orders of seats of a group."""
    return factorial(players) if orders == "all" else players


class RoundRobin(Format):
    """Every group of agents meets every position from all orders of seats, or from their rotations alone.

    With two seats a group is a pair and a round gives it two matches, seats swapped. Rounds are played one after the
    other, so that standings mean something early.
    """

    name = "round-robin"
    kind: ClassVar[Kind] = "versus"

    def __init__(self, *, orders: Orders = "all") -> None:
        self.orders = orders

    def fewest(self, players: int) -> int:
        """Return one entry a seat."""
        return players

    def size(self, field: Field) -> int:
        """Return rounds times the orders of all groups."""
        return field.rounds * comb(field.entries, field.players) * _number(field.players, self.orders)

    def schedule(self, field: Field, outcomes: Outcomes) -> Iterator[Pairing]:
        """Yield round after round, in it group after group, in it all orders of seats."""
        for number in range(field.rounds):
            for group in combinations(range(field.entries), field.players):
                for seats in seatings(group, self.orders):
                    yield Pairing(number, seats)


class Gauntlet(Format):
    """Each of the first `challengers` entries meets all but its like, on every position from all orders of seats."""

    name = "gauntlet"
    kind: ClassVar[Kind] = "versus"
    ranked_by = "rating"  # scores against different opponents do not compare

    def __init__(self, *, challengers: Annotated[int, Bounds(ge=1)] = 1, orders: Orders = "all") -> None:
        self.challengers = challengers
        self.orders = orders

    def fewest(self, players: int) -> int:
        """Return the challengers and one other for every further seat."""
        return self.challengers + players - 1

    def size(self, field: Field) -> int:
        """Return rounds times the orders of all groups of one challenger and others."""
        others = field.entries - self.challengers
        groups = comb(others, field.players - 1) if others > 0 else 0
        return field.rounds * self.challengers * groups * _number(field.players, self.orders)

    def schedule(self, field: Field, outcomes: Outcomes) -> Iterator[Pairing]:
        """Yield round after round, in it challenger after challenger, in it all orders of seats with every group of others."""
        for number in range(field.rounds):
            for challenger in range(self.challengers):
                for others in combinations(range(self.challengers, field.entries), field.players - 1):
                    for seats in seatings((challenger, *others), self.orders):
                        yield Pairing(number, seats)


class Benchmark(Format):
    """Every agent meets every position of a puzzle, or of a game of one seat, on its own."""

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
