"""Ratings with their 95 % intervals, which rest on pairs of games and never on single ones, and how sure the order of agents is.

From 40 pairs a pairing up the interval is a bootstrap's (`arena.stats.bootstrap`), below it, or without numpy, a sandwich's
(`arena.stats.sandwich`); an agent with all or none of its points has one bound alone (`arena.stats.profile`). An agent that did
not meet any one other in at least two distinct pairs has none.
"""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from arena.stats.bootstrap import available, bootstrap
from arena.stats.bradley_terry import MODEL, Fit, Model, fit, place_of
from arena.stats.elo import ELO
from arena.stats.pairs import Pair, Pairings, kinds_of, table_of
from arena.stats.profile import extreme, one_sided
from arena.stats.sandwich import sandwich

FEW = 40
"""The least number of pairs a pairing from which on a bootstrap is trusted."""


class Spread(Protocol):
    """How far ratings may be off, in natural units; agents by their places."""

    name: str

    def interval(self, agent: int, other: int | None = None) -> tuple[float, float]:
        """The 95 % interval of an agent's rating about the field's mean, or of what it exceeds another's by."""

    def superiority(self, agent: int, other: int) -> float:
        """The likelihood of superiority of an agent over another, within [0, 1]."""


@dataclass(frozen=True, slots=True)
class Rated:
    """One agent's rating in Elo. A bound is None where there is none: for neither side known, for one side without end."""

    agent: str
    elo: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Difference:
    """What one agent's rating exceeds another's by, in Elo, and how sure one may be that it is the better one."""

    elo: float
    low: float | None
    high: float | None
    superiority: float | None


@dataclass(frozen=True)
class Ratings:
    """The ratings of a field about its mean, or about the anchor, whose rating is 0."""

    fit: Fit
    spread: Spread
    known: frozenset[str]
    """The agents that played at least two distinct pairs, against whomever."""
    bounds: Mapping[str, Fit]
    """The fits at the one bound of those with all or none of their points."""
    sides: Mapping[str, int]
    """Their side: 1 with all points, -1 with none."""
    anchor: str | None = None

    @property
    def method(self) -> str:
        """What the intervals come from: `bootstrap` or `sandwich`."""
        return self.spread.name

    @cached_property
    def rows(self) -> tuple[Rated, ...]:
        """All agents, the best first; equal ones in the order of the field."""
        elo = self.fit.elo(self.anchor)
        return tuple(sorted((self._rated(agent, elo[agent]) for agent in self.fit.agents), key=lambda row: -row.elo))

    def difference(self, agent: str, other: str) -> Difference:
        """What `agent` is better by than `other`; its bounds are None where either has one bound alone, or none."""
        i, j = place_of(self.fit.agents, agent), place_of(self.fit.agents, other)
        elo = (self.fit.ratings[i] - self.fit.ratings[j]) * ELO
        if i == j or not {agent, other} <= self.known:
            return Difference(elo, None, None, None)
        superiority = self.spread.superiority(i, j)
        if {agent, other} & set(self.bounds):
            return Difference(elo, None, None, superiority)
        low, high = self.spread.interval(i, j)
        return Difference(elo, low * ELO, high * ELO, superiority)

    def superiority(self, agent: str, other: str) -> float | None:
        """The likelihood that `agent` is better than `other`; None where either is not known by two pairs."""
        if agent == other or not {agent, other} <= self.known:
            return None
        return self.spread.superiority(place_of(self.fit.agents, agent), place_of(self.fit.agents, other))

    def matrix(self, agents: Sequence[str] | None = None) -> list[list[Difference]]:
        """The differences of every two agents, in the order of `agents`, by default the best first."""
        order = [row.agent for row in self.rows] if agents is None else agents
        return [[self.difference(agent, other) for other in order] for agent in order]

    def _rated(self, agent: str, elo: float) -> Rated:
        if agent not in self.known or agent == self.anchor:
            return Rated(agent, elo, None, None)
        if agent in self.bounds:
            bound = self.bounds[agent].elo(self.anchor)[agent] - (0.0 if self.anchor else _mean_elo(self.bounds[agent]))
            return Rated(agent, elo, bound, None) if self.sides[agent] > 0 else Rated(agent, elo, None, bound)
        zero = None if self.anchor is None else self.fit.agents.index(self.anchor)
        low, high = self.spread.interval(self.fit.agents.index(agent), zero)
        return Rated(agent, elo, low * ELO, high * ELO)


def rate(
    pairings: Pairings,
    agents: Iterable[str] | None = None,
    *,
    rng: random.Random,
    anchor: str | None = None,
    model: Model = MODEL,
    samples: int = 1000,
) -> Ratings:
    """Rate a field by all its pairs of games.

    `pairings` holds every two agents who met once; each of its pairs is a distinct one, its repeats added to it. `rng` seeds the
    bootstrap, which draws `samples` tables. Raises ArenaError where the anchor is no agent, or where there is no finite fit,
    which takes the prior to be off.
    """
    table = table_of(pairings)
    fitted = fit(table, agents, model=model)
    if anchor is not None:
        place_of(fitted.agents, anchor)
    distinct: Counter[str] = Counter()
    for seats, pairs in pairings.items():
        distinct.update(dict.fromkeys(seats, _distinct(pairs)))
    known = frozenset(agent for agent, count in distinct.items() if count > 1)
    sides = {agent: side for agent in fitted.agents if agent in known and (side := extreme(table, agent))}
    bounds = {agent: one_sided(pairings, agent, fitted.agents, model=model) for agent in sides}
    many = min((_distinct(pairs) for pairs in pairings.values()), default=0) >= FEW
    if many and available():
        spread: Spread = bootstrap(fitted, pairings, rng, model=model, samples=samples)
    else:
        spread = sandwich(fitted, pairings)
    return Ratings(fitted, spread, known, bounds, sides, anchor)


def overlapping(rows: Iterable[Rated]) -> dict[str, tuple[str, ...]]:
    """For every agent the others whose intervals overlap its own, so that their order is not certain; an open end reaches on for
    ever.
    """
    listed = list(rows)
    return {row.agent: tuple(other.agent for other in listed if other is not row and _overlap(row, other)) for row in listed}


def _overlap(one: Rated, two: Rated) -> bool:
    return not (_below(one, two) or _below(two, one))


def _below(lower: Rated, upper: Rated) -> bool:
    return lower.high is not None and upper.low is not None and lower.high < upper.low


def _distinct(pairs: Sequence[Pair]) -> int:
    return sum(count for pair, count in kinds_of(pairs) if pair.games)


def _mean_elo(bound: Fit) -> float:
    return sum(bound.ratings) / len(bound.ratings) * ELO
