"""The sentences and headings of `arena compare --across`, from values that are made up."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

import arena
from arena.cli import cli
from arena.errors import ArenaError
from arena_compare.across import across_document, across_text
from arena_compare.domains import (
    AMOUNTS,
    AcrossComparison,
    Domain,
    DomainEffect,
    combine_domains,
    compare_domains,
    correct,
)
from arena_web.report.domains_page import effects_plot

NAMES = ("strong", "weak")


def compare(by: str, *domains: tuple[list[float], list[float]]) -> AcrossComparison:
    """Compare strong and weak by an amount, in domains with these values."""
    found = [
        Domain(f"d{number}", dict(enumerate(mine)), dict(enumerate(theirs))) for number, (mine, theirs) in enumerate(domains)
    ]
    return combine_domains(*NAMES, compare_domains(found, least=AMOUNTS[by], bounded=False), by=by, ratio=True)


def tell(pair: AcrossComparison) -> str:
    return across_text(NAMES, [pair], [], "simple", None)


def test_constant_ratios_give_no_interval() -> None:
    """Both agents always make the same moves, so the ratio is always 1. An interval from 1 to 1 would suggest certainty."""
    equal = compare("moves", *[([length, length + 1.0], [length, length + 1.0]) for length in (3.0, 4.0, 5.0, 6.0, 7.0)])
    text = tell(equal)
    assert "cannot be told apart: x 1 (everywhere), p = 1." in text
    assert "x 1 to x 1" not in text
    assert [line.split()[-2:] for line in text.splitlines() if line.startswith(("d0", "all"))] == [["1", "-"], ["1", "-"]]


def test_constant_ratios_of_one_domain_do_not_remove_the_overall_interval() -> None:
    """If the domains differ, their spread gives the overall interval, even if a domain has no interval."""
    pair = compare("moves", *[([2.0 * factor, 4.0 * factor], [2.0, 4.0]) for factor in (1, 2, 2, 2, 2)])
    assert pair.domains[0].low is None
    assert pair.overall is not None
    assert pair.overall.low is not None


def test_a_verdict_over_domains_includes_the_caveat_of_its_pair() -> None:
    """The caveat is in the line of the verdict, before the next sentences."""
    pair = compare("nodes", *[([length, length + 1.0], [9.0 * length, 9.0 * length + 8]) for length in (3.0, 4.0, 5.0, 6.0, 7.0)])
    caveat = "But strong ran compiled and weak ran uncompiled under a time limit, which may be the reason."
    (line,) = [line for line in tell(replace(pair, caveat=caveat)).splitlines() if line.startswith("Over all domains")]
    assert line.endswith(f". {caveat}")
    assert across_document(NAMES, [replace(pair, caveat=caveat)], [])["pairs"][0]["caveat"] == caveat


@pytest.mark.parametrize(("last", "words"), [(2.0, "differ in the size of the difference ("), (0.5, "disagree (")])
def test_domains_that_agree_in_direction_are_said_to_differ_in_size(last: float, words: str) -> None:
    """The sentence says "more nodes", and not only "more"."""
    rounds = [100.0 + 10 * number for number in range(10)]
    factors = [8.0, 8.0, 8.0, 8.0, last]
    domains = [
        ([number * factor * (1 + 0.01 * (-1) ** place) for place, number in enumerate(rounds)], rounds) for factor in factors
    ]
    text = tell(correct([compare("nodes", *domains)])[0])
    assert f"The domains {words}p" in text
    assert "By the 95 % intervals of single domains, strong has more nodes in d0, d1, d2, d3" in text
    assert ("weak has more nodes in d4" in text) == (last < 1)
    assert "strong (geometric mean)    weak (geometric mean)" in text


@pytest.mark.parametrize(
    ("by", "fewer", "more"),
    [
        ("nodes", "strong has fewer nodes than weak", "strong has more nodes than weak"),
        ("seconds", "strong takes fewer seconds than weak", "strong takes more seconds than weak"),
        ("cost", "strong has less cost than weak", "strong has more cost than weak"),
        ("branching-factor", "strong has a lower branching-factor than weak", "strong has a higher branching-factor than weak"),
    ],
)
def test_sentences_use_words_that_fit_the_measure(by: str, fewer: str, more: str) -> None:
    """Nodes are more or fewer, factors are higher or lower, and searches take more or less time."""
    for factor, words in ((0.5, fewer), (2.0, more)):
        domains = [
            Domain(f"d{number}", {k: factor * (1 + 0.01 * k) for k in range(5)}, dict.fromkeys(range(5), 1.0))
            for number in range(6)
        ]
        ratio = by in AMOUNTS
        effects = compare_domains(domains, least=1e-9 if ratio else None, bounded=False)
        [pair] = correct([combine_domains(*NAMES, effects, by=by, ratio=ratio, lower_is_better=True)])
        assert f"Over all domains, {words}" in tell(pair)
        third = replace(pair, other="third")
        verb = "take" if by == "seconds" else "have"
        lower = fewer.removeprefix("strong ").partition(" ")[2].removesuffix(" than weak")
        text = across_text((*NAMES, "third"), [pair, third], [], "simple", None)
        assert f"the number of entries that {verb} {lower} beyond noise" in text


@pytest.mark.parametrize(("last", "word"), [(0.5, "yes"), (2.0, "in size"), (8.0, "no")])
def test_disagreement_of_few_domains_is_reported(last: float, word: str) -> None:
    """Cochran's Q is computed by hand and its tail by scipy. The test needs two domains, but no overall answer."""
    sizes = [100.0 + 10 * number for number in range(10)]
    domains = [
        ([size * factor * (1 + 0.1 * (-1) ** place) for place, size in enumerate(sizes)], sizes) for factor in (8.0, 8.0, last)
    ]
    [pair] = correct([compare("nodes", *domains)])
    values, weights = [one.value for one in pair.domains], [one.error**-2 for one in pair.domains]
    mean = np.average(values, weights=weights)
    q = sum(weight * (value - mean) ** 2 for value, weight in zip(values, weights, strict=True))
    assert pair.overall is None
    assert pair.spread_p_value == pytest.approx(stats.chi2.sf(q, 2))
    assert (pair.domains_differ, pair.domains_disagree) == (word != "no", word == "yes")
    alone = compare("nodes", domains[0])
    assert (alone.spread_p_value, alone.domains_disagree) == (None, None)
    pairs = [pair, replace(alone, other="third")]
    lines = across_text((*NAMES, "third"), pairs, [], "simple", None).splitlines()
    rows = [line for line in lines if line.startswith("strong ")]
    assert [row.rpartition("  ")[2] for row in rows] == [word, "-"]
    document = across_document((*NAMES, "third"), pairs, [])
    assert [one["domains_differ"] for one in document["pairs"]] == [word != "no", None]
    assert [one["domains_disagree"] for one in document["pairs"]] == [word == "yes", None]
    assert ("The domains" in tell(pair)) == (word != "no")


def test_shared_domains_without_values_of_the_measure_are_reported(tmp_path: Path) -> None:
    """Puzzles have no points, so `--by score` has nothing to compare, although the two entries share both domains."""
    keys = {"games": [{"name": "hanoi", "discs": 2}, {"name": "pancake", "n": 3}], "agents": ["bfs", "a-star"], "rounds": 2}
    store = tmp_path / "two.db"
    arena.run({"name": "two", **keys}, store=store)
    with pytest.raises(ArenaError, match="bfs and a-star share 2 domains, but no round of them has a value of score for both"):
        cli.main(["compare", str(store), "--across", "--by", "score"], standalone_mode=False)


def test_disagreement_of_domains_is_corrected_for_all_pairs() -> None:
    """Four equal pairs with p = 0.02 each: Holm's p-values are 0.08, so none of them is said to disagree."""
    lead = float(0.1 * np.sqrt(stats.chi2.isf(0.02, 1) / 2))  # Cochran's Q of two domains is 2 (lead / error)^2
    effects = [DomainEffect(name, 9, 1, 1, value, 0.1, None, None, 9.0, 0.3) for name, value in (("one", lead), ("two", -lead))]
    pairs = [combine_domains(*NAMES, effects) for _ in range(4)]
    assert pairs[0].spread_p_value == pytest.approx(0.02)
    assert [pair.spread_holm for pair in correct(pairs)] == pytest.approx([0.08] * 4)
    assert [pair.domains_differ for pair in correct(pairs)] == [False] * 4
    assert [pair.domains_differ for pair in correct(pairs[:1])] == [True]


def test_an_interval_over_all_domains_is_named_after_its_level() -> None:
    """With one pair, the level is 95 %. With several pairs, it is that of Holm's method, and a pair without differences is
    not tested.
    """
    rounds = [100.0 + 10 * number for number in range(10)]
    domains = [([number * factor for number in rounds], rounds) for factor in (1.0, 1.1, 1.21, 1.331, 1.4641)]  # no skewness
    alone = compare("nodes", *domains)
    [single] = correct([alone])
    assert "(95 % interval x" in tell(single)
    assert "corrected" not in tell(single)
    idle = replace(alone, other="third", differ=False)
    first, second, third = correct([alone, replace(alone, one="weak", other="third"), idle])
    assert first.overall is not None
    assert single.overall is not None
    assert first.chance == 0.025
    error = single.overall.value - (single.overall.low or 0)  # Student's t with four degrees of freedom, wider by Bonferroni
    wide = error * stats.t.isf(0.025 / 2, 4) / stats.t.isf(0.05 / 2, 4)
    assert first.overall.low == pytest.approx(first.overall.value - wide)
    details = tell(first)
    assert "(corrected interval x" in details
    assert "95 % interval x" not in details
    heading, *_, row = [line for line in details.splitlines() if line.startswith(("Domain", "d", "all domains"))]
    assert heading.rstrip().endswith("95 % interval")
    assert row.endswith("(corrected)")
    text = across_text((*NAMES, "third"), [first, second, third], [], "tsv", None)
    column = [line.split("\t")[4].strip() for line in text.splitlines() if line.count("\t") > 4]
    assert [cell.rpartition(" x ")[0].startswith("x ") for cell in column] == [False, True, True, True]
    assert column[0] == "Corrected interval"
    assert [cell.endswith("(95 %)") for cell in column[1:]] == [False, False, True]
    document = across_document((*NAMES, "third"), [first, second, third], [])
    assert [pair["overall"]["chance"] for pair in document["pairs"]] == [0.025, 0.025, 0.05]
    assert {domain["chance"] for pair in document["pairs"] for domain in pair["domains"]} == {0.05}
    plots = [effects_plot(pair, "plot").text for pair in (document["pairs"][0], document["pairs"][2])]
    assert [text.rpartition(". ")[2] for text in plots] == [
        "Lines are 95 % intervals, for all domains the corrected interval.",
        "Lines are 95 % intervals.",
    ]
