"""The Elo of a match with its 95 % interval and the likelihood of superiority, from games or from pairs of games."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import floor
from typing import ClassVar, Generic, TypeAlias

from arena.errors import ArenaError
from arena.stats.distributions import list_plain
from arena.stats.elo import elo_difference, normalized_elo
from arena.stats.likelihood import MIN_OUTCOMES, mean_interval
from arena.stats.observations import PAIR_SCORES, Competitor, GameResults
from arena.stats.paired import SIGNIFICANCE_LEVEL, PairedTest, agree, test_differences

GAME_SCORES = (0.0, 0.5, 1.0)
Lead: TypeAlias = tuple[float | None, float | None, float | None]
"""A lead in Elo and its bounds. One bound is None if the interval is open on that side, both are None if there is no interval."""
UNKNOWN_LEAD: Lead = (None, None, None)
SWEEP = "exact sign test"
MAX_HALVINGS = 60
"""The smallest p-value of a lead without a lost game is 1 / 2 to this power."""


@dataclass(frozen=True, slots=True)
class EloEstimate:
    """A score with its interval, also in Elo. Elo is None for scores of 0 and 100 %, intervals for fewer than three outcomes."""

    PAIR_SCORES: ClassVar = PAIR_SCORES
    """The possible scores of a pair, in the order of pentanomial counts."""
    games: float
    """The number of games; a pair has two."""
    score: float
    """The share of the points, from 0 to 1; one half without games."""
    score_low: float | None
    score_high: float | None
    elo: float | None
    elo_low: float | None
    elo_high: float | None
    superiority: float
    """The likelihood of superiority: how certain it is, from 0 to 1, that the first side is better. It is 1 minus half of the
    p-value, or half of the p-value if the first side is behind."""
    p_value: float
    """The two-sided p-value of the hypothesis that both sides are equal, by the `test`. The interval contains a score of one half
    exactly if the p-value is above its level."""
    test: str
    normalized_elo: float | None
    """The normalised Elo; None for single games, because it needs pairs."""

    @staticmethod
    def of_games(wins: float, draws: float, losses: float) -> "EloEstimate":
        """Return the estimate from single games, which are treated as independent. Raises ArenaError if a count is negative.

        >>> found = EloEstimate.of_games(wins=120, draws=80, losses=200)
        >>> round(found.score, 2), round(found.elo or 0, 1), round(found.margin or 0, 1)
        (0.4, -70.4, 31.0)
        """
        losses, draws, wins = list_plain((losses, draws, wins))
        return _estimate((losses, draws, wins), GAME_SCORES, {-1: losses, 0: draws, 1: wins}, games=1)

    @staticmethod
    def of_pairs(counts: Sequence[float]) -> "EloEstimate":
        """Return the estimate from pentanomial counts: the numbers of pairs with 0, 0.5, 1, 1.5 and 2 points.

        Raises ArenaError unless there are five counts, none of them negative.
        """
        counts = list_plain(counts)
        leads = dict(zip((-2.0, -1.0, 0.0, 1.0, 2.0), EloEstimate.check_counts(counts), strict=True))
        return _estimate(counts, PAIR_SCORES, leads, games=2)

    @staticmethod
    def of_results(results: Iterable[tuple[float, float, int]], *, chance: float = SIGNIFICANCE_LEVEL) -> "EloEstimate":
        """Return the estimate from the results of pairs of games: the share of the points, the number of games, and how many
        pairs had this result.

        The score counts all games. The interval counts pairs, and leaves out games whose pair is incomplete. If a pair was
        repeated, so that it has more than two games, it has a larger weight. The effective number of pairs (L. Kish, Survey
        Sampling, 1965) is smaller than their real number if some were repeated more often than others. `chance` is the
        probability that the interval misses the score, and the level of its test.
        """
        found = [tuple(list_plain(one)) for one in results]
        whole = [(score, games, times) for score, games, times in found if games > 1]
        total, squares = (sum(times * games**power for _, games, times in whole) for power in (1, 2))
        weights, leads = [0.0] * len(PAIR_SCORES), Counter[float]()
        for score, games, times in whole:
            weights[PAIR_SCORES.index(round(score * 4) / 4)] += times * games * total / squares
            leads[round(games * (2 * score - 1))] += times
        played = sum(times * games for _, games, times in found)
        share = sum(times * games * score for score, games, times in found) / played if played else 0.5
        estimate = _estimate(weights, PAIR_SCORES, leads, games=2, chance=chance)
        return replace(estimate, games=played, score=share, elo=elo_difference(share))

    @staticmethod
    def check_counts(counts: Sequence[float]) -> Sequence[float]:
        """Return the counts unchanged. Raises ArenaError unless there are five, none of them negative."""
        if len(counts) != len(PAIR_SCORES) or min(counts) < 0:
            raise ArenaError(
                f"pentanomial: expected five non-negative counts of pairs, for 0, 0.5, 1, 1.5 and 2 points; got {list(counts)}"
            )
        return counts

    @property
    def margin(self) -> float | None:
        """Half of the width of the interval of the Elo; None if the interval has an open end."""
        if self.elo_low is None or self.elo_high is None:
            return None
        return (self.elo_high - self.elo_low) / 2


def _estimate(
    counts: Sequence[float],
    scores: Sequence[float],
    leads: Mapping[float, float],
    *,
    games: int,
    chance: float = SIGNIFICANCE_LEVEL,
) -> EloEstimate:
    """Return the estimate from counted outcomes. `leads` contains the points by which the first side led in them, for the
    test.
    """
    if min(counts) < 0:
        raise ArenaError(f"expected non-negative counts of games; got {', '.join(map(str, counts))}")
    total = sum(counts)
    mean = sum(n * score for n, score in zip(counts, scores, strict=True)) / total if total else 0.5
    variance = sum(n * (score - mean) ** 2 for n, score in zip(counts, scores, strict=True)) / total if total else 0.0
    test: PairedTest = test_differences(Counter({lead: round(times) for lead, times in leads.items() if times}))
    lead = sum([lead * times for lead, times in leads.items()])
    found = mean_interval(counts, scores, chance) or (None, None)
    low, high = agree(found, decided=test.p_value <= chance, value=0.5 + lead, equal=0.5)
    return EloEstimate(
        games=total * games,
        score=mean,
        score_low=low,
        score_high=high,
        elo=elo_difference(mean),
        elo_low=None if low is None else elo_difference(low),
        elo_high=None if high is None else elo_difference(high),
        superiority=1 - test.p_value / 2 if lead > 0 else test.p_value / 2 if lead else 0.5,
        p_value=test.p_value,
        test=test.name,
        normalized_elo=normalized_elo(mean, variance) if games == 2 else None,
    )


def estimate_match(
    games: GameResults[Competitor], one: Competitor, two: Competitor, chance: float = SIGNIFICANCE_LEVEL
) -> EloEstimate:
    """Return the score of one competitor against another one in all games with two seats."""
    results: list[tuple[float, float, int]] = []
    for place, seats in enumerate(((one, two), (two, one))):
        _, shares = games.rows.get(seats, ((), ()))
        counted = Counter(zip(shares[::2], shares[1::2], strict=True))
        results += [(points[place] / sum(points), sum(points), times) for points, times in counted.items()]
    return EloEstimate.of_results(results, chance=chance)


class MatchFit(Generic[Competitor]):
    """The ratings of two competitors, by their indices 0 and 1, in games with two seats: their lead is the Elo of the score.

    If one of them won everything, the lead and its bound are those of a sweep, see `arena.stats.ratings`. `FieldFit` finds the
    same for any number of competitors, but imports numpy, which takes longer than a short tournament.
    """

    def __init__(self, agents: tuple[Competitor, ...], anchor: int | None, games: GameResults[Competitor]) -> None:
        one, two = agents
        self._estimate = cache(lambda chance: estimate_match(games, one, two, chance))
        sizes, by_round = list[float](), dict[int, float]()
        for rounds, points in games.rows.values():
            for round_, size in zip(rounds, map(sum, zip(points[::2], points[1::2], strict=True)), strict=True):
                if size > 1:  # a single game without the other game of its pair is not an observation
                    sizes.append(size)
                    by_round[round_] = by_round.get(round_, 0.0) + size
        self._pairs, self._rounds = count_effective(sizes), count_effective(by_round.values())
        self.zero: tuple[int, ...] = (anchor,) if anchor is not None else (0, 1) if games.rows else ()

    def lead(self, one: int, two: int) -> float:
        """Return the lead of a competitor over another one in Elo; 0 if they have not met."""
        return self.find_lead(one, (two,))[0] or 0.0

    def find_lead(self, one: int, others: Sequence[int], chance: float = SIGNIFICANCE_LEVEL) -> Lead:
        """Return the lead of a competitor over the mean of others, with the interval that misses it with this probability."""
        if tuple(others) == (one,):
            return 0.0, None, None
        if not others or not self._estimate(chance).games:
            return UNKNOWN_LEAD
        elo, low, high = self._find_lead(chance)
        part = 1 / len(others)  # one of two competitors leads their mean by half of its lead over the other one
        if one == 0:
            return elo * part, None if low is None else low * part, None if high is None else high * part
        return 0.0 - elo * part, None if high is None else 0.0 - high * part, None if low is None else 0.0 - low * part

    def _find_lead(self, chance: float) -> tuple[float, float | None, float | None]:
        """Return the lead of the first competitor, and its bounds."""
        found = self._estimate(chance)
        elo, low, high = found.elo, found.elo_low, found.elo_high
        if elo is not None:
            if low is None or high is None or self._rounds < MIN_OUTCOMES:
                return elo, None, None
            # the score counts single games, and its interval does not, so the score may lie outside
            return elo, elo - abs(elo - low), elo + abs(high - elo)
        even = self._find_sweep(0.5)
        bound = min(even, self._find_sweep(chance)) if self._rounds >= MIN_OUTCOMES else None
        if bound is not None and 2 ** (1 - self._pairs) > chance:  # the sign test does not decide
            bound = min(bound, 0.0)
        return (even, bound, None) if found.score == 1 else (0.0 - even, None, None if bound is None else 0.0 - bound)

    def _find_sweep(self, chance: float) -> float:
        """Return the lead at which the probability to win all pairs is `chance`; 0 without a pair."""
        return elo_difference(chance ** (1 / self._pairs)) or 0.0 if self._pairs else 0.0

    def test(self, one: int, two: int) -> tuple[float, str, bool]:
        """Return the p-value of the lead, the name of its test, and whether a likelihood of superiority may be given.

        The name is empty if there is no test.
        """
        found = self._estimate(SIGNIFICANCE_LEVEL)
        if one != two and found.games and found.elo is not None:
            return found.p_value, "" if found.elo_low is None else found.test, True
        if self.find_lead(one, (two,))[1:] == (None, None):
            return 1.0, "", False
        return 0.5 ** min(MAX_HALVINGS, floor(self._pairs - 1)), SWEEP, True

    def find_spread(self) -> float:
        """Return the standard deviation of leads about the differences of ratings, which is 0, because there is only one lead."""
        return 0.0


def count_effective(sizes: Collection[float]) -> float:
    """Return the effective number of observations with these sizes (L. Kish, Survey Sampling, 1965); 0 if there are none.

    >>> count_effective([2, 2, 2]), count_effective([4, 2])
    (3.0, 1.8)
    """
    return sum(sizes) ** 2 / sum([size**2 for size in sizes]) if sizes else 0.0
