"""The rows of a leaderboard as plain values, with the keys of its JSON output."""

from collections.abc import Collection
from typing import Any

from arena.results.rating import Strengths
from arena.results.tally import Count, Tally
from arena.stats.clustered import ClusteredMean, effective_size, group_values
from arena.stats.shares import wilson

Row = dict[str, Any]
"""A row of a board: the value of each cell, by the key of its column."""
MIN_OBSERVATIONS = 2
"""The smallest effective number of attempts for an interval of the solved share."""


def versus_row(rank: int | None, entry: int, tally: Tally, rated: Strengths | None, level: Collection[int]) -> Row:
    """Return the row of an entry of a versus board. `level` contains the entries that are neither clearly better nor clearly
    worse.
    """
    count, labels = tally.counts[entry], tally.sheet.labels
    rating, low, high = (None, None, None) if rated is None or not count.games else rated.elo[entry]
    row = {
        "rank": rank,
        "agent": labels[entry],
        "rating": rating,
        "rating_low": low,
        "rating_high": high,
        "level_with": [labels[other] for other in level if tally.counts[other].games],
        "games": count.games,
        "wins": count.wins,
        "draws": count.draws,
        "losses": count.losses,
        "score": count.score,
        "score_first": tally.matches.score_in_seat(entry, 0),
        "score_second": tally.matches.score_in_seat(entry, 1),
        "failures": count.faults.total(),
        "failures_by_kind": dict(sorted(count.faults.items())),
        "fallback_share": _fallback_share(count),
        **_effort(entry, tally),
        **_mean("mean_return", "return", tally.returns.of(entry)),
        **_mean("adjusted", "adjusted", tally.returns.adjusted(entry)),
    }
    if rated is not None:
        better = zip(labels, rated.superiority[entry], strict=True)
        row["superiority"] = {label: likelihood for label, likelihood in better if likelihood is not None}
    return row


def score_row(rank: int | None, entry: int, tally: Tally) -> Row:
    """Return the row of an entry of a score board."""
    count = tally.counts[entry]
    return {
        "rank": rank,
        "agent": tally.sheet.labels[entry],
        "attempts": count.games,
        **_mean("mean_return", "return", tally.returns.of(entry)),
        "best": count.best,
        "moves": per(count.moves, count.moves_of),
        **_effort(entry, tally),
        "failures": count.faults.total(),
        "failures_by_kind": dict(sorted(count.faults.items())),
        "fallback_share": _fallback_share(count),
    }


def _effort(entry: int, tally: Tally) -> Row:
    count = tally.counts[entry]
    seconds = 1000 * count.seconds if tally.is_timed(entry) else None
    return {
        "nodes_per_move": per(count.nodes, count.decisions),
        "ms_per_move": None if seconds is None else per(seconds, count.decisions),
    }


def _mean(key: str, bounds: str, found: ClusteredMean) -> Row:
    return {key: found.mean, f"{bounds}_low": found.low, f"{bounds}_high": found.high}


def puzzle_row(rank: int | None, entry: int, whole: Tally) -> Row:
    """Return the row of an entry of a puzzle board."""
    tally = whole.counts[entry]
    low, high = _solved_interval(entry, whole)
    return {
        "rank": rank,
        "agent": whole.sheet.labels[entry],
        "attempts": tally.games,
        "solved": per(tally.solved, tally.games),
        "solved_low": low,
        "solved_high": high,
        "mean_moves": per(tally.moves, tally.moves_of),
        "mean_moves_failed": per(tally.moves_failed, tally.moves_failed_of),
        "mean_cost": per(tally.cost, tally.cost_of),
        "nodes_per_attempt": per(tally.nodes, tally.games) if tally.searches else None,
        "seconds_per_attempt": per(tally.seconds, tally.games) if whole.is_timed(entry) else None,
        "failures": tally.faults.total(),
        "failures_by_kind": dict(sorted(tally.faults.items())),
        "fallback_share": _fallback_share(tally),
    }


def _solved_interval(entry: int, whole: Tally) -> tuple[float | None, float | None]:
    """Return the interval of the solved share, from the effective number of attempts if some are repeats. There is none if all
    attempts are one observation.
    """
    count, attempts, repeats = whole.counts[entry], whole.attempts[entry], whole.lone.find_repeats().get((entry,))
    size = float(count.games)
    if repeats is not None:
        size = effective_size(group_values(dict(zip(attempts.rounds, map(float, attempts.solved), strict=True)), repeats))
    return wilson(size * (count.solved / count.games), size) if size >= MIN_OBSERVATIONS else (None, None)


def _fallback_share(count: Count) -> float | None:
    return None if count.fallbacks is None else per(count.fallbacks, count.decisions)


def cpu_per_move(count: Count) -> float | None:
    """Return the mean processor time of a decision in seconds; None if it was not measured."""
    return None if count.cpu is None else per(count.cpu, count.decisions)


def per(total: float, count: int) -> float | None:
    """Return a sum divided by the `count` of its values; None without values."""
    return total / count if count else None
