"""Paired comparisons: exact tests, published and recomputed intervals, and how often they hold."""

import random
from itertools import product
from math import exp, isfinite, log, sqrt
from statistics import fmean, median

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats  # type: ignore[import-untyped]
from scipy.optimize import minimize_scalar  # type: ignore[import-untyped]

from arena_compare.paired import (
    Solved,
    difference_interval,
    holm,
    mcnemar,
    mean_p_value,
    paired_bootstrap,
    paired_difference,
    paired_ratio,
)


@settings(max_examples=40)
@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_is_the_exact_sign_test(one: int, other: int) -> None:
    """As scipy's binomial test has it."""
    expected = stats.binomtest(one, one + other).pvalue if one + other else 1
    assert mcnemar(one, other) == pytest.approx(expected)


def test_mcnemar_of_large_counts() -> None:
    """No overflow: 3,000 against 3,200 is a p of 0.0114, by the normal approximation with continuity correction."""
    assert mcnemar(3000, 3200) == pytest.approx(2 * stats.norm.sf((200 - 1) / sqrt(6200)), rel=0.01)


@pytest.mark.parametrize(
    "solved", [Solved(50, 12, 2, 36), Solved(3, 4, 1, 2), Solved(0, 9, 0, 1), Solved(10, 0, 0, 0), Solved(5, 1, 1, 5)]
)
def test_tangos_bounds_are_where_his_score_test_just_rejects(solved: Solved) -> None:
    """At either bound the statistic, from the likeliest shares under that difference as scipy finds them, is 1.96."""
    for bound in difference_interval(solved):
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
        deviation = sqrt(solved.positions * max(1e-18, 2 * share + bound - bound**2))
        statistic = (solved.only_one - solved.only_other - solved.positions * bound) / deviation
        assert abs(statistic) == pytest.approx(1.96, abs=0.01)


def test_intervals_of_differences_hold_as_often_as_they_say() -> None:
    """Exact coverage at 10 and at 40 positions, both shares from 0.05 to 0.95 and independent: on average 90 to 98 and 93 to 97
    %.
    """
    rng = np.random.default_rng(1)
    for positions, least, most in ((10, 0.90, 0.98), (40, 0.93, 0.97)):
        held = []
        for one, other in product(np.arange(0.05, 1, 0.3), repeat=2):
            cells = np.array([one * other, one * (1 - other), (1 - one) * other, (1 - one) * (1 - other)])
            drawn, times = np.unique(rng.multinomial(positions, cells, size=60), axis=0, return_counts=True)
            bounds = [difference_interval(Solved(*map(int, row))) for row in drawn]
            hits = np.array([float(low <= one - other <= high) for low, high in bounds])
            held.append(float(np.average(hits, weights=times)))
        assert least <= fmean(held) <= most


@settings(max_examples=30)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60))
def test_intervals_of_differences_lie_around_them(results: list[tuple[bool, bool]]) -> None:
    """Within [-1, 1], never without a width, and mirrored when the agents are swapped."""
    solved = Solved.of(results)
    low, high = difference_interval(solved)
    assert solved.positions == len(results)
    assert -1 <= low <= solved.difference <= high <= 1
    assert high > low
    mirrored = difference_interval(Solved.of([(other, one) for one, other in results]))
    assert mirrored == pytest.approx((-high, -low), abs=1e-9)


def test_scipys_bootstrap_agrees_within_sampling_error() -> None:
    """The mean of forty skewed differences: percentile intervals within a tenth of their width."""
    rng = random.Random(1)
    values = [rng.expovariate(0.1) - 4 for _ in range(40)]
    ours = paired_bootstrap(values, random.Random(2))
    theirs = stats.bootstrap(
        (values,), np.mean, method="percentile", n_resamples=5000, rng=np.random.default_rng(1)
    ).confidence_interval
    assert ours is not None
    assert ours.value == pytest.approx(fmean(values))
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=(theirs.high - theirs.low) / 10)


def test_bootstrap_intervals_hold_as_often_as_they_say() -> None:
    """300 samples of 40 normal differences: 91 to 97 % (a percentile interval is a little narrow)."""
    rng = random.Random(4)
    held = []
    for _ in range(300):
        found = paired_bootstrap([rng.gauss(1, 2) for _ in range(40)], rng, samples=200)
        held.append(found is not None and found.low is not None and found.high is not None and found.low <= 1 <= found.high)
    assert 0.91 <= sum(held) / 300 <= 0.97


def test_differences_and_ratios_by_hand() -> None:
    """Means of differences, geometric means of ratios, none of nothing, no interval of one; no nodes count as one."""
    rng = random.Random(1)
    assert paired_difference([], rng) is None
    single = paired_difference([(7, 4)], rng)
    assert single is not None
    assert (single.value, single.low, single.high) == (3, None, None)
    ratio = paired_ratio([(100, 10), (1000, 1), (0, 0)], rng)
    assert ratio is not None
    assert ratio.value == pytest.approx(10 ** (4 / 3))
    same = paired_ratio([(3, 3)] * 9, rng)
    assert same is not None
    assert (same.low, same.value, same.high) == pytest.approx((1, 1, 1))
    middle = paired_bootstrap([1, 2, 9], rng, statistic=median)
    assert middle is not None
    assert (middle.low, middle.value, middle.high) == (1, 2, 9)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.floats(0, 1e12), st.floats(0, 1e12)), min_size=1, max_size=8), st.integers())
def test_ratios_are_numbers_and_repeat_with_the_seed(pairs: list[tuple[float, float]], seed: int) -> None:
    """Finite, in order, and the same from the same generator."""
    found = paired_ratio(pairs, random.Random(seed), samples=50)
    assert found == paired_ratio(pairs, random.Random(seed), samples=50)
    assert found is not None
    assert all(isfinite(value) and value > 0 for value in (found.value, found.low, found.high) if value is not None)
    assert found.value == pytest.approx(exp(fmean(log(max(one, 1)) - log(max(other, 1)) for one, other in pairs)))


def test_holm_by_hand() -> None:
    """Four tests: 4 x 0.005, 3 x 0.01, then 2 x 0.03, which the last, 0.04, may not fall below."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1, 1]


def test_the_p_value_is_that_of_students_test() -> None:
    """As scipy has it; values that are all alike have that of the sign test, and a single one says nothing."""
    values = [0.2, 1.4, -0.7, 3.1, 0.9, 0.0]
    assert mean_p_value(values) == pytest.approx(stats.ttest_1samp(values, 0).pvalue)
    assert mean_p_value([2.0] * 6) == pytest.approx(stats.binomtest(6, 6).pvalue)
    assert mean_p_value([0.0, 0.0]) == mean_p_value([5.0]) == 1.0
