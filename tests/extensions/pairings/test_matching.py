"""Maximum matchings agree with brute force and with a theorem."""

import random
from collections.abc import Iterable
from functools import cache

import pytest
from hypothesis import given, settings, strategies as st

from arena_pairings.swiss_pairing import NeighborGraph


def _largest(neighbors: list[list[int]], left: Iterable[int]) -> int:
    """Return the size of a largest matching of some vertices, by brute force."""
    near = [sum(1 << other for other in found) for found in neighbors]

    @cache
    def most(rest: int) -> int:
        if not rest:
            return 0
        one = rest.bit_length() - 1
        rest ^= 1 << one
        partners = [other for other in range(one) if rest & near[one] & 1 << other]
        return max([most(rest), *(1 + most(rest ^ 1 << other) for other in partners)])

    return most(sum(1 << vertex for vertex in left))


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


@settings(max_examples=80, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(0, 9), st.floats(0, 1))
def test_matchings_are_as_large_as_those_found_by_brute_force(rng: random.Random, vertices: int, share: float) -> None:
    """Graphs have up to nine vertices. Removal of two vertices leaves the graph itself unchanged."""
    neighbors = _graph(rng, vertices, share)
    graph = NeighborGraph(neighbors)
    assert graph.exposed(range(vertices)) == vertices - 2 * _largest(neighbors, range(vertices))
    if vertices > 2:
        rest = list(range(2, vertices))
        assert graph.exposed(rest) == len(rest) - 2 * _largest(neighbors, rest)
        assert graph.exposed(range(vertices)) == vertices - 2 * _largest(neighbors, range(vertices))


def test_matchings_of_sparse_graphs_are_as_large_as_those_found_by_brute_force() -> None:
    """The 200 graphs have sixteen vertices with two neighbours each on average, which gives nested blossoms."""
    for seed in range(800, 1000):
        neighbors = _graph(random.Random(seed), 16, 0.15)
        assert NeighborGraph(neighbors).exposed(range(16)) == 16 - 2 * _largest(neighbors, range(16))


def test_matchings_after_a_removal_are_as_large_as_those_found_by_brute_force() -> None:
    """Two vertices are removed from each of a thousand graphs with ten vertices. Vertices that had no partner before may have one
    then.
    """
    for seed in range(1000):
        rng = random.Random(seed)
        neighbors = _graph(rng, 10, rng.choice((0.3, 0.4, 0.5)))
        gone = rng.sample(range(10), 2)
        rest = {*range(10)} - {*gone}
        assert NeighborGraph(neighbors).exposed(rest) == 8 - 2 * _largest(neighbors, rest)


def test_cubic_graphs_without_bridges_are_matched_perfectly() -> None:
    """This is J. Petersen's theorem of 1891. Generalised Petersen graphs are full of odd cycles."""
    for size, skip in ((5, 2), (7, 3), (9, 2), (41, 6), (99, 10)):
        neighbors: list[list[int]] = [[] for _ in range(2 * size)]
        for k in range(size):
            for one, two in ((k, (k + 1) % size), (k, size + k), (size + k, size + (k + skip) % size)):
                neighbors[one].append(two)
                neighbors[two].append(one)
        assert NeighborGraph(neighbors).exposed(range(len(neighbors))) == 0


@pytest.mark.parametrize(("vertices", "degree"), [(16, 2.4), (16, 3.2), (60, 1.0), (60, 2.0), (60, 4.0)])
def test_hidden_perfect_matchings_are_found(vertices: int, degree: float) -> None:
    """Random edges hide a perfect matching in each of sixty sparse graphs. Every vertex gets a partner."""
    for seed in range(60):
        rng = random.Random(seed)
        neighbors = _graph(rng, vertices, degree / vertices)
        order = rng.sample(range(vertices), vertices)
        for one, two in zip(order[::2], order[1::2], strict=True):
            if two not in neighbors[one]:
                neighbors[one].append(two)
                neighbors[two].append(one)
        assert NeighborGraph(neighbors).exposed(range(len(neighbors))) == 0
