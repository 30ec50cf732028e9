"""Ratings with 95 % intervals: Elo that means expected points, from the games of a whole field at once.

A competitor that leads another one by d Elo is expected to get the share 1 / (1 + 10^(-d / 400)) of the points; a draw is half a
point. With these ratings, the expected points of each competitor are its actual points (R. A. Bradley and M. E. Terry, Rank
Analysis of Incomplete Block Designs, 1952). In games with three or more seats, the winner is chosen from all with probabilities
proportional to exp(rating), the second from the rest, and so on (R. L. Plackett, The Analysis of Permutations, 1975).

**What is bounded.** A difference is finite only if points were taken both ways, perhaps by way of others (L. R. Ford, Solution of
a Ranking Problem from Binary Comparisons, 1957). Competitors between which this holds are a *tier*: a strongly connected
component of the graph "took a point from". If only one of two tiers took points from the other, their difference has no bound on
the side of the winner; if none did, it is unknown.

**Intervals.** The games of a round share a position, dice and deals, so a round is one observation. Within a tier, the covariance
is the sandwich clustered by round (K.-Y. Liang and S. L. Zeger, Longitudinal data analysis using generalized linear models,
1986), with Student's t and one degree of freedom less than there are rounds. A tier of two has the interval of their score,
transformed to Elo. Between tiers, the bound is the lead at which the better one would win everything with a probability of 1 in
20, moved out by the interval of the ratings on which this lead depends. There are no intervals below three rounds.

`MatchFit` computes the ratings of two competitors, and `FieldFit` those of larger fields.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Generic

from arena.errors import ArenaError
from arena.stats.calculator import MatchFit
from arena.stats.observations import Competitor, GameResults
from arena.stats.paired import SIGNIFICANCE_LEVEL, agree

if TYPE_CHECKING:
    from arena.stats.field import Array, FieldFit


@dataclass(frozen=True, slots=True)
class Rated(Generic[Competitor]):
    """A rating in Elo; None if it is unknown. One bound is None if the interval is open on that side, and both are None without
    an interval.
    """

    agent: Competitor
    elo: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Difference:
    """The lead of one rating over another in Elo, with its interval and the test of the hypothesis that they are equal.

    Lead and bounds are None if the difference is unknown. One bound is None if the interval is open on that side. The interval
    contains 0 exactly if the p-value is above its level.
    """

    elo: float | None
    low: float | None
    high: float | None
    superiority: float | None
    """The likelihood of superiority: 1 minus half of the p-value, or half of it if the lead is negative. None if it is not exact
    and comes from fewer than MIN_LIKELY_ROUNDS rounds."""
    p_value: float = 1.0
    test: str = ""
    """The name of the test; empty if there is none."""


UNKNOWN = Difference(None, None, None, None)


def rate(
    games: GameResults[Competitor], agents: Iterable[Competitor] | None = None, *, anchor: Competitor | None = None
) -> "Ratings[Competitor]":
    """Return the ratings of all competitors from all their games.

    `agents` sets the order, and may include competitors without games; the default is all competitors in the games, in their
    order. Ratings are relative to the `anchor`, otherwise to the mean of the largest tier, or to the mean of all competitors if
    no two of them took points from each other. Raises ArenaError for an anchor or a competitor that is not in `agents`.

    >>> games: GameResults[str] = GameResults()
    >>> for round_, points in enumerate([2, 1.5, 1, 2, 0.5, 1.5, 2, 1.5]):
    ...     games.add_pair(round_, "ada", "bob", points)
    >>> lead = rate(games).difference("ada", "bob")
    >>> round(lead.elo), round(lead.low), round(lead.high)
    (191, -8, 413)
    """
    names = tuple(dict.fromkeys(chain.from_iterable(games.rows)) if agents is None else agents)
    known = set(names)
    for name in chain(chain.from_iterable(games.rows), () if anchor is None else (anchor,)):
        if name not in known:
            raise ArenaError(f"ratings: expected an agent that is rated, one of {', '.join(map(str, names))}; got {name!r}")
    return Ratings(names, anchor, games)


class Ratings(Generic[Competitor]):
    """The ratings of a field; see `rate`."""

    def __init__(self, agents: tuple[Competitor, ...], anchor: Competitor | None, games: GameResults[Competitor]) -> None:
        self.agents, self.anchor, self._games = agents, anchor, games
        self._places = {agent: k for k, agent in enumerate(agents)}
        self._tests: dict[tuple[int, int], tuple[float, str, bool]] = {}
        self._zero = None if anchor is None else self._places[anchor]
        is_match = len(agents) == 2 and games.paired and len(games.rows) < 2
        self._fit = MatchFit(agents, self._zero, games) if is_match else self._field

    @cached_property
    def _field(self) -> "FieldFit[Competitor]":
        from arena.stats.field import FieldFit  # imports numpy

        return FieldFit(self.agents, self._zero, self._games)

    @property
    def strengths(self) -> "Array":
        """The ratings in natural units, up to a common number. Between tiers, they are those with which the better tier would win
        everything with a probability of about one half; competitors that are not connected by games have the same mean.
        """
        return self._field.strengths

    @property
    def information(self) -> "Array":
        """Minus the second derivatives of the log-likelihood of all games at `strengths`, in natural units."""
        return self._field.information

    @property
    def zero(self) -> tuple[int, ...]:
        """The indices of the competitors whose mean rating is 0."""
        return self._fit.zero

    @cached_property
    def rows(self) -> tuple[Rated[Competitor], ...]:
        """All competitors, the best first. Equal competitors stay in their order, and those without a rating come last."""
        rated = [Rated(agent, *self._fit.find_lead(place, self.zero)) for place, agent in enumerate(self.agents)]
        return tuple(sorted(rated, key=lambda row: float("inf") if row.elo is None else -row.elo))

    def difference(self, agent: Competitor, other: Competitor, *, chance: float = SIGNIFICANCE_LEVEL) -> Difference:
        """Return the lead of `agent` over `other`. `chance` is the probability that its interval misses the lead.

        Raises ArenaError for an unknown competitor.
        """
        for one in (agent, other):
            if one not in self._places:
                raise ArenaError(
                    f"ratings: expected an agent that is rated, one of {', '.join(map(str, self.agents))}; got {one!r}"
                )
        places = self._places[agent], self._places[other]
        elo, low, high = self._fit.find_lead(places[0], places[1:], chance)
        p_value, test, likely = self._test(*places)
        if elo is None or not test:
            return Difference(elo, low, high, None)
        low, high = agree((low, high), decided=p_value <= chance, value=elo)
        return Difference(elo, low, high, _likelihood(elo, p_value) if likely else None, p_value, test)

    def lead(self, agent: Competitor, other: Competitor) -> float:
        """Return the lead of `difference` in Elo, quicker for a whole field. An unknown lead is 0."""
        return self._fit.lead(self._places[agent], self._places[other])

    def test(self, agent: Competitor, other: Competitor) -> tuple[float, str]:
        """Return the p-value and the name of the test of `difference`, quicker for a whole field. Without a test, the name is
        empty.
        """
        return self._test(self._places[agent], self._places[other])[:2]

    def superiority(self, agent: Competitor, other: Competitor) -> float | None:
        """Return the likelihood of superiority of `difference`, quicker for a whole field."""
        p_value, test, likely = self._test(self._places[agent], self._places[other])
        return _likelihood(self.lead(agent, other), p_value) if test and likely else None

    def find_spread(self) -> float:
        """Return the standard deviation of leads about the differences of ratings, in Elo; 0 if chance may explain them.

        Strengths that are not transitive have such a spread.
        """
        return self._fit.find_spread()

    def _test(self, one: int, two: int) -> tuple[float, str, bool]:
        """Return the p-value of a difference, the name of its test, and whether a likelihood of superiority may be given.

        The name is empty if there is no test.
        """
        both = min(one, two), max(one, two)
        if both not in self._tests:
            self._tests[both] = self._fit.test(*both)
        return self._tests[both]


def _likelihood(lead: float, p_value: float) -> float:
    """Return the likelihood of superiority with this p-value of the lead."""
    return 1 - p_value / 2 if lead > 0 else p_value / 2 if lead < 0 else 0.5
