"""The verifier replays a random sample of matches and states a bound."""

import math
from collections import Counter

import pytest
from scipy.stats import hypergeom  # type: ignore[import-untyped]

from arena_bundle.lot import LotSize, describe_bound, draw_lot, most_differing


@pytest.mark.parametrize("matches", [1, 2, 7, 20, 61, 400])
def test_the_bound_on_differing_records_is_exact(matches: int) -> None:
    """The bound is the largest number of differing records for which a sample without differences has a probability of 5 % or
    more. scipy computes these probabilities.
    """
    for drawn in range(1, matches + 1, max(1, matches // 20)):
        bound = most_differing(drawn, matches)
        assert hypergeom.pmf(0, matches, bound, drawn) >= 0.05 - 1e-12
        assert bound == matches - drawn or hypergeom.pmf(0, matches, bound + 1, drawn) < 0.05


def test_the_sentence_about_the_bound_agrees_with_the_manual() -> None:
    """The manual gives the bound for 60 of 4,000 matches."""
    assert describe_bound(60, 4000).endswith("at most 4.9 % of the records differ")
    assert describe_bound(30, 30) == "30 of 30 matches replayed equal"
    assert "60 of 100 matches that can be replayed" in describe_bound(60, 100, others=5)


def test_the_default_sample_is_60_matches_or_1_percent() -> None:
    """The larger number applies."""
    assert [LotSize().of(matches) for matches in (10, 4000, 6001, 100_000)] == [10, 60, 61, 1000]
    assert (LotSize(share=0.5).of(7), LotSize(count=3).of(7), LotSize(count=30).of(7)) == (4, 3, 7)


def test_a_sample_detects_changed_records_at_the_expected_rate() -> None:
    """Of 50 records 5 are changed, and 10 are drawn. The probability of catching at least one is 1 - C(45, 10) / C(50, 10)."""
    records = [str(number) for number in range(50)]
    lots = [draw_lot(records, LotSize(count=10), seed) for seed in range(4000)]
    caught = sum([not set(lot).isdisjoint(records[:5]) for lot in lots])
    rate = 1 - math.comb(45, 10) / math.comb(50, 10)
    assert abs(caught / 4000 - rate) < 4 * math.sqrt(rate * (1 - rate) / 4000)
    counts = Counter([one for lot in lots for one in lot])
    assert max([abs(count - 800) for count in counts.values()]) < 5 * math.sqrt(800 * 0.8)


def test_the_sample_depends_only_on_the_verifiers_seed() -> None:
    """Without a seed, two samples differ. With the same seed, they are equal."""
    records = [str(number) for number in range(1000)]
    assert draw_lot(records, LotSize()) != draw_lot(records, LotSize())
    assert draw_lot(records, LotSize(), 7) == draw_lot(records, LotSize(), 7)
