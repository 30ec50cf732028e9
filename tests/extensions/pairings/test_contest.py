"""The best of several variants is found with a bounded error and few games, in simulated contests with known strengths."""

from collections import Counter
from collections.abc import Callable
from itertools import combinations, product

import numpy as np
import pytest

from arena.stats import expected_score
from arena_pairings.contest import Contest

ROUNDS_PER_LOOK = 4
LADDER = tuple(-60.0 * place for place in range(8))
"""These are eight variants, each 60 Elo below the one before it."""
AHEAD = (80.0, *[0.0] * 7)
"""One variant is better than seven equal ones."""
CONTESTS_AT_ONCE = 250


def play(
    elos: tuple[float, ...], contests: int, *, risk: float = 0.05, margin: float = 5.0, seed: int = 1
) -> tuple[Contest, int]:
    """Play contests to their ends, and return them with the number of games.

    Equal players draw half of their games. Each position favours one seat, in every game that is played from it.
    """
    draw = np.random.default_rng(seed)
    contest, games = Contest(len(elos), margin, risk, contests), 0
    strength = np.array(elos)
    while (contest.answers < 0).any():
        going = (contest.answers < 0)[:, None] & contest.is_in
        for _ in range(ROUNDS_PER_LOOK):
            order = np.where(going, draw.random(going.shape), 2.0).argsort(axis=1)
            scores = np.full(going.shape, np.nan)
            favour = draw.normal(0, 100, contests)
            number = going.sum(axis=1)
            for place in range(0, len(elos), 2):
                both = np.flatnonzero(number > place + 1)
                one, two = order[both, place], order[both, place + 1]
                lead = strength[one] - strength[two]
                points = sum(_points(draw, lead + sign * favour[both]) for sign in (1, -1)) / 2
                scores[both, one], scores[both, two] = points, 1 - points
                games += 2 * len(both)
            alone = np.flatnonzero(number % 2)
            scores[alone, order[alone, number[alone] - 1]] = 0.5
            contest.add(scores)
        contest.look()
    return contest, games


def _points(draw: np.random.Generator, lead: np.ndarray) -> np.ndarray:
    """Draw points with the expected score of a lead. The share of draws is as large as possible with points of 0, 1/2 and 1."""
    mean = 1 / (1 + 10 ** (-lead / 400))
    drawn = np.minimum(mean, 1 - mean)
    chance = draw.random(len(lead))
    return np.where(chance < mean - drawn / 2, 1.0, np.where(chance < mean + drawn / 2, 0.5, 0.0))


@pytest.mark.parametrize("contests", [10, pytest.param(2000, marks=pytest.mark.proof)])
@pytest.mark.parametrize(("elos", "margin"), [(LADDER, 5.0), (AHEAD, 60.0)])
def test_the_best_of_eight_is_found_with_few_games(
    elos: tuple[float, ...], margin: float, contests: int, record_property: Callable[[str, object], None]
) -> None:
    """The error is at most 5 %. A test of each of the 28 pairs, with this error each, needs more than 2.5 times as many games.

    Separate tests would need still more games if they shared the error of the contest.
    """
    wrong, games, separate = 0, 0, 0
    for start in range(0, contests, CONTESTS_AT_ONCE):
        number = min(CONTESTS_AT_ONCE, contests - start)
        contest, played = play(elos, number, margin=margin, seed=start)
        wrong += sum(max(elos) - elos[answer] > margin for answer in contest.answers)
        games += played
        gaps = Counter(one - two for one, two in combinations(elos, 2)) if elos == LADDER else {}
        for gap, pairs in gaps.items():
            separate += pairs * play((gap, 0.0), number, margin=margin, seed=start)[1]
    record_property("wrong answers", f"{wrong} of {contests:,}")
    assert wrong <= 0.05 * contests
    if elos == LADDER:
        record_property("games", f"{games / separate:.0%} of the games of 28 separate tests")
        assert games <= 0.4 * separate


def test_few_contests_of_equal_players_are_wrong() -> None:
    """The test plays all 4,096 sequences of 12 decided pairs. In a fair game the mean capital of the bets stays 1, so at most
    5 % of the contests are wrong.
    """
    courses = np.array(list(product((0.0, 1.0), repeat=12)))
    contest = Contest(2, 5.0, 0.05, len(courses))
    for scores in courses.T:
        contest.add(np.column_stack([scores, 1 - scores]))
        contest.look()
    capital = np.exp(contest._capital[0, :, 0, 1]).mean(axis=-1)
    assert capital.mean() == pytest.approx(1)
    assert 0 < contest.is_better[:, 0, 1].mean() <= 0.05
    assert not (contest.is_better & ~contest.is_no_worse).any()


def test_an_agent_that_wins_every_pair_is_the_best_after_the_expected_number_of_pairs() -> None:
    """Each of eight bets grows by its share of the lead. The contest ends when their mean passes 20, which is 1 / 5 %."""
    edge = expected_score(5) - 0.5
    bets = [0.9 / 2**place / (1 + 2 * edge) for place in range(8)]
    needed = next(pairs for pairs in range(1, 99) if sum((1 + bet) ** pairs for bet in bets) / 8 >= 20)
    contest, pairs = Contest(2, 5.0), 0
    while contest.is_in.all():
        contest.add(np.array([[1.0, 0.0]]))
        contest.look()
        pairs += 1
    assert (pairs, contest.answers.tolist(), contest.is_in.tolist()) == (needed, [0], [[True, False]])


def test_no_variant_is_eliminated_if_they_beat_each_other_in_a_cycle() -> None:
    """Each of the three variants beats the next one and loses to the one before, so none is better than another."""
    contest = Contest(3, 5.0)
    for round_ in range(600):
        one = round_ % 3
        scores = np.full((1, 3), 0.5)
        scores[0, one], scores[0, (one + 1) % 3] = 1.0, 0.0
        contest.add(scores)
        contest.look()
    assert contest.is_in.all()
