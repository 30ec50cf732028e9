"""Means of values in clusters: formulas, scipy, and coverage of the intervals."""

import random
from math import inf
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats  # type: ignore[import-untyped]

from arena.stats.clustered import ClusteredMean, clustered_mean, remove_luck, stratify


def test_clusters_of_one_value_have_students_interval() -> None:
    values = [0.2, 1.4, -0.7, 3.1, 0.9, 0.0]
    found = clustered_mean(values, [1] * 6)
    low, high = stats.t.interval(0.95, 5, loc=fmean(values), scale=stats.sem(values))
    assert found == pytest.approx((fmean(values), low, high))


def test_equal_values_of_a_cluster_count_once() -> None:
    values = [0.2, 1.4, -0.7, 3.1, 0.9, 0.0]
    assert clustered_mean([10 * value for value in values], [10] * 6) == pytest.approx(clustered_mean(values, [1] * 6))


def test_one_cluster_has_no_interval() -> None:
    assert clustered_mean([], []) == ClusteredMean(None, None, None)
    assert clustered_mean([6.0, 0.0], [3, 0]) == ClusteredMean(2.0, None, None)


def test_intervals_of_clustered_values_have_the_nominal_coverage() -> None:
    """400 samples have 25 clusters of unequal sizes with a shared component. About 95 % of the intervals contain the mean."""
    rng = random.Random(4)
    held = 0
    for _ in range(400):
        counts = [rng.randint(1, 6) for _ in range(25)]
        shared = [rng.gauss(1.0, 1.0) for _ in counts]
        sums = [sum(rng.gauss(part, 0.5) for _ in range(count)) for part, count in zip(shared, counts, strict=True)]
        _, low, high = clustered_mean(sums, counts)
        assert low is not None
        assert high is not None
        held += low <= 1.0 <= high
    assert 0.92 <= held / 400 <= 0.98


def test_equal_values_have_a_bound_if_their_range_is_known() -> None:
    """Ten rounds are all lost. With 95 % confidence, the probability of a round that is not lost is at most 1 - 0.05^(1/10),
    and such a round may be won.
    """
    found = clustered_mean([-2.0] * 10, [2] * 10, within=(-1.0, 1.0))
    assert [*found] == [-1, -1, pytest.approx(-1 + 2 * (1 - 0.05**0.1))]
    assert clustered_mean([-2.0] * 10, [2] * 10) == ClusteredMean(-1, None, None)
    assert clustered_mean([0.1] * 3 + [0.3], [1, 1, 1, 3], within=(0, inf)).high is None  # equal but for rounding


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=20))
def test_an_interval_stays_within_the_range(values: list[float]) -> None:
    found = clustered_mean(values, [1] * len(values), within=(-1.0, 1.0))
    assert found.low is None or found.high is None or -1 <= found.low <= found.high <= 1
    assert found.low is None or found.low < (found.high or 1.0)


@pytest.mark.parametrize("values", [[0.0] * 6, [0.0, -20.0] * 3, [-15.0] * 6, [-40.0, -60.0, -70.0]])
def test_an_interval_contains_the_mean_of_values_out_of_range(values: list[float]) -> None:
    """Records of earlier versions have zeros at the move limit, which may be out of the range of the returns."""
    stratified = stratify([{cluster: (value, 1) for cluster, value in enumerate(values)}])
    for within in ((-50.0, -10.0), (-9.0, 5.0)):
        for found in (clustered_mean(values, [1] * len(values), within), stratified.with_interval(within)):
            assert None not in found
            assert sorted((found.low, found.mean, found.high)) == [found.low, found.mean, found.high]  # type: ignore[type-var]


def test_returns_are_not_corrected_for_luck_that_does_not_affect_them() -> None:
    """A few large throws are lucky, but the returns do not depend on them."""
    rng = np.random.default_rng(1)
    returns = rng.choice([-1.0, 1.0], 60)
    luck = np.zeros(60)
    luck[[3, 17, 44]] = 40, -55, 30
    kept = remove_luck(returns.tolist(), luck.tolist(), [1] * 60)
    assert kept == returns.tolist()
    real = rng.normal(0, 1, 60)
    lower = remove_luck((real + 0.1 * returns).tolist(), real.tolist(), [1] * 60)
    assert lower is not None
    assert np.var(lower) < 0.05 * np.var(real)


def test_a_stratum_of_equal_values_adds_no_uncertainty() -> None:
    """Twenty draws with value 0 are added to six other values. If the draws are half of all values, the interval is half as
    wide.
    """
    values = [0.2, 1.4, -0.7, 3.1, 0.9, 0.0]
    found = stratify([{0: (0.0, 6)}, {round_: (value, 1) for round_, value in enumerate(values)}]).with_interval()
    low, high = stats.t.interval(0.95, 5, loc=fmean(values), scale=stats.sem(values))
    assert found == pytest.approx((fmean(values) / 2, low / 2, high / 2))
    assert stratify([{0: (0.0, 5)}, {4: (3.0, 5)}]).with_interval() == ClusteredMean(0.3, None, None)


def test_strata_use_welchs_degrees_of_freedom() -> None:
    one, two = [0.2, 1.4, -0.7, 3.1, 0.9, 0.0], [10.0, 60.0, -30.0, 7.0, 8.0, 3.0]
    strata = [dict(enumerate((value, 1) for value in one)), {9 + round_: (value, 1) for round_, value in enumerate(two)}]
    welch = stats.ttest_ind(one, [-value for value in two], equal_var=False).confidence_interval()
    assert stratify(strata).with_interval()[1:] == pytest.approx((welch.low / 2, welch.high / 2))
