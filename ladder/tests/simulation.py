"""A simulated ladder of agents with known strengths in Elo, which are expected points. 20 % of the games of equals are drawn."""

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from arena.api.results import BoardInfo, Tally
from arena.api.spec import load_spec
from arena.api.store import Run
from arena.stats.elo import ELO, expected_score
from arena.stats.observations import GameResults
from arena.stats.ratings import rate
from arena_ladder.design import next_pairs, pairs_below_floor
from arena_ladder.matchmaking import FLOOR_SHARE

DRAWS = 0.2
"""The share of draws between equal agents. In general it is proportional to the variance of a game without draws, E (1 - E)."""


class Course(NamedTuple):
    """The end of a simulated ladder: the games until every interval was narrow, and the number of intervals with the truth."""

    games: int
    covered: int
    widths: dict[int, float]
    """The half-width of the interval of each agent in Elo. Agent 0 is the anchor."""


def strengths(agents: int, seed: int, deviation: float = 200.0) -> Any:
    """Draw normally distributed strengths in Elo. Agent 0 is the median agent, with a strength of 0."""
    drawn = np.sort(np.random.default_rng(seed).normal(0, deviation, agents))
    middle = agents // 2
    return np.array([drawn[middle], *np.delete(drawn, middle)]) - drawn[middle]


def play(rng: random.Random, lead: float) -> float:
    """Play a game, and return the points of the first agent, which leads by this many Elo."""
    expected = expected_score(lead)
    draw = DRAWS * 4 * expected * (1 - expected)
    drawn = rng.random()
    return 1.0 if drawn < expected - draw / 2 else 0.5 if drawn < expected + draw / 2 else 0.0


class Played:
    """The pairs of games of a ladder so far."""

    def __init__(self) -> None:
        self.results: GameResults[int] = GameResults()
        self.met: Counter[tuple[int, int]] = Counter()
        self._rounds: Counter[int] = Counter()
        """The next round of each agent."""

    def add(self, rng: random.Random, one: int, other: int, lead: float) -> None:
        """Play a game in each order of the seats. `lead` is the lead of the first agent."""
        number = max(self._rounds[one], self._rounds[other])
        self.results.add_pair(number, one, other, play(rng, lead) + play(rng, lead))
        self._rounds[one] = self._rounds[other] = number + 1
        self.met[one, other] += 1


def ladder(truth: Any, interval: float, seed: int, *, pairs: int = 8, most: int = 10**6) -> Course:
    """Play as a ladder does until every half-width is at most `interval`, or `most` games are played."""
    rng, agents = random.Random(seed), len(truth)
    played = Played()
    wanted: Sequence[int] = range(1, agents)
    games, widths, covered = 0, dict.fromkeys(range(1, agents), math.inf), 0
    while wanted and games < most:
        found = rate(played.results, range(agents), anchor=0)
        least = pairs_below_floor(found, played.met, wanted, range(agents), pairs // FLOOR_SHARE)
        for one, other in next_pairs(found, 0, wanted, range(agents), pairs - len(least)) + least:
            played.add(rng, one, other, truth[one] - truth[other])
            games += 2
        rows = {row.agent: row for row in rate(played.results, range(agents), anchor=0).rows}
        bounds = {k: (rows[k].low, rows[k].high) for k in range(1, agents)}
        widths = {k: math.inf if low is None or high is None else (high - low) / 2 for k, (low, high) in bounds.items()}
        covered = sum(low is not None and high is not None and low <= truth[k] <= high for k, (low, high) in bounds.items())
        wanted = [k for k, width in widths.items() if width > interval]
    return Course(games, covered, widths)


def round_robin(truth: Any, interval: float, seed: int) -> int:
    """Return the games of a round robin until every half-width is at most `interval`. This is checked after every round."""
    rng, agents = random.Random(seed), len(truth)
    played = Played()
    for rounds in range(1, 1000):
        for one in range(agents):
            for other in range(one + 1, agents):
                played.add(rng, one, other, truth[one] - truth[other])
        if rounds > 2:
            rows = rate(played.results, range(agents), anchor=0).rows
            bounds = [(row.low, row.high) for row in rows if row.agent]
            if all(low is not None and high is not None and (high - low) / 2 <= interval for low, high in bounds):
                break
    return rounds * agents * (agents - 1)


def ideal(truth: Any, interval: float, steps: int = 20_000) -> tuple[float, float]:
    """Return a lower and an upper bound for the games of the best design, given the strengths.

    The algorithm is multiplicative ascent for a weighted A-optimal design (S. Silvey, D. Titterington and B. Torsney, 1978), with
    weights that follow the largest variance. The lower bound follows from the convexity of the criterion.
    """
    agents, tau = len(truth), (interval / 1.959964 / ELO) ** 2
    expected = 1 / (1 + np.exp((truth[None, :] - truth[:, None]) / ELO))
    above = np.triu_indices(agents, 1)
    information = (expected * (1 - expected))[above] / (1 - DRAWS)
    share, weights = np.full(len(information), 1 / len(information)), np.full(agents - 1, 1 / (agents - 1))
    best, bound = math.inf, 0.0
    for step in range(steps):
        laplacian = np.zeros((agents, agents))
        laplacian[above] = -share * information
        laplacian += laplacian.T
        np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
        covariance = np.zeros((agents, agents))
        covariance[1:, 1:] = np.linalg.inv(laplacian[1:, 1:])
        variances = covariance.diagonal()[1:]
        rows = covariance[1:] * np.sqrt(weights)[:, None]
        products = rows.T @ rows
        own = products.diagonal()
        slopes = information * (own[:, None] + own[None, :] - 2 * products)[above]
        value = float(weights @ variances)
        best, bound = min(best, float(variances.max()) / tau), max(bound, (2 * value - float(slopes.max())) / tau)
        share = share * (slopes / value) ** 0.7
        share /= share.sum()
        if step % 10 == 9:
            weights = weights * np.sqrt(variances / value)
            weights /= weights.sum()
    return bound, best


class Met:
    """The pairs of games of a field, each with its round, two agents, and the points of the first one in both games."""

    def __init__(self) -> None:
        self.pairs: list[tuple[int, int, int, tuple[float, float]]] = []

    def add(self, rng: random.Random, one: int, other: int, lead: float) -> None:
        """Play two games in a round of their own. `lead` is the lead of the first agent in Elo."""
        self.pairs.append((len(self.pairs), one, other, (play(rng, lead), play(rng, lead))))

    def last(self, agent: int) -> int:
        """Return the last round of an agent."""
        return max((round_ for round_, one, other, _ in self.pairs if agent in (one, other)), default=-1)

    def season(self, playing: Sequence[int], retired: Sequence[int]) -> Any:
        """Return a season in which these agents are in play, and which lists the retired ones in this order."""
        order = [*playing, *retired]
        entries = {agent: entry for entry, agent in enumerate(order)}
        labels = tuple([str(agent) for agent in order])
        sheet: BoardInfo = replace(
            Run.of(load_spec({"game": "tic-tac-toe", "agents": ["random", "greedy"]})).boards[0], labels=labels
        )
        tally = Tally(sheet)
        for round_, one, other, points in self.pairs:
            for seats, got in zip(((one, other), (other, one)), points, strict=True):
                first = got if seats[0] == one else 1 - got
                numbers = (entries[seats[0]], entries[seats[1]])
                tally.matches.add(round_, numbers, (first, 1 - first), hash((round_, seats)), True)
                for entry in numbers:
                    tally.counts[entry].games += 1
        return SimpleNamespace(
            tallies=[tally],
            labels=lambda _: labels,
            playing=lambda _: range(len(playing)),
            run=SimpleNamespace(boards=[sheet]),
        )
