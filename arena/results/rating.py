"""The strength of a board's agents by its games: ratings in Elo with intervals, and the state of a sequential test."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

from arena.errors import ArenaError
from arena.identity import Stream
from arena.results import figures
from arena.results.pairs import Entries, PairedGames, Rankings, count_pairs, estimate_score
from arena.schedule.board_info import BoardInfo
from arena.stats.calculator import EloEstimate
from arena.stats.cycles import beats, cycles
from arena.stats.observations import Pair
from arena.stats.sprt import Sprt, SprtForecast, Verdict, forecast, log_likelihood_ratio

if TYPE_CHECKING:
    from arena.stats.intervals import Ratings

MAX_RATED_ENTRIES = 200
"""Entries of a board that is rated; the matrices grow with the square."""
MAX_INTERVAL_ELO = 300
"""The most that a 95 % interval may reach to either side, in Elo, for its rating to be shown."""
MIN_DECISIVE_PAIRS = 6
"""Decisive pairs that an agent needs for such an interval at the least: n of them among equals give 1.96 * 2 * ELO / sqrt(n)."""


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

    def describe(self, *, finished: bool) -> str:
        """Return the state as a remark on the board; a forecast is given while the run is not `finished`."""
        said = "not decided"
        if self.verdict is not None:
            said = f"{self.verdict} accepted: {sprt_verdict(self.test, self.verdict, self.one, self.other)}"
        elif self.forecast is not None and not finished:
            said += f", {forecast_words(self.forecast)}"
        worth = self.worth
        strength = "no logistic Elo" if worth.elo is None else f"logistic Elo {figures.elo(worth.elo, 1)}{elo_interval(worth)}"
        bias = " The Elo of a test that stopped early is biased away from 0." if self.verdict is not None else ""
        llr = f"LLR {figures.fixed(self.llr, 2)} ({self.test.lower:.2f} to {self.test.upper:.2f})"
        head = f"SPRT of {self.one} against {self.other} ({hypotheses(self.test)}): {said}."
        return f"{head} {llr}, pairs {', '.join(map(str, self.counts))}; {strength}.{bias}"


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
    anchor: int | None
    """The entry whose rating is 0; None where the field's mean is."""


@dataclass(frozen=True, slots=True)
class UnknownRatings:
    """Entries with games whose ratings are not shown, since their intervals are wider than MAX_INTERVAL_ELO, open, or missing."""

    entries: frozenset[int]
    swept: tuple[int, ...]
    """Those of them with all points or none, whose intervals have one bound however much they play like that."""
    decisive: int
    """The number of pairs of games in which one side took more of the points, on the whole board."""
    needed: int | None
    """About how many of these would give the others narrow intervals; None for games that do not come in pairs."""

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
    """Find the ratings of the entries that have `played` which are not to be shown.

    Widths shrink with the root of the number of pairs, so a board whose widest interval reaches f times too far needs f squared
    times as many, at the least MIN_DECISIVE_PAIRS of each entry.
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
    """Rate a board by all its games; None where it has nothing to rate, or more than MAX_RATED_ENTRIES entries."""
    return strengths_of(sheet, games.pairings(), games.rankings(), games.rounds())


def strengths_of(
    sheet: BoardInfo,
    pairings: Mapping[Entries, Sequence[Pair]],
    rankings: Rankings | None = None,
    rounds: Sequence[Mapping[Entries, Pair]] | None = None,
) -> Strengths | None:
    """Rate a board by the pairs of every two entries who met, or by games of three and more where there are none.

    `rounds` are the pairs of each round whose games share dice and deals; without them pairs are taken for independent.
    """
    entries = range(len(sheet.labels))
    if len(entries) > MAX_RATED_ENTRIES or not (pairings or rankings):
        return None
    from arena.stats.intervals import rate
    from arena.stats.plackett_luce import rate_rankings

    anchor = sheet.labels.index(sheet.anchor) if sheet.anchor in sheet.labels else None
    try:
        if pairings:
            ratings = rate(pairings, entries, rng=Stream(f"bootstrap/{sheet.title}"), anchor=anchor, rounds=rounds)
        else:
            ratings = rate_rankings(rankings or {}, entries, anchor=anchor)
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
        ratings.anchor,
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
    test, counts = Sprt(**sheet.test), count_pairs(pairs)
    llr = log_likelihood_ratio(counts, test)
    ahead = forecast(test, counts, llr)
    return SprtState(sheet.labels[0], sheet.labels[1], test, llr, test.verdict(llr), counts, estimate_score(pairs), ahead)


def elo_interval(worth: EloEstimate) -> str:
    """The interval of an Elo difference in brackets, nothing where there is none."""
    low, high = (None if bound is None else figures.elo(bound) for bound in (worth.elo_low, worth.elo_high))
    return "" if low is None and high is None else f" ({figures.between(low, high)}, 95 %)"


def hypotheses(test: Sprt) -> str:
    """Return the hypotheses of a test and the unit of their Elos."""
    unit = "normalised Elo" if test.model == "normalized" else "Elo"
    null, alternative = (f"{lead:+g}" if lead else "0" for lead in (test.elo0, test.elo1))
    return f"H0: {null}, H1: {alternative} {unit}"


def sprt_verdict(test: Sprt, verdict: Verdict, one: str, other: str) -> str:
    """Return what a decided test says of `one`: the other hypothesis is false, but for the risk that was accepted.

    >>> sprt_verdict(Sprt(0, 30), "H0", "d3", "d2")
    'd3 is not 30 Elo better than d2 (at most 5 % risk)'
    """
    accepted = verdict == "H1"
    edge, risk = (test.elo0, test.alpha) if accepted else (test.elo1, test.beta)
    if edge == 0:
        words = f"is better than {other}" if accepted else f"is not as good as {other}"
    elif (edge > 0) == accepted:
        words = f"is more than {abs(edge):g} Elo {'better' if accepted else 'worse'} than {other}"
    else:
        words = f"is not {abs(edge):g} Elo {'worse' if accepted else 'better'} than {other}"
    return f"{one} {words} (at most {100 * risk:g} % risk)"


def forecast_words(found: SprtForecast) -> str:
    """Return the expected length of a test in words."""
    if found.at_score is None:
        return f"about {found.under_h0:,.0f} pairs in all if H0 holds, {found.under_h1:,.0f} if H1"
    either = f"{found.under_h0:,.0f} if H0 holds, {found.under_h1:,.0f} if H1"
    return f"about {found.at_score:,.0f} pairs in all at this score, {either}"
