import math
import random
from collections.abc import Collection
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from arena.stats.elo import ELO, expected_score
from arena.stats.ratings import Ratings, rate
from arena_ladder.design import next_pairs, pairs_below_floor
from tests.ladder.simulation import DRAWS, Played, ideal, ladder, round_robin, strengths


def played(agents: int, rounds: int, seed: int, left_out: Collection[int | tuple[int, int]] = ()) -> Played:
    """Let every two play, except for some agents or pairs."""
    truth, rng, found = strengths(agents, seed), random.Random(seed), Played()
    for one, other in combinations(range(agents), 2):
        for _ in range(rounds):
            if not {one, other, (one, other)} & set(left_out):
                found.add(rng, one, other, truth[one] - truth[other])
    return found


def rated(found: Played, agents: int) -> Ratings[int]:
    return rate(found.results, range(agents), anchor=0)


def summed_variance(found: Ratings[int], wanted: list[int], more: tuple[int, int]) -> float:
    """The variances of the leads of some over agent 0, after one more pair of games: by inverting the whole information.

    Everybody but agent 0 has the information of a virtual draw.
    """
    information = found.information + 0.25 * np.eye(len(found.agents))
    one, other = more
    expected = expected_score((found.strengths[one] - found.strengths[other]) * ELO)
    step = np.zeros(len(information))
    step[one], step[other] = 1, -1
    information += 2 * expected * (1 - expected) * np.outer(step, step)
    leads = np.linalg.inv(information[1:, 1:])  # agent 0 is the zero of the scale
    return float(sum(leads[k - 1, k - 1] for k in wanted))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_first_pair_reduces_the_variances_most(seed: int) -> None:
    """Brute force adds each pair to the information matrix and inverts it."""
    found = rated(played(6, 2, seed), 6)
    wanted = [1, 3, 5]
    after = {both: summed_variance(found, wanted, both) for both in combinations(range(6), 2)}
    assert next_pairs(found, 0, wanted, range(6), 1) == [min(after, key=lambda both: after[both])]
    without = {both: value for both, value in after.items() if 0 not in both}
    assert next_pairs(found, 0, wanted, [1, 2, 3, 4, 5], 1) == [min(without, key=lambda both: without[both])]


def test_no_agent_is_in_more_than_half_of_the_pairs_of_a_plan() -> None:
    found = rated(played(8, 1, 4), 8)
    pairs = next_pairs(found, 0, range(1, 8), range(8), 8)
    assert len(pairs) == 8
    assert max(sum(agent in both for both in pairs) for agent in range(8)) == 4


def test_the_only_two_agents_meet_although_each_is_in_more_than_half_of_the_pairs() -> None:
    found = rated(Played(), 2)
    assert next_pairs(found, 0, [1], range(2), 3) == [(0, 1)] * 3


def test_a_new_agent_plays_first() -> None:
    found = rated(played(8, 30, 5, [7]), 8)
    assert all(7 in both for both in next_pairs(found, 0, range(1, 8), range(8), 4)[:2])


def test_pairs_that_would_only_repeat_games_are_not_planned() -> None:
    found = rated(played(4, 1, 6), 4)
    assert set(next_pairs(found, 0, [1, 2, 3], range(4), 6, [(0, 1), (0, 2), (0, 3), (2, 3)])) <= {(1, 2), (1, 3)}
    assert next_pairs(found, 0, [1, 2, 3], range(4), 6, list(combinations(range(4), 2))) == []


def test_pairs_with_few_games_are_planned_again() -> None:
    """The strongest and the weakest agent learn least from each other, but they are paired until they have played twice."""
    truth = strengths(6, 3)
    weakest, best = sorted((int(np.argmin(truth)), int(np.argmax(truth))))
    games = played(6, 8, 3, [(weakest, best)])
    found, met = rated(games, 6), games.met
    assert (weakest, best) not in next_pairs(found, 0, range(1, 6), range(6), 8)
    assert pairs_below_floor(found, met, range(1, 6), range(6), 2) == [(weakest, best)]
    assert pairs_below_floor(found, {**met, (weakest, best): 1}, range(1, 6), range(6), 2) == [(weakest, best)]
    assert pairs_below_floor(found, {**met, (weakest, best): 2}, range(1, 6), range(6), 2) == []
    assert pairs_below_floor(found, met, range(1, 6), range(6), 2, [(best, weakest)]) == []
    assert pairs_below_floor(found, {}, [1], [0, 1, 2], 9) == sorted([(0, 1), (1, 2)], key=lambda both: _apart(found, both))


def _apart(found: Ratings[int], both: tuple[int, int]) -> float:
    return float(abs(found.strengths[both[0]] - found.strengths[both[1]]))


@pytest.mark.parametrize(("wanted", "playing"), [([], [0, 1, 2, 3]), ([1, 2], [1])])
def test_no_match_is_planned_if_it_cannot_add_information(wanted: list[int], playing: list[int]) -> None:
    assert next_pairs(rated(played(4, 1, 6), 4), 0, wanted, playing, 4) == []


def test_a_ladder_needs_fewer_games_than_a_round_robin_and_few_more_than_the_ideal_design() -> None:
    """This test uses 16 agents. The benchmark does the same with 40 agents, which takes two minutes."""
    truth = strengths(16, 11)
    course = ladder(truth, 75, 1)
    low, high = ideal(truth, 75, 4000)
    assert low == pytest.approx(high, rel=0.001)
    assert course.games <= 1.3 * low
    assert course.games <= 0.62 * round_robin(truth, 75, 1)
    assert max(course.widths.values()) <= 75


def test_the_interval_of_a_new_agent_is_near_the_information_bound_after_60_games() -> None:
    """The bound assumes 60 games against equal agents with 20 % draws. A game gives the information 1 / (4 (1 - draws))."""
    agents, settled = 12, 60
    truth: Any = strengths(agents, 3)
    games = played(agents, settled, 3)
    newcomer, rng = agents, random.Random(8)
    strength = 150.0
    bound = 1.959964 * ELO / math.sqrt(60 / (1 - DRAWS) / 4)
    for _ in range(30):
        found = rated(games, agents + 1)
        ((one, other),) = next_pairs(found, 0, [newcomer], range(agents + 1), 1)
        lead = (strength if one == newcomer else truth[one]) - (strength if other == newcomer else truth[other])
        games.add(rng, one, other, lead)
    assert sum(pairs for both, pairs in games.met.items() if newcomer in both) == 30
    row = next(row for row in rated(games, agents + 1).rows if row.agent == newcomer)
    assert row.low is not None
    assert row.high is not None
    assert (row.high - row.low) / 2 <= 1.2 * bound
    assert bound == pytest.approx(78.6, abs=0.1)
