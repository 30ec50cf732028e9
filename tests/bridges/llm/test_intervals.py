"""Test intervals of the columns for language models: they stay in range and agree with other packages."""

from math import inf

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]
from scipy.optimize import brentq  # type: ignore[import-untyped]

from arena_bridges.llm import bound_mean


@pytest.mark.parametrize(("ones", "count"), [(3, 10), (1, 12), (7, 8), (29, 30)])
def test_an_interval_of_a_share_agrees_with_wilson(ones: int, count: int) -> None:
    """With one value per cluster, n - 1 replaces n, because the variance is estimated, and t replaces the normal quantile."""
    _, low, high = bound_mean([[1.0]] * ones + [[0.0]] * (count - ones), 0.0, 1.0)
    share, quantile = ones / count, stats.t.ppf(0.975, count - 1)
    lack = lambda mean: (mean - share) ** 2 - quantile**2 * mean * (1 - mean) / (count - 1)  # noqa: E731 - Wilson's equation
    assert (low, high) == pytest.approx((brentq(lack, 0, share), brentq(lack, share, 1)))


@pytest.mark.parametrize("count", [5, 40])
def test_shares_of_zero_and_one_agree_with_wilson(count: int) -> None:
    for value in (0.0, 1.0):
        mean, low, high = bound_mean([[value] * 3] * count, 0.0, 1.0)
        wilson = stats.binomtest(round(value * count), count).proportion_ci(
            1 - 2 * stats.norm.sf(stats.t.ppf(0.975, count - 1)), "wilson"
        )
        assert (mean, low, high) == pytest.approx((value, wilson.low, wilson.high), abs=1e-12)


def test_an_interval_of_a_gap_is_a_scaled_interval_of_a_share_and_close_to_students() -> None:
    values = [0.0, 2.0, -1.0, 1.0, -2.0, 0.5, -0.5, 2.0] * 300
    mean, low, high = bound_mean([[value] for value in values], -2.0, 2.0)
    _, *share = bound_mean([[(value + 2) / 4] for value in values], 0.0, 1.0)
    assert (low, high) == pytest.approx([4 * float(end or 0) - 2 for end in share])
    student = stats.t.interval(0.95, len(values) - 1, np.mean(values), stats.sem(values))
    assert (mean, low, high) == pytest.approx((np.mean(values), *student), abs=5e-4)
    _, low, high = bound_mean([[2.0], [2.0], [1.5]], -2.0, 2.0)
    assert low is not None
    assert high is not None
    assert -2 <= low < 1.8 < high <= 2


def test_a_positive_mean_has_positive_bounds() -> None:
    """The expected bounds use the delta method for the logarithm with scipy's standard error. All-zero values have no width."""
    values = [0.1, 0.2, 4.0, 0.1]
    mean, low, high = bound_mean([[value] for value in values], 0.0, inf)
    reach = stats.t.ppf(0.975, 3) * stats.sem(values) / np.mean(values)
    assert (mean, low, high) == pytest.approx((1.1, 1.1 * np.exp(-reach), 1.1 * np.exp(reach)))
    assert bound_mean([[0.0], [0.0]], 0.0, inf) == (0.0, 0.0, 0.0)
    assert bound_mean([[1.0, 2.0]], 0.0, inf) == (1.5, None, None)


def test_clusters_of_unequal_sizes_are_weighted_as_in_other_columns() -> None:
    from arena.stats import clustered_mean

    clusters = [[1.0, 2.0], [1.6], [1.2, 1.4, 1.9]]
    mean, low, high = bound_mean(clusters, 0.0, inf)
    plain = clustered_mean([sum(one) for one in clusters], [len(one) for one in clusters])
    assert plain.mean == pytest.approx(mean)
    assert low is not None
    assert high is not None
    assert np.log(high / mean) * mean == pytest.approx(plain.high - plain.mean)  # type: ignore[operator]
    assert low * high == pytest.approx(mean**2)
