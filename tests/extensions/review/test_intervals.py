"""The interval of the mean loss: how often it covers the mean of losses like those of reviewed games."""

import random
from collections.abc import Callable, Sequence
from math import exp
from statistics import fmean

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

from arena.stats import clustered_mean
from arena_review.summary import estimate_loss

Match = tuple[float, int]
"""The sum and the number of the losses in a match."""
RARE: dict[Match, int] = {(0, 3): 169, (0, 4): 393, (1, 3): 20, (1, 4): 18}
"""Tic-tac-toe by mcts with 1,500 nodes: 600 reviewed matches, of which 94 % lost nothing."""
SOME: dict[Match, int] = {(0, 3): 143, (0, 4): 350, (1, 2): 25, (1, 3): 79, (1, 4): 3}
"""Tic-tac-toe by greedy."""
MANY: dict[Match, int] = {
    (0, 2): 38,
    (0, 3): 57,
    (0, 4): 65,
    (0, 5): 61,
    (0, 6): 16,
    (0, 7): 4,
    (2, 2): 37,
    (2, 3): 74,
    (2, 4): 122,
    (2, 5): 55,
    (2, 6): 8,
    (2, 7): 3,
    (4, 3): 13,
    (4, 4): 22,
    (4, 5): 21,
    (4, 6): 3,
    (6, 5): 1,
}
"""Nim by mcts with 1,500 nodes."""
REGRETS: dict[Match, int] = {
    (0, 7): 126,
    **{(20 + 4 * step, 34 + 4 * step): 11 - step // 3 for step in range(12)},
    (130, 142): 15,
}
"""Sliding tiles by best-first search, with regrets put into classes: two thirds of the solutions are optimal, others are long."""
POPULATIONS = {"rare": RARE, "some": SOME, "many": MANY, "regrets": REGRETS}


def draw(population: dict[Match, int], matches: int, rng: random.Random) -> list[Match]:
    return rng.choices(list(population), list(population.values()), k=matches)


def mean_of(matches: Sequence[Match]) -> float:
    return sum(lost for lost, _ in matches) / sum(count for _, count in matches)


def cover(
    population: dict[Match, int], matches: int, times: int, interval: Callable[[list[Match]], tuple[float, float] | None]
) -> float:
    """Return the share of intervals that contain the true mean, among those that exist."""
    true = mean_of([match for match, often in population.items() for _ in range(often)])
    rng, held = random.Random(f"{matches} matches"), list[bool]()
    for _ in range(times):
        found = interval(draw(population, matches, rng))
        if found is not None:
            held.append(found[0] <= true <= found[1])
    return fmean(held)


def logarithmic(matches: list[Match]) -> tuple[float, float] | None:
    _, low, high = estimate_loss([lost for lost, _ in matches], [count for _, count in matches])
    return None if low is None or high is None else (low, high)


def symmetric(matches: list[Match]) -> tuple[float, float] | None:
    _, low, high = clustered_mean([lost for lost, _ in matches], [count for _, count in matches])
    return None if low is None or high is None or not any(lost for lost, _ in matches) else (low, high)


def percentile(matches: list[Match]) -> tuple[float, float] | None:
    """The percentiles of 400 means of matches that are drawn with replacement."""
    if not any(lost for lost, _ in matches):
        return None
    table = np.array(matches)
    sums = table[np.random.default_rng(len(matches)).integers(0, len(matches), (400, len(matches)))].sum(axis=1)
    low, high = np.quantile(sums[:, 0] / sums[:, 1], [0.025, 0.975])
    return float(low), float(high)


@pytest.mark.parametrize("name", POPULATIONS)
@pytest.mark.parametrize(
    ("times", "least", "most"), [(150, 0.88, 1.0), pytest.param(4000, 0.925, 0.975, marks=pytest.mark.proof)]
)
def test_the_interval_covers_the_mean_loss(
    name: str, times: int, least: float, most: float, record_property: Callable[[str, object], None]
) -> None:
    """The numbers of matches are 20, 40 and 100."""
    shares = [cover(POPULATIONS[name], matches, times, logarithmic) for matches in (20, 40, 100)]
    record_property("share of 95 % intervals that hold", ", ".join([f"{share:.1%}" for share in shares]))
    assert all(least <= share <= most for share in shares)


@pytest.mark.proof
def test_other_kinds_of_intervals_have_less_coverage(record_property: Callable[[str, object], None]) -> None:
    """With 20 matches, the test compares the lowest coverage over all populations of this interval, the symmetric interval
    and bootstrap percentiles.
    """
    worst = {
        kind.__name__: min(cover(population, 20, 1000, kind) for population in POPULATIONS.values())
        for kind in (logarithmic, symmetric, percentile)
    }
    record_property("worst share", ", ".join([f"{name} {share:.1%}" for name, share in worst.items()]))
    assert worst["logarithmic"] > max(worst["symmetric"], worst["percentile"])


def test_the_bounds_agree_with_scipy_on_the_logarithmic_scale() -> None:
    """Each match has one decision. The delta method divides the standard error by the mean."""
    losses = [0.0, 0.0, 1.0, 0.5, 0.0, 2.0]
    mean, low, high = estimate_loss(losses, [1] * 6)
    reach = stats.t.ppf(0.975, 5) * stats.sem(losses) / np.mean(losses)
    assert (mean, low, high) == pytest.approx((np.mean(losses), np.mean(losses) * exp(-reach), np.mean(losses) * exp(reach)))


def test_without_a_loss_there_is_no_interval() -> None:
    assert estimate_loss([0.0, 0.0], [3, 4]) == (0.0, None, None)
    assert estimate_loss([2.0], [4]) == (0.5, None, None)
    assert estimate_loss([], []) == (None, None, None)
