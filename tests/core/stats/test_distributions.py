"""Student's t, the binomial and the chi-squared distribution: against scipy, exact sums, limits, and published tables."""

from fractions import Fraction
from math import atan, comb, erfc, exp, inf, isclose, pi, sqrt
from statistics import NormalDist

import pytest
from scipy import special  # type: ignore[import-untyped]

from arena.stats.distributions import binomial_cdf, chi_squared_tail, student_cdf, student_quantile

FREEDOMS = (0.5, 1, 1.5, 2, 3, 4.7, 7, 14.3, 31, 100, 333.3, 5000, 20_000)


def close(one: float, two: float, accuracy: float = 2e-12) -> bool:
    return isclose(one, two, rel_tol=accuracy, abs_tol=1e-300)


@pytest.mark.parametrize("freedom", FREEDOMS)
def test_student_agrees_with_scipy(freedom: float) -> None:
    for t in (-100, -38, -10, -6, -4, -2.5, -1.96, -1, -0.5, -0.1, 0, 0.01, 0.3, 1, 2, 5, 9, 40):
        assert close(student_cdf(freedom, t), float(special.stdtr(freedom, t))), t
    for p in (1e-12, 1e-8, 1e-4, 0.01, 0.025, 0.2, 0.4, 0.8, 0.975, 0.995):
        # Not scipy's quantile, which has nine digits at four degrees of freedom: the quantile's own probability.
        assert close(float(special.stdtr(freedom, student_quantile(freedom, p))), p), p
    assert (student_quantile(freedom, 0), student_quantile(freedom, 0.5), student_quantile(freedom, 1)) == (-inf, 0, inf)


def test_student_has_closed_forms_for_one_and_two_degrees_of_freedom() -> None:
    """These are Cauchy's distribution, and 1/2 + t / (2 sqrt(2 + t^2))."""
    for t in (1e-9, 1e-3, 0.7, 3.0, 50.0):
        assert close(student_cdf(1, t), 0.5 + atan(t) / pi, 1e-15)
        assert close(student_cdf(2, -t), 1 / ((2 + t * t) * (1 + t / sqrt(2 + t * t)))), t
    assert close(student_cdf(1, -1e150), 1e-150 / pi)


def test_student_approaches_the_normal_distribution() -> None:
    assert close(student_quantile(1e20, 0.975), NormalDist().inv_cdf(0.975))
    assert all(close(student_cdf(1e20, t), erfc(-t / sqrt(2)) / 2) for t in (-30, -6, -2, -0.5, 0.1, 1, 4))


@pytest.mark.parametrize(
    ("freedom", "point"), [(1, 12.706), (2, 4.303), (3, 3.182), (5, 2.571), (10, 2.228), (30, 2.042), (60, 2.000), (120, 1.980)]
)
def test_student_agrees_with_published_quantiles(freedom: int, point: float) -> None:
    """The 97.5 % quantiles come from R. A. Fisher and F. Yates, Statistical Tables, 1938."""
    assert round(student_quantile(freedom, 0.975), 3) == point


@pytest.mark.parametrize(("freedom", "point"), [(1, 3.841), (2, 5.991), (5, 11.070), (10, 18.307), (30, 43.773)])
def test_chi_squared_agrees_with_published_quantiles(freedom: int, point: float) -> None:
    """The 5 % quantiles come from the same tables."""
    assert abs(chi_squared_tail(freedom, point) - 0.05) < 2e-5


@pytest.mark.parametrize("freedom", [1, 2, 3, 10, 21, 50, 101, 1000, 19_999])
def test_chi_squared_agrees_with_scipy(freedom: int) -> None:
    for share in (1e-6, 0.001, 0.1, 0.5, 0.9, 0.99, 1, 1.001, 1.03, 1.1, 1.3, 2, 3, 20):
        assert close(chi_squared_tail(freedom, share * freedom), float(special.chdtrc(freedom, share * freedom))), share
    assert (chi_squared_tail(freedom, 0), chi_squared_tail(freedom, -1)) == (1, 1)
    assert close(chi_squared_tail(2, 600), exp(-300))


@pytest.mark.parametrize("trials", [1, 2, 7, 50, 333, 2000])
def test_binomial_equals_the_exact_sum(trials: int) -> None:
    for successes in {0, trials // 100, trials // 5, trials * 2 // 5, trials // 2, trials * 9 // 10, trials}:
        exact = Fraction(sum([comb(trials, k) for k in range(successes + 1)]), 2**trials)
        assert close(binomial_cdf(successes, trials, 0.5), float(exact)), successes
