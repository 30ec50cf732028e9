"""`arena heuristic`: figures against breadth-first search, scipy, and a theorem on the nodes of IDA*."""

import csv
import json
import random
import re
from functools import partial
from io import StringIO
from itertools import pairwise
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np
import pytest
import yaml
from click.testing import CliRunner
from scipy import stats  # type: ignore[import-untyped]
from scipy.sparse import csgraph  # type: ignore[import-untyped]

from arena import ArenaError, Puzzle, SpecError
from arena.api.games import bind
from arena.api.spec import load_spec
from arena.cli import cli
from arena.tracking import listening
from arena_check import heuristic_quality
from arena_check.distances import assumed_distances, near_goal, proven_distances
from arena_check.heuristic_quality import Sample, measure_quality
from arena_games.grid_path import GridPath
from arena_games.pancake import Gap, Pancake, Top
from arena_games.sliding_tiles import Manhattan, Misplaced, SlidingTiles
from arena_games.sokoban import Sokoban
from arena_games.sokoban_heuristics import DeadlockSquares
from tests.games.game_tree import distances
from tests.games.test_grid_path import scipy_costs

BOLD = """
from arena import heuristic, hookimpl

@heuristic("bold", game="pancake")
def bold(game, state, player=0):
    return 2.0 * sum(abs(one - other) > 1 for one, other in zip(state, state[1:]))

@hookimpl
def arena_heuristics():
    return [bold]
"""

SLOPE = """
from arena import Puzzle, heuristic, hookimpl

class Slope(Puzzle):
    name = "slope"

    def __init__(self, *, top: int = 4):
        self.top = top

    def initial(self, rng):
        return self.top

    def actions(self, state):
        return ["down"]

    def result(self, state, action):
        return state - 1

    def is_goal(self, state):
        return state == 0

    def step_cost(self, state, action, successor):
        return 2 if state > 2 else 0

@heuristic("h", game="slope")
def h(game, state, player=0):
    return 1 if state > 2 else 0

@hookimpl
def arena_games():
    return [Slope]

@hookimpl
def arena_heuristics():
    return [h]
"""


def all_states(puzzle: Any) -> Sample:
    """All states of a puzzle without dead ends, in which steps can be undone and cost 1."""
    known = {state: float(distance) for state, distance in distances(puzzle, puzzle.goal).items()}
    return Sample(known, (), whole=True, assumed=False, explored=len(known), positions=1, same_states=True)


def called(*arguments: str) -> Any:
    return CliRunner().invoke(cli, ["heuristic", *arguments], catch_exceptions=True, standalone_mode=False)


def test_figures_agree_with_a_breadth_first_search() -> None:
    """The figures cover all 120 stacks of five pancakes. Both claims hold."""
    puzzle = Pancake(n=5)
    known = distances(puzzle, puzzle.goal)
    document = json.loads(called("gap", "top", "--on", "pancake", "--set", "n=5", "--format", "json").output)
    assert (document["states"], document["whole"]) == (120, True)
    for found, kind in zip(document["heuristics"], (Gap, Top), strict=True):
        estimate = kind(puzzle)
        pairs = [(estimate(state), distance) for state, distance in known.items() if distance]
        assert found["mean_error"] == pytest.approx(fmean(distance - value for value, distance in pairs), rel=1e-9)
        assert found["mean_share"] == pytest.approx(fmean(value / distance for value, distance in pairs), rel=1e-9)
        assert found["correlation"] == pytest.approx(stats.pearsonr(*zip(*pairs, strict=True)).statistic, rel=1e-9)
        assert found["exact"] == pytest.approx(fmean(value == distance for value, distance in pairs), rel=1e-9)
        assert (found["overestimates"], found["inconsistent_steps"]) == (0, 0)
    text = called("gap", "top", "--on", "pancake", "--set", "n=5").output
    larger = sum(Top(puzzle)(state) > Gap(puzzle)(state) for state in known)
    assert f"top dominates gap: it is never smaller, and larger at {larger} states." in text


def test_a_heuristic_that_overestimates_does_not_dominate_others(tmp_path: Path) -> None:
    """Twice the number of gaps is never smaller than the number of gaps, but it overestimates."""
    (tmp_path / "twice.py").write_text(
        "from arena import heuristic, hookimpl\nfrom arena_games.pancake import Gap\n\n\n"
        "@heuristic('twice', game='pancake')\nclass Twice(Gap):\n    'Twice the gaps.'\n\n"
        "    def __call__(self, state, player=0):\n        return 2 * super().__call__(state, player)\n\n\n"
        "@hookimpl\ndef arena_heuristics():\n    return [Twice]\n"
    )
    text = called("gap", "twice", "--on", "pancake", "--set", "n=4", "--plugin", str(tmp_path / "twice.py")).output
    puzzle = Pancake(n=4)
    larger = sum(Gap(puzzle)(state) > 0 for state in distances(puzzle, puzzle.goal))
    assert f"twice is never smaller than gap, and larger at {larger} states, but it overestimates." in text
    assert "dominates" not in text


def test_the_predicted_number_of_nodes_is_exact_if_all_states_have_equal_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search trees from all stacks have the same shape, so the mean over all starts equals the prediction of Korf, Reid and
    Edelkamp. Brute force counts the last level, too.
    """
    puzzle = Pancake(n=4)
    known = all_states(puzzle).known
    estimate = Gap(puzzle)
    found = measure_quality(puzzle, "gap", estimate, all_states(puzzle), rng=random.Random(1)).predictions
    assert found[-1].bound == 4
    for row in found:
        assert row.measured == pytest.approx(row.predicted, rel=1e-9)

    def paths(state: Any, before: Any, left: int) -> int:
        if estimate(state) > left:
            return 0
        after = [puzzle.result(state, action) for action in puzzle.actions(state)]
        return 1 + sum(paths(successor, state, left - 1) for successor in after if successor != before)

    assert found[-1].measured == pytest.approx(fmean(paths(state, None, 4) for state in known))
    assert (found[-1].error, found[-1].starts, found[-1].states) == (None, 24, 24)


def test_a_sample_of_starts_has_a_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of starts is in the text. Over many seeds, the errors of samples without replacement are as large as claimed:
    the mean over all starts is within 1.96 standard errors in about 95 % of 200 samples, and at least 85 % by the binomial
    distribution with a margin for skewed counts.
    """
    puzzle = Pancake(n=5)
    states = all_states(puzzle)
    measure = partial(measure_quality, puzzle, "gap", Gap(puzzle), states)
    whole = measure(rng=random.Random(0)).predictions[-1]
    assert (whole.starts, whole.states, whole.error) == (120, 120, None)
    monkeypatch.setattr(heuristic_quality, "MAX_COUNTED_NODES", 0)
    found = [measure(rng=random.Random(seed)).predictions[-1] for seed in range(200)]
    assert {(one.starts, one.states) for one in found} == {(50, 120)}
    errors = [one.measured - whole.measured for one in found]
    claimed = [one.error or 0.0 for one in found]
    assert fmean(claimed) == pytest.approx(stdev(errors), rel=0.2)
    assert 0.85 <= fmean(abs(error) < 1.96 * claim for error, claim in zip(errors, claimed, strict=True)) <= 0.99
    text = called("gap", "--on", "pancake", "--set", "n=5").output
    assert "counted as a mean over 50 random starts of 120:" in text
    assert "Standard error" in text


def test_the_predicted_number_of_nodes_for_sliding_tiles_is_close() -> None:
    """States differ in the number of their neighbours, so only deep levels have the limiting distribution."""
    puzzle = SlidingTiles(rows=2, columns=3)
    for kind in (Manhattan, Misplaced):
        evaluate = bind(kind, puzzle)
        for row in measure_quality(puzzle, "h", evaluate, all_states(puzzle), rng=random.Random(1)).predictions[-2:]:
            assert row.predicted == pytest.approx(row.measured, rel=0.25)


def test_false_claims_are_refuted_with_an_example(tmp_path: Path) -> None:
    (tmp_path / "bold.py").write_text(BOLD)
    arguments = ("bold", "--on", "pancake", "--set", "n=4", "--plugin", str(tmp_path / "bold.py"))
    (found,) = json.loads(called(*arguments, "--format", "json").output)["heuristics"]
    puzzle = Pancake(n=4)
    known = distances(puzzle, puzzle.goal)
    bold = {state: 2.0 * sum(abs(one - other) > 1 for one, other in pairwise(state)) for state in known}
    assert found["overestimates"] == sum(bold[state] > known[state] for state in known) > 0
    worst = puzzle.parse_state(found["overestimate"])
    assert bold[worst] - known[worst] == max(bold[state] - known[state] for state in known)
    drops = [
        bold[state] - bold[puzzle.result(state, action)] > 1
        for state in known
        if state != puzzle.goal
        for action in puzzle.actions(state)
    ]
    assert found["inconsistent_steps"] == sum(drops) > 0
    text = called(*arguments).output
    assert "bold is not admissible, for example at" in text
    assert "IDA* with bold are not predicted: the formula needs a consistent heuristic" in text


def test_dead_ends_are_counted_and_estimated(tmp_path: Path) -> None:
    """The expected dead ends are the states that cannot reach a goal. The heuristic detects a box in a corner, but not two boxes
    that block each other.
    """
    (file := tmp_path / "own.xsb").write_text("#######\n#@   .#\n# $$ .#\n#     #\n#######\n")
    puzzle = Sokoban(file=str(file))
    after = {puzzle.start: list[Any]()}
    for state in (waiting := [puzzle.start]):
        after[state] = [puzzle.result(state, action) for action in puzzle.actions(state)]
        waiting += [successor for successor in dict.fromkeys(after[state]) if successor not in after]
        after |= {successor: [] for successor in after[state] if successor not in after}
    solvable = {state for state in after if puzzle.is_goal(state)}
    while more := {state for state in after.keys() - solvable if not solvable.isdisjoint(after[state])}:
        solvable |= more
    lost = [state for state in after if state not in solvable]
    arguments = ("deadlock-squares", "--on", "sokoban", "--set", f"file={file}")
    document = json.loads(called(*arguments, "--format", "json").output)
    (found,) = document["heuristics"]
    estimate = DeadlockSquares(puzzle)
    values = [estimate(state) for state in lost]
    assert (document["states"], document["dead_ends"]) == (len(after), len(lost))
    assert found["dead_ends"] == len(lost)
    assert found["dead_end_estimates"] == [min(values), max(values)]
    assert found["detected_dead_ends"] == values.count(10_000)
    text = called(*arguments).output
    assert text.startswith(f"sokoban: all {len(after):,} states")
    assert f"The states include 1 goal and {len(lost):,} dead ends, from which no goal can be reached." in text
    assert re.search(rf"Estimates at dead ends +{min(values)} to 10,000\n", text)
    assert re.search(rf"above every distance +{100 * values.count(10_000) / len(lost):.1f} %\n", text)
    assert "not predicted: the formula needs the same mixture of states" in text


def test_a_puzzle_with_a_goal_for_each_position_is_explored_from_several(tmp_path: Path) -> None:
    """scipy computes the distances to each drawn goal. Steps have different costs, so nothing is predicted."""
    file = tmp_path / "tiny.map"
    file.write_text("type octile\nheight 3\nwidth 4\nmap\n..@.\n.T..\n....\n")
    cells, costs = scipy_costs(file, 8, {})
    puzzle, rng = GridPath(map=str(file)), random.Random(5)
    drawn = [puzzle.initial(rng) for _ in range(20)]
    reached: dict[Any, None] = {}
    positions = first = 0
    for position in drawn:
        positions += position not in reached
        waiting = [] if position in reached else [position]
        while waiting:
            state = waiting.pop()
            reached[state] = None
            if state[0] != state[1]:  # play ends at the goal, so the cells behind it may be out of reach
                after = [puzzle.result(state, action) for action in puzzle.actions(state)]
                waiting += [one for one in after if one not in reached]
        first = first or len(reached)
    arguments = ("octile", "--on", "grid-path", "--set", f"map={file}", "--seed", "5")
    document = json.loads(called(*arguments, "--format", "json").output)
    pairs = []
    for start, goal in [(puzzle.place(one[0]), puzzle.place(one[1])) for one in reached if one[0] != one[1]]:
        across, down = (abs(one - other) for one, other in zip(start, goal, strict=True))
        pairs.append((max(across, down) + (sqrt(2) - 1) * min(across, down), costs[cells.index(start), cells.index(goal)]))
    (found,) = document["heuristics"]
    assert (document["states"], document["positions"]) == (len(reached), positions)
    assert document["goals"] == len(reached) - len(pairs)
    assert found["mean_error"] == pytest.approx(fmean(cost - value for value, cost in pairs), rel=1e-9)
    assert found["correlation"] == pytest.approx(stats.pearsonr(*zip(*pairs, strict=True)).statistic, rel=1e-9)
    text = called(*arguments).output
    assert text.startswith(f"grid-path: all {document['states']} states that {positions} random positions lead to")
    assert "The nodes of IDA* with octile are not predicted: the formula needs steps that all cost 1." in text
    few = called(*arguments, "--states", str(max(10, first))).output
    assert few.startswith(f"grid-path: all {first} states that 1 random position leads to")


def test_states_that_cost_nothing_to_solve_are_left_out_of_the_mean_ratio_to_the_distance(tmp_path: Path) -> None:
    """The last steps cost nothing, so some states other than goals have the distance 0. Their `h` values are 0, 0, 1 and 1."""
    (tmp_path / "slope.py").write_text(SLOPE)
    arguments = ("h", "--on", "slope", "--plugin", str(tmp_path / "slope.py"))
    (found,) = json.loads(called(*arguments, "--format", "json").output)["heuristics"]
    assert (found["mean_error"], found["mean_share"], found["exact"]) == (1.0, (1 / 2 + 1 / 4) / 2, 0.5)
    text = called(*arguments).output
    assert re.search(r"Estimate as a share of the distance +37.5 %\n", text)
    assert "about the other 4 states. The share is only about the 2 of them at a distance above 0." in text
    assert (found["states"], found["share_states"]) == (4, 2)
    flat = (*arguments, "--set", "top=2")
    (found,) = json.loads(called(*flat, "--format", "json").output)["heuristics"]
    assert (found["mean_error"], found["mean_share"], found["exact"]) == (0.0, None, 1.0)
    text = called(*flat).output
    assert re.search(r"Estimate as a share of the distance +-\n", text)
    assert "about the other 2 states. All of them are at distance 0, so there is no share." in text


def test_a_large_puzzle_is_measured_near_its_goal() -> None:
    """The 8-puzzle has 420 states up to nine moves from the goal, and 286 at ten moves (OEIS A089473)."""
    arguments = ("manhattan", "--on", "sliding-tiles", "--set", "shuffle=20", "--states")
    text = called(*arguments, "500").output
    assert text.startswith("sliding-tiles: the 500 states nearest to the goal, at distances up to 10\n")
    assert (
        "\nThe distances assume that actions can be undone and that there is no other goal, which holds at all these states. "
        in text
    )
    assert "manhattan is admissible and consistent at these 500 states." in text
    assert "The nodes of IDA* with manhattan are not predicted: the formula needs all states" in text
    document = json.loads(called(*arguments, "500", "--format", "json").output)
    assert (document["states"], document["whole"], document["assumed"]) == (500, False, True)


def test_a_measurement_on_few_states_is_reported_as_such(tmp_path: Path) -> None:
    (tmp_path / "halves.py").write_text(HALVES)
    text = called("bits", "--on", "halves", "--states", "60", "--plugin", str(tmp_path / "halves.py")).output
    found = re.match(r"halves: (\d+) states with a proven distance, of 60 explored states, at distances up to ", text)
    assert found is not None
    assert f"\n{found[1]} states are too few to judge a heuristic.\n" in text


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("nim-sum", "--on", "nim"), "nim is not a puzzle"),
        (("gap", "--on", "pancake", "--set", "n=0"), "pancake: .*1"),
        (("hop", "--on", "pancake"), "hop"),
    ],
)
def test_invalid_calls_are_refused(arguments: tuple[str, ...], reason: str) -> None:
    error = called(*arguments).exception
    assert isinstance(error, ArenaError)
    with pytest.raises(ArenaError, match=reason):
        raise error


@pytest.mark.parametrize("size", [(), ("--set", "n=8")])
@pytest.mark.parametrize(
    ("word", "puzzle", "fault"),
    [
        ("pattern-db:tokens=99", "top-spin", "tokens: expected at most 8, got 99"),
        ("pattern-db:tokens=0", "top-spin", "tokens: expected at least 1, got 0"),
        ("pattern-db:tokens=2.5", "top-spin", "tokens: expected an integer, got 2.5"),
        ("pattern-db:tokens=x", "top-spin", "tokens: expected an integer, got 'x'"),
        ("gap:foo=1", "pancake", "foo: unknown key; no keys are expected here"),
    ],
)
def test_options_are_read_as_in_a_spec(word: str, puzzle: str, fault: str, size: tuple[str, ...]) -> None:
    """The messages are those of a spec, whether or not the puzzle is so large that a heuristic guides the search for a goal."""
    name, _, option = word.partition(":")
    key, _, value = option.partition("=")
    with pytest.raises(SpecError) as caught:
        load_spec({"game": puzzle, "agents": [{"agent": "a-star", "heuristic": {"name": name, key: yaml.safe_load(value)}}]})
    assert [f"{one.where}: {one.message}" for one in caught.value.faults] == [f"agents[0].heuristic.{fault}"]
    assert str(called(word, "--on", puzzle, *size).exception) == f"heuristic {word}: {fault}"


def test_for_an_option_that_the_class_refuses_only_the_message_of_the_class_is_shown() -> None:
    word = "pattern-db:tokens=8"
    error = called(word, "--on", "top-spin").exception
    assert str(error) == f"heuristic {word}: tokens: a table for 8 of 12 tokens is too large; use fewer tokens"


def test_a_goal_that_no_faulty_heuristic_finds_does_not_hide_their_faults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "faulty.py").write_text(FAULTY)
    monkeypatch.setattr(heuristic_quality, "MAX_GOAL_SEARCH_STATES", 20)
    faulty = ("--plugin", str(tmp_path / "faulty.py"), "--states", "10")
    lines = str(called("raises", "--on", "pancake", "--set", "n=8", *faulty).exception).split("\n")
    assert re.match(r"heuristic raises at [\d ]+: ValueError: boom", lines[0])
    assert lines[1:] == ["no goal was found within 20 states; use a smaller puzzle, with --set"]


def test_three_heuristics_are_listed_with_commas() -> None:
    names = ("manhattan", "misplaced", "linear-conflict")
    text = called(*names, "--on", "sliding-tiles", "--states", "50").output
    assert "The nodes of IDA* with manhattan, misplaced and linear-conflict are not predicted: " in text


def test_a_heuristic_may_have_parameters() -> None:
    """The notation is that of an agent with options on the command line."""
    found = json.loads(
        called("pattern-db:tokens=2", "--on", "top-spin", "--set", "n=6", "--set", "k=2", "--format", "json").output
    )
    assert found["heuristics"][0]["heuristic"] == "pattern-db:tokens=2"
    assert found["heuristics"][0]["overestimates"] == 0


@pytest.mark.parametrize("most", [2_000, 25_000])
def test_the_option_states_is_the_only_limit_of_the_exploration(most: int) -> None:
    """There is no lower hidden limit. A state of the cube has nine actions, so at most eight states are missing."""
    document = json.loads(called("coordinates", "--on", "rubik-2x2", "--states", str(most), "--format", "json").output)
    assert most - 9 < document["explored"] <= most
    assert not document["whole"]


class Maze(Puzzle):
    """Numbered rooms with doors that open in one direction, and several goals."""

    name = "maze"

    def __init__(self, costs: Any, goals: set[int]) -> None:
        self.costs, self.goals = costs, goals

    def initial(self, rng: random.Random) -> int:
        return 0

    def actions(self, state: int) -> Any:
        return [int(room) for room in self.costs[state].nonzero()[0]]

    def result(self, state: int, action: int) -> int:
        return action

    def is_goal(self, state: int) -> bool:
        return state in self.goals


class MazeWithCosts(Maze):
    """A maze in which doors have different costs."""

    name = "maze-with-costs"

    def step_cost(self, state: int, action: int, successor: int) -> float:
        return float(self.costs[state, successor])


@pytest.mark.parametrize("maze", [Maze, MazeWithCosts])
def test_proven_distances_agree_with_scipy(maze: type[Maze]) -> None:
    """Doors open in one direction, there are several goals, and only some of the rooms are explored."""
    draw = np.random.default_rng(7)
    partly = 0
    for _ in range(200):
        costs = np.where(draw.random((40, 40)) < 0.06, 1 if maze is Maze else draw.choice([0.25, 1, 3], (40, 40)), 0)
        goals = {int(room) for room in draw.choice(40, 3, replace=False)}
        least = csgraph.dijkstra(costs)[:, sorted(goals)].min(axis=1)
        most = int(draw.integers(5, 41))
        known, explored = proven_distances(maze(costs, goals), [int(one) for one in draw.permutation(40)[:2]], most)
        assert explored <= most
        assert dict(known) == {room: least[room] for room, _ in known}
        partly += 0 < len(known) < explored == most
    assert partly > 50


@pytest.mark.parametrize("maze", [Maze, MazeWithCosts])
def test_distances_are_assumed_only_if_steps_can_be_undone(maze: type[Maze]) -> None:
    """If all doors open in both directions, possibly at different costs, the nearest rooms are those of scipy. A door that opens
    in one direction, or another goal among these rooms, refutes the assumption.
    """
    draw = np.random.default_rng(8)
    for _ in range(100):
        doors = np.triu(draw.random((40, 40)) < 0.06, 1)
        costs = np.where(doors | doors.T, 1 if maze is Maze else draw.choice([0.25, 1, 3], (40, 40)), 0)
        least = csgraph.dijkstra(costs)[:, 0]
        reached = int(np.isfinite(least).sum())
        most = int(draw.integers(2, 41))
        known = assumed_distances(maze(costs, {0}), 0, most)
        if reached == 1:
            assert known is None
            continue
        assert known is not None
        assert [cost for _, cost in known] == sorted(least)[: min(most, reached)]
        assert dict(known) == {room: least[room] for room, _ in known}
        assert assumed_distances(maze(costs, {0, known[-1][0]}), 0, most) is None
        one_way = costs.copy()
        one_way[int(costs[:, 0].nonzero()[0][0]), 0] = 0
        assert assumed_distances(maze(one_way, {0}), 0, most) is None


def test_a_step_that_cannot_be_undone_does_not_hide_a_shorter_path(tmp_path: Path) -> None:
    """Halving a number of b bits leads to 0 in b steps, but a search from 0 can only count up by one."""
    (tmp_path / "halves.py").write_text(HALVES)
    arguments = ("quarter", "bits", "--on", "halves", "--states", "500", "--plugin", str(tmp_path / "halves.py"))
    document = json.loads(called(*arguments, "--format", "json").output)
    quarter, bits = document["heuristics"]
    assert (document["explored"], document["whole"], document["goals"]) == (500, False, 1)
    assert (bits["exact"], bits["mean_error"], bits["inconsistent_steps"]) == (1, 0, 0)
    measured = range(1, document["states"])
    assert document["states"] > 400
    assert quarter["overestimates"] == sum(number / 4 > number.bit_length() for number in measured)
    assert quarter["mean_error"] == pytest.approx(fmean(number.bit_length() - number / 4 for number in measured))
    assert "quarter is not admissible, for example at" in called(*arguments).output


def test_a_puzzle_with_many_actions_is_searched_near_its_goal_in_bounded_time() -> None:
    """A stack of 60 pancakes has 59 actions, each of which undoes itself. The search takes about two steps per neighbour, and
    then ends.
    """
    puzzle = Pancake(n=60)
    calls = 0
    result = Pancake.result

    class Counted(Pancake):
        def result(self, state: Any, action: int) -> Any:
            nonlocal calls
            calls += 1
            return result(self, state, action)

    found = list(near_goal(Counted(n=60), [(puzzle.goal, 0.0)], 300))
    assert len(found) == 300
    assert calls <= 2 * 59 * 300
    gap = Gap(puzzle)
    assert all(gap(state) <= distance for state, distance in found)
    assert [distance for _, distance in found].count(1.0) == 59


HALVES = """
from arena import Puzzle, heuristic, hookimpl

class Halves(Puzzle):
    name = "halves"

    def initial(self, rng):
        return rng.randrange(50_000, 100_000)

    def actions(self, state):
        return ["up", "down", "half"]

    def result(self, state, action):
        return state // 2 if action == "half" else max(0, state - 1) if action == "down" else state + 1

    def is_goal(self, state):
        return state == 0

@heuristic("quarter", game="halves")
def quarter(game, state, player=0):
    return state / 4

@heuristic("bits", game="halves", admissible=True, consistent=True)
def bits(game, state, player=0):
    return state.bit_length()

@hookimpl
def arena_games():
    return [Halves]

@hookimpl
def arena_heuristics():
    return [quarter, bits]
"""

TRAP = """
from math import inf
from arena import Puzzle, heuristic, hookimpl

class Trap(Puzzle):
    name = "trap"

    def initial(self, rng):
        return 5

    def actions(self, state):
        return ["down", "fall"] if state > 0 else ["fall"]

    def result(self, state, action):
        return state - 1 if action == "down" else -1

    def is_goal(self, state):
        return state == 0

@heuristic("exact", game="trap", admissible=True, consistent=True)
def exact(game, state, player=0):
    return state if state >= 0 else inf

@heuristic("gloomy", game="trap")
def gloomy(game, state, player=0):
    return state if state != 3 else inf

@heuristic("half", game="trap")
def half(game, state, player=0):
    return state / 2 if state >= 0 else 7

@heuristic("broken", game="trap")
def broken(game, state, player=0):
    return float("nan")

@hookimpl
def arena_games():
    return [Trap]

@hookimpl
def arena_heuristics():
    return [exact, gloomy, half, broken]
"""
"""From 5, steps down lead to the goal 0, and a fall leads to the only dead end, -1."""


@pytest.mark.parametrize("value", [7.0, 1e308, float("inf")])
def test_a_consistent_constant_heuristic_is_not_admissible_if_it_is_not_0_at_goals(tmp_path: Path, value: float) -> None:
    """J. Pearl, Heuristics, 1984, 3.1: consistency implies admissibility if the heuristic is 0 at goals."""
    plugin = tmp_path / "same.py"
    text = BOLD.replace("2.0 * sum(abs(one - other) > 1 for one, other in zip(state, state[1:]))", f"float({str(value)!r})")
    plugin.write_text(text)
    words = ["heuristic", "bold", "gap", "--on", "pancake", "--set", "n=4", "--plugin", str(plugin)]
    printed = CliRunner().invoke(cli, words).output
    assert re.search(
        r"^bold is not admissible, for example at [\d ]+; consistent at all states\.\n"
        r"It is not 0 at the goal 1 2 3 4; consistency implies admissibility only if h is 0 at every goal\.$",
        printed,
        re.MULTILINE,
    )
    assert "gap is admissible and consistent at all states." in printed
    bold, gap = json.loads(CliRunner().invoke(cli, [*words, "--format", "json"]).output)["heuristics"]
    assert (bold["goal"], bold["inconsistent_steps"], gap["goal"]) == ("1 2 3 4", 0, None)


def test_infinity_is_a_valid_estimate_only_for_dead_ends(tmp_path: Path) -> None:
    """Infinity exceeds every distance at a dead end. At a state with a solution it is an overestimate, and then means are not
    computed.
    """
    (tmp_path / "trap.py").write_text(TRAP)
    shared = ("--on", "trap", "--plugin", str(tmp_path / "trap.py"))
    document = json.loads(called("exact", "gloomy", "half", *shared, "--format", "json").output)
    assert (document["states"], document["goals"], document["dead_ends"], document["whole"]) == (7, 1, 1, True)
    exact, gloomy, _ = document["heuristics"]
    assert (exact["mean_error"], exact["mean_share"], exact["exact"], exact["overestimates"]) == (0, 1, 1, 0)
    assert (exact["detected_dead_ends"], exact["dead_end_estimates"], exact["inconsistent_steps"]) == (1, [None, None], 0)
    assert (gloomy["mean_error"], gloomy["mean_share"], gloomy["correlation"]) == (None, None, None)
    assert (gloomy["overestimates"], gloomy["overestimate"], gloomy["exact"]) == (1, "3", 0.8)
    assert gloomy["inconsistent_steps"] == 5, "both steps from 3, and the falls from 2, 4 and 5: the estimate -1 counts as 0"
    text = called("exact", "gloomy", "half", *shared).output
    assert re.search(r"Estimates at dead ends +infinite +0 +7\n", text)
    assert "gloomy is not admissible, for example at 3" in text
    assert "exact dominates half: it is never smaller, and larger at 5 states." in text
    assert "gloomy is never smaller than exact, and larger at 1 state, but it overestimates." in text
    refused = called("broken", *shared).stderr
    assert re.fullmatch(
        r"error: heuristic broken at \d: expected a number in the range of a float, or infinity for a dead end, got nan\n",
        refused,
    )


BELOW = """
from arena import heuristic, hookimpl
from arena_games.pancake import Gap

@heuristic("below", game="pancake")
class Below(Gap):
    def __call__(self, state, player=0):
        return -super().__call__(state, player)

@heuristic("zero", game="pancake")
def zero(game, state, player=0):
    return 0

@heuristic("lower", game="pancake", admissible=True, consistent=True)
class Lower(Gap):
    def __call__(self, state, player=0):
        return super().__call__(state, player) - 2

@heuristic("deep", game="pancake")
def deep(game, state, player=0):
    return float("-inf")

@hookimpl
def arena_heuristics():
    return [Below, zero, Lower, deep]
"""


def test_a_negative_estimate_counts_as_0(tmp_path: Path) -> None:
    """All searches do the same. An estimate that is never above 0 has the figures of the estimate 0, including the nodes of
    IDA*.
    """
    (tmp_path / "below.py").write_text(BELOW)
    shared = ("--on", "pancake", "--set", "n=6", "--plugin", str(tmp_path / "below.py"))
    below, zero, lower, deep = json.loads(called("below", "zero", "lower", "deep", *shared, "--format", "json").output)[
        "heuristics"
    ]
    own = {"heuristic", "seconds_per_call", "negative", "negative_estimates"}
    assert len(zero["predictions"]) > 1
    for one in (below, deep):
        assert {key: one[key] for key in one.keys() - own} == {key: zero[key] for key in zero.keys() - own}
    puzzle = Pancake(n=6)
    gaps = {state: (Gap(puzzle)(state), distance) for state, distance in distances(puzzle, puzzle.goal).items()}
    counts = [sum(gap > 0 for gap, _ in gaps.values()), 0, sum(gap < 2 for gap, _ in gaps.values()), 720]
    assert [one["negative_estimates"] for one in (below, zero, lower, deep)] == counts
    assert zero["negative"] is None
    known = [(max(0, gap - 2), distance) for gap, distance in gaps.values() if distance]
    assert lower["mean_error"] == pytest.approx(fmean(distance - value for value, distance in known), rel=1e-9)
    assert lower["correlation"] == pytest.approx(stats.pearsonr(*zip(*known, strict=True)).statistic, rel=1e-9)
    text = called("below", "zero", *shared).output
    assert re.search(rf"States with a negative estimate +{counts[0]} +0\n", text)
    assert "a search counts a negative estimate as 0" in text
    assert "below and zero agree at all 720 states with a solution." in text
    assert "negative" not in called("gap", "top", "--on", "pancake", "--set", "n=5").output


FAULTY = """
from fractions import Fraction

from arena import heuristic, hookimpl

@heuristic("raises", game="pancake")
def raises(game, state, player=0):
    if state[0] == 3:
        raise ValueError("boom")
    return 0.0

@heuristic("nan", game="pancake")
def nan(game, state, player=0):
    return float("nan")

@heuristic("bigint", game="pancake")
def bigint(game, state, player=0):
    return 10**400

@heuristic("huge", game="pancake")
def huge(game, state, player=0):
    return 1.7e308 if state[0] == 3 else 1e300

@heuristic("third", game="pancake")
def third(game, state, player=0):
    return Fraction(1, 3)

@heuristic("broken", game="pancake")
class Broken:
    def __init__(self, game):
        raise OSError("no table")

    def __call__(self, state, player=0):
        return 0.0

@hookimpl
def arena_heuristics():
    return [raises, nan, bigint, huge, third, Broken]
"""


@pytest.mark.parametrize("states", ["50000", "100"])
def test_a_heuristic_that_fails_does_not_stop_the_others(tmp_path: Path, states: str) -> None:
    """This includes the first heuristic, which guides the search for a goal if there are too many states."""
    (tmp_path / "faulty.py").write_text(FAULTY)
    shared = ("--on", "pancake", "--set", "n=5", "--states", states, "--plugin", str(tmp_path / "faulty.py"))
    alone = json.loads(called("gap", *shared, "--format", "json").output)
    done = called("raises", "nan", "gap", "broken", *shared, "--format", "json")
    document = json.loads(done.stdout)
    assert done.return_value == 1
    assert alone["failed"] == {}
    assert list(document["failed"]) == ["broken", "raises", "nan"]
    assert re.match(r"heuristic raises at [1-5 ]*3[1-5 ]*: ValueError: boom", document["failed"]["raises"])
    assert [one["heuristic"] for one in document["heuristics"]] == ["gap"]
    same = {key: value for key, value in document["heuristics"][0].items() if key != "seconds_per_call"}
    assert same.items() <= alone["heuristics"][0].items()
    assert [line.split(":")[:2] for line in done.stderr.splitlines()] == [
        ["error", f" {text.split(':')[0]}"] for text in document["failed"].values()
    ]
    only = called("nan", *shared)
    assert (only.return_value, only.stdout) == (1, "")


def test_numbers_that_are_too_large_for_a_float_are_faults(tmp_path: Path) -> None:
    """Slightly smaller numbers have figures, which are written with an exponent."""
    (tmp_path / "faulty.py").write_text(FAULTY)
    shared = ("--on", "pancake", "--set", "n=4", "--plugin", str(tmp_path / "faulty.py"))
    done = called("third", "bigint", "huge", *shared)
    assert done.return_value == 1
    assert re.fullmatch(
        r"error: heuristic bigint at [\d ]+: expected a number in the range of a float, or infinity for a dead end, "
        r"got 1000+\S*\n",
        done.stderr,
    )
    assert re.search(r"^Mean error \(distance minus estimate\) .* -\d(\.\d+)?e\+30[78]$", done.stdout, re.MULTILINE)
    assert max(map(len, done.stdout.splitlines())) < 130


def test_progress_of_the_measurement_is_reported() -> None:
    """Progress goes from 0 to 720 states, for estimates and for steps."""
    heard: list[tuple[str, int, int]] = []
    puzzle = Pancake(n=6)
    sample = all_states(puzzle)
    with listening(lambda what, done, total: heard.append((what, done, total))):
        measure_quality(puzzle, "gap", Gap(puzzle), sample, rng=random.Random(1))
    assert [one for one in heard if one[1]] == [("estimating with gap", 720, 720), ("checking the steps of gap", 719, 719)]


def test_csv_has_a_row_for_each_heuristic(tmp_path: Path) -> None:
    """The values are those of JSON. The nodes of IDA* are in a second table."""
    (tmp_path / "trap.py").write_text(TRAP)
    trap = called("exact", "half", "--on", "trap", "--plugin", str(tmp_path / "trap.py"), "--format", "csv").output
    rows = list(csv.DictReader(StringIO(trap)))
    assert [row["heuristic"] for row in rows] == ["exact", "half"]
    assert [row["most_at_dead_ends"] for row in rows] == ["inf", "7.0"]
    arguments = ("gap", "top", "--on", "pancake", "--set", "n=5", "--format")
    tables = called(*arguments, "csv").output.split("\n\n")
    found, nodes = [list(csv.DictReader(StringIO(table))) for table in tables]
    document = json.loads(called(*arguments, "json").output)
    for row, one in zip(found, document["heuristics"], strict=True):
        assert float(row["mean_error"]) == one["mean_error"]
        assert int(row["states"]) == one["states"] == 119
    assert len(nodes) == sum(len(one["predictions"]) for one in document["heuristics"])
    assert float(nodes[0]["measured"]) == document["heuristics"][0]["predictions"][0]["measured"]


def test_the_time_of_a_call_is_that_of_the_fastest_of_several_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only one of seven passes is undisturbed. Times below a microsecond are shown in nanoseconds."""
    clock, passes = [0.0], iter([0.9, 0.004, 0.00006, 0.02, 0.001, 0.0005, 0.0003])

    def tick() -> float:
        began.append(clock[0])
        if len(began) % 2 == 0:
            clock[0] += next(passes)
        return clock[0]

    began: list[float] = []
    monkeypatch.setattr(heuristic_quality, "perf_counter", tick)
    seconds = heuristic_quality._time_calls(lambda state: 0.0, range(120))
    assert seconds == pytest.approx(0.00006 / 120)
    assert heuristic_quality.describe_call_time(seconds) == "500 ns"
    assert heuristic_quality.describe_call_time(0.0000123) == "12 µs"
