"""The order in which agents attempt a position is drawn from the seed."""

import random
from collections import Counter
from itertools import pairwise, permutations
from typing import Any

from scipy import stats  # type: ignore[import-untyped]

from arena.schedule.schedule import Batch, Schedule, Scheduled
from arena.spec import load_spec

AGENTS: list[Any] = [{"agent": "a-star", "label": "one"}, {"agent": "a-star", "label": "two"}, "greedy"]
PUZZLE = {"game": "sliding-tiles", "rounds": 1200, "agents": AGENTS}


def list_schedule(spec: dict[str, Any], size: int = 7) -> list[Scheduled]:
    """The matches in the order in which a schedule hands them out."""
    schedule = Schedule(load_spec(spec))
    found: list[Scheduled] = []
    while (batch := schedule.take(size)) is not Batch.OVER:
        found += batch
    return found


def entries_by_round(matches: list[Scheduled]) -> dict[int, tuple[int, ...]]:
    orders: dict[int, tuple[int, ...]] = {}
    for one in matches:
        orders[one.pairing.round] = (*orders.get(one.pairing.round, ()), *one.pairing.seats)
    return orders


def test_every_order_of_entries_is_equally_likely() -> None:
    matches = list_schedule(PUZZLE)
    assert [one.pairing.round for one in matches] == sorted(one.pairing.round for one in matches)
    counts = Counter(entries_by_round(matches).values())
    assert counts.keys() == set(permutations(range(3)))
    assert stats.chisquare(list(counts.values())).pvalue > 0.001
    followed = Counter((one.pairing.seats, two.pairing.seats) for one, two in pairwise(matches) if one.pairing.seats == (2,))
    assert stats.chisquare([followed[(2,), (0,)], followed[(2,), (1,)]]).pvalue > 0.001, (
        "both follow the slow agent equally often"
    )


def test_the_order_does_not_change_numbers_and_ids() -> None:
    spec = load_spec({**PUZZLE, "rounds": 20})
    matches = list_schedule({**PUZZLE, "rounds": 20})
    assert sorted(one.number for one in matches) == list(range(60))
    assert all(one.number == 3 * one.pairing.round + one.pairing.seats[0] for one in matches)
    assert len({one.match_id(spec) for one in matches}) == 60


def test_the_order_depends_only_on_the_seed() -> None:
    spec = {**PUZZLE, "rounds": 30, "seed": 5}
    assert list_schedule(spec, 1) == list_schedule(spec, 50)
    assert list_schedule(spec) != list_schedule({**spec, "seed": 6})
    games = {**spec, "games": ["sliding-tiles", "pancake"]}
    games.pop("game")
    both = list_schedule(games)
    assert entries_by_round(both[:90]) != entries_by_round(both[90:])
    assert len(list_schedule({**spec, "seed": "secret"})) == 90


def test_only_games_with_one_seat_have_a_drawn_order() -> None:
    alone = list_schedule({"game": "2048", "rounds": 30, "agents": ["random", "greedy"]})
    assert len(set(entries_by_round(alone).values())) == 2
    versus = list_schedule({"game": "tic-tac-toe", "rounds": 30, "agents": ["random", "greedy", "mcts"]})
    assert [one.number for one in versus] == list(range(180))


def test_the_order_does_not_bias_times() -> None:
    """A decision takes twice as long after the slow agent. scipy's t-test distinguishes two equal agents in at most 5 % of
    runs.
    """
    rng, runs, false = random.Random(1), 200, 0
    for seed in range(runs):
        matches = list_schedule({**PUZZLE, "rounds": 40, "seed": seed}, 200)
        leads = dict.fromkeys(range(40), 0.0)
        for before, one in pairwise([matches[-1], *matches]):
            penalty = 0.7 if before.pairing.seats == (2,) else 0.0
            leads[one.pairing.round] += (1, -1, 0)[one.pairing.seats[0]] * (rng.gauss(0, 0.2) + penalty)
        false += stats.ttest_1samp(list(leads.values()), 0).pvalue <= 0.05
    assert false <= stats.binom.ppf(0.999, runs, 0.05)
