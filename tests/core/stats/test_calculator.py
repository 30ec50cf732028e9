"""What a score is worth: Elo and its interval, for sound counts and for degenerate ones."""

from math import comb, erf, isfinite, log, log10, sqrt
from statistics import fmean, pstdev

import pytest
from hypothesis import given, strategies as st

from arena.errors import ArenaError
from arena.stats.calculator import EloEstimate
from arena.stats.elo import elo_difference, expected_score, normalized_elo
from arena.stats.likelihood import mean_interval


def test_a_long_match_by_the_textbook() -> None:
    """120 wins, 80 draws, 200 losses: Elo by its formula, the margin as a normal one within 1 %, superiority as Phi(-80 /
    sqrt(320)).
    """
    worth = EloEstimate.of_games(120, 80, 200)
    error = sqrt((120 * 0.6**2 + 80 * 0.1**2 + 200 * 0.4**2) / 400 / 400)
    low, high = (-400 * log10(1 / (0.4 + side * 1.96 * error) - 1) for side in (-1, 1))
    assert worth.elo == pytest.approx(-400 * log10(1 / 0.4 - 1))
    assert worth.margin == pytest.approx((high - low) / 2, rel=0.01)
    assert worth.superiority == pytest.approx((1 + erf(-80 / sqrt(640))) / 2, abs=1e-5)


def test_a_clean_sweep_has_a_lower_bound_alone() -> None:
    """Six won pairs: the bound is where they have the chance 1 / 20, as of Clopper and Pearson on one side; no Elo at 100 %."""
    worth = EloEstimate.of_pairs((0, 0, 0, 0, 6))
    assert (worth.elo, worth.elo_high, worth.margin) == (None, None, None)
    assert worth.score_low == pytest.approx(0.05 ** (1 / 6), abs=1e-6)
    assert 0.98 < worth.superiority < 1


def test_normalised_elo_counts_deviations_of_a_game() -> None:
    """A deviation of a game is sqrt(2) of those of a pair's mean, and worth 800 / ln 10; single games do not tell it."""
    counts = (24, 609, 1406, 767, 42)
    scores = [share for share, count in zip((0, 0.25, 0.5, 0.75, 1), counts, strict=True) for _ in range(count)]
    expected = (fmean(scores) - 0.5) / (pstdev(scores) * sqrt(2)) * 800 / log(10)
    assert EloEstimate.of_pairs(counts).normalized_elo == pytest.approx(expected)
    assert EloEstimate.of_games(5, 1, 2).normalized_elo is None


def test_a_single_pair_says_nothing() -> None:
    """No interval, and none without games; all drawn leaves doubt."""
    assert (EloEstimate.of_pairs((0, 0, 0, 0, 1)).elo_low, EloEstimate.of_games(0, 0, 0).elo_low) == (None, None)
    assert EloEstimate.of_games(0, 0, 0).score == 0.5
    drawn = EloEstimate.of_games(0, 30, 0)
    assert drawn.elo_high == pytest.approx(-(drawn.elo_low or 0))
    assert (drawn.elo_high or 0) > 5


def test_intervals_of_means_hold_as_often_as_they_say() -> None:
    """Exact coverage of ten coin throws, averaged over chances from 0.05 to 0.95: between 90 and 98 %; of forty, 93 to 97 %."""
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
    """The error says what was expected."""
    with pytest.raises(ArenaError, match="expected"):
        EloEstimate.of_pairs(counts)
    with pytest.raises(ArenaError, match="none negative"):
        EloEstimate.of_games(-1, 0, 5)


COUNT = st.sampled_from([0, 0, 1, 2, 7, 1000, 10**6])


@given(st.lists(COUNT, min_size=5, max_size=5))
def test_no_pairs_give_anything_but_numbers(counts: list[int]) -> None:
    """Everything is finite or None, bounds lie on their sides, and swapping the agents mirrors it all."""
    worth, mirrored = EloEstimate.of_pairs(counts), EloEstimate.of_pairs(counts[::-1])
    numbers = (worth.elo, worth.elo_low, worth.elo_high, worth.superiority, worth.normalized_elo, worth.margin)
    assert all(isfinite(number) for number in numbers if number is not None)
    if worth.score_low is not None and worth.score_high is not None:
        assert 0 <= worth.score_low <= worth.score <= worth.score_high <= 1
        assert worth.score_low == pytest.approx(1 - (mirrored.score_high or 0), abs=1e-6)
    assert worth.superiority == pytest.approx(1 - mirrored.superiority, abs=1e-6)


@given(st.floats(-2000, 2000))
def test_elo_and_score_are_inverse(elo: float) -> None:
    """There and back; and without a score strictly between, there is none."""
    assert elo_difference(expected_score(elo)) == pytest.approx(elo, abs=1e-5)
    assert 0 <= expected_score(elo * 1e6) <= 1
    assert elo_difference(0) is elo_difference(1) is None
    assert normalized_elo(0.7, 0) is None
