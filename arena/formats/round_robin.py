"""The formats round-robin (every agent plays all others), gauntlet (a few play the rest) and benchmark (each plays alone)."""

from collections.abc import Iterator
from itertools import combinations, permutations
from math import comb, factorial, lcm
from typing import Annotated, ClassVar, Literal

from pydantic import Field as Bounds

from arena.format import Field, Format, Kind, Outcomes, Pairing

Orders = Literal["all", "rotations"]
"""The orders of seats in which a group plays: `all` possible ones, or only the `rotations` of one order."""


def seatings(group: tuple[int, ...], orders: Orders) -> Iterator[tuple[int, ...]]:
    """Yield the orders of seats for a group. Every entry gets every seat equally often."""
    if orders == "all":
        yield from permutations(group)
    else:
        for turn in range(len(group)):
            yield group[turn:] + group[:turn]


def balanced_groups(entries: int, players: int) -> Iterator[tuple[int, ...]]:
    """Yield every group of `players` of the `entries` once, in an order in which all entries play about equally often.

    At each point of the order, the numbers of groups of any two entries differ by at most `players`. For pairs, they differ by at
    most 1 if the number of entries is even, and by at most 2 if it is odd.

    >>> list(balanced_groups(4, 2))
    [(0, 3), (1, 2), (2, 3), (0, 1), (1, 3), (0, 2)]
    """
    if players == 2:
        yield from _circle(entries)
        return
    for rest in combinations(range(1, entries), players - 1):
        group = (0, *rest)
        # Together, the rotations of a group (each entry replaced by the next one) have each entry equally often. They begin with
        # the smallest of those that contain 0.
        rotations = [tuple(sorted([(entry - zero) % entries for entry in group])) for zero in group]
        if group == min(rotations):
            for shift in range(entries // rotations.count(group)):
                yield tuple(sorted([(entry + shift) % entries for entry in group]))


def _circle(entries: int) -> Iterator[tuple[int, int]]:
    """Yield all pairs in the order of the Berger tables (FIDE Handbook C.05, Annex 1), which is that of the circle method.

    In each turn, every entry has one pair. If the number of entries is odd, the pair with the missing last entry is a bye.
    """
    last = entries - 1 + entries % 2
    for turn in range(last):
        first = turn * ((last + 1) // 2) % last  # the entry that meets the last one
        for step in range((last + 1) // 2):
            one, other = (first + step) % last, (first - step) % last if step else last
            if other < entries:
                yield min(one, other), max(one, other)


def _number(players: int, orders: Orders) -> int:
    return factorial(players) if orders == "all" else players


class RoundRobin(Format):
    """Every group of agents, one for each seat, plays every position in all orders of seats, or only in rotations of one order.

    With `orders: all`, a group plays a position in all orders of seats; with `orders: rotations`, only in rotations of one order.
    In a game with two seats, each pair of agents plays two matches per round, with the seats swapped. Rounds are played one after
    the other, and the groups of a round in a balanced order, so that early standings are already fair.
    """

    name = "round-robin"
    order_version = 2  # at first, all groups of the first entry came first
    kind: ClassVar[Kind] = "versus"

    def __init__(self, *, orders: Orders = "all") -> None:
        self.orders = orders

    def fewest(self, players: int) -> int:
        """Return the number of seats, because each needs an entry."""
        return players

    def size(self, field: Field) -> int:
        """Return the product of the numbers of rounds, groups of entries, and orders of seats."""
        return field.rounds * comb(field.entries, field.players) * _number(field.players, self.orders)

    def schedule(self, field: Field, outcomes: Outcomes) -> Iterator[Pairing]:
        """Yield the rounds one after the other. In each round, all groups play in all orders of seats."""
        for number in range(field.rounds):
            for group in balanced_groups(field.entries, field.players):
                for seats in seatings(group, self.orders):
                    yield Pairing(number, seats)


class Gauntlet(Format):
    """Each of the first `challengers` entries plays every later entry, on every position and in all orders of seats.

    With `orders: all`, a group plays a position in all orders of seats; with `orders: rotations`, only in rotations of one order.
    """

    name = "gauntlet"
    kind: ClassVar[Kind] = "versus"
    ranked_by = "rating"  # scores against different opponents cannot be compared
    order_version = 2  # at first, all groups of the first challenger came first

    def __init__(self, *, challengers: Annotated[int, Bounds(ge=1)] = 1, orders: Orders = "all") -> None:
        self.challengers = challengers
        self.orders = orders

    def fewest(self, players: int) -> int:
        """Return the number of challengers, plus one entry for every further seat."""
        return self.challengers + players - 1

    def size(self, field: Field) -> int:
        """Return the product of the numbers of rounds, challengers, groups of others, and orders of seats."""
        others = field.entries - self.challengers
        groups = comb(others, field.players - 1) if others > 0 else 0
        return field.rounds * self.challengers * groups * _number(field.players, self.orders)

    def schedule(self, field: Field, outcomes: Outcomes) -> Iterator[Pairing]:
        """Yield the rounds in order. In each round, every challenger meets all groups of others in all orders of seats."""
        groups = balanced_groups(field.entries - self.challengers, field.players - 1)
        others = [tuple([self.challengers + entry for entry in group]) for group in groups]
        lap = lcm(self.challengers, len(others))
        for number in range(field.rounds):
            for turn in range(self.challengers * len(others)):
                # Both take turns. They are in step again after a lap, so the challengers then move on by one.
                challenger = (turn + turn // lap) % self.challengers
                for seats in seatings((challenger, *others[turn % len(others)]), self.orders):
                    yield Pairing(number, seats)


class Benchmark(Format):
    """Every agent plays alone on every position of a puzzle or of a game with one seat."""

    name = "benchmark"
    kind: ClassVar[Kind] = "puzzle"

    def fewest(self, players: int) -> int:
        """Return 1."""
        return 1

    def size(self, field: Field) -> int:
        """Return the number of rounds times the number of entries."""
        return field.rounds * field.entries

    def schedule(self, field: Field, outcomes: Outcomes) -> Iterator[Pairing]:
        """Yield the positions one after the other. Every agent plays a position before the next one begins."""
        for number in range(field.rounds):
            for entry in range(field.entries):
                yield Pairing(number, (entry,))
