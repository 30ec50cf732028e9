"""The strength of a board's agents by its games: ratings in Elo with intervals, and the state of a sequential test."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from arena.errors import ArenaError
from arena.identity import Stream
from arena.results.pairs import PairedGames, counted, estimated
from arena.schedule.board_info import BoardInfo
from arena.stats.calculator import EloEstimate
from arena.stats.cycles import beats, cycles
from arena.stats.sprt import Sprt, SprtForecast, Verdict, forecast, log_likelihood_ratio

if TYPE_CHECKING:
    from arena.stats.intervals import Ratings

MOST_RATED = 200
"""Entries of a board that is rated; the matrices grow with the square."""


@dataclass(frozen=True, slots=True)
class SprtState:
    """The state of a sequential test."""

    one: str
    """The entry from whose side it is told."""
    other: str
    test: Sprt
    llr: float
    verdict: Verdict | None
    counts: tuple[int, int, int, int, int]
    worth: EloEstimate
    forecast: SprtForecast | None
    """None once it is decided."""


@dataclass(frozen=True, slots=True)
class Strengths:
    """The ratings of a board, by the numbers of its entries."""

    elo: dict[int, tuple[float, float | None, float | None]]
    """Rating, lower and upper bound; None where there is none."""
    level: dict[int, tuple[int, ...]]
    """For each entry the others whose intervals overlap its own."""
    method: str
    """The source of the intervals: `bootstrap` or `sandwich`."""
    cycles: tuple[tuple[int, ...], ...]
    """Intransitive cycles, each lead of which is significant."""
    superiority: tuple[tuple[float | None, ...], ...]
    """The likelihood of superiority of each entry over each other, by their numbers."""


def strengths(sheet: BoardInfo, games: PairedGames) -> Strengths | None:
    """Rate a board; None where it has nothing to rate, or more than MOST_RATED entries."""
    entries = range(len(sheet.labels))
    if len(entries) > MOST_RATED:
        return None
    from arena.stats.intervals import rate
    from arena.stats.plackett_luce import rate_rankings

    anchor = sheet.labels.index(sheet.anchor) if sheet.anchor in sheet.labels else None
    pairings, rankings = games.pairings(), games.rankings()
    try:
        if pairings:
            ratings = rate(pairings, entries, rng=Stream(f"bootstrap/{sheet.title}"), anchor=anchor)
        elif rankings:
            ratings = rate_rankings(rankings, entries, anchor=anchor)
        else:
            return None
    except ArenaError:
        return None
    circles = cycles(beats(pairings)) if pairings else ()
    return _strengths(ratings, circles)


def _strengths(ratings: "Ratings[int]", circles: tuple[tuple[int, ...], ...]) -> Strengths:
    from arena.stats.intervals import overlapping

    rows = ratings.rows
    held = [replace(row, low=0.0, high=0.0) if row.agent == ratings.anchor else row for row in rows]
    level = overlapping(held)
    return Strengths(
        {row.agent: (row.elo, row.low, row.high) for row in rows},
        {entry: tuple(sorted(others)) for entry, others in level.items()},
        ratings.method,
        circles,
        _superiority(ratings, len(rows)),
    )


def _superiority(ratings: "Ratings[int]", entries: int) -> tuple[tuple[float | None, ...], ...]:
    """The likelihood of superiority of each entry over each other; one half of the matrix follows from the other."""
    found: list[list[float | None]] = [[None] * entries for _ in range(entries)]
    for i in range(entries):
        for j in range(i):
            likelihood = ratings.superiority(i, j)
            if likelihood is not None:
                found[i][j], found[j][i] = likelihood, 1 - likelihood
    return tuple(map(tuple, found))


def sprt_state(sheet: BoardInfo, games: PairedGames) -> SprtState | None:
    """The state of a head-to-head board's test; None where there is none."""
    pairs = games.pairings().get((0, 1))
    if sheet.test is None or pairs is None:
        return None
    test, counts = Sprt(**sheet.test), counted(pairs)
    llr = log_likelihood_ratio(counts, test)
    ahead = forecast(test, counts, llr)
    return SprtState(sheet.labels[0], sheet.labels[1], test, llr, test.verdict(llr), counts, estimated(pairs), ahead)
