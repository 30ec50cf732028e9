"""How long ratings with intervals, and Swiss pairings, take."""

import random
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest

from arena.stats.elo import expected_score
from arena.stats.observations import GameResults
from arena.stats.ratings import rate
from arena_pairings.swiss_pairing import Encounter, draw_lots, swiss_round

if TYPE_CHECKING:
    from tests.bench.conftest import Bench


def _games(agents: int, pairs: int) -> GameResults[str]:
    rng, games = random.Random(1), GameResults[str]()
    strength = {f"agent {k}": rng.gauss(0, 140) for k in range(agents)}
    for one, two in combinations(strength, 2):
        share = expected_score(strength[one] - strength[two])
        for number in range(pairs):
            games.add_pair(number, one, two, (rng.random() < share) + (rng.random() < share))
    return games


def test_fifty_agents_are_rated_within_two_seconds(bench: "Bench") -> None:
    """With 50 agents and 100,450 games, ratings with all intervals take at most 2 s."""
    games = _games(50, 41)
    timings = bench.in_turns(lambda: rate(games).rows, lambda: rate(games), rounds=5)
    bench.at_most(2, "ratings of 50 agents", min(timings.ours), " s", without_intervals=f"{min(timings.theirs):.2f} s")


def test_ten_million_games_of_129_agents_are_rated_in_twice_the_time_of_evalica(bench: "Bench") -> None:
    """Both compute Bradley-Terry ratings from the same 129 x 129 counts in memory, each in its own format."""
    evalica = pytest.importorskip("evalica", reason="evalica is not installed", exc_type=ImportError)
    rng, agents, games = np.random.default_rng(1), 129, 10**7 // (129 * 64)
    strength = rng.normal(0, 140, agents)
    results: GameResults[int] = GameResults()
    rows = []
    for one, two in combinations(range(agents), 2):
        wins = int(rng.binomial(games, expected_score(strength[one] - strength[two])))
        results.add_pair(0, one, two, wins, games)
        rows += [(one, two, evalica.Winner.X, float(wins)), (one, two, evalica.Winner.Y, float(games - wins))]
    ones, twos, winners, weights = map(list, zip(*rows, strict=True))

    def theirs() -> object:
        return evalica.bradley_terry(ones, twos, winners, weights=weights).scores

    timings = bench.in_turns(lambda: rate(results), theirs, rounds=21)
    mine, peer = [f"{seconds * 1e3:.0f} ms" for seconds in timings.best]
    bench.at_most(2, "10 million games of 129 agents / evalica", timings.ratio, "x", ours=mine, evalica=peer)


def test_200_agents_are_paired_within_half_a_second(bench: "Bench") -> None:
    """The tenth round of a Swiss tournament with 200 agents, in which no two agents meet again, takes at most 0.5 s."""
    rng = random.Random(1)
    lots = draw_lots([f"agent {k}" for k in range(200)], rng)
    history: list[Encounter[str]] = []
    for _ in range(9):
        history += [Encounter(one, two, rng.choice((0, 0.5, 1))) for one, two in swiss_round(lots, history)]
    timings = bench.in_turns(lambda: swiss_round(lots, history), lambda: swiss_round(lots, []), rounds=3)
    bench.at_most(0.5, "tenth Swiss round of 200 agents", min(timings.ours), " s", first_round=f"{min(timings.theirs):.3f} s")
