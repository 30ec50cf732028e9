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
from arena_compare.domains import AMOUNTS, AcrossComparison, Domain, combine_domains, compare_domains, correct

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


@pytest.mark.parametrize(("last", "words"), [(2.0, "differ in the size of the difference ("), (0.5, "disagree (")])
def test_domains_that_agree_in_sign_differ_in_size(last: float, words: str) -> None:
    """The sentence names the unit: more nodes, and not only more."""
    rounds = [100.0 + 10 * number for number in range(10)]
    factors = [8.0, 8.0, 8.0, 8.0, last]
    domains = [
        ([number * factor * (1 + 0.01 * (-1) ** place) for place, number in enumerate(rounds)], rounds) for factor in factors
    ]
    text = tell(compare("nodes", *domains))
    assert f"The domains {words}p" in text
    assert "Beyond noise, strong has more nodes in d0, d1, d2, d3" in text
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
def test_measures_have_matching_words(by: str, fewer: str, more: str) -> None:
    """Nodes are counted, factors are low or high, and searches take time."""
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
    pair = compare("nodes", *domains)
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
