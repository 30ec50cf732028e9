"""Student's t against scipy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from arena.stats.student import t_cdf, t_quantile


@given(st.floats(1, 1e7), st.floats(-50, 50))
def test_the_distribution_function_is_scipys(df: float, t: float) -> None:
    """To eight places, for whole and broken degrees of freedom."""
    assert t_cdf(t, df) == pytest.approx(stats.t.cdf(t, df), abs=1e-8)


@given(st.floats(1, 1e9), st.floats(0.001, 0.999))
def test_quantiles_are_scipys(df: float, share: float) -> None:
    """To seven places."""
    assert t_quantile(share, df) == pytest.approx(stats.t.ppf(share, df), rel=1e-7, abs=1e-7)
