"""Test pancakes against published counts by distance, and the heuristics against breadth-first search."""

import random
from collections import Counter

import pytest

import arena
from arena.plugins.registry import Registry
from arena.testing import check_game, check_heuristic
from arena_games.pancake import Gap, Pancake, State, Top
from tests.games.game_tree import distances

# The number of stacks of n pancakes by distance to the goal: OEIS A092113.
AT_DISTANCE = {
    4: [1, 3, 6, 11, 3],
    5: [1, 4, 12, 35, 48, 20],
    6: [1, 5, 20, 79, 199, 281, 133, 2],
    7: [1, 6, 30, 149, 543, 1357, 1903, 1016, 35],
}
FARTHEST = [0, 1, 3, 4, 5, 7, 8, 9, 10]
"""The largest distances for 1 to 9 pancakes (OEIS A058986)."""
FARTHEST_BURNT = [1, 4, 6, 8, 10, 12]
"""The largest distances for 1 to 6 burnt pancakes (OEIS A078942)."""


def solve_all(n: int, *, burnt: bool = False) -> dict[State, int]:
    """Return the distance of every stack. Each action is its own inverse, so the search begins at the goal."""
    puzzle = Pancake(n=n, burnt=burnt)
    return distances(puzzle, puzzle.goal)


@pytest.mark.parametrize("n", AT_DISTANCE)
def test_counts_of_stacks_by_distance_agree_with_oeis(n: int) -> None:
    counted = Counter(solve_all(n).values())
    assert [counted[distance] for distance in range(len(counted))] == AT_DISTANCE[n]


@pytest.mark.parametrize("most", [6, pytest.param(9, marks=pytest.mark.proof)])
def test_the_largest_distances_agree_with_oeis(most: int) -> None:
    assert [max(solve_all(n).values()) for n in range(1, most + 1)] == FARTHEST[:most]
    assert [max(solve_all(n, burnt=True).values()) for n in range(1, min(most, 7) - 1)] == FARTHEST_BURNT[: min(most, 7) - 2]


@pytest.mark.parametrize("most", [6, pytest.param(9, marks=pytest.mark.proof)])
def test_gap_and_top_are_admissible_and_consistent(most: int) -> None:
    """Top equals gap, plus one exactly if no action lowers gap."""
    for n, burnt in [*[(n, False) for n in range(1, most + 1)], *[(n, True) for n in range(1, min(most, 7) - 1)]]:
        puzzle, known = Pancake(n=n, burnt=burnt), solve_all(n, burnt=burnt)
        gap, top = Gap(puzzle), Top(puzzle)
        gaps = {state: gap(state) for state in known}
        tops = {state: top(state) for state in known}
        for state, distance in known.items():
            after = [puzzle.result(state, action) for action in puzzle.actions(state)]
            lower = any(gaps[successor] < gaps[state] for successor in after)
            assert tops[state] == gaps[state] + (distance > 0 and not lower), state
            assert tops[state] <= distance
            assert burnt or distance <= 2 * gaps[state]  # J. Fischer, S. Ginzinger, A 2-Approximation Algorithm, ESA 2005
            assert all(abs(gaps[state] - gaps[successor]) <= 1 >= tops[state] - tops[successor] for successor in after)


@pytest.mark.parametrize(
    ("n", "positions"), [(4, 4), (5, 4), (6, 4), *[pytest.param(n, 40 - 4 * n, marks=pytest.mark.proof) for n in (7, 8, 9)]]
)
@pytest.mark.parametrize("heuristic", [Gap, Top])
def test_a_star_expands_only_necessary_stacks(heuristic: type[Gap], n: int, positions: int) -> None:
    """A* expands all stacks with f below the solution length and none with f above it. Brute force counts both."""
    puzzle, known = Pancake(n=n), solve_all(n)
    estimate, name = heuristic(puzzle), "gap" if heuristic is Gap else "top"
    for position in random.Random(1).sample(list(known), positions):
        record = arena.play(
            {"name": "pancake", "n": n},
            "a-star",
            heuristics=name,
            position=puzzle.format_state(position),
        )
        assert len(record.actions) == known[position]
        depths = distances(puzzle, position)
        total = [depth + estimate(state) for state, depth in depths.items()]
        generated = record.decisions[0].nodes
        assert (puzzle.n - 1) * sum(f < known[position] for f in total) <= generated
        assert generated <= (puzzle.n - 1) * sum(f <= known[position] for f in total) + 1


def test_a_flip_turns_burnt_pancakes_over() -> None:
    """A flip turns over each pancake that it lifts. Even a single pancake can be flipped."""
    puzzle = Pancake(n=3, burnt=True)
    state = puzzle.parse_state("-3 1 -2")
    assert list(puzzle.actions(state)) == [1, 2, 3]
    assert [puzzle.format_state(puzzle.result(state, action)) for action in (1, 2, 3)] == ["3 1 -2", "-1 3 -2", "2 -1 3"]
    assert puzzle.render(state) == "~~~~~~\n  ==\n ~~~~"
    plain = Pancake(n=3)
    assert list(plain.actions((3, 1, 2))) == [2, 3]
    assert plain.format_state(plain.result((3, 1, 2), 2)) == "1 3 2"
    tall = Pancake(n=100)
    assert tall.result(tall.goal, 100) == tall.goal[::-1]


@pytest.mark.parametrize(
    ("text", "reason"),
    [("", "each of 1 to 3"), ("1 2", "each of 1"), ("1 2 2", "each of 1"), ("1 -2 3", "burnt"), ("a", "sizes")],
)
def test_invalid_stack_text_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Pancake(n=3).parse_state(text)


@pytest.mark.parametrize("settings", [{"n": 4}, {"n": 3, "burnt": True}, {"n": 1}])
def test_the_conformance_checks_pass(settings: dict[str, int], registry: Registry) -> None:
    game = registry.game("pancake")(**settings)
    check_game(game, matches=1)
    for name in ("gap", "top"):
        check_heuristic(name, game, matches=1)
