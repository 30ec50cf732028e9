"""The games of a board, gathered for ratings: in pairs, one position with the seats swapped, or in rankings for three and more.

A game whose seats all played without their random streams can only repeat itself. So where none of a pair's games drew, pairs
that were played alike are one pair, with its repeats added to it; wherever a seat drew, every pair counts for itself, since games
that are short are alike by chance, and to count them once would favour whoever wins quickly.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from arena.stats.pairs import Pair, Tally
from arena.stats.plackett_luce import ranking_of

Entries = tuple[int, int]
Ranking = tuple[tuple[str, ...], ...]


class Half(NamedTuple):
    """A game of a pair whose other game has not come yet."""

    points: float
    play: int
    drew: bool


class Games:
    """Every game of one board that was not void, entry numbers standing for agents."""

    def __init__(self, *, by_round: bool = False) -> None:
        self.by_round = by_round
        """Whether to keep who met whom in which round, as a Swiss table needs it."""
        self._halves: dict[tuple[int, int, int], Half] = {}
        self._drawn: dict[Entries, Counter[Pair]] = defaultdict(Counter)
        self._played: dict[Entries, dict[tuple[int, int], Pair]] = defaultdict(dict)
        self._rankings: dict[tuple[int, ...], dict[object, list[Ranking]]] = defaultdict(lambda: defaultdict(list))
        self._rounds: dict[int, dict[Entries, list[float]]] = defaultdict(lambda: defaultdict(list))
        self.first: dict[int, list[float]] = defaultdict(lambda: [0.0, 0.0])
        """Points and games of every entry in the first seat."""

    def add(self, round_: int, seats: tuple[int, ...], returns: Sequence[float], play: int, drew: bool) -> None:
        """Take one game; `play` tells what was played from what else could have been, `drew` whether any seat drew."""
        if len(seats) != 2:
            self._add_ranking(round_, seats, returns, play, drew)
            return
        got, theirs = returns
        points = 1.0 if got > theirs else 0.5 if got == theirs else 0.0
        total = self.first[seats[0]]
        total[0] += points
        total[1] += 1
        first, second = seats
        if self.by_round:
            shares = self._rounds[round_][min(seats), max(seats)]
            shares.append(points if first < second else 1 - points)
        other = self._halves.pop((round_, second, first), None)
        if other is None:
            self._halves[round_, first, second] = Half(points, play, drew)
            return
        one, two = (other, Half(points, play, drew)) if first > second else (Half(points, play, drew), other)
        entries = (second, first) if first > second else (first, second)
        pair = Pair.of(one.points, two.points)
        if one.drew or two.drew:
            self._drawn[entries][pair] += 1
            return
        played = self._played[entries]
        key = (one.play, two.play)
        before = played.get(key)
        played[key] = pair if before is None else Pair(before.forward.plus(pair.forward), before.backward.plus(pair.backward))

    def _add_ranking(self, round_: int, seats: tuple[int, ...], returns: Sequence[float], play: int, drew: bool) -> None:
        ranking = ranking_of({str(entry): value for entry, value in zip(seats, returns, strict=True)})
        cluster: object = ("round", round_) if drew else ("play", play)
        self._rankings[tuple(sorted(seats))][cluster].append(ranking)

    def pairings(self) -> dict[tuple[str, str], list[Pair]]:
        """The pairs of every two entries who met; games whose other half is missing count as half a pair."""
        found: dict[tuple[str, str], list[Pair]] = defaultdict(list)
        for (one, two), kinds in self._drawn.items():
            for pair, count in kinds.items():
                found[str(one), str(two)] += [pair] * count
        for (one, two), played in self._played.items():
            found[str(one), str(two)] += played.values()
        for (_, first, second), half in self._halves.items():
            tally = Tally(half.points == 1, half.points == 0.5, half.points == 0)
            if first < second:
                found[str(first), str(second)].append(Pair(tally, Tally()))
            else:
                found[str(second), str(first)].append(Pair(Tally(), tally))
        return dict(found)

    def rounds(self) -> dict[int, dict[Entries, float]]:
        """For every round, who met whom, and what share of the points the one with the lower number got."""
        return {
            number: {entries: sum(shares) / len(shares) for entries, shares in met.items()}
            for number, met in self._rounds.items()
        }

    def rankings(self) -> dict[Hashable, list[list[Ranking]]]:
        """The games of every group of three and more, clustered by position."""
        return {group: list(clusters.values()) for group, clusters in self._rankings.items()}
