"""The lot of the verifier, and what it promises."""

import math
from collections import Counter

import pytest
from scipy.stats import hypergeom  # type: ignore[import-untyped]

from arena_bundle.lot import LotSize, describe_bound, draw_lot, most_differing


@pytest.mark.parametrize("matches", [1, 2, 7, 20, 61, 400])
def test_the_bound_is_the_exact_one(matches: int) -> None:
    """It is the largest number with which a lot without differences has a probability of 5 % or more, as scipy computes it."""
    for drawn in range(1, matches + 1, max(1, matches // 20)):
        bound = most_differing(drawn, matches)
        assert hypergeom.pmf(0, matches, bound, drawn) >= 0.05 - 1e-12
        assert bound == matches - drawn or hypergeom.pmf(0, matches, bound + 1, drawn) < 0.05


def test_the_sentence_of_the_manual() -> None:
    """The numbers of 60 among 4,000, and the special cases."""
    assert describe_bound(60, 4000).endswith("at most 4.9 % of the records differ")
    assert describe_bound(30, 30) == "30 of 30 matches replayed equal"
    assert "60 of 100 matches that can be replayed" in describe_bound(60, 100, others=5)


def test_the_size_of_the_lot() -> None:
    """By default 60 matches or 1 %, whichever is more."""
    assert [LotSize().of(matches) for matches in (10, 4000, 6001, 100_000)] == [10, 60, 61, 1000]
    assert (LotSize(share=0.5).of(7), LotSize(count=3).of(7), LotSize(count=30).of(7)) == (4, 3, 7)


def test_a_changed_record_is_caught_at_the_rate_that_the_lot_promises() -> None:
    """5 of 50 records are changed, and 10 are drawn: the lot catches at least one with probability 1 - C(45, 10) / C(50, 10)."""
    records = [str(number) for number in range(50)]
    lots = [draw_lot(records, LotSize(count=10), seed) for seed in range(4000)]
    caught = sum([not set(lot).isdisjoint(records[:5]) for lot in lots])
    rate = 1 - math.comb(45, 10) / math.comb(50, 10)
    assert abs(caught / 4000 - rate) < 4 * math.sqrt(rate * (1 - rate) / 4000)
    counts = Counter([one for lot in lots for one in lot])
    assert max([abs(count - 800) for count in counts.values()]) < 5 * math.sqrt(800 * 0.8)


def test_the_lot_is_the_verifiers_own() -> None:
    """Without a seed, two lots differ; with one, they are equal."""
    records = [str(number) for number in range(1000)]
    assert draw_lot(records, LotSize()) != draw_lot(records, LotSize())
    assert draw_lot(records, LotSize(), 7) == draw_lot(records, LotSize(), 7)
