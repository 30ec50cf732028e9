"""The sandwich's intervals and likelihoods of superiority against Student's t of scipy's, and against the bootstrap."""

import random
from itertools import combinations, product
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats  # type: ignore[import-untyped]

from arena.stats.bootstrap import bootstrap
from arena.stats.bradley_terry import chances, fit
from arena.stats.elo import ELO
from arena.stats.intervals import rate
from arena.stats.observations import Pair, table_of
from arena.stats.sandwich import Sandwich, Stratum, sandwich


def _two(lead: float, freedom: int) -> Sandwich:
    """Two ratings about their mean, of which each has the variance 1 / 16: half of a score of variance 1/4 and information 1."""
    information = np.array([[0.5, -0.5], [-0.5, 0.5]])
    scatter = np.array([[0.25, -0.25], [-0.25, 0.25]]) / 4
    return Sandwich((lead / 2, -lead / 2), information, [Stratum([0, 1], scatter, freedom)])


@given(st.integers(1, 10**7), st.floats(-50, 50))
def test_the_likelihood_of_superiority_is_students(freedom: int, t: float) -> None:
    """To eight places, of a lead of t standard errors; one standard error of the lead is a half."""
    assert _two(t / 2, freedom).superiority(0, 1) == pytest.approx(stats.t.cdf(t, freedom), abs=1e-8)


@given(st.integers(1, 10**9), st.floats(-3, 3))
def test_intervals_reach_as_far_as_students_quantile(freedom: int, lead: float) -> None:
    """To seven places, about a rating and about a lead."""
    reach = stats.t.ppf(0.975, freedom)
    assert _two(lead, freedom).interval(0) == pytest.approx((lead / 2 - reach / 4, lead / 2 + reach / 4), rel=1e-7, abs=1e-7)
    assert _two(lead, freedom).interval(0, 1) == pytest.approx((lead - reach / 2, lead + reach / 2), rel=1e-7, abs=1e-7)


def test_fifty_pairs_have_about_the_bootstraps_interval() -> None:
    """Either bound to 15 Elo."""
    pairs = [Pair.of(1, 0)] * 30 + [Pair.of(0.5, 0.5)] * 10 + [Pair.of(0, 1)] * 10
    pairings = {("a", "b"): pairs}
    fitted = fit(table_of(pairings))
    ours, theirs = sandwich(fitted, pairings), bootstrap(fitted, pairings, random.Random(1))
    assert [bound * ELO for bound in ours.interval(0)] == pytest.approx([bound * ELO for bound in theirs.interval(0)], abs=15)


def test_pairs_tell_the_spread_that_their_games_have() -> None:
    """Two equal agents, every pair won by the first seat twice or lost twice: the lead has the variance of drawn pairs, and less
    than that of as many games by themselves.
    """
    alike = {("a", "b"): [Pair.of(1, 1), Pair.of(0, 0)] * 10}
    apart = {("a", "b"): [Pair.of(1, 0), Pair.of(0, 1)] * 10}
    widths = []
    for pairings in (alike, apart):
        low, high = sandwich(fit(table_of(pairings)), pairings).interval(0, 1)
        widths.append(high - low)
    assert widths[0] < widths[1] / sqrt(2)


def intransitive(
    rng: random.Random, agents: int, pairs: int, spread: float
) -> tuple[dict[tuple[int, int], list[Pair]], list[float]]:
    """Pairs of a field in which every pairing differs from the ratings by chance, once for all of its games; and the ratings."""
    strengths = [rng.uniform(-1.2, 1.2) for _ in range(agents)]
    truth = [strength - sum(strengths) / agents for strength in strengths]
    kinds = {points: Pair.of(*points) for points in product((1, 0.5, 0), repeat=2)}
    found = {}
    for one, two in combinations(range(agents), 2):
        lead = truth[one] - truth[two] + rng.gauss(0, spread)
        odds = chances(lead + 0.2, -0.3), chances(-lead + 0.2, -0.3)
        found[one, two] = [
            kinds[rng.choices((1, 0.5, 0), odds[0])[0], rng.choices((1, 0.5, 0), odds[1])[0]] for _ in range(pairs)
        ]
    return found, truth


@pytest.mark.parametrize("spread", [0.3, 0.6, 1.0])
def test_the_spread_between_pairings_is_found(spread: float) -> None:
    """Of 20 agents, so of 190 pairings of 100 pairs each, to a sixth; with no spread there is none."""
    pairings, _ = intransitive(random.Random(1), 20, 100, spread)
    assert rate(pairings, rng=random.Random(1)).between_pairings == pytest.approx(spread, rel=1 / 6)
    assert rate(intransitive(random.Random(2), 20, 100, 0.0)[0], rng=random.Random(1)).between_pairings == 0


@pytest.mark.slow
@pytest.mark.parametrize(("pairs", "fields"), [(10, 60), (60, 40)])
def test_intervals_hold_though_pairings_differ(pairs: int, fields: int) -> None:
    """By 100 Elo, among ten agents: 91 to 98 % hold. From games alone 58 % would at 40 pairs, and fewer with more."""
    rng, held = random.Random(f"differ {pairs}"), []
    for _ in range(fields):
        pairings, truth = intransitive(rng, 10, pairs, 100 / ELO)
        rows = rate(pairings, rng=rng).rows
        held += [(row.low or -9e9) <= truth[row.agent] * ELO <= (row.high or 9e9) for row in rows]
    assert 0.91 <= sum(held) / len(held) <= 0.98


def test_a_few_pairings_say_nothing_of_the_spread_between_pairings() -> None:
    """One pairing more than the ratings take: a circle of three is listed as a circle, and the intervals are of its games."""
    circle = {("a", "b"): [Pair.of(1, 0)] * 10, ("b", "c"): [Pair.of(1, 0)] * 10, ("c", "a"): [Pair.of(1, 0)] * 10}
    assert rate(circle, rng=random.Random(1)).between_pairings == 0
