"""What a board's games say about how strong its agents are: ratings in Elo with intervals, and tests."""

from dataclasses import dataclass, replace

from arena.errors import ArenaError
from arena.games import Games
from arena.identity import Stream
from arena.schedule.board_info import BoardInfo
from arena.stats.calculator import Worth, worth_of_pairs
from arena.stats.cycles import beats, cycles
from arena.stats.intervals import Ratings, overlapping, rate
from arena.stats.pairs import pentanomial
from arena.stats.plackett_luce import rate_rankings
from arena.stats.sprt import Sprt, log_likelihood_ratio

MOST_RATED = 200
"""Entries of a board that is rated; the matrices grow with the square."""


@dataclass(frozen=True, slots=True)
class Decision:
    """How a test stands."""

    one: str
    """Whose view it is."""
    other: str
    llr: float
    lower: float
    upper: float
    verdict: str | None
    counts: tuple[int, int, int, int, int]
    worth: Worth


@dataclass(frozen=True, slots=True)
class Strengths:
    """The ratings of a board, by the numbers of its entries."""

    elo: dict[int, tuple[float, float | None, float | None]]
    """Rating, lower and upper bound; None where nothing can be said."""
    level: dict[int, tuple[int, ...]]
    """For each entry the others whose intervals overlap its own."""
    method: str
    """Where the intervals come from: `bootstrap` or `sandwich`."""
    cycles: tuple[tuple[int, ...], ...]
    """Who beats whom in a circle, each by more than chance."""
    superiority: tuple[tuple[float | None, ...], ...]
    """The likelihood that each entry is better than each other, by their numbers."""


def strengths(sheet: BoardInfo, games: Games) -> Strengths | None:
    """Rate a board; None where it has nothing to rate, or more entries than that is sensible for."""
    entries = [str(entry) for entry in range(len(sheet.labels))]
    if len(entries) > MOST_RATED:
        return None
    anchor = str(sheet.labels.index(sheet.anchor)) if sheet.anchor in sheet.labels else None
    pairings, rankings = games.pairings(), games.rankings()
    try:
        if pairings:
            ratings = rate(pairings, entries, rng=Stream(f"bootstrap/{sheet.title}"), anchor=anchor)
        elif rankings:
            ratings = rate_rankings(dict(rankings), entries, anchor=anchor)
        else:
            return None
    except ArenaError:
        return None
    circles = cycles(beats(pairings)) if pairings else ()
    return _strengths(ratings, entries, circles)


def _strengths(ratings: Ratings, entries: list[str], circles: tuple[tuple[str, ...], ...]) -> Strengths:
    rows = ratings.rows
    held = [replace(row, low=0.0, high=0.0) if row.agent == ratings.anchor else row for row in rows]
    level = overlapping(held)
    return Strengths(
        {int(row.agent): (row.elo, row.low, row.high) for row in rows},
        {int(agent): tuple(sorted(map(int, others))) for agent, others in level.items()},
        ratings.method,
        tuple([tuple(map(int, circle)) for circle in circles]),
        _superiority(ratings, entries),
    )


def _superiority(ratings: Ratings, entries: list[str]) -> tuple[tuple[float | None, ...], ...]:
    """How sure one may be that each entry is better than each other; the one half follows from the other."""
    found: list[list[float | None]] = [[None] * len(entries) for _ in entries]
    for i, one in enumerate(entries):
        for j in range(i):
            likelihood = ratings.superiority(one, entries[j])
            if likelihood is not None:
                found[i][j], found[j][i] = likelihood, 1 - likelihood
    return tuple(map(tuple, found))


def decision(sheet: BoardInfo, games: Games) -> Decision | None:
    """How the test of a head-to-head board stands; None where there is none."""
    pairs = games.pairings().get(("0", "1"))
    if sheet.test is None or pairs is None:
        return None
    test = Sprt(**sheet.test)
    whole = [pair for pair in pairs if pair.forward.games and pair.backward.games]
    counts = pentanomial([_rounded(pair.score) for pair in whole])  # repeats of a pair are in it, and count once
    llr = log_likelihood_ratio(counts, test)
    return Decision(
        sheet.labels[0], sheet.labels[1], llr, test.lower, test.upper, test.verdict(llr), counts, worth_of_pairs(counts)
    )


def _rounded(score: float) -> float:
    return round(score * 4) / 4
