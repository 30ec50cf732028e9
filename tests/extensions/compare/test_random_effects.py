"""One answer from several domains: a published meta-analysis, scipy, and the coverage of simulated comparisons."""

import random
from collections.abc import Callable, Sequence
from itertools import combinations
from math import exp, log, sqrt
from statistics import pvariance
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import optimize, stats  # type: ignore[import-untyped]

from arena.stats import holm
from arena_compare.domains import (
    Domain,
    DomainEffect,
    combine_domains,
    compare_domain,
    compare_domains,
    correct,
    group_entries,
    rank_entries,
)
from arena_compare.random_effects import combine, sign_test, signed_ranks

# Thirteen trials of a vaccine: cases and others with it, cases and others without it (G. Colditz and others, Efficacy of BCG
# vaccine in the prevention of tuberculosis, JAMA 271, 1994).
TRIALS = [
    (4, 119, 11, 128),
    (6, 300, 29, 274),
    (3, 228, 11, 209),
    (62, 13536, 248, 12619),
    (33, 5036, 47, 5761),
    (180, 1361, 372, 1079),
    (8, 2537, 10, 619),
    (505, 87886, 499, 87892),
    (29, 7470, 45, 7232),
    (17, 1699, 65, 1600),
    (186, 50448, 141, 27197),
    (5, 2493, 3, 2338),
    (27, 16886, 29, 17825),
]


def log_ratios() -> tuple[list[float], list[float]]:
    """The logarithms of the relative risks, and their standard errors."""
    effects = [log(a / (a + b) / (c / (c + d))) for a, b, c, d in TRIALS]
    return effects, [sqrt(1 / a - 1 / (a + b) + 1 / c - 1 / (c + d)) for a, b, c, d in TRIALS]


def bound(effects: Sequence[float], within: tuple[float, float] | None, chance: float = 0.05) -> tuple[float, float]:
    """The bounds of the mean by numpy and scipy: Student's, with the first term for skewness of an Edgeworth expansion on the
    side of the longer tail (P. Hall, 1983), and not within those by the rounds.
    """
    number, mean = len(effects), float(np.mean(effects))
    error = stats.sem(effects) if np.ptp(effects) > 1e-12 else 0.0
    skewness = stats.skew(effects) if error else 0.0
    t = stats.t.ppf(1 - chance / 2, number - 1)
    shift = error * skewness / sqrt(number) * (2 * t**2 + 1) / 6
    low, high = mean - t * error + min(0, shift), mean + t * error + max(0, shift)
    if within:
        inner = stats.t.interval(1 - chance, within[1], mean, within[0])
        low, high = min(low, inner[0]), max(high, inner[1])
    return low, high


def find_spread(effects: Sequence[float], errors: Sequence[float]) -> float:
    """The spread between domains, as found by scipy."""

    def excess(between: float) -> float:
        weights = 1 / (np.square(errors) + between)
        return float(np.sum(weights * (np.array(effects) - np.average(effects, weights=weights)) ** 2)) - len(effects) + 1

    return float(optimize.brentq(excess, 0, 100, xtol=1e-15) ** 0.5) if excess(0) > 0 else 0.0


def test_a_published_analysis_is_reproduced() -> None:
    """The expected values are the variance between trials by the estimator of Paule and Mandel, which is the empirical Bayes
    estimator of W. Viechtbauer, Conducting meta-analyses in R with the metafor package, 2010, and Cochran's test (Q = 152.23 with
    12 degrees of freedom).
    """
    found = combine(*log_ratios())
    assert found.spread**2 == pytest.approx(0.3181, abs=5e-5)
    assert found.spread_p_value == pytest.approx(stats.chi2.sf(152.2330, 12), rel=1e-4)


def test_the_overall_interval_agrees_with_scipy() -> None:
    effects, errors = log_ratios()
    within = (0.05, 100.0)
    found = combine(effects, errors, within)
    assert found.value == pytest.approx(np.mean(effects))
    assert [found.low, found.high] == pytest.approx(bound(effects, within), rel=1e-9)
    assert found.spread == pytest.approx(find_spread(effects, errors), rel=1e-9)
    even = [0.1, 0.2, 0.3, 0.4, 0.5]  # without skewness, this is a t-test
    plain = combine(even, [0.3] * 5)
    assert plain.p_value == pytest.approx(stats.ttest_1samp(even, 0).pvalue, rel=1e-9)
    assert [plain.low, plain.high] == pytest.approx(stats.t.interval(0.95, 4, plain.value, stats.sem(even)), rel=1e-9)


@pytest.mark.parametrize("within", [None, (0.02, 12.0), (0.2, 40.0)])
@pytest.mark.parametrize(
    "effects", [(0.1, 0.2, 0.25, 0.9), (0.5, 0.45, 0.4, 0.1), (-0.1, -0.2, -0.6), (0.2,) * 5, (0.0, 0.0, 0.3)]
)
def test_the_interval_at_the_level_of_the_p_value_ends_at_0(
    effects: tuple[float, ...], within: tuple[float, float] | None
) -> None:
    """Tests and intervals always agree, also after a correction for several tests."""
    found = combine(effects, [0.1] * len(effects), within)
    if not found.deviation and not within:
        assert found.low is None
        assert found.p_value == pytest.approx(2 * 0.5**5), "only signs are left"
        return
    if found.p_value < 1:
        assert min(map(abs, bound(effects, within, found.p_value))) == pytest.approx(0, abs=1e-9)
    wide = found.widened(0.01)
    assert [wide.low, wide.high] == pytest.approx(bound(effects, within, 0.01))


def test_the_estimated_spread_of_domains_agrees_with_the_test_for_differences() -> None:
    """One of eight domains differs and has a large error. The test finds that domains differ, so the spread is positive."""
    found = combine([0.0] * 7 + [0.44], [0.037] * 7 + [0.1])
    assert found.spread_p_value < 0.05
    assert found.spread > 0.05


def test_equal_effects_still_have_an_interval() -> None:
    """The errors within the domains remain, so five domains give no certainty."""
    found = combine([1.0] * 5, [0.1] * 5, (0.04, 50))
    assert found.high is not None
    assert found.high - found.value == pytest.approx(stats.t.ppf(0.975, 50) * 0.04)
    with pytest.raises(ValueError, match="two domains"):
        combine([1.0], [0.1])


def test_domains_count_equally_whatever_their_difference() -> None:
    """Two solvers attempt 20 positions in each of ten domains. One of them fails at 10 of the 200 positions, all in five
    domains. Weights by errors would give 2.8 points, but the difference is 5. Without any failure, the interval is that of
    200 rounds and three that differ, and it is not wider.
    """
    misses = [0, 0, 1, 2, 0, 0, 3, 2, 2, 0]
    every = dict.fromkeys(range(20), 1.0)
    found = [compare_domain(Domain(str(n), every, every | dict.fromkeys(range(count), 0.0))) for n, count in enumerate(misses)]
    overall = combine_domains("a", "b", [one for one in found if one]).overall
    assert overall is not None
    assert overall.value == pytest.approx(10 / 200)
    squares = sum(count * (1 - count / 20) for count in misses)  # of 0 and 1, about the mean of each domain
    freedom = 200 - 10 + 3
    within = sqrt((squares + 3) / freedom / 200), freedom
    assert overall.within == pytest.approx(within)
    assert [overall.low, overall.high] == pytest.approx(bound([count / 20 for count in misses], within))
    widths = []
    for count in (0, 1):
        last = Domain("9", every, every | dict.fromkeys(range(count), 0.0))
        pairs = [compare_domain(one) for one in (*[Domain(str(n), every, every) for n in range(9)], last)]
        overall = combine_domains("a", "b", [one for one in pairs if one]).overall
        assert overall is not None
        assert overall.low is not None
        assert overall.high is not None
        widths.append(overall.high - overall.low)
    assert widths[0] == pytest.approx(2 * stats.t.ppf(0.975, 193) * sqrt(3 / 193 / 200))
    assert widths[0] < widths[1]


@pytest.mark.parametrize("size", [5, 9, 14])
def test_tests_over_domains_agree_with_scipy(size: int) -> None:
    """scipy uses the exact distribution without ties, and all signs with ties. Zeros are left out."""
    rng = random.Random(size)
    effects = [rng.gauss(0.4, 1) for _ in range(size)]
    assert signed_ranks(effects) == pytest.approx(stats.wilcoxon(effects, method="exact").pvalue, rel=1e-12)
    above = sum(effect > 0 for effect in effects)
    assert sign_test(effects) == pytest.approx(stats.binomtest(above, size).pvalue, rel=1e-9)
    assert signed_ranks([*effects, 0.0]) == signed_ranks(effects)
    tied = [0.1, 0.1, 0.30000000000000004, 0.3, -0.2, 0.1]  # ranks 2, 2, 5.5, 5.5, 4, 2: at most 4 from 21 on one side
    low = sum(
        min(total := sum(rank for bit, rank in enumerate((2, 2, 5.5, 5.5, 4, 2)) if signs >> bit & 1), 21 - total) <= 4
        for signs in range(64)
    )
    assert signed_ranks(tied) == low / 64


def test_errors_include_pseudo_observations() -> None:
    """By A. Agresti and Y. Min (2005), a half is added to each of the four counts. Ratios are logarithms."""
    one = {number: float(number < 30) for number in range(50)}
    other = {number: float(25 <= number < 40) for number in range(50)}  # 25 alone by one, 10 by the other, 5 by both
    found = compare_domain(Domain("d", one, other))
    assert found is not None
    b, c, n = 25.5, 10.5, 52
    assert found.value == 15 / 50
    assert found.error == pytest.approx(sqrt(b + c - (b - c) ** 2 / n) / n)
    same = compare_domain(Domain("d", one, one))
    assert same is not None
    assert same.error > 0
    once = compare_domain(Domain("d", one, other, differ=0.0))
    assert once is not None
    assert once.low is None
    assert once.error == pytest.approx(sqrt(35 / 50 + 1 - 0.3**2 / 3) / 3)
    doubled = compare_domain(Domain("d", {0: 8.0, 1: 20.0}, {0: 4.0, 1: 10.0, 2: 7.0}), least=1.0)
    assert doubled is not None
    assert doubled.rounds == 2
    assert exp(doubled.value) == pytest.approx(2)
    assert compare_domain(Domain("d", {0: 1.0}, {1: 1.0})) is None
    signs = compare_domain(Domain("d", {0: 9.0, 1: 2.0}, {0: 1.0, 1: 2.0}, by_sign=True))
    assert signs is not None
    assert signs.value == 0.5


def test_the_deviation_of_a_domain_is_that_of_a_sample() -> None:
    """The differences 0, 1, 0 and 1 have the variance 1/3 with the divisor 3. A single difference has none."""
    found = compare_domain(Domain("d", {0: 1.0, 1: 1.0, 2: 0.0, 3: 1.0}, {0: 1.0, 1: 0.0, 2: 0.0, 3: 0.0}))
    single = compare_domain(Domain("d", {0: 1.0}, {0: 0.0}))
    assert found is not None
    assert single is not None
    assert found.deviation == pytest.approx(sqrt(1 / 3))
    assert single.deviation is None


def test_the_error_of_a_ratio_has_the_scale_of_the_ratios() -> None:
    """Costs that differ by 1 % have errors of 1 %: in each domain, the median of the standard deviations counts as one more
    deviation from the mean.
    """
    ratios = ([1.01, 0.99, 1.02], [1.0, 1.03, 0.97], [1.0, 1.0])
    domains = [Domain(str(n), dict(enumerate(values)), dict.fromkeys(range(3), 1.0)) for n, values in enumerate(ratios)]
    found = compare_domains(domains, least=1e-9, bounded=False)
    logs = [[log(value) for value in values] for values in ratios]
    unit = (stats.tstd(logs[0]) + stats.tstd(logs[1])) / 2
    for effect, leads in zip(found, logs, strict=True):
        variance = (len(leads) * pvariance(leads) + unit**2) / len(leads)
        assert effect.error == pytest.approx(sqrt(variance / len(leads)), rel=1e-9)
    third = dict.fromkeys(range(4), 0.1 + 0.2)  # the same costs, but for rounding errors
    same = [Domain(str(n), third, dict.fromkeys(range(4), 0.3)) for n in range(5)]
    overall = combine_domains("a", "b", compare_domains(same, least=1e-9, bounded=False), by="cost", ratio=True).overall
    assert overall is not None
    assert (overall.value, overall.p_value) == (0, 1)
    assert overall.low is overall.high is None, "an interval of no width would claim certainty"


def make_pair(one: str, other: str, values: Sequence[float], first: int = 0) -> list[DomainEffect]:
    return [DomainEffect(f"domain {first + n}", 20, 0.5, 0.5, value, 0.05, None, None, 20, 0.2) for n, value in enumerate(values)]


def test_boards_that_an_entry_does_not_play_do_not_affect_its_rank() -> None:
    """B loses to c on boards that a does not play. This changes the rank of b, but b is not ranked behind a."""
    close = [0.2, 0.25, 0.22, 0.18, 0.21, 0.2]
    alone = [combine_domains("b", "a", make_pair("b", "a", close))]
    assert rank_entries(["a", "b"], correct(alone)) == {"a": 2, "b": 1}
    more = [*alone, combine_domains("b", "c", make_pair("b", "c", [-0.3] * 6, first=6))]
    ranks = rank_entries(["a", "b", "c"], correct(more))
    assert ranks == {"a": 2, "b": 2, "c": 1}


NAMES = "abcde"


@given(st.data())
@settings(deadline=None, max_examples=150)
def test_further_boards_lower_a_rank_only_by_entries_that_are_met_there(data: st.DataObject) -> None:
    """Some pairs of five entries share six boards. Then others meet on six further boards. No earlier effect, p-value or
    uncorrected decision changes, and the correction only becomes stronger. So an entry is behind nobody whom it has not met, and
    an entry that plays no further board keeps its rank or gets a better one.
    """
    every = list(combinations(NAMES, 2))
    met = data.draw(st.lists(st.sampled_from(every), min_size=1, unique=True))
    later = data.draw(st.lists(st.sampled_from([pair for pair in every if pair not in met] or [("", "")]), unique=True))
    later = [pair for pair in later if pair[0]]

    def compare(pairs: Sequence[tuple[str, str]], first: int) -> list[Any]:
        found = []
        for one, other in pairs:
            mean = data.draw(st.floats(-0.4, 0.4))
            values = [mean + data.draw(st.floats(-0.2, 0.2)) for _ in range(6)]
            found.append(combine_domains(one, other, make_pair(one, other, values, first)))
        return found

    old, new = compare(met, 0), compare(later, 6)
    before, after = correct(old), correct([*old, *new])
    for pair, same in zip(before, after[: len(old)], strict=True):
        assert (pair.domains, pair.p_value, pair.wilcoxon_p_value) == (same.domains, same.p_value, same.wilcoxon_p_value)
        assert same.p_value_holm >= pair.p_value_holm
    ranks, ranks_after = rank_entries(NAMES, before), rank_entries(NAMES, after)
    for name in NAMES:
        newly_met = sum(name in pair for pair in later)
        assert ranks_after[name] <= ranks[name] + newly_met


def test_the_skewness_of_tiny_effects_is_that_of_large_ones() -> None:
    """The third power of a tiny effect is 0 in floating point."""
    tiny, large = combine([1e-110, 2e-110, 5e-110], [0.05] * 3), combine([0.1, 0.2, 0.5], [0.05] * 3)
    assert tiny.skewness == pytest.approx(large.skewness)
    assert large.skewness == pytest.approx(stats.skew([1, 2, 5]))


def test_groups_contain_entries_that_no_test_distinguishes() -> None:
    """Four entries play twelve domains: a is far ahead, b and c are alike, and d is last."""
    rng = random.Random(1)
    level = {"a": 0.9, "b": 0.5, "c": 0.5, "d": 0.1}
    values = [{name: mean + rng.gauss(0, 0.02) for name, mean in level.items()} for _ in range(12)]
    names = list(level)
    pairs = [
        combine_domains(one, other, make_pair(one, other, [row[one] - row[other] for row in values]))
        for k, one in enumerate(names)
        for other in names[k + 1 :]
    ]
    means, groups = group_entries(names, correct(pairs))
    ranks = stats.rankdata([[-row[name] for name in names] for row in values], axis=1).mean(axis=0)
    assert [means[name] for name in names] == pytest.approx(list(ranks))
    assert [sorted(group) for group in groups] == [["b", "c"]]
    assert holm([pair.wilcoxon_p_value for pair in pairs])[3] > 0.05


def cover(domains: int, spread: float, comparisons: int, seed: int) -> float:
    """The share of simulated comparisons of two solvers whose interval holds the true mean difference.

    In each domain, both attempt 15 to 60 positions of different difficulty, and solve each by chance.
    """
    rng, held = random.Random(seed), 0
    for _ in range(comparisons):
        played = []
        for number in range(domains):
            lead = 0.1 + max(-0.4, min(0.4, rng.gauss(0, spread)))  # bounded, so that shares stay between 0 and 1
            rounds = rng.choice((15, 30, 60))
            one, other = {}, {}
            for place in range(rounds):
                ease = rng.uniform(0.25, 0.75)
                one[place] = float(rng.random() < ease + lead / 2)
                other[place] = float(rng.random() < ease - lead / 2)
            played.append(Domain(str(number), one, other))
        overall = combine_domains("a", "b", compare_domains(played)).overall
        assert overall is not None
        assert overall.low is not None
        assert overall.high is not None
        held += overall.low <= 0.1 <= overall.high
    return held / comparisons


NODES, COSTS = 1.0, 0.05
"""The typical standard deviation of the logarithm of a ratio between two solvers, for the same position."""


def cover_ratios(deviation: float, domains: int, spread: float, comparisons: int, seed: int) -> float:
    """The share of simulated comparisons of two solvers whose interval holds the true mean ratio, 0.8.

    In each domain, both solve 6 to 60 positions. Amounts differ between positions by orders of magnitude. The deviation of a
    ratio differs between domains, and so does the true ratio, by `spread` times the deviation.
    """
    rng, held, truth = random.Random(seed), 0, log(0.8)
    for _ in range(comparisons):
        played = []
        for number in range(domains):
            lead, noise = truth + rng.gauss(0, spread * deviation), deviation * rng.choice((0.5, 1, 1.5))
            size = [rng.gauss(8, 2) for _ in range(rng.choice((6, 20, 60)))]
            one = {place: exp(amount + rng.gauss(lead, noise)) for place, amount in enumerate(size)}
            played.append(Domain(str(number), one, dict(enumerate(map(exp, size)))))
        effects = compare_domains(played, least=1e-9, bounded=False)
        overall = combine_domains("a", "b", effects, by="nodes", ratio=True).overall
        assert overall is not None
        assert overall.low is not None
        assert overall.high is not None
        held += overall.low <= truth <= overall.high
    return held / comparisons


@pytest.mark.parametrize("spread", [0.0, 0.15])
@pytest.mark.parametrize("domains", [5, 10, 20])
@pytest.mark.proof
def test_overall_intervals_have_the_nominal_coverage(
    domains: int, spread: float, record_property: Callable[[str, object], None]
) -> None:
    share = cover(domains, spread, 1000, seed=domains)
    record_property("covered", f"{100 * share:.1f} %")
    assert share >= 0.93


def cover_misses(domains: int, rounds: int, miss: float, other: float, spread: str, comparisons: int, seed: int) -> float:
    """The share of simulated comparisons whose interval holds the true mean difference, for two solvers that rarely miss.

    `miss` is the mean probability to miss a position of one of them. It is the same in all domains, or differs: evenly from 0
    to twice the mean, by a skewed distribution (beta with 2 below), or by an exponential one. The other one misses `other`.
    """
    rng, held = np.random.default_rng(seed), 0
    draw: Callable[[], Any] = {
        "none": lambda: np.full(domains, miss),
        "even": lambda: rng.uniform(0, 2 * miss, domains),
        "skewed": lambda: rng.beta(2, 2 / miss - 2, domains),
        "exponential": lambda: rng.exponential(miss, domains).clip(0, 1),
    }[spread]
    for _ in range(comparisons):
        effects = []
        for number, share in enumerate(draw()):
            count = int(rng.binomial(rounds, share))
            only = int(rng.binomial(rounds - count, other / (1 - miss)))
            leads = {place: (place < count) - float(count <= place < count + only) for place in range(rounds)}
            effects.append(compare_domain(Domain(str(number), leads, dict.fromkeys(leads, 0.0))))
        overall = combine_domains("a", "b", [effect for effect in effects if effect]).overall
        assert overall is not None
        assert overall.low is not None
        assert overall.high is not None
        held += overall.low - 1e-12 <= miss - other <= overall.high + 1e-12
    return held / comparisons


@pytest.mark.parametrize("spread", ["none", "even", "skewed", "exponential"])
@pytest.mark.proof
def test_overall_intervals_cover_rare_failures(spread: str, record_property: Callable[[str, object], None]) -> None:
    """In 1,000 comparisons, the coverage is within 1.4 points of the nominal one, except for one of 20 settings. Exponential
    differences are too skewed for few domains.
    """
    sizes = [(5, 10), (5, 100), (10, 20), (20, 10), (20, 100)]
    misses = [(0.01, 0.0), (0.05, 0.0), (0.2, 0.0), (0.05, 0.05), (0.1, 0.05)]
    shares = [
        cover_misses(domains, rounds, miss, other, spread, 1000, seed=domains + rounds)
        for domains, rounds in sizes
        for miss, other in misses
    ]
    found = f"{100 * min(shares):.1f}% to {100 * max(shares):.1f}% in {len(shares)} settings"
    record_property("share of 95 % intervals that hold", found)
    assert min(shares) >= (0.88 if spread == "exponential" else 0.93)


@pytest.mark.parametrize(("domains", "rounds", "miss"), [(5, 10, 0.05), (10, 20, 0.05), (10, 10, 0.01), (20, 20, 0.02)])
def test_overall_intervals_cover_rare_failures_in_a_small_simulation(domains: int, rounds: int, miss: float) -> None:
    """Of 100 intervals, at least 88 cover the true value, see below. With weights by errors, only 45 to 77 did."""
    assert cover_misses(domains, rounds, miss, 0, "none", 100, seed=1) >= 0.88


@pytest.mark.parametrize("spread", [0.0, 0.15])
def test_overall_intervals_have_the_nominal_coverage_in_a_small_simulation(spread: float) -> None:
    """Of 100 intervals with a coverage of 95 %, at least 88 cover the true value in all but one of 300 samples."""
    assert cover(5, spread, 100, seed=1) >= 0.88


@pytest.mark.parametrize("spread", [0.0, 1.0])
@pytest.mark.parametrize("domains", [5, 10, 20])
@pytest.mark.parametrize("deviation", [NODES, COSTS], ids=["nodes", "costs"])
@pytest.mark.proof
def test_intervals_of_overall_ratios_have_the_nominal_coverage(
    deviation: float, domains: int, spread: float, record_property: Callable[[str, object], None]
) -> None:
    share = cover_ratios(deviation, domains, spread, 2000, seed=domains)
    record_property("covered", f"{100 * share:.1f} %")
    assert share >= 0.93


@pytest.mark.parametrize("deviation", [NODES, COSTS], ids=["nodes", "costs"])
def test_intervals_of_overall_ratios_have_the_nominal_coverage_in_a_small_simulation(deviation: float) -> None:
    """The numbers are those of the comparison above."""
    assert cover_ratios(deviation, 5, 1.0, 100, seed=1) >= 0.88


def test_domains_with_equal_leads_get_the_error_of_the_median_domain() -> None:
    """By hand: five domains without any spread, and three with the leads 0 and d, whose standard deviation is d / sqrt(2). Their
    median, 2 / sqrt(2), divided by the two rounds, is the error of the five.
    """
    flat = [Domain(f"flat {number}", {0: 1.0, 1: 1.0}, {0: 0.0, 1: 0.0}) for number in range(5)]
    steep = [Domain(f"steep {size}", {0: float(size), 1: 0.0}, {0: 0.0, 1: 0.0}) for size in (1, 2, 9)]
    found = compare_domains([*flat, *steep], bounded=False)
    assert [effect.error for effect in found[:5]] == pytest.approx([2 / sqrt(2) / 2] * 5)
