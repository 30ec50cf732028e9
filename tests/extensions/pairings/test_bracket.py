"""Knockout brackets: seeds, byes, and who goes on."""

import pytest
from hypothesis import given, settings, strategies as st

from arena.errors import ArenaError
from arena_pairings.bracket import advances, first_round, next_round, rounds_of, seed_order


def test_published_orders() -> None:
    """Brackets of eight and sixteen as tennis and basketball draw them, up to the order of halves: 1-16, 8-9, 4-13, 5-12, ..."""
    assert seed_order(8) == (1, 8, 4, 5, 2, 7, 3, 6)
    assert seed_order(16) == (1, 16, 8, 9, 4, 13, 5, 12, 2, 15, 7, 10, 3, 14, 6, 11)


@settings(deadline=None)
@given(st.integers(2, 200))
def test_if_the_better_seed_wins_the_best_meet_last(agents: int) -> None:
    """Byes are the best seeds', as few as can be; the seeds of a full round add up; after k rounds the best 2^k are left."""
    seeds = [f"seed {k}" for k in range(1, agents + 1)]
    slots = first_round(seeds)
    resting = [one for one, two in slots if two is None]
    assert set(resting) == set(seeds[: len(resting)])
    assert len(resting) == 2 ** rounds_of(agents) - agents
    rounds = 1
    while slots:
        field = 2 ** (rounds_of(agents) - rounds + 1)
        assert all(two is None or seeds.index(one) + seeds.index(two) + 2 == field + 1 for one, two in slots)
        winners = [
            advances(slot, 1.0 if slot[1] is None or seeds.index(slot[0]) < seeds.index(slot[1]) else 0.0, seeds)
            for slot in slots
        ]
        assert sorted(winners) == sorted(seeds[: field // 2])
        slots, rounds = next_round(winners), rounds + 1
    assert rounds == rounds_of(agents) + 1
    assert winners == ["seed 1"]


def test_who_goes_on() -> None:
    """More than half of the points, a bye, and after a tie the better seed."""
    seeds = ["a", "b", "c"]
    assert [advances(("c", "b"), points, seeds) for points in (0.75, 0.25, 0.5)] == ["c", "b", "b"]
    assert advances(("c", None), 0.0, seeds) == "c"
    assert advances(("a", "b"), 0.5, seeds) == "a"


def test_what_is_no_bracket_is_refused() -> None:
    """One agent, one twice, three winners."""
    for wrong in (["a"], ["a", "a"]):
        with pytest.raises(ArenaError, match="knockout: expected"):
            first_round(wrong)
    with pytest.raises(ArenaError, match="whole round"):
        next_round(["a", "b", "c"])
