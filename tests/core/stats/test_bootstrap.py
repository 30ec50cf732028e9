"""The batched bootstrap against scipy's, and its fits against the single ones."""

import random
from itertools import combinations

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

from arena.stats.bootstrap import bootstrap, refit
from arena.stats.bradley_terry import chances, fit
from arena.stats.elo import ELO
from arena.stats.observations import Pair, WinDrawLoss, table_of
from arena.stats.prior import Model


def _pairs(rng: random.Random, count: int, lead: float) -> list[Pair]:
    kinds = (1, 0.5, 0)
    return [Pair.of(rng.choices(kinds, chances(lead, 0))[0], rng.choices(kinds, chances(-lead, 0))[0]) for _ in range(count)]


def test_scipys_bootstrap_agrees_within_sampling_error() -> None:
    """Two agents, 60 pairs, 1,000 samples each: both ends lie within 10 Elo of those of scipy, whose ends vary as much."""
    pairs = _pairs(random.Random(2), 60, 0.6)
    model = Model(first_mover=False)

    def lead(indices: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> float:
        drawn = fit(table_of({("a", "b"): [pairs[k] for k in indices]}), ["a", "b"], model=model)
        return (drawn.ratings[0] - drawn.ratings[1]) * ELO

    theirs = stats.bootstrap(
        (np.arange(60),), lead, vectorized=False, method="percentile", n_resamples=1000, rng=np.random.default_rng(1)
    ).confidence_interval
    fitted = fit(table_of({("a", "b"): pairs}), ["a", "b"], model=model)
    ours = bootstrap(fitted, {("a", "b"): pairs}, random.Random(1), samples=1000).interval(0, 1)
    assert [bound * ELO for bound in ours] == pytest.approx([theirs.low, theirs.high], abs=10)


@pytest.mark.parametrize("model", [Model(), Model(first_mover=False), Model(draws=False), Model(prior=0.2)])
def test_refits_are_the_single_fits(model: Model) -> None:
    """Thirty tables, refitted at once from another table's fit, have the ratings of thirty single fits to 1e-3 natural units."""
    rng = random.Random(3)
    names = ["a", "b", "c", "d"]
    seats = list(combinations(names, 2))
    tables = [{pair: _pairs(rng, 8, rng.uniform(-1, 1.5)) for pair in seats} for _ in range(30)]
    if not model.draws:
        tables = [{pair: [Pair.of(rng.randint(0, 1), rng.randint(0, 1)) for _ in range(8)] for pair in seats} for _ in range(30)]
    start = fit(table_of(tables[0]), names, model=model)
    planes = np.zeros((5, len(seats), 30))
    for column, table in enumerate(tables):
        for row, pair in enumerate(seats):
            ahead, behind = WinDrawLoss(), WinDrawLoss()
            for games in table[pair]:
                ahead, behind = ahead.plus(games.forward), behind.plus(games.backward)
            leads = (ahead.wins - ahead.losses) / 2, (behind.wins - behind.losses) / 2
            planes[:, row, column] = (*leads, ahead.games, behind.games, ahead.draws + behind.draws)
    places = [(names.index(one), names.index(two)) for one, two in seats]
    for found, table in zip(refit(start, places, planes.transpose(0, 2, 1)), tables, strict=True):
        assert list(found) == pytest.approx(fit(table_of(table), names, model=model).ratings, abs=1e-3)


def test_many_pairs_are_drawn_by_their_kinds_with_the_same_spread() -> None:
    """1,200 pairs at once, and 900 one by one: the widths are as the square roots of their numbers."""
    widths = []
    for count in (1200, 900):
        pairs = [Pair.of(1, 0), Pair.of(0.5, 0.5), Pair.of(0, 0)] * (count // 3)
        fitted = fit(table_of({("a", "b"): pairs}))
        low, high = bootstrap(fitted, {("a", "b"): pairs}, random.Random(1), samples=2000).interval(0, 1)
        widths.append(high - low)
    assert widths[1] / widths[0] == pytest.approx((1200 / 900) ** 0.5, rel=0.06)


def test_the_generator_decides() -> None:
    """The same seed gives the same interval, another one another."""
    pairs = {("a", "b"): _pairs(random.Random(2), 45, 0.4)}
    fitted = fit(table_of(pairs))
    first, again, other = (bootstrap(fitted, pairs, random.Random(seed), samples=100).interval(0) for seed in (1, 1, 2))
    assert first == again != other
