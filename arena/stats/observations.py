"""The forms in which statistics count games: pairs of games, rankings of three or more, and tables of wins, draws and losses.

A pair is two games from one position, with seats swapped. The two games are correlated, because the better side of a lopsided
opening tends to win both. So for intervals and tests, the independent observation is the pair and not the game. If two
competitors play exactly the same games again, these are not another pair; the repeats are added to the first one.

A competitor is any hashable value that is not None.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

Competitor = TypeVar("Competitor", bound=Hashable)


class WinDrawLoss(NamedTuple):
    """Wins, draws and losses of the first seat: counts, or the probabilities of one game."""

    wins: float = 0
    draws: float = 0
    losses: float = 0

    @property
    def games(self) -> float:
        """Return the number of games."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """Return the points of the first seat; a draw is half a point."""
        return self.wins + self.draws / 2

    def plus(self, other: "WinDrawLoss") -> "WinDrawLoss":
        """Return the sum of two counts."""
        return WinDrawLoss(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses)

    def times(self, count: float) -> "WinDrawLoss":
        """Return the counts, multiplied by a number."""
        return WinDrawLoss(self.wins * count, self.draws * count, self.losses * count)


class Pair(NamedTuple):
    """Games of two competitors from one position. In `forward`, the first one has the first seat; in `backward`, the other one.

    Usually there is one game in each. Repeats of a pair are added to it. If a game was void, its counts stay 0.
    """

    forward: WinDrawLoss
    backward: WinDrawLoss

    @classmethod
    def of(cls, forward: float, backward: float) -> "Pair":
        """Return the pair of two games, given the points of the *first seat* in each: 1, 0.5 or 0."""
        return cls(ONE_GAME[forward], ONE_GAME[backward])

    def plus(self, other: "Pair") -> "Pair":
        """Return the sum of two pairs."""
        return Pair(self.forward.plus(other.forward), self.backward.plus(other.backward))

    def swapped(self) -> "Pair":
        """Return the same games with the two competitors exchanged."""
        return Pair(self.backward, self.forward)

    @property
    def games(self) -> float:
        """Return the number of games."""
        return self.forward.games + self.backward.games

    @property
    def score(self) -> float:
        """Return the share of the points of the first competitor, within [0, 1]; 0.5 without games."""
        return (self.forward.points + self.backward.games - self.backward.points) / self.games if self.games else 0.5


PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The possible scores of a pair, in the order of pentanomial counts."""

ONE_GAME = {1: WinDrawLoss(wins=1), 0.5: WinDrawLoss(draws=1), 0: WinDrawLoss(losses=1)}
"""The counts of a single game; the keys are the points of the first seat."""

Pairings: TypeAlias = Mapping[tuple[Competitor, Competitor], Sequence[Pair]]
"""The pairs of every two competitors that met. There is only one key for two competitors."""

Table: TypeAlias = Mapping[tuple[Competitor, Competitor], WinDrawLoss]
"""The games of every two competitors, for each order of seats. In a key, the competitor in the first seat comes first."""

Ranking: TypeAlias = Sequence[Sequence[Competitor]]
"""The competitors of a game, the best first; tied ones stand together, as in [["a"], ["b", "c"]]. No competitor occurs twice."""


def pentanomial(scores: Iterable[float]) -> tuple[int, int, int, int, int]:
    """Return the numbers of pairs with 0, 0.5, 1, 1.5 and 2 points; `scores` are shares of 0, 0.25, 0.5, 0.75 or 1.

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
    """Return the distinct objects among `pairs` with their multiplicities, in order. Several objects may be equal.

    They are counted by identity, because hashing half a million nested tuples takes ten times as long.
    """
    if isinstance(pairs, CountedPairs):
        return pairs.kinds
    kinds = {id(pair): pair for pair in pairs}
    return [(kinds[kind], count) for kind, count in Counter(map(id, pairs)).items()]


def share_equal(pairings: Pairings[Competitor]) -> dict[tuple[Competitor, Competitor], Sequence[Pair]]:
    """Return the same pairings with one object for all equal pairs, counted in advance."""
    known: dict[Pair, Pair] = {}
    found: dict[tuple[Competitor, Competitor], Sequence[Pair]] = {}
    for seats, pairs in pairings.items():
        counted = CountedPairs([known.setdefault(pair, pair) for pair in pairs])
        counted.kinds = kinds_of(list(counted))
        found[seats] = counted
    return found


def weigh(
    pairings: Pairings[Competitor], weight: Callable[[tuple[Competitor, Competitor]], float]
) -> dict[tuple[Competitor, Competitor], Sequence[Pair]]:
    """Return the same pairings, with the games of each multiplied by its weight."""
    found: dict[tuple[Competitor, Competitor], Sequence[Pair]] = {}
    for seats, pairs in pairings.items():
        found[seats], share = (own := CountedPairs()), weight(seats)
        own.kinds = [(Pair(pair.forward.times(share), pair.backward.times(share)), count) for pair, count in kinds_of(pairs)]
        own += [pair for pair, count in own.kinds for _ in range(count)]
    return found


def table_of(pairings: Pairings[Competitor]) -> dict[tuple[Competitor, Competitor], WinDrawLoss]:
    """Return the games of all pairs, added up for each order of seats. Keys without games are left out."""
    table: dict[tuple[Competitor, Competitor], WinDrawLoss] = {}
    for (one, two), pairs in pairings.items():
        for pair, count in kinds_of(pairs):
            table[one, two] = table.get((one, two), WinDrawLoss()).plus(pair.forward.times(count))
            table[two, one] = table.get((two, one), WinDrawLoss()).plus(pair.backward.times(count))
    return {seats: counts for seats, counts in table.items() if counts.games}


def ranking_of(returns: Mapping[Competitor, float]) -> tuple[tuple[Competitor, ...], ...]:
    """Return the ranking of the competitors in one game by their returns, the highest first.

    >>> ranking_of({"a": 0.0, "b": 1.0, "c": 0.0})
    (('b',), ('a', 'c'))
    """
    levels = sorted(set(returns.values()), reverse=True)
    return tuple(tuple(one for one, got in returns.items() if got == level) for level in levels)
