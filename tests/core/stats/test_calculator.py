"""Elo, its interval and superiority from counts."""

from math import comb, erf, isfinite, log, log10, sqrt
from statistics import fmean, pstdev

import pytest
from hypothesis import given, strategies as st

from arena.errors import ArenaError
from arena.stats.calculator import EloEstimate
from arena.stats.elo import elo_difference, expected_score, normalized_elo
from arena.stats.likelihood import mean_interval


def test_elo_and_superiority_of_a_long_match_agree_with_textbook_formulas() -> None:
    """For 120 wins, 80 draws and 200 losses, the Elo formula, the normal distribution (margin within 1 %) and Phi(-80 /
    sqrt(320)) give the values.
    """
    worth = EloEstimate.of_games(120, 80, 200)
    error = sqrt((120 * 0.6**2 + 80 * 0.1**2 + 200 * 0.4**2) / 400 / 400)
    low, high = (-400 * log10(1 / (0.4 + side * 1.96 * error) - 1) for side in (-1, 1))
    assert worth.elo == pytest.approx(-400 * log10(1 / 0.4 - 1))
    assert worth.margin == pytest.approx((high - low) / 2, rel=0.01)
    assert worth.superiority == pytest.approx((1 + erf(-80 / sqrt(640))) / 2, abs=1e-5)


def test_the_elo_of_an_agent_that_won_all_pairs_has_only_a_lower_bound() -> None:
    """At the bound, the probability of winning all six pairs is 1 / 20 (Clopper and Pearson, one-sided)."""
    worth = EloEstimate.of_pairs((0, 0, 0, 0, 6))
    assert (worth.elo, worth.elo_high, worth.margin) == (None, None, None)
    assert worth.score_low == pytest.approx(0.05 ** (1 / 6), abs=1e-6)
    assert 0.98 < worth.superiority < 1


def test_normalised_elo_uses_the_standard_deviation_of_a_game() -> None:
    """It is sqrt(2) times the standard deviation of a pair's mean, and corresponds to 800 / ln 10."""
    counts = (24, 609, 1406, 767, 42)
    scores = [share for share, count in zip((0, 0.25, 0.5, 0.75, 1), counts, strict=True) for _ in range(count)]
    expected = (fmean(scores) - 0.5) / (pstdev(scores) * sqrt(2)) * 800 / log(10)
    assert EloEstimate.of_pairs(counts).normalized_elo == pytest.approx(expected)
    assert EloEstimate.of_games(5, 1, 2).normalized_elo is None


def test_a_single_pair_has_no_interval() -> None:
    assert (EloEstimate.of_pairs((0, 0, 0, 0, 1)).elo_low, EloEstimate.of_games(0, 0, 0).elo_low) == (None, None)
    assert EloEstimate.of_games(0, 0, 0).score == 0.5
    drawn = EloEstimate.of_games(0, 30, 0)
    assert drawn.elo_high == pytest.approx(-(drawn.elo_low or 0))
    assert (drawn.elo_high or 0) > 5


def test_intervals_of_means_have_the_nominal_coverage() -> None:
    """Averaged over probabilities from 0.05 to 0.95, the exact coverage is 90 to 98 % for ten coin tosses, and 93 to 97 % for
    forty.
    """
    for trials, least, most in ((10, 0.90, 0.98), (40, 0.93, 0.97)):
        bounds = [mean_interval((trials - wins, wins), (0, 1)) or (0, 1) for wins in range(trials + 1)]
        chances = [k / 100 for k in range(5, 96)]
        held = [
            sum(
                comb(trials, wins) * p**wins * (1 - p) ** (trials - wins)
                for wins, (low, high) in enumerate(bounds)
                if low <= p <= high
            )
            for p in chances
        ]
        assert least <= sum(held) / len(held) <= most


@pytest.mark.parametrize("counts", [(1, 2, 3), (1, 2, 3, 4, -5)])
def test_wrong_counts_are_refused(counts: tuple[int, ...]) -> None:
    with pytest.raises(ArenaError, match="expected"):
        EloEstimate.of_pairs(counts)
    with pytest.raises(ArenaError, match="non-negative"):
        EloEstimate.of_games(-1, 0, 5)


COUNT = st.sampled_from([0, 0, 1, 2, 7, 1000, 10**6])


@given(st.lists(COUNT, min_size=5, max_size=5))
def test_results_are_finite_and_symmetric(counts: list[int]) -> None:
    worth, mirrored = EloEstimate.of_pairs(counts), EloEstimate.of_pairs(counts[::-1])
    numbers = (worth.elo, worth.elo_low, worth.elo_high, worth.superiority, worth.normalized_elo, worth.margin)
    assert all(isfinite(number) for number in numbers if number is not None)
    if worth.score_low is not None and worth.score_high is not None:
        assert 0 <= worth.score_low <= worth.score <= worth.score_high <= 1
        assert worth.score_low == pytest.approx(1 - (mirrored.score_high or 0), abs=1e-6)
    assert worth.superiority == pytest.approx(1 - mirrored.superiority, abs=1e-6)


@given(st.floats(-2000, 2000))
def test_elo_is_the_inverse_of_the_score(elo: float) -> None:
    assert elo_difference(expected_score(elo)) == pytest.approx(elo, abs=1e-5)
    assert 0 <= expected_score(elo * 1e6) <= 1
    assert elo_difference(0) is elo_difference(1) is None
    assert normalized_elo(0.7, 0) is None
