"""The games of a board as observations for ratings. Two games with two seats form a *pair*: the same position, played twice with
the seats swapped. A game with three or more seats is a ranking. The games of a round share a position, dice and deals.

If no seat of a game used its random stream, playing it again gives the same game, unless the clock decided it (see
`arena.match.record.hash_match`). So if no game of a pair used random numbers, equal pairs count as one pair with a number of
repeats. If a seat used random numbers, every pair counts separately: short games may be equal by chance, and merging them would
favour agents that win quickly. Such a pair takes five bytes.
"""

from array import array
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple, TypeVar

from arena.format import result_points
from arena.stats.calculator import EloEstimate
from arena.stats.likelihood import MIN_OUTCOMES
from arena.stats.observations import (
    ONE_GAME,
    PAIR_SCORES,
    GameResults,
    Pair,
    WinDrawLoss,
    count_choices,
    kinds_of,
    ranking_of,
)
from arena.stats.paired import SIGNIFICANCE_LEVEL

Entries = tuple[int, int]
Key = TypeVar("Key", bound=tuple[int, ...])
Value = TypeVar("Value")
PAIRS_OF_GAMES = [Pair.of(*points) for points in product((0, 0.5, 1), repeat=2)]
"""All pairs of two games. Equal pairs are one object, so that counting is quick."""


def count_pairs(pairs: Sequence[Pair]) -> tuple[int, int, int, int, int]:
    """Return the pentanomial counts: the numbers of pairs with 0, 1/2, 1, 3/2 and 2 points. A repeated pair counts once."""
    counts = [0] * len(PAIR_SCORES)
    for pair, times in kinds_of(pairs):
        if pair.is_whole:
            counts[PAIR_SCORES.index(round(pair.score * 4) / 4)] += times
    return counts[0], counts[1], counts[2], counts[3], counts[4]


def estimate_score(pairs: Sequence[Pair], chance: float = SIGNIFICANCE_LEVEL) -> EloEstimate:
    """Return the score over all games of some pairs, including repeats and incomplete pairs. The interval uses distinct pairs.

    `chance` is the probability that the interval misses the score.
    """
    return EloEstimate.of_results([(pair.score, pair.games, times) for pair, times in kinds_of(pairs)], chance=chance)


class Half(NamedTuple):
    """One game of a pair, without the other game, which has not been played."""

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


class RoundPair(NamedTuple):
    """A pair of games without random numbers, together with all its repeats."""

    round: int
    """The lowest number of their rounds."""
    pair: Pair


def _select(found: Mapping[Key, Value], among: Container[int] | None) -> Iterable[tuple[Key, Value]]:
    """Return the items whose keys, the entries of games, are all `among` some entries."""
    return found.items() if among is None else [item for item in found.items() if item[0][0] in among and item[0][1] in among]


class PairedGames:
    """Every game of one board that was not void. Entries are given by their indices."""

    count_pairs, estimate_score = staticmethod(count_pairs), staticmethod(estimate_score)

    def __init__(self) -> None:
        self.folded = False
        """Whether there are pairs, or games of more than two seats, that were merged because they only repeat others."""
        self._orders: dict[tuple[int, ...], SeatOrder] = {}
        self._orders_of: dict[tuple[int, int], list[SeatOrder]] = defaultdict(list)
        """The same objects by an entry and its seat."""
        self._drawn: dict[Entries, tuple[array[int], bytearray]] = defaultdict(lambda: (array("i"), bytearray()))
        """The pairs that used random numbers: their rounds, and their indices in PAIRS_OF_GAMES."""
        self._played: dict[Entries, dict[tuple[int, int], RoundPair]] = defaultdict(dict)
        self._rankings: dict[tuple[tuple[int, ...], int | None], list[tuple[int, tuple[tuple[int, ...], ...]]]]
        self._rankings = defaultdict(list)
        """The games of three or more entries with their rounds, by seats and, without random numbers, by their moves."""

    def add(self, round_: int, seats: tuple[int, ...], results: Sequence[float], play_hash: int, used_rng: bool) -> None:
        """Add one game. `results` are the numbers by which its seats are compared, see `Record.results`; `play_hash` is a hash of
        its moves and its result, and `used_rng` says whether any seat used random numbers.
        """
        if len(seats) != 2:
            games = self._rankings[seats, None if used_rng else play_hash]
            self.folded |= not used_rng and bool(games)
            games.append((round_, ranking_of(dict(zip(seats, results, strict=True)))))
            return
        order = self._orders.get(seats) or self._order(seats)
        got, theirs = results
        points = result_points(got, theirs)
        order.points += points
        order.games += 1
        other = order.awaited.pop(round_, None)
        if other is None:
            order.waiting[round_] = Half(points, play_hash, used_rng)
            return
        one, two = ((points, play_hash), other[:2]) if order.forward else (other[:2], (points, play_hash))
        if used_rng or other.used_rng:
            rounds, kinds = self._drawn[order.entries]
            rounds.append(round_)
            kinds.append(round(6 * one[0] + 2 * two[0]))
        else:
            played = self._played[order.entries]
            found = RoundPair(round_, Pair.of(one[0], two[0]))
            if (before := played.get((one[1], two[1]))) is not None:
                self.folded = True
                found = RoundPair(min(round_, before.round), before.pair.plus(found.pair))
            played[one[1], two[1]] = found

    @property
    def drew(self) -> bool:
        """Whether any pair of games used random numbers. Otherwise each position has only one game for each order of seats."""
        return any(rounds for rounds, _ in self._drawn.values())

    def _order(self, seats: tuple[int, ...]) -> SeatOrder:
        """Create and return the object for two entries in this order of seats, together with the one for the opposite order."""
        first, second = seats
        one, two = sorted(seats)
        there, back = SeatOrder((one, two), first < second), SeatOrder((one, two), second < first)
        there.waiting = back.awaited = {}
        there.awaited = back.waiting = {}
        self._orders[first, second], self._orders[second, first] = there, back
        for entry, seat, order in ((first, 0, there), (second, 1, there), (second, 0, back), (first, 1, back)):
            self._orders_of[entry, seat].append(order)
        return there

    def pairings(self, among: Container[int] | None = None) -> dict[Entries, list[Pair]]:
        """Return the pairs of every two entries that met; with `among`, only of these entries. A game without the other game of
        its pair counts as half a pair.
        """
        drawn, met = _select(self._drawn, among), _select(self._played, among)
        found = {entries: [PAIRS_OF_GAMES[kind] for kind in kinds] for entries, (_, kinds) in drawn}
        for entries, played in met:
            found.setdefault(entries, []).extend([one.pair for one in played.values()])
        for entries, _, pair in self._halves(among):
            found.setdefault(entries, []).append(pair)
        return found

    def results(self, among: Container[int] | None = None) -> GameResults[int]:
        """Return the results of all games by round, as input for `rate`; with `among`, only of games in which all seats are these
        entries. Repeats belong to the round of the first of them.
        """
        found: GameResults[int] = GameResults()
        points = [2 * pair.score for pair in PAIRS_OF_GAMES]
        for (one, two), (rounds, kinds) in _select(self._drawn, among):
            found.add_pairs(one, two, rounds, map(points.__getitem__, kinds))
        for (one, two), played in _select(self._played, among):
            for round_, pair in played.values():
                found.add_pair(round_, one, two, pair.score * pair.games, pair.games)
        for (one, two), round_, pair in self._halves(among):
            found.add_pair(round_, one, two, pair.score, 1)
        for (seats, play_hash), games in self._rankings.items():
            if among is not None and not all(entry in among for entry in seats):
                continue
            first = min([round_ for round_, _ in games])
            for round_, ranking in games:
                found.add_ranking(round_ if play_hash is None else first, ranking)
        return found

    @property
    def has_many_seats(self) -> bool:
        """Whether games have three or more seats, so that ratings come from the order in which their entries finish."""
        return any(len(seats) > 2 for seats, _ in self._rankings)

    def count_cells(self) -> float:
        """Return the size of the tables that ratings need: for each choice in a game of three or more seats, the square of
        the number of seats. Pairs need few. The result is infinite if so many entries tie that a game cannot be rated.
        """
        ranked = [(len(seats), ranking) for (seats, _), games in self._rankings.items() for _, ranking in games]
        return sum([seats**2 * count_choices(ranking) for seats, ranking in ranked])

    def lacks_partners(self, *entries: int) -> bool:
        """Return whether too few rounds are whole for an interval only because games of some pairs are missing. All
        pairings that include the given entries count, and repeats do not.
        """
        whole = {round_ for both, (rounds, _) in self._drawn.items() if {*entries} <= {*both} for round_ in rounds}
        whole |= {one.round for both, played in self._played.items() if {*entries} <= {*both} for one in played.values()}
        lone: dict[tuple[tuple[int, ...], int, bool], int] = {}
        for seats, order in self._orders.items():
            for round_, half in order.waiting.items() if {*entries} <= {*seats} else ():
                play = (seats, round_ if half.used_rng else half.play_hash, half.used_rng)
                lone[play] = min(round_, lone.get(play, round_))
        return len(whole) < MIN_OUTCOMES <= len(whole.union(lone.values()))

    def _halves(self, among: Container[int] | None = None) -> Iterator[tuple[Entries, int, Pair]]:
        for _, order in _select(self._orders, among):
            for round_, half in order.waiting.items():
                counts = ONE_GAME[half.points]
                yield order.entries, round_, Pair(counts, WinDrawLoss()) if order.forward else Pair(WinDrawLoss(), counts)

    def scores_by_round(self, entries: Entries) -> dict[int, float]:
        """Return the first entry's share of the points in each round with random numbers that both entries completed."""
        rounds, kinds = self._drawn.get(entries, ((), ()))
        return {round_: PAIRS_OF_GAMES[kind].score for round_, kind in sorted(zip(rounds, kinds, strict=True))}

    def count_decided_by_seat(self) -> tuple[int, int]:
        """Return the number of distinct pairs of games in which the same seat won both games, and the number of all pairs."""
        both = (Pair.of(1, 1), Pair.of(0, 0))
        pairs = [pair for _, kinds in self._drawn.values() for pair in map(PAIRS_OF_GAMES.__getitem__, kinds)]
        pairs += [
            Pair.of(*[side.points / side.games for side in one.pair])  # exact, because repeats have the same result
            for played in self._played.values()
            for one in played.values()
        ]
        return sum([pair in both for pair in pairs]), len(pairs)

    def score_in_seat(self, entry: int, seat: int) -> float | None:
        """Return the share of the points that an entry got in the first seat (0) or the second one (1) of games for two; None if
        it has not played there.
        """
        orders = self._orders_of.get((entry, seat), ())
        games = sum([order.games for order in orders])
        if not games:
            return None
        share = sum([order.points for order in orders]) / games
        return share if seat == 0 else 1 - share
