"""Means of values in clusters: known formulas, a twin of scipy, and coverage of the intervals."""

import random
from statistics import fmean

import pytest
from scipy import stats  # type: ignore[import-untyped]

from arena.stats.clustered import ClusteredMean, clustered_mean


def test_one_value_a_cluster_is_students_interval() -> None:
    """Without repeats it is the interval of the textbook."""
    values = [0.2, 1.4, -0.7, 3.1, 0.9, 0.0]
    found = clustered_mean(values, [1] * 6)
    low, high = stats.t.interval(0.95, 5, loc=fmean(values), scale=stats.sem(values))
    assert found == pytest.approx((fmean(values), low, high))


def test_alike_values_of_a_cluster_count_once() -> None:
    """Ten copies of every value tell no more than the values."""
    values = [0.2, 1.4, -0.7, 3.1, 0.9, 0.0]
    assert clustered_mean([10 * value for value in values], [10] * 6) == pytest.approx(clustered_mean(values, [1] * 6))


def test_without_clusters_there_is_nothing_to_say() -> None:
    """No value has no mean, and one cluster has no interval; empty clusters are none."""
    assert clustered_mean([], []) == ClusteredMean(None, None, None)
    assert clustered_mean([6.0, 0.0], [3, 0]) == ClusteredMean(2.0, None, None)


def test_intervals_hold_where_values_of_a_cluster_are_alike() -> None:
    """Of 400 samples of 25 clusters with unequal sizes and a shared part, about 95 % of the intervals have the mean."""
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
