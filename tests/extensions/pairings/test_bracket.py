"""Knockout brackets: seeds, byes and the winner of each tie."""

import pytest
from hypothesis import given, settings, strategies as st

from arena.errors import ArenaError
from arena_pairings.bracket import advances, first_round, next_round, rounds_of, seed_order


def test_seeds_follow_published_brackets() -> None:
    """Tennis and basketball draw brackets of eight and sixteen this way, up to the order of halves: 1-16, 8-9, 4-13, 5-12, ..."""
    assert seed_order(8) == (1, 8, 4, 5, 2, 7, 3, 6)
    assert seed_order(16) == (1, 16, 8, 9, 4, 13, 5, 12, 2, 15, 7, 10, 3, 14, 6, 11)


@settings(deadline=None)
@given(st.integers(2, 200))
def test_the_best_seeds_meet_last_if_better_seeds_win(agents: int) -> None:
    """The byes, which are as few as possible, go to the best seeds. The seeds of each tie have the same sum. After k rounds,
    the best 2^k are left.
    """
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


def test_the_winner_of_a_tie_advances() -> None:
    """An agent advances with more than half of the points or with a bye. After a draw, the better seed advances."""
    seeds = ["a", "b", "c"]
    assert [advances(("c", "b"), points, seeds) for points in (0.75, 0.25, 0.5)] == ["c", "b", "b"]
    assert advances(("c", None), 0.0, seeds) == "c"
    assert advances(("a", "b"), 0.5, seeds) == "a"


def test_an_invalid_bracket_is_refused() -> None:
    """A bracket needs two or more different agents, and a round needs an even number of winners."""
    for wrong in (["a"], ["a", "a"]):
        with pytest.raises(ArenaError, match="knockout: expected"):
            first_round(wrong)
    with pytest.raises(ArenaError, match="whole round"):
        next_round(["a", "b", "c"])
