"""Games as statistics count them: pairs of games, rankings of three and more, and tables of wins, draws and losses.

A pair is one position played twice, seats swapped. Its two games are correlated (the better side of a lopsided opening tends to
win), so intervals and tests take the pair, not the game, as the independent observation. A position at which two competitors
repeat the very same games is still one pair, its repeats added to it.

A competitor is any hashable value that is not None.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

Competitor = TypeVar("Competitor", bound=Hashable)


class WinDrawLoss(NamedTuple):
    """Wins, draws and losses of the first seat: counts, or the probabilities of one game."""

    wins: float = 0
    draws: float = 0
    losses: float = 0

    @property
    def games(self) -> float:
        """The number of games."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """The first seat's points: a draw is half a point."""
        return self.wins + self.draws / 2

    def plus(self, other: "WinDrawLoss") -> "WinDrawLoss":
        """The sum."""
        return WinDrawLoss(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses)

    def times(self, count: int) -> "WinDrawLoss":
        """The counts multiplied."""
        return WinDrawLoss(self.wins * count, self.draws * count, self.losses * count)


class Pair(NamedTuple):
    """The games of two competitors from one position: `forward` with the first of them in the first seat, `backward` with the
    second.

    Usually a game each. Repeats of a pair are added to it; a void game leaves its counts empty.
    """

    forward: WinDrawLoss
    backward: WinDrawLoss

    @classmethod
    def of(cls, forward: float, backward: float) -> "Pair":
        """The pair of two games, given the points of the *first seat* in each: 1, 0.5 or 0."""
        return cls(ONE_GAME[forward], ONE_GAME[backward])

    def plus(self, other: "Pair") -> "Pair":
        """The sum."""
        return Pair(self.forward.plus(other.forward), self.backward.plus(other.backward))

    @property
    def games(self) -> float:
        """The number of games."""
        return self.forward.games + self.backward.games

    @property
    def score(self) -> float:
        """The first competitor's share of the points, within [0, 1]; 0.5 without games."""
        return (self.forward.points + self.backward.games - self.backward.points) / self.games if self.games else 0.5


def swapped(pair: Pair) -> Pair:
    """The same games from the other competitor's side."""
    return Pair(pair.backward, pair.forward)


ONE_GAME = {1: WinDrawLoss(wins=1), 0.5: WinDrawLoss(draws=1), 0: WinDrawLoss(losses=1)}
"""A single game by the points of the first seat."""

Pairings: TypeAlias = Mapping[tuple[Competitor, Competitor], Sequence[Pair]]
"""The pairs of every two competitors that met; each two occur once."""

Table: TypeAlias = Mapping[tuple[Competitor, Competitor], WinDrawLoss]
"""The games of every two competitors in either order of seats, the first seat first."""

Ranking: TypeAlias = Sequence[Sequence[Competitor]]
"""The competitors of one game, the best first, ties together: [["a"], ["b", "c"]]. No competitor occurs twice."""

PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The possible scores of a pair, in the order of pentanomial counts."""


def pentanomial(scores: Iterable[float]) -> tuple[int, int, int, int, int]:
    """The numbers of pairs with 0, 0.5, 1, 1.5 and 2 points; `scores` are shares: 0, 0.25, 0.5, 0.75 or 1.

    >>> pentanomial([0.5, 1, 0.5, 0])
    (1, 0, 2, 0, 1)
    """
    counts = [0, 0, 0, 0, 0]
    for score in scores:
        counts[PAIR_SCORES.index(score)] += 1
    return counts[0], counts[1], counts[2], counts[3], counts[4]


class CountedPairs(list[Pair]):
    """Pairs that have already been counted."""

    kinds: list[tuple[Pair, int]]
    """The distinct pairs with their multiplicities."""


def kinds_of(pairs: Sequence[Pair]) -> list[tuple[Pair, int]]:
    """The distinct objects among `pairs` with their multiplicities, in order; equal pairs may be several objects.

    They are counted by identity, because hashing half a million nested tuples takes ten times as long, and callers repeat few
    objects.
    """
    if isinstance(pairs, CountedPairs):
        return pairs.kinds
    kinds = {id(pair): pair for pair in pairs}
    return [(kinds[kind], count) for kind, count in Counter(map(id, pairs)).items()]


def share_equal(pairings: Pairings[Competitor]) -> dict[tuple[Competitor, Competitor], Sequence[Pair]]:
    """Return the same pairings, counted in advance, with one object for all equal pairs."""
    known: dict[Pair, Pair] = {}
    found: dict[tuple[Competitor, Competitor], Sequence[Pair]] = {}
    for seats, pairs in pairings.items():
        counted = CountedPairs([known.setdefault(pair, pair) for pair in pairs])
        counted.kinds = kinds_of(list(counted))
        found[seats] = counted
    return found


def table_of(pairings: Pairings[Competitor]) -> dict[tuple[Competitor, Competitor], WinDrawLoss]:
    """The games of all pairs, added up for every order of seats; no entry without games."""
    table: dict[tuple[Competitor, Competitor], WinDrawLoss] = {}
    for (one, two), pairs in pairings.items():
        for pair, count in kinds_of(pairs):
            table[one, two] = table.get((one, two), WinDrawLoss()).plus(pair.forward.times(count))
            table[two, one] = table.get((two, one), WinDrawLoss()).plus(pair.backward.times(count))
    return {seats: counts for seats, counts in table.items() if counts.games}


def ranking_of(returns: Mapping[Competitor, float]) -> tuple[tuple[Competitor, ...], ...]:
    """The ranking of one game by the competitors' returns, the highest first.

    >>> ranking_of({"a": 0.0, "b": 1.0, "c": 0.0})
    (('b',), ('a', 'c'))
    """
    levels = sorted(set(returns.values()), reverse=True)
    return tuple(tuple(one for one, got in returns.items() if got == level) for level in levels)
