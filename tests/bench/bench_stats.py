"""How long ratings with intervals, and Swiss pairings, take."""

import random
from itertools import combinations, permutations
from typing import TYPE_CHECKING

import numpy as np
import pytest

from arena.stats.bradley_terry import chances, fit
from arena.stats.intervals import rate
from arena.stats.newton import constrained_inverse
from arena.stats.observations import Pair, Pairings, WinDrawLoss, table_of
from arena_pairings.swiss_pairing import Encounter, draw_lots, swiss_round

if TYPE_CHECKING:
    from tests.bench.conftest import Bench


def _pairings(agents: int, pairs: int) -> Pairings[str]:
    rng = random.Random(1)
    strength = {f"agent {k}": rng.gauss(0, 0.8) for k in range(agents)}

    def pair(lead: float) -> Pair:
        results = (rng.choices((1, 0.5, 0), chances(side * lead + 0.2, 0))[0] for side in (1, -1))
        return Pair.of(*results)

    return {(one, two): [pair(strength[one] - strength[two]) for _ in range(pairs)] for one, two in combinations(strength, 2)}


def test_fifty_agents_are_rated_within_two_seconds(bench: "Bench") -> None:
    """With 50 agents, 100,450 games and 1,000 bootstrap samples, ratings with all intervals take at most 2 s."""
    pairings = _pairings(50, 41)
    timings = bench.in_turns(lambda: rate(pairings, rng=random.Random(1)).rows, lambda: fit(table_of(pairings)), rounds=5)
    bench.at_most(
        2, "ratings of 50 agents, 1,000 samples", min(timings.ours), " s", point_estimate_alone=f"{min(timings.theirs):.2f} s"
    )


def test_ten_million_games_of_129_agents_are_rated_in_twice_the_time_of_evalica(bench: "Bench") -> None:
    """Ours are Bradley-Terry ratings with 95 % intervals, draws and the first seat's advantage; evalica computes only ratings.

    Both begin with the same 129 x 129 counts in memory, each in its own format.
    """
    evalica = pytest.importorskip("evalica", reason="evalica is not installed", exc_type=ImportError)
    rng, agents, games = np.random.default_rng(1), 129, 10**7 // (129 * 128)
    strength = rng.normal(0, 0.8, agents)
    table, rows = {}, []
    for one, two in permutations(range(agents), 2):
        win, draw, loss = chances(strength[one] - strength[two] + 0.2, 0)
        counts = WinDrawLoss(*map(int, rng.multinomial(games, (win, draw, loss))))
        table[one, two] = counts
        outcomes = (evalica.Winner.X, evalica.Winner.Draw, evalica.Winner.Y)
        rows += [(one, two, outcome, float(count)) for outcome, count in zip(outcomes, counts, strict=True)]
    ones, twos, winners, weights = map(list, zip(*rows, strict=True))

    def ours() -> list[tuple[float, float]]:
        found = fit(table)
        errors = np.sqrt(np.diagonal(constrained_inverse(found.information, agents))[:agents])
        return [(rating - 1.96 * error, rating + 1.96 * error) for rating, error in zip(found.ratings, errors, strict=True)]

    def theirs() -> object:
        return evalica.bradley_terry(ones, twos, winners, weights=weights).scores

    centred = strength - strength.mean()
    held = [low <= true <= high for (low, high), true in zip(ours(), centred, strict=True)]
    assert sum(held) > 0.85 * agents
    timings = bench.in_turns(ours, theirs, rounds=21)
    mine, peer = [f"{seconds * 1e3:.0f} ms" for seconds in timings.best]
    bench.at_most(
        2, "10 million games of 129 agents, with intervals / evalica without", timings.ratio, "x", ours=mine, evalica=peer
    )


def test_looking_for_lopsided_positions_takes_a_twentieth_of_a_rating(bench: "Bench") -> None:
    """For the same agents, whose games show no lopsided positions, it takes at most 1.05 times as long as ratings without it."""
    pairings = _pairings(50, 41)

    def rate_all(*, openings: bool) -> None:
        assert rate(pairings, rng=random.Random(1), openings=openings).rows

    timings = bench.in_turns(lambda: rate_all(openings=True), lambda: rate_all(openings=False), rounds=9)
    bench.at_most(1.05, "ratings of 50 agents that look for lopsided positions", timings.ratio, " times those that do not")


def test_200_agents_are_paired_within_half_a_second(bench: "Bench") -> None:
    """The tenth round of a Swiss tournament with 200 agents, in which no two agents meet again, takes at most 0.5 s."""
    rng = random.Random(1)
    lots = draw_lots([f"agent {k}" for k in range(200)], rng)
    history: list[Encounter[str]] = []
    for _ in range(9):
        history += [Encounter(one, two, rng.choice((0, 0.5, 1))) for one, two in swiss_round(lots, history)]
    timings = bench.in_turns(lambda: swiss_round(lots, history), lambda: swiss_round(lots, []), rounds=3)
    bench.at_most(0.5, "tenth Swiss round of 200 agents", min(timings.ours), " s", first_round=f"{min(timings.theirs):.3f} s")
