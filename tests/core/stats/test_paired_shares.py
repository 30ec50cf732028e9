"""Differences of solved shares: recomputed intervals, and how often they hold."""

from itertools import product
from math import log, sqrt
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import minimize_scalar  # type: ignore[import-untyped]

from arena.stats import PairedShares, difference_interval


@pytest.mark.parametrize(
    "solved",
    [
        PairedShares(50, 12, 2, 36),
        PairedShares(3, 4, 1, 2),
        PairedShares(0, 9, 0, 1),
        PairedShares(10, 0, 0, 0),
        PairedShares(5, 1, 1, 5),
    ],
)
@pytest.mark.parametrize(("chance", "quantile"), [(0.05, 1.960), (0.01, 2.576)])
def test_the_bounds_are_where_tangos_score_test_just_rejects(solved: PairedShares, chance: float, quantile: float) -> None:
    """At either bound, the statistic equals the quantile of the normal distribution. scipy finds the most likely shares under
    that difference.
    """
    for bound in difference_interval(solved, chance):
        least, most = max(0.0, -bound), (1 - bound) / 2

        def loss(share: float, bound: float = bound) -> float:
            """Minus the log-likelihood: `share` is the chance that the other alone solves a position."""
            cells = (
                (solved.only_one, share + bound),
                (solved.only_other, share),
                (solved.both + solved.neither, 1 - 2 * share - bound),
            )
            return -sum(count * log(max(chance, 1e-300)) for count, chance in cells if count)

        share = minimize_scalar(loss, bounds=(least, most), method="bounded", options={"xatol": 1e-12}).x
        deviation = sqrt(solved.rounds * max(1e-18, 2 * share + bound - bound**2))
        statistic = (solved.only_one - solved.only_other - solved.rounds * bound) / deviation
        assert abs(statistic) == pytest.approx(quantile, abs=0.01)


def test_intervals_of_differences_have_the_nominal_coverage() -> None:
    """For 10 and 40 positions and independent shares from 0.05 to 0.95, the mean exact coverage is 90 to 98 % and 93 to 97 %."""
    rng = np.random.default_rng(1)
    for positions, least, most in ((10, 0.90, 0.98), (40, 0.93, 0.97)):
        held = []
        for one, other in product(np.arange(0.05, 1, 0.3), repeat=2):
            cells = np.array([one * other, one * (1 - other), (1 - one) * other, (1 - one) * (1 - other)])
            drawn, times = np.unique(rng.multinomial(positions, cells, size=60), axis=0, return_counts=True)
            bounds = [difference_interval(PairedShares(*map(int, row))) for row in drawn]
            hits = np.array([float(low <= one - other <= high) for low, high in bounds])
            held.append(float(np.average(hits, weights=times)))
        assert least <= fmean(held) <= most


@settings(max_examples=30)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60))
def test_intervals_of_differences_contain_the_difference(results: list[tuple[bool, bool]]) -> None:
    """They lie within [-1, 1], have a positive width, and are mirrored if the agents are swapped."""
    solved = PairedShares.of(results)
    low, high = difference_interval(solved)
    assert solved.rounds == len(results)
    assert -1 <= low <= solved.difference <= high <= 1
    assert high > low
    mirrored = difference_interval(PairedShares.of([(other, one) for one, other in results]))
    assert mirrored == pytest.approx((-high, -low), abs=1e-9)
