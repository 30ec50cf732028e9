"""Test the 2x2x2 cube against published counts by distance, and against turns of single stickers."""

import random
from collections.abc import Iterator

import pytest

import arena
from arena.plugins.registry import Registry
from arena.testing import check_game, check_heuristic
from arena_games.rubik_2x2 import SOLVED, CubeCoordinates, CubePatterns, Rubik2x2, State

# The number of positions by quarter turns from the goal: J. Scherphuis, Mini Cube, jaapsch.net; 3,674,160 in all.
AT_DISTANCE = [1, 6, 27, 120, 534, 2256, 8969, 33058, 114149, 360508, 930588, 1350852, 782536, 90280, 276]
CYCLES = {
    "U": ["U0 U1 U3 U2", "F0 L0 B0 R0", "F1 L1 B1 R1"],
    "R": ["R0 R1 R3 R2", "F1 U1 B2 D1", "F3 U3 B0 D3"],
    "F": ["F0 F1 F3 F2", "U2 R0 D1 L3", "U3 R2 D0 L1"],
}
"""The cycles of stickers, by face and number, of a clockwise turn. They were written down from a real cube."""


def rings(puzzle: Rubik2x2) -> Iterator[set[State]]:
    """Yield the states at distance 0, 1, 2, ... A turn changes the distance by one, because it is an odd permutation."""
    before, now = set[State](), {SOLVED}
    while now:
        yield now
        after = {puzzle.result(state, action) for state in now for action in range(6)}
        before, now = now, after - before


@pytest.mark.parametrize("most", [8, pytest.param(15, marks=pytest.mark.proof)])
def test_counts_of_positions_by_distance_agree_with_published_ones(most: int) -> None:
    """The largest distance is 14."""
    found = []
    for ring in rings(Rubik2x2()):
        found.append(len(ring))
        if len(found) == most < 15:
            break
    assert found == AT_DISTANCE[:most]


def test_turns_agree_with_turns_of_single_stickers() -> None:
    puzzle, rng = Rubik2x2(), random.Random(4)
    for _ in range(50):
        state = puzzle.initial(rng)
        for action in range(6):
            face, way = puzzle.format_action(state, action)[0], -1 if action % 2 else 1
            names = [f"{one}{number}" for one in "URFDLB" for number in range(4)]
            stickers = dict(zip(names, puzzle.format_state(state).replace(" ", ""), strict=True))
            turned = dict(stickers)
            for cycle in CYCLES[face]:
                places = cycle.split()[::way]
                turned.update({places[(n + 1) % 4]: stickers[place] for n, place in enumerate(places)})
            assert puzzle.format_state(puzzle.result(state, action)).replace(" ", "") == "".join(turned[name] for name in names)


@pytest.mark.parametrize("most", [6, pytest.param(15, marks=pytest.mark.proof)])
def test_pattern_databases_never_exceed_the_distance(most: int) -> None:
    puzzle = Rubik2x2()
    estimate = CubePatterns(puzzle)
    for distance, ring in enumerate(rings(puzzle)):
        if distance == most:
            break
        assert all(estimate(state) <= distance for state in ring)
        if distance < 4:
            assert max(estimate(state) for state in ring) == distance


@pytest.mark.parametrize("most", [6, pytest.param(15, marks=pytest.mark.proof)])
def test_estimates_are_the_smallest_distances_of_cubes_with_equal_coordinates(most: int) -> None:
    """Cubes are visited in order of distance, so the first cube with given twists, or given places, has the smallest distance."""
    puzzle = Rubik2x2()
    estimate = CubeCoordinates(puzzle)
    first: list[dict[tuple[int, ...], int]] = [{}, {}]
    for distance, ring in enumerate(rings(puzzle)):
        if distance == most:
            break
        for state in ring:
            both = (tuple([corner % 3 for corner in state]), tuple([corner // 3 for corner in state]))
            lower = max(seen.setdefault(one, distance) for seen, one in zip(first, both, strict=True))
            assert estimate(state) == lower <= distance
    assert most < 15 or [len(seen) for seen in first] == [729, 5040]


def test_ida_star_solves_a_cube_with_the_fewest_turns() -> None:
    puzzle = Rubik2x2()
    known = {state: distance for distance, ring in zip(range(7), rings(puzzle), strict=False) for state in ring}
    state = random.Random(2).choice([state for state, distance in known.items() if distance == 6])
    record = arena.play("rubik-2x2", "ida-star", position=puzzle.format_state(state))
    assert len(record.actions) == 6


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("UUUU", "24 colours"),
        ("UUUU RRRR FFFF DDDD LLLL BBUB", "no corner has the colours"),
        ("UUUR FRRR UFFF DDDD LLLL BBBB", "24 colours|no corner|twist"),
        ("DDDD RRRR FFFF UUUU LLLL BBBB", "no corner|DBL"),
    ],
)
def test_invalid_cube_text_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Rubik2x2().parse_state(text)


def test_a_cube_with_a_single_twisted_corner_is_refused() -> None:
    puzzle = Rubik2x2()
    with pytest.raises(ValueError, match="twists only one corner"):
        puzzle.parse_state(puzzle.format_state((1, *SOLVED[1:])))
    assert puzzle.render(SOLVED) == "   UU\n   UU\nLL FF RR BB\nLL FF RR BB\n   DD\n   DD"


def test_the_conformance_checks_pass(registry: Registry) -> None:
    game = registry.game("rubik-2x2")(shuffle=4)
    check_game(game, matches=1)
    check_heuristic("pattern-db", game, matches=1)
