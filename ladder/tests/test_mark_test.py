"""The test behind marks, on classes of known strengths: its errors, and the number of matches."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import pytest

from arena.stats import EloEstimate, expected_score
from arena.stats.elo import ELO
from arena_ladder.mark_test import (
    BETS,
    NOT_STRONGER,
    STRONGER,
    MarkRule,
    MarkTests,
    lead_interval,
    log_capital,
    version_share,
)

BASELINES = (-100.0, 0.0, 150.0)
DEVIATION = 150.0
MARGIN, ERROR = 20.0, 0.05
LOOKS_PER_DOUBLING = 16
"""A simulated class looks after one pair at first, and later each time the pairs of a test have grown by one part in so many."""
CLASSES_AT_ONCE = 25
DRAWS = 0.5
"""The weight of draws. Between equal agents, their share is 0.5 / 2.5 = 20 %."""


def pair_chances(leads: Any) -> Any:
    """The chances of the five scores of a pair at leads in Elo, by Davidson's model with 20 % draws between equals."""
    odds = np.exp(np.asarray(leads) / ELO / 2)
    win, draw, loss = (part / (odds + DRAWS + 1 / odds) for part in (odds, DRAWS, 1 / odds))
    found = np.stack([loss**2, 2 * loss * draw, draw**2 + 2 * win * loss, 2 * win * draw, win**2], axis=-1)
    return found / found.sum(axis=-1, keepdims=True)


class Played(NamedTuple):
    """Simulated classes at their end."""

    wrong: int
    """Classes with any wrong decision."""
    games: float
    """The mean number of games of a class."""


def play(strengths: Any, seed: int) -> Played:
    """Play classes until all marks are decided. `strengths` has a row for each class."""
    rng = np.random.default_rng(seed)
    classes, authors = strengths.shape
    rule = MarkRule(authors, len(BASELINES), MARGIN, ERROR)
    wrong = pairs = 0
    for first in range(0, classes, CLASSES_AT_ONCE):
        some = strengths[first : first + CLASSES_AT_ONCE]
        leads = some.reshape(-1)[:, None] - np.array(BASELINES)
        chances = pair_chances(leads)
        tests = MarkTests(rule, np.ones(len(leads), int))
        while len(left := np.flatnonzero((wanted := tests.wanted()) >= 0)):
            met = wanted[left]
            number = np.maximum(1, tests.counts[left, met].sum(axis=1) // LOOKS_PER_DOUBLING).astype(int)
            tests.add(left, met, rng.multinomial(number, chances[left, met]))
            pairs += int(number.sum())
        errors = ((tests.decisions == STRONGER) & (leads <= 0)) | ((tests.decisions == NOT_STRONGER) & (leads >= MARGIN))
        wrong += int(errors.reshape(*some.shape, -1).any(axis=(1, 2)).sum())
    return Played(wrong, 2 * pairs / classes)


def fixed_games(authors: int) -> float:
    """The games of a class in which every author plays every baseline equally often, with the same error and 95 % power.

    The usual number for a one-sided test of a mean by its normal approximation, at a lead of the margin.
    """
    scores = np.array(EloEstimate.PAIR_SCORES)
    chances = pair_chances(MARGIN)
    variance = float(chances @ scores**2 - (chances @ scores) ** 2)
    tests = authors * len(BASELINES)
    sigmas = -NormalDist().inv_cdf(ERROR / tests) - NormalDist().inv_cdf(0.05)
    return 2 * tests * sigmas**2 * variance / float(expected_score(MARGIN) - 0.5) ** 2


def limit_of_share(wrong: int, classes: int) -> float:
    """The one-sided 99 % limit of Clopper and Pearson (1934), by bisection of the binomial distribution."""
    low, high = 0.0, 1.0
    for _ in range(50):
        share = (low + high) / 2
        at_most = sum(math.comb(classes, k) * share**k * (1 - share) ** (classes - k) for k in range(wrong + 1))
        low, high = (share, high) if at_most > 0.01 else (low, share)
    return low


@pytest.mark.parametrize(("classes", "authors"), [(4, 40), pytest.param(1000, 300, marks=pytest.mark.proof)])
def test_classes_have_few_wrong_marks_and_few_matches(
    classes: int, authors: int, record_property: Callable[[str, object], None]
) -> None:
    """At most 5 % of the classes have a wrong mark (the one-sided 99 % limit is 6.5 %), with at most 40 % of the games of a fixed
    design.
    """
    strengths = np.random.default_rng(29).normal(0, DEVIATION, (classes, authors))
    found = play(strengths, 1)
    share = found.games / fixed_games(authors)
    limit = limit_of_share(found.wrong, classes)
    record_property("classes with a wrong mark", f"{found.wrong} of {classes:,} (99 % limit {limit:.1%})")
    record_property("games of a class", f"{found.games:,.0f}, {share:.0%} of the fixed design")
    assert found.wrong <= 0.05 * classes
    assert share <= 0.4
    assert classes < 1000 or limit <= 0.065


@pytest.mark.parametrize(("classes", "authors"), [(4, 40), pytest.param(1000, 300, marks=pytest.mark.proof)])
def test_a_class_at_a_baseline_has_few_wrong_marks(
    classes: int, authors: int, record_property: Callable[[str, object], None]
) -> None:
    """Every author is exactly as strong as the second baseline, which is the hardest case for each test."""
    found = play(np.zeros((classes, authors)), 2)
    limit = limit_of_share(found.wrong, classes)
    record_property("classes with a wrong mark", f"{found.wrong} of {classes:,} (99 % limit {limit:.1%})")
    assert found.wrong <= 0.05 * classes
    assert classes < 1000 or limit <= 0.065


def test_the_limit_of_an_error_rate_is_exact() -> None:
    """Without an error in n classes, the limit is 1 - 0.01^(1/n)."""
    assert limit_of_share(0, 1000) == pytest.approx(1 - 0.01 ** (1 / 1000))
    assert limit_of_share(50, 1000) == pytest.approx(0.0682, abs=0.0005)  # from tables


@pytest.mark.parametrize("upward", [True, False])
def test_the_expected_capital_stays_constant_under_the_null_hypothesis(upward: bool) -> None:
    """Brute force computes the mean over all sequences of three pairs with exact fractions."""
    chances = [Fraction(1, 8), Fraction(1, 4), Fraction(1, 4), Fraction(1, 4), Fraction(1, 8)]
    total = 0.0
    for scores in product(range(5), repeat=3):
        counts = np.bincount(scores, minlength=5).astype(float)
        total += float(math.prod(chances[score] for score in scores)) * math.exp(log_capital(counts, 0.5, upward=upward))
    assert total == pytest.approx(1)


def test_the_capital_is_the_mean_of_the_products() -> None:
    """The products are computed pair by pair for each bet size."""
    scores = [1.0, 0.75, 0.5, 1.0, 0.0, 0.75]
    counts = np.array([scores.count(score) for score in EloEstimate.PAIR_SCORES], float)
    for mean in (0.5, expected_score(MARGIN)):
        products = [math.prod(1 + bet / mean * (score - mean) for score in scores) for bet in BETS]
        assert math.exp(log_capital(counts, mean, upward=True)) == pytest.approx(sum(products) / len(BETS))


def test_versions_share_the_error_rate_of_their_author() -> None:
    """All versions together have at most the error rate of one version, whatever their number."""
    assert sum(version_share(number) for number in range(1, 10_000)) == pytest.approx(1, abs=1e-4)
    limits = MarkRule(300, 3).limits(np.array([1, 2, 5]))
    assert np.exp(-limits) == pytest.approx([0.05 / 900 * share for share in (0.8, 0.1, 0.01)])


def decide(*decisions: Sequence[int]) -> MarkTests:
    """Tests of candidates against three baselines that stand so."""
    tests = MarkTests(MarkRule(len(decisions), 3), np.ones(len(decisions), int))
    tests.decisions[:] = decisions
    return tests


def test_baselines_are_searched_by_bisection() -> None:
    """The middle baseline comes first. Baselines whose outcome is implied by a decision are not played."""
    tests = decide([0, 0, 0], [0, 1, 0], [0, -1, 0], [0, 1, 1], [0, 1, -1], [-1, -1, 0], [1, -1, 0], [-1, 0, 1])
    assert tests.wanted().tolist() == [1, 2, 0, -1, -1, -1, -1, -1]
    reached, missed = tests.bounds()
    assert reached.tolist() == [-1, 1, -1, 2, 1, -1, 0, 2]
    assert missed.tolist() == [3, 3, 1, 3, 2, 0, 1, 3]


def test_decided_marks_stay_decided() -> None:
    """A lead of 40 wins decides the mark. It stays decided after 500 losses."""
    tests = MarkTests(MarkRule(1, 1), np.ones(1, int))
    row, wins, losses = np.zeros(1, int), np.array([[0, 0, 0, 0, 40]]), np.array([[500, 0, 0, 0, 0]])
    assert tests.forecast()[0] > 1
    tests.add(row, row, wins)
    assert tests.decisions.tolist() == [[STRONGER]]
    tests.add(row, row, losses)
    assert tests.decisions.tolist() == [[STRONGER]]
    assert (tests.wanted()[0], tests.forecast()[0]) == (-1, 0)


def test_intervals_hold_at_every_evaluation() -> None:
    """In 200 series of 400 pairs, evaluated after every fourth pair, at most 5 % (plus two sigma) of the intervals ever miss the
    true value.
    """
    rng = np.random.default_rng(3)
    chances = pair_chances(30.0)
    mean, missed = float(chances @ np.array(EloEstimate.PAIR_SCORES)), 0
    for _ in range(200):
        counts = rng.multinomial(4, chances, 100).cumsum(axis=0).astype(float)
        refuted = [log_capital(counts, mean, upward=upward).max() >= math.log(40) for upward in (True, False)]
        missed += any(refuted)
    assert missed <= 200 * 0.05 + 2 * math.sqrt(200 * 0.05 * 0.95)
    low, high = lead_interval(counts[-1])
    assert low < mean < high
    assert float(log_capital(counts[-1], low, upward=True)) == pytest.approx(math.log(40), rel=1e-3)
