"""Bradley-Terry fits against scipy's optimiser, against choix, and against cases that can be solved by hand."""

import random
from itertools import permutations
from math import exp, isfinite, log, log1p

import choix
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import minimize  # type: ignore[import-untyped]

from arena.errors import ArenaError
from arena.stats.bradley_terry import Fit, chances, fit
from arena.stats.elo import ELO
from arena.stats.observations import WinDrawLoss
from arena.stats.prior import Model

Games = dict[tuple[str, str], WinDrawLoss]


def random_table(rng: random.Random, agents: int, games: int, *, drawn: float = -0.2) -> Games:
    """Every agent against every other from either seat, by ratings, a first-mover term and a weight of draws of its own."""
    strength = [rng.gauss(0, 0.9) for _ in range(agents)]
    table = {}
    for i, j in permutations(range(agents), 2):
        results = rng.choices(range(3), chances(strength[i] - strength[j] + 0.3, drawn), k=rng.randint(0, games))
        table[f"agent {i}", f"agent {j}"] = WinDrawLoss(*(results.count(kind) for kind in range(3)))
    return table


def _objective(place: "np.ndarray[tuple[int], np.dtype[np.float64]]", names: list[str], table: Games, model: Model) -> float:
    """Minus the posterior's logarithm, written down again from the docstrings: the ratings' mean is taken out first."""
    ratings = place[: len(names)] - place[: len(names)].mean()
    mover = place[len(names)] if model.first_mover else 0.0
    weight = exp(place[-1]) if model.draws else 0.0
    total = 0.0
    for (first, second), tally in table.items():
        lead = ratings[names.index(first)] - ratings[names.index(second)] + mover
        parts = exp(lead / 2), weight, exp(-lead / 2)
        total += sum(count * log(part / sum(parts)) for count, part in zip(tally, parts, strict=True) if count)
    for x in [*ratings, *([mover] if model.first_mover else [])]:
        total -= model.prior * (log1p(exp(-x)) + log1p(exp(x))) / 2
    if model.draws:
        total += model.prior * (log(weight / (2 + weight)) + log(2 / (2 + weight))) / 2
    return -total


@pytest.mark.parametrize("model", [Model(), Model(prior=0.3), Model(first_mover=False), Model(draws=False)])
@pytest.mark.parametrize("seed", range(4))
def test_fits_agree_with_scipy(seed: int, model: Model) -> None:
    """Random tables of 2 to 7 agents, some cells empty: every part agrees with scipy's optimiser to 1e-6 of a natural unit."""
    rng = random.Random(seed)
    table = random_table(rng, rng.randint(2, 7), 6)
    if not model.draws:
        table = {seats: tally._replace(draws=0) for seats, tally in table.items()}
    names = sorted({agent for seats in table for agent in seats})
    ours = fit(table, names, model=model)
    size = len(names) + model.first_mover + model.draws
    theirs = minimize(_objective, np.zeros(size), args=(names, table, model), method="BFGS", options={"gtol": 1e-9})
    polished = minimize(
        _objective,
        theirs.x,
        args=(names, table, model),
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 400},
    )
    best = min((theirs, polished), key=lambda found: float(found.fun)).x
    assert -_objective(np.array(_parts(ours)), names, table, model) == pytest.approx(ours.log_likelihood, abs=1e-8)
    assert ours.ratings == pytest.approx(best[: len(names)] - best[: len(names)].mean(), abs=1e-6)
    assert _parts(ours)[len(names) :] == pytest.approx(list(best[len(names) :]), abs=1e-6)


def _parts(found: Fit[str]) -> list[float]:
    return [*found.ratings, *found.shared]


@pytest.mark.parametrize("seed", range(5))
def test_fits_agree_with_choix(seed: int) -> None:
    """Connected tables without draws, prior and first-mover term off: the plain model of Bradley and Terry."""
    rng = random.Random(seed)
    names = [f"agent {k}" for k in range(6)]
    table = {
        (names[i], names[j]): WinDrawLoss(rng.randint(0, 5) + (j == (i + 1) % 6), 0, rng.randint(0, 5))
        for i, j in permutations(range(6), 2)
    }
    wins = [(names.index(one), names.index(two)) for (one, two), tally in table.items() for _ in range(int(tally.wins))]
    wins += [(names.index(two), names.index(one)) for (one, two), tally in table.items() for _ in range(int(tally.losses))]
    theirs = choix.opt_pairwise(6, wins, alpha=0.0, method="Newton-CG", tol=1e-12)
    ours = fit(table, names, model=Model(draws=False, first_mover=False, prior=0))
    assert ours.ratings == pytest.approx(theirs - theirs.mean(), abs=1e-6)


def test_two_agents_by_hand() -> None:
    """Nine wins to three without prior are odds of three to one; so many draws as wins and losses make their weight."""
    plain = fit({("a", "b"): WinDrawLoss(9, 0, 3)}, model=Model(first_mover=False, prior=0))
    assert plain.elo("b")["a"] == pytest.approx(400 * np.log10(3))
    even = fit({("a", "b"): WinDrawLoss(5, 20, 5), ("b", "a"): WinDrawLoss(5, 20, 5)}, model=Model(prior=0))
    assert even.log_draws == pytest.approx(log(4))
    assert even.chances("a", "b") == pytest.approx((1 / 6, 4 / 6, 1 / 6))
    first = fit({("a", "b"): WinDrawLoss(8, 0, 2), ("b", "a"): WinDrawLoss(8, 0, 2)}, model=Model(prior=0))
    assert first.first_mover == pytest.approx(log(4))
    assert first.ratings == pytest.approx((0, 0))


def test_the_prior_is_one_virtual_draw_against_the_mean() -> None:
    """With every game won, at x above the mean: n (1 - s(2x)) of the games is pulled back by s(x) - 1/2 of the virtual draw."""
    found = fit({("a", "b"): WinDrawLoss(12, 0, 0)}, model=Model(draws=False, first_mover=False)).ratings[0]
    assert 12 * 2 * (1 - 1 / (1 + exp(-2 * found))) == pytest.approx(2 * (1 / (1 + exp(-found)) - 0.5))


def test_groups_that_never_met_are_held_together_by_the_prior() -> None:
    """Two pairs of agents with the same results: both winners alike, both losers alike, about the mean."""
    table = {("a", "b"): WinDrawLoss(3, 0, 1), ("c", "d"): WinDrawLoss(3, 0, 1)}
    elo = fit(table).elo()
    assert elo["a"] == pytest.approx(elo["c"])
    assert elo["a"] == pytest.approx(-elo["d"])
    with pytest.raises(ArenaError, match="keep the prior on"):
        fit(table, model=Model(prior=0))


def test_without_the_prior_a_clean_sweep_has_no_fit() -> None:
    """An error says so, and what to do."""
    with pytest.raises(ArenaError, match="keep the prior on"):
        fit({("a", "b"): WinDrawLoss(5, 0, 0), ("b", "a"): WinDrawLoss(0, 0, 5)}, model=Model(prior=0, draws=False))


def test_a_held_rating_is_about_the_mean_of_the_others() -> None:
    """Held where the free fit without that agent's virtual draw would put it, nothing changes that it does not have to."""
    table = random_table(random.Random(5), 5, 20)
    free = fit(table, model=Model(prior=0))
    others = [rating for agent, rating in zip(free.agents, free.ratings, strict=True) if agent != "agent 0"]
    lead = free.elo()["agent 0"] / ELO - sum(others) / 4
    held = fit(table, model=Model(prior=0), held={"agent 0": lead})
    assert held.log_likelihood == pytest.approx(free.log_likelihood)
    assert held.elo("agent 0") == pytest.approx(free.elo("agent 0"), abs=1e-6)
    assert sum(rating for agent, rating in zip(held.agents, held.ratings, strict=True) if agent != "agent 0") == pytest.approx(0)


def test_unknown_agents_are_refused() -> None:
    """The error names those that are known."""
    with pytest.raises(ArenaError, match="one of a, b; got 'c'"):
        fit({("a", "c"): WinDrawLoss(1, 0, 0)}, ["a", "b"])
    with pytest.raises(ArenaError, match="got 'c'"):
        fit({("a", "b"): WinDrawLoss(1, 0, 0)}).elo("c")


COUNTS = st.builds(WinDrawLoss, *[st.sampled_from([0, 0, 1, 3, 1000])] * 3)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.sampled_from(list(permutations("abcd", 2))), COUNTS))
def test_every_table_has_finite_ratings(table: Games) -> None:
    """Whatever was played; their mean is 0, and nothing is farther from it than 100 natural units."""
    found = fit(table, "abcd")
    assert all(isfinite(part) and abs(part) < 100 for part in _parts(found))
    assert sum(found.ratings) == pytest.approx(0, abs=1e-9)
