"""Ratings if positions favour a seat, against integration by scipy and identities that hold without any model of the favour."""

import random
from itertools import product
from math import exp, log, pi, sqrt

import numpy as np
import pytest
from scipy.integrate import quad  # type: ignore[import-untyped]

from arena.stats.bradley_terry import Fit, chances, fit
from arena.stats.intervals import rate
from arena.stats.newton import Array
from arena.stats.observations import Pair, WinDrawLoss, table_of
from arena.stats.position_effect import Scores, fit_at_spread, fit_positions, score_pairs

RESULTS = (1, 0.5, 0)
SINGLE = {points: pair.forward for points in RESULTS for pair in [Pair.of(points, 0)]}


def chance_of(pair: tuple[float, float], lead: float, first_mover: float, log_draws: float, spread: float) -> float:
    """The probability of a pair of games, integrated over the favour of its position."""

    def weighted(x: float) -> float:
        favour = first_mover + spread * x
        both = chances(lead + favour, log_draws), chances(-lead + favour, log_draws)
        return both[0][RESULTS.index(pair[0])] * both[1][RESULTS.index(pair[1])] * exp(-x * x / 2) / sqrt(2 * pi)

    return float(quad(weighted, -12, 12, epsabs=1e-12, epsrel=1e-12, limit=200)[0])


def counts_of(pair: tuple[float, float]) -> list[float]:
    return [float(count) for points in pair for count in SINGLE[points]]


@pytest.mark.parametrize("spread", [0.0, 0.4, 1.2])
@pytest.mark.parametrize("pair", list(product(RESULTS, RESULTS)))
def test_the_likelihood_of_a_pair_is_the_integral(pair: tuple[float, float], spread: float) -> None:
    """Of each of the nine results, against adaptive quadrature."""
    place = (0.7, 0.2, -0.3, spread)
    found = score_pairs(np.array([place[0]]), *place[1:], np.array([counts_of(pair)]))
    assert float(found.value[0]) == pytest.approx(log(chance_of(pair, *place)), abs=2e-5)


@pytest.mark.parametrize("spread", [0.0, 0.9])
@pytest.mark.parametrize("pair", [(1, 0), (0.5, 1), (0, 0.5), (1, 1)])
def test_slopes_and_information_are_those_of_differences(pair: tuple[float, float], spread: float) -> None:
    """Of each parameter, and of each two, against central differences of the values."""
    place, step = np.array([0.7, 0.2, -0.3, spread]), 1e-4
    counts = np.array([counts_of(pair)])

    def score(at: Array) -> Scores:
        _, first_mover, log_draws, spread = map(float, at)
        return score_pairs(at[:1], first_mover, log_draws, spread, counts)

    def value(at: Array) -> float:
        return float(score(at).value[0])

    found = score(place)
    steps = np.eye(4) * step
    slopes = [(value(place + one) - value(place - one)) / (2 * step) for one in steps]
    assert found.slope[0] == pytest.approx(slopes, abs=1e-7)
    for (i, one), (j, two) in product(enumerate(steps), repeat=2):
        ups, downs = value(place + one + two) + value(place - one - two), value(place + one - two) + value(place - one + two)
        assert -found.information[0, i, j] == pytest.approx((ups - downs) / (4 * step * step), abs=1e-5)


def play(rng: random.Random, lead: float, favours: list[float], pairs: int) -> list[Pair]:
    """Pairs of two competitors from positions whose favour is drawn from these."""
    kinds = {points: Pair.of(*points) for points in product(RESULTS, RESULTS)}
    found = []
    for _ in range(pairs):
        favour = rng.choice(favours)
        points = [rng.choices(RESULTS, chances(d + favour, -0.5))[0] for d in (lead, -lead)]
        found.append(kinds[points[0], points[1]])
    return found


@pytest.mark.parametrize("favours", [[-1.2, 1.2], [-2.5, 0.0, 0.0, 2.5]])
def test_the_lead_is_that_of_pairs_won_twice(favours: list[float]) -> None:
    """Whatever the favours are, the lead of one over the other is half the log of (pairs won 2-0) / (pairs lost 0-2).

    In a position of favour u the two games are won with odds of exp(d + u) and exp(d - u), so 2-0 and 0-2 have odds of exp(2d).
    """
    pairs = play(random.Random(4), 0.6, favours, 30_000)
    won, lost = pairs.count(Pair.of(1, 0)), pairs.count(Pair.of(0, 1))
    ratings = rate({("a", "b"): pairs}, rng=random.Random(1))
    lead = ratings.fit.ratings[0] - ratings.fit.ratings[1]
    assert lead == pytest.approx(log(won / lost) / 2, abs=0.03)
    assert lead == pytest.approx(0.6, abs=0.03)
    plain = fit(table_of({("a", "b"): pairs}))
    assert plain.ratings[0] - plain.ratings[1] < 0.5


def test_even_positions_leave_the_ratings_as_they_were() -> None:
    """Independent games show no effect, so the fit is the very one without it."""
    pairings = {("a", "b"): play(random.Random(5), 0.4, [0.0], 300), ("b", "c"): play(random.Random(6), 0.1, [0.0], 300)}
    plain = fit(table_of(pairings))
    assert fit_positions(pairings, plain) is plain


def test_the_spread_is_found() -> None:
    """Of favours that are normal with a standard deviation of 1.2; two terms of the field are found with it."""
    rng = random.Random(7)
    favours = [0.3 + rng.gauss(0, 1.2) for _ in range(20_000)]
    pairings = {("a", "b"): play(rng, 0.5, favours, 20_000), ("b", "c"): play(rng, -0.5, favours, 20_000)}
    found = fit_positions(pairings, fit(table_of(pairings)))
    assert found.spread == pytest.approx(1.2, abs=0.04)
    assert found.first_mover == pytest.approx(0.3, abs=0.04)
    assert found.log_draws == pytest.approx(-0.5, abs=0.04)
    assert found.ratings == pytest.approx((1 / 6, -1 / 3, 1 / 6), abs=0.03)


def test_the_spread_is_the_likeliest_one() -> None:
    """Fits at any other spread have a lower likelihood."""
    rng = random.Random(8)
    pairings = {("a", "b"): play(rng, 0.5, [-1.0, 1.0], 200), ("a", "c"): play(rng, 0.2, [-1.0, 1.0], 200)}
    found = fit_positions(pairings, fit(table_of(pairings)))
    assert found.spread > 0.5

    def at(spread: float) -> Fit[str]:
        return fit_at_spread(pairings, found.agents, spread, model=found.model)

    assert at(found.spread).log_likelihood == pytest.approx(found.log_likelihood, abs=1e-7)
    assert all(at(found.spread + step).log_likelihood < found.log_likelihood for step in (-0.3, -0.01, 0.01, 0.3))


def test_repeats_of_a_pair_weigh_like_that_many_pairs() -> None:
    """Two agents that repeat themselves: each pair is stored once with its repeats, and rated as if it had been listed."""
    rng = random.Random(9)
    pairs = play(rng, 0.5, [-2.0, 2.0], 200)
    folded = [Pair(pair.forward.times(3), pair.backward.times(3)) for pair in pairs]
    one, three = (fit_positions({("a", "b"): found}, fit(table_of({("a", "b"): found}))) for found in (folded, pairs * 3))
    assert one.spread > 0
    assert one.ratings == pytest.approx(three.ratings, abs=1e-6)
    assert one.spread == pytest.approx(three.spread, abs=1e-4)


def test_an_agent_with_all_points_has_one_bound_among_lopsided_openings() -> None:
    """The bound of a sweep is fitted with the spread that the games of the others show."""
    rng = random.Random(10)
    pairings = {("a", "b"): play(rng, 0.3, [-2.0, 2.0], 100), ("a", "c"): [Pair.of(1, 0)] * 8, ("b", "c"): [Pair.of(1, 0)] * 8}
    ratings = rate(pairings, rng=random.Random(1))
    assert ratings.fit.spread > 1
    row = next(row for row in ratings.rows if row.agent == "c")
    assert row.low is None
    assert row.high is not None
    assert row.elo < row.high < 0


def test_a_half_pair_counts() -> None:
    """A pair whose second game is missing says something of the lead, and nothing of the spread."""
    rng = random.Random(11)
    pairs = play(rng, 0.5, [-1.5, 1.5], 100)
    halves = [Pair(WinDrawLoss(wins=1), WinDrawLoss())] * 10
    whole, more = (fit_positions({("a", "b"): found}, fit(table_of({("a", "b"): found}))) for found in (pairs, pairs + halves))
    assert more.ratings[0] > whole.ratings[0]
