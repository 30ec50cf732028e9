"""The decision for each pair of entries: error rates, and the same decision in boards, pages and comparisons."""

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, product
from math import sqrt
from operator import mul
from statistics import fmean
from typing import Any

import pytest
from scipy import stats  # type: ignore[import-untyped]

import arena
from arena.format import Placing
from arena.formats import arena_formats
from arena.results.contrasts import Contrast, Contrasts, compare_returns, compare_rounds, compare_values, contrast, placing_merits
from arena.results.leaderboard import Leaderboard
from arena.results.rating import Strengths
from arena.results.tally import Facts, MeanReturns, Tally
from arena.schedule.board_info import BoardInfo
from arena.stats import PairedShares, difference_interval, effective_size
from arena.stats.clustered import RoundValues
from tests.core.results.one_by_one import count_one_by_one

BOARDS = 100
"""The number of simulated boards. At most 5 % of them may have a false claim: 5, and up to 11 by chance."""
MOST = 5 + 3 * sqrt(5)


@pytest.mark.parametrize(("p_value", "better"), [(0.0499, 1), (0.05, 1), (0.0501, 0)])
def test_a_test_rejects_at_its_level(p_value: float, better: int) -> None:
    """A test of level 0.05 rejects if p is at most 0.05. Then, and only then, the interval of the difference leaves out 0."""
    found = Contrast(0.2, p_value, "any", p_value)
    assert (found.better, found.swapped().better) == (better, -better)


def sheet(kind: Any, entries: int) -> BoardInfo:
    labels = tuple([f"agent {entry}" for entry in range(entries)])
    return BoardInfo("game", {"name": "game"}, kind, labels, 1000, exact=True, has_chance=True, returns=(-1.0, 1.0))


def solvers(rng: random.Random, speeds: list[float], positions: int = 20) -> Tally:
    """A puzzle board on which every solver takes nodes and moves by lot, times its speed."""
    tally = Tally(sheet("puzzle", len(speeds)))
    for round_ in range(positions):
        hard = rng.lognormvariate(8, 2)
        for entry, speed in enumerate(speeds):
            solved, moves, nodes = rng.random() < 0.8, float(rng.randrange(20, 26)), speed * hard * rng.lognormvariate(0, 0.5)
            seconds = nodes * 1e-5 * rng.lognormvariate(0, 0.2)
            tally.count(Facts((entry,), (1.0,), "normal", None, solved, moves=int(moves) * solved, moves_of=int(solved)))
            tally.add_effort(entry, 1, int(nodes), seconds)
            tally.attempts[entry].add(round_, solved=solved, moves=moves, cost=moves, nodes=nodes, seconds=seconds)
    return tally


def games(rng: random.Random, entries: int, rounds: int) -> Tally:
    """A round robin of equals that win, draw and lose by lot."""
    tally = Tally(sheet("versus", entries))
    for round_ in range(rounds):
        for one, two in combinations(range(entries), 2):
            for seats in ((one, two), (two, one)):
                got = rng.choice((1.0, 1.0, 0.0, -1.0))  # the first seat is the better one
                tally.count(Facts(seats, (got, -got), "normal", None, None))
                tally.add_game(round_, seats, (got, -got), rng.getrandbits(60), drew=True, adjusted=None)
    return tally


def claims(tally: Tally) -> int:
    found = contrast(tally)
    aspects = ("rating", "games", "return", "solved", "moves", "nodes", "seconds")
    pairs = combinations(range(len(tally.counts)), 2)
    tested = [found.get(*pair, aspect) for pair in pairs for aspect in aspects]  # type: ignore[arg-type]
    return sum(one is not None and one.better != 0 for one in tested)


def test_six_equal_solvers_are_rarely_distinguished() -> None:
    """At most 5 % of boards distinguish any of them in 60 tests."""
    rng = random.Random(1)
    assert sum(claims(solvers(rng, [1.0] * 6)) > 0 for _ in range(BOARDS)) <= MOST


def test_ten_equal_agents_are_rarely_distinguished() -> None:
    """At most 5 % of boards distinguish any of them, in 45 tests of ratings and 45 of pairings."""
    rng = random.Random(2)
    assert sum(claims(games(rng, 10, 12)) > 0 for _ in range(40)) <= 2 + 3 * sqrt(2)


def test_on_boards_too_large_for_ratings_each_pair_is_compared_by_its_own_games() -> None:
    """The first entry wins all six pairs against the second, the third draws with the fourth, and others have not met."""
    tally = Tally(sheet("versus", Strengths.MAX_ENTRIES + 1))
    for round_ in range(6):
        for one, two, got in ((0, 1, 1.0), (2, 3, 0.0)):
            for seats, first in (((one, two), got), ((two, one), -got)):
                tally.count(Facts(seats, (first, -first), "normal", None, None))
                tally.add_game(round_, seats, (first, -first), 2 * round_ + one, drew=True, adjusted=None)
    board = Leaderboard.of(tally, finished=True)
    assert (board.cross, {row["rating"] for row in board.rows}) == (None, {None})
    assert "No ratings: they are computed for at most 200 agents." in " ".join(board.remarks)
    found = contrast(tally)
    assert (found.tests, found.deciding(4, 5)) == (1, None)
    won, drawn = found.deciding(0, 1), found.deciding(2, 3)
    assert won is not None
    assert won.p_value == pytest.approx(2 / 2**6)
    assert won.better == 1
    assert drawn is not None
    assert drawn.better == 0


def test_games_with_too_many_seats_and_ties_are_not_rated() -> None:
    """If 12 entries tie for the first place of 13, any of 4,095 groups of them may be the best."""
    ratings = []
    for tied in (1, 12, 13):
        tally = Tally(sheet("versus", 14))
        for round_ in range(40):
            seats = tuple([(round_ + seat) % 14 for seat in range(14)])
            returns = tuple([0.0 if seat < tied else -float(seat) for seat in range(14)])
            tally.count(Facts(seats, returns, "normal", None, None))
            tally.add_game(round_, seats, returns, round_, drew=True, adjusted=None)
        board = Leaderboard.of(tally, finished=True)
        ratings.append(any(row["rating"] is not None for row in board.rows))
        assert ("with so many seats and ties in the games" in " ".join(board.remarks)) != ratings[-1]
    assert ratings == [True, False, False]


@pytest.mark.parametrize("kind", ["puzzle", "score"])
def test_no_pair_is_tested_on_a_board_with_too_many_entries(kind: str) -> None:
    entries = Strengths.MAX_ENTRIES + 1
    tally = solvers(random.Random(3), [1.0] * entries, positions=3)
    if kind == "score":
        tally = Tally(sheet("score", entries))
        for round_, entry in product(range(3), range(entries)):
            tally.count(Facts((entry,), (float(entry),), "normal", None, None))
            tally.add_game(round_, (entry,), (float(entry),), round_, drew=True, adjusted=None)
    board = Leaderboard.of(tally, finished=True)
    assert "No tests of differences: pairs of agents are compared only on boards with at most 200 agents." in board.remarks
    assert contrast(tally, entries=[0, 7, 9]).tests <= 3 * 5
    assert contrast(tally, entries=[0, 7, 9]).level().keys() == {0, 7, 9}


def test_pairings_with_only_draws_are_not_tested() -> None:
    """Two entries draw all their games. The three ratings and the games against the third entry are tested."""
    rng = random.Random(5)
    tally = Tally(sheet("versus", 3))
    for round_ in range(12):
        for one, two in combinations(range(3), 2):
            for seats in ((one, two), (two, one)):
                got = 0.0 if two == 1 else rng.choice((1.0, 0.0, -1.0))
                tally.count(Facts(seats, (got, -got), "normal", None, None))
                tally.add_game(round_, seats, (got, -got), rng.getrandbits(60), drew=True, adjusted=None)
    found = contrast(tally)
    assert found.tests == 3 + 2
    level = found.get(0, 1, "games")
    assert level is not None
    assert (level.lead, level.p_value_holm, level.better) == (0, 1, 0)


def test_solvers_are_distinguished_by_the_measure_that_ranks_them() -> None:
    """Both solvers need equally many moves, but one needs a tenth of the nodes."""
    rng = random.Random(3)
    tally = Tally(sheet("puzzle", 3))
    nodes: list[list[float]] = [[], [], []]
    for round_ in range(30):
        hard = rng.lognormvariate(6, 2)
        for entry, speed in enumerate((1.0, 0.1, 1.0)):
            used = int(hard * speed * rng.lognormvariate(0, 0.1)) + 1
            nodes[entry].append(used)
            tally.count(Facts((entry,), (1.0,), "normal", None, solved=True, moves=20, moves_of=1))
            tally.add_effort(entry, 1, used, used * 1e-5)
            tally.attempts[entry].add(round_, solved=True, moves=20.0, cost=20.0, nodes=used, seconds=used * 1e-5)
    found = contrast(tally)
    assert found.level() == {0: (2,), 1: (), 2: (0,)}
    decided = found.deciding(0, 1)
    assert decided is not None
    assert decided == found.get(0, 1, "nodes")
    assert decided.better == -1
    assert decided.lead == pytest.approx(-found.get(1, 0, "nodes").lead)  # type: ignore[union-attr]
    assert found.get(0, 1, "moves") is None  # equal everywhere, so there is nothing to test
    assert found.tests == 6  # nodes and seconds of three pairs


def test_searches_that_solve_everything_are_ranked_by_nodes() -> None:
    """The searches are A* with three heuristics, from uninformed to well informed."""
    agents = [{"agent": "a-star", "heuristic": name} for name in ("linear-conflict", "manhattan", "misplaced")]
    [board] = Leaderboard.of_results(
        arena.run({"game": {"name": "sliding-tiles", "shuffle": 40}, "rounds": 40, "agents": agents})
    )
    assert [row["solved"] for row in board.rows] == [1, 1, 1]
    assert [row["agent"] for row in board.rows] == [f"a-star({name})" for name in ("linear-conflict", "manhattan", "misplaced")]
    assert not any(row.get("level_with") for row in board.rows)
    assert "Ranked by solved attempts, then by mean cost of solutions, then by nodes." in board.remarks


def test_puzzles_in_which_the_path_does_not_matter_are_ranked_by_nodes() -> None:
    """A sudoku has one solution. Steps of backtracking neither rank the board nor count as tests."""
    agents: list[Any] = ["backtracking", {"agent": "backtracking", "order": "first", "label": "first"}, "a-star"]
    spec = {"game": {"name": "sudoku", "cell": "first"}, "rounds": 4, "agents": agents, "limits": {"nodes": 100_000}}
    results = arena.run(spec)
    nodes = dict.fromkeys(("backtracking", "first", "a-star"), 0)
    for record in results.records:
        assert record.solved
        nodes[record.labels[0]] += sum([one.nodes for one in record.decisions])
    [board] = Leaderboard.of_results(results)
    assert [row["agent"] for row in board.rows] == sorted(nodes, key=lambda label: nodes[label])
    assert board.rows[-1]["mean_moves"] != max([row["mean_moves"] for row in board.rows])
    assert "Ranked by solved attempts, then by nodes." in board.remarks
    tally = Tally(board.sheet)
    count_one_by_one(tally, [(one.number, one.pairing, one.record) for one in results.played])
    found = contrast(tally)
    assert found.tests == 6
    for one, other in combinations(range(3), 2):
        assert (found.get(one, other, "moves"), found.get(one, other, "cost")) == (None, None)
        deciding = found.deciding(one, other)
        assert deciding is None or deciding == found.get(one, other, "nodes")


def test_two_equal_searches_are_not_distinguished() -> None:
    agents: list[Any] = [{"agent": "bfs", "label": "one"}, {"agent": "bfs", "label": "two"}, "a-star"]
    spec = {"game": {"name": "sliding-tiles", "shuffle": 20}, "rounds": 20, "agents": agents}
    [board] = Leaderboard.of_results(arena.run(spec))
    assert {row["agent"]: row["level_with"] for row in board.rows} == {"a-star": [], "one": ["two"], "two": ["one"]}
    [told] = [remark for remark in board.remarks if remark.startswith("~ :")]
    assert "sign flips, with Holm's correction for" in told


def test_returns_are_tested_by_round() -> None:
    """Rounds that both agents played are paired. If they share few rounds, the means are compared, as in scipy."""
    rng = random.Random(4)
    luck = {round_: rng.gauss(0, 5) for round_ in range(500)}
    mine = {round_: luck[round_] + rng.gauss(0.3, 1) for round_ in luck}
    theirs = {round_: luck[round_] + rng.gauss(0, 1) for round_ in luck}
    found = compare_rounds(mine, theirs)
    assert found is not None
    leads = [mine[round_] - theirs[round_] for round_ in luck]
    assert (found.rounds, found.test.name) == (500, "Student's t")
    assert found.test.p_value == pytest.approx(stats.ttest_1samp(leads, 0).pvalue)
    apart = compare_rounds(mine, {round_ + 450: value for round_, value in theirs.items()})
    assert apart is not None
    expected = stats.ttest_ind(list(mine.values()), list(theirs.values()), equal_var=False)
    assert apart.lead == pytest.approx(sum(mine.values()) / 500 - sum(theirs.values()) / 500)
    assert apart.test.p_value == pytest.approx(expected.pvalue, rel=0.1)
    assert compare_rounds(mine, {}) is None
    both = compare_rounds(mine, {round_ + 450: value for round_, value in theirs.items()}, paired=True)
    assert both is not None
    paired = stats.ttest_rel([mine[450 + number] for number in range(50)], [theirs[number] for number in range(50)])
    assert both.rounds == 50
    assert both.test.p_value == pytest.approx(paired.pvalue, rel=0.1)
    assert compare_rounds(mine, {-1: 1.0}, paired=True) is None


def test_differences_of_solved_shares_have_tangos_interval() -> None:
    """Two rounds of 22 that only one of the entries solved are not significant. Repeats do not count as additional rounds."""
    mine, theirs = dict.fromkeys(range(22), 1.0), {round_: float(round_ > 1) for round_ in range(22)}
    found = compare_rounds(mine, theirs)
    assert found is not None
    assert (found.lead, found.test.p_value) == pytest.approx((2 / 22, 0.5))
    assert found.test.name == "McNemar's exact test"
    assert found.interval() == difference_interval(PairedShares(20, 2, 0, 0))
    assert found.interval()[0] < -0.05  # type: ignore[operator]
    repeated = compare_rounds(mine, theirs, clusters=({round_: round_ // 2 for round_ in range(22)},) * 2)
    assert repeated is not None
    halves = [[mine[round_] - theirs[round_] for round_ in (2 * place, 2 * place + 1)] for place in range(11)]
    assert effective_size(halves) == 11
    assert repeated.interval() == difference_interval(PairedShares(20, 2, 0, 0), groups=halves)
    low, high = difference_interval(PairedShares(10, 1, 0, 0))
    assert repeated.interval() == pytest.approx((low, high))
    graded = compare_rounds(mine, {**theirs, 0: 0.5})
    assert graded is not None
    assert graded.shares is None


def test_the_interval_of_repeated_attempts_excludes_0_if_their_test_rejects_0() -> None:
    """One entry leads at most positions, which were repeated different numbers of times. The sign-flip test over positions
    rejects 0 at 5 %, but Tango's interval with the effective sample size contains 0. So the bound comes from the sign flips.
    """
    times, leads = [20, 3, 3, 5, 1, 2, 1, 8], [1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0]
    clusters = dict(enumerate([place for place, number in enumerate(times) for _ in range(number)]))
    mine = {round_: leads[place] for round_, place in clusters.items()}
    found = compare_rounds(mine, dict.fromkeys(clusters, 0.0), clusters=(clusters, clusters))
    assert found is not None
    assert found.test.p_value < 0.05

    def is_refuted(mean: float) -> bool:
        """Return whether at most 5 % of all combinations of signs are as far from 0 as the deviations from this mean."""
        deviations = [number * (lead - mean) for number, lead in zip(times, leads, strict=True)]
        beyond = abs(sum(deviations)) - 1e-9
        flipped = [abs(sum(map(mul, signs, deviations))) >= beyond for signs in product((1, -1), repeat=8)]
        return fmean(flipped) <= 0.05

    low, _ = found.interval()
    assert low is not None
    assert low > 0.01
    assert is_refuted(low - 1e-6)
    assert not is_refuted(low + 1e-6)


def test_a_repeated_pairing_does_not_affect_other_tests() -> None:
    """Two agents repeat two games in 12 rounds, and each beats a third one in every round: p = 2 / 2^12."""
    returns = MeanReturns(3, (-1.0, 1.0))
    rng = random.Random(2)
    for round_ in range(12):
        for seats in ((0, 1), (1, 0)):
            returns.add(round_, seats, (0.0, 0.0), play_hash=seats[0])
        for entry in (0, 1):
            got = rng.choice([0.5, 1.0])
            returns.add(round_, (entry, 2), (got, -got))
    for better in (0, 1):
        found = compare_returns(returns, better, 2)
        assert found is not None
        assert found.values == pytest.approx(
            [returns.by_round(better)[round_] - returns.by_round(2)[round_] for round_ in range(12)]
        )
        assert found.test.p_value == 2 / 2**12
    between = compare_returns(returns, 0, 1)
    assert between is not None
    assert between.test.p_value > 0.05
    assert None not in returns.of(0)


def test_a_measure_with_the_values_of_the_returns_has_the_same_tests_and_intervals() -> None:
    returns, rng = MeanReturns(3), random.Random(2)
    matches: list[tuple[int, tuple[int, int], tuple[float, float], int | None]] = []
    for round_ in range(12):
        matches += [(round_, seats, (0.0, 0.0), seats[0]) for seats in ((0, 1), (1, 0))]
        for entry in (0, 1):
            won = rng.choice([0.5, 1.0])
            matches.append((round_, (entry, 2), (won, -won), None))
    for round_, seats, got, play in matches:
        returns.add(round_, seats, got, play_hash=play)
    values = [RoundValues(entry, returns.find_repeats()) for entry in range(3)]
    silent = [RoundValues(entry, returns.find_repeats()) for entry in range(3)]
    for round_, seats, got, _ in matches:
        for entry, value in zip(seats, got, strict=True):
            values[entry].add(round_, value, seats)
            silent[entry].add(round_, value, None)
    for one, other in combinations(range(3), 2):
        found = compare_values(values[one], values[other])
        assert found == compare_returns(returns, one, other)
        assert found is not None
        assert (found.test.p_value == 2 / 2**12) == (other == 2)
        untold = compare_values(silent[one], silent[other])
        assert untold is not None
        assert untold.lead == pytest.approx(found.lead)
        assert (untold.test.name, untold.differ) == ("", False)
    for entry in range(3):
        assert values[entry].mean() == returns.of(entry)
        assert (silent[entry].mean().low is None) == (entry < 2)


@pytest.mark.parametrize("rounds", [3, 30])
def test_repeats_count_as_one_observation(rounds: int) -> None:
    """Ten equal pairs are one observation. Three pairs that are repeated are three observations."""
    returns = MeanReturns(2, (-1.0, 1.0))
    for round_ in range(rounds):
        for seats in ((0, 1), (1, 0)):
            got = 1.0 if seats == (0, 1) else -1.0
            returns.add(round_, seats, (got, -got), play_hash=10 * (round_ % 3) + seats[0])
    found = compare_returns(returns, 0, 1)
    assert found is not None
    assert (found.lead, found.test.p_value) == pytest.approx((2.0, 2 / 2**3))
    alone = MeanReturns(2, (-1.0, 1.0))
    for round_ in range(rounds):
        alone.add(round_, (0, 1), (1.0, -1.0), play_hash=5)
    found = compare_returns(alone, 0, 1)
    assert found is not None
    assert (found.lead, found.test.p_value, found.test.name, found.interval()) == (2.0, 1.0, "", (None, None))
    assert alone.of(0) == (1.0, None, None)


@pytest.mark.parametrize("swept", [True, False])
def test_decisions_on_a_gauntlet_ranked_by_scores_do_not_contradict_the_scores(swept: bool) -> None:
    """The ratings of entries 2 and 3 contradict their scores. Scores rank the board if a rating is hidden."""
    tally = Tally(replace(sheet("versus", 5), format="gauntlet", ranked_by="score"))
    rng = random.Random(3)
    for round_ in range(200):
        for one, two, share in ((0, 1, 0.9), (2, 0, 0.5), (3, 1, 0.6), (0, 4, 1.0 if swept else 0.7)):
            for seats in ((one, two), (two, one)):
                got = 1.0 if (rng.random() < share) == (seats[0] == one) else -1.0
                tally.count(Facts(seats, (got, -got), "normal", None, None))
                tally.add_game(round_, seats, (got, -got), rng.getrandbits(60), drew=True, adjusted=None)
    assert tally.counts[2].score < tally.counts[3].score  # type: ignore[operator]
    board = Leaderboard.of(tally, finished=True)
    assert board.ranked_by == ("score" if swept else "rating")
    level = {row["agent"]: row["level_with"] for row in board.rows}
    assert ("agent 3" in level["agent 2"]) == swept
    assert (3 in contrast(tally).level()[2]) == swept


def test_a_board_of_scores_marks_entries_that_are_not_distinguished() -> None:
    tally = Tally(sheet("score", 3))
    rng = random.Random(6)
    for round_ in range(40):
        for entry, got in enumerate((rng.random(), rng.random(), -1.0)):
            tally.count(Facts((entry,), (got,), "normal", None, None))
            tally.add_game(round_, (entry,), (got,), rng.getrandbits(60), drew=True, adjusted=None)
    board = Leaderboard.of(tally, finished=True)
    level = {row["agent"]: row["level_with"] for row in board.rows}
    assert level == {"agent 0": ["agent 1"], "agent 1": ["agent 0"], "agent 2": []}
    assert "Ranked by mean return." in board.remarks
    last = board.rows[-1]
    assert last["return_low"] == last["mean_return"] == -1
    assert last["return_high"] == pytest.approx(-1 + 2 * (1 - 0.05 ** (1 / 40)))  # one round in 20 boards would differ


def test_a_changed_order_of_entries_changes_no_decision() -> None:
    rng = random.Random(7)
    tally = games(rng, 4, 12)
    found = contrast(tally)
    for one, two in combinations(range(4), 2):
        forward, backward = found.get(one, two, "rating"), found.get(two, one, "rating")
        assert forward is not None
        assert backward == replace(forward, lead=-forward.lead)


def test_entries_are_not_distinguished_if_their_ranks_contradict_the_test() -> None:
    """One solver is better at each shared position, but its mean is worse, because only this solver solved the hard ones."""
    tally = Tally(sheet("puzzle", 2))
    for round_ in range(40):
        for entry, moves in ((0, 60 if round_ < 5 else 14), (1, 1 if round_ >= 35 else 16)):
            solved = round_ < 35 if entry == 0 else round_ >= 5
            tally.count(
                Facts((entry,), (1.0,), "normal", None, solved=solved, moves=moves if solved else 0, moves_of=int(solved))
            )
            tally.add_effort(entry, 1, 10, 1e-5)
            tally.attempts[entry].add(round_, solved=solved, moves=float(moves), cost=float(moves), nodes=10, seconds=1e-5)
    found = contrast(tally)
    by_moves = found.get(0, 1, "moves")
    assert by_moves is not None
    assert by_moves.better == 1, "by the positions that both solved"
    assert [count.moves / count.moves_of for count in tally.counts] == [
        pytest.approx(20.57, abs=0.01),
        pytest.approx(13.86, abs=0.01),
    ]
    assert found.deciding(0, 1) is None
    assert found.level() == {0: (1,), 1: (0,)}


def test_costs_that_differ_by_rounding_are_equal() -> None:
    tally = Tally(sheet("puzzle", 2))
    rng = random.Random(5)
    for round_ in range(30):
        steps = [rng.random() for _ in range(50)]
        for entry, cost in ((0, sum(steps)), (1, sum(sorted(steps)))):
            tally.count(Facts((entry,), (1.0,), "normal", None, solved=True, moves=50, moves_of=1))
            tally.add_effort(entry, 1, 10, 1e-5)
            tally.attempts[entry].add(round_, solved=True, moves=50.0, cost=cost, nodes=10, seconds=1e-5)
    assert contrast(tally).get(0, 1, "cost") is None


def test_only_the_p_value_of_seconds_depends_on_the_clock() -> None:
    def found(seconds: Sequence[float], *, timed: bool) -> Contrasts:
        rng = random.Random(4)
        tally = Tally(sheet("puzzle", 2))
        for round_ in range(20):
            for entry in range(2):
                nodes = 100 * (entry + 1) + rng.randrange(150)
                tally.count(Facts((entry,), (1.0,), "normal", None, solved=True, moves=20, moves_of=1))
                tally.add_effort(entry, 1, nodes, seconds[entry])
                tally.attempts[entry].add(
                    round_, solved=True, moves=20.0, cost=20.0, nodes=nodes, seconds=seconds[entry] * rng.uniform(0.9, 1.1)
                )
        if not timed:
            tally.counts[0].unsettled = 1
        return contrast(tally)

    some = [found([1.0, 1.0], timed=True), found([1.0, 9.0], timed=True), found([1.0, 1.0], timed=False)]
    assert some[2].get(0, 1, "seconds") is None
    assert some[1].get(0, 1, "seconds").better == 1  # type: ignore[union-attr]
    assert {one.get(0, 1, "nodes") for one in some} == {some[0].get(0, 1, "nodes")}
    assert {one.tests for one in some} == {2}


def test_ratings_that_differ_by_rounding_share_a_rank() -> None:
    """The test uses thirty boards, because the processor determines which ratings differ in the last digit."""
    differ = 0
    for seed in range(30):
        board = make_mirrored_board(seed)
        rows = {row["agent"]: row for row in board.rows}
        one, other = rows["agent 1"], rows["agent 2"]
        assert board.ranked_by == "rating"
        assert one["rating"] == pytest.approx(other["rating"], abs=1e-9)
        assert one["rank"] == other["rank"]
        assert "agent 2" in one["level_with"]
        differ += one["rating"] != other["rating"]
    assert differ, "no two ratings differ by rounding, so the test shows nothing"


def make_mirrored_board(seed: int) -> Leaderboard:
    """Two agents have the same results against the challenger, in the opposite order of rounds."""
    rng = random.Random(seed)
    gauntlet = next(kind for kind in arena_formats() if kind.name == "gauntlet")
    tally = Tally(replace(sheet("versus", 6), format="gauntlet"), gauntlet(challengers=1))
    results = [[[rng.choice((1.0, 0.0, -1.0)) for _ in range(2)] for _ in range(20)] for _ in range(4)]
    for entry, mine in enumerate([results[0], results[0][::-1], *results[1:]], 1):
        for round_, (first, second) in enumerate(mine):
            for seats, got in (((0, entry), first), ((entry, 0), second)):
                tally.count(Facts(seats, (got, -got), "normal", None, None))
                tally.add_game(round_, seats, (got, -got), rng.getrandbits(60), drew=True, adjusted=None)
    return Leaderboard.of(tally, finished=True)


def test_sums_that_differ_by_rounding_share_a_rank() -> None:
    tally = Tally(sheet("score", 2))
    for entry, returns in enumerate([(0.1, 0.2, -0.3), (0.0, 0.0, 0.0)]):
        for round_, got in enumerate(returns):
            tally.count(Facts((entry,), (got,), "normal", None, None))
            tally.add_game(round_, (entry,), (got,), round_, drew=True, adjusted=None)
    assert [row["rank"] for row in Leaderboard.of(tally, finished=True).rows] == [1, 1]
    placings = [Placing((3.0, 0.1 + 0.2)), Placing((3.0, 0.3)), Placing((3.0, 0.31))]
    merits = placing_merits(placings)
    assert merits[0] == merits[1] > merits[2]
