"""Test the stronger heuristics of sliding tiles against breadth-first search, published sizes and an exhaustive search."""

import os
import random
import resource
import subprocess
import sys
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import pytest

from arena.heuristics import HeuristicInfo
from arena.testing import check_heuristic
from arena_games import line_heuristics, pattern_db, pattern_tables
from arena_games.line_heuristics import LinearConflict, WalkingDistance
from arena_games.pattern_db import PatternDB
from arena_games.sliding_tiles import Manhattan, SlidingTiles
from tests.games.game_tree import distances

HEURISTICS = [LinearConflict, WalkingDistance, PatternDB]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep pattern tables in a folder of the test."""
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path))
    return tmp_path


@cache
def eight_puzzle(goal: Literal["blank-last", "blank-first"] = "blank-last") -> tuple[SlidingTiles, dict[Any, int]]:
    """Return the puzzle and the distance of each of its 181,440 states to the goal, by breadth-first search."""
    puzzle = SlidingTiles(goal=goal)
    return puzzle, distances(puzzle, puzzle.goal)


@pytest.mark.parametrize("states", [4000, pytest.param(181_440, marks=pytest.mark.proof)])
@pytest.mark.parametrize("goal", ["blank-last", "blank-first"])
@pytest.mark.parametrize("kind", HEURISTICS)
def test_heuristics_are_admissible_and_as_consistent_as_documented(kind: Any, goal: Any, states: int) -> None:
    """An estimate is at most the distance by breadth-first search, and 0 only at the goal. If the heuristic is called
    consistent, a slide changes the estimate by at most one.
    """
    puzzle, exact = eight_puzzle(goal)
    evaluate = kind(puzzle)
    sample = random.Random(1).sample(list(exact), states)
    estimates = {state: evaluate(state) for state in [puzzle.goal, *list(exact)[:1000], *sample]}
    assert all(estimate <= exact[state] for state, estimate in estimates.items())
    assert [state for state, estimate in estimates.items() if estimate == 0] == [puzzle.goal]
    info = HeuristicInfo.of(kind)
    assert info is not None
    assert info.consistent == (kind is not PatternDB)
    for state in sample[:30_000] if info.consistent else ():
        assert all(abs(estimates[state] - evaluate(puzzle.result(state, a))) <= 1 for a in puzzle.actions(state))


def test_linear_conflict_adds_two_for_each_tile_that_must_leave_its_line() -> None:
    """An exhaustive search finds the smallest set of tiles to remove from a line until no two of the others conflict."""
    puzzle = SlidingTiles(rows=4, columns=4)
    manhattan, linear = Manhattan(puzzle), LinearConflict(puzzle)
    homes = {tile: divmod(cell, 4) for cell, tile in enumerate(puzzle.goal)}

    def leaving(line: list[int], own: int, across: int, along: int) -> int:
        at_home = [homes[tile][along] for tile in line if tile and homes[tile][across] == own]
        for out in range(len(at_home) + 1):
            for rest in combinations(at_home, len(at_home) - out):
                if list(rest) == sorted(rest):
                    return out
        raise AssertionError

    for seed in range(300):
        state = puzzle.initial(random.Random(seed))
        rows = [list(state[4 * n : 4 * n + 4]) for n in range(4)]
        columns = [list(state[n::4]) for n in range(4)]
        out = sum(leaving(row, n, 0, 1) for n, row in enumerate(rows)) + sum(leaving(c, n, 1, 0) for n, c in enumerate(columns))
        assert linear(state) == manhattan(state) + 2 * out


def test_the_walking_distance_table_has_its_published_size() -> None:
    """The 15-puzzle has 24,964 arrangements, at most 35 slides away (K. Takahashi)."""
    table = line_heuristics._arrangements(4, 4, 3)[0]
    assert len(table) == 24_964
    assert max(table.values()) == 35


def test_a_pattern_of_all_tiles_is_the_exact_distance() -> None:
    """On 2x3, one set of five tiles covers all tiles."""
    puzzle = SlidingTiles(rows=2, columns=3)
    evaluate = PatternDB(puzzle, partition="5")
    assert {state: evaluate(state) for state in distances(puzzle, puzzle.goal)} == distances(puzzle, puzzle.goal)


def test_estimates_of_partitions_are_between_manhattan_and_the_distance() -> None:
    """The partitions of the 8-puzzle are given by sizes or by tiles."""
    puzzle, exact = eight_puzzle()
    manhattan, sample = Manhattan(puzzle), random.Random(2).sample(list(exact), 4000)
    for partition in ("4-4", "1,2,3,4-5,6,7,8", "3-3-2"):
        evaluate = PatternDB(puzzle, partition=partition)
        assert all(manhattan(state) <= evaluate(state) <= exact[state] for state in sample)


def test_a_square_board_uses_its_mirror_image() -> None:
    """A state and its mirror image have equal distances. Both get the larger of their two sums, which often differ."""
    puzzle, exact = eight_puzzle()
    one, other = [PatternDB(puzzle, partition=text) for text in ("1,2,3,4-5,6,7,8", "1,4,7,2-5,8,3,6")]  # images of each other
    mirror = (0, 3, 6, 1, 4, 7, 2, 5, 8)  # cells, and the places of tiles, across the diagonal

    def image(state: Any) -> bytes:
        return bytes([0 if not state[cell] else mirror[state[cell] - 1] + 1 for cell in mirror])

    sample = random.Random(4).sample(list(exact), 3_000)
    assert all(exact[image(state)] == exact[state] for state in sample)
    assert all(one(state) == one(image(state)) == other(state) for state in sample)
    alone = PatternDB(puzzle, partition="1,2,3,4-5,6,7,8")
    alone._mirror_tables = []
    assert all(one(state) == max(alone(state), alone(image(state))) for state in sample)
    assert sum(one(state) > alone(state) for state in sample) > 500


def test_six_tiles_on_four_by_four_leave_fewer_than_eight_regions() -> None:
    """The bits for the region of the blank hold up to eight regions. All 8,008 placements of six tiles are tried, and all
    placements of fewer tiles. Of mirror images, only one is tried.
    """
    regions = pattern_tables.Regions(SlidingTiles(rows=4, columns=4))
    mirrors = [[4 * (cell // 4) + 3 - cell % 4 for cell in range(16)], [4 * (3 - cell // 4) + cell % 4 for cell in range(16)]]
    for tiles in range(1, 7):
        for cells in combinations(range(16), tiles):
            if all(sorted([mirror[cell] for cell in cells]) >= [*cells] for mirror in mirrors):
                assert len(regions[sum(1 << cell for cell in cells)][1]) < 8


def test_6_6_3_uses_the_published_regions() -> None:
    """R. E. Korf and A. Felner use two sets of six and, without its corner, the top row. The sets exist for both goals."""
    cases: list[tuple[Any, Any]] = [
        ("blank-last", ((1, 5, 6, 9, 10, 13), (7, 8, 11, 12, 14, 15), (2, 3, 4))),
        ("blank-first", ((3, 6, 7, 10, 11, 15), (1, 2, 4, 5, 8, 9), (12, 13, 14))),
    ]
    for goal, sets in cases:
        assert pattern_db.partition_of(SlidingTiles(rows=4, columns=4, goal=goal), "6-6-3") == sets


def test_the_default_partition_is_5_5_5_on_four_by_four() -> None:
    """For either goal, three disjoint sets of five hold all fifteen tiles."""
    for goal in ("blank-last", "blank-first"):
        sets = pattern_db.partition_of(SlidingTiles(rows=4, columns=4, goal=goal), None)
        assert [len(tiles) for tiles in sets] == [5, 5, 5]
        assert sorted(tile for tiles in sets for tile in tiles) == list(range(1, 16))


@pytest.mark.parametrize(
    ("partition", "reason"),
    [
        ("1,2,3,4-4,5,6,7,8", "tile 4 occurs twice"),
        ("1,2,3-4,5,6", "leaves out tiles 7, 8"),
        ("4-5", "add up to 8"),
        ("1,2,3,4-5,6,7,9", "tiles from 1 to 8"),
        ("four-four", "'four'"),
        ("8", "too large"),
        ("", None),
    ],
)
def test_invalid_partitions_are_refused(partition: str, reason: str | None) -> None:
    """The reasons are repeated, missing or unknown tiles, sizes that do not add up, and tables that are too large."""
    if reason is None:
        assert PatternDB(SlidingTiles(), partition=partition)(SlidingTiles().goal) == 0
        return
    with pytest.raises(ValueError, match=reason):
        PatternDB(SlidingTiles(), partition=partition)


def test_walking_distance_is_refused_on_large_boards() -> None:
    """The table would have tens of millions of entries."""
    with pytest.raises(ValueError, match="at most 4"):
        WalkingDistance(SlidingTiles(rows=5, columns=4))


# The cache


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.table"))


def test_a_table_is_built_once(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second heuristic loads the table from disk and has the same values."""
    puzzle = SlidingTiles()
    first = PatternDB(puzzle)
    assert len(files(own_cache)) == 2

    def fail(*_: Any) -> bytes:
        raise AssertionError("built again")

    monkeypatch.setattr(pattern_tables, "build", fail)
    second = PatternDB(puzzle)
    for seed in range(100):
        state = puzzle.initial(random.Random(seed))
        assert first(state) == second(state)


@pytest.mark.parametrize("spoil", ["cut", "empty", "version", "byte", "other"])
def test_an_invalid_table_file_is_rebuilt(spoil: str, own_cache: Path) -> None:
    """The file is truncated, empty, of another version, changed in one byte, or another table."""
    puzzle = SlidingTiles(rows=2, columns=3)
    good = PatternDB(puzzle, partition="3-2")
    state = puzzle.initial(random.Random(3))
    one, other = files(own_cache)
    data = one.read_bytes()
    changed = {
        "cut": data[:-7],
        "empty": b"",
        "version": data.replace(b"arena 1", b"arena 0", 1),
        "byte": data[:-1] + bytes([data[-1] ^ 1]),
        "other": other.read_bytes(),
    }[spoil]
    one.write_bytes(changed)
    assert PatternDB(puzzle, partition="3-2")(state) == good(state)
    assert one.read_bytes() == data


@pytest.mark.process
def test_tables_are_built_in_memory_if_the_cache_cannot_be_written(tmp_path: Path) -> None:
    """A limit of the file size acts as a full disk. The table is built and used, and no partial file is left."""
    code = (
        "import random\nfrom arena_games.pattern_db import PatternDB\nfrom arena_games.sliding_tiles import SlidingTiles\n"
        "print(PatternDB(SlidingTiles(rows=2, columns=3), partition='5')(SlidingTiles(rows=2, columns=3).goal))"
    )
    folder = tmp_path / "cache"

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    environment = {**os.environ, "ARENA_CACHE": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, preexec_fn=limit, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "0"), done.stderr
    assert list(folder.iterdir()) == []
    (tmp_path / "file").write_text("not a folder")
    environment["ARENA_CACHE"] = str(tmp_path / "file")
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "0"), done.stderr


@pytest.mark.parametrize("kind", HEURISTICS)
def test_the_heuristics_pass_the_conformance_checks(kind: Any) -> None:
    """On 2x3, admissibility is checked over all 360 states."""
    assert "admissible at 360 states" in check_heuristic(kind, SlidingTiles(rows=2, columns=3), matches=5)
