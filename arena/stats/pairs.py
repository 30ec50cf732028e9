"""Pairs of games: one position, played twice with the seats swapped. They, and not single games, are what statistics count.

The two games of a pair are alike (who has the better side of a lopsided opening wins with it), so counting them as two
independent games makes margins wrong. A position that a pair of agents met several times, always playing the very same games, is
still one pair.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias


class Tally(NamedTuple):
    """Games of one agent in the first seat against one in the second: how many the first won, drew and lost."""

    wins: float = 0
    draws: float = 0
    losses: float = 0

    @property
    def games(self) -> float:
        """How many games these are."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """What the first seat scored: a draw is half a point."""
        return self.wins + self.draws / 2

    def plus(self, other: "Tally") -> "Tally":
        """Both together."""
        return Tally(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses)

    def times(self, count: int) -> "Tally":
        """The same so many times."""
        return Tally(self.wins * count, self.draws * count, self.losses * count)


class Pair(NamedTuple):
    """The games of two agents, one and two, from one position: `forward` with one in the first seat, `backward` with two in it.

    Usually a game each. Games that only repeat others are added to the pair that they repeat; a game that is missing, since it
    was void, leaves its tally empty.
    """

    forward: Tally
    backward: Tally

    @classmethod
    def of(cls, forward: float, backward: float) -> "Pair":
        """The pair of two games, given what the *first seat* scored in each: 1, 0.5 or 0 points."""
        return cls(_TALLY[forward], _TALLY[backward])

    def plus(self, other: "Pair") -> "Pair":
        """The games of both together."""
        return Pair(self.forward.plus(other.forward), self.backward.plus(other.backward))

    @property
    def games(self) -> float:
        """How many games these are."""
        return self.forward.games + self.backward.games

    @property
    def score(self) -> float:
        """Agent one's share of the points, within [0, 1]; 0.5 without games."""
        return (self.forward.points + self.backward.games - self.backward.points) / self.games if self.games else 0.5


def swapped(pair: Pair) -> Pair:
    """The same games as the other agent's."""
    return Pair(pair.backward, pair.forward)


_TALLY = {1: Tally(wins=1), 0.5: Tally(draws=1), 0: Tally(losses=1)}

Pairings: TypeAlias = Mapping[tuple[str, str], Sequence[Pair]]
"""All pairs of every two agents who met, by (one, two); each two agents stand there once."""

Table: TypeAlias = Mapping[tuple[str, str], Tally]
"""All games of every two agents in either order, by (agent in the first seat, agent in the second seat)."""

PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The shares of the points that a pair can give, in the order of pentanomial counts."""


def pentanomial(scores: Iterable[float]) -> tuple[int, int, int, int, int]:
    """How many of the pairs scored 0, 0.5, 1, 1.5 and 2 points; `scores` are shares: 0, 0.25, 0.5, 0.75 or 1.

    >>> pentanomial([0.5, 1, 0.5, 0])
    (1, 0, 2, 0, 1)
    """
    counts = [0, 0, 0, 0, 0]
    for score in scores:
        counts[PAIR_SCORES.index(score)] += 1
    return counts[0], counts[1], counts[2], counts[3], counts[4]


def kinds_of(pairs: Sequence[Pair]) -> list[tuple[Pair, int]]:
    """The objects among these pairs and how often each is there, in their order; equal ones may be several objects.

    Half a million pairs that are few objects are counted in a tenth of the time that looking at each would take.
    """
    kinds = {id(pair): pair for pair in pairs}
    return [(kinds[kind], count) for kind, count in Counter(map(id, pairs)).items()]


def table_of(pairings: Pairings) -> dict[tuple[str, str], Tally]:
    """The games of all pairs, added up for every order of two agents."""
    table: dict[tuple[str, str], Tally] = {}
    for (one, two), pairs in pairings.items():
        for pair, count in kinds_of(pairs):
            table[one, two] = table.get((one, two), Tally()).plus(pair.forward.times(count))
            table[two, one] = table.get((two, one), Tally()).plus(pair.backward.times(count))
    return {seats: tally for seats, tally in table.items() if tally.games}
