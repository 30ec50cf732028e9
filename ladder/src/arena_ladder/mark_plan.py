"""Estimates how many games a course needs and how long they take: `arena ladder plan`.

The number of games that marks need comes from a simulated class, with the same tests that the ladder uses. The strengths of the
authors are normally distributed, and the baselines divide them into equal parts. The number of games until the intervals of the
ratings are narrow enough follows from the information that a game between equally strong agents gives.

For a puzzle, an attempt at a position takes the place of a pair of games. The baselines attempt every position only once.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import log
from statistics import NormalDist, fmean
from typing import Any, NamedTuple

import numpy as np

from arena import Puzzle, Spec, run
from arena.api.results import figures
from arena.api.spec import reload_spec
from arena.clock import perf_counter
from arena_ladder.mark_test import MarkRule, MarkTests
from arena_ladder.spec import LadderSpec

NATURAL_ELO = 400 / log(10)
"""The lead in Elo with which, if there are no draws, a win is e times as likely as a loss."""
DRAW_WEIGHT = 0.5
"""The weight of draws in Davidson's model. With this weight, 20 % of the games between equally strong agents are drawn."""
GROWTH = 16
"""The simulation evaluates a test each time its number of pairs has grown by 1/16."""
SEED = 1
MEASURED_POSITIONS = 5
"""The number of positions of a puzzle that each agent attempts, to measure the length of an attempt."""


def pair_chances(leads: Any, *, solve: bool = False) -> Any:
    """Return the probabilities of the five scores of a pair of games, for leads in Elo. If `solve` is true, two attempts at the
    same position take the place of the pair, so the scores 1/4 and 3/4 do not occur.
    """
    odds = np.exp(np.asarray(leads) / NATURAL_ELO / 2)
    win, draw, loss = (part / (odds + DRAW_WEIGHT + 1 / odds) for part in (odds, DRAW_WEIGHT, 1 / odds))
    none = np.zeros_like(win)
    if solve:
        return np.stack([loss, none, draw, none, win], axis=-1)
    found = np.stack([loss**2, 2 * loss * draw, draw**2 + 2 * win * loss, 2 * win * draw, win**2], axis=-1)
    return found / found.sum(axis=-1, keepdims=True)


class Need(NamedTuple):
    """The number of games that a simulated class needs."""

    games: int
    """The number of games, or of attempts."""
    open: int = 0
    """The number of marks that stay open."""


def games_for_marks(rule: MarkRule, deviation: float, most: int | None = None) -> Need:
    """Return the number of games that a simulated class plays until all marks are decided.

    For a puzzle, `most` is the number of positions, and the number of attempts is returned.
    """
    rng = np.random.default_rng(SEED)
    baselines = [NormalDist(0, deviation).inv_cdf((number + 1) / (rule.baselines + 1)) for number in range(rule.baselines)]
    leads = rng.normal(0, deviation, rule.authors)[:, None] - np.array(baselines)
    chances = pair_chances(leads, solve=most is not None)
    tests, pairs = MarkTests(rule, np.ones(rule.authors, int)), 0
    while True:
        wanted = tests.wanted()
        left = np.flatnonzero(wanted >= 0)
        met = wanted[left]
        played = tests.counts[left, met].sum(axis=1)
        if most is not None:
            left, met, played = (values[played < most] for values in (left, met, played))
        if not len(left):
            break
        number = np.maximum(1, played // GROWTH).astype(int)
        tests.add(left, met, rng.multinomial(number, chances[left, met]))
        pairs += int(number.sum())
    if most is None:
        return Need(2 * pairs)
    reached = tests.counts.sum(axis=2)  # an author attempts a position once, for all baselines
    return Need(int(reached.max(axis=1).sum() + reached.max(axis=0).sum()), int((tests.wanted() >= 0).sum()))


def games_for_intervals(authors: int, interval: float) -> int:
    """Return approximately the number of games after which the 95 % intervals of all authors have a half-width of
    `interval` Elo.
    """
    decisive = 2 / (2 + DRAW_WEIGHT)
    information = decisive / 4 / NATURAL_ELO**2
    deviation = interval / NormalDist().inv_cdf(0.975)
    return round(authors / (information * deviation**2))


@dataclass(frozen=True, slots=True)
class Speed:
    """The length of a game, in seconds and in decisions."""

    seconds: float
    decisions: float


def measure_speed(house: Spec) -> Speed:
    """Let every two agents of the spec play once (for a puzzle, let each agent attempt some positions). Return the mean length of
    these matches.
    """
    values = dict(house.document.values)
    if isinstance(house.boards[0].game, Puzzle):
        if "positions" in values:
            values["positions"] = values["positions"][:MEASURED_POSITIONS]
        else:
            values["rounds"] = MEASURED_POSITIONS
    document = replace(house.document, values=values)
    began = perf_counter()
    played = run(reload_spec(document, house.plugins, 0, shared=house.shared))
    seconds = perf_counter() - began
    moves = [len(record.actions) for record in played.records]
    return Speed(seconds / len(moves), fmean(moves))


@dataclass(frozen=True, slots=True)
class Option:
    """One way to run the course."""

    name: str
    games: int
    seconds: float
    """The mean duration of a game in seconds."""
    noun: str = "games"
    open: int = 0
    """The number of marks that stay open."""

    def describe(self, cores: int) -> str:
        """Return the number of games and the time they take on a number of cores."""
        hours = self.games * self.seconds / 3600
        days = hours / cores / 24
        time = f"{days:.1f} days" if days >= 1 else f"{24 * days:.1f} hours"
        left = f"; {figures.amount(self.open, 'mark')} stay{'s' * (self.open == 1)} open" if self.open else ""
        return f"{self.name}: {self.games:,} {self.noun}, {hours:,.1f} core-hours, {time} on {cores} cores{left}"


def list_options(ladder: LadderSpec, authors: int, speed: Speed, deviation: float) -> Iterator[Option]:
    """Yield the course as the spec describes it, followed by ways to save time."""
    marks = ladder.marks
    if ladder.solvers is not None:
        yield from _list_attempts(ladder, authors, speed, deviation)
        return
    if marks is not None:
        rule = MarkRule(max(authors, 1), len(marks.labels), marks.margin, marks.error)
        games = games_for_marks(rule, deviation).games
        yield Option(f"marks with a margin of {marks.margin:g} Elo", games, speed.seconds)
        yield Option("the same with half the time per game", games, speed.seconds / 2)
        wider = replace(rule, margin=2 * marks.margin)
        yield Option(f"marks with a margin of {wider.margin:g} Elo", games_for_marks(wider, deviation).games, speed.seconds)
    if ladder.rates:
        for interval in (ladder.interval, 2 * ladder.interval):
            yield Option(f"intervals of ±{interval:g} Elo", games_for_intervals(authors, interval), speed.seconds)


def _list_attempts(ladder: LadderSpec, authors: int, speed: Speed, deviation: float) -> Iterator[Option]:
    """Yield the course of a ladder for a puzzle, followed by ways to save time."""
    assert ladder.solvers is not None
    marks, most = ladder.marks, ladder.solvers.positions.most
    if marks is not None:
        rule = MarkRule(max(authors, 1), len(marks.labels), marks.margin, marks.error)
        for one in (rule, replace(rule, margin=2 * marks.margin)):
            need = games_for_marks(one, deviation, most)
            named = f"marks with a margin of {one.margin:g} Elo on at most {figures.amount(most, 'position')}"
            yield Option(named, need.games, speed.seconds, "attempts", need.open)
    if ladder.rates:
        for number in (most, (most + 1) // 2):
            yield Option(
                f"one version of every author on {figures.amount(number, 'position')}",
                authors * number,
                speed.seconds,
                "attempts",
            )


def describe_limit(house: Spec, speed: Speed) -> str | None:
    """Return the length of a game in which every decision uses its full time limit; None without a time limit."""
    limits = [seat.limits.seconds for seat in house.boards[0].seats if seat.limits.seconds is not None]
    if not limits:
        return None
    if isinstance(house.boards[0].game, Puzzle):
        return f"with a limit of {max(limits):g} s for the search"
    return f"at most {max(limits) * speed.decisions:,.0f} s, if all decisions use the limit of {max(limits):g} s"
