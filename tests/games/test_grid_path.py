"""Test grid paths against scipy's shortest paths, on built-in maps and scenarios in the format of movingai.com."""

import random
import re
from math import sqrt
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from scipy.sparse import csr_matrix  # type: ignore[import-untyped]
from scipy.sparse.csgraph import dijkstra  # type: ignore[import-untyped]

import arena
from arena.heuristics import bind
from arena.plugins.registry import Registry
from arena.testing import check_game, check_heuristic
from arena_games.grid_path import MAPS, GridPath
from arena_games.grid_path_heuristics import Differential, Euclidean, GridManhattan, Octile

TINY = """type octile
height 3
width 4
map
..@.
.T..
SW..
"""


def scipy_costs(file: Path, neighbours: int, weights: dict[str, float]) -> tuple[list[tuple[int, int]], np.ndarray]:
    """Return the free cells as (column, row) and all costs between them. The test parses the map itself."""
    rows = file.read_text().splitlines()[4:]
    worth = {".": 1.0, "G": 1.0, "S": 1.0, **weights}
    cells = [(x, y) for y, row in enumerate(rows) for x, mark in enumerate(row) if mark in worth]
    number = {cell: place for place, cell in enumerate(cells)}
    edges = []
    for (x, y), place in number.items():
        for right, down in ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)):
            other = (x + right, y + down)
            if other not in number or (
                right and down and (neighbours == 4 or not {(x + right, y), (x, y + down)} <= set(number))
            ):
                continue
            mean = (worth[rows[y][x]] + worth[rows[other[1]][other[0]]]) / 2
            edges.append((place, number[other], sqrt(right**2 + down**2) * mean))
    one, two, costs = zip(*edges, strict=True)
    return cells, dijkstra(csr_matrix((costs, (one, two)), shape=(len(cells), len(cells))))


@pytest.mark.parametrize(
    ("name", "neighbours", "weights"),
    [("rooms", 8, {}), ("maze", 4, {}), ("swamp", 8, {"S": 3.0, "W": 10.0})],
)
def test_path_costs_agree_with_scipy_and_heuristics_are_consistent(
    name: str, neighbours: Literal[4, 8], weights: dict[str, float]
) -> None:
    """A* solves a few pairs of cells with each heuristic. Estimates are compared with the true costs for many pairs."""
    puzzle = GridPath(map=name, neighbours=neighbours, weights=weights)
    cells, costs = scipy_costs(MAPS / f"{name}.map", neighbours, weights)
    kinds = {"manhattan": GridManhattan, "octile": Octile, "euclidean": Euclidean, "differential": Differential}
    estimates = {key: bind(kind, puzzle) for key, kind in kinds.items()}
    rng = random.Random(2)
    for _ in range(100):
        one, two = rng.sample(range(len(cells)), 2)
        if costs[one, two] == np.inf:
            continue
        state = puzzle.parse_state("{},{} > {},{}".format(*cells[one], *cells[two]))
        values = {key: estimate(state) for key, estimate in estimates.items()}
        assert max(values.values()) <= costs[one, two] + 1e-9, state
        assert values["manhattan"] == pytest.approx(
            (abs(cells[one][0] - cells[two][0]) + abs(cells[one][1] - cells[two][1])) / (1 if neighbours == 4 else sqrt(2))
        )
        for action in puzzle.actions(state):
            after = puzzle.result(state, action)
            step = puzzle.step_cost(state, action, after)
            assert all(values[key] <= step + estimate(after) + 1e-9 for key, estimate in estimates.items())
    for key in kinds:
        one, two = rng.sample([place for place in range(len(cells)) if costs[0, place] < np.inf], 2)
        record = arena.play(
            {"name": "grid-path", "map": name, "neighbours": neighbours, "weights": weights},
            "a-star",
            heuristics=key,
            position="{},{} > {},{}".format(*cells[one], *cells[two]),
        )
        assert record.cost == pytest.approx(costs[one, two], rel=1e-9)


def test_lengths_of_the_built_in_scenario_agree_with_scipy() -> None:
    """The last field of each line is the length of a shortest path, as on movingai.com. Positions are drawn from the lines."""
    file = MAPS / "rooms.map.scen"
    cells, costs = scipy_costs(MAPS / "rooms.map", 8, {})
    number = {cell: place for place, cell in enumerate(cells)}
    pairs = set()
    for line in file.read_text().splitlines()[1:]:
        _, name, width, height, *places, length = line.split("\t")
        assert (name, width, height) == ("rooms.map", "33", "33")
        x, y, goal_x, goal_y = map(int, places)
        assert float(length) == pytest.approx(costs[number[x, y], number[goal_x, goal_y]], abs=1e-8)
        pairs.add(f"{x},{y} > {goal_x},{goal_y}")
    puzzle = GridPath(scenario=str(file))
    drawn = {puzzle.format_state(puzzle.initial(random.Random(seed))) for seed in range(200)}
    assert drawn == pairs


def test_diagonal_steps_do_not_cut_corners(tmp_path: Path) -> None:
    (tmp_path / "tiny.map").write_text(TINY)
    puzzle = GridPath(map=str(tmp_path / "tiny.map"))
    state = puzzle.parse_state("2,1 > 3,0")
    assert [puzzle.format_action(state, action) for action in puzzle.actions(state)] == ["E", "S", "SE"]
    assert puzzle.grid(state) == [["", "", "#", "G"], ["", "#", "A", ""], ["", "#", "", ""]]
    assert puzzle.cells(state, puzzle.actions(state)[2]) == [(2, 3)]
    wet = GridPath(map=str(tmp_path / "tiny.map"), weights={"W": 4.0})
    state = wet.parse_state("1,2 > 3,0")
    assert [wet.format_action(state, action) for action in wet.actions(state)] == ["E", "W"]
    assert wet.step_cost(state, 1, wet.result(state, 1)) == 2.5
    for text, reason in (("1,2 > 2", "such as"), ("2,0 > 3,0", "not a free cell"), ("0,0 > 3,0", "no path")):
        with pytest.raises(ValueError, match=reason):
            puzzle.parse_state(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("type octile\nheight 1\nwidth 1\nmap\n.\n", "two cells"),
        ("height 3\n", "expected the lines"),
        ("type octile\nheight 2\nwidth 2\nmap\n..\n.\n", "2 rows of 2"),
    ],
)
def test_an_invalid_map_file_is_refused_with_a_reason(text: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "bad.map").write_text(text)
    with pytest.raises(ValueError, match=reason):
        GridPath(map=str(tmp_path / "bad.map"))
    with pytest.raises(ValueError, match="maze, rooms, swamp"):
        GridPath(map="cellar")
    with pytest.raises(ValueError, match="version 1"):
        GridPath(scenario=str(MAPS / "rooms.map"))


def test_scenarios_and_weights_for_another_map_are_refused(tmp_path: Path) -> None:
    (tmp_path / "tiny.map").write_text(TINY)
    line = "1\t{}\t4\t{}\t2\t1\t3\t0\t1.41421356"
    for name, height in (("other.map", 3), ("tiny.map", 4)):
        (tmp_path / "tiny.scen").write_text(f"version 1\n{line.format(name, height)}\n")
        expected = f"line 2: expected the map tiny.map with 4 columns and 3 rows, got {name} with 4 columns and {height} rows"
        with pytest.raises(ValueError, match=re.escape(expected)):
            GridPath(map=str(tmp_path / "tiny.map"), scenario=str(tmp_path / "tiny.scen"))
    (tmp_path / "tiny.scen").write_text(f"version 1\n{line.format('maps/tiny.map', 3)}\n")
    puzzle = GridPath(map=str(tmp_path / "tiny.map"), scenario=str(tmp_path / "tiny.scen"))
    assert puzzle.format_state(puzzle.initial(random.Random(0))) == "2,1 > 3,0"
    for mark in ("X", "SW"):
        with pytest.raises(ValueError, match=f"weights: expected marks of the map tiny.map, which are .@STW, got '{mark}'"):
            GridPath(map=str(tmp_path / "tiny.map"), weights={mark: 2.0})


def test_the_conformance_checks_pass(registry: Registry, tmp_path: Path) -> None:
    (tmp_path / "tiny.map").write_text(TINY)
    game = registry.game("grid-path")(map=str(tmp_path / "tiny.map"), weights={"W": 2.0})
    check_game(game, matches=1)
    for name in ("manhattan", "octile", "euclidean", "differential"):
        check_heuristic(name, game, matches=1)
