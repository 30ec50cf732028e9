"""The games of a board, gathered for ratings: in pairs, one position with the seats swapped, or in rankings for three and more.

A game whose seats all played without their random streams can only repeat itself. So where none of a pair's games drew, pairs
that were played alike are one pair, with its repeats added to it; wherever a seat drew, every pair counts for itself, since games
that are short are alike by chance, and to count them once would favour whoever wins quickly.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from arena.format import result_points
from arena.stats.pairs import Pair, Tally
from arena.stats.plackett_luce import ranking_of

Entries = tuple[int, int]
Ranking = tuple[tuple[str, ...], ...]


Half = tuple[float, int, bool]
"""A game of a pair whose other game has not come yet: points of the first seat, what was played, whether a seat drew."""


@dataclass(slots=True)
class _Order:
    """The games of two entries in one order of seats."""

    entries: Entries
    """The lower number first."""
    forward: bool
    """Whether the lower number sits first."""
    points: float = 0.0
    games: int = 0
    waiting: dict[int, Half] = field(default_factory=dict)
    """By round, games in this order whose others have not come yet."""
    awaited: dict[int, Half] = field(default_factory=dict)
    """Likewise in the other order."""
    drawn: Counter[tuple[float, float]] = field(default_factory=Counter)
    """Pairs in which a seat drew, by what the first seats scored in this order, which came last, and in the other."""


class Games:
    """Every game of one board that was not void, entry numbers standing for agents."""

    def __init__(self, *, by_round: bool = False) -> None:
        self.by_round = by_round
        """Whether to keep who met whom in which round, as a Swiss table needs it."""
        self.folded = False
        """Whether pairs, or games of more than two seats, that only repeat others have been added to these."""
        self._orders: dict[tuple[int, ...], _Order] = {}
        self._played: dict[Entries, dict[tuple[int, int], Pair]] = defaultdict(dict)
        self._rankings: dict[tuple[int, ...], dict[object, list[Ranking]]] = defaultdict(lambda: defaultdict(list))
        self._rounds: dict[int, dict[Entries, list[float]]] = defaultdict(lambda: defaultdict(list))

    def add(self, round_: int, seats: tuple[int, ...], returns: Sequence[float], play: int, drew: bool) -> None:
        """Take one game; `play` tells what was played from what else could have been, `drew` whether any seat drew."""
        if len(seats) != 2:
            self._add_ranking(round_, seats, returns, play, drew)
            return
        order = self._orders.get(seats) or self._order(seats)
        got, theirs = returns
        points = result_points(got, theirs)
        order.points += points
        order.games += 1
        if self.by_round:
            first, second = seats
            shares = self._rounds[round_][min(seats), max(seats)]
            shares.append(points if first < second else 1 - points)
        other = order.awaited.pop(round_, None)
        if other is None:
            order.waiting[round_] = (points, play, drew)
        elif drew or other[2]:
            order.drawn[points, other[0]] += 1
        else:
            one, two = ((points, play), other) if order.forward else (other, (points, play))
            pair = Pair.of(one[0], two[0])
            played = self._played[order.entries]
            before = played.get((one[1], two[1]))
            self.folded |= before is not None
            played[one[1], two[1]] = pair if before is None else before.plus(pair)

    def _order(self, seats: tuple[int, ...]) -> "_Order":
        """What is known of two entries in this order of seats, made together with the other order."""
        first, second = seats
        one, two = sorted(seats)
        there, back = _Order((one, two), first < second), _Order((one, two), second < first)
        there.waiting = back.awaited = {}
        there.awaited = back.waiting = {}
        self._orders[first, second], self._orders[second, first] = there, back
        return there

    def _add_ranking(self, round_: int, seats: tuple[int, ...], returns: Sequence[float], play: int, drew: bool) -> None:
        ranking = ranking_of({str(entry): value for entry, value in zip(seats, returns, strict=True)})
        cluster: object = ("round", round_) if drew else ("play", play)
        games = self._rankings[tuple(sorted(seats))][cluster]
        self.folded |= not drew and bool(games)
        games.append(ranking)

    def pairings(self) -> dict[tuple[str, str], list[Pair]]:
        """The pairs of every two entries who met; games whose other half is missing count as half a pair."""
        found: dict[tuple[str, str], list[Pair]] = defaultdict(list)
        for order in self._orders.values():
            one, two = order.entries
            for (mine, theirs), count in order.drawn.items():
                pair = Pair.of(mine, theirs) if order.forward else Pair.of(theirs, mine)
                found[str(one), str(two)] += [pair] * count
        for (one, two), played in self._played.items():
            found[str(one), str(two)] += played.values()
        for order in self._orders.values():
            one, two = order.entries
            for points, _, _ in order.waiting.values():
                tally = Tally(points == 1, points == 0.5, points == 0)
                found[str(one), str(two)].append(Pair(tally, Tally()) if order.forward else Pair(Tally(), tally))
        return dict(found)

    def in_first_seat(self, entry: int) -> tuple[float, int]:
        """The points and the games of an entry in the first seat."""
        orders = [order for (first, _), order in self._orders.items() if first == entry]
        return sum(order.points for order in orders), sum(order.games for order in orders)

    def rounds(self) -> dict[int, dict[Entries, float]]:
        """For every round, who met whom, and what share of the points the one with the lower number got."""
        return {
            number: {entries: sum(shares) / len(shares) for entries, shares in met.items()}
            for number, met in self._rounds.items()
        }

    def rankings(self) -> dict[Hashable, list[list[Ranking]]]:
        """The games of every group of three and more, clustered by position."""
        return {group: list(clusters.values()) for group, clusters in self._rankings.items()}
