"""Largest matchings against brute force and against a theorem."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from arena.stats.matching import Matching


def _largest(neighbors: list[list[int]], left: list[int]) -> int:
    if not left:
        return 0
    one, rest = left[0], left[1:]
    with_one = [1 + _largest(neighbors, [v for v in rest if v != two]) for two in rest if two in neighbors[one]]
    return max([_largest(neighbors, rest), *with_one])


def _graph(rng: random.Random, vertices: int, share: float) -> list[list[int]]:
    neighbors: list[list[int]] = [[] for _ in range(vertices)]
    for one in range(vertices):
        for two in range(one):
            if rng.random() < share:
                neighbors[one].append(two)
                neighbors[two].append(one)
    for found in neighbors:
        rng.shuffle(found)
    return neighbors


@settings(max_examples=500, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(0, 9), st.floats(0, 1))
def test_matchings_are_as_large_as_brute_force_finds(rng: random.Random, vertices: int, share: float) -> None:
    """Graphs of up to nine vertices, also after two vertices have left; partners are mutual and neighbours."""
    neighbors = _graph(rng, vertices, share)
    matching = Matching(neighbors)
    assert len(matching.exposed) == vertices - 2 * _largest(neighbors, list(range(vertices)))
    if vertices > 2:
        rest = list(range(2, vertices))
        least = len(rest) - 2 * _largest(neighbors, rest)
        before = list(matching.partner)
        assert not matching.remove(0, 1, exposing=least - 1)
        assert matching.partner == before
        assert matching.remove(0, 1, exposing=least)
        assert len(matching.exposed) == least
    for one, two in enumerate(matching.partner):
        assert two is None or (matching.partner[two] == one and two in neighbors[one])


def test_cubic_graphs_without_bridges_are_matched_perfectly() -> None:
    """J. Petersen's theorem of 1891, on generalised Petersen graphs, which are full of odd cycles."""
    for size, skip in ((5, 2), (7, 3), (9, 2), (41, 6), (99, 10)):
        neighbors: list[list[int]] = [[] for _ in range(2 * size)]
        for k in range(size):
            for one, two in ((k, (k + 1) % size), (k, size + k), (size + k, size + (k + skip) % size)):
                neighbors[one].append(two)
                neighbors[two].append(one)
        assert Matching(neighbors).exposed == []
