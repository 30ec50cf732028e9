"""Rounds from the same position count once in tests and intervals."""

from itertools import product

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

import arena
from arena.results.contrasts import compare_returns, compare_rounds, compare_values, contrast
from arena.results.leaderboard import Leaderboard
from arena.results.tally import Facts, MeanReturns, Tally
from arena.schedule.board_info import BoardInfo
from arena.stats.clustered import LoneMatches, RoundValues, effective_size, group_values
from arena.stats.paired import mean_interval_of, test_groups
from arena.stats.shares import wilson


def play(places: list[int], solved: dict[int, list[bool]], *, drew: bool = False, kind: str = "puzzle") -> Tally:
    """Count attempts: `places` has the position of each round, and `solved` the results of each entry."""
    labels = tuple([f"agent {entry}" for entry in solved])
    tally = Tally(BoardInfo("a board", {"name": "a game"}, kind, labels, len(places) * len(labels), True))  # type: ignore[arg-type]
    for round_, place in enumerate(places):
        tally.lone.add_position(round_, place)
        for entry, results in solved.items():
            got = results[round_]
            tally.count(Facts((entry,), (float(got),), "normal", None, got if kind == "puzzle" else None))
            tally.add_game(round_, (entry,), (float(got),), 10 * place + got, drew, None)
            if kind == "puzzle":
                tally.attempts[entry].add(round_, solved=got, moves=None, cost=None, nodes=10 + place + entry, seconds=0.01)
    return tally


def test_deterministic_attempts_at_one_position_are_one_observation() -> None:
    tally = play([5] * 200, {0: [True] * 200, 1: [False] * 200})
    found = contrast(tally)
    assert (found.tests, found.get(0, 1, "solved")) == (0, None)
    assert found.level() == {0: (1,), 1: (0,)}
    board = Leaderboard.of(tally, finished=True)
    assert [(row["solved"], row["solved_low"], row["solved_high"]) for row in board.rows] == [(1, None, None), (0, None, None)]
    assert (
        "All games start from the same position, and repeated games give no new information about the agents." in board.remarks[0]
    )


def test_random_attempts_at_one_position_are_separate_observations() -> None:
    """30 of 40 solved against 40 of 40 is McNemar's test of 10 against 0."""
    places, some = [5] * 40, [round_ % 4 > 0 for round_ in range(40)]
    tally = play(places, {0: some, 1: [True] * 40}, drew=True)
    found = contrast(tally).get(0, 1, "solved")
    assert found is not None
    assert found.p_value == pytest.approx(stats.binomtest(0, 10).pvalue)
    row = Leaderboard.of(tally, finished=True).rows[1]
    assert (row["solved_low"], row["solved_high"]) == wilson(30, 40)


def test_repeating_all_positions_changes_no_test() -> None:
    mine, theirs = [round_ % 3 > 0 for round_ in range(12)], [round_ % 12 > 8 for round_ in range(12)]
    boards = []
    for times in (1, 3):
        tally = play([7, *range(20, 31)] * times, {0: mine * times, 1: theirs * times})
        found = contrast(tally)
        aspects = [found.get(0, 1, aspect) for aspect in ("solved", "nodes")]
        lone = play([7, *range(20, 31)] * times, {0: mine * times, 1: theirs * times}, kind="score").returns
        leads = compare_returns(lone, 0, 1)
        assert leads is not None
        rows = Leaderboard.of(tally, finished=True).rows
        shares = [row[key] for row in rows for key in ("solved", "solved_low", "solved_high")]
        boards.append([aspects, leads.lead, leads.test, leads.interval(), lone.of(0), shares])
    assert boards[0][0] == boards[1][0]
    for one, other in zip(boards[0][1:], boards[1][1:], strict=True):
        assert one == other or one == pytest.approx(other)


def test_repeats_of_a_position_share_one_sign() -> None:
    """The p-value is compared with an enumeration of all sign flips."""
    leads = [1.0, 1.0, 1.0, -0.5, 2.0, 2.0, 0.5, -1.0, 1.5]
    clusters = dict(enumerate([0, 0, 0, 3, 4, 4, 6, 7, 8]))
    groups = group_values(dict(enumerate(leads)), clusters, clusters)
    sums = [sum(group) for group in groups]
    flipped = [abs(sum(sign * one for sign, one in zip(signs, sums, strict=True))) for signs in product((1, -1), repeat=6)]
    expected = sum(total >= abs(sum(sums)) for total in flipped) / 2**6
    assert test_groups(groups).p_value == pytest.approx(expected)
    found = compare_rounds(dict(enumerate(leads)), dict.fromkeys(range(9), 0.0), clusters=(clusters, clusters))
    assert found is not None
    assert (found.lead, found.test.p_value) == pytest.approx((sum(leads) / 9, expected))
    assert found.values == pytest.approx([1.0, -0.5, 2.0, 0.5, -1.0, 1.5])
    assert test_groups([[1.0] * 200]) == (1.0, "")


def test_equal_agents_are_distinguished_in_at_most_5_percent_of_cases() -> None:
    """There are 15 positions, each attempted one to four times."""
    rng = np.random.default_rng(5)
    for alike in (True, False):
        false, missed, outside = 0, 0, 0
        for _ in range(600):
            sizes, levels = rng.integers(1, 5, size=15), rng.beta(2, 2, size=15)
            leads, shares = [], []
            for size, level in zip(sizes, levels, strict=True):
                extent = 1 if alike else size
                won, lost = np.resize(rng.random(extent) < level, size), np.resize(rng.random(extent) < level, size)
                leads.append(list(won.astype(float) - lost + np.resize(rng.normal(size=extent), size)))
                shares.append(list(won.astype(float)))
            false += test_groups(leads).p_value <= 0.05
            low, high = mean_interval_of([float(np.mean(one)) for one in leads], sizes=list(map(len, leads)))
            missed += not (low is not None and high is not None and low <= 0 <= high)
            size = effective_size(shares)
            share = float(np.mean(np.concatenate(shares)))
            low, high = wilson(size * share, size)
            outside += not low <= 0.5 <= high
        assert max(false, missed, outside) / 600 < 0.07
        assert min(false, missed, outside) / 600 > 0.02


def test_the_effective_size_follows_the_formula_of_kish() -> None:
    assert effective_size([[1.0], [0.0, 0.0], [1.0] * 3]) == pytest.approx(36 / 14)
    assert effective_size([]) == 0
    rng = np.random.default_rng(1)
    groups = [list(rng.normal(size=4)) for _ in range(200)]
    assert effective_size(groups) == pytest.approx(800, rel=0.1)
    within = np.repeat(rng.normal(size=400), 4).reshape(400, 4) + rng.normal(size=(400, 4))  # half of the variance is shared
    assert effective_size([list(row) for row in within]) == pytest.approx(1600 / (1 + 3 * 0.5), rel=0.1)


def test_only_repeated_positions_count_as_repeats_if_there_are_several_positions() -> None:
    matches = LoneMatches()
    for round_, place in enumerate([1, 2, 1, 2]):
        matches.add_position(round_, place)
        matches.add(0, round_, None)
    assert matches.find_repeats() == {(0,): {0: 0, 1: 1, 2: 0, 3: 1}}
    single = LoneMatches()
    for round_, play_hash in enumerate([4, 4, None, None]):
        single.add_position(round_, 1)
        single.add(0, round_, play_hash)
        single.add(1, round_, None)
    assert single.find_repeats() == {(0,): {0: 0, 1: 0, 2: 2, 3: 3}}


def test_values_that_only_some_rounds_have_are_tested_despite_repeated_games() -> None:
    """Every lead has the same sign, so p = 2 / 2^8. Rounds without a value are ignored."""
    returns = MeanReturns(3)
    for round_ in range(12):
        for seats in ((0, 1), (1, 0)):
            returns.add(round_, seats, (0.0, 0.0), play_hash=seats[0])
    found = []
    for beyond in (0.0, 50.0):
        values = [RoundValues(entry, returns.find_repeats()) for entry in range(3)]
        for round_ in range(12):
            for entry in (0, 1):
                values[entry].add(round_, 1.0, (entry, 1 - entry))
                values[entry].add(round_, 3.0 + round_ % 2 + beyond * (round_ > 7), (entry, 2))
            if round_ < 8:
                values[2].add(round_, 0.5, (0, 2))
        found.append(compare_values(values[0], values[2], paired=True))
    assert found[0] == found[1]
    assert found[0] is not None
    assert found[0].test.p_value == pytest.approx(2 / 2**8)


def test_attempts_from_a_random_start_are_separate_observations() -> None:
    """Each round of n-queens draws a start for local searches. Depth-first search ignores it, so its attempts repeat each
    other. The hill climber draws no other random numbers, and has Wilson's interval for all its attempts.
    """
    climber = {"agent": "hill-climb", "choice": "first", "label": "climber"}
    results = arena.run({"game": {"name": "n-queens", "n": 4}, "rounds": 40, "agents": [climber, "dfs"]})
    board = Leaderboard.of_results(results)[0]
    assert board.remarks[0].endswith("the same position, and repeated games give no new information about dfs.")
    row = next(row for row in board.rows if row["agent"] == "climber")
    assert (row["solved_low"], row["solved_high"]) == wilson(row["solved"] * 40, 40)
    results = arena.run({"game": {"name": "n-queens", "n": 4}, "rounds": 40, "agents": [climber]})
    assert "no new information" not in Leaderboard.of_results(results)[0].remarks[0]


@pytest.mark.parametrize(("agents", "which"), [([], ""), (["random"], " without random numbers")])
def test_games_of_agents_that_use_random_numbers_are_not_repeats(agents: list[str], which: str) -> None:
    results = arena.run(
        {"game": "tic-tac-toe", "rounds": 2, "agents": ["alpha-beta", "minimax", *agents], "limits": {"depth": 1}}
    )
    said = f"Repeated games{which} give no new information about the agents."
    assert said in Leaderboard.of_results(results)[0].remarks[0]
