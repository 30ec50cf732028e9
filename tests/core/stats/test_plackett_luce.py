"""Plackett-Luce fits against choix and scipy, and ties as averages over orders."""

import random
from itertools import permutations
from math import exp, isfinite, log, log1p

import choix
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import minimize  # type: ignore[import-untyped]

from arena.errors import ArenaError
from arena.stats.bradley_terry import fit
from arena.stats.elo import ELO
from arena.stats.observations import Ranking, WinDrawLoss, ranking_of
from arena.stats.plackett_luce import fit_rankings, rate_rankings
from arena.stats.prior import Model

NAMES = ["a", "b", "c", "d", "e"]


def _position(rng: random.Random, strength: dict[str, float]) -> list[Ranking[str]]:
    """Three games of three from one position."""
    return [[[name] for name in _order(rng, strength, NAMES[:3])] for _ in range(3)]


def _order(rng: random.Random, strength: dict[str, float], names: list[str]) -> list[str]:
    """The names by the exponential race that Plackett-Luce is."""
    return sorted(names, key=lambda name: rng.expovariate(exp(strength[name])))


def _games(rng: random.Random, count: int) -> list[list[list[str]]]:
    """Games of three, about every third with a tie."""
    strength = {name: rng.gauss(0, 1) for name in NAMES}
    games = []
    for _ in range(count):
        one, two, three = _order(rng, strength, rng.sample(NAMES, 3))
        games.append(rng.choice([[[one], [two], [three]], [[one], [two], [three]], [[one], [two, three]]]))
    return games


@pytest.mark.parametrize("seed", range(2))
def test_fits_agree_with_choix(seed: int) -> None:
    """Full rankings, no prior."""
    rng = random.Random(seed)
    strength = {name: rng.gauss(0, 0.5) for name in NAMES}
    orders = [_order(rng, strength, NAMES) for _ in range(30)]
    theirs = choix.opt_rankings(5, [tuple(map(NAMES.index, order)) for order in orders], method="Newton-CG", tol=1e-12)
    ours = fit_rankings([[[name] for name in order] for order in orders], NAMES, prior=0)
    assert ours.ratings == pytest.approx(theirs - theirs.mean(), abs=1e-6)


def _objective(place: "np.ndarray[tuple[int], np.dtype[np.float64]]", games: list[list[list[str]]]) -> float:
    """Minus the posterior's logarithm, ties averaged over all their orders one by one."""
    ratings = dict(zip(NAMES, place - place.mean(), strict=True))
    total = -sum(log1p(exp(-x)) + log1p(exp(x)) for x in ratings.values()) / 2
    for game in games:
        orders: list[list[str]] = [[]]
        for level in game:
            orders = [[*before, *tied] for before in orders for tied in permutations(level)]
        for order in orders:
            for k in range(len(order)):
                among = log(sum(exp(ratings[name]) for name in order[k:]))
                total += (ratings[order[k]] - among) / len(orders)
    return -float(total)


@pytest.mark.parametrize("seed", range(3))
def test_ties_are_the_average_over_all_orders(seed: int) -> None:
    """scipy's optimiser on the likelihood that is written out order by order agrees to 1e-6, with the prior."""
    games = _games(random.Random(seed), 12)
    games.append([["a", "b", "c"]])
    ours = fit_rankings(games, NAMES)
    theirs = minimize(_objective, np.zeros(5), args=(games,), method="BFGS", options={"gtol": 1e-8})
    assert _objective(np.array(ours.ratings), games) == pytest.approx(-ours.log_likelihood, abs=1e-8)
    assert ours.ratings == pytest.approx(theirs.x - theirs.x.mean(), abs=1e-6)


def test_games_of_two_are_bradley_terrys() -> None:
    """Wins and losses alone give the same ratings with either fit, and so does a draw as half of each."""
    won, lost, other_won, drawn = (
        ranking_of(returns) for returns in ({"a": 1, "b": 0}, {"a": 0, "b": 1}, {"b": 1, "c": 0}, {"a": 0, "b": 0})
    )
    rankings = [won] * 5 + [lost] * 2 + [other_won] * 3 + [drawn]
    table = {("a", "b"): WinDrawLoss(5.5, 0, 2.5), ("b", "c"): WinDrawLoss(3, 0, 0)}
    other = fit(table, model=Model(draws=False, first_mover=False))
    assert fit_rankings(rankings).elo() == pytest.approx(other.elo())


def test_intervals_of_rankings_hold_about_as_often_as_they_say() -> None:
    """300 tournaments of 12 positions, three games of three agents from each: between 90 and 99 %."""
    rng = random.Random(1)
    strength = dict(zip(NAMES[:3], (-0.5, 0.1, 0.4), strict=True))
    held = []
    for _ in range(300):
        ratings = rate_rankings({"all": [_position(rng, strength) for _ in range(12)]}, NAMES[:3])
        held += [(row.low or 0) <= strength[row.agent] * ELO <= (row.high or 0) for row in ratings.rows]
    assert 0.90 <= sum(held) / len(held) <= 0.99


def test_rankings_that_are_all_alike_still_leave_doubt() -> None:
    """Ten times the same order: a width for all, none for a group with one position alone, and the anchor at 0."""
    same: list[Ranking[str]] = [[["a"], ["b"], ["c"]]]
    ratings = rate_rankings({"three": [same] * 10, "other": [[[["d"], ["e"]]]]}, NAMES, anchor="b")
    rows = {row.agent: row for row in ratings.rows}
    assert (rows["a"].high or 0) - (rows["a"].low or 0) > 50
    assert (rows["b"].elo, rows["d"].low, rows["e"].high) == (0, None, None)
    assert 0.9 < (ratings.difference("a", "c").superiority or 0) < 1


def test_what_cannot_be_ranked_is_refused() -> None:
    """An agent that is not rated, and too many in a tie."""
    with pytest.raises(ArenaError, match="got 'z'"):
        fit_rankings([[["a"], ["z"]]], ["a"])
    with pytest.raises(ArenaError, match="at most 12"):
        fit_rankings([[[str(k) for k in range(13)]]])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(NAMES), st.sampled_from([0.0, 0.5, 1.0]), min_size=1), max_size=6))
def test_every_list_of_rankings_has_finite_ratings(games: list[dict[str, float]]) -> None:
    """Also one agent alone, all tied, and one that always wins."""
    found = fit_rankings([ranking_of(game) for game in games] * 3, NAMES)
    assert all(isfinite(rating) for rating in found.ratings)
    assert sum(found.ratings) == pytest.approx(0, abs=1e-9)
