"""Elo of a match with its 95 % interval and the likelihood of superiority, from games or from pairs of games."""

from collections.abc import Sequence
from dataclasses import dataclass

from arena.errors import ArenaError
from arena.stats.elo import elo_difference, normalized_elo
from arena.stats.likelihood import mean_interval, superiority
from arena.stats.observations import PAIR_SCORES

GAME_SCORES = (0.0, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class EloEstimate:
    """A score with its interval, and both in Elo. None: an Elo at 0 or 100 %, any interval under two outcomes."""

    games: float
    """The number of games; a pair has two."""
    score: float
    """The share of the points, within [0, 1]; one half without games."""
    score_low: float | None
    score_high: float | None
    elo: float | None
    elo_low: float | None
    elo_high: float | None
    superiority: float
    """The likelihood of superiority, within [0, 1]."""
    normalized_elo: float | None
    """None for games, because it needs pairs."""

    @property
    def margin(self) -> float | None:
        """Half of the width of Elo's interval; None if the interval has an open end."""
        if self.elo_low is None or self.elo_high is None:
            return None
        return (self.elo_high - self.elo_low) / 2


def elo_of_games(wins: float, draws: float, losses: float) -> EloEstimate:
    """The estimate from games, taken as independent. Raises ArenaError if a count is negative.

    >>> found = elo_of_games(wins=120, draws=80, losses=200)
    >>> round(found.score, 2), round(found.elo or 0, 1), round(found.margin or 0, 1)
    (0.4, -70.4, 31.0)
    """
    return _estimate((losses, draws, wins), GAME_SCORES, games=1)


def elo_of_pairs(counts: Sequence[float]) -> EloEstimate:
    """The estimate from pentanomial counts: of pairs with 0, 0.5, 1, 1.5 and 2 points.

    Raises ArenaError unless there are five counts, none of them negative.
    """
    return _estimate(check_pentanomial(counts), PAIR_SCORES, games=2)


def check_pentanomial(counts: Sequence[float]) -> Sequence[float]:
    """The counts, if they are five and none is negative; raises ArenaError otherwise."""
    if len(counts) != len(PAIR_SCORES) or min(counts) < 0:
        raise ArenaError(
            f"pentanomial: expected five counts of pairs, none negative, for 0, 0.5, 1, 1.5 and 2 points; got {list(counts)}"
        )
    return counts


def _estimate(counts: Sequence[float], scores: Sequence[float], *, games: int) -> EloEstimate:
    if min(counts) < 0:
        raise ArenaError(f"expected counts of games, none negative; got {', '.join(map(str, counts))}")
    total = sum(counts)
    mean = sum(n * score for n, score in zip(counts, scores, strict=True)) / total if total else 0.5
    variance = sum(n * (score - mean) ** 2 for n, score in zip(counts, scores, strict=True)) / total if total else 0.0
    low, high = mean_interval(counts, scores) or (None, None)
    return EloEstimate(
        games=total * games,
        score=mean,
        score_low=low,
        score_high=high,
        elo=elo_difference(mean),
        elo_low=None if low is None else elo_difference(low),
        elo_high=None if high is None else elo_difference(high),
        superiority=superiority(counts, scores, 0.5),
        normalized_elo=normalized_elo(mean, variance) if games == 2 else None,
    )
