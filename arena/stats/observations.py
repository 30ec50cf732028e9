"""The forms in which statistics count games: pairs of games, rankings of three or more, and results by round.

A pair is two games from one position, with seats swapped. The two games are correlated, because the better side of a lopsided
opening tends to win both. So for intervals and tests, the independent observation is the pair and not the game. If two
competitors play exactly the same games again, these are not another pair; the repeats are added to the first one.

A competitor is any hashable value that is not None.
"""

from array import array
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from math import comb, inf
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from arena.errors import ArenaError

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
    def is_whole(self) -> bool:
        """Return whether both games have been played. If the other one is void or in another shard, a game is not a pair."""
        return bool(self.forward.games and self.backward.games)

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

Ranking: TypeAlias = Sequence[Sequence[Competitor]]
"""The competitors of a game, the best first; tied ones stand together, as in [["a"], ["b", "c"]]. No competitor occurs twice."""

MAX_TIED = 12
"""The largest number of competitors that may tie. The average over their orders visits every subset of them."""


def kinds_of(pairs: Sequence[Pair]) -> list[tuple[Pair, int]]:
    """Return the distinct objects among `pairs` with their multiplicities, in order. Several objects may be equal.

    They are counted by identity, because hashing half a million nested tuples takes ten times as long.
    """
    kinds = {id(pair): pair for pair in pairs}
    return [(kinds[kind], count) for kind, count in Counter(map(id, pairs)).items()]


class GameResults(Generic[Competitor]):
    """The results of games by round, which `rate` turns into ratings.

    Every result divides points among some competitors. In games with two seats, these are the points of both. A ranking is a
    sequence of choices, the best of all first, then the best of the rest, and so on; the chosen competitor gets the point.

    >>> games: GameResults[str] = GameResults()
    >>> games.add_pair(0, "ada", "bob", 1.5)
    >>> games.add_ranking(1, [["ada"], ["bob", "eve"]])
    >>> list(games.rows)
    [('ada', 'bob'), ('ada', 'bob', 'eve'), ('bob', 'eve')]
    """

    def __init__(self) -> None:
        self.rows: dict[tuple[Competitor, ...], tuple[array[int], array[float]]] = {}
        """For each group of competitors, the number of the round of each result, and the points of all of them in each result."""
        self.paired = True
        """Whether all results are from games with two seats."""

    def add_pair(self, round_: int, one: Competitor, two: Competitor, points: float, games: float = 2) -> None:
        """Add the games of two competitors in one round: the points of `one`, where a draw is half a point.

        Games that repeat the games of another round move by move are added to that round. Raises ArenaError unless `points` is
        from 0 to `games`, which is above 0.
        """
        if not 0 <= points <= games or games <= 0:
            raise ArenaError(f"ratings: expected points from 0 to the number of games, got {points} in {games} games")
        self._add(round_, (one, two), (points, games - points))

    def add_pairs(self, one: Competitor, two: Competitor, rounds: Iterable[int], points: Iterable[float]) -> None:
        """Add a pair of games for each of many rounds, given the points of `one`."""
        known, shares = self.rows.setdefault((one, two), (array("q"), array("d")))
        known.extend(iter(rounds))
        shares.extend([share for got in points for share in (got, 2 - got)])

    def add_ranking(self, round_: int, ranking: Ranking[Competitor]) -> None:
        """Add a game with three or more seats. If some competitors tie, all their possible orders count in equal shares.

        Raises ArenaError if more than MAX_TIED competitors tie.
        """
        self.paired = False
        for k, level in enumerate(ranking):
            if len(level) > MAX_TIED:
                raise ArenaError(f"ratings: expected at most {MAX_TIED} agents to tie in one game, got {len(level)}")
            below = tuple([one for later in ranking[k + 1 :] for one in later])
            for left in range(1, len(level) + 1):  # if k tie, any `left` of them hold the last places with the same probability
                for tied in combinations(level, left):
                    if below or left > 1:
                        share = 1 / comb(len(level), left) / left
                        self._add(round_, (*tied, *below), (*[share] * left, *[0.0] * len(below)))

    def _add(self, round_: int, group: tuple[Competitor, ...], points: Sequence[float]) -> None:
        rounds, shares = self.rows.setdefault(group, (array("q"), array("d")))
        rounds.append(round_)
        shares.extend(points)


def count_choices(ranking: Ranking[Competitor]) -> float:
    """Return the number of results into which `GameResults.add_ranking` divides a ranking; infinite if too many tie.

    >>> count_choices([["a"], ["b", "c"]]), count_choices([list("abcdefghijklm")])
    (2, inf)
    """
    if any(len(level) > MAX_TIED for level in ranking):
        return inf
    last = len(ranking[-1]) if ranking else 0  # the last of all is no choice
    return sum([(1 << len(level)) - 1 for level in ranking]) - last


def ranking_of(returns: Mapping[Competitor, float]) -> tuple[tuple[Competitor, ...], ...]:
    """Return the ranking of the competitors in one game by their returns, the highest first.

    >>> ranking_of({"a": 0.0, "b": 1.0, "c": 0.0})
    (('b',), ('a', 'c'))
    """
    levels = sorted(set(returns.values()), reverse=True)
    return tuple(tuple(one for one, got in returns.items() if got == level) for level in levels)
