"""`arena plan`: the number of rounds agrees with boards that are simulated, by the tests that boards use."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from math import ceil, inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import arena
from arena.api.spec import load_spec
from arena.cli import cli
from arena.results.tally import Facts, Tally
from arena.schedule.board_info import BoardInfo
from arena.stats import GameResults, expected_score, flip_signs, holm, likeliest, rate
from arena.stats.paired import test_differences
from arena_compare.plan import count_starts, describe_duration, find_difference, read_pilot, rounds_needed

WANTED = 0.8
OUTCOMES = (0.0, 0.5, 1.0, 1.5, 2.0)
"""The points of the first entry in a pair of games."""


def shares_at(counts: Sequence[float], elo: float) -> np.ndarray[Any, Any]:
    found: np.ndarray[Any, Any] = np.array(likeliest(counts, [points / 2 for points in OUTCOMES], expected_score(elo)))
    found /= found.sum()
    return found


def power_of_two(counts: Sequence[float], elo: float, rounds: int, times: int = 1200) -> float:
    """The share of simulated matches in which sign flips (or Student's t) tell the two apart."""
    drawn = np.random.default_rng(5).multinomial(rounds, shares_at(counts, elo), size=times)
    leads = [Counter({lead: int(count) for lead, count in zip((-2, -1, 0, 1, 2), row, strict=True) if count}) for row in drawn]
    return sum(test_differences(one).p_value <= 0.05 for one in leads) / times


def power_of_board(counts: Sequence[float], elo: float, entries: int, rounds: int, times: int = 250) -> float:
    """The share of simulated boards whose ratings tell the first two entries apart, with Holm's method for all tests."""
    random = np.random.default_rng(6)
    strengths = [elo / 2, -elo / 2, *[0.0] * (entries - 2)]
    told = 0
    for _ in range(times):
        games, p_values = GameResults[int](), []
        for one, other in combinations(range(entries), 2):
            points = random.choice(5, size=rounds, p=shares_at(counts, strengths[one] - strengths[other])) / 2
            games.add_pairs(one, other, list(range(rounds)), points.tolist())
            p_values.append(flip_signs(Counter((2 * points - 2).tolist())))
        ratings = rate(games, range(entries))
        p_values = [ratings.test(one, other)[0] for one, other in combinations(range(entries), 2)] + p_values
        told += holm(p_values)[0] <= 0.05
    return told / times


@pytest.mark.parametrize("counts", [(1, 2, 4, 2, 1), (4, 0, 2, 0, 4), (10, 5, 20, 5, 10), (0, 1, 6, 1, 0)])
@pytest.mark.parametrize("elo", [20, 50, 100, 200])
def test_the_plan_for_two_entries_agrees_with_a_simulation(counts: tuple[float, ...], elo: float) -> None:
    """With a tenth fewer rounds, the power is below the requested one, and with a tenth more it is above. The tolerance is
    0.02.
    """
    rounds = rounds_needed(elo, counts)
    assert power_of_two(counts, elo, int(0.9 * rounds)) < WANTED + 0.02
    assert power_of_two(counts, elo, ceil(1.1 * rounds)) > WANTED - 0.02


@pytest.mark.parametrize(
    ("counts", "elo", "entries"),
    [
        ((1, 2, 4, 2, 1), 100, 4),
        ((4, 0, 2, 0, 4), 200, 4),
        ((1, 2, 4, 2, 1), 150, 5),
        ((1, 0, 2, 0, 1), 600, 3),
        ((1, 0, 2, 0, 1), 800, 3),
        ((1, 2, 4, 2, 1), 800, 3),
        ((1, 0, 2, 0, 1), 600, 5),
    ],
)
def test_the_plan_for_more_entries_agrees_with_a_simulation(counts: tuple[float, ...], elo: float, entries: int) -> None:
    """The power is that of the board's ratings. Fewer boards are simulated, so the tolerance is 0.04."""
    rounds = rounds_needed(elo, counts, entries)
    assert power_of_board(counts, elo, entries, int(0.9 * rounds)) < WANTED + 0.04
    assert power_of_board(counts, elo, entries, ceil(1.1 * rounds)) > WANTED - 0.04


def test_independent_games_without_draws_agree_with_a_textbook() -> None:
    """A one-sample test of a proportion: n games = (1.96 sd0 + 0.84 sd1)^2 / (p - 1/2)^2, with two games in a pair."""
    share = 1 / (1 + 10 ** (-20 / 400))
    games = (1.959964 * 0.5 + 0.841621 * (share * (1 - share)) ** 0.5) ** 2 / (share - 0.5) ** 2
    assert rounds_needed(20, (1, 0, 2, 0, 1)) == pytest.approx(games / 2, rel=0.03)


def test_the_number_of_rounds_depends_on_difference_power_and_draws() -> None:
    """Smaller differences, more power and fewer draws need more rounds. No test at 5 % distinguishes five equal outcomes, but six
    suffice.
    """
    usual = rounds_needed(50, (1, 2, 4, 2, 1))
    assert rounds_needed(25, (1, 2, 4, 2, 1)) > 3.5 * usual
    assert rounds_needed(50, (1, 2, 4, 2, 1), power=0.9) > usual
    assert rounds_needed(50, (1, 2, 40, 2, 1)) < usual
    assert ceil(rounds_needed(800, (1, 2, 4, 2, 1))) == 6
    with pytest.raises(arena.ArenaError, match="all pairs of games ended level"):
        rounds_needed(20, (0, 0, 50, 0, 0))


def test_the_smallest_detectable_difference_needs_exactly_the_planned_rounds() -> None:
    least = find_difference(185, (1, 2, 4, 2, 1))
    assert least is not None
    assert rounds_needed(least, (1, 2, 4, 2, 1)) == pytest.approx(185)
    assert find_difference(5, (1, 2, 4, 2, 1)) is None  # no test at 5 % distinguishes five equal outcomes


@pytest.mark.parametrize("counts", [(1, 0, 2, 0, 1), (1, 4, 6, 4, 1), (1, 2, 94, 2, 1)])
@pytest.mark.parametrize("entries", [2, 3, 6])
def test_a_larger_difference_never_needs_more_rounds(counts: tuple[float, ...], entries: int) -> None:
    """Both functions agree: a number of rounds suffices exactly for the differences that need at most as many."""
    differences = [25, 100, 200, 300, 400, 500, 600, 700, 800]
    needed = [rounds_needed(elo, counts, entries) for elo in differences]
    assert needed == sorted(needed, reverse=True)
    for rounds in (4, 7, 8, 9, 12, 30):
        least = find_difference(rounds, counts, entries)
        told = [elo for elo, need in zip(differences, needed, strict=True) if need <= rounds]
        assert told == [elo for elo in differences if least is not None and elo >= least]


def board_of(labels: str, results: dict[tuple[int, int], list[float]]) -> Tally:
    """A board on which the first entry of each pairing got these points in pairs of games."""
    tally = Tally(BoardInfo("game", {"name": "game"}, "versus", tuple(labels), 1000, exact=True, has_chance=True))
    number = 0
    for (one, two), pairs in results.items():
        for round_, points in enumerate(pairs):
            for seats, got in (((one, two), min(points, 1.0)), ((two, one), max(points - 1.0, 0.0))):
                first = 2 * got - 1 if seats == (one, two) else 1 - 2 * got
                number += 1
                tally.count(Facts(seats, (first, -first), "normal", None, None))
                tally.add_game(round_, seats, (first, -first), number, drew=True, adjusted=None)
    return tally


@pytest.mark.parametrize(
    ("results", "told"),
    [
        ({(0, 1): [1.0] * 7}, r"game: all 7 pairs of games between entries of similar strength ended level: a and b\. This does"),
        ({(0, 1): [1.0]}, r"game: the only pair of games between entries of similar strength ended level: a and b\. This does"),
        (
            {(0, 1): [1.0] * 7, (0, 2): [2.0] * 5, (1, 2): [2.0] * 4},
            r"game: all 7 pairs .* level \(9 pairs of games between entries that differ more do not count\): a and b\. This",
        ),
        (
            {pair: [1.0] * 2 for pair in combinations(range(4), 2)},
            r"all 12 pairs .*: a and b; a and c; a and d; 3 more pairings\.",
        ),
    ],
)
def test_too_few_pairs_between_nearly_equal_entries_are_reported_with_their_number(
    results: dict[tuple[int, int], list[float]], told: str
) -> None:
    """The pairs are counted by hand. One-sided pairings do not show how games between nearly equal entries end."""
    with pytest.raises(arena.ArenaError, match=told):
        read_pilot(board_of("abcd", results))


SPEC: dict[str, Any] = {
    "game": "tic-tac-toe",
    "rounds": 40,
    "openings": {"plies": 2},
    "agents": ["random", "greedy", {"agent": "random", "label": "twin"}],
}


def test_the_command_counts_close_games(tmp_path: Path) -> None:
    """In a store, only games between the two equal entries count. Greedy wins nearly all of its games."""
    (tmp_path / "cup.yaml").write_text(json.dumps(SPEC))
    arena.run(SPEC, store=tmp_path / "cup.db")
    compared = CliRunner().invoke(cli, ["compare", str(tmp_path / "cup.db"), "random", "twin", "--format", "json"]).output
    (pair,) = json.loads(compared)[0]["pairs"]
    counts = [one + other for one, other in zip(pair["counts"], reversed(pair["counts"]), strict=True)]
    words = ["plan", str(tmp_path / "cup.yaml"), "--elo", "50", "--pilot", "0.2"]
    text = CliRunner().invoke(cli, [*words, "--store", str(tmp_path / "cup.db"), "--workers", "1"]).output
    rounds = ceil(rounds_needed(50, counts, 3))
    assert f"tic-tac-toe: a difference of 50 Elo needs about {rounds:,} rounds ({6 * rounds:,} games), taking about " in text
    assert "with 1 worker.\n" in text
    assert "corrected by Holm's method for 6 tests. The 40 rounds of the spec find a difference of " in text
    assert "Based on 40 pairs of games, " in text
    told = CliRunner().invoke(cli, [*words, "--store", str(tmp_path / "cup.db"), "--workers", "1", "--format", "json"]).stdout
    document = json.loads(told)
    assert (document["elo"], document["power"], document["without_plan"]) == (50, 0.8, [])
    [board] = document["boards"]
    assert (board["domain"], board["rounds"], board["games"], board["workers"]) == ("tic-tac-toe", rounds, 6 * rounds, 1)
    assert (board["pairs"], board["level"]) == (40, pytest.approx(pair["counts"][2] / 40))
    assert (board["rounds_of_spec"], board["possible"], board["starts"]) == (40, True, None)
    found = int(re.search(r"find a difference of (\d+) Elo", text)[1])  # type: ignore[index]
    assert rounds_needed(found + 1, counts, 3) < 40 < rounds_needed(found - 1, counts, 3)
    assert re.search(r"needs about [\d,]+ rounds", CliRunner().invoke(cli, words).output)


@pytest.mark.parametrize("entries", [2, 3])
def test_a_short_pilot_continues_until_it_has_five_pairs(tmp_path: Path, entries: int) -> None:
    """A round of three equal entries yields three pairs, so two rounds are played. A round of two entries yields one pair, so
    five are played.
    """
    agents = [{"agent": "random", "label": f"r{number}"} for number in range(entries)]
    (tmp_path / "cup.yaml").write_text(json.dumps({**SPEC, "agents": agents}))
    text = CliRunner().invoke(cli, ["plan", str(tmp_path / "cup.yaml"), "--elo", "50", "--pilot", "1e-9"]).output
    found = re.search(r"^Based on (\d+) pairs? of games", text, re.MULTILINE)
    assert found is not None, text
    assert int(found[1]) in range(5, 7)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0421, "0.042 s"),
        (20.7, "21 s"),
        (99, "99 s"),
        (100, "1.7 minutes"),
        (44 * 60, "44 minutes"),
        (5400, "1.5 hours"),
        (47.6 * 3600, "48 hours"),
        (3 * 86400, "3 days"),
        (400 * 86400, "400 days"),
    ],
)
def test_estimated_times_have_two_digits_and_a_unit_that_fits(seconds: float, text: str) -> None:
    assert describe_duration(seconds) == text


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (
            {"game": "sliding-tiles", "agents": ["a-star"], "openings": None},
            "got a puzzle, 1 seat, the format benchmark, ranked by solved",
        ),
        (
            {"game": "sliding-tiles", "agents": ["a-star"], "openings": None},
            "in `arena compare STORE`: it gets about half as wide",
        ),
        (
            {"agents": ["random", "greedy"], "format": {"name": "head-to-head", "test": {"sprt": {"elo0": 0, "elo1": 50}}}},
            "got 2 seats, the format head-to-head with a sequential test, ranked by",
        ),
        ({"format": "swiss", "rounds": 2}, "with the format round-robin or head-to-head"),
    ],
)
def test_boards_that_cannot_be_planned_are_refused(tmp_path: Path, changed: dict[str, Any], told: str) -> None:
    spec = {key: value for key, value in {**SPEC, **changed}.items() if value is not None}
    (tmp_path / "cup.yaml").write_text(json.dumps(spec))
    found = CliRunner().invoke(cli, ["plan", str(tmp_path / "cup.yaml"), "--elo", "20"])
    assert found.exit_code
    assert told in str(found.exception)


def test_boards_without_a_plan_do_not_hide_the_others(tmp_path: Path) -> None:
    """The spec has a game, which is planned, and a puzzle, for which a reason is given. If no board can be planned, the error
    gives all reasons.
    """
    spec = {"games": ["sliding-tiles", "tic-tac-toe"], "agents": ["random", "greedy"], "rounds": 40}
    (tmp_path / "cup.yaml").write_text(json.dumps(spec))
    words = ["plan", str(tmp_path / "cup.yaml"), "--elo", "50", "--pilot", "0.2"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    assert re.search(r"^tic-tac-toe: a difference of 50 Elo needs about [\d,]+ rounds", done.output, re.MULTILINE)
    reason = r"^No plan for sliding-tiles: expected a game for two .*; got a puzzle, 1 seat, the format benchmark"
    assert re.search(reason, done.output, re.MULTILINE)
    arena.run({**SPEC, "rounds": 3}, store=tmp_path / "other.db")
    refused = CliRunner().invoke(cli, [*words, "--store", str(tmp_path / "other.db")])
    assert "sliding-tiles: expected a game for two" in str(refused.exception)
    assert "tic-tac-toe: expected games between random and greedy in" in str(refused.exception)


@pytest.mark.parametrize(
    ("keys", "starts"),
    [
        ({"game": "connect-four", "openings": {"plies": 1}}, 7),
        ({"game": "tic-tac-toe", "openings": {"plies": 2}}, 9 * 8),
        ({"game": "tic-tac-toe"}, 1),
        ({"game": "othello", "openings": {"plies": 8}}, inf),
        ({"game": "tic-tac-toe", "positions": [".../.x./...", "x../.../..."] * 2}, 2),
    ],
)
def test_different_starting_positions_are_counted(keys: dict[str, Any], starts: float) -> None:
    """By hand: seven columns, and nine cells and then eight. Othello has more than 300 positions after 8 plies. Listed
    positions may repeat.
    """
    (board,) = load_spec({**keys, "agents": ["random", "greedy"]}).boards
    assert count_starts(board.positions, 300) == starts


@pytest.mark.parametrize("agent", ["alpha-beta", "random"])
def test_the_plan_reports_how_many_rounds_have_different_positions(tmp_path: Path, agent: str) -> None:
    """After one ply, connect-four has seven positions. From each, two agents that draw no random numbers play the same two games
    again and again.
    """
    agents = [{"agent": "alpha-beta", "depth": 1}, {"agent": agent, **({"depth": 2} if agent == "alpha-beta" else {})}]
    agents[1]["label"] = "other"
    spec = {"game": "connect-four", "agents": agents, "openings": {"plies": 1}, "rounds": 100}
    (tmp_path / "cup.yaml").write_text(json.dumps(spec))
    words = ["plan", str(tmp_path / "cup.yaml"), "--pilot", "1e-9"]
    text = CliRunner().invoke(cli, [*words, "--elo", "40"]).output
    if agent == "random":
        assert "different starting positions" not in text
        assert "needs about" in text
        return
    needed = re.search(
        r"^This needs about (\d+) rounds with different starting positions, and there are only 7\.$", text, re.MULTILINE
    )
    found = re.search(r"^7 rounds find a difference of (\d+) Elo\.$", text, re.MULTILINE)
    assert needed is not None
    assert found is not None
    assert "connect-four: a difference of 40 Elo cannot be shown with a probability of 80.0 %" in text
    assert "For more different positions, use more plies in `openings`, or list more `positions`.\n" in text
    assert "taking about" not in text
    assert int(found[1]) > 40
    more = [*words, "--elo", str(int(found[1]) + 5)]
    assert "Elo needs about" in CliRunner().invoke(cli, more).output
