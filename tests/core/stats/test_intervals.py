"""Intervals of ratings: how often they hold, what they say of lopsided and of tiny tables, and that they never break."""

import random
from collections.abc import Callable
from itertools import combinations
from math import isfinite

import pytest
from hypothesis import given, settings, strategies as st

from arena.errors import ArenaError
from arena.stats.bradley_terry import chances
from arena.stats.elo import ELO
from arena.stats.intervals import Rated, overlapping, rate
from arena.stats.observations import Pair, WinDrawLoss
from arena.stats.prior import Model

FIRST_MOVER = 0.2
LOPSIDED = 1.2
"""The standard deviation of the favour that a position shows the first seat, in natural units: 208 Elo."""


class Field:
    """Agents whose true ratings are known, and who play pairs of games from positions that favour a seat by chance."""

    def __init__(self, rng: random.Random, agents: int, favour: float = LOPSIDED) -> None:
        self.rng, self.favour = rng, favour
        self.names = [f"agent {k}" for k in range(agents)]
        strengths = [rng.uniform(-0.8, 0.8) for _ in self.names]
        mean = sum(strengths) / agents
        self.truth = {name: (strength - mean) * ELO for name, strength in zip(self.names, strengths, strict=True)}

    def play(self, pairs: int) -> dict[tuple[str, str], list[Pair]]:
        return {seats: [self._pair(*seats) for _ in range(pairs)] for seats in combinations(self.names, 2)}

    def _pair(self, one: str, two: str) -> Pair:
        tilt = self.rng.gauss(0, self.favour)
        lead = (self.truth[one] - self.truth[two]) / ELO
        points = [self.rng.choices((1, 0.5, 0), chances(d + FIRST_MOVER + tilt, -0.3))[0] for d in (lead, -lead)]
        return Pair.of(*points)


def _holds(low: float | None, true: float, high: float | None) -> bool:
    return (low is None or low <= true) and (high is None or true <= high)


MANY = [pytest.param(*size, 0.92, 0.98, marks=pytest.mark.proof) for size in ((10, 600), (40, 300), (100, 200))]


@pytest.mark.parametrize(("pairs", "tournaments", "least", "most"), [(10, 20, 0.85, 1.0), *MANY])
@pytest.mark.parametrize("favour", [0.0, LOPSIDED])
def test_intervals_hold_as_often_as_they_say(
    favour: float, pairs: int, tournaments: int, least: float, most: float, record_property: Callable[[str, object], None]
) -> None:
    """Of openings that favour a seat by 210 Elo, and of even ones, 92 to 98 % of the intervals hold the true rating or lead.

    More games do not make it worse: without the effect of positions 72 % of the intervals held at 100 pairs of lopsided ones.
    """
    rng = random.Random(f"coverage of {pairs}")
    held = []
    for _ in range(tournaments):
        field = Field(rng, 4, favour)
        ratings = rate(field.play(pairs), field.names, rng=rng, samples=200)
        held += [_holds(row.low, field.truth[row.agent], row.high) for row in ratings.rows]
        lead = ratings.difference(*field.names[:2])
        held.append(_holds(lead.low, field.truth[field.names[0]] - field.truth[field.names[1]], lead.high))
    record_property("share of 95 % intervals that hold", f"{sum(held) / len(held):.1%} of {len(held):,}")
    assert least <= sum(held) / len(held) <= most


def test_an_agent_that_won_everything_has_a_lower_bound_alone() -> None:
    """6-0 of six pairs: at the bound a pair is won with the chance 0.05 ** (1 / 6), after Clopper and Pearson; the loser mirrors
    it.
    """
    ratings = rate({("a", "b"): [Pair.of(1, 0)] * 6}, rng=random.Random(1), model=Model(draws=False, first_mover=False))
    winner, loser = ratings.rows
    chance = 0.05 ** (1 / 6)
    odds = chance / (1 - chance)
    assert winner.high is None
    assert loser.low is None
    assert winner.low == pytest.approx(-(loser.high or 0), abs=0.1)
    assert 10 ** ((winner.low or 0) * 2 / 400) == pytest.approx(odds, rel=1e-3)
    assert isfinite(winner.elo)
    assert winner.elo > (winner.low or 0)
    lead, lag = ratings.difference("a", "b"), ratings.difference("b", "a")
    assert (lead.high, lag.low) == (None, None)
    assert 10 ** ((lead.low or 0) / 400) == pytest.approx(odds, rel=1e-3)
    assert lag.high == pytest.approx(-(lead.low or 0), abs=0.1)


def test_of_two_who_won_everything_neither_is_bounded_against_the_other() -> None:
    """They have not met, and each beat a third one six times; that one is bounded against both."""
    games = {("a", "c"): [Pair.of(1, 0)] * 6, ("b", "c"): [Pair.of(1, 0)] * 6}
    ratings = rate(games, rng=random.Random(1), model=Model(draws=False, first_mover=False))
    assert (ratings.difference("a", "b").low, ratings.difference("a", "b").high) == (None, None)
    assert (ratings.difference("a", "c").low or 0) > 0
    assert ratings.difference("a", "c").high is None


def test_one_distinct_pair_says_nothing() -> None:
    """No interval, whatever was repeated in it; and none for an agent without games."""
    ratings = rate({("a", "b"): [Pair(WinDrawLoss(wins=20), WinDrawLoss(losses=20))]}, ["a", "b", "c"], rng=random.Random(1))
    assert [(row.low, row.high) for row in ratings.rows] == [(None, None)] * 3
    assert ratings.difference("a", "b").superiority is None


def test_the_anchor_is_at_zero_and_differences_do_not_depend_on_it() -> None:
    """All ratings are shifted alike; the anchor has no interval of its own."""
    field = Field(random.Random(7), 4)
    games = field.play(12)
    plain, anchored = (rate(games, rng=random.Random(1), anchor=anchor) for anchor in (None, "agent 2"))
    shift = plain.fit.elo()["agent 2"]
    assert anchored.fit.elo("agent 2") == pytest.approx({agent: elo - shift for agent, elo in plain.fit.elo().items()})
    assert next(row for row in anchored.rows if row.agent == "agent 2") == Rated("agent 2", 0.0, None, None)
    assert plain.difference("agent 0", "agent 1") == anchored.difference("agent 0", "agent 1")
    with pytest.raises(ArenaError, match="expected an agent that played"):
        rate(games, rng=random.Random(1), anchor="nobody")


def test_pairs_that_are_all_alike_still_leave_doubt() -> None:
    """Ten or fifty pairs, all drawn: the interval has a width, and shrinks with more of them."""
    widths = []
    for count in (10, 50):
        lead = rate({("a", "b"): [Pair.of(0.5, 0.5)] * count}, rng=random.Random(1)).difference("a", "b")
        assert lead.superiority == pytest.approx(0.5, abs=0.05)
        widths.append((lead.high or 0) - (lead.low or 0))
    assert widths[0] > widths[1] > 1


def test_games_of_a_pair_that_repeat_each_other_are_not_worth_two() -> None:
    """The same results as 60 pairs whose games agree, and as 120 games torn apart: the pairs' interval is wider, by about
    sqrt(2).
    """
    rng = random.Random(3)
    results = [rng.choices((1, 0), (3, 2))[0] for _ in range(30)]
    agreeing = [Pair.of(result, 1 - result) for result in results]
    torn = [Pair(WinDrawLoss(wins=result, losses=1 - result), WinDrawLoss()) for result in results]
    torn += [Pair(WinDrawLoss(), WinDrawLoss(wins=1 - result, losses=result)) for result in results]
    rng.shuffle(torn)
    widths = []
    for pairs in (agreeing, torn):
        lead = rate({("a", "b"): pairs}, rng=random.Random(1), samples=2000).difference("a", "b")
        widths.append((lead.high or 0) - (lead.low or 0))
    assert widths[0] / widths[1] == pytest.approx(2**0.5, rel=0.15)


def test_competitors_may_be_numbers() -> None:
    """0, who is the anchor or not, and names: the same ratings, also of 2, who loses everything and has one bound alone."""
    won, lost = Pair.of(1, 0), Pair.of(0, 1)
    games = {(0, 1): [won, lost, won], (0, 2): [won] * 6, (1, 2): [won] * 4}
    named = {(f"agent {one}", f"agent {two}"): pairs for (one, two), pairs in games.items()}
    for anchor in (None, 0, 1):
        numbers = rate(games, range(3), rng=random.Random(1), anchor=anchor).rows
        names = rate(named, rng=random.Random(1), anchor=None if anchor is None else f"agent {anchor}").rows
        assert [(f"agent {row.agent}", row.elo, row.low, row.high) for row in numbers] == [
            (row.agent, row.elo, row.low, row.high) for row in names
        ]


def test_overlapping_intervals_are_named() -> None:
    """Open ends reach on for ever."""
    rows = [
        Rated("a", 300, 200, None),
        Rated("b", 100, 50, 210),
        Rated("c", 60, 10, 100),
        Rated("d", 0, None, None),
        Rated("e", -99, None, 5),
    ]
    assert overlapping(rows) == {"a": ("b", "d"), "b": ("a", "c", "d"), "c": ("b", "d"), "d": ("a", "b", "c", "e"), "e": ("d",)}


def test_differences_are_antisymmetric() -> None:
    """What a leads b by, b trails by; superiorities of both ways add up to 1."""
    ratings = rate(Field(random.Random(2), 3).play(15), rng=random.Random(1))
    for i, j in combinations(ratings.fit.agents, 2):
        there, back = ratings.difference(i, j), ratings.difference(j, i)
        assert (there.elo, there.low, there.high) == pytest.approx((-back.elo, -(back.high or 0), -(back.low or 0)))
        assert (there.superiority or 0) + (back.superiority or 0) == pytest.approx(1)


RESULTS = st.sampled_from([0, 0.5, 1])
PAIRS = st.lists(st.builds(Pair.of, RESULTS, RESULTS), max_size=5)


def test_pairs_of_one_score_have_a_width_though_their_games_differ() -> None:
    """Each pair is worth one and a half points, won with either seat."""
    pairs = [Pair.of(0.5, 0), Pair.of(1, 0.5)] * 20
    lead = rate({("a", "b"): pairs, ("a", "c"): pairs}, rng=random.Random(1)).difference("b", "c")
    assert lead.low is not None
    assert lead.high is not None
    assert lead.low < -20
    assert lead.high > 20


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.sampled_from(list(combinations("abcd", 2))), PAIRS, max_size=6), st.sampled_from([1, 20]))
def test_no_table_gives_anything_but_numbers(pairings: dict[tuple[str, str], list[Pair]], times: int) -> None:
    """Empty, lopsided and disconnected tables, with a few and with many pairs: every bound is finite or None, on its side of the
    rating.
    """
    ratings = rate({seats: pairs * times for seats, pairs in pairings.items()}, "abcd", rng=random.Random(1), samples=50)
    for row in ratings.rows:
        assert all(isfinite(value) for value in (row.elo, row.low, row.high) if value is not None)
        assert sum(ratings.fit.ratings) == pytest.approx(0, abs=1e-9)
    for lead in [ratings.difference(one, two) for one in "abcd" for two in "abcd"]:
        assert all(isfinite(value) for value in (lead.elo, lead.low, lead.high, lead.superiority) if value is not None)
        assert lead.low is None or lead.high is None or lead.low < lead.high


def test_elo_of_a_natural_unit() -> None:
    """Odds of ten to one are 400 points."""
    assert pytest.approx(400 / 2.302585092994046) == ELO
