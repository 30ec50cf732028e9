"""Tests of paired differences: all combinations of signs, scipy, and error rates."""

import random
import tracemalloc
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations, product
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats  # type: ignore[import-untyped]

from arena.stats import paired
from arena.stats.calculator import EloEstimate
from arena.stats.paired import (
    MAX_FLIPPED,
    SIGN_FLIPS,
    STUDENT,
    _approximate_bounds,
    agree,
    flip_signs,
    holm,
    holm_chances,
    mean_interval_of,
    sign_flip_interval,
    student_interval,
    student_p_value,
    test_differences,
)


@settings(max_examples=60)
@given(
    st.lists(
        st.one_of(
            st.integers(-3, 3),
            st.floats(-5, 5).map(lambda value: round(value, 3)),
            st.floats(-1e6, 1e6),
            st.sampled_from([1e9, -1e-9, 3e300, 54321.0]),
        ),
        max_size=9,
    )
)
def test_p_values_equal_the_share_of_all_sign_flips_that_are_as_extreme(values: list[float]) -> None:
    """The test enumerates all 2^n combinations of signs with fractions, which are exact."""
    exact = list(map(Fraction, values))
    sums = [
        abs(sum([sign * value for sign, value in zip(one, exact, strict=True)], Fraction()))
        for one in product((1, -1), repeat=len(exact))
    ]
    slack = sum([abs(value) for value in exact], Fraction()) / 10**11
    least, most = (float(np.mean([one >= abs(sum(exact, Fraction())) + side * slack for one in sums])) for side in (1, -1))
    assert least - 1e-9 <= flip_signs(values) <= most + 1e-9


@pytest.mark.parametrize("number", [17, 20, 24, 32])
@pytest.mark.parametrize("spread", [0.5, 2.0, 5.0])
@pytest.mark.parametrize("seed", range(4))
def test_rounding_hardly_changes_a_p_value(number: int, spread: float, seed: int) -> None:
    """The exact p-value combines the sums of two halves (meet in the middle). With a large spread, few values decide the sum, and
    the others its sign.
    """
    rng = random.Random(seed)
    values = [rng.lognormvariate(0, spread) * rng.choice([1, 1, -1]) for _ in range(number)]

    def sums(some: list[float]) -> np.ndarray:
        return np.sort(np.array([*product((1, -1), repeat=len(some))]) @ np.array(some))

    one, other = sums(values[: number // 2]), sums(values[number // 2 :])
    far = abs(sum(values)) * (1 - 1e-12)
    count = (len(one) - np.searchsorted(one, far - other, "left")).sum() + np.searchsorted(one, -far - other, "right").sum()
    exact = count / 2**number
    assert flip_signs(values) == pytest.approx(exact, rel=0.01, abs=1e-6)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.gauss(52_000, 90_000),  # such as nodes per second: no common unit, but fractions come close to each
        lambda rng: rng.randint(-(10**6), 3 * 10**6),
        lambda rng: rng.randint(-(10**15), 3 * 10**15),
        lambda rng: rng.randint(-9, 90) / rng.randint(4000, 5040),
        lambda rng: rng.randint(-900, 2000),
        lambda rng: rng.lognormvariate(0, 20) * rng.choice([1, 1, -1]),
    ],
)
@pytest.mark.parametrize("number", [6, 16, 17, 90])
def test_memory_does_not_depend_on_the_sizes_of_the_values(draw: Callable[[random.Random], float], number: int) -> None:
    rng = random.Random(4)
    values = [float(draw(rng)) for _ in range(number)]
    tracemalloc.start()
    try:
        p_value = flip_signs(values)
        low, high = sign_flip_interval(values)
        sign_flip_interval(values, sizes=[1, 2] * (number // 2) + [1] * (number % 2))
        assert tracemalloc.get_traced_memory()[1] < 60e6
    finally:
        tracemalloc.stop()
    assert 0 < p_value <= 1
    assert low is not None
    assert high is not None
    assert low <= sum(values) / number <= high


def test_rounded_values_give_the_bounds_of_the_exact_ones() -> None:
    """Values that are almost whole have almost the bounds of whole ones, which are found without rounding."""
    rng = random.Random(6)
    whole = [rng.randint(-8, 14) for _ in range(40)]
    expected = sign_flip_interval(whole)
    assert sign_flip_interval([value + rng.uniform(-1, 1) * 1e-4 for value in whole]) == pytest.approx(expected, abs=0.01)


def test_a_bound_is_exactly_0_even_for_values_without_a_common_unit() -> None:
    """A mean of 0 is not rejected for five large values and a small one of the other sign, because 4 / 2^6 > 0.05. Each mean
    below 0 is rejected, also if some values are zeros, because then only 2 / 2^6 of all combinations are as extreme.
    """
    rng = random.Random(1)
    values = [rng.uniform(1, 2) * 54321.0 for _ in range(5)] + [0.0] * 20
    assert flip_signs([*values, -1000.25]) == 4 / 2**6
    assert sign_flip_interval([*values, -1000.25])[0] == 0.0
    assert flip_signs(values) == 2 / 2**5
    assert sign_flip_interval(values)[0] == 0.0


@settings(max_examples=60)
@given(st.integers(1, 60), st.lists(st.integers(-12, 12), max_size=11))
def test_sums_of_fractions_are_compared_exactly(parts: int, sums: list[int]) -> None:
    """Sums of floats have rounding errors. The test agrees with the same test on integers."""
    signs = np.array([*product((1, -1), repeat=len(sums))])
    expected = np.mean(np.abs(signs @ np.array(sums, dtype=int)) >= abs(sum(sums))) if sums else 1
    assert flip_signs([value / parts for value in sums]) == pytest.approx(expected, rel=1e-12)
    assert flip_signs([(value + 7) / parts - 7 / parts for value in sums]) == pytest.approx(expected, rel=1e-12)


def test_sums_that_equal_the_observed_one_count_in_the_p_value() -> None:
    """Of the 2^16 combinations of signs for 16 rounds of Kuhn poker, 1,376 have a sum that is at least as far from 0."""
    sums = [2, -6, -3, -3, 0, -3, -2, -5, 0, 0, 2, -1, 0, -2, -1, -2]
    assert sum(abs(sum(map(lambda sign, value: sign * value, one, sums))) >= 24 for one in product((1, -1), repeat=16)) == 1376
    assert flip_signs([value / 4 for value in sums]) == pytest.approx(1376 / 2**16, rel=1e-12)
    assert flip_signs([value / 12 for value in sums]) == pytest.approx(1376 / 2**16, rel=1e-12)


def test_intervals_agree_with_hartigan() -> None:
    """The bounds are the 13th mean from either end, of the means of all 2^9 - 1 subsets."""
    rng = random.Random(8)
    values = [rng.lognormvariate(0, 1) - 1 for _ in range(9)]
    subsets = [[value for value, kept in zip(values, chosen, strict=True) if kept] for chosen in product((0, 1), repeat=9)]
    means = sorted(sum(subset) / len(subset) for subset in subsets if subset)
    k = int(0.05 / 2 * 2**9)  # the flip of none counts, too
    assert sign_flip_interval(values) == pytest.approx((means[k - 1], means[-k]), rel=1e-12)
    assert sign_flip_interval([1.0, 2.0, 3.0, 4.0, 5.0]) == (None, None)
    assert sign_flip_interval([2.0] * 30) == sign_flip_interval([]) == (None, None)
    low, _ = sign_flip_interval([1.0, 1.5, 2.0, 40.0, 3.0, 2.5, 1.0, 8.0, 3.0, 2.0])
    assert low is not None
    assert low > 0  # Student's interval has 0, although all values are above it


@settings(max_examples=60)
@given(
    st.integers(1, 6),
    st.lists(st.tuples(st.integers(-6, 6), st.integers(1, 3)), min_size=7, max_size=9),
    st.sampled_from([0.05, 0.025, 0.1]),
)
def test_bounds_agree_with_the_means_of_all_subsets(parts: int, drawn: list[tuple[int, int]], chance: float) -> None:
    """The test is inverted with fractions: a bound is the outermost mean of a subset that is not rejected by counting all
    signs.
    """
    values, sizes = [Fraction(value, parts) for value, _ in drawn], [size for _, size in drawn]
    weighted = list(zip(values, sizes, strict=True))

    def p_value(middle: Fraction) -> Fraction:
        sums = {Fraction(0): 1}
        for value, size in weighted:
            after: Counter[Fraction] = Counter()
            for total, times in sums.items():
                after[total + size * (value - middle)] += times
                after[total - size * (value - middle)] += times
            sums = after
        observed = abs(sum([size * (value - middle) for value, size in weighted], Fraction(0)))
        return Fraction(sum(times for total, times in sums.items() if abs(total) >= observed), 2 ** len(values))

    chosen = [one for one in product((0, 1), repeat=len(values)) if any(one)]
    means = {
        sum([take * size * value for take, (value, size) in zip(one, weighted, strict=True)], Fraction(0))
        / sum(take * size for take, size in zip(one, sizes, strict=True))
        for one in chosen
    }
    found = sign_flip_interval([float(value) for value in values], chance, sizes)
    if len(set(values)) == 1 or 2 * 0.5 ** len(values) > chance:
        assert found == (None, None)
        return
    low, high = min(means), max(means)
    while p_value(low) <= chance:
        low = min(one for one in means if one > low)
    while p_value(high) <= chance:
        high = max(one for one in means if one < high)
    assert found == (float(low), float(high))


@pytest.mark.parametrize("times", [20, 90])
def test_a_bound_is_exactly_0_if_only_means_below_0_are_rejected(times: int) -> None:
    """The numbers of wins and losses are those for which the sign test just fails to reject a mean of 0."""
    lost = next(one for one in range(times) if 2 * stats.binom.cdf(one, times, 0.5) > 0.05)
    drawn = 20  # zeros refute no mean that is not 0
    values = [1.0] * (times - lost) + [-1.0] * lost + [0.0] * drawn
    assert flip_signs(values) > 0.05
    low, high = sign_flip_interval(values)
    assert low == 0.0
    assert high is not None
    assert high > sum(values) / len(values)
    assert _approximate_bounds(values, [1] * len(values), 0.05, sum(values) / len(values)) == pytest.approx((0, high), abs=1e-2)
    assert _approximate_bounds(values, [1] * len(values), 0.05, sum(values) / len(values))[0] == 0.0


@settings(max_examples=40)
@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 9))
def test_differences_of_equal_size_use_the_sign_test(more: int, less: int, none: int) -> None:
    """The expected p-values come from scipy's binomial test."""
    expected = stats.binomtest(more, more + less).pvalue if more + less else 1
    assert flip_signs([1.5] * more + [-1.5] * less + [0] * none) == pytest.approx(expected)


def test_large_counts_do_not_overflow() -> None:
    """For 3,000 against 3,200, p is 0.0114 by the normal approximation with continuity correction."""
    assert flip_signs([1] * 3000 + [-1] * 3200) == pytest.approx(2 * stats.norm.sf((200 - 1) / sqrt(6200)), rel=0.01)
    rng = np.random.default_rng(3)
    values = rng.normal(0.12, 1, MAX_FLIPPED)
    expected = stats.permutation_test((values,), np.mean, permutation_type="samples", n_resamples=5_000, rng=rng).pvalue
    assert flip_signs(values.tolist()) == pytest.approx(expected, abs=4 * sqrt(expected / 5_000))


def test_the_test_depends_on_the_number_of_differences() -> None:
    """Sign flips are used for at most 400 differences, and Student's t for more. Differences of one size are always exact."""
    rng = random.Random(2)
    many = [rng.gauss(0.1, 1) for _ in range(MAX_FLIPPED + 1)]
    assert test_differences(many[:-1]).name == SIGN_FLIPS
    assert [*test_differences(many)] == [pytest.approx(stats.ttest_1samp(many, 0).pvalue), STUDENT]
    assert [*test_differences([1] * 500 + [-1] * 400)] == [pytest.approx(stats.binomtest(500, 900).pvalue), SIGN_FLIPS]
    assert test_differences([]) == test_differences([0, 0, 0]) == (1.0, SIGN_FLIPS)


def test_students_test_and_interval_agree_with_scipy() -> None:
    values = [0.2, 1.4, -0.7, 3.1, 0.9, 0.0]
    found = stats.ttest_1samp(values, 0)
    assert student_p_value(values) == pytest.approx(found.pvalue)
    for chance in (0.05, 0.01, 0.0001):
        bounds = found.confidence_interval(1 - chance)
        assert student_interval(values, chance) == pytest.approx((bounds.low, bounds.high))
    assert student_interval([3.0]) == student_interval([2.0] * 9) == student_interval([]) == (None, None)
    assert student_p_value([3.0]) == student_p_value([2.0] * 9) == 1.0


def test_holms_correction_agrees_with_a_computation_by_hand() -> None:
    """The four p-values become 4 x 0.005, 3 x 0.01, 2 x 0.03, and again 2 x 0.03, because they may not decrease."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1, 1]


@pytest.mark.parametrize(
    ("p_values", "divisors"),
    [
        ((0.01, 0.01, 0.04), (3, 3, 1)),
        ((0.001, 0.001, 0.001, 0.02, 0.02), (5, 5, 5, 2, 2)),
        ((0.001, 0.03, 0.03, 0.04), (4, 3, 3, 3)),
        ((0.1 + 0.2, 0.3), (2, 2)),
        ((0.01 * 3, 0.03, 0.002), (2, 2, 3)),
    ],
)
def test_equal_p_values_have_the_same_level(p_values: tuple[float, ...], divisors: tuple[int, ...]) -> None:
    """By Holm (1979), the level is 0.05 / m if m tests have no smaller p-value. Tests after a failure have its level."""
    for order in permutations(range(len(p_values))):
        levels = holm_chances([p_values[k] for k in order])
        assert levels == pytest.approx([0.05 / divisors[k] for k in order])


@given(st.lists(st.floats(1e-6, 1), max_size=12))
def test_the_level_agrees_with_the_corrected_p_value(p_values: list[float]) -> None:
    for p_value, corrected, chance in zip(p_values, holm(p_values), holm_chances(p_values), strict=True):
        assert (corrected <= 0.05) == (p_value <= chance) or corrected == pytest.approx(0.05)


@pytest.mark.parametrize("equal", [0, 5, 10])
def test_corrected_intervals_have_individual_coverage_and_control_false_claims(equal: int) -> None:
    """In 4,000 samples of ten independent means, `equal` means are 0 and the others are far from 0. Each interval covers its
    mean in at least 95 % of samples. In at least 95 %, no interval excludes a mean that is 0. But the intervals are not
    simultaneous: if all means are far from 0, all are covered in about 90 %, because the last interval has the level 95 %.
    """
    samples, means = 4000, np.array([0.0] * equal + [9.0] * (10 - equal))
    values = np.random.default_rng(3).normal(means, 1.0, (samples, 30, 10))
    centres, errors = values.mean(1), values.std(1, ddof=1) / sqrt(30)
    p_values = 2 * stats.t.sf(np.abs(centres) / errors, 29)
    levels = np.array([holm_chances(list(row)) for row in p_values])
    reach = stats.t.ppf(1 - levels / 2, 29) * errors
    holds = np.abs(centres - means) <= reach
    slack = 4 * sqrt(0.05 * 0.95 / samples)
    assert holds.mean(0).min() >= 0.95 - slack
    assert holds[:, :equal].all(1).mean() >= 0.95 - slack
    assert (holds.all(1).mean() >= 0.95 - slack) == (equal == 10)


def test_an_interval_agrees_with_its_test() -> None:
    """The interval of an undecided lead contains 0, and the interval of a decided one does not."""
    assert agree((0.2, 3.0), decided=False, value=1.0) == (0.0, 3.0)
    assert agree((-3.0, -0.2), decided=False, value=-1.0) == (-3.0, 0.0)
    assert agree((-0.2, 3.0), decided=True, value=1.0) == (0.0, 3.0)
    assert agree((-3.0, 0.2), decided=True, value=-1.0) == (-3.0, 0.0)
    assert agree((None, -0.2), decided=True, value=-1.0) == (None, -0.2)
    assert agree((None, None), decided=False, value=1.0) == (None, None)
    assert agree((0.6, 0.9), decided=False, value=0.7, equal=0.5) == (0.5, 0.9)


@settings(max_examples=60)
@given(st.tuples(*[st.integers(0, 6)] * 5))
def test_the_interval_of_a_score_agrees_with_its_test(counts: tuple[int, ...]) -> None:
    found = EloEstimate.of_pairs(counts)
    leads = [lead for lead, times in zip(range(-2, 3), counts, strict=True) for _ in range(times)]
    assert found.p_value == pytest.approx(flip_signs(leads))
    assert max(found.superiority, 1 - found.superiority) == pytest.approx(1 - found.p_value / 2 if sum(leads) else 0.5)
    if found.score_low is not None and found.score_high is not None:
        assert (found.score_low < 0.5 < found.score_high) or found.p_value <= 0.05 or 0.5 in (found.score_low, found.score_high)
        assert found.p_value > 0.05 or not found.score_low < 0.5 < found.score_high


def test_three_won_pairs_are_not_significant() -> None:
    """p is 2 / 2^3, and the likelihood of superiority is 1 - 1/8."""
    found = EloEstimate.of_pairs((0, 0, 0, 0, 3))
    assert (found.p_value, found.superiority) == pytest.approx((0.25, 0.875))
    assert found.test == SIGN_FLIPS
    assert found.score_low is not None
    assert found.score_low <= 0.5
    six = EloEstimate.of_pairs((0, 0, 0, 0, 6))
    assert six.p_value == pytest.approx(2 / 2**6)
    assert six.score_low == pytest.approx(0.05 ** (1 / 6))


def test_equal_agents_are_rejected_at_the_nominal_rate() -> None:
    """400 samples have 30 symmetric, heavy-tailed log ratios. At most 5 % (plus three standard errors) of the p-values are below
    0.05.
    """
    rng = random.Random(5)
    drawn = [[log(rng.expovariate(1)) - log(rng.expovariate(1)) for _ in range(30)] for _ in range(400)]
    rejected = sum(flip_signs(values) <= 0.05 for values in drawn)
    assert rejected <= 20 + 3 * sqrt(19)


@pytest.mark.parametrize(("gain", "won", "lost"), [(1.0, 0.02, 0.03), (2.0, 0.05, 0.0)])
def test_intervals_have_the_nominal_coverage_if_most_rounds_are_equal(gain: float, won: float, lost: float) -> None:
    """The exact coverage for 60 rounds is summed over all numbers of rounds with +gain and with -1. Intervals by sign flips
    alone cover the mean in at most 90 % of cases, because they exclude values that were not drawn.
    """
    mean, held, flips_held, known = won * gain - lost, 0.0, 0.0, 0.0
    for wins, losses in product(range(12), repeat=2):
        chance = stats.multinomial.pmf([wins, losses, 60 - wins - losses], 60, [won, lost, 1 - won - lost])
        values = [gain] * wins + [-1.0] * losses + [0.0] * (60 - wins - losses)
        (low, high), (least, most) = mean_interval_of(values), sign_flip_interval(values)
        if chance < 1e-5 or None in (low, high, least, most):
            continue  # all rounds are equal, or next to impossible
        known += chance
        held += chance * (low <= mean <= high)  # type: ignore[operator]
        flips_held += chance * (least <= mean <= most)  # type: ignore[operator]
    assert held / known >= 0.95
    assert flips_held / known < 0.9


@settings(max_examples=40)
@given(st.lists(st.integers(-3, 9), min_size=6, max_size=40))
def test_intervals_contain_those_of_both_tests_if_sign_flips_do_not_reject_0(values: list[int]) -> None:
    low, high = mean_interval_of([float(value) for value in values])
    least, most = sign_flip_interval([float(value) for value in values])
    if None in (low, high, least, most):
        assert len(set(values)) == 1
        return
    usual = stats.t.interval(0.95, len(values) - 1, np.mean(values), stats.sem(values))
    end = max(map(abs, values))
    refuted = least > 0 or most < 0  # type: ignore[operator]
    expected = (least, most) if refuted else (max(-end, min(least, usual[0])), min(end, max(most, usual[1])))
    assert (low, high) == pytest.approx(expected)
    assert (low <= 0 <= high) == (flip_signs(values) > 0.05)  # type: ignore[operator]


@pytest.mark.parametrize("unit", [1.0, 2.0**-30, 2.0**-40, 2.0**-60, 2.0**-300, 2.0**40])
def test_a_test_does_not_depend_on_the_unit(unit: float) -> None:
    """Multiplication by a power of two is exact. scipy's test of permutations gives the p-value for 1."""
    one, other = [3.0, 2.5, 4.0, 3.5, 5.0, 2.0], [2.0, 2.0, 3.0, 3.0, 4.0, 2.5]
    leads = [paired.subtract(mine * unit, theirs * unit) for mine, theirs in zip(one, other, strict=True)]
    assert [lead / unit for lead in leads] == [1.0, 0.5, 1.0, 0.5, 1.0, -0.5]
    expected = stats.permutation_test((one, other), lambda x, y: np.mean(x - y), permutation_type="samples").pvalue
    assert test_differences(leads).p_value == pytest.approx(expected)
    groups = [[lead / 2, lead / 4, lead / 4] for lead in leads]
    assert paired.test_groups(groups).p_value == pytest.approx(expected)


@pytest.mark.parametrize("unit", [1.0, 2.0**-40, 2.0**-300])
def test_a_rounding_error_does_not_count_as_a_difference_in_any_unit(unit: float) -> None:
    third, sixth = 0.1 * unit + 0.2 * unit, 0.3 * unit
    assert third != sixth
    assert paired.subtract(third, sixth) == 0.0
    assert paired.round_off(third - sixth, sixth) == 0.0
