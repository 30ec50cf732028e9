"""How long ratings with intervals, and Swiss pairings, take."""

import random
from itertools import combinations
from typing import TYPE_CHECKING

from arena.stats.bradley_terry import chances, fit
from arena.stats.intervals import rate
from arena.stats.observations import Pair, Pairings, table_of
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
    """1,000 bootstrap samples of 50 agents and 100,450 games, the point estimate and all intervals included: at most 2 s."""
    pairings = _pairings(50, 41)
    timings = bench.in_turns(lambda: rate(pairings, rng=random.Random(1)).rows, lambda: fit(table_of(pairings)), rounds=5)
    bench.at_most(
        2, "ratings of 50 agents, 1,000 samples", min(timings.ours), " s", point_estimate_alone=f"{min(timings.theirs):.2f} s"
    )


def test_looking_for_lopsided_positions_takes_a_twentieth_of_a_rating(bench: "Bench") -> None:
    """Of the same agents, who show none: at most 1.05 times the time of ratings that do not look."""
    pairings = _pairings(50, 41)

    def rate_all(*, openings: bool) -> None:
        assert rate(pairings, rng=random.Random(1), openings=openings).rows

    timings = bench.in_turns(lambda: rate_all(openings=True), lambda: rate_all(openings=False), rounds=9)
    bench.at_most(1.05, "ratings of 50 agents that look for lopsided positions", timings.ratio, " times those that do not")


def test_200_agents_are_paired_within_half_a_second(bench: "Bench") -> None:
    """The tenth round of a Swiss tournament of 200 agents, no meeting repeated: at most 0.5 s."""
    rng = random.Random(1)
    lots = draw_lots([f"agent {k}" for k in range(200)], rng)
    history: list[Encounter[str]] = []
    for _ in range(9):
        history += [Encounter(one, two, rng.choice((0, 0.5, 1))) for one, two in swiss_round(lots, history)]
    timings = bench.in_turns(lambda: swiss_round(lots, history), lambda: swiss_round(lots, []), rounds=3)
    bench.at_most(0.5, "tenth Swiss round of 200 agents", min(timings.ours), " s", first_round=f"{min(timings.theirs):.3f} s")
