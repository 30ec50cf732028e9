"""Computes the strength of the agents of a board from its games: ratings in Elo, with intervals."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf
from typing import TYPE_CHECKING, ClassVar

from arena.format import RankedBy
from arena.results import figures
from arena.results.pairs import PairedGames
from arena.schedule.board_info import BoardInfo
from arena.stats.cycles import beats, cycles

if TYPE_CHECKING:
    from arena.stats.ratings import Ratings

MAX_INTERVAL_ELO = 300
"""A rating is shown only if both bounds of its 95 % interval are at most this far from it, in Elo."""
MIN_DECISIVE_PAIRS = 6
"""The fewest decided pairs (pairs in which one side scores more) with which an interval can be narrow enough. Between equal
agents, n decided pairs give a half-width of 1.96 * 2 * ELO / sqrt(n)."""


@dataclass(frozen=True, slots=True)
class Strengths:
    """The ratings of a board. Entries are given by their indices."""

    MAX_ENTRIES: ClassVar = 200
    """The maximum number of entries of a board on which every two entries are compared, so that it is rated. The size of the
    matrices grows with the square of this number."""
    MAX_CELLS: ClassVar = 20_000_000
    """The maximum size of the tables for games of three or more seats, see `PairedGames.count_cells`: that of 40,000 games with
    eight seats, which take some ten seconds and 600 MB."""
    elo: Mapping[int, tuple[float | None, float | None, float | None]]
    """The rating and its bounds; None for an unknown value."""
    ratings: "Ratings[int]"
    cycles: tuple[tuple[int, ...], ...]
    """Intransitive cycles: each agent is significantly better than the next one, and the last one than the first."""
    superiority: tuple[tuple[float | None, ...], ...]
    """The likelihood of superiority of each entry (row) over every other entry (column), by their indices."""
    anchor: int | None
    """The entry whose rating is 0; None if the mean rating of the entries in `zero` is 0."""
    zero: tuple[int, ...] = ()
    pairing_spread: float = 0.0
    """The standard deviation, in Elo, of leads around the differences of ratings; 0 if chance alone may explain it."""


def find_obstacle(entries: int, games: PairedGames) -> str | None:
    """Return why a board with so many entries and these games is too large for ratings, as a remark; None if it is not."""
    if entries > Strengths.MAX_ENTRIES:
        return f"No ratings: they are computed for at most {Strengths.MAX_ENTRIES} agents."
    if games.count_cells() > Strengths.MAX_CELLS:
        return "No ratings: with so many seats and ties in the games, they would take too much time and memory."
    return None


@dataclass(frozen=True, slots=True)
class UnknownRatings:
    """Entries that have played but have hidden ratings: their intervals are wider than MAX_INTERVAL_ELO, open or missing."""

    entries: frozenset[int]
    swept: tuple[int, ...]
    """Entries with an interval that has only one bound, because all games between stronger and weaker agents went one
    way."""
    decisive: int
    """The number of decided pairs on the whole board: pairs of games in which one side won more points."""
    needed: int | None
    """About how many decided pairs are needed to show the ratings of all others; None without pairs, or if an interval is
    missing.
    """

    def describe(self, labels: Sequence[str]) -> Iterator[str]:
        """Yield remarks for the board that say which further matches would make the ratings known."""
        if self.entries - set(self.swept):
            line = f"? : no rating yet, because the 95 % interval is missing or wider than ±{MAX_INTERVAL_ELO} Elo."
            if self.needed is not None and self.needed > self.decisive:  # else only rounds are missing, and another line says so
                pairs = f"{self.decisive:,}" if self.decisive else "none"
                about = "at least" if self.swept else "about"
                line += (
                    f" It needs {about} {figures.amount(self.needed, 'decided pair')} of games, in which one side scores more;"
                )
                line += f" so far there {'is' if self.decisive == 1 else 'are'} {pairs}."
            yield line
        if self.swept:
            names = ", ".join([labels[entry] for entry in self.swept])
            why = "all games between stronger and weaker agents went one way, so the interval has only one bound"
            yield f"? for {names}: {why}; a game with a different result would give the other bound."


def unknown_ratings(rated: Strengths, games: PairedGames, played: Collection[int]) -> UnknownRatings:
    """Find the entries in `played` that have hidden ratings.

    The width of an interval shrinks with the square root of the number of pairs. If the widest interval of a board is f times too
    wide, the board needs about f squared times as many pairs, and at least MIN_DECISIVE_PAIRS for each entry.
    """
    bounds = {entry: rated.elo[entry][1:] for entry in played if entry != rated.anchor}
    swept = tuple([entry for entry, (low, high) in bounds.items() if (low is None) != (high is None)])
    halves = {entry: (high - low) / 2 for entry, (low, high) in bounds.items() if low is not None and high is not None}
    # Rounded, so that of two entries with equal results, both are shown or none is.
    unknown = frozenset([entry for entry in bounds if round(halves.get(entry, inf), 6) > MAX_INTERVAL_ELO])
    pairs = [pair for found in games.pairings().values() for pair in found if pair.is_whole]
    decisive = sum([pair.score != 0.5 for pair in pairs])
    factor = max([half / MAX_INTERVAL_ELO for half in halves.values()], default=0.0)
    needed = max(ceil(MIN_DECISIVE_PAIRS * len(played) / 2), ceil(decisive * factor**2))
    is_forecast = pairs and not unknown - halves.keys() - {*swept}  # without an interval, its future width is unknown
    return UnknownRatings(unknown, swept, decisive, needed if is_forecast else None)


def is_ranked_by_rating(ranked_by: RankedBy, sheet: BoardInfo, unknown: UnknownRatings | None) -> bool:
    """Return whether ratings rank a board: its format asks for it, and all ratings are shown; otherwise scores rank it."""
    return ranked_by == "rating" and unknown is not None and (sheet.left is not None or not unknown.entries)


def strengths(sheet: BoardInfo, games: PairedGames, *, with_cycles: bool = True) -> Strengths | None:
    """Rate a board. Returns None if there is nothing to rate, or if the board is too large; see `find_obstacle`."""
    entries = range(len(sheet.labels))
    if find_obstacle(len(entries), games) is not None or not (results := games.results()).rows:
        return None
    from arena.stats.ratings import rate

    anchor = sheet.labels.index(sheet.anchor) if sheet.anchor in sheet.labels else None
    ratings = rate(results, entries, anchor=anchor)
    bounds = {row.agent: (row.elo, row.low, row.high) for row in ratings.rows}
    return Strengths(
        bounds,
        ratings,
        cycles(beats(games.pairings() if with_cycles else {})),
        _superiority(ratings, len(entries)),
        anchor,
        ratings.zero,
        ratings.find_spread(),
    )


def _superiority(ratings: "Ratings[int]", entries: int) -> tuple[tuple[float | None, ...], ...]:
    """Return the likelihood of superiority of each entry over every other entry. Opposite values add up to 1."""
    found: list[list[float | None]] = [[None] * entries for _ in range(entries)]
    for i in range(entries):
        for j in range(i):
            likelihood = ratings.superiority(i, j)
            if likelihood is not None:
                found[i][j], found[j][i] = likelihood, 1 - likelihood
    return tuple(map(tuple, found))
