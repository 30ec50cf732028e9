"""The strength of a board's agents by its games: ratings in Elo with intervals."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

from arena.errors import ArenaError
from arena.identity import Stream
from arena.results.pairs import Entries, PairedGames, Rankings
from arena.schedule.board_info import BoardInfo
from arena.stats.cycles import beats, cycles
from arena.stats.observations import Pair

if TYPE_CHECKING:
    from arena.stats.intervals import Ratings

MAX_RATED_ENTRIES = 200
"""The most entries of a rated board; the matrices grow with the square."""
MAX_INTERVAL_ELO = 300
"""The largest distance of a 95 % interval to either side, in Elo, for its rating to be shown."""
MIN_DECISIVE_PAIRS = 6
"""The fewest decisive pairs that such an interval needs: n of them among equals give 1.96 * 2 * ELO / sqrt(n)."""


@dataclass(frozen=True, slots=True)
class Strengths:
    """The ratings of a board, by the numbers of its entries."""

    elo: dict[int, tuple[float, float | None, float | None]]
    """Rating, lower and upper bound; None if missing."""
    level: dict[int, tuple[int, ...]]
    """For each entry the others with overlapping intervals."""
    method: str
    """The source of the intervals: `bootstrap` or `sandwich`."""
    cycles: tuple[tuple[int, ...], ...]
    """Intransitive cycles, each lead of which is significant."""
    superiority: tuple[tuple[float | None, ...], ...]
    """The likelihood of superiority of each entry over each other, by their numbers."""
    anchor: int | None
    """The entry with the rating 0; None if the field's mean is 0."""
    favour: float = 0.0
    """The standard deviation, in Elo, of the advantage that openings give a seat; 0 if the games show none."""
    pairing_spread: float = 0.0
    """The standard deviation, in Elo, by which pairings differ from the ratings; 0 if this may be chance."""


@dataclass(frozen=True, slots=True)
class UnknownRatings:
    """Entries with games whose ratings are not shown, as their intervals are wider than MAX_INTERVAL_ELO, open, or missing."""

    entries: frozenset[int]
    swept: tuple[int, ...]
    """The entries among these with all points or none, whose intervals keep one bound as long as this continues."""
    decisive: int
    """The number of pairs of games, on the whole board, in which one side took more of the points."""
    needed: int | None
    """About how many of these pairs would give the others narrow intervals; None for games that do not come in pairs."""

    def describe(self, labels: Sequence[str]) -> Iterator[str]:
        """Yield the remarks on the board: which matches would make the ratings known."""
        if self.entries - set(self.swept):
            line = f"? : the 95 % interval is wider than ±{MAX_INTERVAL_ELO} Elo: no rating yet."
            if self.needed is not None:
                pairs = f"{self.decisive:,}" if self.decisive else "none"
                about = "at least" if self.swept else "about"
                line += f" It takes {about} {self.needed:,} decisive pairs of games in all; there are {pairs}."
            yield line
        if self.swept:
            names = ", ".join([labels[entry] for entry in self.swept])
            yield f"? of {names}: all points or none, which bounds a rating on one side alone; it takes a point the other way."


def unknown_ratings(rated: Strengths, games: PairedGames, played: Collection[int]) -> UnknownRatings:
    """Find the entries that have `played` and have hidden ratings.

    Widths shrink with the root of the number of pairs. So a board whose widest interval is f times too wide needs f squared
    times as many, and at least MIN_DECISIVE_PAIRS of each entry.
    """
    bounds = {entry: rated.elo[entry][1:] for entry in played if entry != rated.anchor}
    swept = tuple([entry for entry, (low, high) in bounds.items() if (low is None) != (high is None)])
    halves = {entry: (high - low) / 2 for entry, (low, high) in bounds.items() if low is not None and high is not None}
    unknown = frozenset([entry for entry in bounds if halves.get(entry, float("inf")) > MAX_INTERVAL_ELO])
    pairs = [pair for found in games.pairings().values() for pair in found]
    decisive = sum([pair.score != 0.5 for pair in pairs])
    factor = max([half / MAX_INTERVAL_ELO for half in halves.values()], default=0.0)
    needed = max(ceil(MIN_DECISIVE_PAIRS * len(played) / 2), ceil(decisive * factor**2))
    return UnknownRatings(unknown, swept, decisive, needed if pairs else None)


def strengths(sheet: BoardInfo, games: PairedGames) -> Strengths | None:
    """Rate a board by all its games; None if it has nothing to rate, or more than MAX_RATED_ENTRIES entries."""
    return strengths_of(sheet, games.pairings(), games.rankings(), games.rounds())


def strengths_of(
    sheet: BoardInfo,
    pairings: Mapping[Entries, Sequence[Pair]],
    rankings: Rankings | None = None,
    rounds: Sequence[Mapping[Entries, Pair]] | None = None,
) -> Strengths | None:
    """Rate a board by the pairs of every two entries that met, or by games of three and more if there are none.

    `rounds` are the pairs of each round whose games share dice and deals; without them pairs are treated as independent.
    """
    entries = range(len(sheet.labels))
    if len(entries) > MAX_RATED_ENTRIES or not (pairings or rankings):
        return None
    from arena.stats.intervals import rate
    from arena.stats.plackett_luce import rate_rankings

    anchor = sheet.labels.index(sheet.anchor) if sheet.anchor in sheet.labels else None
    try:
        if pairings:
            rng = Stream(f"bootstrap/{sheet.title}")
            ratings = rate(pairings, entries, rng=rng, anchor=anchor, rounds=rounds, openings=sheet.has_openings)
        else:
            ratings = rate_rankings(rankings or {}, entries, anchor=anchor)
    except ArenaError:
        return None
    circles = cycles(beats(pairings)) if pairings else ()
    return _strengths(ratings, circles)


def _strengths(ratings: "Ratings[int]", circles: tuple[tuple[int, ...], ...]) -> Strengths:
    from arena.stats.elo import ELO
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
        ratings.anchor,
        ratings.fit.spread * ELO,
        ratings.between_pairings * ELO,
    )


def _superiority(ratings: "Ratings[int]", entries: int) -> tuple[tuple[float | None, ...], ...]:
    """Return the likelihood of superiority of each entry over each other; one half of the matrix follows from the other."""
    found: list[list[float | None]] = [[None] * entries for _ in range(entries)]
    for i in range(entries):
        for j in range(i):
            likelihood = ratings.superiority(i, j)
            if likelihood is not None:
                found[i][j], found[j][i] = likelihood, 1 - likelihood
    return tuple(map(tuple, found))
