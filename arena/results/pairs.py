"""The games of a board as observations for ratings. Two games with two seats form a *pair*: the same position, played twice with
the seats swapped. A game with three or more seats is a ranking.

If no seat of a game used its random stream, playing it again gives the same game. So if no game of a pair used random numbers,
equal pairs count as one pair with a number of repeats. If a seat used random numbers, every pair counts separately: short games
may be equal by chance, and merging them would favour agents that win quickly.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from arena.format import result_points
from arena.stats.calculator import EloEstimate
from arena.stats.elo import elo_difference
from arena.stats.observations import ONE_GAME, PAIR_SCORES, Pair, WinDrawLoss, kinds_of, ranking_of

Entries = tuple[int, int]
Rankings = dict[tuple[int, ...], list[list[tuple[tuple[int, ...], ...]]]]
"""The games of three or more entries, by group of entries, and within a group by position."""
NO_GAMES = Pair(WinDrawLoss(), WinDrawLoss())


def count_pairs(pairs: Sequence[Pair]) -> tuple[int, int, int, int, int]:
    """Return the pentanomial counts: the numbers of pairs with 0, 1/2, 1, 3/2 and 2 points. A repeated pair counts once."""
    counts = [0] * len(PAIR_SCORES)
    for pair, times in _whole(pairs):
        counts[_place(pair)] += times
    return counts[0], counts[1], counts[2], counts[3], counts[4]


def estimate_score(pairs: Sequence[Pair]) -> EloEstimate:
    """Return the score over all games of some pairs, including repeats and incomplete pairs. The interval uses distinct pairs.

    Each distinct pair is weighted by its number of games. The effective number of pairs (L. Kish, Survey Sampling, 1965) is
    smaller than their real number if some were repeated more often than others.
    """
    whole = _whole(pairs)
    games, squares = (sum(times * pair.games**power for pair, times in whole) for power in (1, 2))
    weights = [0.0] * len(PAIR_SCORES)
    for pair, times in whole:
        weights[_place(pair)] += times * pair.games * games / squares
    played = sum(times * pair.games for pair, times in kinds_of(pairs))
    score = sum(times * pair.games * pair.score for pair, times in kinds_of(pairs)) / played if played else 0.5
    return replace(EloEstimate.of_pairs(weights), games=played, score=score, elo=elo_difference(score))


def _whole(pairs: Sequence[Pair]) -> list[tuple[Pair, int]]:
    return [(pair, times) for pair, times in kinds_of(pairs) if pair.forward.games and pair.backward.games]


def _place(pair: Pair) -> int:
    return PAIR_SCORES.index(round(pair.score * 4) / 4)


class Half(NamedTuple):
    """One game of a pair whose other game has not been played."""

    points: float
    """The points of the entry in the first seat."""
    play_hash: int
    used_rng: bool


@dataclass(slots=True)
class SeatOrder:
    """The games of two entries in one order of seats."""

    entries: Entries
    """The two entries, the lower index first."""
    forward: bool
    """Whether the entry with the lower index has the first seat."""
    points: float = 0.0
    games: int = 0
    waiting: dict[int, Half] = field(default_factory=dict)
    """For each round, the game in this order that waits for the other game of its pair."""
    awaited: dict[int, Half] = field(default_factory=dict)
    """Waiting games in the other order of seats; the same object as the `waiting` of that order."""
    drawn: Counter[tuple[float, float]] = field(default_factory=Counter)
    """The numbers of pairs that used random numbers. The keys are the points of the first seat in the two games: first in the
    game in this order, which ended last, then in the other one."""


class PairedGames:
    """Every game of one board that was not void. Entries are given by their indices."""

    count_pairs, estimate_score = staticmethod(count_pairs), staticmethod(estimate_score)

    def __init__(self, *, shared: bool = False) -> None:
        """Start without games. `shared` is true if all games of a round share dice and deals; `rounds` needs this."""
        self._by_round: dict[int, dict[Entries, Pair]] | None = defaultdict(dict) if shared else None
        self.folded = False
        """Whether there are pairs, or games of more than two seats, that were merged because they only repeat others."""
        self._orders: dict[tuple[int, ...], SeatOrder] = {}
        self._played: dict[Entries, dict[tuple[int, int], Pair]] = defaultdict(dict)
        self._rankings: dict[tuple[int, ...], dict[object, list[tuple[tuple[int, ...], ...]]]]
        self._rankings = defaultdict(lambda: defaultdict(list))

    def add(self, round_: int, seats: tuple[int, ...], returns: Sequence[float], play_hash: int, used_rng: bool) -> None:
        """Add one game; `play_hash` is a hash of its moves, and `used_rng` says whether any seat used random numbers."""
        if len(seats) != 2:
            cluster: object = ("round", round_) if used_rng else ("play", play_hash)
            games = self._rankings[tuple(sorted(seats))][cluster]
            self.folded |= not used_rng and bool(games)
            games.append(ranking_of(dict(zip(seats, returns, strict=True))))
            return
        order = self._orders.get(seats) or self._order(seats)
        got, theirs = returns
        points = result_points(got, theirs)
        if self._by_round is not None:
            pairs = self._by_round[round_]
            half = Pair(ONE_GAME[points], WinDrawLoss()) if order.forward else Pair(WinDrawLoss(), ONE_GAME[points])
            pairs[order.entries] = pairs.get(order.entries, NO_GAMES).plus(half)
        order.points += points
        order.games += 1
        other = order.awaited.pop(round_, None)
        if other is None:
            order.waiting[round_] = Half(points, play_hash, used_rng)
        elif used_rng or other.used_rng:
            order.drawn[points, other.points] += 1
        else:
            one, two = ((points, play_hash), other[:2]) if order.forward else (other[:2], (points, play_hash))
            pair = Pair.of(one[0], two[0])
            played = self._played[order.entries]
            before = played.get((one[1], two[1]))
            self.folded |= before is not None
            played[one[1], two[1]] = pair if before is None else before.plus(pair)

    def _order(self, seats: tuple[int, ...]) -> SeatOrder:
        """Create and return the object for two entries in this order of seats, together with the one for the opposite order."""
        first, second = seats
        one, two = sorted(seats)
        there, back = SeatOrder((one, two), first < second), SeatOrder((one, two), second < first)
        there.waiting = back.awaited = {}
        there.awaited = back.waiting = {}
        self._orders[first, second], self._orders[second, first] = there, back
        return there

    def pairings(self) -> dict[Entries, list[Pair]]:
        """Return the pairs of every two entries that met. A game without the other game of its pair counts as half a pair."""
        found: dict[Entries, list[Pair]] = defaultdict(list)
        for order in self._orders.values():
            for (mine, theirs), count in order.drawn.items():
                pair = Pair.of(mine, theirs) if order.forward else Pair.of(theirs, mine)
                found[order.entries] += [pair] * count  # the same object, so that counting is quick
        for entries, played in self._played.items():
            found[entries] += played.values()
        for order in self._orders.values():
            for half in order.waiting.values():
                counts = ONE_GAME[half.points]
                found[order.entries].append(Pair(counts, WinDrawLoss()) if order.forward else Pair(WinDrawLoss(), counts))
        return dict(found)

    def rounds(self) -> list[dict[Entries, Pair]] | None:
        """Return the pairs of every two entries in each round; None unless the games of a round share dice and deals."""
        return None if self._by_round is None else list(self._by_round.values())

    def scores_by_round(self, entries: Entries) -> dict[int, float]:
        """Return the first entry's share of the points, for each round with shared dice and deals that both entries completed."""
        met = {number: pairs.get(entries, NO_GAMES) for number, pairs in sorted((self._by_round or {}).items())}
        return {number: pair.score for number, pair in met.items() if pair.forward.games and pair.backward.games}

    def in_first_seat(self, entry: int) -> tuple[float, int]:
        """Return the points and the number of games of an entry in the first seat."""
        orders = [order for (first, _), order in self._orders.items() if first == entry]
        return sum(order.points for order in orders), sum(order.games for order in orders)

    def rankings(self) -> Rankings:
        """Return the games of three or more entries, by group of entries, and within a group by position."""
        return {group: list(clusters.values()) for group, clusters in self._rankings.items()}
