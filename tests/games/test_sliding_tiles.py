"""Test sliding tiles against published counts of the 8-puzzle and breadth-first search."""

import random
from collections import Counter
from itertools import permutations
from typing import Any

import pytest

from arena_games.sliding_tiles import Manhattan, Misplaced, SlidingTiles
from tests.games.game_tree import distances

# States of the 8-puzzle at each distance from the goal: A. Reinefeld, Complete Solution of the Eight-Puzzle, 1993.
AT_DISTANCE = [1, 2, 4, 8, 16, 20, 39, 62, 116, 152, 286, 396, 748, 1024, 1893, 2512, 4485, 5638, 9529, 10878, 16993,
               17110, 23952, 20224, 24047, 15578, 14560, 6274, 3910, 760, 221, 2]  # fmt: skip


@pytest.fixture(scope="module")
def eight_puzzle() -> dict[Any, int]:
    return distances(SlidingTiles(), SlidingTiles().goal)


def test_counts_of_states_by_distance_agree_with_published_ones(eight_puzzle: dict[Any, int]) -> None:
    """The 8-puzzle has 181,440 states at distances from 0 to 31."""
    counted = Counter(eight_puzzle.values())
    assert [counted[distance] for distance in range(32)] == AT_DISTANCE
    assert len(eight_puzzle) == 181_440


@pytest.mark.parametrize("heuristic", [Manhattan, Misplaced])
def test_the_heuristics_are_admissible_and_consistent_in_the_eight_puzzle(
    heuristic: type[Manhattan | Misplaced], eight_puzzle: dict[Any, int]
) -> None:
    """No estimate exceeds the distance, and no slide changes an estimate by more than one."""
    puzzle = SlidingTiles()
    evaluate = heuristic(puzzle)
    for state in random.Random(1).sample(list(eight_puzzle), 5_000):
        estimate = evaluate(state)
        assert estimate <= eight_puzzle[state]
        assert all(abs(estimate - evaluate(puzzle.result(state, a))) <= 1 for a in puzzle.actions(state))


@pytest.mark.parametrize(("rows", "columns", "goal"), [(3, 3, "blank-last"), (4, 4, "blank-first"), (2, 5, "blank-last")])
def test_manhattan_and_misplaced_agree_with_sums_over_tiles(rows: int, columns: int, goal: Any) -> None:
    """The sums are computed tile by tile on random positions."""
    puzzle = SlidingTiles(rows=rows, columns=columns, goal=goal)
    manhattan, misplaced = Manhattan(puzzle), Misplaced(puzzle)
    rng = random.Random(3)
    for _ in range(300):
        state = puzzle.initial(rng)
        homes = {tile: divmod(cell, columns) for cell, tile in enumerate(puzzle.goal)}
        places = {tile: divmod(cell, columns) for cell, tile in enumerate(state)}
        steps = [abs(homes[t][0] - places[t][0]) + abs(homes[t][1] - places[t][1]) for t in range(1, rows * columns)]
        assert manhattan(state) == sum(steps)
        assert misplaced(state) == sum(step > 0 for step in steps)


@pytest.mark.parametrize(
    ("rows", "columns", "goal"), [(2, 2, "blank-last"), (2, 3, "blank-last"), (3, 2, "blank-first"), (2, 2, "blank-first")]
)
def test_exactly_the_reachable_positions_are_accepted(rows: int, columns: int, goal: Any) -> None:
    """Breadth-first search from the goal finds the reachable arrangements. All other arrangements are called unsolvable."""
    puzzle = SlidingTiles(rows=rows, columns=columns, goal=goal)
    reached = set(distances(puzzle, puzzle.goal))
    for tiles in permutations(range(rows * columns)):
        text = " ".join(map(str, tiles))
        if bytes(tiles) in reached:
            assert puzzle.parse_state(text) == bytes(tiles)
        else:
            with pytest.raises(ValueError, match="unsolvable"):
                puzzle.parse_state(text)


@pytest.mark.parametrize("size", [(2, 2), (3, 3), (4, 4), (5, 3), (17, 17)])
def test_random_positions_are_solvable_and_survive_a_round_trip(size: tuple[int, int]) -> None:
    """17x17 has too many cells for bytes, so its states are tuples."""
    puzzle = SlidingTiles(rows=size[0], columns=size[1])
    for seed in range(20):
        state = puzzle.initial(random.Random(seed))
        assert puzzle.parse_state(puzzle.format_state(state)) == state
        assert sorted(state) == list(range(size[0] * size[1]))


def test_positions_without_shuffle_are_uniform_over_solvable_ones() -> None:
    """In 12,000 draws of the 2x2 puzzle, each of its 12 positions occurs between 850 and 1,150 times (5 sigma)."""
    puzzle = SlidingTiles(rows=2, columns=2)
    rng = random.Random(5)
    drawn = Counter(puzzle.initial(rng) for _ in range(12_000))
    assert len(drawn) == 12
    assert all(850 <= times <= 1150 for times in drawn.values())


def test_shuffle_makes_the_given_number_of_random_slides(eight_puzzle: dict[Any, int]) -> None:
    """The distance from the goal has the parity of the number of slides, and is at most that number."""
    for slides in (0, 1, 7, 20):
        puzzle = SlidingTiles(shuffle=slides)
        for seed in range(50):
            distance = eight_puzzle[puzzle.initial(random.Random(seed))]
            assert distance <= slides
            assert distance % 2 == slides % 2


def test_actions_name_the_tiles_above_left_right_and_below_the_blank() -> None:
    """In the middle of the board, tile 2 is above the blank, 4 to its left, 5 to its right, and 8 below."""
    puzzle = SlidingTiles()
    state = puzzle.parse_state("1 2 3 / 4 . 5 / 7 8 6")
    assert list(puzzle.actions(state)) == [2, 4, 5, 8]
    assert puzzle.format_state(puzzle.result(state, 2)) == "1 . 3 / 4 2 5 / 7 8 6"
    assert puzzle.format_state(puzzle.result(state, 8)) == "1 2 3 / 4 8 5 / 7 . 6"


def test_a_board_of_more_than_256_cells_slides_like_a_small_one() -> None:
    """States are tuples here. Tile 288 is to the left of the blank, 271 above that cell, and 270 to the left of 271."""
    puzzle = SlidingTiles(rows=17, columns=17)
    state = puzzle.goal
    for action in (288, 271, 270):
        assert action in puzzle.actions(state)
        state = puzzle.result(state, action)
    assert state.index(0) == 269
    assert Manhattan(puzzle)(state) == 3


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("2 1 3 / 4 5 6 / 7 8 .", "unsolvable"),
        ("1 2 3 / 4 5 6 / 7 8 8", "each of 1 to 8"),
        ("1 2 3 / 4 5 6 7 / 8 .", "3 rows of 3"),
        ("1 2 3 4 5 6 7 8", "each of 1 to 8"),
        ("1 2 3 / 4 5 6 / 7 x .", "numbers and one dot"),
        ("", "each of 1 to 8"),
    ],
)
def test_invalid_position_text_is_refused_with_a_reason(text: str, reason: str) -> None:
    """The reason distinguishes unsolvable positions from invalid arrangements."""
    with pytest.raises(ValueError, match=reason):
        SlidingTiles().parse_state(text)


def test_zero_is_a_blank_and_slashes_are_optional() -> None:
    puzzle = SlidingTiles()
    for text in ("1 2 3 / 4 5 6 / 7 8 .", "1 2 3 4 5 6 7 8 0", "1 2 3/4 5 6/7 8 ."):
        assert puzzle.parse_state(text) == puzzle.goal
    assert puzzle.format_state(puzzle.goal) == "1 2 3 / 4 5 6 / 7 8 ."
